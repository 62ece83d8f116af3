"""Ids as 128-bit hashes, so that ten million of them are an array of numbers."""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice

import numpy as np
import numpy.typing as npt

_KEY_BYTES = 16
_BATCH_IDS = 65_536
Keys = npt.NDArray[np.bytes_]


def packed_keys(ids: Iterable[str]) -> bytes:
    """Return the keys of a batch of ids, one behind the other."""
    return b"".join([blake2b(i.encode(), digest_size=_KEY_BYTES).digest() for i in ids])


def unpacked_keys(packed: bytes | bytearray) -> Keys:
    """Return the keys that packed_keys wrote, without copying them."""
    # NumPy reads no empty buffer.
    kind = f"S{_KEY_BYTES}"
    return np.frombuffer(packed, dtype=kind) if packed else np.empty(0, dtype=kind)


def has_repeats(keys: Keys) -> bool:
    """Tell whether a key comes twice."""
    in_order = np.sort(keys)
    return bool((in_order[1:] == in_order[:-1]).any())


def keys_of(ids: Iterable[str]) -> Keys:
    """Return one fixed-size key for each id, in order."""
    waiting, packed = iter(ids), bytearray()
    # By batches: join would make a list of all digests first.
    while batch := list(islice(waiting, _BATCH_IDS)):
        packed += packed_keys(batch)
    return unpacked_keys(packed)
