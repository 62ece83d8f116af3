import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from symshift.models.ragged import Ragged

ROWS = st.lists(st.lists(st.integers(1, 2**61), max_size=9), min_size=1, max_size=12)


@given(ROWS, st.data())
def test_padded_rows_are_the_rows_with_zeros_behind(rows: list[list[int]], data) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))

    padded = Ragged.of(rows).padded(np.array(chosen))

    longest = max(len(rows[number]) for number in chosen)
    assert padded.tolist() == [rows[n] + [0] * (longest - len(rows[n])) for n in chosen]


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_joined_rows_are_the_rows_of_all_parts(parts: list[list[list[int]]]) -> None:
    together = Ragged.of([row for part in parts for row in part])
    everything = np.arange(len(together))

    joined = Ragged.joined([*map(Ragged.of, parts)])

    assert joined.padded(everything).equal(together.padded(everything))


def test_small_numbers_take_four_bytes_and_large_ones_eight() -> None:
    assert Ragged.of([[2**31 - 1], [5]]).values.element_size() == 4
    assert Ragged.of([[2**31], [5]]).values.element_size() == 8
