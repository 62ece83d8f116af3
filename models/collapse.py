"""The collapse report of an embedding matrix: measures, and a picture of all pairs' cosines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symshift.data.errors import DataError, UsageError
from symshift.data.files import require_outputs, whole_file, write_json
from symshift.data.options import Range
from symshift.metrics.collapse import (
    Collapse,
    Matrix,
    collapse_of,
    format_collapse,
    pair_cosines,
)
from symshift.models.tensor_files import MatrixFile
from symshift.models.training.monitor import draw_collapse
from symshift.models.training.run_log import read_log

MAX_OTHER_ROWS = 8_192
_BINS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseReport:
    """Rows of a matrix beside the rows they are compared with."""

    file: Path
    """The file."""
    tensor: str
    """The matrix."""
    sets: dict[str, Collapse]
    """The rows that were asked for, then those beside them, by name."""
    picture: Path
    """The picture."""

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "file": self.file.name,
            "tensor": self.tensor,
            "sets": {name: found.to_plain() for name, found in self.sets.items()},
        }

    def to_text(self) -> str:
        """Return the table that `symshift collapse` prints."""
        head = f"{self.tensor} of {self.file}"
        return f"{head}\n\n{format_collapse(self.sets)}\n\nThe picture: {self.picture}"


def report_collapse(
    path: Path, tensor: str, rows: Range, output: Path, *, against: Range | None = None
) -> CollapseReport:
    """Measure rows of a matrix and others beside them, and write OUTPUT and a picture.

    Args:
        path: A safetensors file, the index of a sharded checkpoint, or their folder.
        tensor: The matrix's name.
        rows: The rows in question, such as reserved tokens.
        output: The JSON file to write; the picture has its name with `.png`.
        against: The rows to compare with; if not given, all others, or MAX_OTHER_ROWS of them.

    Raises:
        UsageError: If there is no such matrix, or it has no such rows.
        DataError: If a file is broken.
    """
    picture = _picture_of(output)
    require_outputs([output, picture], [path, *_checkpoint_of(path)])
    matrix = MatrixFile(path, tensor)
    values = {f"rows {rows}": matrix.rows(rows)}
    if against is not None:
        values[f"rows {against}"] = matrix.rows(against)
    else:
        others = matrix.other_rows(rows, MAX_OTHER_ROWS)
        if len(others) > 1:
            left_out = matrix.num_rows - (rows.max - rows.min + 1) > len(others)
            values[f"{len(others)} other rows" if left_out else "other rows"] = others
    report = CollapseReport(
        file=matrix.file,
        tensor=tensor,
        sets={name: collapse_of(part) for name, part in values.items()},
        picture=picture,
    )
    _draw(values, tensor, picture)
    write_json(output, report.to_plain())
    return report


def draw_log(log_path: Path, output: Path) -> Path:
    """Draw the collapse over a run's training; return the picture: OUTPUT with `.png`.

    Raises:
        UsageError: If OUTPUT lies in a run.
        DataError: If the log is broken or tells nothing of collapse.
    """
    picture = _picture_of(output)
    require_outputs([picture], [log_path])
    if not draw_collapse(read_log(log_path), picture):
        raise DataError(f"{log_path}: tells nothing of collapse; train with this symshift")
    return picture


def _picture_of(output: Path) -> Path:
    if not output.name or output.suffix == ".png":
        raise UsageError(f"-o {str(output)!r}: name the report; its picture has its name with .png")
    return output.with_suffix(".png")


def _checkpoint_of(path: Path) -> list[Path]:
    """Return the files of a checkpoint that is read through its folder or its index."""
    folder = path if path.is_dir() else path.parent
    return [each for each in folder.glob("*.safetensors*") if each.is_file()]


def _draw(values: dict[str, Matrix], title: str, path: Path) -> None:
    """Draw the cosines of all pairs, raw and centred, for each set of rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, centred in zip(axes, (False, True), strict=True):
        for name, rows in values.items():
            cosines = pair_cosines(rows, centred=centred)
            if len(cosines):
                counts, edges = np.histogram(cosines, _BINS, (-1, 1))
                axis.stairs(counts / len(cosines), edges, lw=1.6, label=name)
        axis.set_xlabel("cosine after the mean is taken off" if centred else "cosine")
        axis.set_xlim(-1, 1)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("share of pairs")
    if axes[0].get_legend_handles_labels()[0]:  # none where no row has a direction
        axes[0].legend(frameon=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    with whole_file(path) as hidden:
        figure.savefig(hidden, format="png", dpi=150, metadata={"Software": None})
