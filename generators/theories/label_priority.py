"""Label priority: labels first, and rules that respect them (SimpleLogic, `lp`).

As in Zhang et al., "On the Paradox of Learning to Reason from Data" (2022): atoms are spread over
levels and labelled by fair coins, with atoms of either label in each level; each atom above level 0
gets a rule with a body of its own label from the level below; the true atoms of level 0 are the
facts. Further rules are drawn at random, never from true atoms alone to a false one, and each rule
with a body of true atoms alone comes with one of false atoms alone. Written afresh, with one more
condition, by which a true atom's level is its round: no rule derives a true atom before its level.
So the closure takes exactly as many rounds as there are levels above 0.
"""

from collections.abc import Iterator, Sequence
from math import comb

from symshift.data.seeds import Draws
from symshift.generators.theories.limits import Limits, Sizes
from symshift.generators.theories.refinement import Clause
from symshift.generators.theories.trials import Draft

MAX_TRIES = 20
"""Theories that are drawn for one candidate."""


def draw_by_labels(
    draws: Draws,
    limits: Limits,
    num_symbols: Sequence[int],
    closure_depth: int,
    *,
    has_underivable: bool,
) -> Draft | None:
    """Draw a theory whose closure takes a given number of rounds.

    Args:
        draws: The randomness.
        limits: What the theory may be.
        num_symbols: The numbers of predicates to choose from.
        closure_depth: The rounds.
        has_underivable: Whether there must be an atom to ask about that is not derivable.

    Returns:
        None if MAX_TRIES theories broke a limit.
    """
    for _ in range(MAX_TRIES):
        sizes = limits.draw_sizes(draws, num_symbols, closure_depth)
        levels = _Levels(draws, sizes, closure_depth + 1, limits.body_size.min)
        clauses = _Clauses(draws, limits, levels)
        if not clauses.fill(sizes.num_rules):
            continue
        occurring = clauses.occurring
        has_false = not occurring.isdisjoint(levels.all_false)
        if len(occurring) >= limits.num_symbols.min and (has_false or not has_underivable):
            draws.shuffle(clauses.found)
            return Draft(levels.facts, clauses.found, levels.rounds)
    return None


class _Levels:
    """Atoms spread over levels, and their labels."""

    def __init__(self, draws: Draws, sizes: Sizes, num_levels: int, least: int) -> None:
        num_atoms = sizes.num_atoms
        order = list(range(num_atoms))
        draws.shuffle(order)
        self.level = [0] * num_atoms
        """The level of each atom."""
        self.is_true = [False] * num_atoms
        """The label of each atom."""
        self.members: list[tuple[Sequence[int], Sequence[int]]] = []
        """The false and the true atoms of each level."""
        width, rest = divmod(num_atoms, num_levels)
        for number in range(num_levels):
            atoms = [order.pop() for _ in range(width + (number < rest))]
            low, high = least, len(atoms) - least
            if number == 0:
                low, high = sizes.facts.min, sizes.facts.max
            num_true = _coins(draws, len(atoms), low, high)
            for place, atom in enumerate(atoms):
                self.level[atom] = number
                self.is_true[atom] = place < num_true
            self.members.append((atoms[num_true:], atoms[:num_true]))
        self.all_false = [atom for false, _ in self.members for atom in false]
        """The false atoms."""

    @property
    def facts(self) -> Sequence[int]:
        """The true atoms of level 0."""
        return self.members[0][1]

    @property
    def rounds(self) -> Sequence[int]:
        """The round of each atom, -1 where it is false."""
        return [at if true else -1 for at, true in zip(self.level, self.is_true, strict=True)]

    def allows(self, body: Sequence[int], head: int) -> bool:
        """Tell whether a rule keeps all labels and all rounds."""
        if not all(self.is_true[atom] for atom in body):
            return True
        above = 1 + max(self.level[atom] for atom in body)
        return self.is_true[head] and self.level[head] <= above


def _coins(draws: Draws, num: int, low: int, high: int) -> int:
    """Return how many of so many fair coins show heads, given that it is from low to high."""
    weights = [comb(num, heads) for heads in range(low, high + 1)]
    rest = draws.below(sum(weights))
    for heads, weight in enumerate(weights, low):
        if rest < weight:
            return heads
        rest -= weight
    raise AssertionError("the weights add up")


class _Clauses:
    """The rules of a theory, as they are drawn."""

    def __init__(self, draws: Draws, limits: Limits, levels: _Levels) -> None:
        self.found: list[Clause] = []
        """The rules so far."""
        self._levels = levels
        self._seen: set[tuple[frozenset[int], int]] = set()
        num_atoms = len(levels.level)
        self._atoms = draws.integers(num_atoms)
        self._least = limits.body_size.min
        largest = min(limits.body_size.max, num_atoms - 1)
        self._sizes = draws.integers(largest - self._least + 1)
        self._draws = draws

    @property
    def occurring(self) -> set[int]:
        """The atoms that occur in the rules and the facts."""
        atoms = {atom for body, head in self.found for atom in (*body, head)}
        return atoms.union(self._levels.facts)

    def fill(self, num_rules: int) -> bool:
        """Draw so many rules; return whether there are so many."""
        for below, above in zip(self._levels.members, self._levels.members[1:], strict=False):
            for label in (False, True):
                for head in above[label]:
                    self._add(self._drawn_from(below[label]), head)
        for _ in range(40 * num_rules + 400):
            if len(self.found) == num_rules:
                return True
            head = next(self._atoms)
            body = _distinct(self._atoms, self._least + next(self._sizes), head)
            if not self._levels.allows(body, head) or not self._add(body, head):
                continue
            if all(self._levels.is_true[atom] for atom in body) and len(self.found) < num_rules:
                self._add_false()
        return False

    def _add(self, body: Sequence[int], head: int) -> bool:
        key = frozenset(body), head
        if key in self._seen:
            return False
        self._seen.add(key)
        self.found.append((tuple(body), head))
        return True

    def _drawn_from(self, atoms: Sequence[int]) -> list[int]:
        size = min(self._least + next(self._sizes), len(atoms))
        return [atoms[place] for place in self._draws.sample(len(atoms), size)]

    def _add_false(self) -> None:
        """Add a rule of false atoms alone, if chance finds a new one."""
        false = self._levels.all_false
        for _ in range(20):
            size = self._least + next(self._sizes)
            if size < len(false):
                *body, head = (false[place] for place in self._draws.sample(len(false), size + 1))
                if self._add(body, head):
                    return


def _distinct(atoms: Iterator[int], size: int, head: int) -> list[int]:
    """Return so many different atoms, without the head."""
    body: list[int] = []
    while len(body) < size:
        atom = next(atoms)
        if atom != head and atom not in body:
            body.append(atom)
    return body
