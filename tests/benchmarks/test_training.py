import importlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from symshift.models.batches import batch_of
from symshift.models.codes import randomizers
from symshift.models.encoding import PAD, EncodedRows, encode_rows
from symshift.models.positions.tree import unpacked
from symshift.tasks.ltl import TASK

CPU = torch.device("cpu")
EXACT = {"batch_size": "8", "dropout": "0", "warmup_steps": "2", "steps": "20"}
PAIRS = [
    ("a U b", "b; cycle{1}"),
    ("! ( a & X c )", "cycle{!a}"),
    ("X ( X ( b U ( c & a ) ) )", "1; 1; a & c; cycle{1}"),
    ("a", "a; cycle{1}"),
    ("( a U b ) & ( X ( c U d ) )", "b; d; cycle{1}"),
    ("! e", "!e; cycle{1}"),
    ("X e", "1; e; cycle{a & !b}"),
    ("( ( a & b ) & c ) & ( X ( X ( X d ) ) )", "a & b & c; 1; 1; d; cycle{1}"),
]
ROWS = [{"input": formula, "target": trace} for formula, trace in PAIRS]


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return the benchmark, which is no part of the package."""
    folder = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("training")
    for name, module in [*sys.modules.items()]:
        if Path(getattr(module, "__file__", None) or "").parent == folder:
            del sys.modules[name]


def encoded(training: ModuleType, config, rows=ROWS) -> EncodedRows:
    return encode_rows(TASK, config.codec, rows, with_paths=True)


def test_plain_way_has_our_loss_scale_and_gradient_at_every_step(
    training: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def draw(num_codes: int, dim: int, generator: torch.Generator) -> torch.Tensor:
        drawn.append(randomizers.normal(num_codes, dim, generator).sign())
        return drawn[-1]

    monkeypatch.setitem(randomizers.RANDOMIZERS, "hypercube", draw)
    config = training.configuration_of("small", EXACT)
    ours, plain = training.trainers_of(config, encoded(training, config), CPU)
    plain.model.codes = lambda: drawn[-1]

    with torch.random.fork_rng(devices=[]):
        for _ in range(6):
            ours.step()
            plain.step()
            found = ours.summary()

            assert plain.loss.item() == pytest.approx(found["loss"], rel=1e-4)
            assert plain.scale.item() == pytest.approx(found["scale"], rel=1e-4)
            assert plain.norm.item() == pytest.approx(found["grad_norm"], rel=1e-3)


def test_plain_codes_are_different_vertices(training: ModuleType) -> None:
    config = training.configuration_of("small", {})
    _, plain = training.trainers_of(config, encoded(training, config), CPU)
    random.seed(3)
    codes = {tuple(code) for _ in range(200) for code in plain.model.codes().tolist()}
    one = plain.model.codes()

    assert len(codes) == 2**5
    assert len({tuple(code) for code in one.tolist()}) == len(one) == training.NUM_SYMBOLS


def test_plain_rows_hold_what_ours_are_padded_from(training: ModuleType) -> None:
    config = training.configuration_of("small", {})
    rows = encoded(training, config)
    from plain_training import collated, plain_rows

    source, target, branches = collated(plain_rows(rows), config.train.width)
    batch = batch_of(rows, torch.arange(len(rows)).numpy())

    assert torch.equal(source, batch.source)
    assert torch.equal(target, batch.target)
    assert torch.equal(branches, unpacked(batch.paths, config.train.width))
    assert training.num_tokens(rows) == (source != PAD).sum() + (target[:, 1:] != PAD).sum()


def test_stated_arithmetic_is_what_an_instrument_counts(training: ModuleType) -> None:
    config = training.configuration_of("small", EXACT)
    rows = encoded(training, config, [ROWS[4]] * 8)
    _, plain = training.trainers_of(config, rows, CPU)
    counter = FlopCounterMode(display=False)
    with torch.random.fork_rng(devices=[]), counter:
        plain.step()
    num_answers = (rows.target.lengths - 1).sum()
    # The plain way computes scores for pad and start too.
    unused = 3 * 2 * 2 * config.train.width * num_answers

    assert counter.get_total_flops() - unused == training.model_flops(config, rows)


@pytest.mark.spot
def test_benchmark_prints_what_it_measured(
    training: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--shape", "small", "--batch-size", "4", "--batches", "2", "--rounds", "2"]
    monkeypatch.setattr(sys, "argv", ["training.py", *small, "--device", "cpu", "--json"])
    training.main()
    found = json.loads(capsys.readouterr().out)

    assert found["tokens_per_second"].keys() == {"ours", "plain"}
    assert 0 < found["times"]["low"] <= found["times"]["median"] <= found["times"]["high"]
    assert 0 < found["utilisation"]["ours"] < 1
