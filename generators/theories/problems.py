"""Theories with queries as problems: what the task horn draws."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from symshift.data.seeds import Draws, seed_from
from symshift.data.task import Cell, Even, Problem, Rejected
from symshift.data.theory import Rule, Theory
from symshift.data.vocabulary import name_at
from symshift.generators.theories.canonical import Canonical, TooSymmetricError, canonical
from symshift.generators.theories.label_priority import draw_by_labels
from symshift.generators.theories.limits import Limits, limits_of
from symshift.generators.theories.options import CHAINS, Options
from symshift.generators.theories.refinement import Clause
from symshift.generators.theories.rule_priority import draw_by_rules
from symshift.generators.theories.schedule import (
    Depths,
    EvenDepths,
    depth_ranges,
    depths_by_cell,
    depths_in_cell,
)
from symshift.generators.theories.trials import Draft

NO_THEORY = "no theory of the depth found"
TOO_SYMMETRIC = "over the limit of the canonical form"


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoryProblem(Problem):
    """A problem with what its text says."""

    theory: Theory = field(compare=False)
    """The theory and its query."""


class _Numbered(NamedTuple):
    """A theory over the atoms 0, 1, ... in order of first occurrence."""

    facts: Sequence[int]
    clauses: Sequence[Clause]
    form: Canonical


class _Drawn(NamedTuple):
    """A theory, and the atoms that can be asked about."""

    theory: _Numbered
    rounds: Mapping[int, Sequence[int]]
    """The atoms of each round; under -1 those that are not derivable."""


class TheoryProblems:
    """The problems of one choice of options and number of names: a data.task.ProblemStream."""

    def __init__(self, options: Options, num_names: int, version: int) -> None:
        """Check what is asked for.

        Raises:
            UsageError: If there is no such problem.
        """
        self.length: int | None = None
        """Candidates never end."""
        self.space: int | None = None
        """Theories are not counted."""
        self.bundle = 2 if options.decorrelate else 1
        """Both answers of a theory, lest the theory tell the one that is kept."""
        self._options = options
        self._limits = limits_of(options, num_names)
        self._ranges = depth_ranges(options, self._limits.largest_closure_depth)
        self._key = seed_from("horn", version, *self._shape())
        self._even_depths = EvenDepths(self._ranges, self._key)
        self._theory = lru_cache(maxsize=1)(self._draw)
        self._fitting = lru_cache(maxsize=256)(self._limits.fitting_symbols)

    def _shape(self) -> tuple[str, ...]:
        """Return what the distribution depends on; the number of names is not part of it."""
        limits, options = self._limits, self._options
        ranges = (limits.num_symbols, limits.rules, limits.facts, limits.size, limits.body_size)
        flags = (options.sampler, options.decorrelate, options.balance)
        return tuple(map(str, (*ranges, *self._ranges, *flags)))

    @cached_property
    def _closures(self) -> Mapping[Cell, Sequence[int]]:
        return depths_by_cell(self._limits, self._ranges)

    @cached_property
    def _cell_list(self) -> Sequence[Cell]:
        return tuple(self._closures)

    @property
    def cells(self) -> Mapping[Cell, int | None]:
        """The cells that theories can lie in."""
        return dict.fromkeys(self._closures)

    @cached_property
    def even(self) -> Sequence[Even]:
        """Labels, exactly; and depths, where they are not the cells' choice."""
        labels = Even(("label",), ((True,), (False,)), is_exact=True)
        if self._options.balance:
            return (labels,)
        query, closure = self._ranges
        depths = tuple((depth,) for depth in range(query.min, query.max + 1))
        closures = tuple(
            (label, depth)
            for label in (True, False)
            for depth in range(closure.min, closure.max + 1)
        )
        return (
            labels,
            Even(("depth",), depths),
            Even(("label", "closure_depth"), closures),
        )

    def place(self, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate where all cells are drawn evenly."""
        if not self._options.balance:
            return None
        return self._cell_draws(seed, index // 2).choice(self._cell_list)

    def _cell_draws(self, seed: int, pair: int) -> Draws:
        return Draws("horn cell", self._key, seed, pair)

    def problem(self, seed: int, index: int) -> Problem | Rejected:
        """Draw a theory and ask for a query of it."""
        pair, is_second = divmod(index, 2)
        limits, depths = self._wanted(seed, pair)
        asks_twice = self._options.decorrelate
        number = pair if asks_twice else index
        try:
            drawn = self._theory(limits, depths.closure, seed, number, asks_twice or is_second)
        except TooSymmetricError:
            return Rejected(TOO_SYMMETRIC)
        if drawn is None:
            return Rejected(NO_THEORY)
        draws = Draws("horn query", self._key, seed, number)
        if asks_twice:
            query = _like_queries(drawn, depths.query, draws)[is_second]
        else:
            query = draws.choice(drawn.rounds[-1 if is_second else depths.query])
        return _problem(drawn.theory, query, self._options.chain)

    def _wanted(self, seed: int, pair: int) -> tuple[Limits, Depths]:
        if not self._options.balance:
            return self._limits, self._even_depths.depths(seed, pair)
        draws = self._cell_draws(seed, pair)
        cell = draws.choice(self._cell_list)
        depths = depths_in_cell(self._closures[cell], self._ranges.query, draws)
        return self._limits.of_cell(*cell), depths

    def _draw(
        self, limits: Limits, closure_depth: int, seed: int, number: int, has_underivable: bool
    ) -> _Drawn | None:
        draws = Draws("horn theory", self._key, seed, number)
        whole = limits is self._limits
        sizes = self._fitting(closure_depth) if whole else [limits.num_symbols.max]
        if limits.has_labels_first:
            draft = draw_by_labels(
                draws, limits, sizes, closure_depth, has_underivable=has_underivable
            )
        else:
            draft = draw_by_rules(
                draws,
                limits,
                sizes,
                closure_depth,
                has_underivable=has_underivable,
                prefers_heads=self._options.decorrelate,
            )
        return None if draft is None else _drawn(draft)


def _like_queries(drawn: _Drawn, depth: int, draws: Draws) -> tuple[int, int]:
    """Return an atom of a round and one that is not derivable, as alike as the theory has them.

    They have as many rules, if possible, and then occur in as many bodies.
    """
    heads = Counter(head for _, head in drawn.theory.clauses)
    bodies = Counter(atom for body, _ in drawn.theory.clauses for atom in body)
    pairs = [
        (abs(heads[one] - heads[other]), abs(bodies[one] - bodies[other]), one, other)
        for one in drawn.rounds[depth]
        for other in drawn.rounds[-1]
    ]
    least = min(pairs)[:2]
    *_, one, other = draws.choice([pair for pair in pairs if pair[:2] == least])
    return one, other


def _drawn(draft: Draft) -> _Drawn:
    """Number the atoms of a draft in order of first occurrence, and group them by round."""
    numbers: dict[int, int] = {}
    facts = [numbers.setdefault(atom, len(numbers)) for atom in draft.facts]
    clauses = [
        (
            tuple([numbers.setdefault(atom, len(numbers)) for atom in body]),
            numbers.setdefault(head, len(numbers)),
        )
        for body, head in draft.clauses
    ]
    rounds: dict[int, list[int]] = {}
    for atom, number in numbers.items():
        rounds.setdefault(draft.rounds[atom], []).append(number)
    form = canonical(len(numbers), facts, clauses)
    return _Drawn(_Numbered(facts, clauses, form), rounds)


def _problem(theory: _Numbered, query: int, chain: str) -> TheoryProblem:
    """Return a theory with a query as text over the first names, in canonical order."""
    canonical_text, places = theory.form.with_query(query)
    names = [name_at(place) for place in places]
    rules = [Rule(tuple([names[atom] for atom in body]), names[h]) for body, h in theory.clauses]
    stated = Theory(tuple([names[fact] for fact in theory.facts]), tuple(rules), names[query])
    return TheoryProblem(
        theory=stated,
        input=str(stated),
        symbols=tuple(map(name_at, range(len(places)))),
        size=len(theory.facts) + len(rules),
        canonical_text=canonical_text,
        split_text=theory.form.text,
        form=chain,
    )


def problem_of(text: str, theory: Theory) -> TheoryProblem:
    """Return the problem that a text states, given the theory that it stands for.

    Raises:
        TooSymmetricError: If its canonical form would take too long.
    """
    symbols = theory.symbols()
    numbers = {name: number for number, name in enumerate(symbols)}
    facts = [numbers[fact] for fact in theory.facts]
    clauses = [
        (tuple([numbers[name] for name in rule.body]), numbers[rule.head]) for rule in theory.rules
    ]
    occurring = {*facts, *(atom for body, head in clauses for atom in (*body, head))}
    form = canonical(len(occurring), facts, clauses)
    canonical_text, places = form.with_query(numbers[theory.query])
    return TheoryProblem(
        theory=theory,
        input=text,
        symbols=tuple(sorted(symbols, key=lambda name: places[numbers[name]])),
        size=len(facts) + len(clauses),
        canonical_text=canonical_text,
        split_text=form.text,
        form=CHAINS[0],
    )
