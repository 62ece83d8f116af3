import json
import os
import re
import subprocess
import sys
from itertools import permutations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import row_id_of
from symshift.data.records import Columns
from symshift.data.text import rename_text
from symshift.data.vocabulary import Window
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.audit_report import to_plain, to_text
from symshift.generators.exchange.certificate import certify, to_markdown
from symshift.generators.exchange.importing import import_dataset
from symshift.generators.renaming import write_renamed

FORMULAS = ["a U b", "X a", "F (a & X b)", "G (a -> F b)", "a & X !b", "(a U b) | X c", "X X c"]


def jsonl(path, inputs, **others):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"input": text, "target": "cycle{1}", **others}) for text in inputs]
    path.write_text("\n".join(lines) + "\n")
    return path


def copies(folder, **splits):
    """Write a data set of the task copy with the strings given by split."""
    for split, strings in splits.items():
        path = folder / "source" / f"{split}.jsonl"
        jsonl(path, ())
        path.write_text("".join(json.dumps({"input": s, "target": s}) + "\n" for s in strings))
    import_dataset("jsonl", folder / "source", folder / "set", task="copy", num_workers=1)
    return folder / "set"


def split_of(found, name):
    return next(split for split in found.splits if split.split == name)


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


def test_rows_that_cannot_be_read_are_listed_counted_and_fail(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_bytes(b'{"input": "a U"}\n{"input": "X a"}\nnot json\n{"input": "\xff"}\n')

    found = audit([path], task="ltl")

    assert not found.is_clean
    assert found.num_findings == found.sets[0].files[0].unreadable == 3
    assert found.sets[0].files[0].rows == 1
    assert [line.split(": ")[0] for line in found.findings] == [
        f"test.jsonl line {number}" for number in (1, 3, 4)
    ]


def test_only_the_first_findings_are_kept_and_all_are_counted(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text("broken\n" * 500)

    found = audit([path], task="ltl")

    assert (found.num_findings, len(found.findings)) == (500, 20)
    assert "and 480 more" in to_text(found)
    assert "and 480 more" in to_markdown(found)


@pytest.mark.parametrize("name", ["test.jsonl", "test.txt", "test.parquet"])
def test_an_empty_file_is_not_clean(tmp_path, name):
    (tmp_path / name).write_bytes(b"")

    assert audit([tmp_path], task="ltl").num_findings == 1


def test_deepltl_text_parquet_and_json_lines_are_compared_with_each_other(tmp_path):
    (tmp_path / "train.txt").write_text("Uab\n{b}\nU&ab!c\n&a!b;{1}\n")
    pq.write_table(pa.table({"formula": ["X a", "d U c"]}), tmp_path / "test.parquet")
    val = tmp_path / "val.jsonl"
    val.write_text(json.dumps({"formula": "(c & b) U !a", "trace": "cycle{!a}"}))
    paths = [tmp_path / name for name in ("train.txt", "test.parquet", "val.jsonl")]

    found = audit(paths, task="ltl", columns=Columns(input="formula"))

    assert [(pair.problems, pair.is_leak) for pair in found.pairs] == [
        (1, True),
        (1, True),
        (0, True),
    ]
    assert where(found.pairs[0].examples) == [("train.txt line 1", "test.parquet row 2")]
    assert found.pairs[1].examples[0][0].target == "&a!b;{1}"


def test_rows_of_other_tasks_are_never_equivalent(tmp_path):
    strings = copies(tmp_path, test=["a"])
    formulas = jsonl(tmp_path / "train.jsonl", ["a"])
    formulas.write_text(formulas.read_text().replace("{1}", "{a}"))
    with pytest.raises(UsageError, match="its task is copy"):
        audit([strings, formulas], task="ltl")
    import_dataset("jsonl", formulas, tmp_path / "formulas", num_workers=1)

    found = audit([strings, tmp_path / "formulas"])

    assert [split.rows for split in found.splits] == [1, 1]
    assert found.pairs[0].problems == 0


def test_the_names_of_columns_that_are_wrong_are_refused(tmp_path):
    path = jsonl(tmp_path / "test.jsonl", ["a"])

    with pytest.raises(UsageError, match="Did you mean 'target'"):
        audit([path], task="ltl", columns=Columns(target="targt"))


def test_a_data_set_beside_itself_is_wrong_usage(tmp_path):
    path = jsonl(tmp_path / "test.jsonl", ["a"])

    with pytest.raises(UsageError, match="twice"):
        audit([path, tmp_path / "." / "test.jsonl"], task="ltl")


def test_nothing_is_never_clean(tmp_path):
    with pytest.raises(UsageError, match="no data set"):
        audit([])
    path = copies(tmp_path, test=["a"])
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "files": []}))

    assert audit([path]).findings == ["set: holds no rows"]


def test_a_path_without_data_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        audit([tmp_path / "absent"], task="ltl")


def test_a_changed_or_missing_file_of_a_data_set_is_found(tmp_path):
    path = copies(tmp_path, train=["a b", "b a"], test=["c"])
    test = next((path / "data").glob("test-*"))
    pq.write_table(pq.read_table(test), test, compression="none")
    next((path / "data").glob("train-*")).unlink()

    found = audit([path])

    assert any("changed, its SHA-256" in finding for finding in found.findings)
    assert any(finding.endswith("missing") for finding in found.findings)
    assert not found.is_clean


def test_sets_of_the_same_name_are_told_apart(tmp_path):
    paths = [jsonl(tmp_path / name / "test.jsonl", ["a"]).parent for name in ("x/d", "y/d")]

    assert [found.name for found in audit(paths, task="ltl").sets] == ["d", "d (2)"]


def test_a_certificate_is_the_same_bytes_wherever_the_data_lies(tmp_path):
    for place in ("here", "there"):
        jsonl(tmp_path / place / "train.jsonl", ["a U b", "b U a", "a | b"])
        jsonl(tmp_path / place / "test.jsonl", ["c U d", "broken"])
        paths = [tmp_path / place / f"{split}.jsonl" for split in ("train", "test")]
        certify(paths, tmp_path / place / "certificate.json", task="ltl")

    for suffix in ("json", "md"):
        first, second = (tmp_path / p / f"certificate.{suffix}" for p in ("here", "there"))
        assert first.read_bytes() == second.read_bytes()
        assert str(tmp_path) not in first.read_text()


def test_a_certificate_says_what_was_read_and_found(tmp_path):
    path = jsonl(tmp_path / "test.jsonl", ["a | b", "b | a", "`"])
    found = certify([path], tmp_path / "c.json", task="ltl")

    plain = json.loads((tmp_path / "c.json").read_text())
    markdown = (tmp_path / "c.md").read_text()

    assert plain == to_plain(found)
    assert plain["clean"] is False
    assert plain["data_sets"][0]["files"][0]["rows"] == 2
    assert plain["splits"][0]["repeats"] == [{"num_symbols": 2, "size": 3, "rows": 1}]
    assert plain["splits"][0]["examples"][0][1]["input"] == "b | a"
    assert plain["data_sets"][0]["files"][0]["sha256"] in markdown


def test_problems_with_bars_and_ticks_break_no_table(tmp_path):
    path = jsonl(tmp_path / "te|st`.jsonl", ["a | b", "b | a", "`", "|"])

    tables = to_markdown(audit([path], task="ltl")).split("\n\n")

    for table in (text.splitlines() for text in tables if text.startswith("|")):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_a_certificate_that_is_no_json_file_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(UsageError, match=r"\*\.json"):
        certify([tmp_path / "absent"], tmp_path / "certificate.md", task="ltl")


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
