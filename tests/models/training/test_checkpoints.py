from pathlib import Path

import pytest
import torch

from symshift.data.errors import DataError, UsageError
from symshift.models.training.checkpoints import Checkpoint, RunFolder
from symshift.models.training.run_log import RunLog

PROGRESS = {"loss_sums": [0.1], "num_summed": 3, "best": {}, "num_worse": 0}


def checkpoint(step: int) -> Checkpoint:
    tensors = {"a/b": torch.full((3,), float(step))}
    return Checkpoint(step=step, weights=tensors, optimizer=tensors, progress=PROGRESS)


def latest_of(folder: RunFolder) -> Checkpoint | None:
    return folder.checkpoint(folder.latest_step()[0] or 0)


def test_checkpoint_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.save(checkpoint(7), keep=0)
    latest = latest_of(folder)

    assert latest is not None
    assert latest.step == 7
    assert latest.progress == PROGRESS
    assert torch.equal(latest.optimizer["a/b"], torch.full((3,), 7.0))


def test_what_a_killed_run_had_begun_is_removed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.tidy()
    folder.save(checkpoint(7), keep=0)
    (tmp_path / "checkpoints/.step-00000009.tmp").mkdir()
    (tmp_path / "checkpoints/.step-00000009.tmp/model.safetensors").write_text("half")
    (tmp_path / "checkpoints/.best.safetensors.12.tmp").write_text("half")
    folder.tidy()

    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step-00000007"]


def test_only_the_last_checkpoints_are_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for step in (5, 10, 100, 20):
        folder.save(checkpoint(step), keep=2)

    assert folder.steps() == [20, 100]


def test_kept_weights_stay_and_no_run_goes_on_from_them(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.save(checkpoint(5), keep=1)
    folder.keep_weights(5, {"a": torch.full((3,), 5.0)})
    folder.keep_weights(7, {"a": torch.full((3,), 7.0)})
    folder.save(checkpoint(6), keep=1)
    latest = latest_of(folder)

    assert folder.steps() == [5, 6, 7]
    assert latest is not None
    assert latest.step == 6
    for step in (5, 7):
        weights, name, at = folder.weights(step)
        assert torch.equal(weights["a"], torch.full((3,), float(step)))
        assert name == f"checkpoints/step-0000000{step}.safetensors"
        assert at == step
    with pytest.raises(UsageError, match="no checkpoint 8; there are: 5, 6, 7"):
        folder.weights(8)


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_broken_checkpoint_is_passed_over(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path)
    for step in (1, 2):
        folder.save(checkpoint(step), keep=0)
    path = tmp_path / "checkpoints" / "step-00000002" / name
    path.write_bytes(path.read_bytes()[:-3])
    latest = latest_of(folder)

    assert latest is not None
    assert latest.step == 1


def test_checkpoint_with_a_changed_value_is_passed_over(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.save(checkpoint(1), keep=0)
    path = tmp_path / "checkpoints" / "step-00000001" / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

    assert latest_of(folder) is None


def test_unfinished_checkpoint_is_not_seen(tmp_path: Path) -> None:
    hidden = tmp_path / "checkpoints" / ".step-00000003.tmp"
    hidden.mkdir(parents=True)
    (hidden / "model.safetensors").write_bytes(b"half")

    assert RunFolder(tmp_path).steps() == []
    assert latest_of(RunFolder(tmp_path)) is None


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.save(checkpoint(4), keep=0)

    with pytest.raises(UsageError, match="no checkpoint 5; there are: 4"):
        folder.weights(5)
    with pytest.raises(DataError, match="not finished"):
        folder.weights()
    with pytest.raises(DataError, match=r"no config\.json"):
        folder.read_config()


def test_truncated_weights_are_an_error_in_one_line(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_final(9, {"a": torch.rand(50)})
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(DataError, match="broken or truncated"):
        folder.weights()


def test_log_goes_on_behind_a_step_and_drops_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with RunLog(path, None) as log:
        for step in (1, 2, 3):
            log.write(step, loss=0.5)
    path.write_bytes(path.read_bytes() + b'{"step": 4, "lo')
    with RunLog(path, 2) as log:
        log.write(9, loss=0.25)

    assert path.read_text() == (
        '{"loss": 0.5, "step": 1}\n{"loss": 0.5, "step": 2}\n{"loss": 0.25, "step": 9}\n'
    )
