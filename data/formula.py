"""Formulas of LTL and propositional logic, held as their Polish token sequence.

`a U !b` is the tuple `("U", "a", "!", "b")`: each operator stands before its operands. The tuple
is the tree: its length is the number of nodes, a renaming maps its leaves, and every function
here runs over it in one pass, so no depth of nesting can overflow a stack.

The infix syntax is Spot's. Precedence, tightest first: `! X F G`, then `U R W M`
(right-associative), `&`, `xor`, `|`, and `->` with `<->` on one level (right-associative).
"""

import re
from collections.abc import Iterable, Mapping
from typing import NewType

from symshift.data.vocabulary import name_at

Formula = NewType("Formula", tuple[str, ...])

CONSTANTS = frozenset("01")
UNARY = frozenset("!XFG")
PRECEDENCE = {
    **dict.fromkeys(("->", "<->"), 1),
    "|": 2,
    "xor": 3,
    "&": 4,
    **dict.fromkeys("URWM", 5),
}
BINARY = frozenset(PRECEDENCE)
RIGHT_ASSOCIATIVE = frozenset(("->", "<->", "U", "R", "W", "M"))
TEMPORAL = frozenset("XFGURWM")
ARITY = {**dict.fromkeys(CONSTANTS, 0), **dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2)}
OPERATORS = UNARY | BINARY
MAX_TEXT = 20_000
_UNARY_LEVEL = 6

_TOKEN = re.compile(r"<->|->|xor(?![a-z0-9_])|[a-z][a-z0-9_]*|[!XFGURWM&|()01]|(?P<bad>\S)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NO_NAMES = frozenset(("xor", "true", "false", "cycle"))


class FormulaError(ValueError):
    """A text that is not a formula; the message says where and why."""


def is_symbol(token: str) -> bool:
    """Tell whether a token can name a symbol."""
    return token not in _NO_NAMES and _NAME.fullmatch(token) is not None


def _tokenize(text: str) -> list[tuple[str, int]]:
    if len(text) > MAX_TEXT:
        raise FormulaError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    tokens = []
    for found in _TOKEN.finditer(text):
        if found["bad"]:
            raise FormulaError(f"unexpected {found[0]!r} at position {found.start()}")
        if found[0] in ("true", "false"):
            raise FormulaError(f"{found[0]!r} at position {found.start()}: write 1 or 0")
        tokens.append((found[0], found.start()))
    return tokens


def parse(text: str) -> Formula:
    """Read a formula in Spot's infix syntax.

    Raises:
        FormulaError: If the text is no formula, or longer than MAX_TEXT characters.
    """
    # Read from right to left: then a finished operand meets its unary operators next, and the
    # output, reversed, is in Polish order without any tree in between.
    output: list[str] = []
    waiting: list[tuple[str, int]] = []
    expect_operand = True
    for token, at in reversed(_tokenize(text)):
        if token in UNARY:
            if expect_operand:
                raise FormulaError(f"{token!r} at position {at} has no operand")
            output.append(token)
        elif token in BINARY:
            if expect_operand:
                raise FormulaError(f"{token!r} at position {at} has no right operand")
            level = PRECEDENCE[token]
            while waiting and waiting[-1][0] != ")":
                top = PRECEDENCE[waiting[-1][0]]
                if top < level or (top == level and token not in RIGHT_ASSOCIATIVE):
                    break
                output.append(waiting.pop()[0])
            waiting.append((token, at))
            expect_operand = True
        elif token == "(":
            if expect_operand:
                raise FormulaError(f"nothing to read after '(' at position {at}")
            while waiting and waiting[-1][0] != ")":
                output.append(waiting.pop()[0])
            if not waiting:
                raise FormulaError(f"'(' at position {at} is never closed")
            waiting.pop()
        elif not expect_operand:
            raise FormulaError(f"an operator is missing after {token!r} at position {at}")
        elif token == ")":
            waiting.append((token, at))
        else:
            output.append(token)
            expect_operand = False
    if expect_operand:
        raise FormulaError("an operand is missing at the start" if waiting else "empty formula")
    while waiting:
        token, at = waiting.pop()
        if token == ")":
            raise FormulaError(f"')' at position {at} was never opened")
        output.append(token)
    return Formula(tuple(reversed(output)))


def show(formula: Formula) -> str:
    """Print a formula in Spot's infix syntax, with only the brackets it needs."""
    pieces: list[str] = []
    # What is still to be printed: literal text, or the lowest level that needs no brackets.
    waiting: list[str | int] = [0]
    for token in formula:
        while isinstance(top := waiting.pop(), str):
            pieces.append(top)
        if token in UNARY:
            pieces.append(token if token == "!" else token + " ")
            waiting.append(_UNARY_LEVEL)
        elif token in BINARY:
            level = PRECEDENCE[token]
            if level < top:
                pieces.append("(")
                waiting.append(")")
            right = token in RIGHT_ASSOCIATIVE
            waiting += (level + (not right), f" {token} ", level + right)
        else:
            pieces.append(token)
    pieces += (str(rest) for rest in reversed(waiting))
    return "".join(pieces)


def from_polish(tokens: Iterable[str]) -> Formula:
    """Check that tokens are one formula in Polish order, and return it.

    Raises:
        FormulaError: If they are not.
    """
    formula = Formula(tuple(tokens))
    open_places = 1
    for at, token in enumerate(formula):
        if open_places == 0:
            raise FormulaError(f"token {at} ({token!r}) comes after the end of the formula")
        if token not in ARITY and not is_symbol(token):
            raise FormulaError(f"token {at} ({token!r}) is neither operator nor symbol")
        open_places += ARITY.get(token, 0) - 1
    if open_places:
        raise FormulaError(f"{open_places} operands are missing at the end")
    return formula


def symbols_of(formula: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct symbols in order of first occurrence (the same infix and Polish)."""
    return tuple(dict.fromkeys(token for token in formula if token not in ARITY))


def rename(formula: Formula, names: Mapping[str, str]) -> Formula:
    """Return the formula with its symbols renamed; symbols that `names` lacks stay."""
    return Formula(tuple(names.get(token, token) for token in formula))


def canonical_names(symbols: Iterable[str]) -> dict[str, str]:
    """Map symbols, in the order given, to the first names of the vocabulary."""
    return {symbol: name_at(position) for position, symbol in enumerate(symbols)}


def canonical(formula: Formula) -> Formula:
    """Return the formula with its symbols renamed in order of first occurrence."""
    return rename(formula, canonical_names(symbols_of(formula)))


def is_boolean(formula: Formula) -> bool:
    """Tell whether a formula has no temporal operator."""
    return TEMPORAL.isdisjoint(formula)


def tree_paths(tokens: Iterable[str]) -> list[tuple[int, ...]]:
    """Return, for tokens in Polish order, each node's branch choices, nearest to the node first."""
    paths: list[tuple[int, ...]] = []
    waiting: list[tuple[int, ...]] = [()]
    for token in tokens:
        path = waiting.pop()
        paths.append(path)
        arity = ARITY.get(token, 0)
        if arity == 2:
            waiting.append((1, *path))
        if arity:
            waiting.append((0, *path))
    return paths


def end_of_operand(formula: Formula, start: int) -> int:
    """Return the index behind the subformula that starts at `start`."""
    open_places = 1
    while open_places:
        open_places += ARITY.get(formula[start], 0) - 1
        start += 1
    return start
