import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered_rows import is_taken, numbered_row

from symshift.data.catalogue import catalogue
from symshift.data.dataset import open_dataset
from symshift.data.errors import UsageError
from symshift.generators import quota as quotas
from symshift.generators.candidates import FULL, Skipped
from symshift.generators.demand import Demand
from symshift.generators.generation import plan, preset, with_preset
from symshift.generators.quota import Quota
from symshift.generators.verification import first_problems
from symshift.generators.writer import write_dataset


def test_rows_are_taken_until_a_split_is_full():
    quota = Quota(Demand(rows={"train": 2}))

    assert [is_taken(quota, numbered_row(n)) for n in range(3)] == [True, True, False]
    assert quota.is_satisfied
    assert quota.rejects == {FULL: 1}


def test_a_split_that_is_full_hides_every_other_reason():
    # So that a worker may skip what it knows to be surplus without changing a count.
    for outcome in (
        numbered_row(1, "test"),
        Skipped("unsatisfiable", "test"),
        Skipped(FULL, "test"),
    ):
        quota = Quota(Demand(rows={"train": 2}))
        assert not is_taken(quota, outcome)
        assert quota.rejects == {FULL: 1}


def test_equivalent_rows_are_taken_once():
    quota = Quota(Demand(rows={"train": 5}))

    assert [is_taken(quota, numbered_row(7)) for _ in range(2)] == [True, False]
    assert quota.rejects == {"duplicate": 1}


def test_a_row_that_is_taken_takes_at_most_32_bytes():
    quota = Quota(Demand(rows={"train": 10**6}))
    tracemalloc.start()
    sizes = []
    for number in range(20_001):
        is_taken(quota, numbered_row(number))
        if number in (2_000, 20_000):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    assert sizes[1] - sizes[0] < 32 * 18_000


@given(st.lists(st.booleans(), max_size=200), st.sampled_from([0.25, 0.5, 0.9, 1.0]))
def test_the_share_of_hard_rows_holds_at_every_moment(kinds, share):
    quota = Quota(Demand(rows={"train": 10**6}, hard_share=share))
    hard = taken = 0
    for number, is_hard in enumerate(kinds):
        if is_taken(quota, numbered_row(number, shortcuts=() if is_hard else ("all-true",))):
            taken += 1
            hard += is_hard
        assert hard >= share * taken


def test_an_interrupted_quota_is_restored_from_its_rows_and_state():
    demand = Demand(rows={}, per_cell=3)
    cells = [(1, 3), (2, 4)]
    capacities = {(1, 3): None, (2, 4): 100}
    whole, cut = Quota(demand, capacities), Quota(demand, capacities)
    outcomes = [numbered_row(n, cell=cells[n % 3 == 0]) for n in range(4)] + [
        Skipped("no", None, (2, 4))
    ] * 5
    for taken in whole.judge(outcomes):
        for row in taken:
            cut.note(row)
    cut.restore(whole.state())

    assert vars(cut) == vars(whole)


def test_a_cell_without_new_rows_is_closed(monkeypatch):
    monkeypatch.setattr(quotas, "DRY_CANDIDATES", 10)
    quota = Quota(Demand(rows={}, per_cell=3), {(1, 3): None})
    taken = list(quota.judge([numbered_row(1)] * 11))

    assert taken == [(numbered_row(1),)] + [()] * 10
    assert quota.is_satisfied
    assert quota.whole_cells(is_exhausted=False) == [(1, 3)]
    assert (1, 3) in quota.full


def test_a_cell_that_had_all_its_candidates_is_closed():
    quota = Quota(Demand(rows={}, per_cell=9), {(1, 3): 4, (2, 4): 9})
    for number in range(4):
        assert (1, 3) not in quota.full
        is_taken(quota, numbered_row(number, cell=(1, 3)))

    assert quota.whole_cells(is_exhausted=False) == [(1, 3)]
    assert quota.full >= {(1, 3)}
    assert not quota.is_satisfied


def test_cells_alone_are_filled_over_the_three_splits(tmp_path, Serial):
    recipe, demand = plan("copy", {"symbols": 3, "size": "1-4", "per_cell": 10})
    report = write_dataset(recipe, demand, tmp_path / "d", Serial())
    dataset = open_dataset(tmp_path / "d")
    cells: Counter = Counter(r.cell for s in dataset.splits for r in dataset.rows(s))

    assert report.missing == {}
    assert cells == {(1, n): 3 for n in (1, 2, 3, 4)} | {(2, 2): 6, (3, 3): 6} | {
        (2, 3): 10,
        (2, 4): 10,
        (3, 4): 10,
    }
    assert first_problems(dataset) == []
    whole = {(c["num_symbols"], c["size"]) for c in dataset.manifest["whole_cells"]}
    assert whole == {cell for cell, count in cells.items() if count < 10}


def test_cells_of_a_split_are_filled_from_that_split(tmp_path, Serial):
    recipe, demand = plan("copy", {"symbols": 4, "size": "4-6", "per_cell": 5, "test": 1000})
    report = write_dataset(recipe, demand, tmp_path / "d", Serial())
    dataset = open_dataset(tmp_path / "d")
    cells: Counter = Counter(r.cell for r in dataset.rows("test"))

    assert dataset.splits == ("test",)
    assert max(cells.values()) == 5
    assert cells[2, 5] == 5
    assert report.missing == {}
    assert "cells have fewer rows" in report.message


def test_a_balanced_set_has_its_rows_evenly_in_the_cells(tmp_path, Serial):
    recipe, demand = plan("copy", {"symbols": 5, "size": "8-10", "train": 1500, "balance": True})
    write_dataset(recipe, demand, tmp_path / "d", Serial())
    cells: Counter = Counter(r.cell for r in open_dataset(tmp_path / "d").rows("train"))
    large = [count for (k, _), count in cells.items() if k > 1]

    assert len(large) == 12
    assert min(large) > 80


def test_smaller_demands_for_cells_and_hard_rows_are_prefixes(tmp_path, Serial):
    rows = {}
    for name, per_cell in (("small", 4), ("large", 9)):
        recipe, demand = plan("copy", {"symbols": 3, "size": "4-5", "per_cell": per_cell})
        write_dataset(recipe, demand, tmp_path / name, Serial())
        dataset = open_dataset(tmp_path / name)
        rows[name] = [r for split in dataset.splits for r in dataset.rows(split)]
    for cell in {r.cell for r in rows["small"]}:
        small = sorted(r.index for r in rows["small"] if r.cell == cell)
        large = sorted(r.index for r in rows["large"] if r.cell == cell)
        assert large[: len(small)] == small


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"per_cell": 0}, "per_cell=0"),
        ({"train": 5, "hard_share": 1.5}, "hard_share"),
        ({}, "--per-cell"),
    ],
)
def test_wrong_demands_are_refused(wishes, message):
    with pytest.raises(UsageError, match=message):
        plan("copy", wishes)


@pytest.mark.parametrize("name", sorted(catalogue("presets")))
def test_every_preset_can_be_made(name):
    task, wishes = preset(name)
    recipe, demand = plan(task, wishes)

    assert recipe.task == task
    assert demand.to_plain()


def test_flags_override_a_preset():
    wishes = with_preset("copy-small", "copy", {"names": "10-19", "train": 5})

    assert wishes["names"] == "10-19"
    assert "symbols" not in wishes
    assert wishes["train"] == 5
    assert wishes["test"] == 10000
    with pytest.raises(UsageError, match="task copy"):
        with_preset("copy-small", "ltl", {})
    with pytest.raises(UsageError, match="'copy-small'"):
        with_preset("copy-smal", "copy", {})
