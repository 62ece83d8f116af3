import pytest
import torch

from symshift.data.errors import UsageError
from symshift.models.embedding import TableShape
from symshift.models.embeddings.frozen import Frozen, FrozenOptions
from symshift.models.training.trainer import Trainer

SHAPE = TableShape(num_fixed=3, num_symbols=200, width=64)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("init_std", "expected"), [(None, 0.125), (0.5, 0.5)])
def test_rows_have_the_spread_that_is_asked_for(init_std, expected) -> None:
    rows = Frozen(SHAPE, FrozenOptions(init_std=init_std), stream()).table(200, stream())

    # Relative error of the spread of 13,000 values: about 0.6 %.
    assert rows.std().item() == pytest.approx(expected, rel=0.04)
    assert abs(rows.mean().item()) < 0.05 * expected


def test_training_moves_the_body_and_no_row(tiny_config, encoded) -> None:
    trainer = Trainer(tiny_config("frozen"), encoded, torch.device("cpu"))
    before = {key: value.clone() for key, value in trainer.model.state_dict().items()}
    with torch.random.fork_rng():
        for _ in range(5):
            trainer.step()
    after = trainer.model.state_dict()

    assert torch.equal(before["method.rows"], after["method.rows"])
    assert any(not torch.equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize("init_std", [0.0, -1.0, float("nan"), float("inf")])
def test_a_spread_that_is_none_is_refused(init_std: float) -> None:
    with pytest.raises(UsageError, match="init_std"):
        FrozenOptions(init_std=init_std)
