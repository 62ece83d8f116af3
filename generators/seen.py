"""Which identities were seen: a set of hashes that takes about 23 bytes for each.

Buckets are plain `bytes`, keys end to end, which Python searches in native code. The table grows by
linear hashing (Litwin, "Linear hashing: a new tool for file and table addressing", VLDB 1980): one
bucket is split at a time, so it never needs room for a second copy of itself.

Keys are the first 128 bits of a SHA-256 (example.canonical_id_of). Among 10 million of them any two
are equal by chance with probability below 2e-25.
"""

from collections.abc import Iterator, Set

KEY_BYTES = 16
MEAN_KEYS = 16
"""Keys in a bucket on average: more take less memory and more time."""


class SeenIds(Set[bytes]):
    """A set of keys that only grows; they must be hashes, so that they spread over the buckets."""

    def __init__(self) -> None:
        self._buckets = [b""]
        self._count = 0
        self._mask = 1
        """The bits of a key that say its bucket; without the highest, if that is none yet."""

    def add(self, key: bytes) -> bool:
        """Take in a key; return whether it is new.

        Raises:
            ValueError: If it is not of KEY_BYTES bytes.
        """
        if len(key) != KEY_BYTES:
            raise ValueError(f"key {key.hex()} has {len(key)} bytes, expected {KEY_BYTES}")
        at = self._bucket_of(key)
        bucket = self._buckets[at]
        if _is_in(key, bucket):
            return False
        self._buckets[at] = bucket + key
        self._count += 1
        if self._count > MEAN_KEYS * len(self._buckets):
            self._split()
        return True

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            return False
        return _is_in(key, self._buckets[self._bucket_of(key)])

    def __iter__(self) -> Iterator[bytes]:
        for bucket in self._buckets:
            yield from _keys(bucket)

    def __len__(self) -> int:
        return self._count

    def _bucket_of(self, key: bytes) -> int:
        at = int.from_bytes(key) & self._mask
        return at if at < len(self._buckets) else at & self._mask >> 1

    def _split(self) -> None:
        """Move keys of the first bucket that is still whole to a new last one."""
        highest = self._mask + 1 >> 1
        at = len(self._buckets) - highest
        byte, bit = divmod(highest.bit_length() - 1, 8)
        stay: list[bytes] = []
        move: list[bytes] = []
        for key in _keys(self._buckets[at]):
            (move if key[-1 - byte] >> bit & 1 else stay).append(key)
        self._buckets[at] = b"".join(stay)
        self._buckets.append(b"".join(move))
        if len(self._buckets) > self._mask:
            self._mask += self._mask + 1


def _is_in(key: bytes, bucket: bytes) -> bool:
    at = bucket.find(key)
    while at > 0 and at % KEY_BYTES:  # the end of one key and the start of the next
        at = bucket.find(key, at + 1)
    return at >= 0


def _keys(bucket: bytes) -> list[bytes]:
    return [bucket[start : start + KEY_BYTES] for start in range(0, len(bucket), KEY_BYTES)]
