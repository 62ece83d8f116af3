"""Prompts for language models: instructions, solved examples, then the problem.

```
The problem is a string of symbols separated by spaces.
The answer is the same string. It is right when it is the same, symbol by symbol.
Reply with the answer alone, on one line.

Problem: b a b
Answer: b a b

Problem: c a b a
Answer:
```

PROMPT_VERSION names these words, those of each task's `instructions`, and the way examples are
drawn: figures with different versions are not compared. Any change of a prompt gives a new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symshift.data.dataset import Dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import Example
from symshift.data.plugins import load_task
from symshift.data.seeds import Draws

PROMPT_VERSION = "prompt-v1"
REPLY = "Reply with the answer alone, on one line."
BLANK_LINE = "\n\n"
STOP = "\n"
"""Where an answer ends if the prompt is plain text: models go on with problems of their own."""
MAX_NEW_TOKENS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """What is asked, and how many solved examples stand before it."""

    split: str = "test"
    """The rows to ask about."""
    shots: int = 0
    """Solved examples in each prompt."""
    shots_split: str = "train"
    """The split that they are drawn from."""
    seed: int = 0
    """The seed of that draw. Fewer examples are the first of more."""

    def __post_init__(self) -> None:
        if self.shots < 0:
            raise UsageError(f"shots {self.shots}: give 0 or more")
        if self.shots_split == self.split:
            raise UsageError(
                f"shots split {self.shots_split!r} is the split that is asked about: examples "
                "must come from another one"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The prompts for the rows of a data set; make them with `prompts_for`."""

    instructions: str
    """What every prompt starts with."""
    shots: tuple[Example, ...] = ()
    """The solved examples, the same in every prompt."""

    def messages(self, problem: str) -> list[dict[str, str]]:
        """Return the prompt for a problem's text as chat messages, each a role and its content."""
        messages = [{"role": "system", "content": self.instructions}]
        for shot in self.shots:
            messages.append({"role": "user", "content": question(shot.input)})
            messages.append({"role": "assistant", "content": shot.target})
        return [*messages, {"role": "user", "content": question(problem)}]

    def text(self, problem: str) -> str:
        """Return the prompt for a problem's text as plain text that an answer continues."""
        shots = (f"{question(shot.input)} {shot.target}" for shot in self.shots)
        return BLANK_LINE.join([self.instructions, *shots, question(problem)])


def question(problem: str) -> str:
    """Return a problem's text as prompts put it; in plain ones, the answer follows a space."""
    return f"Problem: {problem}\nAnswer:"


def instructions_for(task_name: str) -> str:
    """Return what prompts of a task start with."""
    return f"{load_task(task_name).instructions}\n{REPLY}"


def prompts_for(dataset: Dataset, options: PromptOptions) -> Prompts:
    """Return the prompts for a split of a data set.

    Raises:
        UsageError: If there is no such split, or there are fewer examples than asked for.
        DataError: If an example is equivalent to a row that is asked about.
    """
    dataset.num_rows(options.split)
    shots = drawn_shots(dataset, options, options.shots)
    return Prompts(instructions=instructions_for(dataset.task_name), shots=shots)


def drawn_shots(dataset: Dataset, options: PromptOptions, num_shots: int) -> tuple[Example, ...]:
    """Return solved examples in the order they are drawn, whatever `options.shots` says.

    Rows whose answer is the empty text are none: chats and harnesses drop empty messages.

    Raises:
        UsageError: If the split to draw from has fewer.
        DataError: If an example is equivalent to a row that is asked about.
    """
    if not num_shots:
        return ()
    places = _places(dataset, options.shots_split)
    if num_shots > len(places):
        raise UsageError(
            f"shots {num_shots}: {dataset.path} has {len(places)} {options.shots_split} rows to "
            "draw from"
        )
    draws = Draws("few-shot", PROMPT_VERSION, options.seed)
    chosen = [places[at] for at in draws.sample(len(places), num_shots)]
    shots = _rows_at(dataset, options.shots_split, chosen)
    _require_unasked(dataset, options.split, shots)
    return shots


def num_drawable(dataset: Dataset, split: str) -> int:
    """Return how many examples a split has; none where it has no rows."""
    return len(_places(dataset, split)) if split in dataset.splits else 0


def _places(dataset: Dataset, split: str) -> Sequence[int]:
    targets = dataset.columns(split, ["target"])["target"]
    return [place for place, target in enumerate(targets) if target]


def _rows_at(dataset: Dataset, split: str, places: Sequence[int]) -> tuple[Example, ...]:
    wanted, last = set(places), max(places)
    found = {}
    for place, row in enumerate(dataset.rows(split)):
        if place in wanted:
            found[place] = row
        if place == last:
            break
    return tuple(found[place] for place in places)


def _require_unasked(dataset: Dataset, split: str, shots: Sequence[Example]) -> None:
    """Refuse examples that give an answer away; the split rule makes none."""
    ids = {shot.canonical_id: shot.id for shot in shots}
    asked = dataset.columns(split, ["id", "canonical_id"])
    for row_id, canonical_id in zip(asked["id"], asked["canonical_id"], strict=True):
        if canonical_id in ids:
            raise DataError(
                f"{dataset.path}: example {ids[canonical_id]} is equivalent to {split} row "
                f"{row_id}; run `symshift audit` on the data set"
            )


def described(dataset: Dataset, options: PromptOptions, prompts: Prompts) -> Mapping[str, Any]:
    """Return what decides prompts, as plain values to be stored beside them."""
    return {
        "prompt": PROMPT_VERSION,
        "shots": options.shots,
        "shots_split": options.shots_split if options.shots else None,
        "shots_seed": options.seed if options.shots else None,
        "shot_ids": [shot.id for shot in prompts.shots],
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "split": options.split,
        },
    }
