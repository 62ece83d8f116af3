import json
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from symshift.data.errors import DataError, SymshiftError, UsageError
from symshift.data.plugins import load_task
from symshift.data.vocabulary import Window
from symshift.metrics.entry_views import about
from symshift.metrics.leaderboard import kind_of
from symshift.metrics.systems import read_system
from symshift.models.model import ReferenceModel
from symshift.models.prediction import predict
from symshift.models.training.run import train


@pytest.fixture(scope="session")
def settings(tiny_settings: dict[str, str]) -> dict[str, str]:
    return {**tiny_settings, "steps": "8"}


@pytest.fixture(scope="session")
def learned_run(settings, copy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "learned"
    train(copy_data, run, "learned", settings=settings, device="cpu")
    return run


@pytest.fixture(scope="session")
def interchangeable_run(
    settings, copy_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    run = tmp_path_factory.mktemp("runs") / "interchangeable"
    own = {"symbol_dim": "6", "lr": "1e-2", "steps": "60", "checkpoint_every": "20"}
    train(copy_data, run, "interchangeable", settings={**settings, **own}, device="cpu")
    return run


def lines_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_predictions_have_the_rows_ids_in_order(
    make_rows, learned_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.jsonl"
    predict(learned_run, copy_data, out, device="cpu")

    assert [line["id"] for line in lines_of(out)] == [row.id for row in make_rows(70, 3, "test")]
    assert all(line.keys() == {"id", "prediction"} for line in lines_of(out))


def test_file_beside_says_how_they_came(
    interchangeable_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.jsonl"
    meta = predict(
        interchangeable_run,
        *(copy_data, out),
        **{"table_seed": 4, "checkpoint": 20, "command": "symshift predict", "batch_size": 9},
    )

    assert meta == json.loads((tmp_path / "p.jsonl.meta.json").read_text())
    assert meta["method"] == "interchangeable"
    assert meta["table_seed"] == 4
    assert meta["checkpoint"] == "checkpoints/step-00000020/model.safetensors"
    assert meta["command"] == "symshift predict"
    assert (meta["batch_size"], meta["dtype"], meta["beam"]) == (9, "float32", 1)
    parameters = meta["parameters"]
    assert parameters["input"] == (3 + 1) * (16 - 6)
    assert parameters["output"] == 0
    assert parameters["trained"] == parameters["input"] + parameters["body"]


def test_same_command_gives_the_same_bytes(
    interchangeable_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    texts = []
    for name in ("one", "two"):
        predict(interchangeable_run, copy_data, tmp_path / name, device="cpu", table_seed=1)
        texts.append([(tmp_path / f"{name}{end}").read_bytes() for end in ("", ".meta.json")])

    predict(interchangeable_run, copy_data, tmp_path / "other", device="cpu", table_seed=2)

    assert texts[0] == texts[1]
    assert (tmp_path / "other").read_bytes() != texts[0][0]


def test_each_row_gets_its_own_answer(
    make_data, make_rows, interchangeable_run: Path, tmp_path: Path
) -> None:
    rows = make_rows(40, 3, "test")
    answers = []
    for name, part in (("all", rows), ("reversed", rows[::-1]), ("one", rows[7:8])):
        data = make_data(tmp_path / name, Window.first(3), part)
        predict(interchangeable_run, data, tmp_path / f"{name}.jsonl", device="cpu")
        answers.append(
            {line["id"]: line["prediction"] for line in lines_of(tmp_path / f"{name}.jsonl")}
        )

    assert answers[0] == answers[1]
    assert answers[2].items() <= answers[0].items()
    assert len(set(answers[0].values())) > 5


@pytest.mark.parametrize("beam", [1, 3])
def test_batch_size_changes_no_prediction(
    interchangeable_run: Path, copy_data: Path, tmp_path: Path, beam: int
) -> None:
    for size in (1, 7, 64):
        out = tmp_path / str(size)
        predict(interchangeable_run, copy_data, out, device="cpu", batch_size=size, beam=beam)

    assert lines_of(tmp_path / "1") == lines_of(tmp_path / "7") == lines_of(tmp_path / "64")


def test_names_without_rows_are_refused_with_the_remedy(
    learned_run: Path, other_names: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"rows for a to c: train it with --set vocabulary="):
        predict(learned_run, other_names, tmp_path / "p.jsonl", device="cpu")
    assert not list(tmp_path.iterdir())


def test_learned_model_with_rows_for_more_names_answers_in_them(
    settings, copy_data: Path, other_names: Path, tmp_path: Path
) -> None:
    wide = {**settings, "vocabulary": "7"}
    train(copy_data, tmp_path / "run", "learned", settings=wide, device="cpu")
    predict(tmp_path / "run", other_names, tmp_path / "p.jsonl", device="cpu")

    assert len(lines_of(tmp_path / "p.jsonl")) == 30


def test_drawn_rows_stand_for_any_names(
    make_data, make_rows, interchangeable_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    # The same problems in names that are three places on get the same answers, three places on.
    rows = make_rows(40, 3, "test")
    shift = str.maketrans("abc", "def")
    moved = [
        row.__class__.from_columns({**row, "input": row.input.translate(shift)}) for row in rows
    ]
    for name, window, part in (("here", Window(0, 2), rows), ("there", Window(3, 5), moved)):
        data = make_data(tmp_path / name, window, part)
        predict(interchangeable_run, data, tmp_path / f"{name}.jsonl", device="cpu")
    here, there = (lines_of(tmp_path / f"{name}.jsonl") for name in ("here", "there"))

    assert [a["prediction"].translate(shift) for a in here] == [b["prediction"] for b in there]
    assert len({a["prediction"] for a in here}) > 1


def test_alpha_renaming_refuses_more_names_than_its_pool(
    settings, copy_data: Path, other_names: Path, tmp_path: Path
) -> None:
    train(copy_data, tmp_path / "run", "alpha-renaming", settings=settings, device="cpu")

    with pytest.raises(UsageError, match=r"4 names, but the pool has 3 rows.*--set pool=4"):
        predict(tmp_path / "run", other_names, tmp_path / "p.jsonl", device="cpu")


def test_data_of_another_task_is_refused(
    make_data, make_rows, learned_run: Path, tmp_path: Path
) -> None:
    data = make_data(tmp_path / "d", Window.first(3), make_rows(3, 3, "test"), task="ltl")

    with pytest.raises(UsageError, match="of task ltl, the model was trained on copy"):
        predict(learned_run, data, tmp_path / "p.jsonl", device="cpu")


@pytest.mark.parametrize("size", ["train.decoder_layers", "train.width", "train.vocabulary"])
def test_weights_of_another_configuration_are_refused(
    learned_run: Path, copy_data: Path, tmp_path: Path, size: str
) -> None:
    run = tmp_path / "run"
    copytree(learned_run, run)
    config = json.loads((run / "config.json").read_text())
    config["train"][size.removeprefix("train.")] *= 2
    (run / "config.json").write_text(json.dumps(config))

    with pytest.raises(DataError, match=r"model\.safetensors: tensor \S+ is .* does not fit"):
        predict(run, copy_data, tmp_path / "p.jsonl", device="cpu")


def test_configuration_without_a_model_is_refused(
    learned_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    copytree(learned_run, run)
    text = (run / "config.json").read_text()
    (run / "config.json").write_text(text.replace('"rotary"', '"rotory"'))

    with pytest.raises(DataError, match=r"run's config\.json: .* Did you mean 'rotary'"):
        predict(run, copy_data, tmp_path / "p.jsonl", device="cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.clone().fill_(torch.nan), "holds NaN or infinite values"),
        (lambda t: t.index_fill(0, torch.tensor([1]), -torch.inf), "holds NaN or infinite values"),
        (lambda t: t.double(), r"is float64\[6, 16\], not float32\[6, 16\]"),
        (lambda t: t[:-1], r"is float32\[5, 16\], not float32\[6, 16\]"),
    ],
)
def test_broken_weights_are_refused_by_file_and_tensor(
    learned_run: Path, copy_data: Path, tmp_path: Path, change, message: str
) -> None:
    run = tmp_path / "run"
    copytree(learned_run, run)
    weights = load_file(run / "model.safetensors")
    with safe_open(run / "model.safetensors", "pt") as file:
        notes = file.metadata()
    weights["method.rows"] = change(weights["method.rows"]).contiguous()
    save_file(weights, run / "model.safetensors", notes)

    with pytest.raises(DataError, match=rf"run/model\.safetensors: tensor method\.rows {message}"):
        predict(run, copy_data, tmp_path / "p.jsonl", device="cpu")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"beam": 0}, "--beam 0: keep at least 1"),
        ({"beam": 10**9}, "--beam 1000000000: keep .* at most 1024"),
        ({"batch_size": 0}, "--batch-size 0: "),
    ],
)
def test_absurd_sizes_are_refused(
    learned_run: Path, copy_data: Path, tmp_path: Path, sizes: dict[str, int], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        predict(learned_run, copy_data, tmp_path / "p.jsonl", device="cpu", **sizes)


@pytest.mark.parametrize(
    "fault", [lambda: torch.empty(1 << 55), lambda: bytearray(1 << 60), RuntimeError("no")]
)
def test_short_memory_names_what_to_make_smaller_and_other_errors_stay(
    learned_run: Path, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault
) -> None:
    def step(*_: object) -> None:
        if isinstance(fault, RuntimeError):
            raise fault
        fault()

    monkeypatch.setattr(ReferenceModel, "step", step)
    error, message = SymshiftError, r"out of memory with --batch-size 9 and --beam 3: "
    if isinstance(fault, RuntimeError):
        error, message = RuntimeError, "^no$"
    with pytest.raises(error, match=message):
        predict(learned_run, copy_data, tmp_path / "p.jsonl", device="cpu", beam=3, batch_size=9)
    assert not list(tmp_path.iterdir())


def test_constrained_answers_are_well_formed_and_another_system(
    learned_run: Path, copy_data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.jsonl"
    free = predict(learned_run, copy_data, tmp_path / "free.jsonl", device="cpu")
    meta = predict(learned_run, copy_data, out, device="cpu", constrained=True)

    assert all(line["prediction"] for line in lines_of(out))
    assert (free["constrained"], free["name"]) == (False, "learned")
    assert (meta["constrained"], meta["name"]) == (True, "learned, constrained")
    assert kind_of(read_system(out)) != kind_of(read_system(tmp_path / "free.jsonl"))
    assert "only well-formed answers written" in list(about(read_system(out)))


def test_task_without_a_grammar_has_no_constrained_answers(
    learned_run: Path, copy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_task("copy"), "grammar", None, raising=False)
    with pytest.raises(UsageError, match="task copy states no grammar of its answers"):
        predict(learned_run, copy_data, tmp_path / "p.jsonl", device="cpu", constrained=True)
    assert not list(tmp_path.iterdir())
