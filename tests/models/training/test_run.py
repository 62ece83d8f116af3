import functools
import json
import shutil
import signal
from pathlib import Path

import pytest
import torch

from symshift.data.errors import DataError, RunInterrupted, SymshiftError, UsageError
from symshift.data.files import sha256_of
from symshift.data.plugins import plugin_names
from symshift.data.vocabulary import Window
from symshift.models.configuration import TrainConfig
from symshift.models.prediction import predict
from symshift.models.training import run
from symshift.models.training.checkpoints import RunFolder
from symshift.models.training.optimizing import learning_rate
from symshift.models.training.run import train
from symshift.models.training.trainer import Trainer

METHODS = plugin_names("models.embeddings")


def log_of(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("method", [*METHODS, "alpha-renaming data"])
def test_interrupted_and_resumed_run_ends_with_the_same_weights_and_log(
    settings_of,
    stopping_after,
    method: str,
    copy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method, _, form = method.partition(" ")
    settings = settings_of(method, **({"form": form} if form else {}))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(copy_data, whole, method, settings=settings, device="cpu", seed=3)

    for step, number in ((3, signal.SIGINT), (7, signal.SIGTERM)):
        with monkeypatch.context() as patch:
            patch.setattr(run, "Trainer", stopping_after(step, number))
            with pytest.raises(RunInterrupted, match=f"behind step {step} of 12.*--resume"):
                train(
                    copy_data, parts, method, settings=settings, device="cpu", seed=3, resume=True
                )
    train(copy_data, parts, method, settings=settings, device="cpu", seed=3, resume=True)

    assert sha256_of(parts / "model.safetensors") == sha256_of(whole / "model.safetensors")
    assert log_of(parts) == log_of(whole)


def test_run_that_was_killed_goes_on_from_its_last_checkpoint(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(Trainer):
        def step(self) -> None:
            if self.step_done == 10:
                raise MemoryError
            super().step()

    settings = settings_of("learned")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(copy_data, whole, "learned", settings=settings, device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(run, "Trainer", Dying)
        with pytest.raises(MemoryError):
            train(copy_data, parts, "learned", settings=settings, device="cpu")
    train(copy_data, parts, "learned", settings=settings, device="cpu", resume=True)

    assert sha256_of(parts / "model.safetensors") == sha256_of(whole / "model.safetensors")
    assert log_of(parts) == log_of(whole)


@pytest.mark.parametrize("stop", [7, 8, 9])
def test_weights_of_phases_are_kept_and_the_same_after_an_interruption(
    settings_of,
    stopping_after,
    copy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stop: int,
) -> None:
    # The last reset is behind step 12: it and 10 steps on are kept, whatever checkpoints go.
    changes = {"every": "12", "steps": "24", "checkpoint_every": "3", "keep_checkpoints": "1"}
    settings = settings_of("forgetting", **changes)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(copy_data, whole, "forgetting", settings=settings, device="cpu")
    for step in (stop, stop + 4, stop + 14):
        with monkeypatch.context() as patch:
            patch.setattr(run, "Trainer", stopping_after(step, signal.SIGINT))
            with pytest.raises(RunInterrupted):
                train(copy_data, parts, "forgetting", settings=settings, device="cpu", resume=True)
    train(copy_data, parts, "forgetting", settings=settings, device="cpu", resume=True)

    names = ["checkpoints/step-00000012.safetensors", "checkpoints/step-00000022.safetensors"]
    for name in ("model.safetensors", *names):
        assert sha256_of(parts / name) == sha256_of(whole / name)
    assert log_of(parts) == log_of(whole)
    assert RunFolder(whole).steps() == [12, 21, 22]
    phases = [line["phase"] for line in log_of(whole) if "validation" in line]
    assert phases == ["reset+6", "reset+0", "reset+6", "reset+12"]


def test_run_that_died_while_it_kept_weights_keeps_them_in_the_end(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise MemoryError

    settings = settings_of("forgetting", every="8", checkpoint_every="4")
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "keep_weights", die)
        with pytest.raises(MemoryError):
            train(copy_data, tmp_path, "forgetting", settings=settings, device="cpu")
    train(copy_data, tmp_path, "forgetting", settings=settings, device="cpu", resume=True)

    assert (tmp_path / "checkpoints" / "step-00000008.safetensors").is_file()


def test_seeds_give_other_weights(settings_of, copy_data: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        settings = settings_of("learned", steps="2")
        train(copy_data, tmp_path / str(seed), "learned", settings=settings, seed=seed)

    assert sha256_of(tmp_path / "0/model.safetensors") != sha256_of(
        tmp_path / "1/model.safetensors"
    )


def test_training_leaves_the_global_stream(settings_of, copy_data: Path, tmp_path: Path) -> None:
    before = torch.get_rng_state()
    train(copy_data, tmp_path / "run", "learned", settings=settings_of("learned", steps="2"))

    assert torch.equal(before, torch.get_rng_state())


def test_log_holds_chance_losses_and_validation(
    settings_of, copy_data: Path, tmp_path: Path
) -> None:
    train(copy_data, tmp_path / "run", "learned", settings=settings_of("learned"))
    log = log_of(tmp_path / "run")

    assert log[0]["step"] == 0
    assert log[0]["chance"].keys() == {"majority"}
    assert [line["step"] for line in log if "loss" in line] == [5, 10, 12]
    assert [line["step"] for line in log if "validation" in line] == [6, 12]
    assert log[-1]["validation"].keys() == {"loss", "correct"}


def test_run_holds_only_json_and_safetensors(settings_of, copy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(copy_data, run, "learned", settings=settings_of("learned"))
    visible = {p.name for p in run.rglob("*") if p.is_file() and not p.name.startswith(".")}

    assert visible == {
        *("config.json", "model.safetensors", "log.jsonl"),
        *("optimizer.safetensors", "state.json", "best.safetensors"),
    }


def test_finished_run_is_left_as_it_is(
    settings_of, copy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    for resume in (False, True):
        train(copy_data, run, "learned", settings=settings_of("learned"), resume=resume)

    assert "nothing to do" in capsys.readouterr().err


def test_folder_of_another_run_is_refused(settings_of, copy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(copy_data, run, "learned", settings=settings_of("learned", steps="2"))

    with pytest.raises(UsageError, match=r"another run \(steps 2, not 3\)"):
        train(copy_data, run, "learned", settings=settings_of("learned", steps="3"), resume=True)


def test_a_data_set_may_move_to_another_folder(
    settings_of, copy_data: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(copy_data, moved)
    for data in (copy_data, moved):
        train(data, tmp_path / "run", "learned", settings=settings_of("learned"), resume=True)


def test_unfinished_run_is_not_started_again_by_accident(
    settings_of, copy_data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    train(copy_data, run, "learned", settings=settings_of("learned", steps="2"))
    (run / "model.safetensors").unlink()

    with pytest.raises(UsageError, match="add --resume"):
        train(copy_data, run, "learned", settings=settings_of("learned", steps="2"))


def test_folder_with_other_files_is_refused(settings_of, copy_data: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(SymshiftError, match=r"no config\.json"):
        train(copy_data, tmp_path, "learned", settings=settings_of("learned"), resume=True)


def test_data_without_validation_rows_can_be_trained_on(
    settings_of, make_rows, make_data, tmp_path: Path
) -> None:
    data = make_data(tmp_path / "data", Window.first(3), make_rows(30, 3, "train"))
    train(data, tmp_path / "run", "learned", settings=settings_of("learned"))

    assert all("validation" not in line for line in log_of(tmp_path / "run"))


def test_loss_that_is_no_number_stops_the_run(settings_of, copy_data: Path, tmp_path: Path) -> None:
    settings = settings_of("learned", lr="1e30", clip_norm="1e30")

    with pytest.raises(SymshiftError, match="lower --set lr"):
        train(copy_data, tmp_path / "run", "learned", settings=settings)


def test_copying_is_learned(settings_of, copy_data: Path, tmp_path: Path) -> None:
    settings = {
        **settings_of("learned"),
        **{"width": "32", "ff_width": "32", "steps": "260", "validation_rows": "20"},
        **{"batch_size": "50", "lr": "1e-2", "dropout": "0", "validate_every": "260"},
    }
    train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")

    assert log_of(tmp_path / "run")[-1]["validation"]["correct"] >= 0.6


def test_bfloat16_trains_and_answers(settings_of, copy_data: Path, tmp_path: Path) -> None:
    settings = settings_of("interchangeable", precision="bfloat16")
    train(copy_data, tmp_path / "run", "interchangeable", settings=settings, device="cpu")
    predict(tmp_path / "run", copy_data, tmp_path / "p", device="cpu", precision="bfloat16", beam=2)

    assert len((tmp_path / "p").read_text().splitlines()) == 70


def test_learning_rate_warms_up_and_falls_to_zero() -> None:
    config = TrainConfig(steps=100, warmup_steps=10, lr=0.5)
    rates = [learning_rate(step, config) for step in range(1, 101)]

    assert rates[4] == pytest.approx(0.25)
    assert max(rates) == rates[9] == 0.5
    assert rates[54] == pytest.approx(0.25)
    assert rates[-1] == pytest.approx(0, abs=1e-12)


@pytest.fixture
def alone(settings_of) -> dict[str, str]:
    """Return the settings of a decoder-only body that copies."""
    settings = settings_of("learned", body="decoder-only", copy_attention="true", dropout="0.1")
    del settings["encoder_layers"]
    return settings


def test_decoder_only_run_resumes_exactly_and_predicts(
    alone: dict[str, str],
    stopping_after,
    copy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(copy_data, whole, "learned", settings=alone, device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(run, "Trainer", stopping_after(5, signal.SIGINT))
        with pytest.raises(RunInterrupted):
            train(copy_data, parts, "learned", settings=alone, device="cpu")
    train(copy_data, parts, "learned", settings=alone, device="cpu", resume=True)
    meta = predict(parts, copy_data, tmp_path / "answers.jsonl", device="cpu")

    assert sha256_of(parts / "model.safetensors") == sha256_of(whole / "model.safetensors")
    assert meta["parameters"]["copy_attention"] == 2 * 16 * 16


def test_rows_beyond_learned_positions_are_refused_before_anything_is_written(
    alone: dict[str, str], copy_data: Path, tmp_path: Path
) -> None:
    settings = {**alone, "decoder_positions": "learned", "max_positions": "20"}
    with pytest.raises(UsageError, match=r"has learned 20: .* max_positions="):
        train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")

    assert RunFolder(tmp_path / "run").is_empty()


def test_a_method_that_cannot_make_its_rows_leaves_no_run_behind(copy_data, tmp_path, settings_of):
    wrong = settings_of("interchangeable", symbol_dim="1", randomizer="hypercube")
    with pytest.raises(UsageError):
        train(copy_data, tmp_path / "run", "interchangeable", settings=wrong, device="cpu")

    right = settings_of("interchangeable", symbol_dim="4")
    train(copy_data, tmp_path / "run", "interchangeable", settings=right, device="cpu")
    assert (tmp_path / "run" / "model.safetensors").is_file()


@pytest.mark.slow
def test_compiled_model_trains_as_the_plain_one_does(
    settings_of, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is compiled is captured, and run without generated code, which would take minutes.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    for compiled in ("false", "true"):
        own = {"compile": compiled, "dropout": "0", "steps": "6", "decoder_layers": "1"}
        settings = settings_of("interchangeable", **own)
        train(copy_data, tmp_path / compiled, "interchangeable", settings=settings, device="cpu")

    plain, fast = (log_of(tmp_path / name)[-1]["validation"] for name in ("false", "true"))
    assert fast["loss"] == pytest.approx(plain["loss"], rel=1e-3)


def test_parts_with_dropout_and_adacos_resume_exactly(
    settings_of, stopping_after, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of("interchangeable", accumulate="2", dropout="0.2")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(copy_data, whole, "interchangeable", settings=settings, device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(run, "Trainer", stopping_after(5))
        with pytest.raises(RunInterrupted):
            train(copy_data, parts, "interchangeable", settings=settings, device="cpu")
    train(copy_data, parts, "interchangeable", settings=settings, device="cpu", resume=True)

    assert sha256_of(parts / "model.safetensors") == sha256_of(whole / "model.safetensors")
    assert log_of(parts) == log_of(whole)


def test_lines_of_the_log_that_are_lost_are_told(
    settings_of, copy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of("learned")
    train(copy_data, tmp_path / "run", "learned", settings=settings)
    log = tmp_path / "run" / "log.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    for text in ("".join([*lines[:2], "{broken\n", *lines[3:]]), None):
        (tmp_path / "run/model.safetensors").unlink()
        log.unlink() if text is None else log.write_text(text)
        train(copy_data, tmp_path / "run", "learned", settings=settings, resume=True)

        assert "lines before step 8 are missing or broken" in capsys.readouterr().err


def test_damaged_checkpoints_are_told_and_not_answered_with(
    settings_of, copy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of("learned")
    train(copy_data, tmp_path / "run", "learned", settings=settings)
    weights = tmp_path / "run/checkpoints/step-00000008/model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    with pytest.raises(DataError, match="not as it was written"):
        predict(tmp_path / "run", copy_data, tmp_path / "p.jsonl", checkpoint=8)
    before = sha256_of(tmp_path / "run/model.safetensors")
    (tmp_path / "run/model.safetensors").unlink()
    train(copy_data, tmp_path / "run", "learned", settings=settings, resume=True)

    assert "checkpoint of step 8 is damaged" in capsys.readouterr().err
    assert sha256_of(tmp_path / "run/model.safetensors") == before
