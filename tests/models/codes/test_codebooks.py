import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.errors import UsageError
from symshift.models.codes.codebooks import Codebooks, codebooks_size, digit_base


@given(num_rows=st.integers(1, 10**15), num_digits=st.integers(1, 70))
def test_base_is_the_least_that_can_write_all_numbers(num_rows: int, num_digits: int) -> None:
    base = digit_base(num_rows, num_digits)

    assert base**num_digits >= num_rows
    assert base == 1 or (base - 1) ** num_digits < num_rows


@given(base=st.integers(2, 10**5), num_digits=st.integers(1, 3))
def test_base_is_exact_at_powers(base: int, num_digits: int) -> None:
    assert digit_base(base**num_digits, num_digits) == base
    assert digit_base(base**num_digits + 1, num_digits) == base + 1


def test_no_digits_are_refused() -> None:
    with pytest.raises(UsageError, match="digits=0"):
        digit_base(5, 0)


@given(num_rows=st.integers(1, 90), num_digits=st.integers(1, 6), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_seed_is_the_sum_of_the_vectors_of_the_digits(num_rows, num_digits, seed) -> None:
    books = Codebooks(num_rows, num_digits, 4, 1.0, torch.Generator().manual_seed(seed))
    vectors = books.vectors.detach().numpy()
    base = digit_base(num_rows, num_digits)

    for number, found in enumerate(books.seeds(num_rows).detach().numpy()):
        rest, expected = number, np.zeros(4)
        for place in reversed(range(num_digits)):
            rest, digit = divmod(rest, base)
            expected += vectors[place, digit]
        assert rest == 0
        assert np.allclose(found, expected, atol=1e-5)
    assert vectors.size == codebooks_size(num_rows, num_digits, 4)
