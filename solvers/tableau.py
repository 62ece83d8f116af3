"""The ways to satisfy subformulas at one position: the expansion of a tableau.

A state is a position of the lasso with the elements that have to hold from there on. Each way to
satisfy them now leaves a Boolean function of this position's symbols, elements for the next
position, and the "until"s that were put off (Couvreur, "On-the-fly verification of linear temporal
logic", FM 1999). What the closure knows to hold is dropped, what it knows to fail ends a branch,
and choices that have only one way left are made before the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from symshift.solvers.boolean import Algebra
from symshift.solvers.budget import Budget
from symshift.solvers.closure import Closure, Kind
from symshift.solvers.positions import Positions

State = tuple[int, int]
"""A position, and the set of elements that have to hold there."""


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
    """Elements that have to hold here, seen so far."""
    open: int = 0
    """Those of them that leave a choice."""
    later: int = 0
    """Elements that have to hold at the next position."""
    put_off: int = 0
    """The "until"s whose goal is left to the next position."""


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
        self._algebra = algebra
        self._labels = labels
        self._budget = budget

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
            other = replace(branch)
            if self._delay(other, choice):
                waiting.append(other)
            if self._want(branch, [self._closure.goal[choice]]):
                waiting.append(branch)

    def _is_covered(self, branch: Branch, found: list[tuple[int, int]]) -> bool:
        self._budget.spend(len(found) >> 3)
        later, put_off = ~branch.later, ~branch.put_off
        return any(not (less & later or fewer & put_off) for less, fewer in found)

    def _settle(self, branch: Branch) -> int | None:
        """Make the choices that have one way left, and take the next one off.

        Returns:
            An element with a choice; 0 if there is none; None if the branch is contradictory.
        """
        goal, rest = self._closure.goal, self._closure.rest
        choice, unseen = 0, branch.open
        while unseen:
            element = unseen.bit_length() - 1
            unseen ^= 1 << element
            holds = self._holds(branch, goal[element])
            rest_holds = self._holds(branch, rest[element])
            if holds is None and rest_holds is not False and self._can_delay(branch, element):
                ...
        branch.open &= ~(1 << choice)
        return choice
