"""Collapse over the training, against plain loops and on a run."""

import json

import numpy as np
import pytest
import torch

from symshift.data.errors import DataError
from symshift.metrics.collapse import collapse_of
from symshift.models.batches import batch_of
from symshift.models.building import build_model, table_shape
from symshift.models.collapse import draw_log
from symshift.models.training.monitor import Monitor, is_monitored
from symshift.models.training.run import train


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_steps_are_evenly_spread_in_their_logarithm() -> None:
    steps = [step for step in range(30_000) if is_monitored(step)]

    assert steps == [0, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000]


def monitored(tiny_config, encoded, name="learned", **options):
    """Return the measures of an untrained model with rows for 8 names, 3 of which are seen."""
    config = tiny_config(name, vocabulary=8, **options)
    model = build_model(config)
    batch = batch_of(encoded, np.arange(20))
    monitor = Monitor(shape=table_shape(config), batch=batch)
    rows = model.rows(8, stream())
    return monitor.measure(model, rows), model, rows, batch


def test_sets_are_the_seen_and_the_unseen_rows(tiny_config, encoded) -> None:
    found, _, rows, _ = monitored(tiny_config, encoded)

    assert found["seen"]["input"] == collapse_of(rows.input[3:6].detach().numpy()).to_plain()
    assert found["unseen"]["input"] == collapse_of(rows.input[6:].detach().numpy()).to_plain()
    assert "output" not in found["seen"]


def test_rows_that_answer_are_told_apart_where_the_head_is_untied(tiny_config, encoded) -> None:
    found, _, rows, _ = monitored(tiny_config, encoded, "learned-untied")
    expected = collapse_of(rows.answers[4:].detach().numpy()).to_plain()

    assert found["unseen"]["output"] == expected
    assert found["unseen"]["output"] != found["unseen"]["input"]


@pytest.mark.parametrize(("name", "first"), [("seen", 3), ("unseen", 6)])
def test_margin_and_mass_are_those_of_a_plain_loop(tiny_config, encoded, name, first) -> None:
    found, model, rows, batch = monitored(tiny_config, encoded)
    ids = range(3, 6) if name == "seen" else range(6, 11)
    source, target = (
        torch.where(part >= 3, part - 3 + first, part) for part in (batch.source, batch.target)
    )
    logits = model.eval().answer_logits(batch._replace(source=source, target=target), rows).detach()
    margins, masses = [], []
    for b, t in np.ndindex(*target[:, 1:].shape):
        label = int(target[b, t + 1])
        if label >= 3:
            scores = {i: float(logits[b, t, i - 2]) for i in ids}
            margins.append(scores[label] - max(v for i, v in scores.items() if i != label))
            masses.append(float(logits[b, t].softmax(0)[[i - 2 for i in ids]].sum()))

    assert found[name]["margin"] == pytest.approx(np.mean(margins), abs=1e-5)
    assert found[name]["mass"] == pytest.approx(np.mean(masses), abs=1e-5)


def test_one_unseen_row_is_no_set_and_drawn_rows_are_all_seen(tiny_config, encoded) -> None:
    config = tiny_config("learned", vocabulary=4)
    model = build_model(config)
    monitor = Monitor(shape=table_shape(config), batch=None)
    assert set(monitor.measure(model, model.rows(4, stream()))) == {"seen"}

    config = tiny_config("interchangeable")
    model = build_model(config)
    monitor = Monitor(shape=table_shape(config), batch=None)
    assert set(monitor.measure(model, model.rows(3, stream()))) == {"seen"}


def test_a_run_logs_it_and_the_log_can_be_drawn(copy_data, tmp_path, tiny_settings) -> None:
    settings = {**tiny_settings, "vocabulary": "8"}
    train(copy_data, tmp_path / "run", "learned", settings=settings, device="cpu")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").open()]
    looks = {line["step"]: line["collapse"] for line in lines if "collapse" in line}

    assert list(looks) == [0, 12]
    assert set(looks[12]["unseen"]) == {"input", "margin", "mass"}
    assert looks[0] != looks[12]
    picture = draw_log(tmp_path / "run" / "log.jsonl", tmp_path / "over-time.json")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_log_that_is_none_or_tells_nothing_is_refused(tmp_path) -> None:
    log = tmp_path / "log.jsonl"
    for text, message in (('{"step": 0}\n', "nothing of collapse"), ("[]\n", "line 1")):
        log.write_text(text)
        with pytest.raises(DataError, match=message):
            draw_log(log, tmp_path / "x.json")
