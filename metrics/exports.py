"""The leaderboard for programs and other pages: JSON, CSV and Markdown."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence

from symshift.data.verdict import Estimate
from symshift.metrics.findings import as_text, findings_of, trivial_label
from symshift.metrics.leaderboard import Entry, Section
from symshift.metrics.published import Block, published_of
from symshift.metrics.result import SCHEMA_VERSION

SHARES = ("correct", "lenient", "correct_hard", "exact", "alpha_covariance")
"""The figures between 0 and 1 that tables show, in order."""
FIGURES = (*SHARES, "edit_distance")
"""All figures that tables show, in order."""
_SETTINGS = ("phase", "redraw_unseen", "output")
"""What a model was asked with, in columns of their own."""
_FORMULA_STARTS = ("=", "+", "-", "@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")
_BETWEEN_RUNS = re.compile(r"([\s|`<>\\]+)")
_LINKING = re.compile(r"://|www\.|@", re.IGNORECASE)
"""What many renderers turn into links or mentions; escapes do not stop all of them."""


def as_json(title: str, sections: Sequence[Section]) -> str:
    """Return everything: each section with its whole results and their ranks."""
    plain = [
        {
            "dataset": section.dataset.name,
            "entries": [
                {
                    "best_rank": entry.best_rank,
                    "worst_rank": entry.worst_rank,
                    "result": json.loads(entry.text),
                }
                for entry in section.entries
            ],
        }
        for section in sections
    ]
    findings = [as_text(sentence) for sentence in findings_of(sections)]
    tasks = sorted({section.dataset.task for section in sections})
    whole = {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "findings": findings,
        "sections": plain,
        "published": [block.to_plain() for task in tasks for block in published_of(task)],
    }
    # Without indents, which would take most of the time that a site with many results takes.
    return json.dumps(whole, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(sections: Sequence[Section]) -> str:
    """Return one line for each entry, with cells that no spreadsheet runs as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = ["dataset", "task", "split", "regime", "fingerprint", "rank", "system", "method"]
    header += ["seed", "table_seed", *_SETTINGS, "n"]
    for name in (*FIGURES, "trivial"):
        header += [name, f"{name}_low", f"{name}_high"]
    for kind in ("seeds", "repeats"):
        header += [f"{kind}_mean", f"{kind}_min", f"{kind}_max"]
    writer.writerow([*header, "command"])
    for section in sections:
        for entry in section.entries:
            writer.writerow([_safe(cell) for cell in _csv_cells(section, entry)])
    return text.getvalue()


def _csv_cells(section: Section, entry: Entry) -> Iterator[object]:
    data, system = section.dataset, entry.result.system
    yield from (data.name, data.task, data.split, data.regime, data.fingerprint, entry.rank)
    yield from (system.name, system.method, system.seed, system.table_seed)
    yield from (_text(system.settings.get(key)) for key in _SETTINGS)
    yield data.rows
    for name in (*FIGURES, "trivial"):
        found = entry.result.estimates.get(name)
        yield from (found.value, found.low, found.high) if found else (None, None, None)
    for spread in (entry.over_seeds, entry.repeats):
        yield from (spread.mean, spread.min, spread.max) if spread else (None, None, None)
    yield system.command


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _safe(cell: object) -> object:
    """Return a cell as one line, with a quote before what a spreadsheet would run."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    line = _CONTROL.sub(" ", cell)
    return "'" + line if line.lstrip().startswith(_FORMULA_STARTS) else line


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return the findings and a table for each section."""
    lines = [f"# {_escaped(title)}", ""]
    lines += [f"- {_escaped(as_text(sentence))}" for sentence in findings_of(sections)]
    for section in sections:
        shown = [n for n in FIGURES if any(n in e.result.estimates for e in section.entries)]
        lines += ["", f"## {_escaped(section.dataset.name)}", ""]
        lines += [f"{_escaped(section.description)} {section.dataset.rows} rows.", ""]
        header = ["rank", "system", "method", "seed", *shown]
        lines += [_row(header), _row(["---"] * len(header))]
        for entry in section.entries:
            system, figures = entry.result.system, entry.result.estimates
            seed = "" if system.seed is None else str(system.seed)
            cells = [entry.rank, _escaped(system.name), _escaped(system.method), seed]
            lines.append(_row([*cells, *(_figure(figures.get(name)) for name in shown)]))
        for name, estimate in section.trivial.items():
            if name:
                blank = ["", *[""] * (len(shown) - 1)]
                label = f"trivial: {_escaped(trivial_label(name))}"
                lines.append(_row(["", label, "", "", _figure(estimate), *blank[1:]]))
    blocks = [b for t in sorted({s.dataset.task for s in sections}) for b in published_of(t)]
    return "\n".join([*lines, *_published_lines(blocks)]) + "\n"


def _published_lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield figures of papers as tables of their own, in per cent as they are printed there."""
    if blocks:
        yield from ("", "## Published figures, not measured here")
    for block in blocks:
        about = f"{block.data} (preset {block.preset}). Source: {block.source}. Read in: "
        yield from ("", _escaped(f"{about}{block.read_in}. {block.note}"), "")
        yield _row(["published system", *(heading for _, heading in block.columns)])
        yield _row(["---"] * (len(block.columns) + 1))
        for row in block.rows:
            cells = (f"{row[n]:.2f} %" if n in row else "" for n, _ in block.columns)
            yield _row([_escaped(row["system"]), *cells])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _escaped(text: str) -> str:
    """Return a text as Markdown that shows it, on one line, with nothing in it at work."""
    # What would be a link or a mention is neither as code.
    return "".join(
        f"`{run}`" if _LINKING.search(run) else _MARKDOWN.sub(r"\\\1", run)
        for run in _BETWEEN_RUNS.split(" ".join(text.split()))
    )
