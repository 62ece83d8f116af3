"""Many choices of facts for one set of rules, chained all at once.

The facts are the first atoms of one of some random orders. Each order and number of facts is a
choice; a number holds one bit for each of them, so that one operation chains all. Bit n of the part
of an order stands for its first n atoms.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.theories.refinement import Clause


class Draft(NamedTuple):
    """A theory over the atoms 0, 1, ..., of which not all need occur."""

    facts: Sequence[int]
    """Its facts."""
    clauses: Sequence[Clause]
    """Its rules."""
    rounds: Sequence[int]
    """The round of each atom, -1 where it is not derivable."""


class Trials:
    """A set of rules with many choices of facts."""

    def __init__(
        self, clauses: Sequence[Clause], orders: Sequence[Sequence[int]], num_atoms: int
    ) -> None:
        self._clauses = clauses
        self._orders = orders
        self._width = num_atoms + 1
        self.atoms = {atom for body, head in clauses for atom in (*body, head)}
        """Those of the rules."""
        full = (1 << self._width) - 1
        known = [0] * num_atoms
        for part, order in enumerate(orders):
            for place, atom in enumerate(order, 1):
                known[atom] |= (full >> place << place) << (part * self._width)
        self._rounds = [known]

    def with_depth(self, depth: int) -> int:
        """Return the choices whose closure takes exactly so many rounds."""
        reached = -1
        for _ in range(depth + 1):
            known = self._rounds[-1]
            new = known.copy()
            for body, head in self._clauses:
                bits = known[body[0]]
                for atom in body[1:]:
                    bits &= known[atom]
                new[head] |= bits
            changed = 0
            for before, after in zip(known, new, strict=True):
                changed |= before ^ after
            last, reached = reached, changed
            self._rounds.append(new)
            if not last:
                return 0
        ends = (1 << self._width * len(self._orders)) - 1
        return last & ~reached & ends

    def deriving(self, atoms: Iterable[int]) -> int:
        """Return the choices that derive all of some atoms, once rounds are done."""
        derived, known = -1, self._rounds[-1]
        for atom in atoms:
            derived &= known[atom]
        return derived

    def allowed(self, num_facts: Range, least_symbols: int) -> int:
        """Return the choices with so many facts and at least so many atoms that occur."""
        bits = 0
        for part, order in enumerate(self._orders):
            isolated = [place for place, atom in enumerate(order, 1) if atom not in self.atoms]
            num_lacking = least_symbols - len(self.atoms)
            least = num_facts.min
            if num_lacking > len(isolated):
                continue
            if num_lacking > 0:
                least = max(least, isolated[num_lacking - 1])
            if least <= num_facts.max:
                bits |= ((2 << num_facts.max) - (1 << least)) << (part * self._width)
        return bits

    def draft(self, choices: int, draws: Draws) -> Draft:
        """Return the theory of one of the choices, taken at random."""
        for _ in range(draws.below(choices.bit_count())):
            choices &= choices - 1
        choice = (choices & -choices).bit_length() - 1
        part, num = divmod(choice, self._width)
        rounds = [-1] * len(self._rounds[0])
        for number, known in enumerate(reversed(self._rounds), 1):
            for atom, bits in enumerate(known):
                if bits >> choice & 1:
                    rounds[atom] = len(self._rounds) - number
        return Draft(self._orders[part][:num], self._clauses, rounds)
