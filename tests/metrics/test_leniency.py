from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.plugins import load_task, plugin_names
from symshift.data.verdict import Verdict
from symshift.metrics.joining import Answer
from symshift.metrics.judging import Judge
from symshift.metrics.leniency import sole_answer
from symshift.metrics.notations import notation_for

HORN = "facts: a; rules: a -> b; query: b"
ROWS = {
    "copy": {"id": "x", "input": "a b", "target": "a b"},
    "horn": {"id": "x", "input": HORN, "target": "a -> b; true"},
    "ltl": {"id": "x", "input": "a U b", "target": "cycle{b}"},
    "prop": {"id": "x", "input": "a & !b", "target": "a=1 b=0"},
}


def verdicts(task: str, text: str, notation: str = "native") -> tuple[str, str]:
    """Return the strict and the lenient verdict on a text."""
    read = notation_for(notation, load_task(task))
    judge, answer = Judge(load_task(task), ROWS[task]), Answer((text,))
    strict = judge.answer(answer, read)
    return strict.verdict.value, judge.lenient(answer, read, strict).verdict.value


def test_every_task_has_a_row_here() -> None:
    assert plugin_names("tasks") == tuple(sorted(ROWS))


@pytest.mark.parametrize("task", ROWS)
@pytest.mark.parametrize(
    "wrapping",
    [
        "<s> {} </s>",
        "{}<|endoftext|>",
        "{}</s><pad><pad>",
        "[CLS]{}[SEP]",
        "```\n{}\n```",
        "~~~text\n{}\n~~~",
        "```{}```",
        "Answer: {}",
        "The final answer is: {}.",
        "**Trace:** {}",
        "__Output__: **{}**",
        "assignment:\n\n{}",
        '"{}"',
        "\u201c{}\u201d.",
        "`{}`",
        "${}$",
        "**Answer: `{}`**",
        "\u200b{}\u200b",
        "\r\n{}.\r\n",
    ],
)
def test_wrappings_make_a_right_answer_invalid_and_leniently_right(
    task: str, wrapping: str
) -> None:
    target = "true" if task == "horn" else ROWS[task]["target"]
    right = "correct" if task == "horn" else "exact"
    assert verdicts(task, wrapping.format(target)) == ("invalid", right)


def several(target: str, other: str) -> list[str]:
    return [
        f"{other}\n{target}",
        f"{target}\n{target}",
        f"Answer: {other}\nAnswer: {target}",
        f"Answer: {other}. Answer: {target}",
        f"```\n{other}\n```\n```\n{target}\n```",
        f"It could be {other}.\nAnswer: {target}",
        f"{other}</s>{target}",
        f"{other}<|endoftext|>{target}</s>",
        f'"{other}" or "{target}"',
        f"<think>{other}</think>\n{target}",
        f"Answer: {target}\nNo, wait: {other}",
    ]


@pytest.mark.parametrize(
    ("task", "text"),
    [("ltl", text) for text in several("cycle{b}", "cycle{0}")]
    + [("ltl", text) for text in several("cycle{b}", "cycle{a}")]
    + [("ltl", "cycle{b} or cycle{a}"), ("ltl", "The set {a, b}.\nAnswer: cycle{b}")]
    + [("prop", f"<s>{text}") for text in several("a=1 b=0", "a=1 b=1")]
    + [("prop", "a=1 b=0 or b=1"), ("prop", "a = True\nAnswer: a=1 b=0")]
    + [("prop", "a=1 b=0. a=1 b=1.")]
    + [("horn", text) for text in several("true.", "false.")]
    + [("horn", text) for text in several("a -> b; true.", "false.")]
    + [("horn", "true or false."), ("horn", "False!\ntrue."), ("horn", "false. a -> b; true.")]
    + [("copy", f"<s>{text}") for text in several("a b", "b a")]
    + [("copy", "Here it is:\na b"), ("copy", "assistant\na b</s>")],
)
def test_an_answer_that_names_several_candidates_stays_invalid(task: str, text: str) -> None:
    assert verdicts(task, text) == ("invalid", "invalid")


@pytest.mark.parametrize(
    ("task", "text", "lenient"),
    [
        ("ltl", "a must hold until b does.\ncycle{b}", "exact"),
        ("ltl", "a \u2227 \u00acb; cycle{b}", "correct"),
        ("ltl", "cycle{\u00aca \u2228 (a \u2194 b) && b}", "incorrect"),
        ("ltl", "(a \u2295 b) \u2227 b; cycle{\u22a4}", "correct"),
        ("ltl", "a && !b; cycle{b}", "correct"),
        ("ltl", "cycle{a}</s>", "incorrect"),
        ("ltl", "\u25cbb; cycle{1}", "invalid"),
        ("ltl", "cycle{b & !b}.", "invalid"),
        ("ltl", "a; b", "invalid"),
        ("ltl", "the answer is cycle{b}", "invalid"),
        ("ltl", "cycle{b", "invalid"),
        ("ltl", "cycle{<unk>}", "invalid"),
        ("ltl", "CYCLE{B}", "invalid"),
        ("prop", "```\n```", "invalid"),
        ("prop", "<pad>", "invalid"),
        ("prop", "Answer:", "invalid"),
        ("prop", "Answer: a=1, b=0", "invalid"),
        ("prop", "Answer: a=1 a=0", "invalid"),
        ("horn", "a \u2192 b; true.", "exact"),
        ("horn", "True", "invalid"),
        ("horn", "It is derivable.\ntrue", "correct"),
        ("copy", "a <unk>", "invalid"),
        ("copy", "a, b", "invalid"),
    ],
)
def test_what_the_lenient_reading_mends_and_what_it_never_mends(
    task: str, text: str, lenient: str
) -> None:
    assert verdicts(task, text)[1] == lenient


@pytest.mark.parametrize(
    ("task", "text", "lenient"),
    [
        ("ltl", "Answer: &a!b;{b}</s>", "correct"),
        ("ltl", "{b}\n{b}.", "invalid"),
        ("prop", "<s>a1b0", "exact"),
        ("prop", "a1\nb0.", "invalid"),
    ],
)
def test_the_lenient_reading_knows_polish_notation(task: str, text: str, lenient: str) -> None:
    assert verdicts(task, text, "polish") == ("invalid", lenient)


@given(st.sampled_from(sorted(ROWS)), st.text(max_size=40))
def test_an_answer_that_can_be_read_is_judged_alike_in_both_readings(task: str, text: str) -> None:
    strict, lenient = verdicts(task, text)
    assert strict == Verdict.INVALID or strict == lenient


@given(st.sampled_from(sorted(ROWS)), st.text("*`\"'$. \n<s>ab={}true", max_size=60))
def test_unwrapping_ends_and_gives_what_it_would_give_again(task: str, text: str) -> None:
    mark = load_task(task).answer_mark
    found = sole_answer(text, mark)
    assert found is None or sole_answer(found, mark) == found


@pytest.mark.parametrize("text", ["*" * 20_000, "answer:" * 2_800, "`'" * 9_999, "=" * 20_000])
def test_hostile_texts_take_no_time(text: str) -> None:
    for task in ROWS:
        verdicts(task, text)


def test_both_readings_stand_in_result_and_rows(score_toy: Any, rows: list[Any]) -> None:
    found = score_toy(rows, {"r0": "a", "r1": "Answer: b a", "r2": "a\nb"})

    estimates = found.result.estimates
    assert (estimates["correct"].value, estimates["lenient"].value) == (0.2, 0.4)
    assert found.rows["lenient"].to_pylist()[:2] == ["exact", "exact"]
    assert found.rows["verdict"].to_pylist()[:2] == ["exact", "invalid"]
    assert found.result.versions["lenient"] == "lenient-v1"
