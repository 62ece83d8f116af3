"""What an audit reads: formats, broken rows, files that are missing, and wrong usage."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchange_files import copies, jsonl

from symshift.data.errors import DataError, UsageError
from symshift.data.records import Columns
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.audit_report import to_text
from symshift.generators.exchange.certificate import to_markdown
from symshift.generators.exchange.importing import import_dataset


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
    ((first, second),) = found.pairs[0].examples
    assert (first.where, second.where) == ("train.txt line 1", "test.parquet row 2")
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
