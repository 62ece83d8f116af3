"""A toy task: the answer is the input's symbols in reverse order."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from symshift.data.text import is_name, tokens_of
from symshift.data.verdict import Judgement, Verdict
from symshift.metrics.intervals import wilson
from symshift.metrics.predictions import predictions_from
from symshift.metrics.result import DatasetInfo, Result, System
from symshift.metrics.scoring import Scored, score

Row = dict[str, Any]
Make = Callable[..., Result]


class Reversal:
    """An answer is right as a bag of symbols, and exact in reverse order."""

    name = "reversal"
    summary = "reverse a string"
    version = 1
    answer_mark = r"\S.*"
    shortcut_names = ("all-a", "empty")
    checker = "reversal 1"
    names_matter = False

    def __init__(self) -> None:
        self.checked: list[tuple[str, str]] = []

    def check(self, row: Mapping[str, Any], text: str) -> Judgement:
        self.checked.append((row["id"], text))
        given, answer = tokens_of(row["input"]), tokens_of(text)
        foreign = not set(answer) <= set(given)
        if "slow" in answer:
            return Judgement(Verdict.TIMEOUT, "budget of 1 state", foreign)
        if not all(map(is_name, answer)):
            return Judgement(Verdict.INVALID, "no symbol", foreign)
        if answer == given[::-1]:
            return Judgement(Verdict.EXACT)
        is_right = sorted(answer) == sorted(given)
        return Judgement(Verdict.CORRECT if is_right else Verdict.INCORRECT, "", foreign)

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        return "a" if name == "all-a" else ""


@pytest.fixture
def task() -> Any:
    return Reversal()


@pytest.fixture
def make_row() -> Callable[..., Row]:
    def make(text: str, number: int = 0, **more: Any) -> Row:
        tokens = tokens_of(text)
        return {
            "id": f"r{number}",
            "input": text,
            "target": " ".join(tokens[::-1]),
            "num_symbols": len(set(tokens)),
            "size": len(tokens),
            "shortcuts": ["all-a"] if tokens == ("a",) else [],
            **more,
        }

    return make


@pytest.fixture
def rows(make_row: Callable[..., Row]) -> list[Row]:
    texts = ("a", "a b", "a b c", "b a", "c b a a")
    return [make_row(text, number) for number, text in enumerate(texts)]


@pytest.fixture
def score_toy(task: Any) -> Callable[..., Scored]:
    """Score answers, or several systems' answers, to toy rows."""

    def run(
        rows: list[Row],
        *answers: Mapping[str, Any],
        systems: list[System] | None = None,
        **info: Any,
    ) -> Scored:
        dataset = DatasetInfo(**{"name": "toy", "task": "reversal", "split": "test", **info})
        return score(
            rows,
            [predictions_from(a) for a in answers],
            task,
            dataset=dataset,
            systems=systems or [System(name=f"s{n}") for n in range(len(answers))],
        )

    return run


@pytest.fixture
def result(score_toy: Callable[..., Scored], rows: list[Row]) -> Result:
    answers = {"r0": "a", "r1": "a b", "r2": "b", "r4": None}
    return score_toy(rows, answers, fingerprint="f" * 64).result


@pytest.fixture
def make() -> Make:
    """Return a maker of results: a share of right answers for a system on a data set."""

    def result(
        name: str, share: float, data: str = "toy", trivial: float = 0.1, n: int = 1000, **more: Any
    ) -> Result:
        right = round(share * n)
        estimate = wilson(right, n)
        trivial_estimate = wilson(round(trivial * n), n)
        return Result(
            system=System(name=name, **more.pop("system", {})),
            dataset=DatasetInfo(
                name=data, task=more.pop("task", "reversal"), split="test", rows=n, **more
            ),
            counts={"correct": right, "incorrect": n - right},
            num_foreign=0,
            estimates={
                **dict.fromkeys(("correct", "exact", "correct_hard"), estimate),
                "trivial": trivial_estimate,
                "trivial:constant": trivial_estimate,
            },
        )

    return result


@pytest.fixture
def experiment(make: Make) -> list[Result]:
    """Return two methods within and beyond training: one keeps its correctness, one does not."""
    shares = {"held": (0.86, 0.85), "lost": (0.83, 0.05)}
    return [
        make(name, share, data, regime=regime)
        for name, both in shares.items()
        for share, data, regime in zip(
            both, ("names", "other names"), ("seen", "all-unseen"), strict=True
        )
    ]
