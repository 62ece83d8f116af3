import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.errors import UsageError
from symshift.data.plugins import plugin_names
from symshift.models.bodies.position import load_positions
from symshift.models.encoding import MAX_PATH, pack_path
from symshift.models.positions.tree import unpacked


def test_tree_features_are_those_of_the_published_example() -> None:
    # & U a b X c, the Polish order of a U b & X c; choices nearest to the node first.
    paths = [(), (0,), (0, 0), (1, 0), (1,), (0, 1)]
    features = unpacked(torch.tensor([[pack_path(path) for path in paths]]), 6)[0]

    assert ["".join(str(int(bit)) for bit in row) for row in features] == [
        *("000000", "100000", "101000"),
        *("011000", "010000", "100100"),
    ]


@given(path=st.lists(st.integers(0, 1), max_size=80))
def test_path_survives_packing_up_to_the_width(path: list[int]) -> None:
    width = 130
    features = unpacked(torch.tensor([[pack_path(path)]]), width)[0, 0].view(-1, 2).tolist()
    kept = path[:MAX_PATH]

    assert features[: len(kept)] == [[1 - choice, choice] for choice in kept]
    assert all(pair == [0, 0] for pair in features[len(kept) :])


def test_token_without_a_node_gets_zeros() -> None:
    assert not unpacked(torch.tensor([[0]]), 8).any()


def test_sinusoids_follow_the_published_formula() -> None:
    waves = load_positions("sinusoidal")(6, 2, 0).added(torch.zeros(1, 3, 6), 4, None)[0]

    for place, row in enumerate(waves, start=4):
        for feature, value in enumerate(row.tolist()):
            angle = place / 10000 ** ((feature - feature % 2) / 6)
            assert value == pytest.approx((math.cos if feature % 2 else math.sin)(angle), abs=1e-6)


def test_rotary_products_depend_on_the_distance_alone() -> None:
    rotary = load_positions("rotary")(16, 8, 0)
    query, key = torch.rand(2, 1, 1, 1, 8).unbind(0)

    def product(at: int, other: int) -> float:
        return (rotary.turned(query, at) * rotary.turned(key, other)).sum().item()

    assert product(7, 3) == pytest.approx(product(104, 100), abs=1e-4)
    assert product(7, 3) != pytest.approx(product(8, 3), abs=1e-4)


@pytest.mark.parametrize("name", plugin_names("models.positions"))
def test_positions_of_a_later_token_do_not_depend_on_where_a_call_starts(name: str) -> None:
    scheme = load_positions(name)(8, 4, 5)
    embedded, heads = torch.rand(2, 5, 8), torch.rand(2, 2, 5, 4)
    paths = torch.randint(0, 16, (2, 5))

    whole = scheme.added(embedded, 0, paths)[:, 3:]
    assert torch.allclose(scheme.added(embedded[:, 3:], 3, paths[:, 3:]), whole)
    assert torch.allclose(scheme.turned(heads[:, :, 3:], 3), scheme.turned(heads, 0)[:, :, 3:])


@pytest.mark.parametrize("name", plugin_names("models.positions"))
def test_rows_that_start_at_positions_of_their_own_get_what_each_gets_alone(name: str) -> None:
    scheme = load_positions(name)(8, 4, 9)
    embedded, heads, starts = torch.rand(3, 2, 8), torch.rand(3, 2, 2, 4), torch.tensor([5, 0, 7])
    paths = torch.randint(0, 16, (3, 2))
    added, turned = scheme.added(embedded, starts, paths), scheme.turned(heads, starts)

    for row, start in enumerate(starts.tolist()):
        one = slice(row, row + 1)
        assert torch.allclose(scheme.added(embedded[one], start, paths[one]), added[one])
        assert torch.allclose(scheme.turned(heads[one], start), turned[one])


def test_rotary_refuses_an_odd_width() -> None:
    with pytest.raises(UsageError, match="even width of heads, not 5"):
        load_positions("rotary")(10, 5, 0)
