"""What the numbers of a result can be: shares between 0 and 1, counts that add up.

A result file may come from anyone; each complaint names the field.
"""

from collections.abc import Iterable, Iterator, Mapping

from symshift.data.verdict import Estimate, Proof, Verdict
from symshift.metrics.accuracy import Cell
from symshift.metrics.result import Result, Spread

_SHARES = ("correct", "exact", "lenient", "trivial", "alpha_covariance")
_REQUIRED = ("correct", "exact", "correct_hard")


def require_ranges(result: Result) -> None:
    """Refuse a result whose numbers cannot be.

    Raises:
        ValueError: If there is one; the message names the field.
    """
    rows = result.dataset.rows
    _require_counts("counts", result.counts, [verdict.value for verdict in Verdict], rows)
    if result.proofs is not None:
        _require_counts("proofs", result.proofs, [proof.value for proof in Proof], rows)
    _require_count("num_foreign", result.num_foreign, rows)
    _require_count("max_samples", result.max_samples)
    missing = set(_REQUIRED) - set(result.estimates)
    if missing:
        raise ValueError(f"estimates lack {', '.join(sorted(missing))}")
    for where, estimate, is_share in _estimates(result):
        _require_estimate(where, estimate, is_share=is_share)
        if rows == 0 and estimate.value is not None:
            raise ValueError(f"{where}={estimate} is measured on no rows: dataset.rows is 0")
    for at, cell in enumerate(result.cells):
        _require_cell(f"cells[{at}]", cell)
    if (alpha := result.alpha_covariance) is not None:
        for name in ("num_excluded", "num_missing", "num_timeout"):
            _require_count(f"alpha_covariance.{name}", getattr(alpha, name))
    _require_repeats(result)


def _estimates(result: Result) -> Iterator[tuple[str, Estimate, bool]]:
    """Yield all estimates with their place, and whether they are shares."""
    for name, estimate in result.estimates.items():
        if name.endswith(":"):
            raise ValueError(f"estimates has {name!r}, a name that ends in a colon")
        yield f"estimates.{name}", estimate, _is_share(name)
    for at, cell in enumerate(result.cells):
        yield f"cells[{at}].correct", cell.correct, True
    for side, found in result.margins.items():
        yield from ((f"margins.{side}.{k}", estimate, True) for k, estimate in found.items())
    if (alpha := result.alpha_covariance) is not None:
        yield "alpha_covariance.overall", alpha.overall, True
        for k, estimate in alpha.by_num_symbols.items():
            yield f"alpha_covariance.by_num_symbols.{k}", estimate, True


def _is_share(name: str) -> bool:
    return name.startswith(_SHARES)


def _require_counts(
    where: str, counts: Mapping[str, int], allowed: Iterable[str], rows: int
) -> None:
    if set(counts) - set(allowed) or sum(counts.values()) != rows:
        raise ValueError(f"{where}={dict(counts)} are not {rows} verdicts")
    for name, number in counts.items():
        _require_count(f"{where}.{name}", number)


def _require_count(where: str, number: int, most: int | None = None) -> None:
    if number < 0:
        raise ValueError(f"{where}={number} is negative")
    if most is not None and number > most:
        raise ValueError(f"{where}={number} is more than {most}")


def _require_estimate(where: str, estimate: Estimate, *, is_share: bool) -> None:
    ends = (estimate.low, estimate.value, estimate.high)
    known = [number for number in ends if number is not None]
    if len(known) not in (0, 3) or known != sorted(known) or estimate.n < 0:
        raise ValueError(f"{where}={estimate} is no value inside its interval")
    if known and estimate.n == 0:
        raise ValueError(f"{where}={estimate} is measured on nothing: n is 0")
    if is_share and known and not 0 <= known[0] <= known[-1] <= 1:
        raise ValueError(f"{where}={estimate} is not between 0 and 1")


def _require_cell(where: str, cell: Cell) -> None:
    parts = (
        ("num_right", cell.num_right, cell.n),
        ("num_exact", cell.num_exact, cell.num_right),
        ("num_hard", cell.num_hard, cell.n),
        ("num_hard_right", cell.num_hard_right, min(cell.num_hard, cell.num_right)),
    )
    for name in ("n", "num_symbols", "size"):
        _require_count(f"{where}.{name}", getattr(cell, name))
    for name, number, most in parts:
        _require_count(f"{where}.{name}", number, most)


def _require_repeats(result: Result) -> None:
    if (repeats := result.repeats) is not None:
        for name, spread in repeats.estimates.items():
            where = f"repeats.estimates.{name}"
            _require_spread(where, spread, len(repeats.labels), is_share=_is_share(name))


def _require_spread(where: str, spread: Spread, num_files: int, *, is_share: bool) -> None:
    values = (spread.min, *spread.values, spread.max)
    if len(spread.values) != num_files:
        raise ValueError(f"{where} has {len(spread.values)} values for {num_files} files")
    if not spread.min <= spread.mean <= spread.max:
        raise ValueError(f"{where}={spread} has no mean between min and max")
    if not spread.min <= min(values) <= max(values) <= spread.max:
        raise ValueError(f"{where}={spread} has values outside min and max")
    if is_share and not 0 <= spread.min <= spread.max <= 1:
        raise ValueError(f"{where}={spread} is not between 0 and 1")
