"""What the page of one entry shows, ready to print."""

from collections.abc import Iterable, Mapping
from typing import Any

from symshift.data.verdict import Proof, Verdict
from symshift.metrics.accuracy import Cell
from symshift.metrics.charts import curve_chart, grid_chart, points_of, said
from symshift.metrics.exports import SHARES
from symshift.metrics.findings import trivial_label
from symshift.metrics.leaderboard import TRIVIAL_PREFIX, Entry
from symshift.metrics.region import trained_region
from symshift.metrics.result import Result, System
from symshift.metrics.table import label_of

SIDES = {"size": "size", "num_symbols": "symbols"}
"""The sides of the grid, and what pages call them."""
_TELLING = {
    "phase": "{}",
    "redraw_unseen": "unseen rows redrawn: {}",
    "output": "{} output",
    "constrained": "only well-formed answers written",
}
"""Settings that are said under a system's name, where they are not the usual ones."""
_PLAIN_NAME = 80


def count(value: int) -> str:
    """Return a whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def label(result: Result) -> str:
    """Return what tells a system apart from others in one line."""
    system = result.system
    seeds = {"seed": system.seed, "table": system.table_seed}
    return ", ".join([system.name, *(f"{k} {v}" for k, v in seeds.items() if v is not None)])


def about(system: System) -> Iterable[str]:
    """Yield what is said under a system's name."""
    if system.method and system.method != system.name:
        yield system.method
    total = system.parameters
    if isinstance(total, Mapping):
        total = total.get("trained")
    if type(total) is int:
        yield f"{count(total)} parameters"
    if system.seed is not None:
        yield f"training seed {system.seed}"
    for key, shown in _TELLING.items():
        value = system.settings.get(key)
        if value is True:
            yield shown
        if isinstance(value, str) and value not in ("", "none", "tied"):
            yield shown.format(value[:_PLAIN_NAME])


def entry_view(entry: Entry) -> Mapping[str, Any]:
    """Return all that an entry's page shows of its result."""
    result = entry.result
    region = trained_region(result.system.trained_on)
    cells = [cell for cell in result.cells if cell.n]
    return {
        "about": list(about(result.system)),
        "figures": list(_figures(result)),
        "counts": [(v.value, result.counts.get(v.value, 0)) for v in Verdict],
        "proofs": result.proofs and [(p.value, result.proofs.get(p.value, 0)) for p in Proof],
        "region": region,
        "grid": grid_chart(cells, region) if len(cells) > 1 else None,
        "table": _grid_table(cells),
        "curves": list(_curves(result)),
        "alpha": list(_alpha(result)),
        "repeats": result.repeats,
        "facts": list(_facts(result)),
    }


def _figures(result: Result) -> Iterable[tuple[str, Any, bool]]:
    """Yield each estimate with what it is called, and whether it is a share."""
    for name, estimate in result.estimates.items():
        if name == "trivial" or estimate.value is None:
            continue
        kind, _, which = name.partition(":")
        is_trivial = f"{kind}:" == TRIVIAL_PREFIX
        shown = f"trivial answer: {trivial_label(which)}" if is_trivial else label_of(name)
        yield shown, estimate, name in SHARES or bool(which)


def _grid_table(cells: Iterable[Cell]) -> Mapping[str, Any]:
    known = {(cell.size, cell.num_symbols): cell for cell in cells}
    symbols = sorted({number for _, number in known})
    rows = [
        (size, [(k, known.get((size, k))) for k in symbols])
        for size in sorted({size for size, _ in known})
    ]
    return {
        "symbols": symbols,
        "rows": [(size, [(k, said(c.correct) if c else "") for k, c in row]) for size, row in rows],
    }


def _curves(result: Result) -> Iterable[Mapping[str, Any]]:
    for side, name in SIDES.items():
        points = points_of(result.margins.get(side, {}))
        if len(points) > 1:
            yield {
                "name": name,
                "chart": curve_chart(points, name),
                "points": [(value, said(estimate)) for value, estimate in points],
            }


def _alpha(result: Result) -> Iterable[tuple[str, Any, Any]]:
    """Yield a number of symbols, the alpha-covariance there, and correctness under renaming."""
    if result.alpha_covariance is not None:
        right = result.margins.get("num_symbols", {})
        for number, estimate in result.alpha_covariance.by_num_symbols.items():
            yield number, said(estimate), said(right[number]) if number in right else ""


def _facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield the further facts of an entry, each a name and a text."""
    system, alpha = result.system, result.alpha_covariance
    if isinstance(system.parameters, Mapping):
        yield from ((f"parameters, {k}", _shown(v)) for k, v in sorted(system.parameters.items()))
    elif system.parameters is not None:
        yield "parameters", _shown(system.parameters)
    settings = {"table seed": system.table_seed, **system.settings}
    yield from ((k, _shown(v)) for k, v in settings.items() if v is not None)
    yield from ((f"trained on, {k}", _shown(v)) for k, v in sorted(system.trained_on.items()))
    yield "answers with foreign symbols", count(result.num_foreign)
    cap = result.dataset.max_renamings
    if alpha is not None and cap != 1:
        yield "renamings", f"at most {cap} a problem; {alpha.num_excluded} problems have only one"
    yield from ((f"version, {k}", _shown(v)) for k, v in sorted(result.versions.items()))


def _shown(value: Any) -> str:
    return count(value) if type(value) is int else str(value)
