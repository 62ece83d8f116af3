"""The certificate of an audit, to cite: JSON to compute with, Markdown to read.

Both are functions of the data alone: no dates, no paths of a machine, the same bytes each time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import symshift
from symshift.data.errors import UsageError
from symshift.data.files import require_output, write_json, write_text
from symshift.data.records import Columns
from symshift.data.task import Cell
from symshift.generators.exchange.audit import audit
from symshift.generators.exchange.audit_report import RULE, to_plain, verdict
from symshift.generators.exchange.audit_result import (
    MIN_UNIQUE_SHARE,
    Audit,
    AuditedPair,
    AuditedSplit,
    Spot,
)

MAX_CELLS_SHOWN = 40
_FILE_HEADER = ("data set", "task", "file", "split", "rows", "unreadable", "sha256")
_SPLIT_HEADER = (
    "data set",
    "split",
    "rows",
    "unique",
    "share",
    "texts",
    "problems modulo renaming",
)
_PAIR_HEADER = (
    *("one", "other", "problems", "rows of one", "rows of other"),
    *("renamings of the same rows", "texts", "problems modulo renaming", "leak"),
)

_MEANING = f"""\
Two rows are equivalent when their canonical forms are equal: the problem with its symbols renamed
in order of first occurrence (for copying, the text itself; horn: the problem as an unordered
structure). Canonical forms are made anew from the text of each row. A row *repeats* an earlier
one of its split if they are equivalent; renamings of one and the same row, each with another text,
do not repeat each other. Two splits *leak* if they share a problem, unless both are of the same
kind (say, the test splits of two data sets); what they share only because their rows rename the
same rows is counted apart. Under {MIN_UNIQUE_SHARE:.0%} unique rows, a split gets a warning.
Rule: {RULE}.
"""


def certify(
    paths: Sequence[Path],
    output: Path | None,
    *,
    task: str | None = None,
    columns: Columns | None = None,
) -> Audit:
    """Audit data sets and write the certificate.

    Args:
        paths: What `audit` takes, as `task` and `columns`.
        output: The JSON file to write, with a Markdown file of the same name beside it; None to
            write nothing.
        task: The task of the rows of other files.
        columns: Which columns of other files hold what.

    Raises:
        UsageError: If `output` does not end in .json, and as `audit`.
        DataError: As `audit`.
    """
    if output is not None:
        require_output(output, paths)
    if output is not None and output.suffix != ".json":
        raise UsageError(f"{output}: name the certificate *.json; a *.md is written beside it")
    found = audit(paths, task=task, columns=columns)
    if output is not None:
        write_json(output, to_plain(found))
        write_text(output.with_suffix(".md"), to_markdown(found))
    return found


def to_markdown(audit: Audit) -> str:
    """Return the certificate of an audit as a Markdown document."""
    lines = [
        "# Audit certificate",
        "",
        f"**{verdict(audit)}** (symshift {symshift.__version__})",
        "",
        _MEANING,
        "## Data sets",
        "",
        *_table(_FILE_HEADER, _files(audit)),
        *_fingerprints(audit),
        "## Splits",
        "",
        *_table(_SPLIT_HEADER, map(_split_cells, audit.splits)),
        "## Overlaps",
        "",
        *_table(_PAIR_HEADER, map(_pair_cells, audit.pairs)),
        *_all_details(audit),
        *_notes(audit),
    ]
    return "\n".join(lines)


def _fingerprints(audit: Audit) -> Iterator[str]:
    for found in audit.sets:
        if found.fingerprint:
            yield f"- {_code(found.name)} states the fingerprint {_code(found.fingerprint)}"
            yield ""


def _files(audit: Audit) -> Iterator[tuple[object, ...]]:
    for found in audit.sets:
        for file in found.files:
            names = (_code(found.name), found.task, _code(file.name), _code(file.split))
            yield (*names, file.rows, file.unreadable, file.sha256)


def _split_cells(split: AuditedSplit) -> tuple[object, ...]:
    share = "" if split.unique_share is None else f"{split.unique_share:.4f}"
    loose = "" if split.modulo_renaming is None else split.modulo_renaming
    names = (_code(split.data_set), _code(split.split))
    return (*names, split.rows, split.unique, share, split.texts, loose)


def _pair_cells(pair: AuditedPair) -> tuple[object, ...]:
    loose = "" if pair.modulo_renaming is None else pair.modulo_renaming
    names = (_code(" ".join(pair.first)), _code(" ".join(pair.second)))
    leak = "yes" if pair.is_leak and pair.problems else "no"
    rows = (pair.problems, pair.rows_first, pair.rows_second, pair.renamings, pair.texts)
    return (*names, *rows, loose, leak)


def _all_details(audit: Audit) -> Iterator[str]:
    for split in audit.splits:
        title = f"Repeats in {split.data_set} {split.split}"
        yield from _details(title, "repeats", split.repeats, split.cells, split.examples)
    cells = {(split.data_set, split.split): split.cells for split in audit.splits}
    for pair in audit.pairs:
        title = f"Shared by {' '.join(pair.first)} and {' '.join(pair.second)}"
        yield from _details(title, "problems", pair.cells, cells[pair.second], pair.examples)


def _details(
    title: str,
    counted: str,
    counts: Mapping[Cell, int],
    rows: Mapping[Cell, int],
    examples: Iterable[tuple[Spot, Spot]],
) -> Iterator[str]:
    """Yield the counts of each cell beside the rows that there are, and the examples."""
    if not counts:
        return
    shown = sorted(counts.items())[:MAX_CELLS_SHOWN]
    yield from (f"### {title}", "")
    yield from _table(
        ("symbols", "size", counted, "of rows"),
        ((*cell, count, rows[cell]) for cell, count in shown),
    )
    if len(counts) > len(shown):
        yield from (f"And {len(counts) - len(shown)} more cells, in the JSON file.", "")
    for first, second in examples:
        yield f"- {_code(first.where)}: {_code(first.input)}"
        yield f"  {_code(second.where)}: {_code(second.input)}"
    yield ""


def _notes(audit: Audit) -> Iterator[str]:
    notes = [*audit.warnings, *audit.findings]
    if (hidden := audit.num_findings - len(audit.findings)) > 0:
        notes.append(f"and {hidden} more")
    if notes:
        yield from ("## Warnings and findings", "")
        yield from (f"- {_code(note)}" for note in notes)
        yield ""


def _code(text: str) -> str:
    """Return a text as it is, whatever characters it holds, on one line of Markdown."""
    return f"`{' '.join(text.split()).replace('`', chr(39))}`"


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = list(header)
    yield "| " + " | ".join(names) + " |"
    yield "| " + " | ".join("---" for _ in names) + " |"
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"
    yield ""
