"""A data set made in parts, on machines that share nothing but files.

Part I of N makes the candidates of every N-th block of the stream, and stores what became of each
of them. Merging replays the outcomes of all parts in the order of the stream, through the very
writer that a single run uses, so the merged set has the bytes of a single run. Since the parts do
not know of one another's rows, each makes MARGIN more than its share.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.data.example import SPLITS, Example
from symshift.data.files import locked_folder, read_json, whole_file, write_json
from symshift.data.plugins import load_task
from symshift.data.schema import arrow_schema, column_types
from symshift.generators.blocks import BLOCK_CANDIDATES
from symshift.generators.candidates import Recipe, Skipped, realise
from symshift.generators.demand import Demand
from symshift.generators.pool import Chunk
from symshift.generators.quota import Quota
from symshift.generators.writer import (
    CHUNK_CANDIDATES,
    Context,
    Engine,
    Outcome,
    Report,
    config_of,
    has_stalled,
)

MARGIN = 0.05
MARKER = "part.json"
_SKIP_COLUMNS = {"skip_reason": "string", "skip_split": "string"}


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of how many."""

    number: int
    """From 1."""
    count: int
    """How many there are."""

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Read "I/N".

        Raises:
            UsageError: If the text is not that, or I is not from 1 to N.
        """
        number, slash, count = text.partition("/")
        if not (slash and number.isdecimal() and count.isdecimal()):
            raise UsageError(f"part {text!r}: give I/N, such as 1/4")
        if not 1 <= int(number) <= int(count):
            raise UsageError(f"part {text!r}: I must be from 1 to N")
        return cls(int(number), int(count))

    def owns(self, block: int) -> bool:
        """Tell whether this part makes a block of the stream."""
        return block % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def write_part(recipe: Recipe, demand: Demand, part: Part, out: Path, engine: Engine) -> Report:
    """Write one part of a data set, or go on with one that was interrupted.

    Args:
        recipe: What decides the rows.
        demand: How many rows the whole data set shall have.
        part: Which part this is.
        out: The folder to write; it is no data set until it is merged with the others.
        engine: Where candidates are made.

    Raises:
        UsageError: If cells are asked for, which no part can fill alone.
        DataError: If the folder holds anything else.
    """
    if demand.per_cell is not None:
        raise UsageError("--part and --per-cell do not go together: cells are filled in one run")
    marker = {**config_of(recipe, demand), "part": str(part), "block": BLOCK_CANDIDATES}
    with locked_folder(out):
        _begin(out, marker)
        blocks = _Blocks(out, recipe.task)
        stream = load_task(recipe.task).stream(recipe.options, recipe.window)
        share = {
            split: stream.bundle * math.ceil(count * (1 + MARGIN) / part.count / stream.bundle)
            for split, count in demand.splits.items()
        }
        quota = Quota(
            Demand(rows=share, hard_share=demand.hard_share),
            even=stream.even,
            bundle=stream.bundle,
        )
        end, message = stream.length, f"part {part}"
        with tqdm(total=sum(share.values()), unit="row", disable=None, desc=out.name) as bar:
            for block in _own_blocks(part, end):
                if quota.is_satisfied:
                    break
                if end is None and has_stalled(quota):
                    message += "; it found no new rows any more, merge tells how many there are"
                    break
                outcomes = blocks.read(block) or _make(recipe, demand, block, end, engine)
                blocks.write(block, outcomes)
                bar.update(sum(map(len, quota.judge(outcomes))))
        return Report(path=out, rows=dict(quota.taken), missing={}, message=message)


def _begin(out: Path, marker: Mapping[str, Any]) -> None:
    there = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    if MARKER in there:
        if read_json(out / MARKER) != marker:
            raise DataError(f"{out}: holds a part of another data set; choose another folder")
    elif there:
        raise DataError(f"{out}: holds other files ({min(there)!r}); choose an empty folder")
    else:
        write_json(out / MARKER, marker)


def _own_blocks(part: Part, end: int | None) -> Iterator[int]:
    block = part.number - 1
    while end is None or block * BLOCK_CANDIDATES < end:
        yield block
        block += part.count


def _make(
    recipe: Recipe, demand: Demand, block: int, end: int | None, engine: Engine
) -> list[Outcome]:
    """Make the outcomes of a block; only splits that nobody asks for are skipped."""
    unwanted = frozenset(SPLITS) - demand.splits.keys()
    first, last = block * BLOCK_CANDIDATES, (block + 1) * BLOCK_CANDIDATES
    last = last if end is None else min(last, end)
    context: Context = (recipe, unwanted)
    chunks = (
        Chunk(
            context=context,
            items=range(start, min(start + CHUNK_CANDIDATES, last)),
        )
        for start in range(first, last, CHUNK_CANDIDATES)
    )
    return [outcome for outcomes in engine.map(realise, chunks) for outcome in outcomes]


class _Blocks:
    """The outcomes of a part's blocks on disk: one row for each candidate."""

    def __init__(self, folder: Path, task_name: str) -> None:
        self._folder = folder / "blocks"
        self._columns = column_types(load_task(task_name).extra_columns, renamed=False)
        self._schema = arrow_schema({**self._columns, **_SKIP_COLUMNS})

    def path(self, block: int) -> Path:
        return self._folder / f"block-{block:06d}.parquet"

    def read(self, block: int) -> list[Outcome] | None:
        """Return the outcomes of a block, or None if it is not there."""
        if not self.path(block).is_file():
            return None
        return [_outcome(row) for row in pq.read_table(self.path(block)).to_pylist()]

    def write(self, block: int, outcomes: Sequence[Outcome]) -> None:
        if self.path(block).is_file():
            return
        rows = [_record(outcome) for outcome in outcomes]
        columns = [pa.array([r.get(f.name) for r in rows], type=f.type) for f in self._schema]
        with whole_file(self.path(block)) as hidden:
            pq.write_table(pa.Table.from_arrays(columns, schema=self._schema), hidden)


def _record(outcome: Outcome) -> Mapping[str, Any]:
    if isinstance(outcome, Example):
        return outcome
    num_symbols, size = outcome.cell or (None, None)
    return {
        "skip_reason": outcome.reason,
        "skip_split": outcome.split,
        "num_symbols": num_symbols,
        "size": size,
    }


def _outcome(row: dict[str, Any]) -> Outcome:
    reason, split = row.pop("skip_reason"), row.pop("skip_split")
    if reason is None:
        return Example.from_columns(row)
    cell = None if row["size"] is None else (row["num_symbols"], row["size"])
    return Skipped(reason, split, cell)


class StoredOutcomes:
    """An engine that makes nothing: it looks up what the parts of a data set have made."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Open the parts.

        Args:
            folders: Their folders, in any order.

        Raises:
            DataError: If a folder is no part, or not of the same data set as the others, or a
                part stands twice.
            SymshiftError: If a part is missing; the message names it.
        """
        self.config: dict[str, Any] = {}
        self._parts: dict[int, _Blocks] = {}
        count = 0
        for folder in folders:
            if not (folder / MARKER).is_file():
                raise DataError(f"{folder}: no {MARKER}; `symshift generate --part I/N` writes one")
            marker = read_json(folder / MARKER)
            part = Part.parse(marker.pop("part"))
            if marker.pop("block") != BLOCK_CANDIDATES or (self.config and marker != self.config):
                raise DataError(f"{folder}: a part of another data set than {folders[0]}")
            if part.number - 1 in self._parts:
                raise DataError(f"{folder}: part {part} is given twice")
            self.config, count = marker, part.count
            self._parts[part.number - 1] = _Blocks(folder, marker["task"])
        self._count = count
        missing = [str(Part(n + 1, count)) for n in range(count) if n not in self._parts]
        if missing:
            raise SymshiftError(f"missing part {', '.join(missing)}: make it with --part")

    def map(
        self, function: Callable[[Context, int], Outcome], chunks: Iterator[Chunk[Context, int]]
    ) -> Iterator[list[Outcome]]:
        """Yield the stored outcomes of each chunk.

        Raises:
            SymshiftError: If the parts together do not reach far enough.
        """
        block, outcomes = -1, []
        for chunk in chunks:
            first, last = chunk.items[0], chunk.items[-1]
            if first // BLOCK_CANDIDATES != block:
                block = first // BLOCK_CANDIDATES
                outcomes = self._block(block)
            start = first - block * BLOCK_CANDIDATES
            yield outcomes[start : start + last - first + 1]

    def _block(self, block: int) -> list[Outcome]:
        outcomes = self._parts[block % self._count].read(block)
        if outcomes is None:
            part = Part(block % self._count + 1, self._count)
            first = block * BLOCK_CANDIDATES
            raise SymshiftError(
                f"part {part} ends before candidates {first}-{first + BLOCK_CANDIDATES - 1}, which "
                "are still needed: make all parts again, asking for more rows, and merge those"
            )
        return outcomes
