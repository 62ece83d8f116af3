import json

import pytest

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.generators.exchange.exporting import export_dataset
from symshift.generators.exchange.importing import import_dataset

ROWS = {
    "train": [("a U b", "cycle{b}"), ("a W b", "cycle{b}"), ("X p26", "1; cycle{p26}")],
    "test": [("a xor b -> c", "cycle{c}"), ("G a", "cycle{a}")],
}


@pytest.fixture
def dataset(tmp_path):
    return data_set(tmp_path, ROWS)


def data_set(folder, rows, task="ltl"):
    (folder / "source").mkdir()
    for split, pairs in rows.items():
        lines = (json.dumps({"input": text, "target": target}) + "\n" for text, target in pairs)
        (folder / "source" / f"{split}.jsonl").write_text("".join(lines))
    import_dataset("jsonl", folder / "source", folder / "set", task=task, num_workers=1)
    return open_dataset(folder / "set")


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name[0] != "."}


def test_rows_are_written_as_deepltls_two_lines(dataset, tmp_path):
    report = export_dataset("deepltl", dataset, tmp_path / "out")

    assert files(tmp_path / "out") == {
        "train.txt": "Uab\n{b}\n",
        "test.txt": "->xorabc\n{c}\nGa\n{a}\n",
    }
    assert report.rows == {"train": 1, "test": 2}


def test_rows_that_the_published_reader_could_not_read_are_counted(dataset, tmp_path):
    report = export_dataset("deepltl", dataset, tmp_path / "out")

    assert report.left_out == {"that the published reader could not read": 2}
    assert "'W' is unknown to DeepLTL's reader" in report.to_text()


def test_validation_rows_go_to_the_published_file_name(tmp_path):
    dataset = data_set(tmp_path, {"val": [("a", "a=1")], "test": [("a | !a", "")]}, "prop")
    export_dataset("deepltl", dataset, tmp_path / "out")

    assert files(tmp_path / "out") == {"val.txt": "a\na1\n", "test.txt": "|a!a\n\n"}


def test_what_is_exported_is_imported_as_it_was(dataset, tmp_path):
    export_dataset("deepltl", dataset, tmp_path / "out")
    import_dataset("deepltl", tmp_path / "out", tmp_path / "back", num_workers=1)
    export_dataset("deepltl", open_dataset(tmp_path / "back"), tmp_path / "again")

    assert files(tmp_path / "again") == files(tmp_path / "out")
    texts = {row.input: row.id for split in dataset.splits for row in dataset.rows(split)}
    for split in ("train", "test"):
        for row in open_dataset(tmp_path / "back").rows(split):
            assert texts[row.input] == row.id


def test_json_lines_have_every_column(dataset, tmp_path):
    report = export_dataset("jsonl", dataset, tmp_path / "out")
    lines = [json.loads(line) for line in files(tmp_path / "out")["test.jsonl"].splitlines()]

    assert [set(line) for line in lines] == [set(row) for row in dataset.rows("test")]
    assert [line["target"] for line in lines] == ["cycle{c}", "cycle{a}"]
    assert report.rows == {"train": 3, "test": 2}
    assert report.left_out == {}


def test_a_split_of_which_no_row_can_be_written_has_no_file(tmp_path):
    rows = {"train": [("a W b", "cycle{b}")], "test": [("a", "cycle{a}")]}
    export_dataset("deepltl", data_set(tmp_path, rows), tmp_path / "out")

    assert list(files(tmp_path / "out")) == ["test.txt"]


def test_a_set_of_which_no_row_can_be_written_is_an_error(tmp_path):
    dataset = data_set(tmp_path, {"test": [("a M b", "cycle{a & b}")]})

    with pytest.raises(DataError, match=r"no row can be written as deepltl: .*'M'"):
        export_dataset("deepltl", dataset, tmp_path / "out")


def test_files_that_are_there_are_kept_unless_they_may_be_replaced(dataset, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "val.txt").write_text("old")
    with pytest.raises(DataError, match="--overwrite"):
        export_dataset("deepltl", dataset, out)

    export_dataset("deepltl", dataset, out, overwrite=True)
    assert sorted(files(out)) == ["test.txt", "train.txt"]

    (out / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match=r"thesis\.tex"):
        export_dataset("deepltl", dataset, out, overwrite=True)
    assert "train.txt" in files(out)


def test_a_format_must_exist_and_hold_the_task(dataset, tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'jsonl'"):
        export_dataset("json", dataset, tmp_path / "out")
    strings = tmp_path / "strings"
    strings.mkdir()
    with pytest.raises(UsageError, match="ltl or prop, not copy"):
        export_dataset(
            "deepltl", data_set(strings, {"test": [("a", "a")]}, "copy"), tmp_path / "out"
        )
