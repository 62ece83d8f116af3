import hashlib

from hypothesis import given
from hypothesis import strategies as st

from symshift.data.example import (
    COMMON_COLUMNS,
    Example,
    canonical_id_of,
    row_id_of,
    split_of,
)


def make_example(**changes):
    values = {
        "id": "ltl-1",
        "task": "ltl",
        "input": "a U b",
        "target": "cycle{b}",
        "symbols": ("a", "b"),
        "num_symbols": 2,
        "size": 3,
        "canonical_id": "0" * 32,
        "split": "test",
        "perturbation": "none",
        "shortcuts": ("all-true",),
        "index": 7,
        "solver": "spot 2.16",
    }
    return Example(**{**values, **changes})


def test_split_v1_never_changes():
    golden = {
        ("ltl", "U a b"): "train",
        ("ltl", "a"): "train",
        ("copy", "c a b a"): "train",
        ("prop", "& a b"): "train",
        ("ltl", "X X a"): "train",
    }
    for (task, text), split in golden.items():
        assert split_of(task, text) == split


def test_identities_never_change():
    assert canonical_id_of("ltl", "U a b") == "1a6b4cdca5ee8c4af7346820aa4f4e4a"
    assert row_id_of("ltl", "a U b") == "ltl-740b62b300e87b3e2cd7dd65"


def test_splits_have_the_shares_80_10_10():
    counts = {"train": 0, "validation": 0, "test": 0}
    for number in range(20_000):
        counts[split_of("ltl", f"golden {number}")] += 1

    assert abs(counts["train"] - 16_000) < 4 * (20_000 * 0.8 * 0.2) ** 0.5
    assert abs(counts["test"] - 2_000) < 4 * (20_000 * 0.1 * 0.9) ** 0.5


@given(
    st.lists(st.text(max_size=4), min_size=1, max_size=3),
    st.lists(st.text(max_size=4), min_size=1, max_size=3),
)
def test_row_ids_tell_contents_apart(one, other):
    assert (row_id_of("t", *one) == row_id_of("t", *other)) == (one == other)


def test_a_split_is_the_stated_hash():
    digest = hashlib.sha256(b"split-v1\nltl\nU a b").digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    expected = "train" if share < 0.8 else "validation" if share < 0.9 else "test"

    assert split_of("ltl", "U a b") == expected


def test_an_example_is_a_mapping_of_its_columns():
    row = make_example(extra={"base_id": "ltl-0"})

    assert list(row) == [*COMMON_COLUMNS, "base_id"]
    assert row["input"] == "a U b"
    assert row["base_id"] == "ltl-0"
    assert Example.from_columns(dict(row)) == row
    assert len(row) == len(COMMON_COLUMNS) + 1
