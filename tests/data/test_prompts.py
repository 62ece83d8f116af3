import hashlib

import pytest
from exchange_files import copies

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.plugins import load_task, plugin_names
from symshift.data.prompts import (
    PROMPT_VERSION,
    PromptOptions,
    Prompts,
    drawn_shots,
    instructions_for,
    num_drawable,
    prompts_for,
)

TRAIN = ["a", "b a", "a b", "c a", "a a a", "b b", "c c a", "b"]


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(copies(tmp_path, train=TRAIN, test=["c b", "a c"]))


def inputs(shots):
    return [shot.input for shot in shots]


def test_a_plain_prompt_is_instructions_examples_and_the_problem(dataset):
    prompts = prompts_for(dataset, PromptOptions(shots=1))
    shot = prompts.shots[0].input

    assert prompts.text("c b") == (
        "The problem is a string of symbols separated by spaces.\n"
        "The answer is the same string. It is right when it is the same, symbol by symbol.\n"
        "Reply with the answer alone, on one line.\n\n"
        f"Problem: {shot}\nAnswer: {shot}\n\n"
        "Problem: c b\nAnswer:"
    )


def test_chat_messages_say_the_same_as_the_plain_prompt(dataset):
    prompts = prompts_for(dataset, PromptOptions(shots=3))
    messages = prompts.messages("c b")

    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 3, "user"]
    joined = "".join(
        m["content"] + {"system": "\n\n", "user": " ", "assistant": "\n\n"}[m["role"]]
        for m in messages
    )
    assert joined.removesuffix(" ") == prompts.text("c b")


def test_examples_are_a_function_of_the_seed_and_fewer_are_the_first_of_more(dataset):
    drawn = [inputs(prompts_for(dataset, PromptOptions(shots=n)).shots) for n in (2, 5, 8)]

    assert drawn[0] == drawn[1][:2]
    assert drawn[1] == drawn[2][:5]
    assert sorted(drawn[2]) == sorted(TRAIN)
    assert inputs(prompts_for(dataset, PromptOptions(shots=8, seed=1)).shots) != drawn[2]


def test_examples_come_from_another_split_than_the_rows():
    with pytest.raises(UsageError, match="'test' is the split that is asked about"):
        PromptOptions(shots=1, shots_split="test")


def test_more_examples_than_there_are_are_refused(dataset):
    with pytest.raises(UsageError, match=r"shots 9: .* has 8 train rows to draw from"):
        prompts_for(dataset, PromptOptions(shots=9))
    with pytest.raises(UsageError, match="no validation rows"):
        prompts_for(dataset, PromptOptions(shots=1, shots_split="validation"))
    assert num_drawable(dataset, "validation") == 0


def test_an_example_that_is_equivalent_to_a_row_is_refused(dataset, monkeypatch):
    asked = dataset.columns("test", ["id", "canonical_id"])
    asked["canonical_id"][1] = next(dataset.rows("train")).canonical_id
    columns = dataset.columns
    monkeypatch.setattr(
        dataset, "columns", lambda split, names: asked if split == "test" else columns(split, names)
    )

    with pytest.raises(DataError, match=f"is equivalent to test row {asked['id'][1]}"):
        drawn_shots(dataset, PromptOptions(), len(TRAIN))


@pytest.mark.parametrize("name", plugin_names("tasks"))
def test_every_task_has_instructions_that_no_template_language_reads_into(name):
    text = load_task(name).instructions

    assert text.startswith("The problem ")
    assert "\nThe answer is " in text
    assert not any(mark in text for mark in ("{{", "{%", "{#", "\n\n"))


GOLDEN = {
    "copy": "509b81dd73f01cb0",
    "horn": "d8d96a498ce933a8",
    "ltl": "162a164e26f30e15",
    "prop": "e7ec926cdde58239",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_words_of_this_version_are_frozen(name):
    assert PROMPT_VERSION == "prompt-v1"
    text = Prompts(instructions=instructions_for(name)).text("a")
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == GOLDEN[name]
