"""A batch in parts, one after another or in several processes, is the same batch."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from symshift.data.errors import UsageError
from symshift.data.files import sha256_of
from symshift.models.configuration import RunConfig
from symshift.models.encoding import EncodedRows
from symshift.models.losses import AdaCos, Angles, angles
from symshift.models.training.checkpoints import RunFolder
from symshift.models.training.run import train
from symshift.models.training.trainer import Trainer

NO_DROPOUT = {"dropout": "0", "batch_size": "15"}


def numbers_of(run: Path) -> list[float]:
    """Return all numbers of a run's log, in order."""
    found = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                walk(value[key])
        elif isinstance(value, int | float):
            found.append(float(value))

    for line in (run / "log.jsonl").read_text().splitlines():
        walk(json.loads(line))
    return found


METHODS = [
    ("learned", {}),
    ("learned", {"final_norm": "false", "feature_norm": "false", "loss": "cross-entropy"}),
    ("interchangeable", {}),
    ("alpha-renaming", {"form": "data"}),
    ("forgetting", {"every": "4"}),
]


def gradients(config: RunConfig, encoded: EncodedRows) -> tuple[dict[str, torch.Tensor], float]:
    """Return the gradients of the first step, and the scale of the loss behind it."""
    trainer = Trainer(config, encoded, torch.device("cpu"))
    with torch.random.fork_rng():
        trainer._accumulate_gradients(1)
    found = {name: p.grad for name, p in trainer.model.named_parameters() if p.grad is not None}
    return found, trainer.model.loss.scale.item()


@pytest.mark.parametrize(("method", "changes"), METHODS)
def test_parts_have_the_gradients_of_the_whole_batch(
    tiny_config, encoded: EncodedRows, method: str, changes: dict[str, str]
) -> None:
    settings = {**NO_DROPOUT, **changes}
    whole, scale = gradients(tiny_config(method, **settings), encoded)
    parts, scale_of_parts = gradients(tiny_config(method, **settings, accumulate=4), encoded)

    assert scale_of_parts == pytest.approx(scale, rel=1e-5)
    assert whole.keys() == parts.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, rtol=1e-3, atol=2e-6)


@pytest.mark.parametrize(("method", "changes"), METHODS)
def test_parts_train_as_the_whole_batch_does(
    settings_of, method: str, changes: dict[str, str], copy_data: Path, tmp_path: Path
) -> None:
    for parts in ("1", "4"):
        settings = settings_of(method, **NO_DROPOUT, **changes, accumulate=parts)
        train(copy_data, tmp_path / parts, method, settings=settings, device="cpu")

    assert numbers_of(tmp_path / "4") == pytest.approx(
        numbers_of(tmp_path / "1"), rel=5e-3, abs=1e-3
    )


def test_angles_of_parts_join_to_those_of_the_whole() -> None:
    generator = torch.Generator().manual_seed(1)
    cosines = torch.rand(20, 6, generator=generator) * 2 - 1
    labels = torch.randint(6, (20,), generator=generator)
    labels[3:7] = -100
    whole, parts = AdaCos(6), AdaCos(6)
    whole(cosines, labels)
    parts.move(
        Angles.joined([angles(cosines[at::3], labels[at::3], parts.scale) for at in range(3)])
    )

    assert parts.scale.item() == pytest.approx(whole.scale.item(), rel=1e-5)


def test_dropout_differs_between_parts(settings_of, copy_data: Path, tmp_path: Path) -> None:
    seeds = set()
    real = torch.manual_seed

    def note(seed: int) -> torch.Generator:
        seeds.add(seed)
        return real(seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "manual_seed", note)
        settings = settings_of("learned", accumulate="3", steps="4")
        train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")

    assert len(seeds) >= 3 * 4


def test_more_parts_than_rows_are_refused(settings_of, copy_data: Path, tmp_path: Path) -> None:
    settings = settings_of("learned", batch_size="4", accumulate="5")

    with pytest.raises(UsageError, match=r"cannot be shared .* accumulate=5: give a greater"):
        train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")
    assert RunFolder(tmp_path / "run").is_empty()


def torchrun(
    data: Path, run: Path, method: str, settings: dict[str, str], *flags: str
) -> list[str]:
    """Return the command that trains in two processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--master-addr", "127.0.0.1", "--master-port", "0", "--rdzv-backend", "c10d"]
    command += [
        "--rdzv-endpoint",
        "127.0.0.1:0",
        "-m",
        "symshift.cli",
        "train",
        str(data),
        str(run),
    ]
    command += ["--method", method, "--device", "cpu", *flags]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return command


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def said_by(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("method", ["interchangeable", "alpha-renaming"])
def test_two_processes_train_as_one_does(
    settings_of, method: str, copy_data: Path, tmp_path: Path
) -> None:
    settings = settings_of(method, **NO_DROPOUT, threads="1")
    train(copy_data, tmp_path / "one", method, settings=settings, device="cpu")
    said = said_by(torchrun(copy_data, tmp_path / "two", method, settings))

    assert said.count("validation 0") == 2  # two validations, told by the first process alone
    assert numbers_of(tmp_path / "two") == pytest.approx(
        numbers_of(tmp_path / "one"), rel=2e-3, abs=1e-4
    )
    assert json.loads((tmp_path / "two" / "config.json").read_text())["processes"] == 2


@pytest.mark.slow
def test_two_processes_stop_together_and_go_on_exactly(
    settings_of, copy_data: Path, tmp_path: Path
) -> None:
    settings = settings_of("interchangeable", threads="1", steps="600", keep_checkpoints="1")
    settings |= {"log_every": "50", "validate_every": "300", "checkpoint_every": "100"}
    said_by(torchrun(copy_data, tmp_path / "whole", "interchangeable", settings))
    command = torchrun(copy_data, tmp_path / "parts", "interchangeable", settings, "--resume")
    first = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: "\n" in log_text(tmp_path / "parts").partition('"step": 50}')[2])
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=120)
    assert first.returncode != 0
    assert not (tmp_path / "parts" / "model.safetensors").exists()
    assert RunFolder(tmp_path / "parts").steps()
    said = said_by(command)

    assert "going on behind step" in said
    assert sha256_of(tmp_path / "parts/model.safetensors") == sha256_of(
        tmp_path / "whole/model.safetensors"
    )
    assert log_text(tmp_path / "parts") == log_text(tmp_path / "whole")


def log_text(run: Path) -> str:
    return (run / "log.jsonl").read_text() if (run / "log.jsonl").exists() else ""


def wait_for(is_so) -> None:
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
