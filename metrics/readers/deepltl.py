"""DeepLTL's trace files: a formula in Polish notation, below it the answer, and so on.

There are no ids, so records are joined by the formula itself; a data set in which two rows have the
same input cannot be. Blank lines may stand before a formula; below one, a blank line is an empty
answer. `-` stands for an answer that was not found (its `--allow-no-trace`).
"""

from collections.abc import Iterator
from typing import BinaryIO

from symshift.data import formula as formulas
from symshift.data import polish
from symshift.data.formula import FormulaError
from symshift.data.lines import lines_of
from symshift.metrics.notations import POLISH
from symshift.metrics.record import BY_INPUT, Problems, Reader, Reading, Record, record_of


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    above: tuple[int, str | None] | None = None
    for line in lines_of(stream):
        text = line.text.strip(" \t\r")
        if line.problem:
            problems.add(line.number, line.problem)
        if above is None:
            # A line that cannot be read stands for a formula all the same.
            if line.problem or text:
                above = line.number, _formula(line.number, text, problems)
            continue
        if above[1] is not None and not line.problem:
            yield record_of(above[0], above[1], None if text == polish.NO_TRACE else text)
        above = None
    if above is not None:
        problems.add(above[0], "no answer in the line below")


def _formula(number: int, text: str, problems: Problems) -> str | None:
    if not text:
        return None
    try:
        return formulas.show(polish.parse_formula(text))
    except FormulaError as error:
        problems.add(number, f"{text[:40]!r} is no formula in Polish notation: {error}")
        return None


READER = Reader(read=_records, suffixes=(".txt",), joined_by=BY_INPUT, notation=POLISH)
