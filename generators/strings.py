"""Random strings of symbols, counted and unranked exactly.

A string of length L with exactly k distinct of K names is a way to part its L places into k
blocks (a restricted growth string; there are S(L, k), Stirling numbers of the second kind), with
a different name for each block: K (K-1) ... (K-k+1) ways. Strings of length L with characters
drawn independently and uniformly are exactly the uniform ones of all k, so one integer, uniform
below the number of strings, decides everything.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from symshift.data.options import Range
from symshift.data.task import Cell


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


def pattern_counts(max_blocks: int) -> Iterator[Sequence[int]]:
    """Yield count_patterns(length, k) for all k up to max_blocks, for each length from 0 on."""
    row = [1] + [0] * max_blocks
    while True:
        yield row
        row = [0] + [k * row[k] + row[k - 1] for k in range(1, max_blocks + 1)]


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


def count_strings(lengths: Range, num_names: int, num_symbols: Range) -> dict[Cell, int]:
    """Return the number of strings of each (num_symbols, length) that there are, by length."""
    most = min(num_symbols.max, num_names, lengths.max)
    injections = [math.perm(num_names, k) for k in range(most + 1)]
    return {
        (k, length): injections[k] * patterns[k]
        for length, patterns in enumerate(islice(pattern_counts(most), lengths.max + 1))
        if length in lengths
        for k in _block_counts(length, num_names, num_symbols)
    }


def _block_counts(length: int, num_names: int, num_symbols: Range) -> range:
    return range(max(1, num_symbols.min), min(num_symbols.max, length, num_names) + 1)


def unrank_string(length: int, num_names: int, num_symbols: Range, rank: int) -> list[int]:
    """Return the string of a rank below their number, as positions in the vocabulary."""
    for k in _block_counts(length, num_names, num_symbols):
        injections = math.perm(num_names, k)
        here = injections * count_patterns(length, k)
        if rank < here:
            pattern_rank, injection_rank = divmod(rank, injections)
            names = unrank_injection(k, num_names, injection_rank)
            return [names[block] for block in unrank_pattern(length, k, pattern_rank)]
        rank -= here
    raise ValueError(f"rank={rank} is not below the number of strings")
