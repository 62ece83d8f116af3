"""The ways to satisfy subformulas at one position: the expansion of a tableau.

A state is a position of the lasso with the elements that have to hold from there on. Each way to
satisfy them now leaves a Boolean function of this position's symbols, elements for the next
position, and the "until"s that were put off (Couvreur, "On-the-fly verification of linear temporal
logic", FM 1999). What the closure knows to hold is dropped, what it knows to fail ends a branch,
and choices that have only one way left are made before the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symshift.solvers.algebra import Algebra
from symshift.solvers.budget import Budget
from symshift.solvers.closure import AND, LEAF, NEXT, RELEASE, UNTIL, Closure
from symshift.solvers.positions import Positions

State = tuple[int, int]
"""A position, and the set of elements that have to hold there."""

_NONE, _REACH, _DELAY, _BOTH = range(4)


@dataclass(slots=True)
class Branch:
    """One way to satisfy a state, as far as it is worked out."""

    here: int
    """The position, as a set."""
    there: int
    """The next position, as a set."""
    function: int
    """What the symbols of this position have to satisfy."""
    wanted: int = 0
    """The elements that have to hold here."""
    open: int = 0
    """Those of them that leave a choice."""
    later: int = 0
    """The elements that have to hold at the next position."""
    put_off: int = 0
    """The "until"s whose goal is left to the next position."""

    def copy(self) -> "Branch":
        """Return a branch that can go another way."""
        return Branch(
            self.here,
            self.there,
            self.function,
            self.wanted,
            self.open,
            self.later,
            self.put_off,
        )


class Expansion:
    """The ways to satisfy sets of elements, position by position.

    Args:
        closure: Has the elements.
        positions: The positions.
        algebra: Where Boolean functions are from.
        labels: The function that each position allows, none of them false.
        budget: Pays for each element that is looked at.
    """

    def __init__(
        self,
        closure: Closure,
        positions: Positions,
        algebra: Algebra,
        labels: Sequence[int],
        budget: Budget,
    ) -> None:
        self._closure = closure
        self._positions = positions
        self._conj = algebra.conj
        self._labels = labels
        self._budget = budget
        # Sets of elements are integers: wide ones cost time, and memory where they are kept.
        self._step = 1 + (closure.num_elements >> 12)
        self.keep = 1 + (closure.num_elements >> 8)
        """What keeping a set of elements costs, in steps."""

    def successor(self, state: State, branch: Branch) -> State:
        """Return the state that a way to satisfy a state leads to."""
        return self._positions.successor(state[0]), branch.later

    def branches(self, state: State) -> Iterator[Branch]:
        """Yield the ways to satisfy a state.

        A way is left out if another one leaves a part of its elements for later and puts a part
        of its "until"s off: where the one leads to a word, so does the other.
        """
        position, elements = state
        bit, successor = self._positions.bit, self._positions.successor(position)
        root = Branch(bit(position), bit(successor), self._labels[position])
        waiting = [root] if self._want(root, _members(elements)) else []
        found: list[tuple[int, int]] = []
        while waiting:
            branch = waiting.pop()
            choice = self._settle(branch)
            if choice is None or self._is_covered(branch, found):
                continue
            if not choice:
                found.append((branch.later, branch.put_off))
                yield branch
                continue
            self._budget.spend(self.keep)
            other = branch.copy()
            if self._delay(other, choice):
                waiting.append(other)
            if self._want(branch, [self._closure.goal[choice]]):
                waiting.append(branch)

    def _is_covered(self, branch: Branch, found: list[tuple[int, int]]) -> bool:
        self._budget.spend(len(found) * self._step >> 3)
        later, put_off = ~branch.later, ~branch.put_off
        return any(not (less & later or fewer & put_off) for less, fewer in found)

    def _settle(self, branch: Branch) -> int | None:
        """Make the choices that have one way left, and take the next one off.

        Returns:
            An element with two ways; 0 if there is none; None if the branch is contradictory.
        """
        again = True
        while again:
            again = False
            for element in _members(branch.open):
                if (ways := self._ways(branch, element)) == _BOTH:
                    continue
                branch.open ^= 1 << element
                again = again or ways != _NONE
                if ways == _REACH and not self._want(branch, [self._closure.goal[element]]):
                    return None
                if ways == _DELAY and not self._delay(branch, element):
                    return None
        if not branch.open:
            return 0
        choice = branch.open.bit_length() - 1
        branch.open ^= 1 << choice
        return choice

    def _ways(self, branch: Branch, element: int) -> int:
        """Return the ways to satisfy an open element: _NONE is needed, one of two, or _BOTH."""
        closure = self._closure
        self._budget.spend(self._step)
        reached = self._holds(branch, closure.goal[element])
        rest = self._holds(branch, closure.rest[element])
        delays = closure.delays[element]
        if reached or (rest and not delays):
            return _NONE
        if reached is False:
            return _DELAY
        if rest is False or (delays and not self._may_wait(branch, element)):
            return _REACH
        return _BOTH

    def _holds(self, branch: Branch, element: int) -> bool | None:
        """Tell whether an element holds in all words of a branch; None if that is not plain."""
        closure = self._closure
        if closure.low[element] & branch.here or branch.wanted >> element & 1:
            return True
        if not closure.up[element] & branch.here or branch.wanted >> (element ^ 1) & 1:
            return False
        if closure.kind[element] is LEAF:
            if not self._conj(branch.function, closure.second[element]):
                return True
            if not self._conj(branch.function, closure.first[element]):
                return False
        return None

    def _delay(self, branch: Branch, element: int) -> bool:
        """Satisfy an open element without its goal; False if that cannot be."""
        closure = self._closure
        if closure.delays[element]:
            if not self._wait(branch, element):
                return False
            if closure.kind[element] is UNTIL:
                branch.put_off |= branch.later & 1 << element
        goal = closure.goal[element]
        # Words with the goal have less to do on the other way: leave them to it.
        others = [goal ^ 1] if closure.kind[goal] is LEAF else []
        return self._want(branch, [*others, closure.rest[element]])

    def _want(self, branch: Branch, todo: list[int]) -> bool:
        """Require elements at this position; False if that cannot be."""
        closure = self._closure
        while todo:
            self._budget.spend(self._step)
            element = todo.pop()
            if closure.low[element] & branch.here or branch.wanted >> element & 1:
                continue
            if not closure.up[element] & branch.here or branch.wanted >> (element ^ 1) & 1:
                return False
            branch.wanted |= 1 << element
            kind = closure.kind[element]
            if kind is LEAF:
                branch.function = self._conj(branch.function, closure.first[element])
                if not branch.function:
                    return False
            elif kind is NEXT:
                if not self._wait(branch, closure.first[element]):
                    return False
            elif kind is AND:
                todo += (closure.first[element], closure.second[element])
            else:
                branch.open |= 1 << element
                if kind is RELEASE:
                    todo.append(closure.second[element])
        return True

    def _wait(self, branch: Branch, element: int) -> bool:
        """Require an element at the next position; False if that cannot be."""
        if self._closure.low[element] & branch.there:
            return True
        branch.later |= 1 << element
        return self._may_wait(branch, element)

    def _may_wait(self, branch: Branch, element: int) -> bool:
        possible = self._closure.up[element] & branch.there
        return bool(possible) and not branch.later >> (element ^ 1) & 1


def _members(elements: int) -> list[int]:
    """Return the elements of a set, in ascending order."""
    found = []
    while elements:
        found.append((elements & -elements).bit_length() - 1)
        elements &= elements - 1
    return found
