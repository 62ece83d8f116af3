"""Spot's trivial identities: the rewriting that Spot applies whenever it builds a formula.

The list is that of Spot's manual (Trivial Identities; "Temporal Logic Formulas", tl.pdf, 2016
and later): each one keeps the meaning and makes the formula shorter. Operands of `&` and `|` lose
their doubles across a whole chain `a & b & a`, as Spot's n-ary operators do. Two things differ.
The order of operands stays as it was drawn. And `X 0` becomes `0`, as in Spot before version 2.9
(2020), which keeps it since then because it has a meaning on finite words.
"""

from collections.abc import Callable, Iterable, Sequence

from symshift.data.formula import BINARY, UNARY, Formula, end_of_operand

ZERO: Formula = Formula(("0",))
ONE: Formula = Formula(("1",))


def _not(f: Formula) -> Formula:
    if f == ZERO:
        return ONE
    if f == ONE:
        return ZERO
    return Formula(f[1:]) if f[0] == "!" else Formula(("!", *f))


def unary(operator: str, f: Formula) -> Formula:
    """Apply an operator to a formula that no identity shortens, and the identities to the whole."""
    if operator == "!":
        return _not(f)
    if f in (ZERO, ONE) or (operator in "FG" and f[0] == operator):
        return f
    return Formula((operator, *f))


def _chain(operator: str, f: Formula) -> list[Formula]:
    """Return the operands of a chain of `&` or `|`, however it is nested."""
    operands, waiting = [], [f]
    while waiting:
        g = waiting.pop()
        if g[0] == operator:
            middle = end_of_operand(g, 1)
            waiting += (Formula(g[middle:]), Formula(g[1:middle]))
        else:
            operands.append(g)
    return operands


def _and_or(operator: str, f: Formula, g: Formula) -> Formula:
    neutral, absorbing = (ONE, ZERO) if operator == "&" else (ZERO, ONE)
    if absorbing in (f, g):
        return absorbing
    if f == neutral:
        return g
    if g == neutral:
        return f
    operands = dict.fromkeys(_chain(operator, f) + _chain(operator, g))
    joined, *rest = operands
    for operand in rest:
        joined = Formula((operator, *joined, *operand))
    return joined


def _xor(f: Formula, g: Formula) -> Formula:
    if f == g:
        return ZERO
    for one, other in ((f, g), (g, f)):
        if one == ZERO:
            return other
        if one == ONE:
            return _not(other)
    return Formula(("xor", *f, *g))


def _equivalent(f: Formula, g: Formula) -> Formula:
    if f == g:
        return ONE
    for one, other in ((f, g), (g, f)):
        if one == ONE:
            return other
        if one == ZERO:
            return _not(other)
    return Formula(("<->", *f, *g))


def _implies(f: Formula, g: Formula) -> Formula:
    if f in (ZERO, g) or g == ONE:
        return ONE
    if f == ONE:
        return g
    return _not(f) if g == ZERO else Formula(("->", *f, *g))


# For each temporal operator: the right operands that are the result, the left operand that
# leaves the right one, and the left operand that is the result.
_TEMPORAL: dict[str, tuple[tuple[Formula, ...], tuple[Formula, ...], tuple[Formula, ...]]] = {
    "U": ((ZERO, ONE), (ZERO,), ()),
    "W": ((ONE,), (ZERO,), (ONE,)),
    "R": ((ZERO, ONE), (ONE,), ()),
    "M": ((ZERO,), (ONE,), (ZERO,)),
}


def _temporal(operator: str, f: Formula, g: Formula) -> Formula:
    right_wins, left_vanishes, left_wins = _TEMPORAL[operator]
    if f == g or g in right_wins or f in left_vanishes:
        return g
    return f if f in left_wins else Formula((operator, *f, *g))


_BINARY: dict[str, Callable[[Formula, Formula], Formula]] = {
    "xor": _xor,
    "<->": _equivalent,
    "->": _implies,
}


def binary(operator: str, f: Formula, g: Formula) -> Formula:
    """Join two formulas that no identity shortens, and apply the identities to the whole."""
    if operator in "&|":
        return _and_or(operator, f, g)
    if operator in _TEMPORAL:
        return _temporal(operator, f, g)
    return _BINARY[operator](f, g)


def reduce(tokens: Iterable[str]) -> Formula:
    """Return a formula after Spot's trivial identities, applied from the leaves up."""
    operands: list[Formula] = []
    for token in reversed(tuple(tokens)):
        if token in UNARY:
            operands.append(unary(token, operands.pop()))
        elif token in BINARY:
            left = operands.pop()
            operands.append(binary(token, left, operands.pop()))
        else:
            operands.append(Formula((token,)))
    return operands[0]


def flatten(tokens: Sequence[str]) -> list[str] | None:
    """Apply what is left of the identities where only the equality rules can shorten a formula.

    Much faster than `reduce`, and the same where it gives an answer.

    Args:
        tokens: A formula that the identities without `f & f` and its like leave as it is, apart
            from the nesting of chains.

    Returns:
        The formula with its chains nested to the left, or None if an equality rule applies.
    """
    operands: list[str] = []
    # The operands of every chain that came up, by its text.
    chains: dict[str, tuple[str, ...]] = {}
    for token in reversed(tokens):
        if token in UNARY:
            operands[-1] = f"{token} {operands[-1]}"
        elif token not in BINARY:
            operands.append(token)
        elif (left := operands.pop()) == (right := operands[-1]):
            return None
        elif token in "&|":
            firsts = chains[left] if left[0] == token else (left,)
            if right[0] != token:
                if right in firsts:
                    return None
                rests: tuple[str, ...] = (right,)
                text = f"{token} {left} {right}"
            else:
                rests = chains[right]
                if not set(firsts).isdisjoint(rests):
                    return None
                text = f"{token} " * len(rests) + " ".join((left, *rests))
            operands[-1] = text
            chains[text] = firsts + rests
        else:
            operands[-1] = f"{token} {left} {right}"
    return operands[0].split(" ")
