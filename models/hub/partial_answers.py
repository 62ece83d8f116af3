"""Answers on their way into a file, kept over a kill: batch by batch, for one configuration.

They lie in a hidden folder beside the file, whose name says what decides them; a run with another
configuration has another folder. A batch is there as a whole or not at all, so an interrupted run
asks the same batches as one that was not.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from symshift.data.errors import DataError
from symshift.data.files import json_text, locked_folder

_ANSWERS = "answers.jsonl"


class PartialAnswers:
    """The batches of answers so far; open them with `partial_answers`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.batches: list[list[str]] = _read(path) if path.exists() else []
        """The texts of each batch that is done, in the order of asking."""

    def add(self, texts: Sequence[str]) -> None:
        """Keep the next batch; it is on the disk when this returns."""
        with self._path.open("ab") as file:
            file.write(json.dumps(list(texts)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.batches.append(list(texts))


@contextmanager
def partial_answers(output: Path, configuration: Mapping[str, Any]) -> Iterator[PartialAnswers]:
    """Yield what an earlier run with this configuration has left; all of it goes at the end.

    After an error or an interruption it stays. A lock keeps a second run out.

    Args:
        output: The file that the answers are for.
        configuration: Everything that decides them, as plain values.
    """
    key = hashlib.sha256(json_text(configuration).encode()).hexdigest()[:16]
    folder = output.with_name(f".{output.name}.{key}.partial")
    with locked_folder(folder):
        yield PartialAnswers(folder / _ANSWERS)
    shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> list[list[str]]:
    """Return whole batches, and cut off what was being written when the run ended."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    try:
        batches = [json.loads(line) for line in whole.splitlines()]
    except ValueError:
        batches = [None]
    for batch in batches:
        if not isinstance(batch, list) or not all(isinstance(text, str) for text in batch):
            raise DataError(f"{path}: broken; remove its folder and start again")
    return batches
