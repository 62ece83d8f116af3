"""Sets of horn that ask each theory for both answers (decorrelate)."""

from collections import Counter, defaultdict

import pytest

from symshift.data.dataset import open_dataset
from symshift.data.errors import UsageError
from symshift.data.plugins import load_task
from symshift.generators import parts as part_files
from symshift.generators import writer
from symshift.generators.generation import generate_dataset, generate_rows, merge_parts, plan
from symshift.generators.verification import first_problems
from symshift.generators.writer import write_dataset

# So small that theories come again and again, with queries that were asked about and others.
SMALL = {
    **{"symbols": 8, "num_symbols": "4-6", "facts": "1-2", "rules": "3-5", "body_size": "1-1"},
    **{"depth": "0-2", "closure_depth": "1-2", "decorrelate": True},
}
COUNTS = {"train": 600, "validation": 40, "test": 60}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("pairs") / "d"
    generate_dataset("horn", out, {**SMALL, **COUNTS}, num_workers=1)
    return open_dataset(out)


def rows_of(dataset):
    return [row for split in dataset.splits for row in dataset.rows(split)]


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (writer, part_files):
        monkeypatch.setattr(module, "BLOCK_CANDIDATES", 256)


def assert_theories_tell_nothing(rows):
    """Check that rows stand in pairs that differ in their query and its answer alone."""
    task = load_task("horn")
    pairs = defaultdict(list)
    for row in rows:
        pairs[row["index"] // 2].append(row)
    for one, other in pairs.values():
        assert [one["label"], other["label"]] == [True, False]
        assert one.split == other.split
        assert one.canonical_id != other.canonical_id
        theories = {task.read(row.input).decides_split for row in (one, other)}
        assert len(theories) == 1


def test_no_row_stands_alone(made):
    assert made.manifest["rejects"]["refused with another of its bundle"] > 20
    assert first_problems(made) == []
    for split in made.splits:
        assert_theories_tell_nothing(made.rows(split))


@pytest.mark.parametrize("column", ["facts", "rules", "symbols"])
def test_what_a_theory_counts_says_nothing_about_the_answer(made, column):
    for split in made.splits:
        labels = defaultdict(Counter)
        for row in made.rows(split):
            labels[len(row[column])][row["label"]] += 1
        assert len(labels) > 1
        assert all(counts[True] == counts[False] for counts in labels.values())


@pytest.mark.parametrize(
    "wishes", [{"sampler": "lp"}, {"perturb": "skew"}, {"hard_share": 0.4}], ids=str
)
def test_whatever_else_is_asked_for(tmp_path, Serial, wishes):
    counts = {"train": 200, "test": 20}
    larger = {"num_symbols": "5-8", "rules": "4-12", "body_size": "1-2", "closure_depth": "1-3"}
    recipe, demand = plan("horn", {**SMALL, **counts, **larger, **wishes})
    assert write_dataset(recipe, demand, tmp_path / "d", Serial()).missing == {}
    dataset = open_dataset(tmp_path / "d")

    assert_theories_tell_nothing(rows_of(dataset))
    assert first_problems(dataset) == []
    for split, count in counts.items():
        hard = sum(not row.shortcuts for row in dataset.rows(split))
        assert hard >= wishes.get("hard_share", 0) * count


def test_in_cells_no_row_stands_alone(tmp_path, Serial):
    wishes = {"per_cell": 4, "symbols": 6, "num_symbols": "5-6", "size": "8-10"}
    recipe, demand = plan("horn", {**wishes, "decorrelate": True})
    write_dataset(recipe, demand, tmp_path / "d", Serial())
    rows = rows_of(open_dataset(tmp_path / "d"))

    assert_theories_tell_nothing(rows)
    assert set(Counter(row.cell for row in rows).values()) == {4}


def test_from_python_no_row_stands_alone():
    recipe, _ = plan("horn", {**SMALL, **COUNTS})
    rows = generate_rows(recipe)

    assert_theories_tell_nothing([next(rows) for _ in range(300)])


def test_a_smaller_set_is_a_prefix_of_a_larger_one(tmp_path, made, Serial):
    fewer = {"train": 202, "validation": 8, "test": 8}
    recipe, demand = plan("horn", {**SMALL, **fewer})
    write_dataset(recipe, demand, tmp_path / "d", Serial())
    dataset = open_dataset(tmp_path / "d")

    for split, count in fewer.items():
        assert list(dataset.rows(split)) == list(made.rows(split))[:count]


@pytest.mark.parametrize("stop_after", [1, 5, 6])
def test_an_interrupted_run_ends_with_the_same_bytes(
    tmp_path, contents, made, small_blocks, monkeypatch, Serial, stop_after
):
    # An odd number of chunks a block, and chunks of one pair beside ones of many.
    monkeypatch.setattr(writer, "CHUNK_CANDIDATES", 86)
    recipe, demand = plan("horn", {**SMALL, **COUNTS})
    with pytest.raises(KeyboardInterrupt):
        write_dataset(recipe, demand, tmp_path / "d", Serial(stop_after))
    write_dataset(recipe, demand, tmp_path / "d", Serial())

    assert contents(tmp_path / "d") == contents(made.path)


def test_workers_make_the_same_bytes(tmp_path, contents, made, small_blocks):
    generate_dataset("horn", tmp_path / "w", {**SMALL, **COUNTS}, num_workers=2)
    assert contents(tmp_path / "w") == contents(made.path)


def test_parts_make_the_same_bytes(tmp_path, contents, small_blocks):
    wishes = {**SMALL, **COUNTS, "num_symbols": "6-8"}
    generate_dataset("horn", tmp_path / "d", wishes, num_workers=1)
    parts = [tmp_path / f"p{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        generate_dataset("horn", part, wishes, num_workers=1, part=f"{number}/3")
    merge_parts(parts, tmp_path / "m")
    assert contents(tmp_path / "m") == contents(tmp_path / "d")


def test_parts_of_a_space_that_is_too_small_end_and_merge(
    tmp_path, contents, small_blocks, monkeypatch
):
    monkeypatch.setattr(writer, "STALL_CANDIDATES", 1_000)
    wishes = {"symbols": 3, "train": 2_000, "decorrelate": True}
    single = generate_dataset("horn", tmp_path / "d", wishes, num_workers=1)
    parts = [tmp_path / f"p{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        report = generate_dataset("horn", part, wishes, num_workers=1, part=f"{number}/2")
        assert "no new rows any more" in report.message

    assert single.missing
    assert merge_parts(parts, tmp_path / "m").missing == single.missing
    assert contents(tmp_path / "m") == contents(tmp_path / "d")


@pytest.mark.parametrize("wishes", [{"train": 11}, {"train": 10, "test": 3}, {"per_cell": 5}])
def test_an_odd_number_is_refused_before_anything_is_written(tmp_path, wishes):
    with pytest.raises(UsageError, match="give a multiple of 2"):
        generate_dataset("horn", tmp_path / "d", {**SMALL, **wishes}, part=None)
    assert not (tmp_path / "d").exists()
