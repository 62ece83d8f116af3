import pytest

from symshift.data.options import Range
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import Window
from symshift.tasks.copy import TASK, Options


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ("c a b a", "exact", ""),
        (" c  a b\ta\n", "exact", ""),
        ("", "incorrect", "0 symbols"),
        ("c a b", "incorrect", "3 symbols"),
        ("c a a a", "incorrect", "symbol 2 is 'a', not 'b'"),
        ("c a b a a", "incorrect", "5 symbols"),
        ("c a b ;", "invalid", "';'"),
        ("ca b a", "incorrect", "'ca'"),
    ],
)
def test_an_answer_is_the_string_or_is_told_where_it_differs(answer, verdict, reason):
    judgement = TASK.check({"input": "c a b a", "target": "c a b a"}, answer)

    assert judgement.verdict == verdict
    assert reason in judgement.reason


def test_a_text_over_the_cap_is_no_answer_even_if_it_is_the_string():
    text = " ".join("ab" * 6_000)
    judgement = TASK.check({"input": text, "target": text}, text)

    assert judgement.verdict is Verdict.INVALID
    assert judgement.reason == "text of 23999 characters: at most 20000 are read"


def test_foreign_symbols_are_noted():
    assert TASK.check({"input": "a b", "target": "a b"}, "a z").foreign
    assert TASK.check({"input": "a b", "target": "a b"}, "").verdict is Verdict.INCORRECT


def test_the_stream_ends_with_every_string():
    stream = TASK.stream(Options(size=Range(1, 3), contain_all=False), Window(3, 5))
    last_pass = range(stream.length - stream.space, stream.length)
    listed = [stream.problem(7, index).input for index in last_pass]

    assert stream.space == len(set(listed)) == 3 + 9 + 27
    assert set("".join(listed)) == set("def ")


def test_strings_can_be_asked_to_hold_every_name():
    stream = TASK.stream(Options(size=Range(12, 15), contain_all=True), Window.first(12))
    for index in range(50):
        assert len(stream.problem(0, index).symbols) == 12


def test_lengths_are_uniform():
    stream = TASK.stream(Options(), Window.first(5))
    counts = dict.fromkeys(range(5, 11), 0)
    for index in range(3_000):
        counts[stream.problem(0, index).size] += 1

    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 25.7
