"""An audit as plain values and as lines to read."""

from collections.abc import Iterable, Mapping
from typing import Any

import symshift
from symshift.data.task import Cell
from symshift.generators.exchange.audit_result import (
    Audit,
    AuditedPair,
    AuditedSet,
    AuditedSplit,
    Spot,
)

SCHEMA_VERSION = 1
RULE = "audit-v1"
"""The version of what counts as a repeat and as a leak."""


def to_plain(audit: Audit) -> dict[str, Any]:
    """Return an audit as plain values that JSON can hold."""
    return {
        "schema_version": SCHEMA_VERSION,
        "rule": RULE,
        "symshift": symshift.__version__,
        "clean": audit.is_clean,
        "data_sets": [_set(found) for found in audit.sets],
        "splits": [_split(split) for split in audit.splits],
        "overlaps": [_pair(pair) for pair in audit.pairs],
        "findings": {"count": audit.num_findings, "first": list(audit.findings)},
        "warnings": audit.warnings,
    }


def _set(found: AuditedSet) -> dict[str, Any]:
    files = [
        {
            "path": file.name,
            "split": file.split,
            "sha256": file.sha256 or None,
            "rows": file.rows,
            "unreadable": file.unreadable,
        }
        for file in found.files
    ]
    return {
        "name": found.name,
        "task": found.task,
        "format": found.format,
        "fingerprint": found.fingerprint,
        "files": files,
    }


def _split(split: AuditedSplit) -> dict[str, Any]:
    return {
        "data_set": split.data_set,
        "split": split.split,
        "rows": split.rows,
        "problems": split.problems,
        "unique": split.unique,
        "unique_share": split.unique_share,
        "distinct_texts": split.texts,
        "problems_modulo_renaming": split.modulo_renaming,
        "cells": _cells(split.cells, "rows"),
        "repeats": _cells(split.repeats, "rows"),
        "examples": _examples(split.examples),
    }


def _pair(pair: AuditedPair) -> dict[str, Any]:
    return {
        "first": dict(zip(("data_set", "split"), pair.first, strict=True)),
        "second": dict(zip(("data_set", "split"), pair.second, strict=True)),
        "leak": pair.is_leak and pair.problems > 0,
        "problems": pair.problems,
        "rows_first": pair.rows_first,
        "rows_second": pair.rows_second,
        "renamings_of_the_same_rows": pair.renamings,
        "same_texts": pair.texts,
        "problems_modulo_renaming": pair.modulo_renaming,
        "cells": _cells(pair.cells, "problems"),
        "examples": _examples(pair.examples),
    }


def _cells(cells: Mapping[Cell, int], counted: str) -> list[dict[str, int]]:
    return [
        {"num_symbols": num_symbols, "size": size, counted: count}
        for (num_symbols, size), count in sorted(cells.items())
    ]


def _examples(examples: Iterable[tuple[Spot, Spot]]) -> list[list[dict[str, Any]]]:
    return [
        [{"where": spot.where, "input": spot.input, "target": spot.target} for spot in pair]
        for pair in examples
    ]


def to_text(audit: Audit) -> str:
    """Return what a user should know, a line each, the verdict last."""
    lines = []
    for split in audit.splits:
        share = "" if split.unique_share is None else f" ({split.unique_share:.2%})"
        line = f"{split.data_set} {split.split}: {split.rows} rows, {split.unique} unique{share}"
        if split.modulo_renaming is not None:
            line += f", {split.modulo_renaming} problems modulo renaming"
        lines += [line, *_example_lines("repeats", split.examples)]
    for pair in audit.pairs:
        if pair.problems or pair.renamings or pair.modulo_renaming:
            lines.append(_overlap_line(pair))
            lines += _example_lines("is equivalent to", pair.examples if pair.is_leak else ())
    lines += [f"warning: {warning}" for warning in audit.warnings]
    lines += [f"problem: {finding}" for finding in audit.findings]
    if (hidden := audit.num_findings - len(audit.findings)) > 0:
        lines.append(f"problem: and {hidden} more")
    return "\n".join([*lines, verdict(audit)])


def _overlap_line(pair: AuditedPair) -> str:
    kind = "LEAK" if pair.is_leak and pair.problems else "no leak"
    line = (
        f"{kind}: {' '.join(pair.first)} and {' '.join(pair.second)} share {pair.problems} "
        f"problems ({pair.rows_first} and {pair.rows_second} rows), {pair.texts} texts"
    )
    if pair.renamings:
        line += f", and {pair.renamings} problems as renamings of the same rows"
    if pair.modulo_renaming is not None:
        line += f", {pair.modulo_renaming} problems modulo renaming"
    return line


def _example_lines(relation: str, examples: Iterable[tuple[Spot, Spot]]) -> Iterable[str]:
    for first, second in examples:
        yield f"  {second.where}: {_short(second.input)}"
        yield f"    {relation} {first.where}: {_short(first.input)}"


def _short(text: str, max_characters: int = 100) -> str:
    text = " ".join(text.split())
    return text if len(text) <= max_characters else f"{text[: max_characters - 3]}..."


def verdict(audit: Audit) -> str:
    """Return the verdict in one line."""
    if audit.is_clean:
        return "clean: no duplicates, no leaks, every row read"
    parts = (
        (audit.repeats, "rows repeat an earlier one"),
        (len(audit.leaks), "pairs of splits leak"),
        (audit.num_findings, "rows or files cannot be read or are not what they should be"),
    )
    return "NOT clean: " + ", ".join(f"{count} {what}" for count, what in parts if count)
