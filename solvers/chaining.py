"""Forward chaining in linear time, with rounds, and the stated order of proofs.

Each rule counts the atoms of its body that are still open, and fires when none is (Dowling and
Gallier 1984). Round 0 derives the facts; each further round derives every head whose rule has all
its body from earlier rounds. Work is linear in the text, but for putting the rules that fire in
one round in order.

The stated order: round by round, and within a round in the order of the rules in the text. Each
atom that is no fact is derived once, in its earliest round, by the first rule in the text that
derives it there. So a proof is a function of the text, and renaming a theory renames its proofs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from symshift.data.theory import Rule, Theory

SOLVER = "forward-chaining 1"


@dataclass(frozen=True, slots=True)
class Closure:
    """Everything that a theory derives."""

    rounds: Mapping[str, int]
    """The round of each derivable atom."""
    steps: tuple[Rule, ...]
    """One step for each derivable atom that is no fact, in the stated order."""

    @property
    def depth(self) -> int:
        """How many rounds derive anything new."""
        return self.rounds[self.steps[-1].head] if self.steps else 0

    def proof(self, query: str) -> tuple[Rule, ...]:
        """Return a proof that no step can be left out of, in the stated order.

        Of a derivable query, these are the steps that it rests on; of any other, all steps, since
        only the whole closure shows that it is not derivable. A proof of least size is not sought:
        to find one is NP-hard.
        """
        if query not in self.rounds:
            return self.steps
        needed = {query}
        kept = []
        for step in reversed(self.steps):
            if step.head in needed:
                needed.update(step.body)
                kept.append(step)
        return tuple(reversed(kept))


def forward_chain(theory: Theory) -> Closure:
    """Return the closure of a theory."""
    rules = theory.rules
    waiting: dict[str, list[int]] = {}
    num_open = []
    for number, (body, _) in enumerate(rules):
        num_open.append(len(body))
        for atom in body:
            waiting.setdefault(atom, []).append(number)
    rounds = dict.fromkeys(theory.facts, 0)
    steps: list[Rule] = []
    newest, depth = list(theory.facts), 0
    while newest:
        depth += 1
        fired = []
        for atom in newest:
            for number in waiting.get(atom, ()):
                num_open[number] -= 1
                if not num_open[number]:
                    fired.append(number)
        newest = []
        for number in sorted(fired):
            head = rules[number].head
            if head not in rounds:
                rounds[head] = depth
                newest.append(head)
                steps.append(rules[number])
    return Closure(rounds, tuple(steps))
