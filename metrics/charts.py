"""Pictures for pages: the grid of cells, and correctness along one of its sides.

Drawn in the page's own colours, so they follow light and dark; every mark names its figure, its
interval and its n to a pointer that rests on it. They hold numbers only, no text of anybody's.
`metrics.grid` draws the same grid as a file, for papers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import Cell
from symshift.metrics.grid import FEW_ROWS
from symshift.metrics.region import TrainedRegion
from symshift.metrics.table import format_share, format_symbols

# Matplotlib's cividis, which reads alike with and without colour vision, at 0, 0.1, ..., 1.
_COLOURS = (
    *("00224e", "083370", "35456c", "4f576c", "666970", "7d7c78"),
    *("948e77", "aea371", "c8b866", "e5cf52", "fee838"),
)
_BOX = 18
_LEFT, _TOP = 44, 8
_WIDTH, _HEIGHT = 560, 150
_MAX_TICKS = 16
_FEW_COLUMNS, _LEGEND = 24, 190
_NUMBER = re.compile(r"[0-9]{1,9}")


def colour(share: float) -> str:
    """Return the colour of a share, between those of the scale."""
    place = min(max(share, 0.0), 1.0) * (len(_COLOURS) - 1)
    at = min(int(place), len(_COLOURS) - 2)
    left, right = (bytes.fromhex(_COLOURS[i]) for i in (at, at + 1))
    mixed = bytes(round(a + (b - a) * (place - at)) for a, b in zip(left, right, strict=True))
    return f"#{mixed.hex()}"


def said(estimate: Estimate) -> str:
    """Return an estimate as a few words: value, interval, n."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "no rows"
    low, high = format_share(estimate.low), format_share(estimate.high)
    return f"{format_share(estimate.value)} ({low} to {high}), n {estimate.n}"


def grid_chart(cells: Sequence[Cell], trained: TrainedRegion | None = None) -> Markup:
    """Return the grid as SVG: symbols upwards, sizes to the right.

    Args:
        cells: The cells, at least one.
        trained: The region to frame, where it is known.
    """
    sizes, symbols = _sides(cells)
    width, height = _BOX * len(sizes), _BOX * len(symbols)
    label = "Correctness by size and number of symbols"
    scale = 1.5 if len(sizes) <= _FEW_COLUMNS else 1.0
    whole = max(width, _LEGEND) + _LEFT + 8
    parts = [_start(whole, height + _TOP + 64, "grid", label, scale)]
    parts.append(
        '<defs><pattern id="few" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<path class="hatch" d="M0 6 6 0"/></pattern></defs>'
    )
    parts.append(f'<g transform="translate({_LEFT} {_TOP})">')
    parts += _boxes(cells, sizes, symbols)
    if trained is not None:
        parts += _frame(trained, sizes, symbols)
    for at in _ticks(sizes):
        parts.append(_text(at * _BOX + _BOX / 2, height + 14, str(sizes[at])))
    for at in _ticks(symbols):
        y = height - at * _BOX - _BOX / 2 + 4
        parts.append(f'<text x="-6" y="{y:g}" class="end">{symbols[at]}</text>')
    parts.append(_text(width / 2, height + 32, "size"))
    turned = f"translate(-30 {height / 2:g}) rotate(-90)"
    parts.append(f'<text transform="{turned}" class="mid">symbols</text>')
    parts += _legend(height + 42)
    return Markup("".join([*parts, "</g></svg>"]))


def _legend(y: int) -> Iterator[str]:
    """Yield the scale of colours."""
    for at, code in enumerate(_COLOURS):
        yield f'<rect x="{20 + 10 * at}" y="{y}" width="10" height="10" fill="#{code}"/>'
    for x, text in ((10, "0"), (140, "1 correct")):
        anchor = "end" if x < 20 else "start"
        yield f'<text x="{x}" y="{y + 9}" class="{anchor}">{text}</text>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:g}" class="mid">{text}</text>'


def _sides(cells: Sequence[Cell]) -> tuple[list[int], list[int]]:
    return sorted({c.size for c in cells}), sorted({c.num_symbols for c in cells})


def _start(width: float, height: float, kind: str, label: str, scale: float = 1.0) -> str:
    return (
        f'<svg class="chart {kind}" role="img" aria-label="{label}; the table below holds the '
        f'figures" viewBox="0 0 {width:g} {height:g}" width="{width * scale:g}" '
        f'height="{height * scale:g}">'
    )


def _ticks(values: Sequence[int]) -> range:
    return range(0, len(values), 1 + (len(values) - 1) // _MAX_TICKS)


def _boxes(cells: Sequence[Cell], sizes: Sequence[int], symbols: Sequence[int]) -> Iterator[str]:
    across = {size: at for at, size in enumerate(sizes)}
    up = {number: len(symbols) - 1 - at for at, number in enumerate(symbols)}
    for cell in cells:
        share = cell.num_right / cell.n if cell.n else 0.0
        x, y = across[cell.size] * _BOX, up[cell.num_symbols] * _BOX
        box = f'x="{x}" y="{y}" width="{_BOX}" height="{_BOX}"'
        counted = format_symbols(cell.num_symbols)
        title = f"{counted}, size {cell.size}: {said(cell.correct)}"
        if cell.n != cell.correct.n:
            title += f", {cell.n} rows"
        under, fade, over = "", "", ""
        if cell.n < FEW_ROWS:
            under, fade = f'<rect class="under" {box}/>', ' fill-opacity="0.35"'
            over = f'<rect class="few" {box} fill="url(#few)"/>'
        filled = f'{under}<rect {box} fill="{colour(share)}"{fade}/>{over}'
        yield f"<g><title>{title}</title>{filled}</g>"


def _frame(trained: TrainedRegion, sizes: Sequence[int], symbols: Sequence[int]) -> Iterator[str]:
    across = [at for at, size in enumerate(sizes) if size in trained.size]
    up = [at for at, number in enumerate(symbols) if number in trained.num_symbols]
    if across and up:
        x, y = across[0] * _BOX, (len(symbols) - 1 - up[-1]) * _BOX
        width, height = len(across) * _BOX, len(up) * _BOX
        yield f'<rect class="trained" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def points_of(margin: Mapping[str, Estimate]) -> list[tuple[int, Estimate]]:
    """Return the values of one side of the grid that have a figure, in order."""
    known = {int(v): e for v, e in margin.items() if _NUMBER.fullmatch(v) and e.value is not None}
    return sorted(known.items(), key=lambda point: point[0])


def curve_chart(points: Sequence[tuple[int, Estimate]], label: str) -> Markup:
    """Return correctness along one side of the grid as SVG.

    Args:
        points: Value and estimate, in order, at least one.
        label: What the side is called; a word of ours.
    """
    values = [value for value, _ in points]
    first, span = values[0], max(values[-1] - values[0], 1)
    places = [12 + (_WIDTH - 24) * (value - first) / span for value in values]
    parts = [_start(_WIDTH + _LEFT + 16, _HEIGHT + _TOP + 40, "curve", f"Correctness by {label}")]
    parts.append(f'<g transform="translate({_LEFT} {_TOP})">')
    for share in (0.0, 0.5, 1.0):
        y = _height(share)
        parts.append(f'<line class="axis" x1="0" x2="{_WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="-6" y="{float(y) + 4:g}" class="end">{share:g}</text>')
    parts += _marks(points, places, label)
    for at in _ticks(values):
        parts.append(_text(places[at], _HEIGHT + 16, str(values[at])))
    parts.append(_text(_WIDTH / 2, _HEIGHT + 34, label))
    return Markup("".join([*parts, "</g></svg>"]))


def _height(share: float | None) -> str:
    return f"{_HEIGHT * (1 - min(max(share or 0.0, 0.0), 1.0)):.1f}"


def _marks(
    points: Sequence[tuple[int, Estimate]], places: Sequence[float], label: str
) -> Iterator[str]:
    dots = [f"{x:.1f} {_height(e.value)}" for x, (_, e) in zip(places, points, strict=True)]
    yield f'<path class="line" d="M{" L".join(dots)}"/>'
    for x, (value, found) in zip(places, points, strict=True):
        low, y, high = map(_height, (found.low, found.value, found.high))
        yield f"<g><title>{label} {value}: {said(found)}</title>"
        yield f'<line class="span" x1="{x:.1f}" x2="{x:.1f}" y1="{low}" y2="{high}"/>'
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="3.4"/></g>'
