import re
from dataclasses import replace
from pathlib import Path

import pytest

from symshift.data.errors import UsageError
from symshift.data.options import Range
from symshift.metrics.accuracy import Cell
from symshift.metrics.grid import grid_picture, write_grid
from symshift.metrics.intervals import wilson
from symshift.metrics.region import TrainedRegion
from symshift.metrics.result import Result


def cell(num_symbols: int, size: int, n: int, num_right: int) -> Cell:
    return Cell(
        num_symbols=num_symbols,
        size=size,
        n=n,
        num_right=num_right,
        num_exact=0,
        num_hard=n,
        num_hard_right=num_right,
        correct=wilson(num_right, n),
    )


CELLS = [cell(k, size, 8 * k + size, k) for k in range(1, 6) for size in (3, 5, 9)]
TRAINED = TrainedRegion(num_symbols=Range(1, 3), size=Range(1, 6))


def test_equal_cells_give_equal_bytes() -> None:
    for kind in ("svg", "png"):
        first, second = (grid_picture(CELLS, trained=TRAINED, format=kind) for _ in range(2))
        assert first == second


def test_the_picture_says_share_and_number_of_each_cell_and_no_date() -> None:
    svg = grid_picture(CELLS, title="a <b> & $x$").decode()

    texts = re.findall(r">([^<>]+)</tspan>|>([^<>]+)</text>", svg)
    words = " ".join(one or other for one, other in texts)
    assert "a &lt;b&gt; &amp; $x$" in words
    assert "0.09" in words
    assert "<dc:date>" not in svg


def test_each_cell_of_an_svg_names_its_interval_and_number() -> None:
    svg = grid_picture(CELLS).decode()

    assert svg.count("<title>") == len(CELLS)
    assert "<title>2 symbols, size 5: 0.095 (0.027 to 0.289), n 21</title>" in svg


def test_a_grid_is_written_in_the_format_of_its_name(tmp_path: Path, result: Result) -> None:
    write_grid(result, tmp_path / "g.svg")
    write_grid(result, tmp_path / "g.png")

    assert (tmp_path / "g.svg").read_text("utf-8").startswith("<?xml")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"svg"):
        write_grid(result, tmp_path / "g.pdf")
    with pytest.raises(UsageError, match="no grid"):
        write_grid(replace(result, cells=()), tmp_path / "g.svg")


def test_few_rows_are_hatched_and_the_trained_region_is_framed() -> None:
    many = [cell(1, 3, 500, 100), cell(2, 3, 500, 300)]
    few = [cell(1, 3, 500, 100), cell(2, 3, 5, 3)]

    assert b"<pattern" not in grid_picture(many)
    assert b"<pattern" in grid_picture(few)
    assert b"#dc143c" not in grid_picture(many)
    assert b"#dc143c" in grid_picture(many, trained=TRAINED)


def test_no_cells_or_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 cells"):
        grid_picture([])
    with pytest.raises(ValueError, match="format='gif'"):
        grid_picture(CELLS, format="gif")
