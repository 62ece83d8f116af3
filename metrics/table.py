"""A result as text for a terminal."""

from collections.abc import Sequence

from symshift.data.terminal import printable
from symshift.data.verdict import Estimate, Proof, Verdict
from symshift.metrics.record import NATIVE
from symshift.metrics.result import Result

LABELS = {
    "correct": "correct",
    "lenient": "correct, lenient reading",
    "correct_hard": "correct, hard rows",
    "correct:inside": "correct, inside trained region",
    "correct:outside": "correct, outside trained region",
    "exact": "exact match",
    "alpha_covariance": "alpha-covariance",
    "edit_distance": "edit distance, mean",
    "correct_mean_of_samples": "correct, mean of samples",
    "correct_best_of_samples": "correct, best of samples",
}
"""What figures are called in tables; others go by their own name."""


def label_of(name: str) -> str:
    """Return what a figure is called in tables."""
    if name in LABELS:
        return LABELS[name]
    kind, _, which = name.partition(":")
    return {"correct": f"correct, {which}", "trivial": f"trivial: {which}"}.get(kind, name)


def format_share(value: float) -> str:
    """Return a share in two decimals, or more where these would pass for none or for all."""
    short = f"{value:.2f}"
    if value in (0, 1) or short not in ("0.00", "1.00"):
        return short
    longer = f"{value:.3f}"
    return {"0.000": "<0.001", "1.000": ">0.999"}.get(longer, longer)


def format_symbols(number: object) -> str:
    """Return a number of symbols, or a range of numbers, as `1 symbol` or `2-5 symbols`."""
    return f"{number} symbol" if str(number) == "1" else f"{number} symbols"


def format_estimate(estimate: Estimate) -> str:
    """Return an estimate as `0.4000  [0.1176, 0.7693]`."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "     -"
    return f"{estimate.value:.4f}  [{estimate.low:.4f}, {estimate.high:.4f}]"


def format_table(result: Result) -> str:
    """Return what `symshift score` prints: counts, figures with intervals, trivial answers."""
    data, system = result.dataset, result.system
    about = ", ".join(filter(None, [data.task, data.split, f"{data.rows} rows", data.regime]))
    counts = "  ".join(f"{v.value} {result.counts.get(v.value, 0)}" for v in Verdict)
    foreign = f"answers with symbols that the input lacks: {result.num_foreign}"
    if result.reading.notation != NATIVE:
        about += f", answers in {result.reading.notation} notation"
    lines = [
        f"{system.name} on {data.name} ({about})",
        "",
        counts,
        *_proof_lines(result),
        foreign,
        *_sample_lines(result),
        "",
    ]
    named = [name for name in _ordered(result) if name != "trivial"]
    width = max(len(label_of(name)) for name in named)
    for name in named:
        estimate = result.estimates[name]
        row = f"{label_of(name):{width}}  {format_estimate(estimate)}"
        lines.append(f"{row}  n={estimate.n}  {estimate.method}")
    lines += [*_alpha_lines(result), *_repeat_lines(result, width)]
    return "\n".join(map(printable, lines))


def format_results(results: Sequence[Result]) -> str:
    """Return a line for each result: correctness with its interval, and the best trivial answer.

    Args:
        results: Of any systems and data sets; those of one data set stand together.
    """
    header = ("data", "system", "seed", "correct  95 % interval", "hard rows", "exact", "trivial")
    lines: list[tuple[str, ...]] = [header]
    for result in sorted(results, key=lambda r: (r.dataset.task, r.dataset.name, r.system.name)):
        figures = result.estimates
        correct = figures["correct"]
        interval = f"{_share(correct.value)}  {_share(correct.low)} to {_share(correct.high)}"
        others = (_share(figures[name].value) for name in ("correct_hard", "exact", "trivial"))
        about = (result.dataset.name, result.system.name, str(result.system.seed))
        lines.append((*about, interval, *others))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return "\n".join(map(printable, rows))


def _share(value: float | None) -> str:
    return "-" if value is None else format_share(value)


def _ordered(result: Result) -> list[str]:
    first = [name for name in LABELS if name in result.estimates]
    rest = sorted(result.estimates.keys() - set(first), key=lambda n: (n.startswith("trivial"), n))
    return first + rest


def _proof_lines(result: Result) -> list[str]:
    if result.proofs is None:
        return []
    return ["proofs: " + "  ".join(f"{p.value} {result.proofs.get(p.value, 0)}" for p in Proof)]


def _sample_lines(result: Result) -> list[str]:
    if result.max_samples < 2:
        return []
    return [f"up to {result.max_samples} samples a row: the first counts"]


def _alpha_lines(result: Result) -> list[str]:
    alpha, max_renamings = result.alpha_covariance, result.dataset.max_renamings
    if alpha is None or max_renamings == 1:
        return []
    excluded = f"{alpha.num_excluded} problems with one renaming excluded"
    lost = f"{alpha.num_missing} missing and {alpha.num_timeout} timed-out predictions"
    cap = f"at most {max_renamings} renamings a problem"
    lines = ["", f"alpha-covariance: {cap}; {excluded}; {lost}"]
    for num_symbols, estimate in alpha.by_num_symbols.items():
        counted = format_symbols(num_symbols)
        lines.append(f"  {counted}  {format_estimate(estimate)}  n={estimate.n}")
    return lines


def _repeat_lines(result: Result, width: int) -> list[str]:
    repeats = result.repeats
    if repeats is None:
        return []
    over = repeats.over.replace("_", " ")
    lines = ["", f"over {len(repeats.labels)} files ({over} {', '.join(repeats.labels)}):"]
    for name in (n for n in LABELS if n in repeats.estimates):
        s = repeats.estimates[name]
        lines.append(
            f"{label_of(name):{width}}  mean {s.mean:.4f}  range {s.min:.4f} to {s.max:.4f}"
        )
    return lines
