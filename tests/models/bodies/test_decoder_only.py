import pytest
import torch
from torch import Tensor

from symshift.models.bodies.body import BodyOptions, Problems
from symshift.models.bodies.decoder_only import DecoderOnly

WIDTH = 16


def body_with(**options: object) -> DecoderOnly:
    settings = {"body": "decoder-only", "width": WIDTH, "ff_width": 16, "decoder_layers": 3}
    options = BodyOptions(**settings, **options)
    return DecoderOnly(options, torch.Generator().manual_seed(1)).eval()


def without_padding(tokens_BSD: Tensor) -> Problems:
    return Problems(tokens_BSD, torch.ones(len(tokens_BSD), 1, 1, tokens_BSD.shape[1]) > 0, None)


@pytest.mark.parametrize("positions", ["rotary", "learned", "sinusoidal"])
@pytest.mark.parametrize("copying", [False, True])
@torch.no_grad()
def test_where_the_problem_ends_changes_nothing(positions: str, copying: bool) -> None:
    body = body_with(decoder_positions=positions, copy_attention=copying)
    sequence = torch.randn(3, 9, WIDTH, generator=torch.Generator().manual_seed(2))
    expected = body.hidden(without_padding(sequence[:, :1]), sequence[:, 1:])

    for cut in range(2, 9):
        hidden = body.hidden(without_padding(sequence[:, :cut]), sequence[:, cut:])
        assert torch.allclose(hidden, expected[:, cut - 1 :], atol=1e-5)


@pytest.mark.parametrize("positions", ["rotary", "learned", "sinusoidal"])
@torch.no_grad()
def test_answers_stand_right_behind_their_problems(positions: str) -> None:
    body = body_with(decoder_positions=positions, copy_attention=True)
    generator = torch.Generator().manual_seed(3)
    problems, answers = torch.randn(2, 4, 6, WIDTH, generator=generator)
    lengths = torch.tensor([6, 1, 4, 2])
    mask = (torch.arange(6) < lengths[:, None])[:, None, None]
    hidden = body.hidden(Problems(problems, mask, None), answers)
    state = body.begin(Problems(problems, mask, None), 6)
    steps = torch.stack([body.step(answers[:, place], state) for place in range(6)], dim=1)

    for row, length in enumerate(lengths.tolist()):
        whole = torch.cat((problems[row, :length], answers[row]))[None]
        alone = body.hidden(without_padding(whole[:, :1]), whole[:, 1:])[0, length - 1 :]
        assert torch.allclose(hidden[row], alone, atol=1e-5)
        assert torch.allclose(steps[row], alone, atol=1e-5)


@torch.no_grad()
def test_answers_of_a_problem_change_places_without_it() -> None:
    body = body_with(copy_attention=True)
    generator = torch.Generator().manual_seed(4)
    problems = torch.randn(2, 5, WIDTH, generator=generator).repeat_interleave(2, dim=0)
    answers = torch.randn(4, 3, WIDTH, generator=generator)
    mask = torch.ones(4, 1, 1, 5) > 0
    mask[2:, ..., 3:] = False
    order = torch.tensor([1, 1, 3, 2])
    moved = torch.cat((answers[order, :2], answers[:, 2:]), dim=1)
    state = body.begin(Problems(problems, mask, None), 3)
    body.step(answers[:, 0], state)
    body.step(answers[:, 1], state)
    state.select_answers(order)

    hidden = body.step(answers[:, 2], state)

    assert torch.allclose(
        hidden, body.hidden(Problems(problems, mask, None), moved)[:, -1], atol=1e-5
    )
