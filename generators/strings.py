"""Random strings of symbols, counted and unranked exactly.

A string of length L with exactly k distinct of K names is a way to part its L places into k
blocks (a restricted growth string; there are S(L, k), Stirling numbers of the second kind), with
a different name for each block: K (K-1) ... (K-k+1) ways. Strings of length L with characters
drawn independently and uniformly are exactly the uniform ones of all k, so one integer, uniform
below the number of strings, decides everything.
"""

import math
from functools import lru_cache

from symshift.data.options import Range


@lru_cache(maxsize=256)
def _completions(length: int, num_blocks: int) -> tuple[tuple[int, ...], ...]:
    """Return table[left][used]: ways to go on for `left` places from `used` blocks to all."""
    row = [0] * num_blocks + [1]
    table = [tuple(row)]
    for _ in range(length):
        row = [used * row[used] + (row[used + 1] if used < num_blocks else 0)
               for used in range(num_blocks + 1)]  # fmt: skip
        table.append(tuple(row))
    return tuple(table)


def count_patterns(length: int, num_blocks: int) -> int:
    """Return S(length, num_blocks): the patterns with exactly that many distinct symbols."""
    return _completions(length, num_blocks)[length][0]


def unrank_pattern(length: int, num_blocks: int, rank: int) -> list[int]:
    """Return the pattern of a rank below count_patterns: block numbers by first occurrence."""
    table = _completions(length, num_blocks)
    pattern: list[int] = []
    used = 0
    for left in range(length - 1, -1, -1):
        each = table[left][used]
        old_blocks = used * each
        if rank < old_blocks:
            block, rank = divmod(rank, each)
        else:
            block, rank = used, rank - old_blocks
            used += 1
        pattern.append(block)
    return pattern


def unrank_injection(num_blocks: int, num_names: int, rank: int) -> list[int]:
    """Return the injection of a rank below perm(num_names, num_blocks): a place per block."""
    free = list(range(num_names))
    places = []
    for radix in range(num_names, num_names - num_blocks, -1):
        rank, digit = divmod(rank, radix)
        places.append(free.pop(digit))
    return places


def count_strings(length: int, num_names: int, num_symbols: Range) -> int:
    """Return the number of strings of a length whose distinct symbols are in the range."""
    return sum(math.perm(num_names, k) * count_patterns(length, k)
               for k in _block_counts(length, num_names, num_symbols))  # fmt: skip


def _block_counts(length: int, num_names: int, num_symbols: Range) -> range:
    return range(max(1, num_symbols.min), min(num_symbols.max, length, num_names) + 1)


def unrank_string(length: int, num_names: int, num_symbols: Range, rank: int) -> list[int]:
    """Return the string of a rank below count_strings, as positions in the vocabulary."""
    for k in _block_counts(length, num_names, num_symbols):
        injections = math.perm(num_names, k)
        here = injections * count_patterns(length, k)
        if rank < here:
            pattern_rank, injection_rank = divmod(rank, injections)
            names = unrank_injection(k, num_names, injection_rank)
            return [names[block] for block in unrank_pattern(length, k, pattern_rank)]
        rank -= here
    raise ValueError(f"rank={rank} is not below the number of strings")
