import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.errors import UsageError
from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.identities import reduce
from symshift.generators.randltl import Leaves, draw_formula, draw_size, draw_tree, possible_sizes

LAW = Leaves.of("0 1 ! X U &", 3)
ALL = Leaves.of("0 1 ! X F G & | -> <-> xor U R W M", 2)


def expected_token_counts(size, law):
    """Exact expected number of each kind of token in a tree, by the drawing rule."""
    table: dict[int, Counter] = {1: Counter(leaf=1)}
    for n in range(2, size + 1):
        inner = law.unary if n == 2 else law.unary + law.binary
        total: Counter = Counter()
        for operator in inner:
            total[operator] += 1 / len(inner)
            if operator in law.unary:
                parts = [(table[n - 1], 1.0)]
            else:
                parts = [
                    (table[left] + table[n - 1 - left], 1 / (n - 2)) for left in range(1, n - 1)
                ]
            for counts, share in parts:
                for kind, count in counts.items():
                    total[kind] += count * share / len(inner)
        table[n] = total
    return table[size]


@pytest.mark.parametrize("size", [2, 5, 12])
def test_trees_have_the_expected_operators(size):
    expected = expected_token_counts(size, LAW)
    num_trees = 4_000
    seen: Counter = Counter()
    squares: Counter = Counter()
    for index in range(num_trees):
        tokens = draw_tree(Draws("trees", size, index), size, LAW)
        assert len(formulas.from_polish(tokens)) == size
        counts = Counter(t if t in LAW.unary + LAW.binary else "leaf" for t in tokens)
        for kind, count in counts.items():
            seen[kind] += count
            squares[kind] += count * count

    for kind, mean in expected.items():
        spread = math.sqrt(max(squares[kind] / num_trees - (seen[kind] / num_trees) ** 2, 1e-9))
        assert abs(seen[kind] / num_trees - mean) < 4.5 * spread / math.sqrt(num_trees) + 1e-9


def test_symbols_and_constants_are_equally_likely_leaves():
    counts = Counter(draw_tree(Draws("leaf", i), 1, LAW)[0] for i in range(10_000))

    assert sum((counts[leaf] - 2_000) ** 2 / 2_000 for leaf in ("0", "1", "a", "b", "c")) < 23.5


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
    if size % 2 == 0 and not ALL.unary:
        return
    formula = reduce(draw_tree(Draws("all", index), size, ALL))

    assert reduce(formula) == formula
    assert len(formula) <= size


@pytest.mark.spot
def test_identities_are_spots_own():
    from symshift.solvers.spot import find_spot

    spot = find_spot()
    for index in range(1_500):
        tokens = Formula(tuple(draw_tree(Draws("identities", index), 2 + index % 9, ALL)))
        ours = reduce(tokens)
        theirs = formulas.parse(spot.normalise(formulas.show(tokens)))

        assert len(ours) == len(theirs), (formulas.show(tokens), formulas.show(ours))
        assert Counter(ours) == Counter(theirs)
        assert spot.equivalent(ours, tokens)


def test_sizes_are_equal_from_ten_up_and_rare_below():
    sizes = list(range(1, 36))
    counts = Counter(draw_size(Draws("sizes", i), sizes) for i in range(30_000))
    below = sum(counts[size] for size in range(1, 10))

    assert abs(below - 30_000 * 0.112) < 4.5 * math.sqrt(30_000 * 0.112 * 0.888)
    expected = (30_000 - below) / 26
    assert sum((counts[n] - expected) ** 2 / expected for n in range(10, 36)) < 65  # 25 dof, 2e-5


def test_formulas_are_canonical_and_in_the_ranges():
    for index in range(300):
        formula = draw_formula(Draws("f", index), LAW, Range(3, 9), Range(1, 2))
        assert formula is not None

        assert 3 <= len(formula) <= 9
        assert 1 <= len(formulas.symbols_of(formula)) <= 2
        assert formulas.canonical(formula) == formula == reduce(formula)


def test_formulas_of_a_size_have_randltls_distribution():
    # Two independent ways to the same conditional distribution: ours asks for the size first.
    sizes = Range(3, 5)
    ours: Counter = Counter()
    plain: Counter = Counter()
    for index in range(6_000):
        formula = draw_formula(Draws("ours", index), LAW, Range(5, 5), Range(0, 3))
        assert formula is not None
        ours[tuple(t if t in "!XU&" else "." for t in formula)] += 1
    index = 0
    while plain.total() < 6_000:
        draws = Draws("plain", index)
        formula = reduce(draw_tree(draws, 1 + draws.below(5), LAW))
        index += 1
        if len(formula) == 5:
            plain[tuple(t if t in "!XU&" else "." for t in formula)] += 1

    shapes = [s for s in plain if plain[s] + ours[s] >= 40]
    chi_square = sum((ours[s] - plain[s]) ** 2 / (ours[s] + plain[s]) for s in shapes)
    assert len(shapes) > 5
    assert chi_square < len(shapes) + 4.5 * math.sqrt(2 * len(shapes))
    assert sizes.max == 5


@pytest.mark.parametrize(
    ("operators", "size", "num_symbols", "message"),
    [
        ("! Y", Range(1, 5), Range(0, 3), "'Y'"),
        ("! !", Range(1, 5), Range(0, 3), "once"),
        ("! X", Range(1, 5), Range(2, 3), "binary"),
        ("U &", Range(2, 2), Range(0, 3), "size"),
        ("! U", Range(1, 4), Range(3, 3), "size 5 or more"),
        ("! U", Range(1, 40), Range(4, 9), "only 3 names"),
    ],
)
def test_what_cannot_be_drawn_is_refused(operators, size, num_symbols, message):
    with pytest.raises(UsageError, match=message):
        possible_sizes(Leaves.of(operators, 3), size, num_symbols)


def test_without_unary_operators_sizes_are_odd():
    law = Leaves.of("U &", 3)
    for index in range(200):
        formula = draw_formula(Draws("odd", index), law, Range(1, 11), Range(0, 3))
        assert formula is not None
        assert len(formula) % 2 == 1
