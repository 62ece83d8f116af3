"""Formulas to ask Spot about, and its answers as text."""

import random

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.formula import BINARY, UNARY, Formula
from symshift.solvers.libspot import LibSpot
from symshift.solvers.spot import SolverLimit

STANDARD = ("!", "X", "U", "&")
ALL = tuple(sorted(UNARY | BINARY))


def draw(rng: random.Random, size: int, symbols: str, operators: tuple[str, ...]) -> Formula:
    if size == 1:
        return Formula((rng.choice([*symbols, "0", "1"]),))
    token = rng.choice([each for each in operators if each in UNARY or size > 2])
    if token in UNARY:
        return Formula((token, *draw(rng, size - 1, symbols, operators)))
    left = rng.randint(1, size - 2)
    right = draw(rng, size - 1 - left, symbols, operators)
    return Formula((token, *draw(rng, left, symbols, operators), *right))


def many(num: int, seed: int) -> list[Formula]:
    rng = random.Random(seed)
    return [
        draw(rng, rng.randint(1, 35), "abcdefghij"[: 5 + n % 6], (STANDARD, ALL)[n % 2])
        for n in range(num)
    ]


def words(spot: LibSpot, questions: list[Formula]) -> list[str]:
    answers = []
    for formula in questions:
        try:
            trace = spot.witness(formula, max_states=300)
        except SolverLimit:
            answers.append("limit")
        else:
            answers.append(traces.show(trace) if trace else "none")
    return answers


MANY_NODES = f"!({' xor '.join('abcdefghijk')})"
MANY_VARIABLES = f"{'X ' * 400}a"
MANY_STATES = " & ".join(f"G ({a} -> F {b})" for a, b in ("ab", "cd", "ef"))


def outgrow(spot: LibSpot) -> None:
    """Make the table of BDD nodes grow, so that it has to be made anew."""
    before = spot._table._num_extra
    for text in (MANY_NODES, MANY_VARIABLES, "a"):
        spot.witness(formulas.parse(text))
    assert spot._table._num_extra > before
