"""The canonical form of a Horn theory: equal for theories that differ in names and order alone.

The form is the least one over a tree of labellings (McKay and Piperno 2014). Colours tell atoms
apart; where some still look alike, each of them in turn is singled out, until all differ. Three
prunings keep the tree small, and the form exact: atoms any two of which can be swapped are put in
order at once; of atoms that a known automorphism maps to one another, one is tried; and a branch
is left where the shape of its colours is less than on the best one. A theory with a query needs no
search of its own: of the places to which the theory's automorphisms take the query, it has the
first.

Of n atoms, at most n(n-1)/2 leaves are images of others; what else is looked at, only shapes and
forms tell apart. Work is counted and ends at MAX_WORK. Theories of 30 atoms, as symmetric as we
could make them, take less than a tenth of that (tests/generators/theories/test_canonical.py).
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from symshift.generators.theories.refinement import Clause, Colours, Refined, Shape, ranked, refined

MAX_WORK = 3_000_000
"""Rules and atoms that the refinements of one theory may visit."""
MAX_PATH = 200
"""Atoms that may be singled out one below the other."""
Permutation = tuple[int, ...]
"""Where each atom goes."""
_Form = tuple[tuple[int, tuple[int, ...]], ...]


class TooSymmetricError(ValueError):
    """A theory whose canonical form would take more than MAX_WORK steps."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """A theory's canonical form."""

    text: str
    """Its frozen serialisation."""
    places: Permutation
    """The place of each atom in the canonical order, where facts come first."""
    automorphisms: tuple[Permutation, ...]
    """Generators of the group of all automorphisms."""

    def with_query(self, query: int) -> tuple[str, Permutation]:
        """Return the serialisation of the theory with a query, and the atoms' places.

        Args:
            query: One of the atoms, or the number of atoms if it does not occur in the theory.
        """
        if query == len(self.places):
            return f"{self.text}?{query}", (*self.places, query)
        # Breadth first through the query's orbit, with an automorphism for each way there.
        ways = {query: tuple(range(len(self.places)))}
        reached = [query]
        for atom in reached:
            for automorphism in self.automorphisms:
                image = automorphism[atom]
                if image not in ways:
                    ways[image] = tuple(automorphism[there] for there in ways[atom])
                    reached.append(image)
        first = min(reached, key=self.places.__getitem__)
        places = tuple(self.places[there] for there in ways[first])
        return f"{self.text}?{places[query]}", places


def canonical(num_atoms: int, facts: Sequence[int], clauses: Sequence[Clause]) -> Canonical:
    """Return the canonical form of a theory.

    Args:
        num_atoms: Its atoms are the numbers below; all of them occur.
        facts: Its facts, all different.
        clauses: Its rules, all different.

    Raises:
        TooSymmetricError: If it would take more than MAX_WORK steps.
    """
    given = set(facts)
    search = _Search(clauses, num_atoms)
    colours = search.refine(ranked([atom not in given for atom in range(num_atoms)])).colours
    if max(colours, default=-1) + 1 < num_atoms:
        search.visit(colours, [])
        assert search.best is not None
        colours = search.best
    rules = (f"{'&'.join(map(str, body))}>{head}" for head, body in _form(clauses, colours))
    text = f"{len(facts)}/{num_atoms}:{','.join(rules)}"
    return Canonical(text, tuple(colours), tuple(search.automorphisms))


def _form(clauses: Sequence[Clause], places: Sequence[int]) -> _Form:
    """Return the rules in places, sorted."""
    placed = [(places[head], tuple(sorted([places[a] for a in body]))) for body, head in clauses]
    return tuple(sorted(placed))


def _cells(colours: Colours) -> list[list[int]]:
    """Return the atoms of each colour, in the order of the colours."""
    cells: list[list[int]] = [[] for _ in range(max(colours) + 1)]
    for atom, colour in enumerate(colours):
        cells[colour].append(atom)
    return cells


class _Search:
    """The tree of labellings of one theory, walked depth first."""

    def __init__(self, clauses: Sequence[Clause], num_atoms: int) -> None:
        self.best: Colours | None = None
        """The labelling with the least form so far."""
        self.automorphisms: list[Permutation] = []
        """Those found so far."""
        self._clauses = clauses
        self._num_atoms = num_atoms
        self._least: _Form = ()
        self._shapes: list[Shape] = []
        self._leaves: dict[_Form, tuple[Sequence[int], Colours]] = {}
        self._swappable: dict[tuple[int, int], bool] = {}
        self.work = 0
        """Rules and atoms that were looked at."""

    @cached_property
    def _rules(self) -> Set[tuple[frozenset[int], int]]:
        return {(frozenset(body), head) for body, head in self._clauses}

    def refine(self, colours: Colours) -> Refined:
        """Refine colours, and count the work."""
        found = refined(self._clauses, colours)
        self._spend((found.num_rounds + 1) * (len(self._clauses) + self._num_atoms))
        return found

    def _spend(self, steps: int) -> None:
        self.work += steps
        if self.work > MAX_WORK:
            raise TooSymmetricError(f"its canonical form takes more than {MAX_WORK} steps")

    def visit(self, colours: Colours, path: Sequence[int]) -> int:
        """Search below a node, and return how long the path is of the node to go on with.

        Args:
            colours: The node's colours.
            path: The atoms that were singled out on the way to it.
        """
        colours = self._with_swappable_ordered(colours)
        cells = [cell for cell in _cells(colours) if len(cell) > 1]
        if not cells:
            return self._end(colours, path)
        if len(path) == MAX_PATH:
            raise TooSymmetricError(f"more than {MAX_PATH} atoms have to be singled out")
        tried: set[int] = set()
        for atom, child in self._children(colours, min(cells, key=len), len(path)):
            if tried and not tried.isdisjoint(self._orbit(atom, path)):
                continue
            tried.add(atom)
            if child.shape < self._shapes[len(path)]:
                continue
            if child.shape > self._shapes[len(path)]:
                self._shapes[len(path) :] = [child.shape]
                self.best = None
            back = self.visit(child.colours, [*path, atom])
            if back < len(path):
                return back
        return len(path)

    def _children(
        self, colours: Colours, cell: Sequence[int], depth: int
    ) -> Iterator[tuple[int, Refined]]:
        """Yield the atoms of a cell with what singling them out leads to.

        On the way to the first leaf, the greatest shape comes first, so that it is soon the best.
        """
        children = ((atom, self._single_out(colours, atom)) for atom in cell)
        if depth < len(self._shapes):
            yield from children
            return
        found = sorted(children, key=lambda child: child[1].shape, reverse=True)
        self._shapes.append(found[0][1].shape)
        yield from found

    def _single_out(self, colours: Colours, atom: int) -> Refined:
        single = [2 * colour + 1 for colour in colours]
        single[atom] -= 1
        return self.refine(ranked(single))

    def _end(self, colours: Colours, path: Sequence[int]) -> int:
        form = _form(self._clauses, colours)
        if form not in self._leaves:
            if self.best is None or form < self._least:
                self.best, self._least = colours, form
            self._leaves[form] = path, colours
            return len(path)
        before, labelling = self._leaves[form]
        at = dict(zip(labelling, range(self._num_atoms), strict=True))
        self.automorphisms.append(tuple(at[place] for place in colours))
        # What is left below the node where the two paths part is an image of what is known.
        return next(n for n, (one, two) in enumerate(zip(path, before, strict=True)) if one != two)

    def _orbit(self, atom: int, path: Sequence[int]) -> set[int]:
        """Return where the known automorphisms that fix a path take an atom."""
        fixing = [a for a in self.automorphisms if all(a[fixed] == fixed for fixed in path)]
        orbit, waiting = {atom}, [atom]
        while waiting:
            here = waiting.pop()
            found = {automorphism[here] for automorphism in fixing} - orbit
            orbit |= found
            waiting += found
        return orbit

    def _with_swappable_ordered(self, colours: Colours) -> Colours:
        """Return colours that tell atoms apart where all of a colour can be swapped."""
        keys = [colour * self._num_atoms for colour in colours]
        for first, *others in _cells(colours):
            if others and all(self._can_swap(first, other) for other in others):
                for place, atom in enumerate(others, 1):
                    keys[atom] += place
        return ranked(keys)

    def _can_swap(self, one: int, other: int) -> bool:
        """Tell whether swapping two atoms of a colour is an automorphism; note it if so."""
        known = self._swappable.get((one, other))
        if known is None:
            swap = list(range(self._num_atoms))
            swap[one], swap[other] = other, one
            known = all(
                (frozenset([swap[atom] for atom in body]), swap[head]) in self._rules
                for body, head in self._rules
                if one == head or other == head or one in body or other in body
            )
            self._spend(len(self._rules))
            self._swappable[one, other] = known
            if known:
                self.automorphisms.append(tuple(swap))
        return known
