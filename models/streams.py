"""Random streams, devices and threads; each stream is a function of a path of names and numbers."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor

from symshift.data.errors import UsageError, unknown_name
from symshift.data.seeds import Part, seed_from

DEVICES = ("auto", "cpu", "cuda", "mps")


def stream_seed(*path: Part) -> int:
    """Return a seed for PyTorch that only this path has (63 bits)."""
    return seed_from(*path) >> 65


def stream(*path: Part) -> torch.Generator:
    """Return a CPU generator whose draws are a function of the path, on every machine."""
    return torch.Generator().manual_seed(stream_seed(*path))


def pick_device(name: str, number: int | None = None) -> torch.device:
    """Return the device with this name; "auto" takes CUDA, MPS or the CPU, the first there is.

    Args:
        name: One of DEVICES.
        number: Which of several GPUs; PyTorch's current one if not given.

    Raises:
        UsageError: If the name is unknown or there is no such device.
    """
    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(kind for kind, is_there in present.items() if is_there)
    if not present[name]:
        raise UsageError(f"device {name!r}: this PyTorch sees none; use --device auto or cpu")
    if name != "cuda" or number is None:
        return torch.device(name)
    if number >= torch.cuda.device_count():
        raise UsageError(f"process {number}: there are {torch.cuda.device_count()} GPUs here")
    torch.cuda.set_device(number)
    return torch.device(name, number)


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor of the CPU on a device, without waiting for the copy."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def pick_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Return the type that matrix products are computed in: "auto" is bfloat16 on CUDA alone."""
    if precision == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def mixed_precision(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[None]:
    """Return the context in which a model runs; weights stay in float32."""
    return torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32)


@contextmanager
def deterministic_operations(only: bool) -> Iterator[None]:
    """Let PyTorch refuse, in the context, operations whose results differ from run to run."""
    before = torch.are_deterministic_algorithms_enabled()
    if only:
        # Read by cuBLAS when its first handle is made.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def cpu_threads(num_threads: int) -> Iterator[None]:
    """Use so many threads in the context; 0 for as many as PyTorch takes by itself."""
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def own_global_stream(device: torch.device) -> AbstractContextManager[None]:
    """Return a context that gives PyTorch's global generators back as they were.

    Dropout draws from them, so training seeds them at every step.
    """
    if device.type == "cpu":
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)
