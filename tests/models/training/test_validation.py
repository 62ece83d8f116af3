import itertools
from pathlib import Path

import pytest

from symshift.data.dataset import open_dataset
from symshift.models.training.validation import validation_sample


@pytest.mark.parametrize("num", [1, 2, 3, 7, 1000])
def test_the_rows_to_solve_are_spread_evenly_over_the_split(copy_data: Path, num: int) -> None:
    dataset = open_dataset(copy_data)
    rows = list(dataset.rows("validation"))
    places = [rows.index(row) for row in validation_sample(dataset, num)]

    assert len(places) == min(num, len(rows))
    gaps = {later - earlier for earlier, later in itertools.pairwise(places)}
    even = max(1, len(rows) // num)
    assert gaps <= {even, even + 1}
    assert len(rows) - places[-1] <= even + 1
