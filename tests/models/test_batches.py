import numpy as np
import pytest
import torch

from symshift.models.batches import BatchOrder, batch_of
from symshift.models.encoding import EncodedRows


def order(encoded: EncodedRows, **changes: int) -> BatchOrder:
    return BatchOrder(encoded, **{"batch_size": 10, "pool_batches": 3, "seed": 0, **changes})


@pytest.mark.parametrize("batch_size", [1, 10, 64, 1000])
def test_each_epoch_holds_each_row_once(encoded: EncodedRows, batch_size: int) -> None:
    batches = order(encoded, batch_size=batch_size)
    for epoch in range(2):
        steps = range(
            1 + epoch * batches.batches_per_epoch, 1 + (epoch + 1) * batches.batches_per_epoch
        )
        rows = np.concatenate([batches.rows(step) for step in steps])

        assert sorted(rows) == list(range(64))


def test_rows_of_a_step_are_a_function_of_seed_and_step(encoded: EncodedRows) -> None:
    forwards, backwards = order(encoded), order(encoded)
    there = [forwards.rows(step).tolist() for step in range(1, 30)]
    back = [backwards.rows(step).tolist() for step in reversed(range(1, 30))]

    assert there == back[::-1]
    assert there[:7] != there[7:14]
    assert there[:7] != [order(encoded, seed=1).rows(step).tolist() for step in range(1, 8)]


def test_rows_of_a_batch_have_similar_lengths(encoded: EncodedRows) -> None:
    def waste(pool_batches: int) -> int:
        batches = order(encoded, pool_batches=pool_batches)
        lengths = [encoded.target.lengths[batches.rows(step)] for step in range(1, 8)]
        return sum(int((part.max() - part).sum()) for part in lengths)

    assert waste(7) < waste(1) / 2


def test_batch_sizes_differ_by_at_most_one(encoded: EncodedRows) -> None:
    batches = order(encoded)

    assert {len(batches.rows(step)) for step in range(1, 8)} == {9, 10}


def test_renaming_moves_symbols_and_leaves_other_tokens(encoded: EncodedRows) -> None:
    batch = batch_of(encoded, np.arange(2))
    renamed = batch.renamed(torch.tensor([[2, 0, 1], [0, 1, 2]]), 3)
    moved = {0: 0, 1: 1, 2: 2, 3: 5, 4: 3, 5: 4}

    for before, after in ((batch.source, renamed.source), (batch.target, renamed.target)):
        assert after[0].tolist() == [moved[number] for number in before[0].tolist()]
        assert torch.equal(after[1], before[1])
