from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.errors import UsageError
from symshift.data.seeds import Draws
from symshift.data.vocabulary import Window
from symshift.generators.perturbation import PERTURBATIONS, check_perturbation, give_names


@given(st.sampled_from(sorted(PERTURBATIONS)), st.integers(0, 6), st.integers(0, 5), st.integers())
def test_every_perturbation_is_a_bijection_into_the_window(kind, num_symbols, extra, seed):
    symbols = tuple("abcdef"[:num_symbols])
    window = Window(3, 3 + max(0, num_symbols + extra - 1))
    names = give_names(kind, symbols, symbols[::-1], window, Draws(seed))

    assert tuple(names) == symbols
    assert len(set(names.values())) == num_symbols
    assert all(name in window for name in names.values())


def test_target_order_follows_the_target_then_the_input():
    names = give_names("target-order", ("a", "b", "c"), ("c",), Window.first(5), Draws(0))

    assert names == {"c": "a", "a": "b", "b": "c"}


def test_target_order_never_merges_symbols():
    # The public script renames `|&abc` with trace `{c}` to `|&aba`.
    names = give_names("target-order", ("a", "b", "c"), ("c", "x"), Window.first(3), Draws(0))

    assert len(set(names.values())) == 3


def test_input_order_follows_the_input():
    names = give_names("input-order", ("a", "b"), ("b", "a"), Window(3, 9), Draws(0))

    assert names == {"a": "d", "b": "e"}


def test_none_is_a_uniform_injection():
    counts = Counter(
        tuple(give_names("none", ("a", "b"), (), Window.first(3), Draws(i)).values())
        for i in range(6_000)
    )

    assert len(counts) == 6
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 25.7


def test_skew_prefers_the_first_names_as_zipf_does():
    firsts = Counter(
        give_names("skew", ("a",), (), Window.first(4), Draws(i))["a"] for i in range(10_000)
    )
    weights = [1, 1 / 2, 1 / 3, 1 / 4]
    expected = [10_000 * weight / sum(weights) for weight in weights]

    assert sum((firsts[n] - e) ** 2 / e for n, e in zip("abcd", expected)) < 21.1


def test_too_few_names_are_refused():
    with pytest.raises(UsageError, match="3 symbols"):
        give_names("none", ("a", "b", "c"), (), Window.first(2), Draws(0))


def test_an_unknown_perturbation_offers_the_nearest():
    with pytest.raises(UsageError, match="'target-order'"):
        check_perturbation("target_order")
