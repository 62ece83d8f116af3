"""Reference Transformers: the only layer that imports PyTorch.

The ways in are `symshift.models.training.run.train` and `symshift.models.prediction.predict`.
"""

import importlib

from symshift.data.errors import MissingToolError


def require_torch() -> None:
    """Refuse to go on without PyTorch and safetensors.

    Raises:
        MissingToolError: If one of them is not installed; the text says how to get it.
    """
    for module in ("torch", "safetensors"):
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise MissingToolError(
                f"training and prediction need {error.name}: pip install 'symshift[train]'"
            ) from None
