"""The search for an accepting component, and the word that lies in one."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from symshift.solvers.budget import Budget, BudgetExceeded
from symshift.solvers.tableau import Branch, Expansion, State

Edge = tuple[int, int, int]
"""The function of the symbols that an edge reads, its target state, the marks that it bears."""
Reading = tuple[int, int]
"""A position, and a function of its symbols that is true somewhere."""


@dataclass(frozen=True, slots=True)
class Run:
    """A lasso of readings: any choice of symbols within them satisfies the elements."""

    prefix: tuple[Reading, ...]
    """The readings before the cycle."""
    cycle: tuple[Reading, ...]
    """The readings that repeat; empty if the trace may go on from the prefix as it likes."""


class Search:
    """A depth-first search for an accepting strongly connected component (Couvreur 1999).

    Args:
        expansion: Gives the edges.
        marks: The "until"s: a component is accepting if each is not put off on some edge of it.
        max_states: How many states may be made.
        budget: Pays for looking up states that are known to lead nowhere.
    """

    def __init__(self, expansion: Expansion, marks: int, max_states: int, budget: Budget) -> None:
        self._expansion = expansion
        self._marks = marks
        self._max_states = max_states
        self._budget = budget
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        self._edges: list[list[Edge]] = []
        self._ways: list[tuple[int, Iterator[Branch]]] = []
        # Of each component on the path: the number of its first state, the marks on its edges,
        # and those on the edge that led to it.
        self._roots: list[tuple[int, int, int]] = []
        self._live: list[int] = []
        self._hopeless: dict[int, list[int]] = {}

    @property
    def num_states(self) -> int:
        """How many states were made."""
        return len(self._states)

    def run(self, start: State) -> bool:
        """Tell whether some word satisfies the elements of a state.

        Raises:
            BudgetExceeded: If that takes more states or steps than allowed.
        """
        self._enter(start, 0)
        while self._ways:
            number, ways = self._ways[-1]
            if (way := next(ways, None)) is None:
                self._leave()
            elif self._follow(number, way):
                return True
        return False

    def _follow(self, number: int, way: Branch) -> bool:
        """Go along an edge; True if an accepting component is closed by it."""
        marks, function = self._marks & ~way.put_off, way.function
        state = self._expansion.successor(self._states[number], way)
        target = self._numbers.get(state)
        if target is None:
            if self._is_hopeless(state):
                return False
            target = len(self._states)
            self._edges[number].append((function, target, marks))
            self._enter(state, marks)
            return not state[1]
        if target < 0:
            return False
        self._edges[number].append((function, target, marks))
        return self._close(target, marks)

    def _enter(self, state: State, marks: int) -> None:
        number = len(self._states)
        if number == self._max_states:
            raise BudgetExceeded(f"more than {self._max_states} states")
        self._budget.spend(self._expansion.keep)
        self._numbers[state] = number
        self._states.append(state)
        self._edges.append([])
        self._live.append(number)
        self._ways.append((number, self._expansion.branches(state)))
        self._roots.append((number, 0, marks))

    def _close(self, target: int, marks: int) -> bool:
        """Merge the components from a live state to the end of the path."""
        root, inside, led = self._roots.pop()
        while target < root:
            marks |= inside | led
            root, inside, led = self._roots.pop()
        self._roots.append((root, inside | marks, led))
        return inside | marks == self._marks

    def _leave(self) -> None:
        number, _ = self._ways.pop()
        if self._roots[-1][0] != number:
            return
        self._roots.pop()
        while self._live and self._live[-1] >= number:
            position, elements = state = self._states[self._live.pop()]
            self._numbers[state] = -1
            self._hopeless.setdefault(position, []).append(elements)

    def _is_hopeless(self, state: State) -> bool:
        """Tell whether fewer elements are known to be unsatisfiable at that position."""
        position, elements = state
        known = self._hopeless.get(position, ())
        self._budget.spend(len(known) * self._expansion.keep >> 4)
        return any(fewer & ~elements == 0 for fewer in known)

    def found(self) -> Run:
        """Return the word that was found, after `run` has returned True.

        Raises:
            BudgetExceeded: If it is too long.
        """
        path = [
            (self._states[n][0], self._edges[n][-1][0]) for n, _ in self._ways if self._edges[n]
        ]
        if not self._states[self._ways[-1][0]][1]:
            return Run(tuple(path), ())
        first = self._roots[-1][0]
        at = next(place for place, (number, _) in enumerate(self._ways) if number == first)
        return Run(tuple(path[:at]), tuple(self._tour(first)))

    def _tour(self, first: int) -> list[Reading]:
        """Return the readings of a closed walk from a state of the last component, all marks."""
        walk: list[Reading] = []
        missing, here = self._marks, first
        while missing or here != first or not walk:
            edges, here = self._walk(here, first, missing)
            for position, (function, _, marks) in edges:
                walk.append((position, function))
                missing &= ~marks
        return walk

    def _walk(self, here: int, first: int, missing: int) -> tuple[list[tuple[int, Edge]], int]:
        """Return a shortest walk to a missing mark, or to `first` where none is missing."""
        came: dict[int, tuple[int, Edge]] = {}
        queue = deque([here])
        while True:
            source = queue.popleft()
            self._budget.spend(len(self._edges[source]))
            for edge in self._edges[source]:
                _, target, marks = edge
                if target < first or self._numbers[self._states[target]] < 0:
                    continue
                if marks & missing or (not missing and target == first):
                    edges = [(self._states[source][0], edge)]
                    while source != here:
                        source, edge = came[source]
                        edges.append((self._states[source][0], edge))
                    return edges[::-1], target
                if target not in came and target != here:
                    came[target] = (source, edge)
                    queue.append(target)
