import json
import os
import subprocess
import sys
from itertools import permutations

import pytest
from exchange_files import copies, jsonl
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.dataset import open_dataset
from symshift.data.example import row_id_of
from symshift.data.text import rename_text
from symshift.data.vocabulary import Window
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.audit_report import to_text
from symshift.generators.exchange.importing import import_dataset
from symshift.generators.renaming import write_renamed

FORMULAS = ["a U b", "X a", "F (a & X b)", "G (a -> F b)", "a & X !b", "(a U b) | X c", "X X c"]


def where(examples):
    return [(first.where, second.where) for first, second in examples]


def test_a_set_without_duplicates_and_leaks_is_clean(tmp_path):
    jsonl(tmp_path / "train.jsonl", FORMULAS[:4])
    jsonl(tmp_path / "test.jsonl", FORMULAS[4:])

    found = audit([tmp_path], task="ltl")

    assert found.is_clean
    assert not found.warnings
    assert [(s.split, s.rows, s.unique, s.unique_share) for s in found.splits] == [
        ("train", 4, 4, 1.0),
        ("test", 3, 3, 1.0),
    ]
    assert to_text(found).endswith("clean: no duplicates, no leaks, every row read")


def test_renamed_problems_are_duplicates_and_operand_order_makes_others(tmp_path):
    # a U b and b U a are one problem, which relabelling by alphabet would miss; a & X b and
    # X b & a are two.
    path = jsonl(tmp_path / "x.jsonl", ["a U b", "b U a", "a & X b", "X b & a", "c U d"])

    found = audit([path], task="ltl")

    (split,) = found.splits
    assert (split.rows, split.problems, split.unique, split.texts) == (5, 3, 3, 5)
    assert where(split.examples) == [
        ("x.jsonl line 1", "x.jsonl line 2"),
        ("x.jsonl line 1", "x.jsonl line 5"),
    ]
    assert split.repeats == {(2, 3): 2}
    assert not found.is_clean
    assert found.warnings == ["x.jsonl x: only 0.6000 of its rows are unique"]


def test_a_problem_in_two_splits_is_a_leak_with_both_places(tmp_path):
    jsonl(tmp_path / "d" / "train.jsonl", ["X a", "a U b", "G a"])
    jsonl(tmp_path / "d" / "test.jsonl", ["F b", "d U c"])

    found = audit([tmp_path / "d"], task="ltl")

    (pair,) = found.leaks
    assert (pair.problems, pair.rows_first, pair.rows_second, pair.texts) == (1, 1, 1, 0)
    assert pair.cells == {(2, 3): 1}
    assert where(pair.examples) == [("d/train.jsonl line 2", "d/test.jsonl line 2")]
    assert "LEAK: d train and d test share 1 problems" in to_text(found)
    assert not found.is_clean


@pytest.mark.parametrize(
    ("one", "other", "is_leak"),
    [
        ("train", "test", True),
        ("train", "val", True),
        ("val", "test", True),
        ("test", "test_ap10", False),
        ("train", "train", False),
        ("formulas", "test", True),
        ("mine", "yours", True),
    ],
)
def test_data_sets_may_share_problems_only_in_splits_of_one_kind(tmp_path, one, other, is_leak):
    first = jsonl(tmp_path / "one" / f"{one}.jsonl", ["a U b"])
    second = jsonl(tmp_path / "other" / f"{other}.jsonl", ["b U a"])

    found = audit([first, second], task="ltl")

    assert found.pairs[0].problems == 1
    assert found.pairs[0].is_leak is is_leak
    assert ("is equivalent to" in to_text(found)) is is_leak
    assert found.is_clean is not is_leak


def test_two_test_splits_of_one_data_set_may_not_share_problems(tmp_path):
    jsonl(tmp_path / "test.jsonl", ["a U b"])
    jsonl(tmp_path / "test_ap10.jsonl", ["b U a"])

    assert audit([tmp_path], task="ltl").leaks


def test_exact_overlap_is_counted_beside_the_canonical_one(tmp_path):
    jsonl(tmp_path / "train.jsonl", ["a U b", "X a", "X b", "G a"])
    jsonl(tmp_path / "test.jsonl", ["a U b", "X c"])

    (pair,) = audit([tmp_path], task="ltl").pairs

    assert (pair.problems, pair.rows_first, pair.rows_second, pair.texts) == (2, 3, 2, 1)


def test_identities_in_a_file_are_not_believed(tmp_path):
    rows = [("a U b", "00" * 16), ("b U a", "11" * 16)]
    path = tmp_path / "x.jsonl"
    path.write_text(
        "".join(json.dumps({"input": text, "canonical_id": i}) + "\n" for text, i in rows)
    )

    assert audit([path], task="ltl").repeats == 1


def test_copies_are_compared_as_text_and_modulo_renaming_for_information(tmp_path):
    path = copies(tmp_path, train=["a b a", "b a b", "a a b"], test=["c d c", "a b b"])

    found = audit([path])

    assert found.is_clean
    assert [(s.rows, s.unique, s.modulo_renaming) for s in found.splits] == [(3, 3, 2), (2, 2, 2)]
    assert (found.pairs[0].problems, found.pairs[0].modulo_renaming) == (0, 1)


def test_a_renamed_set_is_clean_beside_the_set_it_renames(tmp_path):
    jsonl(tmp_path / "source" / "train.jsonl", FORMULAS[:3])
    jsonl(tmp_path / "source" / "test.jsonl", [f"G ({text})" for text in FORMULAS[3:4]])
    for name in ("train", "test"):
        path = tmp_path / "source" / f"{name}.jsonl"
        path.write_text(path.read_text().replace("cycle{1}", "cycle{a & b & c}"))
    import_dataset("jsonl", tmp_path / "source", tmp_path / "set", num_workers=1)
    dataset = open_dataset(tmp_path / "set")
    write_renamed(dataset, tmp_path / "renamed", into=Window.first(4), max_renamings=6)

    found = audit([tmp_path / "set", tmp_path / "renamed"])

    assert found.is_clean
    assert any(split.problems < split.rows == split.unique for split in found.splits)
    assert sum(pair.renamings for pair in found.pairs) == 4


def renamed_rows(path, base, names, base_id=None):
    renaming = [{"name": old, "renamed": new} for old, new in names.items()]
    row = {
        "input": rename_text(base, names),
        "base_id": base_id or row_id_of("ltl", base),
        "renaming": renaming,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def test_renamings_of_one_row_are_exempt_but_not_twice_and_not_across_splits(tmp_path):
    for new in permutations("ab"):
        renamed_rows(tmp_path / "d" / "test.jsonl", "a U b", dict(zip("ab", new, strict=True)))
    assert audit([tmp_path / "d"], task="ltl").is_clean

    renamed_rows(tmp_path / "d" / "train.jsonl", "a U b", {"a": "c", "b": "d"})
    assert audit([tmp_path / "d"], task="ltl").leaks

    (tmp_path / "d" / "train.jsonl").unlink()
    renamed_rows(tmp_path / "d" / "test.jsonl", "a U b", {"a": "a", "b": "b"})
    assert audit([tmp_path / "d"], task="ltl").repeats == 1


def test_a_renaming_that_does_not_give_its_base_row_exempts_nothing(tmp_path):
    path = tmp_path / "test.jsonl"
    for new in ("ab", "ba"):
        renamed_rows(path, "a U b", dict(zip("ab", new, strict=True)), base_id="ltl-0123")
    for wrong in ([{"name": "a"}], [{"name": 1, "renamed": "a"}], "ab", [["a", "b"]], [None]):
        with path.open("a") as file:
            row = {"input": "a U b", "base_id": row_id_of("ltl", "b U a"), "renaming": wrong}
            file.write(json.dumps(row) + "\n")

    assert audit([path], task="ltl").repeats == 6


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_renaming_any_rows_of_a_set_makes_each_a_leak(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("leak")
    chosen = data.draw(st.lists(st.sampled_from(FORMULAS), unique=True, min_size=1))
    names = dict(zip("abc", data.draw(st.permutations("abcde"))[:3], strict=True))
    train = jsonl(folder / "train.jsonl", FORMULAS)
    test = jsonl(folder / "test.jsonl", [rename_text(text, names) for text in chosen])

    (pair,) = audit([train, test], task="ltl").pairs

    assert pair.problems == pair.rows_first == pair.rows_second == len(chosen)


@pytest.mark.slow
def test_a_million_rows_against_a_million_need_less_than_4_gigabytes(tmp_path):
    def peak_mb(rows):
        for split, first in (("train", 0), ("test", 1 << 19)):
            with (tmp_path / f"{split}.txt").open("w") as file:
                for number in range(first, first + rows):
                    # Twenty binary digits, each X or !, with a symbol behind every fourth.
                    digits = "".join("!X"[number >> at & 1] for at in range(20))
                    parts = (digits[at : at + 4] + "U" + "abcde"[at // 4] for at in range(0, 20, 4))
                    file.write("".join(parts) + "a\n{1}\n")
        script = (
            "import resource, sys; from pathlib import Path\n"
            "from symshift.generators.exchange.audit import audit\n"
            "found = audit([Path(sys.argv[1])], task='ltl')\n"
            "assert found.is_clean and sum(s.rows for s in found.splits) == int(sys.argv[2])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
        )
        command = [sys.executable, "-c", script, str(tmp_path), str(2 * rows)]
        env = {**os.environ, "TQDM_DISABLE": "1"}
        return float(subprocess.run(command, check=True, capture_output=True, env=env).stdout)

    few, many = peak_mb(10_000), peak_mb(100_000)

    assert few + (many - few) / 180_000 * 2_000_000 < 4_000
