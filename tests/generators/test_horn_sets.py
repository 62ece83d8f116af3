"""Whole data sets of horn: what a user sees of balance, splits, prefixes and regimes."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

import symshift
from symshift.data.dataset import open_dataset
from symshift.data.errors import UsageError
from symshift.data.options import to_plain
from symshift.data.plugins import load_task
from symshift.data.text import rename_text
from symshift.data.vocabulary import Window
from symshift.generators import parts as part_files
from symshift.generators import writer
from symshift.generators.generation import generate_dataset, merge_parts, recipe_for
from symshift.generators.renaming import write_renamed
from symshift.generators.verification import first_problems, row_problems

SMALL = {"symbols": 12, "num_symbols": "5-10", "depth": "0-3"}
COUNTS = {"train": 200, "validation": 24, "test": 31}


COMMON = [
    *("id", "task", "input", "target", "symbols", "num_symbols", "size", "canonical_id"),
    *("split", "perturbation", "shortcuts", "index", "solver"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("horn") / "d"
    generate_dataset("horn", out, {**SMALL, **COUNTS}, num_workers=1)
    return open_dataset(out)


def rows_of(dataset):
    return {split: list(dataset.rows(split)) for split in dataset.splits}


@pytest.mark.parametrize(
    "wishes",
    [{}, {"decorrelate": True, "test": 32}, {"sampler": "lp"}, {"chain": "minimal"}],
    ids=str,
)
def test_labels_are_exact_in_each_split_and_depths_even(tmp_path, wishes):
    wishes = {**SMALL, **COUNTS, **wishes}
    generate_dataset("horn", tmp_path / "d", wishes, num_workers=1)
    for split, rows in rows_of(open_dataset(tmp_path / "d")).items():
        labels = Counter(row["label"] for row in rows)
        assert abs(labels[True] - labels[False]) == wishes[split] % 2
        for label in (True, False):
            closures = Counter(row["closure_depth"] for row in rows if row["label"] is label)
            assert set(closures) <= {1, 2, 3, 4}
            assert max(closures.values()) - min(closures[depth] for depth in range(1, 5)) <= 6
        depths = Counter(row["depth"] for row in rows)
        assert depths.pop(None) == labels[False]
        assert max(depths.values()) - min(depths[depth] for depth in range(4)) <= 6


def test_a_set_is_sound(made):
    assert first_problems(made) == []
    rows = rows_of(made)
    assert {len(rows[split]) for split in rows} == set(COUNTS.values())
    sample = rows["train"][0]
    assert list(sample) == [*COMMON, *load_task("horn").extra_columns]


def test_no_theory_is_in_two_splits(made):
    task = load_task("horn")
    homes = {}
    for split, rows in rows_of(made).items():
        for row in rows:
            assert homes.setdefault(task.read(row.input).decides_split, split) == split


def test_a_smaller_set_is_a_prefix_of_a_larger_one(tmp_path, made):
    fewer = {"train": 60, "validation": 8, "test": 8}
    generate_dataset("horn", tmp_path / "d", {**SMALL, **fewer}, num_workers=1)
    for split, rows in rows_of(open_dataset(tmp_path / "d")).items():
        assert rows == list(made.rows(split))[: fewer[split]]


def test_workers_make_the_same_bytes(tmp_path, contents, made):
    generate_dataset("horn", tmp_path / "w", {**SMALL, **COUNTS}, num_workers=2)
    assert contents(tmp_path / "w") == contents(made.path)


def test_parts_make_the_same_bytes(tmp_path, contents, made, monkeypatch):
    for module in (writer, part_files):
        monkeypatch.setattr(module, "BLOCK_CANDIDATES", 256)
    parts = [tmp_path / f"p{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        wishes = {**SMALL, **COUNTS}
        generate_dataset("horn", part, wishes, num_workers=1, part=f"{number}/2")
    merge_parts(parts, tmp_path / "m")
    assert contents(tmp_path / "m") == contents(made.path)


def test_rows_come_from_python_as_in_a_set(made):
    rows = symshift.generate("horn", **SMALL)
    first = [next(rows) for _ in range(50)]
    stored = {row.id: row for split in made.splits for row in made.rows(split)}

    assert [row for row in first if row.id in stored] == [
        stored[row.id] for row in first if row.id in stored
    ]
    assert sum(row.id in stored for row in first) > 40


@pytest.mark.parametrize("kind", ["input-order", "target-order", "skew"])
def test_a_perturbed_set_holds_the_same_problems(tmp_path, made, kind):
    generate_dataset("horn", tmp_path / "d", {**SMALL, **COUNTS, "perturb": kind}, num_workers=1)
    perturbed = open_dataset(tmp_path / "d")

    assert first_problems(perturbed) == []
    for split in made.splits:
        pairs = list(zip(made.rows(split), perturbed.rows(split), strict=True))
        assert all(one.canonical_id == other.canonical_id for one, other in pairs)
    if kind == "input-order":
        task = load_task("horn")
        for row in perturbed.rows("test"):
            seen = dict.fromkeys(t for t in task.encode_input(row.input) if t in row.symbols)
            assert list(seen) == list("abcdefghij")[: len(seen)]


def test_more_names_give_the_same_problems_in_other_names(tmp_path, made):
    wishes = {**SMALL, **COUNTS, "symbols": 1_000}
    generate_dataset("horn", tmp_path / "d", wishes, num_workers=1)
    diverse = open_dataset(tmp_path / "d")
    names = {name for row in diverse.rows("train") for name in row.symbols}

    assert len(names) > 700
    for split in made.splits:
        for one, other in zip(made.rows(split), diverse.rows(split), strict=True):
            assert one.canonical_id == other.canonical_id
            assert one["depth"] == other["depth"]


def test_cells_are_filled_evenly_and_each_has_both_labels(tmp_path):
    wishes = {"per_cell": 4, "symbols": 6, "num_symbols": "5-6", "size": "8-10"}
    generate_dataset("horn", tmp_path / "d", wishes, num_workers=1)
    dataset = open_dataset(tmp_path / "d")
    cells = Counter((row.cell, row["label"]) for rows in rows_of(dataset).values() for row in rows)

    assert len(cells) == 12
    assert set(cells.values()) == {2}
    assert first_problems(dataset) == []


def test_the_three_regimes_are_the_same_problems(tmp_path, made):
    found = {}
    for regime, wishes in {
        "seen": {"max_renamings": 1},
        "unseen-query": {"into": Window(100, 1_099), "only": "query"},
        "all-unseen": {"into": Window(100, 5_099)},
    }.items():
        write_renamed(made, tmp_path / regime, **wishes)
        renamed = open_dataset(tmp_path / regime)
        assert first_problems(renamed) == []
        found[regime] = rows_of(renamed)["test"]
        assert {row["regime"] for row in found[regime]} == {regime}

    for row, *variants in zip(made.rows("test"), *found.values(), strict=True):
        for variant in variants:
            assert variant["base_id"] == row.id
            names = {pair["name"]: pair["renamed"] for pair in variant["renaming"]}
            assert variant.input == rename_text(row.input, names)
            assert variant.target == rename_text(row.target, names)
            assert variant["query"] == names[row["query"]]
            assert variant["rules"] == [rename_text(rule, names) for rule in row["rules"]]
            assert variant["proof"] == [rename_text(step, names) for step in row["proof"]]
        query = variants[1]
        changed = [p["name"] for p in query["renaming"] if p["name"] != p["renamed"]]
        assert changed == [row["query"]]


def test_a_query_that_is_renamed_alone_takes_no_name_of_another_symbol(tmp_path, made):
    write_renamed(made, tmp_path / "r", only="query", max_renamings=50)
    for row in open_dataset(tmp_path / "r").rows("test"):
        assert len(set(row.symbols)) == row.num_symbols
        assert row["regime"] == "seen"


def test_there_must_be_a_free_name_for_a_query(tmp_path, made):
    with pytest.raises(UsageError, match="give a larger window"):
        write_renamed(made, tmp_path / "r", into=Window(0, 0), only="query")


@pytest.mark.parametrize(
    ("column", "value"),
    [("label", False), ("depth", 9), ("closure_depth", 9), ("query", "zz"), ("proof", ["a -> b"])],
)
def test_a_column_that_is_not_true_is_found(made, column, value):
    row = next(row for row in made.rows("train") if row["label"])
    changed = type(row).from_columns({**row, column: value})
    problems = list(row_problems(changed, load_task("horn"), renamed=False))

    assert any(problem.startswith(f"{column} is") for problem in problems)


def test_a_target_with_a_broken_proof_is_found(made):
    row = next(row for row in made.rows("train") if row["label"])
    changed = type(row).from_columns({**row, "target": "zz -> a; true"})

    assert any("proof" in p for p in row_problems(changed, load_task("horn"), renamed=False))


def test_the_card_tells_shortcuts_and_columns(made):
    text = (made.path / "README.md").read_text()

    assert "## Shortcuts" in text
    assert "| rules for the query |" in text
    assert "| `closure_depth` | int64 | rounds until nothing more is derivable |" in text
    assert "--num-symbols 5-10" in text


def test_empty_lists_and_nulls_are_read_by_other_readers(made):
    table = pq.read_table(made.files("train")[0])

    assert str(table.schema.field("facts").type) == "list<element: string>"
    assert table["depth"].null_count == 100


def test_a_recipe_names_what_it_asks_for():
    plain = to_plain(recipe_for("horn", SMALL).options)

    assert plain["num_symbols"] == "5-10"
    assert plain["depth"] == "0-3"
    assert plain["rules"] is None
