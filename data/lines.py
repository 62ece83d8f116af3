"""Lines of text files from anywhere: cut at line feeds alone, each readable or said why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_LINE_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it was found."""

    number: int
    """Counted from 1."""
    text: str
    """Its text without the line end; empty where it cannot be read."""
    problem: str = ""
    """Why it cannot be read; empty where it can."""


def lines_of(stream: BinaryIO, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    r"""Yield every line of a UTF-8 file, with or without byte-order mark, ended by \n or \r\n.

    U+2028 and its like do not end a line, as they do for `str.splitlines`. A line that is no
    UTF-8, or longer than `max_bytes`, is yielded with its problem, and reading goes on behind it.
    """
    number = 0
    while raw := stream.readline(max_bytes):
        number += 1
        if len(raw) == max_bytes and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(max_bytes)
            yield Line(number, "", f"longer than {max_bytes} bytes")
            continue
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            yield Line(number, "", f"not UTF-8 at byte {error.start}")
            continue
        yield Line(number, text.removesuffix("\n").removesuffix("\r"))
