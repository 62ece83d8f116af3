"""Rows of a matrix in safetensors files, whatever their size: only what is asked for is read.

Shapes: N rows, D width.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open

from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.files import read_json
from symshift.data.options import Range

INDEX = "model.safetensors.index.json"
WEIGHTS = "model.safetensors"
_BLOCK_ROWS = 16_384


class MatrixFile:
    """One matrix of a safetensors file, of a sharded checkpoint's index, or of their folder."""

    def __init__(self, path: Path, tensor: str) -> None:
        """Find the matrix.

        Args:
            path: The file, the index of a sharded checkpoint, or the folder that has either.
            tensor: The matrix's name.

        Raises:
            UsageError: If there is no matrix of this name; the nearest is offered.
            DataError: If a file is missing or broken.
        """
        self.tensor = tensor
        """The matrix's name."""
        self.file = _file_with(path, tensor)
        """The file that holds it."""
        with _opened(self.file) as file:
            if tensor not in (names := list(file.keys())):
                raise unknown_name(f"tensor of {self.file}", tensor, names)
            self.shape: tuple[int, ...] = tuple(file.get_slice(tensor).get_shape())
            """Its shape."""
        if len(self.shape) != 2:
            raise UsageError(f"{self.file}: {tensor} has shape {self.shape}, not rows by width")

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return self.shape[0]

    def rows(self, asked: Range) -> npt.NDArray[np.float64]:
        """Return rows_ND from the first to the last that are asked for.

        Raises:
            UsageError: If there are not so many.
        """
        if asked.max >= self.num_rows:
            raise UsageError(f"rows {asked}: {self.tensor} has rows 0-{self.num_rows - 1}")
        with _opened(self.file) as file:
            part = file.get_slice(self.tensor)[asked.min : asked.max + 1]
        return _to_numpy(part)

    def other_rows(self, asked: Range, max_rows: int) -> npt.NDArray[np.float64]:
        """Return the rows outside a range; of more than max_rows, so many, evenly spaced."""
        places = np.flatnonzero(
            (np.arange(self.num_rows) < asked.min) | (np.arange(self.num_rows) > asked.max)
        )
        picks = np.linspace(0, len(places) - 1, min(len(places), max_rows)).round().astype(int)
        places = places[picks]
        parts = [np.empty((0, self.shape[1]))]
        with _opened(self.file) as file:
            whole = file.get_slice(self.tensor)
            for start in range(0, self.num_rows, _BLOCK_ROWS):
                inside = places[(places >= start) & (places < start + _BLOCK_ROWS)]
                if len(inside):
                    block = whole[start : min(start + _BLOCK_ROWS, self.num_rows)]
                    parts.append(_to_numpy(block[torch.from_numpy(inside - start)]))
        return np.concatenate(parts)


def _to_numpy(rows_ND: torch.Tensor) -> npt.NDArray[np.float64]:
    if not rows_ND.is_floating_point():
        raise UsageError(f"values of type {rows_ND.dtype} are no embedding rows")
    values: npt.NDArray[np.float64] = rows_ND.double().numpy()
    return values


def _file_with(path: Path, tensor: str) -> Path:
    if path.is_dir():
        path = path / (INDEX if (path / INDEX).is_file() else WEIGHTS)
    if not path.is_file():
        raise DataError(f"{path}: no such file; give a .safetensors file, an index or their folder")
    if path.suffix != ".json":
        return path
    plain = read_json(path)
    shards = plain.get("weight_map") if isinstance(plain, dict) else None
    if not isinstance(shards, dict):
        raise DataError(f"{path}: no weight_map, so no index of a sharded checkpoint")
    if tensor not in shards:
        raise unknown_name(f"tensor of {path}", tensor, shards)
    name = shards[tensor]
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".safetensors"):
        raise DataError(f"{path}: {tensor} is said to be in {name!r}, which is no file beside it")
    return path.with_name(name)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path}: broken, truncated or missing ({error})") from None
