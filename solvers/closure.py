"""The subformulas of one formula, as a shared graph that knows where each of them holds.

Only four kinds of node are needed: Boolean functions, "and", X and U. An element is an integer
whose lowest bit negates the node that the others name, so that a formula and its negation are one
node (0 is false, 1 is true). Whatever holds at every position of the lasso, or nowhere, becomes a
constant as it is made, and so the graph of a formula that its trace nearly decides is small.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from symshift.data.formula import UNARY, Formula
from symshift.solvers.algebra import Algebra
from symshift.solvers.budget import Budget
from symshift.solvers.positions import Bounds, Positions

FALSE, TRUE = 0, 1


class Kind(IntEnum):
    """What an element says."""

    LEAF = 0
    """A Boolean function of this position's symbols."""
    AND = 1
    """Both operands hold."""
    OR = 2
    """One operand holds: a negated AND."""
    NEXT = 3
    """The operand holds at the next position."""
    UNTIL = 4
    """The first operand holds until the second does, which happens."""
    RELEASE = 5
    """The second operand holds up to where both do, or for ever: a negated UNTIL."""


LEAF, AND, OR, NEXT, UNTIL, RELEASE = Kind
_DUAL = {AND: OR, UNTIL: RELEASE}


class Closure:
    """The elements of one formula over the positions of one trace.

    Args:
        positions: The positions.
        algebra: Where Boolean functions are from.
        labels: The function that each position's step allows, none of them false.
        budget: Pays for each node and each comparison with a label.
    """

    def __init__(
        self, positions: Positions, algebra: Algebra, labels: Sequence[int], budget: Budget
    ) -> None:
        self._positions = positions
        self._algebra = algebra
        self._budget = budget
        self._labels: dict[int, int] = {}
        for position, label in enumerate(labels):
            self._labels[label] = self._labels.get(label, 0) | positions.bit(position)
        self._known: dict[tuple[Kind, int, int], int] = {}
        self._node_cost = 1 + (positions.num >> 8)
        self.kind = [LEAF, LEAF]
        """What each element says."""
        self.first = [algebra.zero, algebra.one]
        """The first operand of each element; of a leaf, its function."""
        self.second = [algebra.one, algebra.zero]
        """The second operand of each element; of a leaf, the opposite function."""
        self.goal = [FALSE, FALSE]
        """What makes an OR, UNTIL or RELEASE true at once."""
        self.rest = [FALSE, FALSE]
        """What they need here otherwise: a RELEASE nothing, beside its second operand."""
        self.delays = [False, False]
        """Whether they also need to hold at the next position otherwise."""
        self.low = [0, positions.all]
        """Where each element holds in every word."""
        self.up = [0, positions.all]
        """Where each element holds in some word, or might."""

    @property
    def num_elements(self) -> int:
        """How many elements there are, each negation counted."""
        return len(self.kind)

    def leaf(self, function: int) -> int:
        """Return the element of a Boolean function."""
        opposite = self._algebra.negate(function)
        if opposite < function:
            return self.leaf(opposite) ^ 1
        return self._element(LEAF, function, opposite, self._leaf_bounds(function, opposite))

    def conj(self, x: int, y: int) -> int:
        """Return the element of a conjunction."""
        # A leaf comes first: it is the cheaper one to decide by.
        if (self.kind[x], x) > (self.kind[y], y):
            x, y = y, x
        if x == FALSE or x == y ^ 1:
            return FALSE
        if x in (TRUE, y):
            return y
        if self.kind[x] == self.kind[y] == LEAF:
            return self.leaf(self._algebra.conj(self.first[x], self.first[y]))
        bounds = self.low[x] & self.low[y], self.up[x] & self.up[y]
        return self._element(AND, x, y, bounds)

    def disj(self, x: int, y: int) -> int:
        """Return the element of a disjunction."""
        return self.conj(x ^ 1, y ^ 1) ^ 1

    def next(self, x: int) -> int:
        """Return the element of X."""
        before = self._positions.before
        return self._element(NEXT, x, x, (before(self.low[x]), before(self.up[x])))

    def until(self, x: int, y: int) -> int:
        """Return the element of U."""
        if x in (y, FALSE):
            return y
        if x == y ^ 1:
            x = TRUE
        until = self._positions.until
        bounds = until(self.low[x], self.low[y]), until(self.up[x], self.up[y])
        return self._element(UNTIL, x, y, bounds)

    def release(self, x: int, y: int) -> int:
        """Return the element of R."""
        return self.until(x ^ 1, y ^ 1) ^ 1

    def _leaf_bounds(self, function: int, opposite: int) -> Bounds:
        conj = self._algebra.conj
        self._budget.spend(len(self._labels))
        low = up = 0
        for label, where in self._labels.items():
            if not conj(label, opposite):
                low |= where
                up |= where
            elif conj(label, function):
                up |= where
        return low, up

    def _element(self, kind: Kind, first: int, second: int, bounds: Bounds) -> int:
        every = self._positions.all
        low, up = bounds
        if low == every:
            return TRUE
        if not up:
            return FALSE
        key = (kind, first, second)
        if (known := self._known.get(key)) is None:
            self._budget.spend(self._node_cost)
            known = self._known[key] = len(self.kind)
            self.kind += (kind, _DUAL.get(kind, kind))
            self.low += (low, every ^ up)
            self.up += (up, every ^ low)
            # The operands of a leaf are its function and the opposite.
            flip = kind is not LEAF
            self.first += (first, first ^ 1 if flip else second)
            self.second += (second, second ^ 1 if flip else first)
            until = kind is UNTIL
            self.delays += (until, until)
            self.goal += (second, first ^ 1) if until else (first, first ^ 1)
            self.rest += (first, TRUE) if until else (second, second ^ 1)
        return known


def add(formula: Formula, closure: Closure, known: Mapping[str, int]) -> int:
    """Return the element of a formula, after putting it into a closure.

    Args:
        formula: A formula of LTL.
        closure: Where it goes.
        known: The elements of its symbols.
    """
    values = {"0": FALSE, "1": TRUE, **known}
    stack: list[int] = []
    for token in reversed(formula):
        if token in values:
            stack.append(values[token])
            continue
        x = stack.pop()
        if token in UNARY:
            stack.append(_unary(token, x, closure))
        else:
            stack.append(_binary(token, x, stack.pop(), closure))
    return stack[0]


def _unary(operator: str, x: int, closure: Closure) -> int:
    if operator == "!":
        return x ^ 1
    if operator == "X":
        return closure.next(x)
    if operator == "F":
        return closure.until(TRUE, x)
    return closure.release(FALSE, x)


def _binary(operator: str, x: int, y: int, closure: Closure) -> int:
    conj, disj = closure.conj, closure.disj
    match operator:
        case "&":
            return conj(x, y)
        case "|":
            return disj(x, y)
        case "->":
            return disj(x ^ 1, y)
        case "xor":
            return disj(conj(x, y ^ 1), conj(x ^ 1, y))
        case "<->":
            return disj(conj(x, y), conj(x ^ 1, y ^ 1))
        case "U":
            return closure.until(x, y)
        case "R":
            return closure.release(x, y)
        case "W":
            return closure.release(y, disj(x, y))
        case _:
            return closure.until(y, conj(x, y))
