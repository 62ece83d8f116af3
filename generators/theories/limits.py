"""Which theories are possible: options checked against one another before anything is drawn.

Each row asks for a theory whose closure takes a given number c of rounds, and that has an atom
which is not derivable. With p predicates and bodies of b atoms or more, that needs b facts, an
atom for each round and one more, so c is at most p - b - 1; label priority puts b atoms of either
label into every round, so that p is at least 2b(c + 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from symshift.data.errors import UsageError
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.theories.counting import most_rules, num_rules
from symshift.generators.theories.options import Options

MAX_SYMBOLS = 200
MAX_RULES = 2_000
MAX_BODY = 10
_DEFAULT_SYMBOLS = Range(5, 30)
_RULES_PER_SYMBOL = 4
_EXTRA_RULES_PER_SYMBOL = 3


class Counts(NamedTuple):
    """How many rules and facts theories have."""

    rules: Range
    """The rules."""
    facts: Range
    """The facts, for some number of rules."""


class Sizes(NamedTuple):
    """How large one theory is to be."""

    num_atoms: int
    """Predicates to draw from; rules and facts need not use all, as far as the limits allow."""
    num_rules: int
    """Its rules."""
    facts: Range
    """How many facts there may be beside them."""


class _Own(NamedTuple):
    """How many facts and rules a sampler allows."""

    most_facts: int
    least_rules: int
    most_rules: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What theories are asked for, for some number of names."""

    num_symbols: Range
    """Predicates."""
    rules: Range | None
    """Rules; None for what the sampler takes."""
    facts: Range
    """Facts."""
    size: Range
    """Rules and facts together."""
    body_size: Range
    """Atoms in a body."""
    has_labels_first: bool
    """Whether labels come before rules (label priority)."""

    def counts(self, num_symbols: int, closure_depth: int) -> Counts | None:
        """Return how many rules and facts there may be with so many predicates and rounds.

        Returns:
            None if there is no such theory.
        """
        own = self._of_sampler(num_symbols, closure_depth)
        least_facts = max(self.facts.min, self.body_size.min if closure_depth else 1)
        if own is None or least_facts > min(self.facts.max, own.most_facts):
            return None
        facts = Range(least_facts, min(self.facts.max, own.most_facts))
        asked = self.rules or Range(own.least_rules, own.most_rules)
        least_rules = max(own.least_rules, asked.min, self.size.min - facts.max)
        most_rules = min(asked.max, self.size.max - facts.min)
        if most_rules > self._num_rules(num_symbols) // 2:
            most_rules = min(most_rules, self.most_rules(num_symbols, closure_depth, facts))
        num_places = facts.max + most_rules * (self.body_size.max + 1)
        if least_rules > most_rules or num_places < self.num_symbols.min:
            return None
        return Counts(Range(least_rules, most_rules), facts)

    def _of_sampler(self, num_symbols: int, closure_depth: int) -> "_Own | None":
        """Return what the sampler allows, whatever is asked for."""
        if not self.has_labels_first:
            most_rules = _RULES_PER_SYMBOL * num_symbols
            return _Own(num_symbols - 1 - closure_depth, closure_depth + 1, most_rules)
        least_body, num_levels = self.body_size.min, closure_depth + 1
        if num_symbols // num_levels < 2 * least_body:
            return None
        width = -(-num_symbols // num_levels)
        least_rules = max(1, num_symbols - width)
        most_rules = least_rules + _EXTRA_RULES_PER_SYMBOL * num_symbols
        return _Own(width - least_body, least_rules, most_rules)

    def _num_rules(self, num_symbols: int) -> int:
        return num_rules(num_symbols, self.body_size)

    def most_rules(self, num_symbols: int, closure_depth: int, facts: Range) -> int:
        """Return the most rules there can be; for label priority half of all, never too many."""
        if self.has_labels_first:
            return self._num_rules(num_symbols) // 2
        return most_rules(num_symbols, closure_depth, self.body_size, facts)

    def draw_sizes(self, draws: Draws, num_symbols: Sequence[int], closure_depth: int) -> Sizes:
        """Draw how large a theory is to be.

        Args:
            draws: The randomness.
            num_symbols: The numbers of predicates to choose from (`fitting_symbols`).
            closure_depth: The rounds of its closure.
        """
        num_atoms = draws.choice(num_symbols)
        counts = self.counts(num_atoms, closure_depth)
        assert counts is not None, "the numbers were chosen for the depth"
        num_rules = counts.rules.min + draws.below(counts.rules.max - counts.rules.min + 1)
        return Sizes(num_atoms, num_rules, self.facts_beside(num_rules, counts))

    def facts_beside(self, num_rules: int, counts: Counts) -> Range:
        """Return how many facts there may be beside so many rules."""
        low, high = self.size.min - num_rules, self.size.max - num_rules
        return Range(max(counts.facts.min, low), min(counts.facts.max, high))

    def fitting_symbols(self, closure_depth: int) -> list[int]:
        """Return the numbers of predicates with which the closure can take so many rounds."""
        low, high = self.num_symbols.min, self.num_symbols.max
        return [num for num in range(low, high + 1) if self.counts(num, closure_depth)]

    @property
    def largest_closure_depth(self) -> int:
        """The most rounds that the closure can take; -1 if there is no theory at all."""
        depths = range(self.num_symbols.max - 1, -1, -1)
        return next((depth for depth in depths if self.fitting_symbols(depth)), -1)

    def of_cell(self, num_symbols: int, size: int) -> "Limits":
        """Return the limits of one cell."""
        return replace(self, num_symbols=Range(num_symbols, num_symbols), size=Range(size, size))


def limits_of(options: Options, num_names: int) -> Limits:
    """Return what options come to.

    Raises:
        UsageError: If there is no such theory. The message gives the largest possible value.
    """
    num_symbols, body = _num_symbols(options, num_names), options.body_size
    if not 1 <= body.min <= body.max <= MAX_BODY:
        raise UsageError(f"body_size {body}: bodies have 1 to {MAX_BODY} atoms")
    limits = Limits(
        num_symbols=num_symbols,
        rules=options.rules,
        facts=options.facts or Range(0, num_symbols.max),
        size=options.size or Range(0, MAX_RULES + MAX_SYMBOLS),
        body_size=body,
        has_labels_first=options.sampler == "lp",
    )
    _refuse_too_much(limits)
    if limits.largest_closure_depth < 0:
        wishes = {"rules": options.rules, "facts": options.facts, "size": options.size}
        given = "".join(f", {name} {value}" for name, value in wishes.items() if value)
        raise UsageError(
            f"no theory for sampler {options.sampler} has num_symbols {num_symbols}, body_size "
            f"{body}{given}: ask for more predicates, rules or size"
        )
    return limits


def _refuse_too_much(limits: Limits) -> None:
    """Refuse single values that no theory reaches."""
    most, body, rules = limits.num_symbols.max, limits.body_size, limits.rules
    if body.min > most - 1:
        _refuse("body_size", body, most - 1, f"with {most} predicates")
    largest = min(limits.most_rules(most, 0, Range(1, most - 1)), MAX_RULES)
    if rules is not None and rules.min > largest:
        _refuse("rules", rules, largest, f"with {most} predicates and bodies of {body}")
    if rules is not None and rules.max > MAX_RULES:
        _refuse("rules", rules, MAX_RULES, "in all")
    if limits.facts.min > most - 1:
        _refuse("facts", limits.facts, most - 1, f"with {most} predicates, one not derivable")
    if limits.facts.max < 1:
        raise UsageError(f"facts {limits.facts}: a theory has 1 fact or more")
    _refuse_sizes(limits, largest)


def _refuse_sizes(limits: Limits, largest: int) -> None:
    """Refuse sizes that so many rules and facts never add up to; `largest` rules are possible."""
    most, rules = limits.num_symbols.max, limits.rules
    most_facts = min(limits.facts.max, most - 1)
    most_rules = largest if rules is None else min(rules.max, largest)
    if limits.size.min > most_rules + most_facts:
        why = f"with {most_rules} rules and {most_facts} facts, the most there can be"
        _refuse("size", limits.size, most_rules + most_facts, why)
    least = max(limits.facts.min, 1) + (1 if rules is None else rules.min)
    if limits.size.max < least:
        raise UsageError(
            f"size {limits.size}: rules and facts are at least {least} together, as asked for"
        )


def _num_symbols(options: Options, num_names: int) -> Range:
    asked = options.num_symbols
    if asked is None:
        most = min(_DEFAULT_SYMBOLS.max, num_names)
        asked = Range(min(_DEFAULT_SYMBOLS.min, most), most)
    if asked.min > num_names:
        raise UsageError(f"num_symbols {asked}: the vocabulary has only {num_names} names")
    if asked.max > MAX_SYMBOLS:
        _refuse("num_symbols", asked, MAX_SYMBOLS, "in all")
    if min(asked.max, num_names) < 2:
        raise UsageError(f"num_symbols {asked}: a problem has 2 predicates or more")
    return Range(max(asked.min, 2), min(asked.max, num_names))


def _refuse(name: str, asked: Range, largest: int, why: str) -> None:
    raise UsageError(f"{name} {asked}: the largest possible is {largest} {why}")
