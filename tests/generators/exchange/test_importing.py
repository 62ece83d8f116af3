import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import SPLIT_VERSION, canonical_id_of, row_id_of, split_of
from symshift.data.plugins import load_task
from symshift.data.records import Columns
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.exporting import export_dataset
from symshift.generators.exchange.importing import import_dataset
from symshift.generators.verification import first_problems

PUBLISHED = {
    "train": "U&ab!c\n&a!c;{!c}\nXa\n1;{a}\nG|ab\n{b}\n",
    "val": "FXb\n{b}\n",
    "test": "&aXb\n&a!b;{b}\n!c\n{!c}\n",
}


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "source")


def published(folder, **texts):
    folder.mkdir()
    for split, text in (texts or PUBLISHED).items():
        (folder / f"{split}.txt").write_text(text)
    return folder


def load(source, out, format="deepltl", **wishes):
    return import_dataset(format, source, out, **{"num_workers": 1, **wishes})


def rows_of(path):
    dataset = open_dataset(path)
    return [(r.split, r.input, r.target) for s in dataset.splits for r in dataset.rows(s)]


def test_a_published_set_becomes_a_data_set_with_its_splits(source, tmp_path):
    report = load(source, tmp_path / "out")

    assert rows_of(tmp_path / "out") == [
        ("train", "(a & b) U !c", "a & !c; cycle{!c}"),
        ("train", "X a", "1; cycle{a}"),
        ("train", "G (a | b)", "cycle{b}"),
        ("validation", "F X b", "cycle{b}"),
        ("test", "a & X b", "a & !b; cycle{b}"),
        ("test", "!c", "cycle{!c}"),
    ]
    assert report.rows == {"train": 3, "validation": 1, "test": 2}
    assert not report.left_out
    assert not report.num_faults
    assert first_problems(open_dataset(tmp_path / "out")) == []


def test_the_rows_have_every_column_of_their_own_making(source, tmp_path):
    load(source, tmp_path / "out")
    row = list(open_dataset(tmp_path / "out").rows("test"))[1]

    assert row.id == row_id_of("ltl", "!c")
    assert row.canonical_id == canonical_id_of("ltl", "! a")
    assert (row.symbols, row.num_symbols, row.size, row.index) == (("c",), 1, 2, 1)
    assert row.shortcuts == ("all-false",)
    assert (row.solver, row.perturbation) == ("as published (deepltl)", "as published")


def test_the_manifest_says_whose_splits_they_are(source, tmp_path):
    load(source, tmp_path / "out")
    manifest = open_dataset(tmp_path / "out").manifest

    assert manifest["split_rule"] == "as published"
    assert [file["path"] for file in manifest["imported_from"]["files"]] == [
        "train.txt",
        "val.txt",
        "test.txt",
    ]
    assert manifest["vocabulary"]["window"] == [0, 2]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "license: unknown" in card
    assert "symshift import deepltl SOURCE OUT --task ltl" in card
    assert "is its publisher's" in card
    assert "public domain" not in card


def test_splits_by_content_are_those_of_every_other_set(source, tmp_path):
    load(source, tmp_path / "out", by_content=True)
    dataset = open_dataset(tmp_path / "out")

    assert dataset.split_rule == dataset.manifest["split_rule"] == SPLIT_VERSION
    for split, text, _ in rows_of(tmp_path / "out"):
        assert split == split_of("ltl", load_task("ltl").read(text).canonical_text)
    assert first_problems(dataset) == []
    assert "--split-by-content" in (dataset.path / "README.md").read_text()


def test_a_file_that_says_no_split_is_split_by_content(source, tmp_path):
    (source / "train.txt").rename(tmp_path / "formulas.txt")

    load(tmp_path / "formulas.txt", tmp_path / "out")

    assert open_dataset(tmp_path / "out").split_rule == SPLIT_VERSION
    (tmp_path / "formulas.txt").rename(source / "formulas.txt")
    with pytest.raises(UsageError, match=r"formulas\.txt: its name says no split"):
        load(source, tmp_path / "other")


def test_wrong_labels_are_left_out_counted_and_named(tmp_path):
    source = published(tmp_path / "s", test="Xa\n{!a}\n&ab\n{&ab}\nFa\n{&a!a}\nUab\n{c}\n")

    report = load(source, tmp_path / "out")

    assert rows_of(tmp_path / "out") == [("test", "a & b", "cycle{a & b}")]
    assert report.left_out == {"wrong label": 3}
    assert report.num_faults == 3
    assert [fault.split(":")[0] for fault in report.faults] == [
        "test.txt line 1",
        "test.txt line 5",
        "test.txt line 7",
    ]
    assert open_dataset(tmp_path / "out").manifest["rejects"] == {"wrong label": 3}
    assert "left out: 3 wrong label" in report.to_text()


def test_unsatisfiable_formulas_and_missing_traces_are_counted_and_no_fault(tmp_path):
    source = published(tmp_path / "s", test="&a!a\n{0}\nGFa\n-\nXa\n1;{a}\n0\n{0}\n")

    report = load(source, tmp_path / "out")

    assert report.left_out == {"unsatisfiable": 2, "without a target": 1}
    assert report.num_faults == 0
    assert report.rows == {"test": 1}


def test_records_that_cannot_be_read_are_counted_and_named(tmp_path):
    text = "Ua\n{a}\nXa\n1;{a}\n{b}\nXXa\n1;1;{a\nXXXa\n"
    report = load(published(tmp_path / "s", test=text), tmp_path / "out")

    assert report.left_out == {"unreadable": 4}
    assert [fault.split(":")[0] for fault in report.faults] == [
        f"test.txt line {line}" for line in (1, 5, 6, 8)
    ]


def test_of_equivalent_rows_one_stays_rather_in_the_test_set(tmp_path):
    source = published(
        tmp_path / "s",
        train="Uab\n{b}\nXa\n1;{a}\nXb\n1;{b}\nFb\n{b}\n",
        val="Fa\n{a}\n",
        test="Uba\n{a}\nUcd\n{d}\n",
    )

    report = load(source, tmp_path / "out")

    assert [row[:2] for row in rows_of(tmp_path / "out")] == [
        ("train", "X a"),
        ("validation", "F a"),
        ("test", "b U a"),
    ]
    assert report.left_out == {
        "equivalent to an earlier row": 2,
        "equivalent to a row of another split": 2,
    }
    assert len(audit([source], task="ltl").leaks) == 2
    assert audit([tmp_path / "out"]).is_clean


def test_nothing_to_import_is_an_error_and_leaves_nothing(tmp_path):
    source = published(tmp_path / "s", test="Ua\n{a}\n")

    with pytest.raises(DataError, match=r"no row to import .*operands are missing"):
        load(source, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".symshift.lock"]


def test_the_same_import_again_has_nothing_to_do_and_another_is_refused(source, tmp_path):
    load(source, tmp_path / "out")
    before = (tmp_path / "out" / "manifest.json").read_bytes()

    assert "already complete" in load(source, tmp_path / "out").to_text()

    (source / "test.txt").write_text("XXa\n1;1;{a}\n")
    with pytest.raises(DataError, match="--overwrite"):
        load(source, tmp_path / "out")
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before
    assert load(source, tmp_path / "out", overwrite=True).rows["test"] == 1


def test_a_folder_with_other_files_or_an_unfinished_set_is_left_alone(source, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match=r"thesis\.tex"):
        load(source, tmp_path / "full", overwrite=True)

    (tmp_path / "half" / ".partial").mkdir(parents=True)
    (tmp_path / "half" / ".partial" / "config.json").write_text("{}")
    with pytest.raises(DataError, match="unfinished"):
        load(source, tmp_path / "half")


def test_an_unknown_format_is_refused_and_the_nearest_offered(source, tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'deepltl'"):
        load(source, tmp_path / "out", format="deeplt")


def test_json_lines_are_imported_by_the_columns_that_are_named(tmp_path):
    (tmp_path / "test.jsonl").write_text(
        json.dumps({"formula": "X a", "trace": "1; cycle{a}"})
        + "\n"
        + json.dumps({"formula": "req U a", "trace": "cycle{a}"})
        + "\n"
    )
    columns = Columns(input="formula", target="trace")

    report = load(tmp_path / "test.jsonl", tmp_path / "out", "jsonl", columns=columns)

    assert rows_of(tmp_path / "out") == [("test", "X a", "1; cycle{a}")]
    assert report.left_out == {"names outside the vocabulary": 1}
    assert "'req'" in report.faults[0]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "--input-column formula --target-column trace" in card


def test_a_json_lines_file_without_targets_is_wrong_usage(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"input": "X a", "targets": "1; cycle{a}"}')

    with pytest.raises(UsageError, match="Did you mean 'targets'"):
        load(tmp_path / "test.jsonl", tmp_path / "out", "jsonl")


def test_published_assignments_are_imported(tmp_path):
    text = "&a!c\na1c0\n|a!a\n\nxorab\na1\n&a!b\na1b0\n&a!a\na1a0\n"
    source = published(tmp_path / "s", test=text)

    report = load(source, tmp_path / "out", task="prop")

    assert rows_of(tmp_path / "out") == [
        ("test", "a & !c", "a=1 c=0"),
        ("test", "a | !a", ""),
    ]
    assert report.left_out == {
        "equivalent to an earlier row": 1,
        "unreadable": 1,
        "wrong label": 1,
    }


def test_workers_change_no_byte(source, tmp_path):
    load(source, tmp_path / "one")
    load(source, tmp_path / "two", num_workers=2)

    for path in (tmp_path / "one").rglob("*"):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.is_dir() or path.name.startswith(".") or other.read_bytes() == path.read_bytes()


STRINGS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join)


@given(st.sets(STRINGS, min_size=1, max_size=20))
@settings(max_examples=20, deadline=None)
def test_what_is_exported_as_json_lines_is_imported_as_it_was(tmp_path_factory, strings):
    folder = tmp_path_factory.mktemp("round")
    lines = (json.dumps({"input": text, "target": text}) + "\n" for text in sorted(strings))
    (folder / "strings.jsonl").write_text("".join(lines))
    load(folder / "strings.jsonl", folder / "one", "jsonl", task="copy")
    export_dataset("jsonl", open_dataset(folder / "one"), folder / "text")
    load(folder / "text", folder / "two", "jsonl", task="copy")

    assert rows_of(folder / "two") == rows_of(folder / "one")
    assert {text for _, text, _ in rows_of(folder / "two")} == strings
