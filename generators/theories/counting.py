"""How many rules a theory can have whose closure takes a given number of rounds.

Let A(i) be the number of atoms that are derived by round i. A theory may have any rule whose head
comes at most one round after the last atom of its body. So with B(n) bodies over n atoms, it lacks
the B(A(i)) - B(A(i-1)) bodies that end in round i with each of the p - A(i+1) heads beyond; summed
by parts, and with p - A(c) atoms that are not derivable,

    B(A(c)) (p - A(c)) + sum of B(A(i)) (A(i+2) - A(i+1)) over i from 0 to c - 2.
"""

from functools import lru_cache
from math import comb

from symshift.data.options import Range


def num_rules(num_symbols: int, body_size: Range) -> int:
    """Return how many rules there are over so many predicates."""
    return num_symbols * _num_bodies(num_symbols - 1, body_size)


def _num_bodies(num_atoms: int, body_size: Range) -> int:
    sizes = range(body_size.min, min(body_size.max, num_atoms) + 1)
    return sum(comb(num_atoms, size) for size in sizes)


@lru_cache(maxsize=4096)
def most_rules(num_symbols: int, closure_depth: int, body_size: Range, facts: Range) -> int:
    """Return the most rules with which the closure takes so many rounds.

    Args:
        num_symbols: The predicates, at least one of which is not derivable.
        closure_depth: The rounds.
        body_size: Atoms in a body.
        facts: How many facts there may be.
    """
    bodies = [_num_bodies(num, body_size) for num in range(num_symbols)]
    # The least number of lacking rules so far, by the atoms of a round and of the one before.
    lacking = {(0, num): 0 for num in range(facts.min, min(facts.max, num_symbols - 1) + 1)}
    for _ in range(closure_depth):
        longer: dict[tuple[int, int], int] = {}
        for (before, num), lacks in lacking.items():
            for after in range(num + 1, num_symbols):
                found = lacks + bodies[before] * (after - num)
                longer[num, after] = min(found, longer.get((num, after), found))
        lacking = longer
    least = min(n + bodies[num] * (num_symbols - num) for (_, num), n in lacking.items())
    return num_rules(num_symbols, body_size) - least
