from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.formula import BINARY, UNARY, Formula
from symshift.data.seeds import Draws
from symshift.generators.formulas.identities import flatten, reduce


def random_tree(draws, size):
    """The Polish tokens of some tree of a size."""
    if size == 1:
        return [draws.choice("01ab")]
    token = draws.choice(sorted(UNARY) if size == 2 else sorted(UNARY | BINARY))
    if token in UNARY:
        return [token, *random_tree(draws, size - 1)]
    left = 1 + draws.below(size - 2)
    return [token, *random_tree(draws, left), *random_tree(draws, size - 1 - left)]


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("! ! a", "a"),
        ("! 0", "1"),
        ("X 1", "1"),
        ("X 0", "0"),
        ("U a 1", "1"),
        ("U a 0", "0"),
        ("U 0 a", "a"),
        ("U 1 a", "U 1 a"),
        ("U a a", "a"),
        ("& a a", "a"),
        ("& a & b a", "& a b"),
        ("& & a b & b c", "& & a b c"),
        ("& 1 a", "a"),
        ("& a 0", "0"),
        ("| 1 a", "1"),
        ("& a ! a", "& a ! a"),
        ("-> a 0", "! a"),
        ("-> ! a 0", "a"),
        ("<-> 0 a", "! a"),
        ("xor a a", "0"),
        ("F F a", "F a"),
        ("G 1", "1"),
        ("W 1 a", "1"),
        ("M 0 a", "0"),
        ("R 1 a", "a"),
        ("M a 1", "M a 1"),
    ],
)
def test_identities(text, short):
    assert reduce(text.split()) == tuple(short.split())


@given(st.integers(0, 10**6), st.integers(1, 14))
def test_identities_leave_nothing_to_shorten(index, size):
    formula = reduce(random_tree(Draws("all", index), size))

    assert reduce(formula) == formula
    assert len(formula) <= size


@pytest.mark.spot
def test_identities_are_spots_own():
    from symshift.solvers.spot_discovery import find_spot

    spot = find_spot()
    for index in range(1_500):
        tokens = Formula(tuple(random_tree(Draws("identities", index), 2 + index % 9)))
        ours = reduce(tokens)
        # Spot keeps X 0 for the sake of finite words.
        theirs = reduce(formulas.parse(spot.normalise(formulas.show(tokens))))

        assert len(ours) == len(theirs), (formulas.show(tokens), formulas.show(ours))
        assert Counter(ours) == Counter(theirs)
        assert spot.equivalent(ours, tokens)


@given(st.integers(0, 10**6), st.integers(1, 24))
def test_flattening_is_reducing_where_no_equality_rule_applies(index, size):
    tokens = random_tree(Draws("flatten", index), size)
    names = (f"s{number}" for number in range(size))
    distinct = reduce(next(names) if token in "ab" else token for token in tokens)
    draws = Draws("names", index)
    formula = [draws.choice("abc") if token[0] == "s" else token for token in distinct]
    flat = flatten(formula)

    if flat is None:
        assert len(reduce(formula)) < len(formula)
    else:
        assert tuple(flat) == reduce(formula)
        assert sorted(flat) == sorted(formula)
