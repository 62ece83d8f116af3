"""Constrained writing, by models whose logits are drawn anew behind each beginning of an answer."""

import itertools
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from symshift.data.grammar import Grammar, State
from symshift.data.plugins import load_task, plugin_names
from symshift.data.theory import Rule, parse_answer
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import Window
from symshift.models.decoding.constraint import constraint_of
from symshift.models.decoding.search import decode
from symshift.models.encoding import END, START, Codec
from symshift.models.model import FIRST_ANSWER

ROWS = {
    "copy": {"input": "a", "target": "a"},
    "horn": {"input": "facts: a; rules: ; query: a", "target": "true"},
    "ltl": {"input": "a", "target": "cycle{a}"},
    "prop": {"input": "a", "target": "a=1"},
}
ALPHABETS = {"copy": "a b", "horn": "a b & -> ; true", "ltl": "a ! & ; { }", "prop": "a b 0 1"}
UNLIKELY = -1e4
CPU = torch.device("cpu")
TASKS = plugin_names("tasks")


class History:
    """What each answer of a batch has written so far, and which problem it answers."""

    def __init__(self, num: int) -> None:
        self.rows = [(number,) for number in range(num)]

    def select(self, rows_B: Tensor) -> None:
        self.rows = [self.rows[number] for number in rows_B.tolist()]

    select_answers = select


class Oracle:
    """A model whose logits are a function of a seed, the problem's number and the answer so far."""

    def __init__(self, codec: Codec, seed: int, num: int, alphabet: Sequence[str] = ()) -> None:
        self.seed, self.num = seed, num
        self.num_classes = codec.num_fixed - FIRST_ANSWER + len(codec.window)
        self.bias = torch.zeros(self.num_classes)
        if alphabet:
            self.bias += UNLIKELY
            self.bias[[END - FIRST_ANSWER, *(i - FIRST_ANSWER for i in codec.encode(alphabet))]] = 0

    def begin(self, *_: object) -> History:
        return History(self.num)

    def logits(self, written: tuple[int, ...]) -> Tensor:
        generator = torch.Generator().manual_seed(hash((self.seed, *written)) % 2**63)
        return 2 * torch.randn(self.num_classes, generator=generator) + self.bias

    def step(self, ids_B: Tensor, state: History, rows: object) -> Tensor:
        state.rows = [
            row if number == START else (*row, number)
            for row, number in zip(state.rows, ids_B.tolist(), strict=True)
        ]
        return torch.stack([self.logits(row) for row in state.rows])


def written_by(
    oracle: Oracle, codec: Codec, grammar: Grammar, limits: Sequence[int], beam: int
) -> list[list[int]]:
    constraint = constraint_of(grammar, codec, max(limits), CPU)
    return decode(oracle, None, None, torch.tensor(limits), beam, constraint)


@pytest.mark.parametrize("name", TASKS)
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    num_symbols=st.integers(1, 4),
    beam=st.integers(1, 4),
    more=st.lists(st.integers(0, 12), min_size=1, max_size=6),
)
def test_whatever_the_logits_answers_are_well_formed_and_within_their_limits(
    name, seed, num_symbols, beam, more
):
    task = load_task(name)
    codec = Codec(task.fixed_tokens, Window.first(num_symbols))
    shortest = int(task.grammar.closing(State(task.grammar.start)))
    limits = [max(1, shortest) + number for number in more]
    written = written_by(Oracle(codec, seed, len(limits)), codec, task.grammar, limits, beam)
    for ids, limit in zip(written, limits, strict=True):
        tokens = codec.decode(ids)
        text = task.decode(tokens)
        judgement = task.check(ROWS[name], text)

        assert len(ids) <= limit
        assert task.encode_target(text) == tokens
        if judgement.verdict is Verdict.INVALID:  # A trace may be well-formed and empty.
            assert name == "ltl"
            assert "can never hold" in judgement.reason
        if name == "horn":
            assert all(isinstance(step, Rule) for step in parse_answer(text).steps)


def language_of(name: str, codec: Codec, longest: int) -> list[tuple[int, ...]]:
    """Return all answers that the task can read, of a few tokens and up to a length."""
    task, found = load_task(name), []
    for length in range(longest + 1):
        for tokens in itertools.product(ALPHABETS[name].split(), repeat=length):
            text = task.decode(tokens)
            judgement = task.check(ROWS[name], text)
            is_read = judgement.verdict is not Verdict.INVALID or "can never" in judgement.reason
            if name == "copy":
                is_read &= bool(tokens)
            if name == "prop":
                is_read &= len(set(tokens[::2])) == len(tokens[::2])
            if name == "horn" and is_read:
                is_read = all(isinstance(step, Rule) for step in parse_answer(text).steps)
            if is_read and task.encode_target(text) == list(tokens):
                found.append(tuple(codec.encode(tokens)))
    return found


def plain_beam(
    log_probs_behind: Callable[[tuple[int, ...]], dict[int, float]], limit: int, beam: int
) -> list[int]:
    """Return the best finished answer, with lists; with a beam of 1, the greedy one."""
    going: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    best: tuple[float, tuple[int, ...]] | None = None
    for place in range(limit):
        candidates = [
            (score + log_prob, (*answer, number))
            for score, answer in going
            for number, log_prob in log_probs_behind(answer).items()
        ]
        candidates.sort(key=lambda pair: -pair[0])
        for score, answer in candidates[:beam]:
            if answer[-1] == END and (best is None or score * 6 / (6 + place) > best[0]):
                best = score * 6 / (6 + place), answer[:-1]
        going = [pair for pair in candidates[: 2 * beam] if pair[1][-1] != END][:beam]
        if not going or (best is not None and best[0] >= going[0][0] * 6 / (5 + limit)):
            break
    return list(best[1] if best is not None else going[0][1])


@pytest.mark.parametrize("name", TASKS)
def test_constrained_beams_agree_with_a_search_through_all_readable_answers(name):
    task = load_task(name)
    codec = Codec(task.fixed_tokens, Window.first(2))
    language = language_of(name, codec, 6)
    limits = [limit for limit in range(3, 7) for _ in range(5)]
    for beam, seed in itertools.product((1, 2, 3), range(3)):
        oracle = Oracle(codec, seed, len(limits), ALPHABETS[name].split())
        written = written_by(oracle, codec, task.grammar, limits, beam)
        for number, limit in enumerate(limits):
            whole = [(*answer, END) for answer in language if len(answer) <= limit]

            def log_probs_behind(answer, oracle=oracle, number=number, whole=whole):
                at = len(answer)
                allowed = {ids[at] for ids in whole if ids[:at] == answer and len(ids) > at}
                logits = oracle.logits((number, *answer))
                barred = torch.full_like(logits, -torch.inf)
                for token in allowed:
                    barred[token - FIRST_ANSWER] = logits[token - FIRST_ANSWER]
                log_probs = barred.log_softmax(-1).tolist()
                return {token: log_probs[token - FIRST_ANSWER] for token in allowed}

            assert written[number] == plain_beam(log_probs_behind, limit, beam)


def test_a_model_that_likes_no_end_is_brought_to_one_at_the_limit():
    task = load_task("ltl")
    codec = Codec(task.fixed_tokens, Window.first(2))
    oracle = Oracle(codec, 0, 3, ["&", "a", "{", "!"])
    oracle.bias[END - FIRST_ANSWER] = UNLIKELY
    for beam in (1, 3):
        for ids in written_by(oracle, codec, task.grammar, [9, 10, 11], beam):
            assert task.encode_target(task.decode(codec.decode(ids))) == codec.decode(ids)


def test_limit_below_the_shortest_answer_is_refused():
    task = load_task("ltl")
    codec = Codec(task.fixed_tokens, Window.first(2))
    with pytest.raises(ValueError, match="limit=2: the shortest well-formed answer has 3"):
        written_by(Oracle(codec, 0, 2), codec, task.grammar, [2, 9], 1)
