"""Horn clauses: is a query derivable from facts and rules, and by which steps?

```
input    facts: a, b; rules: a & b -> c, c -> d; query: d
target   a & b -> c; c -> d; true
```

The task of Lazić et al., "To See the Unseen" (2026): a chain of thought by forward chaining, then
the answer. Theories are drawn as SimpleLogic draws them (Zhang et al. 2022), by rule priority or by
label priority. An answer is right when its last word is; its steps have a verdict of their own
(contract, the four tasks). Targets come from linear-time forward chaining (solvers/chaining.py) and
are checked by a fixpoint of bit masks (solvers/fixpoint.py), which also judges answers, and by the
checker of proofs (solvers/proofs.py).

The steps of a target follow the stated order of solvers/chaining.py: round by round, and within a
round as the rules stand in the text. With `chain=closure` they derive everything derivable; with
`chain=minimal` what the query rests on, or everything where it is not derivable.

A split is decided by the theory alone, without its query: no theory of a test set is asked about in
training.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from symshift.data import theory as theories
from symshift.data.errors import DataError, DisagreementError
from symshift.data.grammar import SYMBOL, Grammar, Move
from symshift.data.task import Problem, Rejected, Solution
from symshift.data.text import is_name, tokens_of
from symshift.data.theory import Answer, Theory, TheoryError
from symshift.data.verdict import Judgement, Proof, Verdict
from symshift.data.vocabulary import Window
from symshift.generators.theories.canonical import TooSymmetricError
from symshift.generators.theories.options import Options
from symshift.generators.theories.problems import TheoryProblem, TheoryProblems, problem_of
from symshift.solvers.chaining import SOLVER, Closure, forward_chain
from symshift.solvers.fixpoint import FIXPOINT, rounds_by_fixpoint
from symshift.solvers.proofs import ProofCheck, check_proof

ADJACENT_FACT = "adjacent-fact"
# No atom stands twice in a body.
GRAMMAR = Grammar(
    start="step",
    final=("end",),
    moves=(
        Move("step", "true", "end"),
        Move("step", "false", "end"),
        Move("step", SYMBOL, "body", fresh=True),
        Move("body", "&", "atom"),
        Move("atom", SYMBOL, "body", fresh=True),
        Move("body", "->", "head", clears=True),
        Move("head", SYMBOL, "rule"),
        Move("rule", ";", "step"),
    ),
)
INSTRUCTIONS = (
    "The problem states facts, rules and a query, such as `facts: a, b; rules: a & b -> c, c -> d; "
    "query: d`. A fact is derivable; the rule `a & b -> c` makes `c` derivable once `a` and `b` "
    "are. Nothing else is derivable.\n"
    "The answer is a chain of steps, then the word `true` if the query is derivable or `false` if "
    "it is not, all separated by `;`, such as `a & b -> c; c -> d; true`. Each step is one of the "
    "given rules, after the steps that derive the symbols on its left. The steps of a `true` "
    "answer derive the query; those of a `false` answer derive everything that is derivable.\n"
    "The answer is right when its last word is. Its steps are judged apart, and may be left out."
)


class Horn:
    """The task `horn`."""

    name = "horn"
    summary = "derivable queries of Horn theories, by forward chaining"
    instructions = INSTRUCTIONS
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {
        "facts": "list<string>",
        "rules": "list<string>",
        "query": "string",
        "label": "bool",
        "depth": "int64",
        "closure_depth": "int64",
        "proof": "list<string>",
    }
    names_matter = False
    fixed_tokens = ("facts:", "rules:", "query:", "&", "->", ",", ";", "true", "false")
    answer_mark = r"\b(?:true|false)\b"
    grammar: Grammar | None = GRAMMAR
    shortcut_names = (ADJACENT_FACT,)
    checker = f"{FIXPOINT}, proofs 1"

    def stream(self, options: Options, window: Window) -> TheoryProblems:
        """Return theories with queries."""
        return _stream(options, len(window))

    def read(self, text: str) -> Problem:
        """Return the theory and the query that a text states."""
        try:
            return problem_of(text, theories.parse(text))
        except (TheoryError, TooSymmetricError) as error:
            raise DataError(f"horn input {text[:60]!r}: {error}") from None

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Chain forward, and check label, depths and proof by other means."""
        theory = (
            problem.theory if isinstance(problem, TheoryProblem) else theories.parse(problem.input)
        )
        closure = forward_chain(theory)
        label = theory.query in closure.rounds
        proof = Answer(closure.proof(theory.query), label)
        _confirm(theory, closure, proof)
        steps = {"closure": closure.steps, "minimal": proof.steps, "answer": ()}[problem.form]
        return Solution(
            str(Answer(steps, label)),
            SOLVER,
            (ADJACENT_FACT,) if _has_adjacent_fact(theory) is label else (),
            {
                "facts": list(theory.facts),
                "rules": list(map(str, theory.rules)),
                "query": theory.query,
                "label": label,
                "depth": closure.rounds.get(theory.query),
                "closure_depth": closure.depth,
                "proof": list(map(str, proof.steps)),
            },
        )

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Judge the last word of an answer, and its steps."""
        theory, rounds = _read(row["input"])
        target = _target(row["target"])
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer", proof=Proof.ABSENT)
        try:
            answer = theories.parse_answer(text)
        except TheoryError as error:
            foreign = _is_foreign(text[: theories.MAX_TEXT], theory)
            return Judgement(Verdict.INVALID, str(error), foreign, Proof.ABSENT, str(error))
        foreign = _is_foreign(text, theory)
        proof = check_proof(theory, answer)
        reached = rounds.get(theory.query)
        if answer.is_derivable is not (reached is not None):
            why = "not derivable" if reached is None else f"derivable, in round {reached}"
            reason = f"the query {theory.query} is {why}"
            return Judgement(Verdict.INCORRECT, reason, foreign, proof.verdict, proof.reason)
        verdict = Verdict.EXACT if _same(answer, target) else Verdict.CORRECT
        return Judgement(verdict, "", foreign, proof.verdict, proof.reason)

    def explain(self, row: Mapping[str, Any], text: str) -> str:
        """Say why an answer got its verdict, and what its proof is worth."""
        judgement = self.check(row, text)
        if judgement.verdict is Verdict.INVALID:
            return judgement.reason
        proof = f"its proof is {judgement.proof}"
        if judgement.proof_reason:
            proof += f": {judgement.proof_reason}"
        return f"{judgement.reason or 'the answer is right'}; {proof}"

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        """Return true where the query is a fact, or a rule for it has a fact in its body."""
        if name not in self.shortcut_names:
            raise ValueError(f"shortcut={name!r} must be one of {self.shortcut_names}")
        return str(Answer((), _has_adjacent_fact(_read(row["input"])[0])))

    def encode_input(self, text: str) -> list[str]:
        """Return the text's own tokens."""
        return _tokens(text)

    def encode_target(self, text: str) -> list[str]:
        """Return the text's own tokens."""
        return _tokens(text)

    def decode(self, tokens: Sequence[str]) -> str:
        """Join the tokens as in a target's text."""
        return " ".join(tokens).replace(" ;", ";")

    def tree_paths(self, tokens: Sequence[str]) -> None:
        """Return None: theories are no trees."""


@lru_cache(maxsize=16)
def _stream(options: Options, num_names: int) -> TheoryProblems:
    return TheoryProblems(options, num_names, Horn.version)


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[Theory, Mapping[str, int]]:
    try:
        theory = theories.parse(text)
    except TheoryError as error:
        raise DataError(f"the horn row {text[:60]!r}: {error}") from None
    return theory, rounds_by_fixpoint(theory)


@lru_cache(maxsize=64)
def _target(text: str) -> Answer:
    try:
        return theories.parse_answer(text)
    except TheoryError as error:
        raise DataError(f"the horn target {text[:60]!r}: {error}") from None


def _confirm(theory: Theory, closure: Closure, proof: Answer) -> None:
    if (rounds := rounds_by_fixpoint(theory)) != closure.rounds:
        raise DisagreementError(
            f"{SOLVER} derives {dict(closure.rounds)} from {str(theory)!r}, {FIXPOINT} {rounds}: "
            "please report this row"
        )
    found: ProofCheck = check_proof(theory, proof)
    if found.verdict is not Proof.MINIMAL:
        raise DisagreementError(
            f"{SOLVER} proves {str(theory)!r} by {str(proof)!r}, the checker says {found.verdict} "
            f"({found.reason}): please report this row"
        )


def _same(answer: Answer, target: Answer) -> bool:
    is_same_label = answer.is_derivable is target.is_derivable
    return is_same_label and theories.same_steps(answer.steps, target.steps)


def _has_adjacent_fact(theory: Theory) -> bool:
    facts = set(theory.facts)
    return theory.query in facts or any(
        rule.head == theory.query and not facts.isdisjoint(rule.body) for rule in theory.rules
    )


def _is_foreign(text: str, theory: Theory) -> bool:
    return not set(filter(is_name, tokens_of(text))) <= set(theory.symbols())


def _tokens(text: str) -> list[str]:
    """Return the tokens of a text, where the three headings keep their colon."""
    tokens: list[str] = []
    for token in tokens_of(text):
        if token == ":" and tokens:
            tokens[-1] += token
        else:
            tokens.append(token)
    return tokens


TASK = Horn()
