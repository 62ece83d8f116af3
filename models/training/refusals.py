"""What PyTorch raises in a step, in one line that names the setting to change."""

from collections.abc import Iterator
from contextlib import contextmanager

from symshift.data.errors import SymshiftError
from symshift.models.configuration import TrainConfig
from symshift.models.memory import is_short_of_memory

_NOT_DETERMINISTIC = "does not have a deterministic implementation"


@contextmanager
def explained(config: TrainConfig, step: int) -> Iterator[None]:
    """Turn errors of a step that settings can mend into errors that name them.

    Raises:
        SymshiftError: If memory was short, or an operation is not deterministic and has to be.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if is_short_of_memory(error):
            raise SymshiftError(
                f"step {step}: out of memory with batch_size={config.batch_size} and "
                f"accumulate={config.accumulate}: --set accumulate={2 * config.accumulate} "
                "computes the same batch in smaller parts"
            ) from error
        operation, mark, _ = str(error).partition(_NOT_DETERMINISTIC)
        if not mark:
            raise
        raise SymshiftError(
            f"step {step}: deterministic=true, but {operation.strip()} is not on this device; "
            "train with --set deterministic=false, or --device cpu"
        ) from error
