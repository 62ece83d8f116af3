"""What a GPU must do as the CPU does. SYMSHIFT_GPU_TESTS=cpu runs these tests without one."""

import copy
import os
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from symshift.data.files import sha256_of
from symshift.data.plugins import plugin_names
from symshift.models.decoding.answering import Answerer
from symshift.models.encoding import Codec, EncodedRows, encode_rows
from symshift.models.model import ReferenceModel
from symshift.models.training.run import train
from symshift.models.training.trainer import Trainer
from symshift.tasks.copy import TASK as COPY

pytestmark = pytest.mark.gpu
CPU = torch.device("cpu")
METHODS = plugin_names("models.embeddings")
Losses = list[dict[str, float]]


@pytest.fixture
def device() -> torch.device:
    if os.environ.get("SYMSHIFT_GPU_TESTS") == "cpu":
        return CPU
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no CUDA device")
    return torch.device("cuda")


def losses_of(trainer: Trainer, num_steps: int) -> Losses:
    """Return the summaries of the first steps."""
    found = []
    with torch.random.fork_rng(devices=[]):
        for _ in range(num_steps):
            trainer.step()
            found.append(trainer.summary())
    return found


def assert_close(found: Losses, expected: Losses, tolerance: float) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        for name in ("loss", "grad_norm", "scale"):
            assert ours[name] == pytest.approx(theirs[name], rel=tolerance), name


@pytest.mark.parametrize("method", METHODS)
def test_steps_in_float32_have_the_losses_and_gradients_of_the_cpu(
    method: str, tiny_config: Callable, encoded: EncodedRows, device: torch.device
) -> None:
    own = {"every": 4} if method == "forgetting" else {}
    config = tiny_config(method, precision="float32", **own)

    found = losses_of(Trainer(config, encoded, device), 6)

    assert_close(found, losses_of(Trainer(config, encoded, CPU), 6), 1e-3)


@pytest.mark.parametrize("body", ["encoder-decoder", "decoder-only"])
def test_bfloat16_learns_what_float32_learns(
    body: str, tiny_config: Callable, make_rows: Callable, device: torch.device
) -> None:
    settings = {"body": body, "steps": 120, "batch_size": 32, "lr": 1e-2, "width": 32}
    last = {}
    for precision in ("bfloat16", "float32"):
        config = tiny_config("learned", precision=precision, **settings)
        rows = encode_rows(COPY, config.codec, make_rows(300, 3, "train"), with_paths=False)
        trainer = Trainer(config, rows, device)
        losses = [found["loss"] for found in losses_of(trainer, 120)]
        last[precision] = statistics.mean(losses[-20:])

        assert {p.dtype for p in trainer.model.parameters()} == {torch.float32}
        assert last[precision] < 0.7 * losses[0]
    assert last["bfloat16"] == pytest.approx(last["float32"], rel=0.15)


@pytest.mark.parametrize("beam", [1, 3])
def test_predictions_in_float32_are_those_of_the_cpu(
    beam: int, half_trained: ReferenceModel, tiny_config: Callable, make_rows: Callable, device
) -> None:
    codec: Codec = tiny_config("learned").codec
    rows = encode_rows(COPY, codec, make_rows(200, 3, "test"), with_paths=False)

    def answers(where: torch.device) -> dict[int, str]:
        model = copy.deepcopy(half_trained).to(where)
        answerer = Answerer(model=model, task=COPY, codec=codec, dtype=torch.float32)
        with torch.no_grad():
            table = model.rows(3, torch.Generator())
            batches = answerer.answers(table, rows.to(where), beam=beam, batch_size=64)
            return dict(pair for batch in batches for pair in batch)

    expected, found = answers(CPU), answers(device)
    # Two answers that are equally good to float32's precision may change places.
    num_equal = sum(found[number] == text for number, text in expected.items())
    assert num_equal >= 0.99 * len(expected)


def test_compiled_model_has_the_losses_of_the_plain_one(
    tiny_config: Callable, encoded: EncodedRows, device: torch.device
) -> None:
    settings = {"precision": "float32", "batch_size": 24}
    compiled = Trainer(tiny_config(compile="true", **settings), encoded, device)

    found = losses_of(compiled, 5)

    assert_close(found, losses_of(Trainer(tiny_config(**settings), encoded, device), 5), 1e-3)


def test_deterministic_runs_end_with_equal_weights(
    tiny_settings: dict[str, str], copy_data: Path, tmp_path: Path, device: torch.device
) -> None:
    settings = {**tiny_settings, "symbol_dim": "6", "dropout": "0.1", "deterministic": "true"}
    hashes = set()
    for name in ("one", "two"):
        path = tmp_path / name
        train(copy_data, path, "interchangeable", settings=settings, device=device.type)
        hashes.add(sha256_of(path / "model.safetensors"))

    assert len(hashes) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_step_does_not_wait_for_the_device(
    method: str, tiny_config: Callable, encoded: EncodedRows, device: torch.device
) -> None:
    own = {"every": 4} if method == "forgetting" else {}
    trainer = Trainer(tiny_config(method, **own), encoded, device)
    with torch.random.fork_rng(devices=[]):
        trainer.step()
        if device.type == "cuda":
            torch.cuda.set_sync_debug_mode("error")
        try:
            trainer.step()
        finally:
            if device.type == "cuda":
                torch.cuda.set_sync_debug_mode("default")
