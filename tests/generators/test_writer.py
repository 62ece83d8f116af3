import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.data.files import LOCK_NAME, locked_folder
from symshift.data.vocabulary import Window
from symshift.generators import writer
from symshift.generators.blocks import Blocks
from symshift.generators.generation import generate_dataset, generate_rows, plan, recipe_for
from symshift.generators.verification import first_problems
from symshift.generators.writer import write_dataset

COPY = {"symbols": 4, "size": "3-6"}
ROWS = {"train": 300, "validation": 30, "test": 30}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(writer, "BLOCK_CANDIDATES", 64)
    monkeypatch.setattr(writer, "CHUNK_CANDIDATES", 16)


@pytest.fixture
def write(Serial):
    def run(out, rows=ROWS, engine=None, overwrite=False, task="copy", **wishes):
        recipe, demand = plan(task, {**COPY, **wishes, **rows})
        return write_dataset(recipe, demand, out, engine or Serial(), overwrite=overwrite)

    return run


def test_a_data_set_is_sound_and_has_the_rows_that_were_asked_for(tmp_path, write):
    report = write(tmp_path / "d")
    dataset = open_dataset(tmp_path / "d")

    assert report.rows == ROWS
    assert {split: dataset.num_rows(split) for split in dataset.splits} == ROWS
    assert first_problems(dataset) == []
    assert not (tmp_path / "d" / ".partial").exists()


@pytest.mark.parametrize("stop_after", [0, 1, 3, 4, 5, 11, 20])
def test_an_interrupted_run_ends_with_the_same_bytes(tmp_path, stop_after, Serial, contents, write):
    write(tmp_path / "whole")
    for number in range(3):
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "cut", engine=Serial(stop_after if number == 0 else 2))
    write(tmp_path / "cut")

    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


class Killed(BaseException):
    """Stands for a death that removes nothing."""


@pytest.mark.parametrize("method", ["rename", "replace"])
def test_a_run_killed_before_any_of_its_renamings_goes_on(
    tmp_path, write, contents, monkeypatch, method
):
    write(tmp_path / "whole")
    genuine = getattr(Path, method)
    num_killed = 0
    for number in itertools.count():
        left = [number]

        def dying(self, target, left=left):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return genuine(self, target)

        out = tmp_path / f"cut-{number}"
        try:
            with monkeypatch.context() as patch:
                patch.setattr(Path, method, dying)
                patch.setattr(Path, "unlink", lambda _self, missing_ok=False: None)
                write(out)
            break
        except Killed:
            num_killed += 1
        write(out)

        assert contents(out) == contents(tmp_path / "whole")
        assert {path.name for path in out.iterdir()} <= {*writer.OWN_NAMES, LOCK_NAME}
    assert num_killed >= (1 if method == "rename" else 4)


def test_a_run_cut_while_it_publishes_ends_with_the_same_bytes(
    tmp_path, monkeypatch, contents, write
):
    write(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(writer, "write_json", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        patch.setattr(Blocks, "open", lambda *_: None)  # which writes JSON too
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "cut")
    write(tmp_path / "cut")

    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_nothing_of_an_unfinished_run_is_visible(tmp_path, Serial, contents, write):
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "d", engine=Serial(8))

    assert contents(tmp_path / "d") == {} or all(
        name.startswith(".partial") for name in contents(tmp_path / "d")
    )
    with pytest.raises(DataError, match="manifest"):
        open_dataset(tmp_path / "d")


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, Serial, contents, write):
    write(tmp_path / "whole")
    with pytest.raises(OSError, match="No space"):
        write(tmp_path / "cut", engine=Serial(9, OSError(28, "No space left on device")))
    assert list((tmp_path / "cut" / ".partial").glob("block-*.parquet"))
    write(tmp_path / "cut")

    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_smaller_set_is_a_prefix_of_a_larger_one(tmp_path, write):
    write(tmp_path / "small", {"train": 50, "test": 9})
    write(tmp_path / "large", {"train": 200, "test": 30, "validation": 3})
    small, large = open_dataset(tmp_path / "small"), open_dataset(tmp_path / "large")

    for split in ("train", "test"):
        rows = [dict(row) for row in small.rows(split)]
        assert [dict(row) for row in large.rows(split)][: len(rows)] == rows


def test_the_same_command_again_has_nothing_to_do(tmp_path, Serial, contents, write):
    write(tmp_path / "d")
    before = contents(tmp_path / "d")
    report = write(tmp_path / "d", engine=Serial(0))

    assert "nothing to do" in report.message
    assert contents(tmp_path / "d") == before


def test_another_configuration_is_refused_unless_it_may_overwrite(tmp_path, write):
    write(tmp_path / "d")
    with pytest.raises(DataError, match="another configuration"):
        write(tmp_path / "d", seed=1)
    write(tmp_path / "d", seed=1, overwrite=True)

    assert open_dataset(tmp_path / "d").manifest["seed"] == 1


def test_an_unfinished_run_of_another_configuration_is_refused(tmp_path, Serial, write):
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "d", engine=Serial(8))
    with pytest.raises(DataError, match="unfinished"):
        write(tmp_path / "d", seed=1)


def test_a_folder_with_other_files_is_left_alone(tmp_path, write):
    (tmp_path / "thesis.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(DataError, match=r"thesis\.txt"):
            write(tmp_path, overwrite=overwrite)

    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_two_runs_cannot_write_one_folder(tmp_path, write):
    with locked_folder(tmp_path / "d"), pytest.raises(SymshiftError, match="another run"):
        write(tmp_path / "d")


def test_a_space_that_is_too_small_is_written_whole_and_says_so(tmp_path, write):
    asked = {"train": 10**6, "validation": 10**6, "test": 10**6}
    report = write(tmp_path / "d", asked, symbols=2, size="1-3")
    dataset = open_dataset(tmp_path / "d")
    texts = [row.input for split in dataset.splits for row in dataset.rows(split)]

    assert len(texts) == len(set(texts)) == 14
    assert "only 14 problems" in report.message
    assert sum(report.missing.values()) == 3 * 10**6 - 14
    assert first_problems(dataset) == []


def test_a_split_without_rows_has_no_file(tmp_path, write):
    write(tmp_path / "d", {"train": 5, "test": 10**6}, symbols=1, size="1-2")

    dataset = open_dataset(tmp_path / "d")
    assert all(dataset.num_rows(split) for split in dataset.splits)
    assert len(list((tmp_path / "d" / "data").iterdir())) == len(dataset.splits)


@pytest.mark.spot
def test_a_stream_that_stops_names_the_share_of_hard_rows(tmp_path, monkeypatch, write):
    monkeypatch.setattr(writer, "STALL_CANDIDATES", 50)
    wishes = {"task": "ltl", "symbols": 1, "size": "1-2", "hard_share": 0.9}
    report = write(tmp_path / "d", {"train": 10**6}, **wishes)

    assert report.message.endswith("or a smaller hard share")


@pytest.mark.spot
def test_a_stream_without_new_rows_stops_and_says_so(tmp_path, monkeypatch, write):
    monkeypatch.setattr(writer, "STALL_CANDIDATES", 50)
    wishes = {"task": "ltl", "symbols": 1, "size": "1-2"}
    report = write(tmp_path / "d", {"train": 10**6}, **wishes)

    assert report.message.startswith("stopped after 50 candidates")
    assert "hard share" not in report.message
    assert report.rows["train"] > 0


def test_neighbouring_seeds_share_no_more_rows_than_others(tmp_path):
    sets = {}
    for seed in (0, 1, 1000):
        recipe = recipe_for("copy", {"symbols": 4, "size": "6-9", "seed": seed})
        rows = generate_rows(recipe)
        sets[seed] = {next(rows).input for _ in range(400)}

    assert abs(len(sets[0] & sets[1]) - len(sets[0] & sets[1000])) < 25


def test_python_iterates_the_same_rows(tmp_path, write):
    write(tmp_path / "d", {"train": 40})
    rows = generate_rows(recipe_for("copy", COPY))
    train = (row for row in rows if row.split == "train")

    assert [next(train) for _ in range(40)] == list(open_dataset(tmp_path / "d").rows("train"))


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"symbols": 0}, "at least 1"),
        ({"symbols": 3, "names": Window(0, 2)}, "not both"),
        ({"perturb": "nome"}, "'none'"),
        ({"size": "5-3"}, "5-3"),
        ({"sise": "3"}, "'size'"),
        ({"symbols": 2, "num_symbols": "3-4"}, "only 2 names"),
        ({"symbols": 9, "size": "1-3", "contain_all": True}, "9-9"),
    ],
)
def test_impossible_wishes_are_refused_at_once(wishes, message):
    with pytest.raises(UsageError, match=message):
        recipe_for("copy", wishes)


def test_no_row_asked_for_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="--train"):
        generate_dataset("copy", tmp_path / "d", {"train": 0})


@pytest.mark.spot
def test_perturbed_sets_hold_the_same_problems(tmp_path, write):
    wishes = {"task": "ltl", "symbols": 4, "size": "3-8"}
    for kind in ("none", "target-order", "input-order", "skew"):
        write(tmp_path / kind, {"train": 60}, perturb=kind, **wishes)
    rows = {kind: list(open_dataset(tmp_path / kind).rows("train")) for kind in ("none", "skew")}
    rows["target-order"] = list(open_dataset(tmp_path / "target-order").rows("train"))

    ids = [[row.canonical_id for row in kind] for kind in rows.values()]
    assert ids[0] == ids[1] == ids[2]
    assert [r.input for r in rows["none"]] != [r.input for r in rows["target-order"]]
    for row in rows["target-order"]:
        assert sorted(row.symbols) == list("abcd")[: row.num_symbols]
        assert first_problems(open_dataset(tmp_path / "target-order")) == []


@pytest.mark.spot
def test_targets_commute_with_renaming(tmp_path):
    from symshift.data.text import rename_text
    from symshift.tasks.ltl import TASK

    for row in zip(range(40), generate_rows(recipe_for("ltl", {"symbols": 5}))):
        names = dict(zip(row[1].symbols, ["x", "p30", "q", "b", "a"]))
        renamed = TASK.read(rename_text(row[1].input, names))
        canonical = TASK.read(rename_text(row[1].input, canonical_of(row[1].symbols)))
        target = TASK.solve(canonical).target  # type: ignore[union-attr]

        assert renamed.canonical_text == canonical.canonical_text
        assert rename_text(target, dict(zip("abcde", row[1].symbols))) == row[1].target


def canonical_of(symbols):
    return dict(zip(symbols, "abcde"))


@pytest.mark.spot
@pytest.mark.slow
def test_workers_engines_and_hash_seeds_change_no_byte(tmp_path, contents):
    command = [sys.executable, "-m", "symshift.cli", "generate", "ltl"]
    wishes = ["--train", "400", "--test", "40", "--size", "3-9", "--symbols", "3"]
    for name, workers, hash_seed in (("a", 1, "0"), ("b", 2, "1"), ("c", 3, "random")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(
            [*command, str(tmp_path / name), *wishes, "--workers", str(workers)],
            check=True,
            env=environment,
        )

    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(tmp_path / "c")


def test_the_real_datasets_library_reads_a_data_set(tmp_path, monkeypatch, write):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    datasets = pytest.importorskip("datasets")
    write(tmp_path / "d")
    loaded = datasets.load_dataset(str(tmp_path / "d"), cache_dir=str(tmp_path / "cache"))

    assert {split: len(loaded[split]) for split in loaded} == ROWS
    ours = [dict(row) for row in open_dataset(tmp_path / "d").rows("test")]
    assert [row["input"] for row in loaded["test"]] == [row["input"] for row in ours]
    assert loaded["test"][0]["symbols"] == list(ours[0]["symbols"])
    shard = str(tmp_path / "d" / "data" / "test-00000-of-00001.parquet")
    alone = datasets.load_dataset("parquet", data_files=shard, cache_dir=str(tmp_path / "cache2"))
    assert len(alone["train"]) == ROWS["test"]


def test_many_shards_are_numbered_and_read_in_order(tmp_path, monkeypatch, write):
    from symshift.generators import shards

    write(tmp_path / "one")
    monkeypatch.setattr(shards, "SHARD_ROWS", 70)
    write(tmp_path / "many")
    one, many = open_dataset(tmp_path / "one"), open_dataset(tmp_path / "many")
    names = sorted(path.name for path in (tmp_path / "many" / "data").glob("train-*"))

    assert names == [f"train-{n:05d}-of-00005.parquet" for n in range(5)]
    assert list(many.rows("train")) == list(one.rows("train"))
    assert many.fingerprint == one.fingerprint
    assert many.columns("train", ["size"])["size"] == [row.size for row in one.rows("train")]


def test_the_manifest_counts_what_is_in_the_files(tmp_path, write):
    write(tmp_path / "d")
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    cells: Counter = Counter()
    for cell in manifest["cells"]:
        cells[cell["split"]] += cell["rows"]

    assert cells == ROWS
    for file in manifest["files"]:
        assert pq.ParquetFile(tmp_path / "d" / file["path"]).metadata.num_rows == file["rows"]
    assert manifest["candidates"] == sum(ROWS.values()) + sum(manifest["rejects"].values())
