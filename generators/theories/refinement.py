"""Colour refinement of Horn theories: atoms that look alike, told apart by what they stand in.

A theory is held as numbers: atoms 0..n-1, and rules as pairs of a body and a head. Colours are
numbers 0..k-1; their order is a function of the theory's structure alone, not of the atoms'
numbers. One round tells atoms of a colour apart by the rules that they occur in (Weisfeiler and
Leman 1968, on the graph of atoms and rules).

What an atom's rules say is summed up in 64 bits, by arithmetic that is the same on every machine.
If two different things come to the same sum, atoms stay together that the search in `canonical`
tells apart: a collision costs time, never exactness.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Clause = tuple[tuple[int, ...], int]
"""The atoms of a rule's body, and its head."""
Colours = list[int]
"""The colour of each atom."""
Shape = tuple[int, int]
"""A number of colours, and a hash of how they lie: equal for what differs in numbers alone."""

_MASK = (1 << 64) - 1
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_BODY, _HEAD, _AS_HEAD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93
# More than any sum of 64-bit numbers over the rules of an atom.
_COLOUR_BITS = 96


def _mixed(value: int) -> int:
    """Return 64 bits that look random (the finaliser of SplitMix64)."""
    value = (value ^ (value >> 30)) * _FIRST & _MASK
    value = (value ^ (value >> 27)) * _SECOND & _MASK
    return value ^ (value >> 31)


def _weights(seed: int, num: int) -> list[int]:
    return [_mixed((colour + 1) * seed & _MASK) for colour in range(num)]


_IN_BODY, _IN_HEAD = _weights(_BODY, 256), _weights(_HEAD, 256)


def ranked(keys: Sequence[int]) -> Colours:
    """Return colours in the order of the atoms' keys."""
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]


class Refined(NamedTuple):
    """What refinement comes to."""

    colours: Colours
    """The colours."""
    shape: Shape
    """Their shape."""
    num_rounds: int
    """How often all rules were looked at."""


def refined(clauses: Iterable[Clause], colours: Colours) -> Refined:
    """Refine colours in as many rounds as tell any atoms apart.

    Args:
        clauses: The rules.
        colours: Colours 0..k-1, all of them in use.
    """
    sums: Sequence[int] = colours
    num, rounds = max(colours, default=-1) + 1, 0
    in_body, in_head = _IN_BODY, _IN_HEAD
    if len(colours) > len(in_body):
        in_body, in_head = _weights(_BODY, len(colours)), _weights(_HEAD, len(colours))
    while num < len(colours):
        as_body = [in_body[colour] for colour in colours]
        totals = [colour << _COLOUR_BITS for colour in colours]
        for body, head in clauses:
            total = in_head[colours[head]]
            for atom in body:
                total += as_body[atom]
            total = (total ^ (total >> 29)) * _FIRST & _MASK
            total ^= total >> 32
            for atom in body:
                totals[atom] += total
            totals[head] += total * _AS_HEAD & _MASK
        colours, sums, before = ranked(totals), totals, num
        num, rounds = max(colours) + 1, rounds + 1
        if num == before:
            break
    return Refined(colours, (num, sum(map(_mixed, sums)) & _MASK), rounds)
