"""Boolean formulas for tests: random ones, and what they mean, told in the plainest way."""

import itertools
import operator

from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.formula import Formula

OPERATORS = {
    "&": operator.and_,
    "|": operator.or_,
    "->": operator.le,
    "<->": operator.eq,
    "xor": operator.ne,
}
LEAVES = st.sampled_from(["0", "1", *"abcd"]).map(lambda leaf: (leaf,))
FORMULAS = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.builds(lambda part: ("!", *part), parts),
        st.builds(
            lambda token, left, right: (token, *left, *right),
            st.sampled_from(list(OPERATORS)),
            parts,
            parts,
        ),
    ),
    max_leaves=10,
).map(Formula)
ASSIGNMENTS = st.dictionaries(st.sampled_from("abcdz"), st.booleans(), max_size=4)


def holds(formula, values):
    """Evaluate a formula by Python's own operators."""
    stack = []
    for token in reversed(formula):
        if token == "!":
            stack.append(not stack.pop())
        elif token in OPERATORS:
            stack.append(OPERATORS[token](stack.pop(), stack.pop()))
        else:
            stack.append(token == "1" if token in "01" else values[token])
    return stack[0]


def completions(symbols, assignment):
    """Yield the ways to give the symbols that an assignment leaves open a value."""
    open_symbols = [symbol for symbol in symbols if symbol not in assignment]
    for values in itertools.product((False, True), repeat=len(open_symbols)):
        yield {**assignment, **dict(zip(open_symbols, values))}


def always_holds(formula, assignment):
    """Tell whether every completion of an assignment satisfies a formula."""
    symbols = formulas.symbols_of(formula)
    return all(holds(formula, values) for values in completions(symbols, assignment))


def as_sympy(formula):
    """Build a SymPy expression from the tokens (its parser would evaluate text)."""
    from sympy import Symbol
    from sympy.logic import boolalg

    make = {
        "!": boolalg.Not,
        "&": boolalg.And,
        "|": boolalg.Or,
        "->": boolalg.Implies,
        "<->": boolalg.Equivalent,
        "xor": boolalg.Xor,
    }
    stack = []
    for token in reversed(formula):
        if token in make:
            stack.append(make[token](*(stack.pop() for _ in range(formulas.ARITY[token]))))
        else:
            stack.append({"0": boolalg.false, "1": boolalg.true}.get(token, Symbol(token)))
    return stack[0]
