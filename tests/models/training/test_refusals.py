"""What goes wrong in a step is one line that names the setting to change."""

import json
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from symshift.data.dataset import open_dataset
from symshift.data.errors import SymshiftError
from symshift.models.training import run
from symshift.models.training.run import train
from symshift.models.training.trainer import Trainer


def failing_at(step: int, fail) -> type[Trainer]:
    class Failing(Trainer):
        def _update(self, at: int) -> None:
            if at == step:
                fail(self)
            super()._update(at)

    return Failing


def too_much(_: Trainer) -> None:
    torch.empty(1 << 60)


def no_memory(_: Trainer) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")


@pytest.mark.parametrize("fail", [too_much, no_memory])
def test_short_memory_names_the_setting(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail
) -> None:
    monkeypatch.setattr(run, "Trainer", failing_at(3, fail))
    settings = settings_of("learned", accumulate="2")

    with pytest.raises(SymshiftError, match=r"^step 3: out of memory .*--set accumulate=4 "):
        train(copy_data, tmp_path / "run", "learned", settings=settings)


def not_deterministic(_: Trainer) -> None:
    pooled, places = F.max_pool1d(torch.rand(1, 1, 8), 2, return_indices=True)
    F.max_unpool1d(pooled, places, 2)


def test_deterministic_mode_names_the_operation_that_is_not(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "Trainer", failing_at(2, not_deterministic))
    train(copy_data, tmp_path / "may", "learned", settings=settings_of("learned"))

    with pytest.raises(SymshiftError, match=r"step 2: deterministic=true, but max_unpool.* is not"):
        train(
            copy_data,
            tmp_path / "must",
            "learned",
            settings=settings_of("learned", deterministic="true"),
        )
    assert not torch.are_deterministic_algorithms_enabled()


def test_batch_behind_which_no_number_is_left_is_written(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(trainer: Trainer) -> None:
        next(iter(trainer._names)).grad.fill_(torch.inf)

    monkeypatch.setattr(run, "Trainer", failing_at(7, spoil))
    settings = settings_of("learned", log_every="10", checkpoint_every="3", validate_every="12")
    with pytest.raises(SymshiftError, match=r"^step 7: .*lower --set lr .* 15 rows are in .*json"):
        train(copy_data, tmp_path / "run", "learned", settings=settings)

    written = json.loads((tmp_path / "run/non-finite-00000007.json").read_text())
    rows = [*open_dataset(copy_data).rows("train")]
    assert written["step"] == 7
    assert [rows[each["row"]].input for each in written["rows"]] == [
        each["input"] for each in written["rows"]
    ]
    assert len({each["id"] for each in written["rows"]}) == 15
    # The checkpoint behind step 6 is sound, and the one behind step 9 was not written.
    names = sorted(p.name for p in (tmp_path / "run/checkpoints").iterdir())
    assert names == ["step-00000003", "step-00000006"]
