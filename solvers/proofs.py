"""The checker of proofs: is every step right, does the answer follow, and could a step go?

It reads the steps as they stand and chains nothing itself, so it shares no method with the solver.
A proof of the answer true is right if each step is a given rule whose body is derived by then, and
the query is derived in the end. One of the answer false shows that the query is not derivable: its
steps are right, no given rule derives anything more, and the query is not derived.
"""

from dataclasses import dataclass

from symshift.data.theory import Answer, Rule, Theory
from symshift.data.verdict import Proof


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """What the checker says of a chain of thought."""

    verdict: Proof
    """The proof's own verdict."""
    bad_step: int | None = None
    """The number of the first bad step of a broken proof, from 1; the answer is the last step."""
    reason: str = ""
    """What is wrong there, or which step could go."""


def check_proof(theory: Theory, answer: Answer) -> ProofCheck:
    """Judge the chain of thought of an answer, whether or not the answer is right."""
    given = {rule.key for rule in theory.rules}
    derived = set(theory.facts)
    for number, step in enumerate(answer.steps, 1):
        if fault := _fault(step, given, derived):
            return ProofCheck(Proof.BROKEN, number, f"step {number} {_shown(step)}: {fault}")
        assert isinstance(step, Rule)
        derived.add(step.head)
    if fault := _unsupported(theory, answer.is_derivable, derived):
        if not answer.steps:
            return ProofCheck(Proof.ABSENT, None, f"there are no steps, and {fault}")
        number = len(answer.steps) + 1
        word = "true" if answer.is_derivable else "false"
        return ProofCheck(Proof.BROKEN, number, f"step {number}, the answer `{word}`: {fault}")
    if spare := _removable(theory, answer):
        number, step = spare
        return ProofCheck(Proof.VALID, None, f"step {number} `{step}` is not needed")
    return ProofCheck(Proof.MINIMAL)


def _shown(step: Rule | str) -> str:
    """Return a step as it can stand in a line: a text that is no rule may hold anything."""
    return f"`{str(step)[:60]}`" if isinstance(step, Rule) else repr(step[:60])


def _fault(
    step: Rule | str, given: set[tuple[tuple[str, ...], str]], derived: set[str]
) -> str | None:
    """Return what is wrong with a step, or None."""
    if not isinstance(step, Rule):
        return "it is no rule such as `a & b -> c`"
    if step.key not in given:
        return "the problem has no such rule"
    missing = next((atom for atom in step.body if atom not in derived), None)
    return None if missing is None else f"{missing} is not derived before it"


def _unsupported(theory: Theory, is_derivable: bool, derived: set[str]) -> str | None:
    """Return why the derived atoms do not show the answer, or None."""
    if is_derivable:
        return None if theory.query in derived else f"{theory.query} is not derived"
    for rule in theory.rules:
        if rule.head not in derived and derived.issuperset(rule.body):
            return f"rule `{rule}` derives more"
    return f"{theory.query} is derived" if theory.query in derived else None


def _removable(theory: Theory, answer: Answer) -> tuple[int, Rule | str] | None:
    """Return a step without which the proof is right as well, and its number, or None.

    That is one that derives what is derived before, or what neither a later step nor the answer
    needs. If several steps could go together, one of them could go alone: the last.
    """
    derived = set(theory.facts)
    for number, step in enumerate(answer.steps, 1):
        assert isinstance(step, Rule)
        if step.head in derived:
            return number, step
        derived.add(step.head)
    needed = {theory.query} if answer.is_derivable else derived.copy()
    for number in range(len(answer.steps), 0, -1):
        step = answer.steps[number - 1]
        assert isinstance(step, Rule)
        if step.head not in needed:
            return number, step
        needed.update(step.body)
    return None
