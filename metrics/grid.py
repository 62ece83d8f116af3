"""A picture of correctness over the grid of number of symbols and size.

Colour is correctness; a cell with few rows is pale and hatched; the region that the system was
trained on is framed; each cell says its share and its n, and in SVG its interval to a pointer that
rests on it.
"""

import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symshift.data.errors import UsageError
from symshift.data.files import whole_file
from symshift.data.terminal import printable
from symshift.metrics.accuracy import Cell
from symshift.metrics.region import TrainedRegion, trained_region
from symshift.metrics.result import Result
from symshift.metrics.table import format_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
FEW_ROWS = 20
_FEW_ALPHA = 0.35
_CELL_INCHES = 0.55
_MAX_LABELLED_CELLS = 400
_DARK_FROM = 0.55
_GROUP = re.compile(r'<g id="(cell-[0-9]+-[0-9]+)">')


def grid_picture(
    cells: Sequence[Cell],
    *,
    title: str = "",
    trained: TrainedRegion | None = None,
    format: str = "svg",
) -> bytes:
    """Return the picture of a result's cells; equal cells give equal bytes.

    Args:
        cells: The cells, at least one.
        title: What stands above.
        trained: The region to frame, where it is known.
        format: One of FORMATS.

    Raises:
        ValueError: If there are no cells, or the format is another.
    """
    cells = [cell for cell in cells if cell.n]
    if not cells or format not in FORMATS:
        raise ValueError(f"{len(cells)} cells, format={format!r}: need cells, and one of {FORMATS}")
    from matplotlib import rc_context

    # Fixed salt, names and no date: these are all that would differ from run to run.
    metadata: dict[str, Any] = {"Date": None} if format == "svg" else {"Software": None}
    picture = io.BytesIO()
    settings: Any = {"svg.hashsalt": "symshift", "svg.fonttype": "none", "text.parse_math": False}
    with rc_context(settings), warnings.catch_warnings():
        # Names may be in any script, and the fonts that are there may lack it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = _draw(cells, printable(title), trained)
        figure.savefig(picture, format=format, metadata=metadata, dpi=150)
    drawn = picture.getvalue()
    return drawn if format == "png" else _titled(drawn.decode(), cells).encode()


def require_format(path: Path) -> None:
    """Refuse a file name that says no format.

    Raises:
        UsageError: If its ending is none of FORMATS.
    """
    if path.suffix.lstrip(".") not in FORMATS:
        raise UsageError(
            f"{path}: a grid is written as {' or '.join(FORMATS)}; end the name in one"
        )


def write_grid(result: Result, path: Path) -> None:
    """Write the picture of a result's cells, in the format that the file's ending names.

    Raises:
        UsageError: If the rows say no number of symbols and size, so that there are no cells.
    """
    require_format(path)
    if not any(cell.n for cell in result.cells):
        raise UsageError(f"{path}: the rows have no num_symbols and size, so there is no grid")
    title = f"{result.system.name} on {result.dataset.name}"
    picture = grid_picture(
        result.cells,
        title=title,
        trained=trained_region(result.system.trained_on),
        format=path.suffix.lstrip("."),
    )
    with whole_file(path) as hidden:
        hidden.write_bytes(picture)


def _titled(svg: str, cells: Sequence[Cell]) -> str:
    """Return an SVG whose cells name their figure to a pointer that rests on them."""
    titles = {
        _group(c): f"{format_symbols(c.num_symbols)}, size {c.size}: {_said(c)}" for c in cells
    }
    return _GROUP.sub(lambda found: f"{found[0]}<title>{titles[found[1]]}</title>", svg)


def _group(cell: Cell) -> str:
    return f"cell-{cell.num_symbols}-{cell.size}"


def _said(cell: Cell) -> str:
    found = cell.correct
    if found.value is None or found.low is None or found.high is None:
        return f"n {cell.n}"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f}), n {cell.n}"


def _draw(cells: Sequence[Cell], title: str, trained: TrainedRegion | None) -> "Figure":
    from matplotlib.figure import Figure

    columns = sorted({cell.num_symbols for cell in cells})
    sizes = sorted({cell.size for cell in cells})
    inches = (2.2 + _CELL_INCHES * len(columns), 1.6 + _CELL_INCHES * len(sizes))
    figure = Figure(figsize=inches, layout="constrained")
    axes = figure.add_subplot()
    colours = _draw_cells(axes, cells, columns, sizes)
    figure.colorbar(colours, ax=axes, label="share of right answers", shrink=0.8)
    if trained is not None:
        _frame(axes, trained, columns, sizes)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(-0.5, len(sizes) - 0.5)
    axes.set_xticks(range(len(columns)), [str(k) for k in columns])
    axes.set_yticks(range(len(sizes)), [str(size) for size in sizes])
    axes.set(xlabel="symbols (each cell: share, n)", ylabel="size", title=title)
    axes.set_aspect("equal")
    return figure


def _draw_cells(
    axes: "Axes", cells: Sequence[Cell], columns: Sequence[int], sizes: Sequence[int]
) -> Any:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    colours = ScalarMappable(Normalize(0, 1), colormaps["cividis"])
    is_labelled = len(columns) * len(sizes) <= _MAX_LABELLED_CELLS
    for cell in cells:
        x, y = columns.index(cell.num_symbols), sizes.index(cell.size)
        share, is_few = cell.num_right / cell.n, cell.n < FEW_ROWS
        style: dict[str, Any] = {"alpha": _FEW_ALPHA, "hatch": "///"} if is_few else {}
        box = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colours.cmap(share), **style)
        box.set_edgecolor("white")
        box.set_gid(_group(cell))
        axes.add_patch(box)
        if is_labelled:
            ink = "white" if share < _DARK_FROM and not is_few else "black"
            label = f"{share:.2f}\n{cell.n}"
            axes.text(x, y, label, ha="center", va="center", fontsize=6, color=ink)
    return colours


def _frame(
    axes: "Axes", trained: TrainedRegion, columns: Sequence[int], sizes: Sequence[int]
) -> None:
    from matplotlib.patches import Rectangle

    across = [x for x, k in enumerate(columns) if k in trained.num_symbols]
    up = [y for y, size in enumerate(sizes) if size in trained.size]
    if across and up:
        corner = (across[0] - 0.5, up[0] - 0.5)
        width, height = across[-1] - across[0] + 1, up[-1] - up[0] + 1
        frame = Rectangle(corner, width, height, fill=False, edgecolor="crimson", linewidth=2.5)
        frame.set_clip_on(False)
        axes.add_patch(frame)
