"""The best weights, early stopping, and copies of the log."""

import csv
import json
from pathlib import Path

import pytest
from safetensors import safe_open

from symshift.data.errors import RunInterrupted, UsageError
from symshift.data.files import sha256_of
from symshift.data.vocabulary import Window
from symshift.models.prediction import predict
from symshift.models.training import run
from symshift.models.training.run import train
from symshift.models.training.run_log import measures


def log_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture
def validations(monkeypatch: pytest.MonkeyPatch):
    """Return what sets what validations find, as pairs by step."""

    def set_found(found: dict[int, tuple[float, float]]) -> None:
        class Told(run.Journal):
            def validate(self) -> dict[str, float]:
                correct, loss = found[self._trainer.step_done]
                return {"correct": correct, "loss": loss}

        monkeypatch.setattr(run, "Journal", Told)

    return set_found


def test_best_weights_solve_most_and_then_have_the_least_loss(
    settings_of, validations, copy_data: Path, tmp_path: Path
) -> None:
    validations({2: (0.5, 1.0), 4: (0.6, 1.0), 6: (0.6, 0.9), 8: (0.6, 0.9), 10: (0.1, 0.1)})
    settings = settings_of("learned", steps="10", validate_every="2", checkpoint_every="6")
    train(copy_data, tmp_path / "run", "learned", settings=settings)
    folder = tmp_path / "run" / "checkpoints"

    with safe_open(folder / "best.safetensors", "pt") as file:
        assert json.loads(file.metadata()["found"]) == {"step": 6, "correct": 0.6, "loss": 0.9}
    meta = predict(tmp_path / "run", copy_data, tmp_path / "best.jsonl", checkpoint="best")
    predict(tmp_path / "run", copy_data, tmp_path / "6.jsonl", checkpoint=6)
    assert (meta["checkpoint"], meta["step"]) == ("checkpoints/best.safetensors", 6)
    assert sha256_of(tmp_path / "best.jsonl") == sha256_of(tmp_path / "6.jsonl")


def test_last_is_the_newest_there_is(
    settings_of, stopping_after, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of("learned")
    monkeypatch.setattr(run, "Trainer", stopping_after(7))
    with pytest.raises(RunInterrupted):
        train(copy_data, tmp_path / "run", "learned", settings=settings)
    meta = predict(tmp_path / "run", copy_data, tmp_path / "a.jsonl", checkpoint="last")
    assert (meta["checkpoint"], meta["step"]) == ("checkpoints/step-00000007/model.safetensors", 7)

    monkeypatch.undo()
    train(copy_data, tmp_path / "run", "learned", settings=settings, resume=True)
    meta = predict(tmp_path / "run", copy_data, tmp_path / "b.jsonl", checkpoint="last")
    assert meta["checkpoint"] == "model.safetensors"


FOUND = {2: (0.5, 1.0), 4: (0.4, 1.0), 6: (0.5, 0.9), 8: (0.5, 1.1), 10: (0.5, 0.9), 12: (0.9, 0)}


def test_training_ends_when_patience_does_also_if_interrupted(
    settings_of,
    stopping_after,
    validations,
    copy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    validations(FOUND)
    settings = settings_of("learned", validate_every="2", patience="2", checkpoint_every="3")
    train(copy_data, tmp_path / "whole", "learned", settings=settings)
    with monkeypatch.context() as patch:
        patch.setattr(run, "Trainer", stopping_after(8))
        with pytest.raises(RunInterrupted):
            train(copy_data, tmp_path / "parts", "learned", settings=settings)
    train(copy_data, tmp_path / "parts", "learned", settings=settings, resume=True)

    assert log_of(tmp_path / "whole")[-1] == {"step": 10, "stopped": "patience=2", "best_step": 6}
    assert log_of(tmp_path / "whole") == log_of(tmp_path / "parts")
    assert sha256_of(tmp_path / "whole/model.safetensors") == sha256_of(
        tmp_path / "parts/model.safetensors"
    )
    assert sha256_of(tmp_path / "whole/checkpoints/best.safetensors") == sha256_of(
        tmp_path / "parts/checkpoints/best.safetensors"
    )


def test_patience_is_refused_where_steps_are_to_be_evaluated(
    settings_of, copy_data: Path, tmp_path: Path
) -> None:
    settings = settings_of("forgetting", every="8", patience="1")

    with pytest.raises(UsageError, match="behind steps 8, 12: leave out --set patience"):
        train(copy_data, tmp_path / "run", "forgetting", settings=settings)
    assert not (tmp_path / "run" / "config.json").exists()


def test_copies_of_the_log_hold_the_same_also_of_a_run_that_was_stopped(
    settings_of, stopping_after, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    copies = {"csv": tmp_path / "log.csv", "tensorboard": tmp_path / "events"}
    settings = settings_of("learned", log_every="2")
    with monkeypatch.context() as patch:
        patch.setattr(run, "Trainer", stopping_after(7))
        with pytest.raises(RunInterrupted):
            train(copy_data, tmp_path / "run", "learned", settings=settings, **copies)
    train(copy_data, tmp_path / "run", "learned", settings=settings, resume=True, **copies)

    log = log_of(tmp_path / "run")
    rows = [(line["step"], name, value) for line in log for name, value in measures(line)]
    with copies["csv"].open() as file:
        found = [(int(r["step"]), r["measure"], r["value"]) for r in csv.DictReader(file)]
    assert found == [(step, name, str(value)) for step, name, value in rows]
    assert {"loss", "validation.correct", "collapse.seen.input.cosine"} <= {r[1] for r in rows}
    board = events.EventAccumulator(str(copies["tensorboard"])).Reload()
    losses = [(each.step, each.value) for each in board.Scalars("loss")]
    assert losses == [(step, pytest.approx(value)) for step, name, value in rows if name == "loss"]


def test_a_copy_inside_the_run_is_refused(settings_of, copy_data: Path, tmp_path: Path) -> None:
    settings = settings_of("learned", steps="2")
    train(copy_data, tmp_path / "run", "learned", settings=settings)

    with pytest.raises(UsageError, match="choose another place"):
        train(copy_data, tmp_path / "run", "learned", settings=settings, csv=tmp_path / "run/a.csv")


def test_a_run_that_ended_early_and_lost_its_last_file_ends_at_the_same_step(
    settings_of, validations, copy_data: Path, tmp_path: Path
) -> None:
    validations(FOUND)
    settings = settings_of("learned", validate_every="2", patience="2", checkpoint_every="5")
    train(copy_data, tmp_path / "run", "learned", settings=settings)
    before, log = sha256_of(tmp_path / "run/model.safetensors"), log_of(tmp_path / "run")
    (tmp_path / "run/model.safetensors").unlink()
    train(copy_data, tmp_path / "run", "learned", settings=settings, resume=True)

    assert sha256_of(tmp_path / "run/model.safetensors") == before
    assert log_of(tmp_path / "run") == log
    with pytest.raises(UsageError, match="no checkpoint 12; there are: 5, 10, best, last"):
        predict(tmp_path / "run", copy_data, tmp_path / "p.jsonl", checkpoint=12)
    meta = predict(tmp_path / "run", copy_data, tmp_path / "p.jsonl")
    assert meta["step"] == 10


def test_patience_without_validation_rows_is_refused(
    settings_of, make_rows, make_data, tmp_path: Path
) -> None:
    data = make_data(tmp_path / "data", Window.first(3), make_rows(30, 3, "train"))

    with pytest.raises(UsageError, match="patience needs validation rows"):
        train(data, tmp_path / "run", "learned", settings=settings_of("learned", patience="2"))
    assert not (tmp_path / "run/config.json").exists()


@pytest.mark.parametrize("name", ["run/log.csv", "mine.csv"])
def test_a_copy_that_would_replace_something_is_refused_at_the_first_start(
    settings_of, copy_data: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine.csv").write_text("my,table\n")

    with pytest.raises(UsageError, match=r"choose another place|would be overwritten"):
        train(
            copy_data,
            tmp_path / "run",
            "learned",
            settings=settings_of("learned"),
            csv=tmp_path / name,
        )
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "mine.csv").read_text() == "my,table\n"
