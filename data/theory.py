"""Horn theories with a query: `facts: a, b; rules: a & b -> c, c -> d; query: d`.

A theory is a set of facts and a set of rules over atoms; each rule derives its head from the
atoms of its body. The text gives both in an order that has no meaning, apart from deciding the
stated order of proofs. Nothing may stand twice: neither a fact, nor a rule, nor an atom of a body.

An answer is a chain of thought: steps, then whether the query is derivable. Each step is a rule:
`a & b -> c; c -> d; true`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from symshift.data.text import is_name

MAX_TEXT = 200_000
TRUTHS = {"true": True, "false": False}

_INPUT = re.compile(r"\s*facts\s*:([^;]*);\s*rules\s*:([^;]*);\s*query\s*:([^;]*)")


class TheoryError(ValueError):
    """A text that is no theory or no answer; the message says why."""


class Rule(NamedTuple):
    """A definite clause; as a step of a proof, its application."""

    body: tuple[str, ...]
    """The atoms that it needs, at least one."""
    head: str
    """The atom that it derives."""

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        """What rules have in common that differ only in the order of their bodies."""
        return tuple(sorted(self.body)), self.head

    def __str__(self) -> str:
        return f"{' & '.join(self.body)} -> {self.head}"


@dataclass(frozen=True, slots=True)
class Theory:
    """Facts and rules in the order of their text, and a query."""

    facts: tuple[str, ...]
    """The atoms that are given."""
    rules: tuple[Rule, ...]
    """The rules."""
    query: str
    """The atom that is asked about; it need not occur in a fact or a rule."""

    def symbols(self) -> tuple[str, ...]:
        """Return the distinct atoms in order of first occurrence."""
        found = dict.fromkeys(self.facts)
        for body, head in self.rules:
            found.update(dict.fromkeys(body))
            found[head] = None
        found[self.query] = None
        return tuple(found)

    def __str__(self) -> str:
        rules = ", ".join(map(str, self.rules))
        return f"facts: {', '.join(self.facts)}; rules: {rules}; query: {self.query}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a chain of thought says."""

    steps: tuple[Rule | str, ...]
    """Its steps in order; one that is no rule stays a text."""
    is_derivable: bool
    """Its last word: whether the query is derivable."""

    def __str__(self) -> str:
        return "; ".join([*map(str, self.steps), "true" if self.is_derivable else "false"])


def parse(text: str) -> Theory:
    """Read a theory with its query.

    Raises:
        TheoryError: If the text is none, something stands twice, or the text is longer than
            MAX_TEXT characters.
    """
    _require_short(text)
    parts = _INPUT.fullmatch(text)
    if parts is None:
        raise TheoryError("it is not of the form `facts: a, b; rules: a & b -> c; query: c`")
    facts = tuple(_items(parts[1]))
    rules = tuple(map(parse_rule, _items(parts[2])))
    query = parts[3].strip()
    theory = Theory(facts, rules, query)
    for name in theory.symbols():
        if not is_name(name):
            raise TheoryError(f"{name[:40]!r} is no atom's name")
    _require_distinct("fact", facts)
    _require_distinct("rule", [rule.key for rule in rules])
    return theory


def parse_rule(text: str) -> Rule:
    """Read a rule, such as `a & b -> c`.

    Raises:
        TheoryError: If the text is none, or an atom stands twice in its body.
    """
    left, arrow, right = text.partition("->")
    body, head = tuple(map(str.strip, left.split("&"))), right.strip()
    if not arrow or not head or not all(body):
        raise TheoryError(f"{text.strip()[:60]!r} is no rule such as `a & b -> c`")
    if len(set(body)) < len(body):
        raise TheoryError(f"rule {text.strip()[:60]!r}: an atom stands twice in its body")
    return Rule(body, head)


def parse_answer(text: str) -> Answer:
    """Read an answer. Its last part decides; a step before it that is no rule is kept as text.

    Raises:
        TheoryError: If the last part is neither `true` nor `false`, or the text is longer than
            MAX_TEXT characters.
    """
    _require_short(text)
    *steps, last = map(str.strip, text.split(";"))
    if last not in TRUTHS:
        raise TheoryError(f"it ends with {last[-40:]!r}, not with `true` or `false`")
    return Answer(tuple(map(_step, steps)), TRUTHS[last])


def _step(text: str) -> Rule | str:
    try:
        rule = parse_rule(text)
    except TheoryError:
        return text
    return rule if all(map(is_name, (*rule.body, rule.head))) else text


def _items(text: str) -> list[str]:
    """Return the items of a list that may be empty."""
    return list(map(str.strip, text.split(","))) if text.strip() else []


def _require_short(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise TheoryError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")


def _require_distinct(kind: str, items: Sequence[object]) -> None:
    if len(set(items)) < len(items):
        twice = next(item for at, item in enumerate(items) if item in items[:at])
        raise TheoryError(f"{kind} {_shown(twice)!r} stands twice")


def _shown(item: object) -> str:
    return str(Rule(*item)) if isinstance(item, tuple) else str(item)


def same_steps(one: Iterable[Rule | str], other: Iterable[Rule | str]) -> bool:
    """Tell whether two chains have the same steps in the same order, bodies in any order."""
    return [_key(step) for step in one] == [_key(step) for step in other]


def _key(step: Rule | str) -> object:
    return step.key if isinstance(step, Rule) else step
