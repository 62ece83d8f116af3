"""How often each size of a formula is wanted: the law of the published LTLRandom35."""

from collections.abc import Iterable

FIRST_EQUAL_SIZE = 10
SMALL_PARTS = 14
LARGE_PARTS = 111


def size_weights(sizes: Iterable[int]) -> dict[int, int]:
    """Return the weight of each size: equal from FIRST_EQUAL_SIZE up, and equal below it.

    If there are sizes of both kinds, the small ones have 14 parts in 125 (11.2 %, as DeepLTL's sets
    of ICLR 2021 do), else all are equally likely.

    Args:
        sizes: The sizes there are.
    """
    known = sorted(sizes)
    num_small = sum(size < FIRST_EQUAL_SIZE for size in known)
    num_large = len(known) - num_small
    if not num_small or not num_large:
        return dict.fromkeys(known, 1)
    small, large = SMALL_PARTS * num_large, LARGE_PARTS * num_small
    return {size: small if size < FIRST_EQUAL_SIZE else large for size in known}
