"""Propositional logic: find a partial assignment that satisfies a formula.

```
input    (a xor b) & (c | !a)
target   a=0 b=1
```

An answer is right when no two of its literals contradict each other and every completion satisfies
the formula (contract, the four tasks); the empty answer is right for a tautology, and tautologies
are kept. The target is minimal and unique by the rule of solvers/propositional.py. A second
algorithm (solvers/completions.py) checks it, and judges answers.

The published set is PropRandom35 of DeepLTL (ICLR 2021; `prop-35`, made by its sat_generator.py).
For networks, both write formulas in Polish notation and targets as symbols and values in turn. It
differs in these points:

- Its trees have the constants among their leaves. Spot's identities remove them, but not without a
  trace (`f xor 1` becomes `!f`): `--operators "0 1 ! & | <-> xor"` draws them too.
- Its sizes are equally frequent from 12 up, with 9.5 % of the rows below; here as for ltl, from 10
  up with 11.2 %. Spot sorts the operands of a formula; here they stay as they were drawn.
- Its targets are cores that a SAT solver reports, which need not be minimal.
- It drops tautologies, whose target is empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symshift.data import assignment as assignments
from symshift.data import formula as formulas
from symshift.data.assignment import AssignmentError
from symshift.data.errors import DataError, DisagreementError, UsageError
from symshift.data.formula import TEMPORAL, Formula, FormulaError
from symshift.data.grammar import SYMBOL, Grammar, Move
from symshift.data.options import option
from symshift.data.task import Problem, Rejected, Solution, Task
from symshift.data.verdict import Judgement, Verdict
from symshift.data.vocabulary import Window
from symshift.generators.formulas.problems import (
    FormulaOptions,
    FormulaProblems,
    formula_problems,
    problem_of,
)
from symshift.solvers.budget import BudgetExceeded
from symshift.solvers.completions import MAX_STEPS, counterexample
from symshift.solvers.propositional import minimal_assignment, solver_of

_TOKENS = "0 1 ! & | -> <-> xor"
DEFAULT_OPERATORS = "! & | <-> xor"
CHECKER_BUDGET = f"{MAX_STEPS} checker steps"
# A symbol that came twice could contradict itself.
GRAMMAR = Grammar(
    start="name",
    final=("name",),
    moves=(
        Move("name", SYMBOL, "value", fresh=True),
        Move("value", "0", "name"),
        Move("value", "1", "name"),
    ),
)

INSTRUCTIONS = (
    "The problem is a propositional formula. Symbols are names such as `a` or `p26`; `1` is true, "
    "`0` is false. Operators: `!` not, `&` and, `xor` exclusive or, `|` or, `->` implies, `<->` if "
    "and only if. From the tightest: `!`, `&`, `xor`, `|`, then `->` and `<->` on one level "
    "(right-associative).\n"
    "The answer is a partial assignment: literals such as `a=1 c=0`, separated by spaces, in any "
    "order. A symbol that it does not name may be true or false.\n"
    "The answer is right when no two literals contradict each other and every way to complete it "
    "satisfies the formula. For a formula that is always true, the empty answer is right. There is "
    "a right answer, and any right answer counts."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FormulaOptions):
    """What shapes the distribution of formulas."""

    operators: str = option(DEFAULT_OPERATORS, 'constants and operators, such as "! & |"')

    def __post_init__(self) -> None:
        for operator in self.operators.split():
            if operator in TEMPORAL:
                raise UsageError(f"operator {operator!r} is temporal: prop takes only {_TOKENS}")


class Prop:
    """The task `prop`."""

    name = "prop"
    summary = "satisfying partial assignments of propositional formulas"
    instructions = INSTRUCTIONS
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {}
    names_matter = False
    fixed_tokens = tuple(_TOKENS.split())
    answer_mark = r"=.*"
    grammar: Grammar | None = GRAMMAR
    shortcut_names: tuple[str, ...] = ("all-true", "all-false")
    checker = f"completions 1, {CHECKER_BUDGET}"

    def stream(self, options: Options, window: Window) -> FormulaProblems:
        """Return formulas in canonical form."""
        return formula_problems(options, len(window), self.name, self.version)

    def read(self, text: str) -> Problem:
        """Return the formula that a text states."""
        return problem_of(text, _formula(text))

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Find the minimal assignment, and check it with the second algorithm."""
        formula = _formula(problem.input)
        target = minimal_assignment(formula)
        solver = solver_of(len(problem.symbols))
        try:
            if target is None:
                _confirm(counterexample(_negated(formula), {}), solver, problem, "nothing")
                return Rejected("unsatisfiable")
            text = assignments.show(target)
            _confirm(counterexample(formula, target), solver, problem, repr(text))
            return Solution(text, solver, _shortcuts(formula, problem.symbols))
        except BudgetExceeded:
            return Rejected("over the checker's limit")

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Judge an assignment."""
        formula = _formula(row["input"])
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer")
        foreign = False
        try:
            literals = assignments.literals(text)
            foreign = not {name for name, _ in literals} <= set(formula)
            answer = assignments.joined(literals)
            failing = counterexample(formula, answer)
        except AssignmentError as error:
            return Judgement(Verdict.INVALID, str(error), foreign)
        except BudgetExceeded:
            return Judgement(Verdict.TIMEOUT, f"undecided within {CHECKER_BUDGET}", foreign)
        if failing is not None:
            return Judgement(Verdict.INCORRECT, _why(formula, answer, failing), foreign)
        same = answer == _target(row)
        return Judgement(Verdict.EXACT if same else Verdict.CORRECT, foreign=foreign)

    def explain(self, row: Mapping[str, Any], text: str) -> str:
        """Say why an assignment got its verdict, with a completion that fails if it is wrong."""
        return self.check(row, text).reason or "every completion satisfies the formula"

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        """Return the assignment in which all symbols are true, or all false."""
        return assignments.show(_constant(name, formulas.symbols_of(_formula(row["input"]))))

    def encode_input(self, text: str) -> list[str]:
        """Return a formula in Polish order."""
        return list(_formula(text))

    def encode_target(self, text: str) -> list[str]:
        """Return an assignment as symbols and values in turn: `a 1 c 0`."""
        tokens: list[str] = []
        for name, value in assignments.parse(text).items():
            tokens += (name, "1" if value else "0")
        return tokens

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the assignment that tokens of encode_target state."""
        names, values = tokens[::2], tokens[1::2]
        is_one = len(names) == len(values) and {*values} <= {"0", "1"}
        if not is_one or not all(map(formulas.is_symbol, names)):
            return " ".join(tokens)
        return " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))

    def tree_paths(self, tokens: Sequence[str]) -> list[tuple[int, ...]]:
        """Return each node's branch choices, nearest first, of a formula in Polish order."""
        return formulas.tree_paths(tokens)


def _formula(text: str) -> Formula:
    try:
        formula = formulas.parse(text)
    except FormulaError as error:
        raise DataError(f"prop input {text[:60]!r}: {error}") from None
    if not formulas.is_boolean(formula):
        raise DataError(f"prop input {text[:60]!r}: it has a temporal operator")
    return formula


def _target(row: Mapping[str, Any]) -> Mapping[str, bool]:
    try:
        return assignments.parse(row["target"])
    except AssignmentError as error:
        raise DataError(f"prop target {row['target']!r:.60}: {error}") from None


def _negated(formula: Formula) -> Formula:
    return Formula(("!", *formula))


def _confirm(
    failing: Mapping[str, bool] | None, solver: str, problem: Problem, answer: str
) -> None:
    if failing is not None:
        raise DisagreementError(
            f"{solver} says {answer} satisfies {problem.input!r}, symshift's checker refutes it "
            f"with {assignments.show(failing)!r}: please report this row"
        )


def _constant(name: str, symbols: Sequence[str]) -> dict[str, bool]:
    if name not in Prop.shortcut_names:
        raise ValueError(f"shortcut={name!r} must be one of {Prop.shortcut_names}")
    return dict.fromkeys(symbols, name == "all-true")


def _shortcuts(formula: Formula, symbols: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        name
        for name in Prop.shortcut_names
        if counterexample(formula, _constant(name, symbols)) is None
    )


def _why(formula: Formula, answer: Mapping[str, bool], failing: Mapping[str, bool]) -> str:
    completion = {**dict.fromkeys(formulas.symbols_of(formula), False), **answer, **failing}
    return f"its completion {assignments.show(completion)} does not satisfy the formula"


TASK: Task = Prop()
