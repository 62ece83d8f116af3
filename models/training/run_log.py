"""The log of a run: JSON lines without times, so the same run has the same log; and its copies.

A copy holds the same values by name, such as `validation.correct`, for other tools: a CSV file of
step, name and value, or TensorBoard's event files.
"""

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from symshift.data.errors import DataError, MissingToolError, UsageError
from symshift.data.files import require_output, whole_file


class LogCopy(Protocol):
    """Another form of the log, written as it grows."""

    def begin(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Start anew with the lines there are."""

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line."""

    def close(self) -> None:
        """Write what is left."""


class RunLog:
    """The log of a run, open for writing."""

    def __init__(self, path: Path, after_step: int | None, copies: Iterable[LogCopy] = ()) -> None:
        """Open the log.

        Args:
            path: The file.
            after_step: Go on behind this step's lines and drop later ones; None starts anew.
            copies: What is to be written besides.
        """
        kept, self.is_cut = ([], False) if after_step is None else _lines_until(path, after_step)
        """Whether lines before that step are missing or broken."""
        with whole_file(path) as hidden:
            hidden.write_bytes(b"".join(kept))
        self._file = path.open("a", encoding="utf-8", newline="\n")
        self._copies = tuple(copies)
        for copy in self._copies:
            copy.begin(map(json.loads, kept))

    def write(self, step: int, **values: Any) -> None:
        """Append a line; values must be finite."""
        text = json.dumps({"step": step, **values}, sort_keys=True, allow_nan=False)
        self._file.write(text + "\n")
        self._file.flush()
        for copy in self._copies:
            copy.write(json.loads(text))

    def sync(self) -> None:
        """Let the lines so far outlast a loss of power."""
        os.fsync(self._file.fileno())

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as closing:
            closing.callback(self._file.close)
            for copy in self._copies:
                closing.callback(copy.close)


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a run's log.

    Raises:
        DataError: If it is missing or broken.
    """
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                line = json.loads(text)
                if not isinstance(line, dict) or type(line.get("step")) is not int:
                    raise DataError(f"{path}: line {number} is none of a run's log")
                yield line
    except OSError as error:
        raise DataError(f"{path}: no log of a run ({error})") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: no log of a run: line {max(number, 1)} ({error})") from None


def _lines_until(path: Path, step: int) -> tuple[list[bytes], bool]:
    """Return the lines up to a step, and whether some are missing or broken."""
    kept: list[bytes] = []
    if not path.is_file():
        return kept, True
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            if json.loads(line)["step"] > step:
                return kept, False
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            return kept, True
        kept.append(line)
    return kept, False


def measures(line: Mapping[str, Any]) -> Iterator[tuple[str, float | str]]:
    """Yield the names and values of a line: those of tables as `table.name`, the step left out."""
    for name, value in line.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", found) for inner, found in measures(value))
        elif name != "step":
            yield name, value


_COLUMNS = ("step", "measure", "value")


class CsvCopy:
    """The log as a CSV file with the columns step, measure and value."""

    def __init__(self, path: Path) -> None:
        """Check where the file is to be.

        Raises:
            UsageError: If it would lie in a run or a data set.
        """
        require_output(path)
        if path.is_file() and path.stat().st_size:
            with path.open(encoding="utf-8", errors="replace") as file:
                if file.readline().strip() != ",".join(_COLUMNS):
                    raise UsageError(f"{path}: is no copy of a log, and would be overwritten")
        self._path = path

    def begin(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write the header and the lines there are."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file, lineterminator="\n")
        self._rows.writerow(_COLUMNS)
        for line in lines:
            self.write(line)

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a row for each value of a line."""
        self._rows.writerows((line["step"], name, value) for name, value in measures(line))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardCopy:
    """The log as event files that TensorBoard shows."""

    def __init__(self, folder: Path) -> None:
        """Check where the files are to be.

        Raises:
            UsageError: If they would lie in a run or a data set.
            MissingToolError: If TensorBoard is not installed.
        """
        require_output(folder)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ModuleNotFoundError as error:
            raise MissingToolError(
                "--tensorboard needs TensorBoard: pip install 'symshift[tensorboard]'"
            ) from error
        self._folder, self._open = folder, SummaryWriter

    def begin(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Open the files and write the lines there are; those of an earlier start are hidden."""
        self._writer = self._open(os.fspath(self._folder), purge_step=0)
        for line in lines:
            self.write(line)

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a scalar for each number of a line."""
        for name, value in measures(line):
            if isinstance(value, int | float):
                self._writer.add_scalar(name.replace(".", "/", 1), value, line["step"])

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()
