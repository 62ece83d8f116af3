import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from symshift.data.errors import DataError, UsageError
from symshift.data.sources import open_source, role_of


@pytest.fixture
def folder(tmp_path):
    for name in ("train.txt", "val.txt", "test.txt"):
        (tmp_path / name).write_text("a\n{a}\n")
    return tmp_path


def test_published_files_are_splits_in_their_order(folder):
    source = open_source(folder, task="ltl")

    assert [(file.name, file.split) for file in source.files] == [
        ("train.txt", "train"),
        ("val.txt", "validation"),
        ("test.txt", "test"),
    ]
    assert (source.format, source.task, source.fingerprint) == ("deepltl", "ltl", None)


def test_shards_make_one_split_and_hidden_or_unfinished_files_none(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test_ap10-00000-of-00001"):
        pq.write_table(pa.table({"input": ["a"]}), tmp_path / "data" / f"{name}.parquet")
    for name in (".train.parquet", "train-00002-of-00002.parquet.tmp", "README.md"):
        (tmp_path / "data" / name).write_text("nothing to read")

    source = open_source(tmp_path, task="copy")

    assert source.splits == ("train", "test_ap10")
    assert [file.name for file in source.of("train")] == [
        "data/train-00000-of-00002.parquet",
        "data/train-00001-of-00002.parquet",
    ]
    assert [file.role for file in source.of("test_ap10")] == ["test"]


@pytest.mark.parametrize(
    ("split", "role"),
    [
        ("train", "train"),
        ("Training", "train"),
        ("val", "validation"),
        ("dev", "validation"),
        ("ltl-50-test", "test"),
        ("test.len50", "test"),
        ("train-test", None),
        ("contest", None),
        ("formulas", None),
    ],
)
def test_a_whole_word_of_its_name_says_what_a_split_is_for(split, role):
    assert role_of(split) == role


def test_a_file_without_a_manifest_needs_its_task(folder):
    with pytest.raises(UsageError, match="--task"):
        open_source(folder)
    with pytest.raises(UsageError, match="Did you mean 'ltl'"):
        open_source(folder, task="lt")
    with pytest.raises(UsageError, match="ltl or prop"):
        open_source(folder, task="copy")


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        open_source(tmp_path / "absent", task="ltl")
    with pytest.raises(DataError, match=r"\.parquet, \.jsonl"):
        open_source(tmp_path, task="ltl")


def test_a_single_file_of_a_known_format_may_have_any_suffix(tmp_path):
    path = tmp_path / "formulas.data"
    path.write_text("a\n{a}\n")

    source = open_source(path, task="ltl", formats=frozenset(("deepltl",)))

    assert [record.input for record in source.records(source.files[0])] == ["a"]
    with pytest.raises(DataError, match="no file to read"):
        open_source(path, task="ltl")


def test_an_empty_file_says_so(tmp_path):
    (tmp_path / "test.jsonl").write_text("")
    source = open_source(tmp_path, task="ltl")

    assert [record.problem for record in source.records(source.files[0])] == ["holds no record"]
