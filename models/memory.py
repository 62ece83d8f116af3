"""Errors of PyTorch that say that memory was short."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from symshift.data.errors import SymshiftError

# On some devices such an error has no type of its own.
_MARKS = ("DefaultCPUAllocator", "out of memory", "not enough memory")


def is_short_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory was short, whatever the device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in _MARKS)


@contextmanager
def memory_explained(text: str) -> Iterator[None]:
    """Turn errors that say so into one with a text of the user's words.

    Args:
        text: What was too much, and what helps.

    Raises:
        SymshiftError: If memory was short.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_short_of_memory(error):
            raise
        raise SymshiftError(f"out of memory {text}") from error
