import numpy as np
import pytest
import torch

from symshift.data.grammar import SYMBOL, Grammar, Move
from symshift.models.batches import Batch, batch_of
from symshift.models.decoding.answering import Answerer
from symshift.models.decoding.search import MAX_BEAM, decode
from symshift.models.encoding import END, START, EncodedRows
from symshift.models.model import FIRST_ANSWER, ReferenceModel, Rows
from symshift.tasks.copy import TASK as COPY

NO_REPEATS = Grammar(
    start="first",
    final=("next",),
    moves=(
        Move("first", SYMBOL, "next", fresh=True),
        Move("next", SYMBOL, "next", fresh=True),
    ),
)


def drawn_rows(model: ReferenceModel, num_symbols: int = 3) -> Rows:
    return model.rows(num_symbols, torch.Generator().manual_seed(1))


def next_logits(model: ReferenceModel, rows: Rows, batch: Batch, answer: list[int]) -> torch.Tensor:
    """Return the logits behind an answer, by reading all of it again."""
    target = torch.tensor([[START, *answer, 0]])
    with torch.no_grad():
        return model.answer_logits(batch._replace(target=target), rows)[0, -1]


def plain_greedy(model: ReferenceModel, rows: Rows, batch: Batch, limit: int) -> list[int]:
    answer: list[int] = []
    while len(answer) < limit:
        best = int(next_logits(model, rows, batch, answer).argmax()) + FIRST_ANSWER
        if best == END:
            break
        answer.append(best)
    return answer


def plain_beam(model: ReferenceModel, rows: Rows, batch: Batch, limit: int, beam: int) -> list[int]:
    """Return the best finished answer, with lists and without a cache."""
    going: list[tuple[float, list[int]]] = [(0.0, [])]
    best: tuple[float, list[int]] | None = None
    for place in range(limit):
        candidates = []
        for score, answer in going:
            log_probs = next_logits(model, rows, batch, answer).log_softmax(-1).tolist()
            candidates += [
                (score + log_prob, [*answer, number])
                for number, log_prob in enumerate(log_probs, start=FIRST_ANSWER)
            ]
        candidates.sort(key=lambda pair: -pair[0])
        for score, answer in candidates[:beam]:
            if answer[-1] == END and (best is None or score * 6 / (6 + place) > best[0]):
                best = score * 6 / (6 + place), answer[:-1]
        going = [pair for pair in candidates[: 2 * beam] if pair[1][-1] != END][:beam]
        if best is not None and best[0] >= going[0][0] * 6 / (5 + limit):
            break
    return best[1] if best is not None else going[0][1]


def one_by_one(encoded: EncodedRows, num: int) -> list[Batch]:
    return [batch_of(encoded, np.array([number])) for number in range(num)]


def test_cached_steps_give_the_logits_of_reading_all_again(
    half_trained: ReferenceModel, encoded: EncodedRows
) -> None:
    batch, rows = batch_of(encoded, np.arange(20)), drawn_rows(half_trained)
    with torch.no_grad():
        whole = half_trained.answer_logits(batch, rows)
        state = half_trained.begin(batch, rows, whole.shape[1])
        for place in range(whole.shape[1]):
            step = half_trained.step(batch.target[:, place], state, rows)

            assert torch.allclose(step, whole[:, place], atol=1e-5)


def test_greedy_agrees_with_reading_all_again(
    half_trained: ReferenceModel, encoded: EncodedRows
) -> None:
    rows, limits = drawn_rows(half_trained), torch.arange(30) % 11 + 1
    written = decode(half_trained, rows, batch_of(encoded, np.arange(30)), limits)
    expected = [
        plain_greedy(half_trained, rows, batch, int(limit))
        for batch, limit in zip(one_by_one(encoded, 30), limits, strict=True)
    ]

    assert written == expected
    assert len({len(answer) for answer in written}) > 3  # Some end by themselves, some are cut.


def test_a_beam_may_be_wider_than_there_are_answers(
    half_trained: ReferenceModel, encoded: EncodedRows
) -> None:
    rows, limits = drawn_rows(half_trained), torch.tensor([1, 2, 3])
    written = decode(half_trained, rows, batch_of(encoded, np.arange(3)), limits, MAX_BEAM)
    expected = [
        plain_beam(half_trained, rows, batch, int(limit), MAX_BEAM)
        for batch, limit in zip(one_by_one(encoded, 3), limits, strict=True)
    ]

    assert written == expected
    with pytest.raises(ValueError, match="at most 1024"):
        decode(half_trained, rows, batch_of(encoded, np.arange(3)), limits, MAX_BEAM + 1)


@pytest.mark.parametrize("beam", [2, 3, 6])
def test_beam_search_agrees_with_lists_and_no_cache(
    half_trained: ReferenceModel, encoded: EncodedRows, beam: int
) -> None:
    rows, limits = drawn_rows(half_trained), torch.arange(24) % 6 + 1
    written = decode(half_trained, rows, batch_of(encoded, np.arange(24)), limits, beam)
    expected = [
        plain_beam(half_trained, rows, batch, int(limit), beam)
        for batch, limit in zip(one_by_one(encoded, 24), limits, strict=True)
    ]

    assert written == expected


def test_wider_beam_finds_likelier_answers(
    half_trained: ReferenceModel, encoded: EncodedRows
) -> None:
    rows, limits = drawn_rows(half_trained), torch.full((64,), 12)

    def mean_score(beam: int) -> float:
        written = decode(half_trained, rows, batch_of(encoded, np.arange(64)), limits, beam)
        scores = []
        for batch, answer in zip(one_by_one(encoded, 64), written, strict=True):
            target = torch.tensor([[START, *answer, END]])
            with torch.no_grad():
                logits = half_trained.answer_logits(batch._replace(target=target), rows)[0]
            taken = logits.log_softmax(-1).gather(1, target[0, 1:, None] - FIRST_ANSWER)
            scores.append(taken.sum().item() * 6 / (5 + len(answer) + 1))
        return float(np.mean(scores))

    assert mean_score(1) < mean_score(3)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("grammar", [None, NO_REPEATS], ids=["free", "constrained"])
def test_answers_do_not_depend_on_the_batch_size(
    half_trained: ReferenceModel,
    tiny_config,
    encoded: EncodedRows,
    beam: int,
    grammar: Grammar | None,
) -> None:
    rows = drawn_rows(half_trained)
    answerer = Answerer(
        model=half_trained,
        task=COPY,
        codec=tiny_config().codec,
        dtype=torch.float32,
        grammar=grammar,
    )

    def answers(batch_size: int) -> dict[int, str]:
        batches = answerer.answers(rows, encoded, beam=beam, batch_size=batch_size)
        return {number: text for batch in batches for number, text in batch}

    assert len(answers(64)) == 64
    if grammar is not None:
        written = [text.split() for text in answers(64).values()]
        assert all(1 <= len(set(text)) == len(text) for text in written)
    assert answers(1) == answers(7) == answers(64)


def test_answers_never_hold_pad_or_start(
    half_trained: ReferenceModel, encoded: EncodedRows
) -> None:
    rows, limits = drawn_rows(half_trained), torch.full((64,), 9)
    for beam in (1, 4):
        written = decode(half_trained, rows, batch_of(encoded, np.arange(64)), limits, beam)

        assert all(number > END for answer in written for number in answer)


def test_table_of_more_symbols_than_in_training_can_answer(
    tiny_model: ReferenceModel, encoded: EncodedRows
) -> None:
    rows = drawn_rows(tiny_model, 40)
    written = decode(tiny_model, rows, batch_of(encoded, np.arange(64)), torch.full((64,), 9))

    assert max(number for answer in written for number in answer) > 8


def test_no_beam_is_refused(half_trained: ReferenceModel, encoded: EncodedRows) -> None:
    with pytest.raises(ValueError, match="beam=0"):
        decode(
            half_trained,
            drawn_rows(half_trained),
            batch_of(encoded, np.arange(2)),
            torch.ones(2),
            0,
        )
