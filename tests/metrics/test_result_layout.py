"""The layout of RESULT.json, as versions that are out there write it (docs/errata.md)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from symshift.cli import cli
from symshift.data import console
from symshift.metrics.result import SCHEMA_VERSION, Result
from symshift.metrics.result_file import read_result

GOLDEN = Path(__file__).parents[1] / "cases" / "results" / "result-v1.json"


def kept(old: Any, new: Any) -> bool:
    """Tell whether everything that one JSON value says is in another, which may say more."""
    if isinstance(old, Mapping):
        return all(name in new and kept(item, new[name]) for name, item in old.items())
    if isinstance(old, list):
        return len(old) == len(new) and all(map(kept, old, new))
    return bool(old == new)


def test_a_result_of_version_1_is_read_and_means_what_it_did() -> None:
    text = GOLDEN.read_text("utf-8")

    again = read_result(GOLDEN).to_json()
    assert kept(json.loads(text), json.loads(again))


def test_the_kept_result_has_every_field_of_its_version() -> None:
    stored = json.loads(GOLDEN.read_text("utf-8"))
    assert not [name for name, value in stored.items() if value in (None, {}, [])]
    assert not [name for name, value in stored["system"].items() if value in (None, {}, [], "")]
    assert not [name for name, value in stored["dataset"].items() if value in (None, [], "")]


def test_results_say_the_version_of_their_layout(result: Result) -> None:
    stored = json.loads(result.to_json())

    assert stored["schema_version"] == SCHEMA_VERSION == 1
    assert type(stored["schema_version"]) is int


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (2, "schema_version 2, this symshift reads 1; upgrade symshift, or write it anew with"),
        (0, "schema_version 0, this symshift reads 1; write it anew with `symshift score`"),
        ("1", "schema_version '1', this symshift reads 1; write it anew with `symshift score`"),
        (None, "schema_version None, this symshift reads 1; write it anew with `symshift score`"),
    ],
)
def test_every_command_refuses_another_version_in_one_line(
    tmp_path: Path,
    result: Result,
    version: Any,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**json.loads(result.to_json()), "schema_version": version}))
    data = str(tmp_path / "data")
    write_data_set(Path(data))

    for arguments in (
        ["compare", str(path), str(path)],
        ["leaderboard", str(path), "-o", str(tmp_path / "site")],
        ["submit", str(path), data, str(path)],
    ):
        assert console.run(cli, arguments) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{path}: {said}" in line


def write_data_set(folder: Path) -> None:
    assert console.run(cli, ["generate", "copy", str(folder), "--test", "1", "--workers", "1"]) == 0
