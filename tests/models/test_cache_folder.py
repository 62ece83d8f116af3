import os
from pathlib import Path

import pytest

from symshift.data.errors import UsageError
from symshift.models.cache_folder import cache_folder, entry_lock, evict, limit_bytes

VARIABLES = ("SYMSHIFT_CACHE", "XDG_CACHE_HOME", "SYMSHIFT_CACHE_LIMIT")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch):
    """Return what sets the variables; those that are not named are not there."""

    def put(**values: str) -> None:
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in {"HOME": "/home/u", "USERPROFILE": "/home/u", **values}.items():
            monkeypatch.setenv(name, value)

    return put


@pytest.mark.parametrize(
    ("values", "folder"),
    [
        ({}, "/home/u/.cache/symshift"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/symshift"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/symshift"),
        ({"XDG_CACHE_HOME": ""}, "/home/u/.cache/symshift"),
        ({"XDG_CACHE_HOME": "/x", "SYMSHIFT_CACHE": "/c"}, "/c"),
        ({"SYMSHIFT_CACHE": "~/c"}, "/home/u/c"),
    ],
)
def test_cache_lies_where_the_environment_says(environment, values, folder: str) -> None:
    environment(**values)

    assert cache_folder() == Path(folder)


def test_empty_name_means_no_cache(environment) -> None:
    environment(SYMSHIFT_CACHE="", XDG_CACHE_HOME="/x")

    assert cache_folder() is None


@pytest.mark.parametrize(("text", "size"), [("", 10e9), ("0", 0), ("2.5", 2.5e9)])
def test_limit_is_in_gigabytes(environment, text: str, size: float) -> None:
    environment(SYMSHIFT_CACHE_LIMIT=text)

    assert limit_bytes() == size


@pytest.mark.parametrize("text", ["much", "-1", "nan"])
def test_limit_that_is_no_number_of_gigabytes_is_refused(environment, text: str) -> None:
    environment(SYMSHIFT_CACHE_LIMIT=text)

    with pytest.raises(UsageError, match=f"SYMSHIFT_CACHE_LIMIT='{text}'"):
        limit_bytes()


def entry(folder: Path, digit: str, used_at: int) -> Path:
    """Make an entry of 100 bytes."""
    made = folder / (digit * 64)
    made.mkdir()
    (made / "source.npy").write_bytes(bytes(100))
    os.utime(made, (used_at, used_at))
    return made


@pytest.mark.parametrize(
    ("max_bytes", "left"), [(400, "abcd"), (399, "bcd"), (200, "bd"), (0, "d")]
)
def test_entries_used_longest_ago_are_removed_and_the_newest_never(
    tmp_path: Path, max_bytes: int, left: str
) -> None:
    for digit, used_at in (("a", 1), ("c", 2), ("b", 3)):
        entry(tmp_path, digit, used_at)

    evict(entry(tmp_path, "d", 0), max_bytes)

    assert sorted(path.name[0] for path in tmp_path.iterdir()) == sorted(left)


def test_entry_that_is_being_written_and_other_files_stay(tmp_path: Path) -> None:
    for name in ("notes", "thesis.txt"):
        (tmp_path / name).mkdir()
    written = entry(tmp_path, "a", 1)
    newest = entry(tmp_path, "b", 2)

    with entry_lock(written, wait=False):
        evict(newest, 0)

    assert len([*tmp_path.iterdir()]) == 4
    evict(newest, 0)
    assert not written.exists()
