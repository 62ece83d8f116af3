import math
from collections import Counter, defaultdict
from functools import cache
from itertools import product

import pytest
from scipy.stats import chi2

from symshift.data import formula as formulas
from symshift.data.errors import UsageError
from symshift.data.formula import ARITY
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.formulas.cells import RandltlCells
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.identities import reduce
from symshift.generators.formulas.randltl import RandltlStream
from symshift.generators.formulas.shapes import Shapes, _Place
from symshift.generators.formulas.shortening import Shortening
from symshift.generators.formulas.sizes import size_weights

EVERY = "0 1 ! X F G & | -> <-> xor U R W M"
SETS = ["0 1 ! X U &", EVERY, "! X U &", "U &", "! & | <-> xor", "0 1 & xor"]
LAW = Grammar.of("0 1 ! X U &", 3)


def draw_tree(draws, size, law):
    """Draw the Polish tokens of a tree as Spot's randltl does: the law that ours has to have."""
    leaves = law.symbols + law.constants
    tokens = []
    waiting = [size]
    while waiting:
        size = waiting.pop()
        if size == 1:
            tokens.append(draws.choice(leaves))
            continue
        token = draws.choice(law.unary if size == 2 else law.unary + law.binary)
        tokens.append(token)
        if ARITY[token] == 1:
            waiting.append(size - 1)
        else:
            left = draws.choice(law.splits(size))
            waiting += (size - 1 - left, left)
    return tokens


@cache
def plain_formulas(operators, num_names, max_size, num_trees=16_000):
    """Shortened random trees of all sizes up to one, by the size they come to."""
    law, draws = Grammar.of(operators, num_names), Draws("plain", operators)
    found = defaultdict(list)
    for _ in range(num_trees):
        size = draws.choice(law.tree_sizes(max_size))
        formula = formulas.canonical(reduce(draw_tree(draws, size, law)))
        found[len(formula)].append(formula)
    return found


def exact_law(law, size, distinct=False):
    """Every tree of a size with its probability, after the identities.

    With `distinct`, no two leaves are equal, so that no equality rule applies.
    """

    @cache
    def trees(size):
        if size == 1:
            leaves = len(law.symbols) + len(law.constants)
            symbols = {("s",): len(law.symbols) / leaves} if distinct else {}
            each = law.constants if distinct else law.symbols + law.constants
            return {**{(leaf,): 1 / leaves for leaf in each}, **symbols}
        found = defaultdict(float)
        inner = law.unary if size == 2 else law.unary + law.binary
        for token in inner:
            splits = [(size - 1,)] if ARITY[token] == 1 else law.splits(size)
            for split in splits:
                parts = split if ARITY[token] == 1 else (split, size - 1 - split)
                for combined in product(*(trees(part).items() for part in parts)):
                    tree = (token, *(t for part, _ in combined for t in part))
                    found[tree] += math.prod(p for _, p in combined) / len(inner) / len(splits)
        return found

    law_of = Counter()
    for tree, probability in trees(size).items():
        names = (f"s{number}" for number in range(size))
        law_of[reduce(next(names) if token == "s" else token for token in tree)] += probability
    return law_of


def same_law(one, other, error_rate=1e-7):
    """Two samples of one law differ more than this once in 1 / error_rate times (chi-square)."""
    one, other = Counter(one), Counter(other)
    rest = Counter()
    for kind in set(one) | set(other):
        if one[kind] + other[kind] < 16:
            rest[0] += one.pop(kind, 0)
            rest[1] += other.pop(kind, 0)
    pairs = [(one[kind], other[kind]) for kind in set(one) | set(other)] + [(rest[0], rest[1])]
    pairs = [pair for pair in pairs if sum(pair) >= 16]
    n, m = (sum(pair[side] for pair in pairs) for side in (0, 1))
    if len(pairs) < 2:
        return True
    statistic = sum((x * math.sqrt(m / n) - y * math.sqrt(n / m)) ** 2 / (x + y) for x, y in pairs)
    return chi2.sf(statistic, len(pairs) - 1) > error_rate


def kind(formula):
    """A formula as it is if it is small; else its operators, where it begins, and its symbols."""
    if len(formula) < 6:
        return formula
    operators = tuple(sorted(token for token in formula if token in formulas.OPERATORS))
    return operators if len(formula) < 8 else (formula[:2], len(formulas.symbols_of(formula)))


def sample(stream, count, seed=0):
    drawn = [stream.formula(seed, index) for index in range(count)]
    return [formula for formula in drawn if formula is not None]


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


@pytest.mark.parametrize("operators", SETS)
def test_how_likely_trees_shorten_is_exact(operators):
    law = Grammar.of(operators, 3)
    max_size = 4 if operators == EVERY else 7 if law.unary == () else 5
    plain, by_leaves = Shortening(law, max_size), Shortening(law, max_size, by_leaves=True)
    for tree in law.tree_sizes(max_size):
        expected, constants = Counter(), Counter()
        for formula, probability in exact_law(law, tree, distinct=True).items():
            if formula in (("0",), ("1",)):
                constants[int(formula[0])] += probability
            else:
                expected[len(formula), sum(t[0] == "s" for t in formula)] += probability

        assert plain.constants[tree] == pytest.approx((constants[0], constants[1]))
        tilted = Counter()
        for (size, num_leaves), probability in expected.items():
            found = by_leaves.formulas[tree, :, size, num_leaves].sum()
            assert found == pytest.approx(probability)
            tilted[size] += probability * 3**num_leaves
        for size, weight in tilted.items():
            assert by_leaves.tilted(3.0)[tree, :, size].sum() == pytest.approx(weight)
        total = by_leaves.formulas[tree].sum()
        assert plain.formulas[tree].sum() == pytest.approx(total)
        assert total + sum(constants.values()) == pytest.approx(1)


@pytest.mark.parametrize("operators", SETS)
@pytest.mark.parametrize("tilt", [1.0, 4.0])
def test_the_ways_to_go_on_add_up_to_what_was_to_be_drawn(operators, tilt):
    shapes = Shapes(Shortening(Grammar.of(operators, 3), 12, by_leaves=True), tilt)
    fractions = Draws("ways").fractions()
    possible = [size for size in range(1, 13) if any(row[size] for row in shapes._totals)]
    for size in possible * 30:
        shapes.draw(size, fractions)
    visited = [step.place for step in shapes._steps.values() if step.cumulative]
    for tree, size, kinds, bare in visited:
        place = _Place(tree, size, kinds, bare)
        ways = shapes._bare_ways(place) if bare else shapes._ways(place)
        expected = (tree, size + 1, kinds << 3) if bare else (tree, size, kinds)

        assert sum(way[0] for way in ways) == pytest.approx(shapes._weight(*expected))
    assert len(visited) >= 5


@pytest.mark.parametrize("operators", SETS)
def test_formulas_of_each_size_have_the_law_of_shortened_trees(operators):
    plain = plain_formulas(operators, 3, 11)
    stream = RandltlStream(Grammar.of(operators, 3), Range(1, 11), Range(0, 3))
    ours = defaultdict(list)
    for formula in sample(stream, 7_000):
        ours[len(formula)].append(formula)

    assert set(ours) <= set(plain)
    compared = 0
    for size, formulas_of_size in ours.items():
        assert same_law(map(kind, formulas_of_size), map(kind, plain[size])), size
        compared += min(len(formulas_of_size), len(plain[size])) > 100
    assert compared >= 4


def test_larger_formulas_agree_in_operators_and_symbols():
    law, draws = Grammar.of("0 1 ! X U &", 5), Draws("larger")
    stream = RandltlStream(law, Range(16, 18), Range(0, 5))
    plain, ours = defaultdict(list), defaultdict(list)
    for _ in range(9_000):
        formula = reduce(draw_tree(draws, draws.choice((16, 17, 18)), law))
        plain[len(formula)].append(formulas.canonical(formula))
    for formula in sample(stream, 4_000):
        ours[len(formula)].append(formula)
    for size in (16, 17, 18):
        assert len(plain[size]) > 100
        for token in "!XU&01ab":
            counts = ([f.count(token) for f in part[size]] for part in (plain, ours))
            assert same_law(*counts), (size, token)
        for feature in (formulas.symbols_of, lambda f: f[:3], lambda f: f[-2:]):
            assert same_law(*(map(feature, part[size]) for part in (plain, ours))), size


def test_small_formulas_have_their_exact_law():
    law, size = Grammar.of("0 1 ! X U &", 2), 5
    stream = RandltlStream(law, Range(3, size), Range(0, 2))
    expected = Counter()
    for tree in range(1, size + 1):
        for formula, probability in exact_law(law, tree).items():
            expected[formulas.canonical(formula)] += probability
    drawn = sample(stream, 12_000)
    for n in (3, 4, 5):
        of_size = {f: p for f, p in expected.items() if len(f) == n}
        counts = Counter(formula for formula in drawn if len(formula) == n)
        scale = counts.total() / sum(of_size.values())
        statistic = sum((counts[f] - p * scale) ** 2 / (p * scale) for f, p in of_size.items())

        assert set(counts) <= set(of_size)
        assert chi2.sf(statistic, len(of_size) - 1) > 1e-6


@pytest.mark.parametrize(
    ("operators", "num_symbols"),
    [
        ("0 1 ! X U &", Range(1, 1)),
        ("0 1 ! X U &", Range(3, 3)),
        ("! X U &", Range(2, 3)),
        (EVERY, Range(3, 3)),
        ("U &", Range(2, 2)),
    ],
)
def test_a_range_of_symbols_only_picks_formulas(operators, num_symbols):
    plain = plain_formulas(operators, 3, 11)
    stream = RandltlStream(Grammar.of(operators, 3), Range(1, 11), num_symbols)
    ours = defaultdict(list)
    for formula in sample(stream, 4_000):
        assert len(formulas.symbols_of(formula)) in num_symbols
        ours[len(formula)].append(formula)
    for size, formulas_of_size in ours.items():
        fitting = [f for f in plain[size] if len(formulas.symbols_of(f)) in num_symbols]

        assert same_law(map(kind, formulas_of_size), map(kind, fitting)), size


@pytest.mark.parametrize("operators", SETS)
def test_cells_are_drawn_evenly_and_have_the_law_of_whole_trees(operators):
    law = Grammar.of(operators, 3)
    stream = RandltlCells(law, Range(1, 8), Range(0, 3), ("cells",))
    plain, ours = defaultdict(Counter), defaultdict(Counter)
    for index in range(500 * len(stream.cells)):
        formula = stream.formula(1, index)
        if formula is not None:
            cell = len(formulas.symbols_of(formula)), len(formula)
            assert cell == stream.place(1, index)
            ours[cell][kind(formula)] += 1
    draws = Draws("whole", operators)
    for size in law.tree_sizes(8):
        for _ in range(2_500):
            formula = reduce(draw_tree(draws, size, law))
            if len(formula) == size:
                cell = len(formulas.symbols_of(formula)), size
                plain[cell][kind(formulas.canonical(formula))] += 1

    assert set(plain) <= set(ours) <= set(stream.cells) <= set(law.cells(Range(1, 8), Range(0, 3)))
    for cell, counts in ours.items():
        assert counts.total() <= 500
        assert same_law(counts, plain[cell]), cell
    turn = [stream.place(1, index) for index in range(len(stream.cells))]
    assert sorted(turn) == sorted(stream.cells)


@pytest.mark.parametrize(
    ("num_symbols", "size"), [(10, 19), (10, 25), (1, 50), (10, 50), (5, 9), (3, 30)]
)
def test_rare_cells_are_drawn_in_few_attempts(num_symbols, size):
    law = Grammar.of("0 1 ! X U &", 10)
    k, n = Range(num_symbols, num_symbols), Range(size, size)
    for stream in (RandltlStream(law, n, k), RandltlCells(law, n, k, ())):
        drawn = sample(stream, 60)

        assert len(drawn) > 55
        assert {(len(formulas.symbols_of(f)), len(f)) for f in drawn} == {(num_symbols, size)}


def test_sizes_are_equal_from_ten_up_and_rare_below():
    assert size_weights(range(8, 12)) == {8: 28, 9: 28, 10: 222, 11: 222}
    assert size_weights([3, 5]) == {3: 1, 5: 1}
    stream = RandltlStream(Grammar.of("0 1 ! X U &", 5), Range(1, 35), Range(0, 5))
    counts = Counter(map(len, sample(stream, 15_000)))
    below = sum(counts[size] for size in range(1, 10))
    mean = (15_000 - below) / 26

    assert below / 15_000 == pytest.approx(0.112, abs=0.02)
    # Four standard deviations of each count, and what estimating the law of sizes costs.
    assert all(abs(counts[n] - mean) < 4 * math.sqrt(mean) + 0.08 * mean for n in range(10, 36))


def test_formulas_are_canonical_and_in_the_ranges():
    stream = RandltlStream(LAW, Range(3, 9), Range(1, 2))
    for formula in sample(stream, 300):
        assert 3 <= len(formula) <= 9
        assert 1 <= len(formulas.symbols_of(formula)) <= 2
        assert formulas.canonical(formula) == formula == reduce(formula)


def test_the_stream_never_changes():
    stream = RandltlStream(Grammar.of("0 1 ! X U &", 5), Range(1, 35), Range(0, 5), ("ltl", 1))
    cells = RandltlCells(Grammar.of("0 1 ! X U &", 5), Range(1, 9), Range(0, 5), ("ltl", 1))

    assert [formulas.show(f) for f in sample(stream, 3)] == [
        "X (1 U X !X (!a U X !b))",
        "!(X !a U (!a U b) U (c & d)) U !a U X (X e U b U d U !e)",
        "!a & X X X X !(!X b & X !b)",
    ]
    assert [formulas.show(f) for f in sample(cells, 3)] == [
        "!X X (1 U X a)",
        "a U b & !c U d",
        "X X (a U !X !b)",
    ]


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
        RandltlStream(Grammar.of(operators, 3), size, num_symbols)


def test_without_unary_operators_sizes_are_odd():
    stream = RandltlStream(Grammar.of("U &", 3), Range(1, 11), Range(0, 3))

    assert {len(formula) for formula in sample(stream, 200)} == {1, 3, 5, 7, 9, 11}
