"""From the files of a run to its trained model."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from symshift.data.errors import DataError, UsageError
from symshift.models.building import build_model
from symshift.models.configuration import RunConfig
from symshift.models.model import ReferenceModel
from symshift.models.training.checkpoints import CONFIG


def load_model(config: RunConfig, weights: Mapping[str, Tensor], path: Path) -> ReferenceModel:
    """Return a trained model in evaluation mode.

    Args:
        config: The run's configuration.
        weights: The model's state.
        path: The file it was read from, for messages.

    Raises:
        DataError: If there is no such model, or a tensor is missing, of another kind or shape than
            the model's, or not finite.
    """
    try:
        model = build_model(config)
    except UsageError as error:
        raise DataError(f"{path}: no model fits the run's {CONFIG}: {error}") from None
    expected = model.state_dict()
    for name in sorted(expected.keys() | weights.keys()):
        if fault := _fault(expected.get(name), weights.get(name)):
            raise DataError(f"{path}: tensor {name} {fault}")
    model.load_state_dict(weights)
    return model.eval()


def _fault(expected: Tensor | None, found: Tensor | None) -> str:
    """Say what is wrong with a tensor of a run, with the remedy; "" for nothing."""
    unfit = f"it does not fit the run's {CONFIG}; restore both files"
    if found is None or expected is None:
        return f"is {'missing' if found is None else 'none of the model'}: {unfit}"
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"is {_kind(found)}, not {_kind(expected)}: {unfit}"
    if not found.isfinite().all():
        return "holds NaN or infinite values: give an earlier --checkpoint, or train again"
    return ""


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype}{[*tensor.shape]}".removeprefix("torch.")
