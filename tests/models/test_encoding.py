import numpy as np
import pytest
import torch

from symshift.data.errors import UsageError
from symshift.data.vocabulary import Window
from symshift.models.encoding import END, START, Codec, encode_problems, encode_rows
from symshift.tasks.copy import TASK as COPY

CODEC = Codec(("&", "|"), Window(2, 4))


def test_ids_are_special_then_fixed_then_symbols_by_position() -> None:
    assert CODEC.encode(["&", "|", "c", "d", "e"]) == [3, 4, 5, 6, 7]
    assert CODEC.decode([3, 4, 5, 6, 7]) == ["&", "|", "c", "d", "e"]
    assert CODEC.num_fixed == 5


def test_name_without_a_row_is_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match=r"'p40'.*rows for c to e.*--set vocabulary=41"):
        CODEC.encode(["c", "p40"])


def test_token_of_another_task_is_refused() -> None:
    with pytest.raises(UsageError, match="'U' is neither"):
        CODEC.encode(["U"])


def test_answers_stand_between_start_and_end_and_problems_before_end() -> None:
    codec = Codec((), Window.first(3))
    encoded = encode_rows(COPY, codec, [{"input": "b a", "target": "b a"}], with_paths=False)

    assert encoded.source.padded(np.array([0])).tolist() == [[4, 3, END]]
    assert encoded.target.padded(np.array([0])).tolist() == [[START, 4, 3, END]]
    assert encoded.paths is None


def test_trees_are_asked_of_a_task_that_has_none() -> None:
    with pytest.raises(UsageError, match="copy are no trees: set encoder_positions=sinusoidal"):
        encode_problems(COPY, Codec((), Window.first(3)), ["a b"], with_paths=True)


def test_moving_rows_keeps_them(encoded) -> None:
    before = encoded.source.padded(np.arange(8))

    assert torch.equal(encoded.to(torch.device("cpu")).source.padded(np.arange(8)), before)
