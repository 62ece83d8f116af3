import json
import math
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from symshift.data import formula as formulas
from symshift.data.dataset import open_dataset
from symshift.data.errors import UsageError
from symshift.data.formula import ARITY
from symshift.data.options import Range
from symshift.data.plugins import load_task
from symshift.generators.formulas.cells import UniformCells
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.uniform import FormulaClasses, UniformStream
from symshift.generators.generation import plan
from symshift.generators.strings import count_patterns
from symshift.generators.writer import write_dataset

EVERY = "0 1 ! X F G & | -> <-> xor U R W M"
# Operators, and the largest size at which all formulas can be listed.
LISTED = [("! X U &", 7), ("0 1 ! X U &", 6), ("U &", 7), ("! & | <-> xor", 7), (EVERY, 4)]
DEFAULT = Grammar.of("0 1 ! X U &", 10)
LARGE = FormulaClasses(DEFAULT, 50, Range(0, 10))


@cache
def listed(grammar, size):
    """Every formula of a size over the grammar's symbols, one by one."""
    if size == 1:
        return [(leaf,) for leaf in grammar.symbols + grammar.constants]
    unary = [(o, *f) for o in grammar.unary for f in listed(grammar, size - 1)]
    return unary + [
        (operator, *left, *right)
        for operator in grammar.binary
        for split in range(1, size - 1)
        for left in listed(grammar, split)
        for right in listed(grammar, size - 1 - split)
    ]


def num_trees(grammar, size, num_binary):
    """Operator trees by their closed form: the cycle lemma, and the operators' choices."""
    num_unary = size - 1 - 2 * num_binary
    if num_unary < 0:
        return 0
    orders = math.factorial(size) // (
        math.factorial(num_binary) * math.factorial(num_unary) * math.factorial(num_binary + 1)
    )
    choices = len(grammar.binary) ** num_binary * len(grammar.unary) ** num_unary
    return orders // size * choices


@pytest.mark.parametrize(("operators", "max_size"), LISTED)
def test_counts_are_those_of_a_list_of_all_formulas(operators, max_size):
    grammar = Grammar.of(operators, 3)
    for size in range(1, max_size + 1):
        classes = Counter(
            len(formulas.symbols_of(f)) for f in set(map(formulas.canonical, listed(grammar, size)))
        )
        for k in range(4):
            assert FormulaClasses(grammar, max_size, Range(k, k)).count(size) == classes[k]
        assert FormulaClasses(grammar, max_size, Range(1, 3)).count(size) == sum(
            classes[k] for k in (1, 2, 3)
        )


@pytest.mark.parametrize(("size", "k"), [(1, 0), (6, 2), (9, 5), (25, 10), (50, 1), (50, 10)])
def test_counts_are_trees_times_patterns(size, k):
    num_constants = len(DEFAULT.constants)
    expected = sum(
        num_trees(DEFAULT, size, b)
        * math.comb(b + 1, j)
        * num_constants ** (b + 1 - j)
        * count_patterns(j, k)
        for b in range(size)
        for j in range(b + 2)
    )

    assert FormulaClasses(DEFAULT, size, Range(k, k)).count(size) == expected


def test_the_documented_counts_are_right():
    text = (Path(__file__).parents[3] / "docs" / "uniform-sampling.md").read_text()
    checked, counts = 0, []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[:1] == ["size"]:
            counts = [FormulaClasses(DEFAULT, 50, Range(int(k), int(k))) for k in cells[1:]]
        elif counts and cells and cells[0].isdecimal():
            for classes, stated in zip(counts, cells[1:], strict=True):
                count = classes.count(int(cells[0]))
                assert stated in (str(count), f"{count:.2e}".replace("+", "")), line
                checked += 1
    assert checked == 20 * 7


@pytest.mark.parametrize(("operators", "max_size"), LISTED)
def test_unranking_lists_every_class_once(operators, max_size):
    grammar = Grammar.of(operators, 3)
    size = max_size - 1 if grammar.unary else max_size
    classes = FormulaClasses(grammar, size, Range(0, 3))
    found = [classes.unrank(size, rank) for rank in range(classes.count(size))]

    assert len(set(found)) == len(found)
    assert set(found) == set(map(formulas.canonical, listed(grammar, size)))
    assert [classes.rank(formula) for formula in found] == list(range(len(found)))


@given(st.integers(1, 50), st.integers(0, 10**60))
def test_ranking_undoes_unranking_at_any_size(size, number):
    rank = number % LARGE.count(size)
    formula = LARGE.unrank(size, rank)

    assert formulas.from_polish(formula) == formula == formulas.canonical(formula)
    assert len(formula) == size
    assert LARGE.rank(formula) == rank


@pytest.mark.parametrize("formula", ["& a c", "& a", "b", "| a b", "! ! ! ! a", "X a", "0"])
def test_only_what_is_counted_has_a_rank(formula):
    classes = FormulaClasses(Grammar.of("! X &", 3), 4, Range(2, 2))

    with pytest.raises(ValueError, match="formula"):
        classes.rank(formula.split())
    with pytest.raises(ValueError, match="rank="):
        classes.unrank(3, classes.count(3))


@pytest.mark.parametrize("stream_kind", [UniformStream, UniformCells])
@pytest.mark.parametrize(
    ("operators", "size", "num_symbols"),
    [("! X U &", Range(1, 6), Range(0, 3)), ("0 1 &", Range(1, 5), Range(0, 2))],
)
def test_a_stream_has_every_class_once_and_then_ends(stream_kind, operators, size, num_symbols):
    grammar = Grammar.of(operators, 3)
    stream = stream_kind(grammar, size, num_symbols, ("stream",))
    drawn = [stream.formula(5, index) for index in range(stream.length)]
    expected = {
        formulas.canonical(f) for n in range(size.min, size.max + 1) for f in listed(grammar, n)
    }

    assert len(set(drawn)) == len(drawn)
    assert set(drawn) == {f for f in expected if len(formulas.symbols_of(f)) in num_symbols}
    assert {(len(formulas.symbols_of(f)), len(f)) for f in drawn} <= set(stream.cells)
    with pytest.raises(IndexError):
        stream.formula(5, stream.length)


def test_formulas_of_a_size_are_uniform():
    # The first tenth of many streams: each class as often as the next.
    grammar, size = Grammar.of("! X U &", 2), Range(4, 4)
    stream = UniformStream(grammar, size, Range(0, 2), ())
    counts = Counter(stream.formula(seed, index) for seed in range(3_000) for index in range(3))
    expected = counts.total() / stream.length
    statistic = sum((counts[f] - expected) ** 2 / expected for f in counts)

    assert len(counts) == stream.length
    assert chi2.sf(statistic, stream.length - 1) > 1e-6


def test_large_formulas_are_uniform_in_what_can_be_counted():
    # The number of binary operators of a formula has a law that its closed form gives.
    grammar = Grammar.of("! X U &", 5)
    stream = UniformStream(grammar, Range(30, 30), Range(5, 5), ())
    counts = Counter(
        sum(ARITY.get(token) == 2 for token in stream.formula(1, index)) for index in range(3_000)
    )
    weights = {b: num_trees(grammar, 30, b) * count_patterns(b + 1, 5) for b in range(15)}
    expected = {b: 3_000 * weight / sum(weights.values()) for b, weight in weights.items()}
    common = [b for b in expected if expected[b] > 8]
    statistic = sum((counts[b] - expected[b]) ** 2 / expected[b] for b in common)

    assert len(common) > 4
    assert chi2.sf(statistic, len(common) - 1) > 1e-6


def test_sizes_have_their_shares_from_the_start():
    stream = UniformStream(Grammar.of("! X U &", 5), Range(5, 14), Range(0, 5), ("shares",))
    sizes = Counter(len(stream.formula(0, index)) for index in range(4_000))
    below = sum(sizes[n] for n in range(5, 10))

    assert abs(below - 448) < 4.5 * math.sqrt(448)
    assert all(abs(sizes[n] - 3_552 / 5) < 4.5 * math.sqrt(3_552 / 5) for n in range(10, 15))


def test_cells_come_in_turn_until_they_are_used_up():
    grammar, size = Grammar.of("! X U &", 3), Range(1, 5)
    stream = UniformCells(grammar, size, Range(0, 3), ())
    places = [stream.place(3, index) for index in range(stream.length)]
    # One symbol: 1, 2, 4 + 2, ... classes; three symbols need five nodes and have 2 * 4 * 1.
    assert Counter(places)[1, 1] == 1
    assert Counter(places)[3, 5] == 8
    assert set(places[: len(stream.cells)]) == set(stream.cells)
    for index, (k, n) in enumerate(places):
        formula = stream.formula(3, index)
        assert (len(formulas.symbols_of(formula)), len(formula)) == (k, n)


def test_a_small_space_is_written_whole(tmp_path, Serial):
    wishes = {"symbols": 2, "size": "1-5", "sampler": "uniform", "operators": "! & xor"}
    recipe, demand = plan("prop", {**wishes, "train": 10**6, "test": 10**6})
    report = write_dataset(recipe, demand, tmp_path / "d", Serial())
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    space = load_task("prop").stream(recipe.options, recipe.window).space
    counts = FormulaClasses(Grammar.of("! & xor", 2), 5, Range(0, 2))

    assert space == sum(map(counts.count, range(1, 6)))
    assert manifest["candidates"] == space
    assert sum(report.rows.values()) + sum(manifest["rejects"].values()) == space
    assert set(manifest["rejects"]) == {"surplus", "unsatisfiable"}  # Surplus: validation.
    assert report.message.startswith(f"there are only {space} problems")


def test_small_cells_are_written_whole(tmp_path, Serial):
    wishes = {"symbols": 2, "size": "1-5", "sampler": "uniform", "operators": "! &"}
    recipe, demand = plan("prop", {**wishes, "per_cell": 6})
    write_dataset(recipe, demand, tmp_path / "d", Serial())
    dataset = open_dataset(tmp_path / "d")
    cells = Counter(row.cell for split in dataset.splits for row in dataset.rows(split))
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())

    assert cells[1, 1] == cells[1, 2] == 1
    assert cells[2, 3] == 1
    assert cells[2, 5] == 6
    assert manifest["candidates"] < 200


def test_seeds_shuffle_differently():
    stream = UniformStream(Grammar.of("! X U &", 5), Range(20, 20), Range(0, 5), ())
    drawn = [{stream.formula(seed, index) for index in range(500)} for seed in (1, 2)]

    assert not drawn[0] & drawn[1]


def test_the_stream_never_changes():
    grammar = Grammar.of("! X U &", 5)
    stream = UniformStream(grammar, Range(1, 20), Range(0, 5), ("ltl", 1))
    cells = UniformCells(grammar, Range(1, 9), Range(0, 5), ("ltl", 1))

    assert [formulas.show(stream.formula(0, index)) for index in range(3)] == [
        "X ((a & !b) U X !(X c U c))",
        "(a U X X b) U c U a & d",
        "a & (a & !b) & (c & b)",
    ]
    assert [formulas.show(cells.formula(0, index)) for index in range(3)] == [
        "!!X a & b",
        "!!(a U (b & !c))",
        "a U b U a",
    ]


@pytest.mark.parametrize(
    ("operators", "size", "num_symbols"),
    [("U &", Range(2, 2), Range(0, 2)), ("! X", Range(1, 3), Range(0, 0))],
)
@pytest.mark.parametrize("stream_kind", [UniformStream, UniformCells])
def test_what_does_not_exist_is_refused(stream_kind, operators, size, num_symbols):
    with pytest.raises(UsageError, match="size"):
        stream_kind(Grammar.of(operators, 2), size, num_symbols, ())
