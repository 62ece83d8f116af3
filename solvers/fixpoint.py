"""The least model of a Horn theory once more, by another method than solvers/chaining.py.

A set of atoms is a number whose bits are its members. The operator that adds the heads of all
rules whose bodies are inside is applied until nothing changes (van Emden and Kowalski 1976): slower
than chaining, and too simple to be wrong in the same way.
"""

from symshift.data.theory import Theory

FIXPOINT = "bit-mask fixpoint 1"


def rounds_by_fixpoint(theory: Theory) -> dict[str, int]:
    """Return each derivable atom with the application of the operator that derives it first."""
    names = theory.symbols()
    bits = {name: 1 << place for place, name in enumerate(names)}
    masks = [(sum(map(bits.__getitem__, body)), bits[head]) for body, head in theory.rules]
    known = sum(map(bits.__getitem__, theory.facts))
    rounds = dict.fromkeys(theory.facts, 0)
    while True:
        larger = known
        for body, head in masks:
            if known & body == body:
                larger |= head
        new = larger ^ known
        if not new:
            return rounds
        depth = 1 + max(rounds.values())
        while new:
            rounds[names[new.bit_length() - 1]] = depth
            new ^= 1 << (new.bit_length() - 1)
        known = larger
