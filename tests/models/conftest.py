"""Small data sets and models that train in a second."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch

from symshift.data.example import Example, canonical_id_of, row_id_of
from symshift.data.files import sha256_of
from symshift.data.schema import arrow_schema, column_types, to_table
from symshift.data.vocabulary import Window, name_at
from symshift.models.building import build_model
from symshift.models.configuration import RunConfig, split_settings
from symshift.models.encoding import EncodedRows, encode_rows
from symshift.models.model import ReferenceModel
from symshift.models.training.trainer import Trainer
from symshift.tasks.copy import TASK as COPY

TINY = {
    "width": "16",
    "num_heads": "2",
    "ff_width": "16",
    "encoder_layers": "1",
    "decoder_layers": "2",
    "batch_size": "16",
    "lr": "3e-3",
    "warmup_steps": "2",
    "steps": "12",
    "log_every": "5",
    "validate_every": "6",
    "validation_rows": "10",
    "checkpoint_every": "4",
}


BODIES = {
    "encoder-decoder": {"body": "encoder-decoder"},
    "encoder-decoder, copying": {"body": "encoder-decoder", "copy_attention": "true"},
    "decoder-only": {"body": "decoder-only"},
    "decoder-only, copying": {"body": "decoder-only", "copy_attention": "true"},
}


def tiny_texts(**settings: object) -> dict[str, str]:
    """Return the texts of a tiny model's settings; a body without an encoder gets none for it."""
    texts = {**TINY, "vocabulary": "3", "encoder_positions": "sinusoidal"}
    texts |= {key: str(value) for key, value in settings.items()}
    if texts.get("body") == "decoder-only":
        del texts["encoder_layers"], texts["encoder_positions"]
    return texts


def copy_rows(num: int, num_names: int, split: str, *, start: int = 0) -> list[Example]:
    draws = random.Random(f"{num} {num_names} {split} {start}")
    rows = []
    for index in range(num):
        names = [name_at(start + draws.randrange(num_names)) for _ in range(draws.randint(1, 6))]
        text = " ".join(names)
        symbols = tuple(dict.fromkeys(names))
        rows.append(
            Example(
                id=row_id_of("copy", text, split, str(index)),
                task="copy",
                input=text,
                target=text,
                symbols=symbols,
                num_symbols=len(symbols),
                size=len(names),
                canonical_id=canonical_id_of("copy", text),
                split=split,
                perturbation="none",
                shortcuts=(),
                index=index,
                solver="identity 1",
            )
        )
    return rows


def write_dataset(
    folder: Path, window: Window, rows: Sequence[Example], task: str = "copy"
) -> Path:
    (folder / "data").mkdir(parents=True)
    schema = arrow_schema(column_types({}, renamed=False))
    files = []
    for split in ("train", "validation", "test"):
        chosen = [row for row in rows if row.split == split]
        if chosen:
            name = f"data/{split}-00000-of-00001.parquet"
            pq.write_table(to_table(chosen, schema), folder / name)
            path = folder / name
            entry = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
            files.append({"split": split, "path": name, "rows": len(chosen), **entry})
    objects = ("options", "versions", "asked", "rejects", "missing", "hard_rows", "solvers")
    manifest = {
        **{key: {} for key in objects},
        "schema_version": 1,
        "perturbation": "none",
        "seed": 0,
        "columns": [],
        "candidates": 0,
        "message": "",
        "cells": [],
        "task": task,
        "vocabulary": {"window": [window.start, window.stop]},
        "fingerprint": f"of {folder.name}",
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="session")
def tiny_settings() -> dict[str, str]:
    """Return the settings of a model that trains in a second."""
    return TINY


@pytest.fixture(scope="session")
def make_rows() -> Callable[..., list[Example]]:
    """Return what makes rows of copying."""
    return copy_rows


@pytest.fixture(scope="session")
def make_data() -> Callable[..., Path]:
    """Return what writes a data set."""
    return write_dataset


@pytest.fixture(scope="session")
def copy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data set of copying over three names."""
    rows = [
        *copy_rows(200, 3, "train"),
        *copy_rows(20, 3, "validation"),
        *copy_rows(70, 3, "test"),
    ]
    return write_dataset(tmp_path_factory.mktemp("data") / "copy", Window.first(3), rows)


@pytest.fixture(scope="session")
def other_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a test set of copying over names that `copy_data` has not."""
    rows = copy_rows(30, 4, "test", start=3)
    return write_dataset(tmp_path_factory.mktemp("data") / "other", Window(3, 6), rows)


ConfigFactory = Callable[..., RunConfig]


def copy_config(method: str = "interchangeable", **settings: object) -> RunConfig:
    own = {"symbol_dim": "6"} if method == "interchangeable" else {}
    options, train = split_settings(method, tiny_texts(**{**own, **settings}))
    return RunConfig(
        method=method,
        options=options,
        train=train,
        seed=0,
        task="copy",
        task_version=1,
        fixed_tokens=(),
        window=Window.first(3),
        dataset={"name": "copy", "fingerprint": "x"},
    )


@pytest.fixture
def tiny_config() -> ConfigFactory:
    """Return what builds the configuration of a tiny model of copying."""
    return copy_config


@pytest.fixture(params=BODIES.values(), ids=BODIES.keys())
def tiny_model(request: pytest.FixtureRequest, tiny_config: ConfigFactory) -> ReferenceModel:
    """Return an untrained model with random norms and biases, so that its answers vary."""
    model = build_model(tiny_config(**request.param))
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.body.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
        model.loss.scale.fill_(7.0)
    return model.eval()


@pytest.fixture(scope="session", params=BODIES.values(), ids=BODIES.keys())
def half_trained(request: pytest.FixtureRequest) -> ReferenceModel:
    """Return a model that has half learned to copy, so that its answers depend on all it reads."""
    own = {"lr": "1e-2", "steps": "80", "batch_size": "32"}
    config = copy_config("learned", **own, **request.param)
    rows = encode_rows(COPY, config.codec, copy_rows(300, 3, "train"), with_paths=False)
    trainer = Trainer(config, rows, torch.device("cpu"))
    with torch.random.fork_rng():
        for _ in range(config.train.steps):
            trainer.step()
    return trainer.model.eval()


@pytest.fixture
def encoded(tiny_config: ConfigFactory) -> EncodedRows:
    """Return 64 encoded rows of copying."""
    return encode_rows(COPY, tiny_config().codec, copy_rows(64, 3, "test"), with_paths=False)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of entries of an empty cache."""
    monkeypatch.setenv("SYMSHIFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tokens"
