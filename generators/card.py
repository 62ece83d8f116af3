"""The dataset card: README.md with the block that the Hugging Face hub and `datasets` read."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from symshift.data.dataset import AS_PUBLISHED
from symshift.data.example import SPLITS
from symshift.data.plugins import load_task
from symshift.generators.theories.statistics import statistics_lines

LICENSE = "cc0-1.0"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))

_COLUMNS = {
    "id": "unique, from content",
    "task": "the task",
    "input": "the problem",
    "target": "a right answer, checked by two independent methods",
    "symbols": "the input's symbols in canonical order",
    "num_symbols": "how many distinct symbols the input has",
    "size": "nodes of the formula tree; for copy, symbols in the string; for horn, rules and facts",
    "canonical_id": "equal for equivalent problems",
    "split": "train, validation or test: a function of the canonical form alone (for horn, without "
    "the query)",
    "perturbation": "how symbols were given names",
    "shortcuts": "trivial answers that solve the row; rows without any are the hard ones",
    "index": "which candidate of the stream",
    "solver": "what made the target",
    "facts": "the facts, in the order of the text",
    "rules": "the rules, in the order of the text",
    "query": "the atom that is asked about",
    "label": "whether it is derivable",
    "depth": "rounds of forward chaining to the query; null where it is not derivable",
    "closure_depth": "rounds until nothing more is derivable",
    "proof": "a proof that no step can be left out of",
    "base_id": "the row this one renames",
    "renaming": "each symbol of that row with its name here",
    "regime": "seen, unseen-query, all-unseen or some-unseen, by the names used",
}


def _size_category(rows: int) -> str:
    return next((name for bound, name in _SIZES if rows < bound), "1M<n<10M")


def _front_matter(manifest: Mapping[str, Any]) -> list[str]:
    # JSON strings are YAML strings, which spares a YAML library.
    files = manifest["files"]
    rows = sum(file["rows"] for file in files)
    lines = [
        "---",
        f"license: {'unknown' if 'imported_from' in manifest else LICENSE}",
        f"pretty_name: {json.dumps(_title(manifest))}",
        "size_categories:",
        f"- {_size_category(rows)}",
        f"tags: [symshift, synthetic, reasoning, {manifest['task']}]",
        "annotations_creators: [machine-generated]",
    ]
    if not files:
        return [*lines, "---"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    info = ["dataset_info:", "  config_name: default", "  splits:"]
    for split in SPLITS:
        shards = [file for file in files if file["split"] == split]
        if shards:
            lines += [
                f"  - split: {split}",
                f"    path: data/{split}-*-of-{len(shards):05d}.parquet",
            ]
            info += [
                f"  - name: {split}",
                f"    num_bytes: {sum(file['bytes'] for file in shards)}",
                f"    num_examples: {sum(file['rows'] for file in shards)}",
            ]
    return [*lines, *info, "---"]


def _title(manifest: Mapping[str, Any]) -> str:
    start, stop = manifest["vocabulary"]["window"]
    return f"symshift {manifest['task']}, {stop - start + 1} names"


def _meaning(task_name: str) -> str:
    paragraphs = load_task(task_name).instructions.split("\n")
    return "\n\n".join(["`input` states a problem, `target` one right answer.", *paragraphs])


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    names = list(header)
    lines = ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |"]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def _cells(manifest: Mapping[str, Any]) -> list[str]:
    counts: Counter[tuple[int, int]] = Counter()
    for cell in manifest["cells"]:
        counts[cell["num_symbols"], cell["size"]] += cell["rows"]
    columns = sorted({num_symbols for num_symbols, _ in counts})
    sizes = sorted({size for _, size in counts})
    return _table(
        ["size", *(f"{k} symbols" for k in columns)],
        ([size, *(counts[k, size] for k in columns)] for size in sizes),
    )


def command_of(manifest: Mapping[str, Any]) -> str:
    """Return the command that makes a data set with this manifest, with OUT for its folder."""
    if "renamed_from" in manifest:
        source = manifest["renamed_from"]
        into = f" --into {source['into']}" if source["into"] else ""
        only = f" --only {source['only']}" if source["only"] else ""
        return f"symshift rename DATASET OUT --max-renamings {source['max_renamings']}{into}{only}"
    if "imported_from" in manifest:
        return _import_command(manifest)
    start, stop = manifest["vocabulary"]["window"]
    words = ["symshift generate", manifest["task"], "OUT"]
    words += [f"--{split} {rows}" for split, rows in manifest["asked"].items()]
    words.append(f"--names {start}-{stop}" if start else f"--symbols {stop + 1}")
    for name, value in manifest["options"].items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] if value else []
        elif value is not None:
            words.append(f'{flag} "{value}"' if " " in str(value) else f"{flag} {value}")
    if manifest["perturbation"] != "none":
        words.append(f"--perturb {manifest['perturbation']}")
    return " ".join([*words, f"--seed {manifest['seed']}"])


def _import_command(manifest: Mapping[str, Any]) -> str:
    source = manifest["imported_from"]
    words = ["symshift import", source["format"], "SOURCE OUT --task", manifest["task"]]
    words += [f"--{kind}-column {name}" for kind, name in (source["columns"] or {}).items()]
    return " ".join(words + ["--split-by-content"] * (manifest["split_rule"] != AS_PUBLISHED))


def _split_rule(manifest: Mapping[str, Any]) -> str:
    if manifest.get("split_rule") == AS_PUBLISHED:
        return (
            "The split of a row is its publisher's, so its rows may be equivalent to rows of other "
            "splits of other data sets; `symshift audit` tells."
        )
    return (
        "The split of a row is a hash of its canonical form, whatever the options and seeds, so no "
        "test row of a symshift data set is equivalent to a training row of another."
    )


def _licence(manifest: Mapping[str, Any]) -> str:
    if "imported_from" in manifest:
        names = ", ".join(file["path"] for file in manifest["imported_from"]["files"])
        return f"The rows were imported from {names}: what their publisher says holds."
    solvers = manifest["solvers"].items()
    return (
        f"The rows are dedicated to the public domain ({LICENSE}). Targets were found with: "
        + ", ".join(f"{solver} ({count} rows)" for solver, count in solvers)
        + "."
    )


def card_text(manifest: Mapping[str, Any]) -> str:
    """Return the card of a data set: a function of its manifest alone."""
    files, rejects = manifest["files"], manifest["rejects"]
    rows = Counter(dict.fromkeys(SPLITS, 0))
    for file in files:
        rows[file["split"]] += file["rows"]
    renamed = "renamed_from" in manifest
    hard = manifest["hard_rows"]
    identity = (
        "Rows with the same `base_id` are the same problem in other names; apart from them, no two "
        "rows are equivalent."
        if renamed
        else "No two rows are equivalent (the same after renaming their symbols; for copy, the "
        "same text)."
    )
    lines = [
        *_front_matter(manifest),
        f"# {_title(manifest)}",
        "",
        _meaning(manifest["task"]),
        "",
        f"Made by symshift {manifest['versions']['symshift']} with",
        "",
        f"    {command_of(manifest)}",
        "",
        "## Rows",
        "",
        *_table(
            ["split", "rows", "hard rows (no trivial answer solves them)"],
            ((split, count, hard.get(split, 0)) for split, count in rows.items() if count),
        ),
        f"{identity} {_split_rule(manifest)}",
        "",
        f"Candidates drawn: {manifest['candidates']}. Not taken: "
        + (", ".join(f"{count} {why}" for why, count in sorted(rejects.items())) or "none")
        + (f". {manifest['message']}" if manifest["message"] else "."),
        "",
        "## Rows by size and number of symbols",
        "",
        *_cells(manifest),
        *statistics_lines(manifest.get("shortcut_statistics")),
        "## Columns",
        "",
        *_table(
            ["column", "type", "meaning"],
            ((f"`{c}`", kind, _COLUMNS.get(c, "")) for c, kind in manifest["columns"]),
        ),
        "## Files",
        "",
        *_table(["file", "rows", "sha256"], ((f["path"], f["rows"], f["sha256"]) for f in files)),
        f"Fingerprint of all row values: `{manifest['fingerprint']}`.",
        "",
        "## Licence",
        "",
        _licence(manifest),
        "",
    ]
    return "\n".join(lines)
