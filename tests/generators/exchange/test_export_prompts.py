import json

import pytest
from exchange_files import copies

from symshift.data import console
from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.prompts import PromptOptions, prompts_for
from symshift.generators.commands import export
from symshift.generators.exchange.exporting import export_dataset

TEST = ["c b", "a c", "c c b"]


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(copies(tmp_path, train=["a", "b a", "a b", "c a"], test=TEST))


def test_each_row_is_a_line_without_its_answer(dataset, tmp_path):
    report = export_dataset("prompts", dataset, tmp_path / "out.jsonl", shots=2)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    prompts = prompts_for(dataset, PromptOptions(shots=2))

    assert lines == [
        {
            "id": row.id,
            "task": "copy",
            "messages": prompts.messages(row.input),
            "prompt": prompts.text(row.input),
        }
        for row in dataset.rows("test")
    ]
    assert report.rows == {"test": 3}


def test_the_file_beside_says_what_was_asked(dataset, tmp_path):
    export_dataset("prompts", dataset, tmp_path / "out.jsonl", shots=1, seed=4)
    meta = json.loads((tmp_path / "out.jsonl.meta.json").read_text())

    assert meta["prompt"] == "prompt-v1"
    assert (meta["shots"], meta["shots_split"], meta["shots_seed"]) == (1, "train", 4)
    assert meta["dataset"]["fingerprint"] == dataset.fingerprint
    assert meta["rows"] == 3


def test_the_same_command_gives_the_same_bytes(dataset, tmp_path):
    for name in ("one", "two"):
        export_dataset("prompts", dataset, tmp_path / name, shots=3)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(dataset, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with pytest.raises(DataError, match="--overwrite"):
        export_dataset("prompts", dataset, out)
    assert out.read_text() == "mine"

    export_dataset("prompts", dataset, out, overwrite=True)
    assert out.read_text().startswith('{"id"')


def test_options_of_prompts_are_refused_for_text(dataset, tmp_path):
    with pytest.raises(
        UsageError, match="--shots-split: is for prompts and lm-eval, not for jsonl"
    ):
        export_dataset("jsonl", dataset, tmp_path / "out", shots_split="train")


def test_the_command_line_exports_and_says_what_comes_next(dataset, tmp_path, capsys):
    words = ["prompts", str(dataset.path), str(tmp_path / "out.jsonl"), "--shots", "1"]

    assert console.run(export, words) == 0
    assert "3 test rows" in capsys.readouterr().out
