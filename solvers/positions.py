"""The positions of a lasso as bits of integers, and the temporal operators on such sets.

Position i of n is bit n - 1 - i, so that a carry runs from later positions to earlier ones: one
addition finds every run of positions that leads into a set. The position after the last is the
first of the cycle.
"""

from collections.abc import Mapping

from symshift.data.formula import ARITY, Formula

Bounds = tuple[int, int]
"""Positions where a formula holds in every word, and where it holds in some (or might)."""


class Positions:
    """Sets of positions of one lasso.

    Args:
        num_prefix: Positions before the cycle.
        num_cycle: Positions of the cycle, at least one.
    """

    __slots__ = ("all", "cycle", "entry", "num", "num_prefix", "start")

    def __init__(self, num_prefix: int, num_cycle: int) -> None:
        self.num_prefix = num_prefix
        self.num = num_prefix + num_cycle
        self.all = (1 << self.num) - 1
        self.cycle = (1 << num_cycle) - 1
        self.start = 1 << (self.num - 1)
        self.entry = 1 << (num_cycle - 1)

    def successor(self, position: int) -> int:
        """Return the number of the position after a position."""
        return position + 1 if position + 1 < self.num else self.num_prefix

    def bit(self, position: int) -> int:
        """Return the set of one position, given by its number."""
        return self.start >> position

    def before(self, a: int) -> int:
        """Return the positions whose successor is in a set: the operator X."""
        return (a << 1) & self.all | (a & self.entry != 0)

    def eventually(self, a: int) -> int:
        """Return the positions from which a set is reached: the operator F."""
        return self.all if a & self.cycle else self.all & -(a & -a)

    def always(self, a: int) -> int:
        """Return the positions from which a set is never left: the operator G."""
        return self.all ^ self.eventually(self.all ^ a)

    def until(self, a: int, b: int) -> int:
        """Return the positions from which `b` is reached through `a`: the operator U."""
        either = a | b
        found = b | a & ~(either + b)
        if found & self.entry:
            # What holds where the cycle starts holds behind its end: a carry comes in.
            found = b | a & ~(either + b + 1)
        return found

    def release(self, a: int, b: int) -> int:
        """Return the positions from which `b` lasts up to and with `a`, or for ever: R."""
        return self.all ^ self.until(self.all ^ a, self.all ^ b)


def bounds_of(formula: Formula, positions: Positions, known: Mapping[str, Bounds]) -> Bounds:
    """Evaluate a formula at all positions at once, in three values.

    Every operator but the negation is monotone, so it maps lower bounds to a lower bound and upper
    bounds to an upper one; a negation changes their places.

    Args:
        formula: A formula of LTL.
        positions: The positions.
        known: The bounds of symbols; the others may be anything everywhere.

    Returns:
        The positions where the formula holds in every word, as far as this sees, and the positions
        where it may hold.
    """
    full = positions.all
    before, eventually, always = positions.before, positions.eventually, positions.always
    until, release = positions.until, positions.release
    values = {"0": (0, 0), "1": (full, full), **known}
    stack: list[Bounds] = []
    push, pop = stack.append, stack.pop
    for token in reversed(formula):
        if token in values:
            push(values[token])
            continue
        if token not in ARITY:
            push((0, full))
            continue
        low, up = pop()
        if token == "!":
            push((full ^ up, full ^ low))
        elif token == "X":
            push((before(low), before(up)))
        elif token == "F":
            push((eventually(low), eventually(up)))
        elif token == "G":
            push((always(low), always(up)))
        else:
            right_low, right_up = pop()
            if token == "&":
                push((low & right_low, up & right_up))
            elif token == "|":
                push((low | right_low, up | right_up))
            elif token == "U":
                push((until(low, right_low), until(up, right_up)))
            elif token == "->":
                push((full ^ up | right_low, full ^ low | right_up))
            elif token == "R":
                push((release(low, right_low), release(up, right_up)))
            elif token == "W":
                push((release(right_low, low | right_low), release(right_up, up | right_up)))
            elif token == "M":
                push((until(right_low, low & right_low), until(right_up, up & right_up)))
            else:
                same = low & right_low | full ^ (up | right_up)
                differ = low & ~right_up | right_low & ~up
                push((differ, full ^ same) if token == "xor" else (same, full ^ differ))
    return stack[0]
