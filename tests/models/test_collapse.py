"""The collapse report, on checkpoints with planted collapse."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from symshift.cli import program
from symshift.data import console
from symshift.data.errors import DataError, UsageError
from symshift.data.options import Range
from symshift.metrics.collapse import collapse_of
from symshift.models.collapse import draw_log, report_collapse
from symshift.models.tensor_files import MatrixFile

NAME = "model.embed_tokens.weight"
RESERVED = Range(10, 29)


def table(dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """Return 400 independent rows, of which the reserved ones drifted together."""
    generator = torch.Generator().manual_seed(0)
    rows = 0.02 * torch.randn(400, 64, generator=generator)
    rows[RESERVED.min : RESERVED.max + 1] += 0.1 * torch.randn(64, generator=generator)
    return rows.to(dtype)


@pytest.fixture
def single(tmp_path: Path) -> Path:
    folder = tmp_path / "single"
    folder.mkdir()
    save_file({NAME: table(), "norm.weight": torch.ones(64)}, folder / "model.safetensors")
    return folder / "model.safetensors"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "reports" / "report.json"


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    folder = tmp_path / "sharded"
    folder.mkdir()
    save_file({NAME: table()}, folder / "model-00001-of-00002.safetensors")
    save_file({"norm.weight": torch.ones(64)}, folder / "model-00002-of-00002.safetensors")
    index = {
        "weight_map": {
            NAME: "model-00001-of-00002.safetensors",
            "norm.weight": "model-00002-of-00002.safetensors",
        }
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def test_planted_collapse_is_found_and_the_others_are_not_blamed(single: Path, out: Path) -> None:
    report = report_collapse(single, NAME, RESERVED, out)
    reserved, others = report.sets.values()

    assert reserved.cosine is not None
    assert reserved.cosine > 0.9
    assert reserved.centred_cosine is not None
    assert abs(reserved.centred_cosine) < 0.1
    assert (reserved.rows, others.rows) == (20, 380)
    assert others.cosine is not None
    assert abs(others.cosine) < 0.05


def test_shards_and_folders_give_what_a_single_file_gives(
    single: Path, sharded: Path, out: Path
) -> None:
    outs = [
        report_collapse(path, NAME, RESERVED, out).to_plain()["sets"]
        for path in (single, sharded, sharded / "model.safetensors.index.json")
    ]

    assert outs[0] == outs[1] == outs[2]


def test_others_are_all_rows_but_those_in_question(single: Path) -> None:
    matrix, whole = MatrixFile(single, NAME), table().double()

    assert (matrix.rows(RESERVED) == whole[10:30].numpy()).all()
    assert (matrix.other_rows(RESERVED, 999) == torch.cat((whole[:10], whole[30:])).numpy()).all()
    assert len(matrix.other_rows(RESERVED, 50)) == 50


def test_command_writes_json_and_a_picture(single: Path, out: Path, capsys) -> None:
    arguments = ["collapse", str(single), "--tensor", NAME, "--rows", "10-29"]
    code = console.run(program(), [*arguments, "--against", "30-99", "-o", str(out)])

    assert code == 0
    assert "centred cosine" in capsys.readouterr().out
    assert set(json.loads(out.read_text())["sets"]) == {"rows 10-29", "rows 30-99"}
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("tensor", "rows", "message"),
    [
        ("model.embed_token.weight", Range(0, 3), "embed_tokens"),
        ("norm.weight", Range(0, 3), "rows by width"),
        (NAME, Range(390, 400), "0-399"),
        (NAME, Range(3, 3), "1 row"),
    ],
)
def test_impossible_wishes_are_one_line(
    single: Path, out: Path, tensor: str, rows: Range, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        report_collapse(single, tensor, rows, out)


def test_broken_files_are_refused(tmp_path: Path, sharded: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"\x10\0\0\0\0\0\0\0{" + b" " * 20)
    with pytest.raises(DataError, match=r"broken\.safetensors"):
        MatrixFile(broken, NAME)
    index = sharded / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {NAME: "../../etc/x.safetensors"}}))
    with pytest.raises(DataError, match="no file beside it"):
        MatrixFile(sharded, NAME)
    index.write_text("[]")
    with pytest.raises(DataError, match="weight_map"):
        MatrixFile(sharded, NAME)


@pytest.mark.parametrize("name", ["model.safetensors", "report.json"])
def test_report_is_not_written_among_the_weights(single: Path, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        report_collapse(single, NAME, RESERVED, single.with_name(name))


@pytest.mark.parametrize("is_folder", [True, False])
def test_no_file_of_a_sharded_checkpoint_is_overwritten(sharded: Path, is_folder: bool) -> None:
    before = {path: path.read_bytes() for path in sharded.iterdir()}
    source = sharded if is_folder else sharded / "model.safetensors.index.json"
    for path in before:
        with pytest.raises(UsageError, match="is read here"):
            report_collapse(source, NAME, RESERVED, path)
    assert {path: path.read_bytes() for path in sharded.iterdir()} == before


@pytest.mark.parametrize("name", ["", "x.png"])
def test_an_output_that_leaves_no_name_for_the_picture_is_refused(single: Path, name: str) -> None:
    with pytest.raises(UsageError, match="name the report"):
        report_collapse(single, NAME, RESERVED, Path(name))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"line 2 \("),
        ("[" * 100_000, r"line 2 \("),
        ('{"step": 1, "collapse": {"seen": {"input": {"cosine": "a"}}}}', "cosine of step 1"),
        ('{"step": 1, "collapse": {"seen": {"input": {"norm": NaN}}}}', "norm of step 1"),
    ],
)
def test_a_log_that_is_none_is_refused_by_its_line(tmp_path: Path, line: str, said: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(f'{{"step": 0}}\n{line}\n')
    with pytest.raises(DataError, match=said):
        draw_log(log, tmp_path / "picture.json")
    assert not (tmp_path / "picture.png").exists()


def test_distances_survive_a_large_common_part() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 8))
    far, near = collapse_of(rows + 1e7), collapse_of(rows)
    assert far.distance == pytest.approx(near.distance, rel=1e-6)
    exact = np.mean([np.linalg.norm(a - b) for a, b in itertools.permutations(rows, 2)])
    assert near.distance == pytest.approx(exact, rel=1e-12)
