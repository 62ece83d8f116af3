"""The cache of tokens: same rows as without it, made once, never trusted."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cached_rows import WINDOW, Counting, Silent, encoded, everything
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.files import sha256_of
from symshift.data.plugins import load_task
from symshift.data.vocabulary import Window
from symshift.models import token_cache
from symshift.models.batches import batch_of
from symshift.models.encoding import Codec, encode_rows
from symshift.tasks.copy import TASK as COPY

NAMES = st.sampled_from(["a", "b", "c", "z", "p26"])


def formulas(*shapes: str) -> st.SearchStrategy[str]:
    """Return formulas; some are nested more deeply than a packed path can tell."""
    deep = st.integers(30, 70).map(lambda depth: "!" * depth + "a")
    leaves = st.one_of(NAMES, st.sampled_from(["0", "1"]), deep)
    return st.recursive(
        leaves,
        lambda parts: st.one_of(*(st.builds(shape.format, parts, parts) for shape in shapes)),
        max_leaves=12,
    )


NAME_LISTS = st.lists(NAMES, min_size=1, max_size=9)
TEXTS = {
    "copy": (NAME_LISTS.map(" ".join),) * 2,
    "horn": (
        st.builds("facts: {}; rules: a & b -> c, c -> z; query: {}".format, NAMES, NAMES),
        st.sampled_from(["true", "a & b -> c; c -> z; true", "c -> p26; false"]),
    ),
    "ltl": (
        formulas("X ({})", "({}) U ({})", "({}) & !({})"),
        st.sampled_from(["cycle{1}", "b; cycle{!b}", "a & !b; cycle{b; p26}"]),
    ),
    "prop": (
        formulas("!({})", "({}) | ({})", "({}) xor ({})"),
        st.sampled_from(["", "a=1", "a=1 p26=0"]),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=25)
@given(data=st.data())
def test_rows_from_the_cache_are_the_rows_that_are_encoded(
    name: str, make_rows, make_data, tmp_path_factory: pytest.TempPathFactory, data
) -> None:
    pairs = data.draw(st.lists(st.tuples(*TEXTS[name]), min_size=1, max_size=20))
    with_paths = name in ("ltl", "prop") and data.draw(st.booleans())
    chosen = np.array(data.draw(st.lists(st.integers(0, len(pairs) - 1), min_size=1)))
    base = make_rows(1, 3, "train")[0]
    rows = [dataclasses.replace(base, input=text, target=answer) for text, answer in pairs]
    path = make_data(tmp_path_factory.mktemp("data") / "set", WINDOW, rows, name)
    task = load_task(name)
    plain = encode_rows(task, Codec(task.fixed_tokens, WINDOW), rows, with_paths=with_paths)

    for _ in range(2):
        kept = encoded(path, task, with_paths=with_paths)

        assert everything(kept) == everything(plain)
        for one, other in zip(batch_of(kept, chosen), batch_of(plain, chosen)):
            assert one is other is None or one.equal(other)


def test_second_start_encodes_nothing(cache: Path, copy_data: Path) -> None:
    first, task = encoded(copy_data), Silent()

    assert everything(encoded(copy_data, task)) == everything(first)


def test_rows_over_many_batches_are_encoded_once(
    cache: Path, make_rows, make_data, tmp_path: Path
) -> None:
    rows = make_rows(9000, 3, "train")
    path, task = make_data(tmp_path / "many", WINDOW, rows), Counting()

    for _ in range(2):
        kept = encoded(path, task)

    assert task.num_encoded == 9000
    assert everything(kept) == everything(
        encode_rows(COPY, Codec((), WINDOW), rows, with_paths=False)
    )


def test_rows_of_all_shards_stand_in_order(cache: Path, copy_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    shutil.copytree(copy_data, path)
    [one] = everything(encoded(copy_data))[:1]

    def twice(manifest: dict[str, Any]) -> None:
        again = {**manifest["files"][0], "path": "data/again.parquet"}
        shutil.copy(path / manifest["files"][0]["path"], path / again["path"])
        manifest["files"].insert(1, again)

    change_manifest(path, twice)

    for _ in range(2):
        assert everything(encoded(path))[0] == one + one


@pytest.mark.parametrize(
    "change",
    [
        {"window": Window(0, 30)},
        {"split": "test"},
        {"version": 2},
        {"fixed_tokens": ("!",)},
        {"fingerprint": "of other rows"},
        {"cache_version": 2},
        {"package": "9.9"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_decides_the_numbers_makes_another_entry(
    change, cache: Path, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, task, options = tmp_path / "copy", Counting(), dict(change)
    shutil.copytree(copy_data, path)
    encoded(path, task)
    before = task.num_encoded
    for name in {"version", "fixed_tokens"} & options.keys():
        setattr(task, name, options.pop(name))
    if fingerprint := options.pop("fingerprint", None):
        change_manifest(path, lambda manifest: manifest.update(fingerprint=fingerprint))
    if version := options.pop("cache_version", None):
        monkeypatch.setattr(token_cache, "CACHE_VERSION", version)
    if version := options.pop("package", None):
        monkeypatch.setattr(token_cache, "__version__", version)

    encoded(path, task, **options)

    assert task.num_encoded > before
    assert len([*cache.iterdir()]) == 2


def test_paths_make_another_entry(cache: Path, make_rows, make_data, tmp_path: Path) -> None:
    rows = [
        dataclasses.replace(row, input="a & b", target="a=1") for row in make_rows(3, 2, "train")
    ]
    path, task = make_data(tmp_path / "prop", WINDOW, rows, "prop"), load_task("prop")

    assert encoded(path, task, with_paths=False).paths is None
    assert encoded(path, task, with_paths=True).paths is not None
    assert len([*cache.iterdir()]) == 2


def change_manifest(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))


def other_shard(path: Path, make_rows, make_data, tmp_path: Path) -> Path:
    """Put another training shard into a data set; return its path."""
    make_data(tmp_path / "others", WINDOW, make_rows(200, 4, "train"))
    shard = "data/train-00000-of-00001.parquet"
    shutil.copy(tmp_path / "others" / shard, path / shard)
    return path / shard


def test_changed_shard_is_refused_though_the_cache_has_the_rows(
    cache: Path, copy_data: Path, make_rows, make_data, tmp_path: Path
) -> None:
    path = tmp_path / "copy"
    shutil.copytree(copy_data, path)
    encoded(path)
    other_shard(path, make_rows, make_data, tmp_path)

    with pytest.raises(DataError, match="its SHA-256 is not the manifest's"):
        encoded(path)


def test_fingerprint_that_was_left_on_other_rows_does_not_bring_back_the_old(
    cache: Path, copy_data: Path, make_rows, make_data, tmp_path: Path
) -> None:
    path = tmp_path / "copy"
    shutil.copytree(copy_data, path)
    before = everything(encoded(path))
    shard = other_shard(path, make_rows, make_data, tmp_path)
    described = {"bytes": shard.stat().st_size, "sha256": sha256_of(shard)}
    change_manifest(path, lambda manifest: manifest["files"][0].update(described))

    assert everything(encoded(path)) != before


def rewrite(name: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Return what changes an array, and describes it in the record as if it had been written."""

    def damage(entry: Path) -> None:
        path = entry / f"{name}.npy"
        values = change(np.load(path))
        path.unlink()
        np.save(path, values)
        record = json.loads((entry / "entry.json").read_text())
        record["arrays"][name] = {
            "dtype": str(values.dtype),
            "shape": list(values.shape),
            "sha256": sha256_of(path),
        }
        (entry / "entry.json").write_text(json.dumps(record))

    return damage


def put(array: Any, at: int, value: int) -> Any:
    array[at] = value
    return array


def flip(entry: Path) -> None:
    path = entry / "source.npy"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)


def cut(entry: Path) -> None:
    path = entry / "target.npy"
    path.write_bytes(path.read_bytes()[:-20])


def other_parts(entry: Path) -> None:
    record = json.loads((entry / "entry.json").read_text())
    record["parts"]["fingerprint"] = "of something else"
    (entry / "entry.json").write_text(json.dumps(record))


DAMAGES = {
    "a flipped bit": flip,
    "a file cut short": cut,
    "a missing file": lambda entry: (entry / "source_lengths.npy").unlink(),
    "an empty file": lambda entry: (entry / "source.npy").write_bytes(b""),
    "a broken record": lambda entry: (entry / "entry.json").write_text('{"parts": '),
    "a record that is a list": lambda entry: (entry / "entry.json").write_text("[]"),
    "a record of other rows": other_parts,
    "an id that is none": rewrite("source", lambda a: put(a, 0, 30)),
    "a negative id": rewrite("target", lambda a: put(a, 0, -1)),
    "no 0 at the end": rewrite("source", lambda a: put(a, -1, 1)),
    "another type": rewrite("source", lambda a: a.astype(np.int64)),
    "Python objects": rewrite("source", lambda a: a.astype(object)),
    "more dimensions": rewrite("source", lambda a: a[:, None]),
    "a length below one": rewrite("source_lengths", lambda a: put(put(a, 0, a[:2].sum()), 1, 0)),
    "lengths of other rows": rewrite("source_lengths", lambda a: put(a, 0, a[0] + 1)),
    "a row too few": rewrite(
        "source_lengths", lambda a: np.append(a[:-2], a[-2:].sum(dtype=a.dtype))
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_entry_that_is_not_what_was_written_is_made_anew(
    damage: Callable[[Path], None], cache: Path, copy_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, task = everything(encoded(copy_data)), Counting()
    [entry] = cache.iterdir()
    damage(entry)

    assert everything(encoded(copy_data, task)) == first
    assert task.num_encoded == len(first[0])
    assert "made anew" in capsys.readouterr().err
    assert everything(encoded(copy_data, Silent())) == first


def test_what_is_written_to_rows_stays_in_memory(cache: Path, copy_data: Path) -> None:
    rows = encoded(copy_data)
    before = everything(rows)

    rows.source.values.fill_(1)

    assert everything(encoded(copy_data, Silent())) == before


@pytest.mark.parametrize("place", ["", "file/below"], ids=["empty", "not writable"])
def test_without_a_cache_rows_are_encoded_in_memory_and_a_line_says_so(
    place: str, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SYMSHIFT_CACHE", place and str(tmp_path / place))
    rows = list(open_dataset(copy_data).rows("train"))

    kept = encoded(copy_data)

    assert everything(kept) == everything(
        encode_rows(COPY, Codec((), WINDOW), rows, with_paths=False)
    )
    assert capsys.readouterr().err.count("encoded for this run alone") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_rows_that_cannot_be_encoded_leave_no_entry(cache: Path, copy_data: Path) -> None:
    with pytest.raises(UsageError, match="--set vocabulary=3 or more"):
        encoded(copy_data, window=Window.first(2))
    with pytest.raises(UsageError, match="no trees"):
        encoded(copy_data, with_paths=True)

    assert not [*cache.glob("*/*.npy"), *cache.glob("*/*.json"), *cache.glob("*/.*.tmp")]


def test_limit_of_the_cache_is_kept(cache: Path, copy_data: Path, monkeypatch) -> None:
    encoded(copy_data)
    in_use = encoded(copy_data, window=Window(0, 30))
    before = everything(in_use)
    monkeypatch.setenv("SYMSHIFT_CACHE_LIMIT", "0")

    encoded(copy_data, window=Window(0, 40))

    assert len([*cache.iterdir()]) == 1
    assert everything(in_use) == before


# Problem and answer of each task as numbers, in version 1 of the cache.
GOLDEN = {
    "copy": ("a c", "a c", [3, 5, 2], [1, 3, 5, 2], None),
    "horn": (
        "facts: a; rules: a & b -> c; query: c",
        "a & b -> c; false",
        [3, 12, 9, 4, 12, 6, 13, 7, 14, 9, 5, 14, 2],
        [1, 12, 6, 13, 7, 14, 9, 11, 2],
        None,
    ),
    "ltl": (
        "a U b & X !b",
        "b; cycle{!b; 1}",
        [9, 14, 21, 22, 6, 5, 22, 2],
        [1, 22, 18, 19, 5, 22, 18, 4, 20, 2],
        [1, 2, 4, 5, 3, 6, 12, 0],
    ),
    "prop": ("a -> !b", "a=1 b=0", [8, 11, 5, 12, 2], [1, 11, 4, 12, 3, 2], [1, 2, 3, 6, 0]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_numbers_are_those_of_this_version_of_the_cache(name: str) -> None:
    text, answer, *expected = GOLDEN[name]
    task = load_task(name)
    row, with_paths = {"input": text, "target": answer}, expected[2] is not None

    rows = encode_rows(task, Codec(task.fixed_tokens, WINDOW), [row], with_paths=with_paths)

    assert token_cache.CACHE_VERSION == 1, "new numbers for the new version"
    assert everything(rows) == [part and [part] for part in expected], "raise CACHE_VERSION"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_mapped_rows_move_to_a_device(cache: Path, copy_data: Path) -> None:
    rows = encoded(copy_data)

    assert everything(rows.to(torch.device("cuda"))) == everything(rows)
