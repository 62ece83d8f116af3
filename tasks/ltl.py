"""LTL: find a trace that satisfies a formula of linear temporal logic.

```
input    a U b & X !b
target   b; cycle{!b}
```

Inputs are formulas in Spot's infix syntax, targets symbolic lassos in Spot's word syntax. An
answer is right when its language is not empty and every infinite word it describes satisfies the
formula (contract, the four tasks). Targets come from Spot and are checked by our own exact
checker, which also judges answers. For networks, formulas and steps are written in Polish
notation, as in DeepLTL (ICLR 2021).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import DataError, DisagreementError
from symshift.data.formula import ARITY, TEMPORAL, Formula, FormulaError
from symshift.data.grammar import SYMBOL, Grammar, Move
from symshift.data.options import option
from symshift.data.task import Problem, Rejected, Solution, Task
from symshift.data.trace import Trace, TraceError
from symshift.data.verdict import Judgement, Verdict
from symshift.data.vocabulary import Window
from symshift.generators.formulas.problems import (
    FormulaOptions,
    FormulaProblems,
    formula_problems,
    problem_of,
)
from symshift.solvers import lasso
from symshift.solvers.boolean import equivalent
from symshift.solvers.budget import BudgetExceeded
from symshift.solvers.lasso import Status
from symshift.solvers.spot import SolverLimit
from symshift.solvers.spot_discovery import find_spot
from symshift.solvers.steps import conjunction

_TOKENS = "0 1 ! X F G & | -> <-> xor U R W M ; { }"
DEFAULT_OPERATORS = "0 1 ! X U &"
CHECKER_BUDGET = f"{lasso.DEFAULT_MAX_STATES} checker states"
_STEP_ARITY = {
    **{token: arity for token, arity in ARITY.items() if token not in TEMPORAL},
    SYMBOL: 0,
}
# A trace that it lets pass may still describe no word, such as `cycle{0}`.
GRAMMAR = Grammar(
    start="step",
    final=("end",),
    moves=(
        *(Move("step", kind, "prefix", due=arity) for kind, arity in _STEP_ARITY.items()),
        Move("prefix", ";", "step"),
        Move("step", "{", "cycle", due=1),
        Move("cycle", ";", "cycle", due=1),
        Move("cycle", "}", "end"),
    ),
    arity=_STEP_ARITY,
)

INSTRUCTIONS = (
    "The problem is a formula of linear temporal logic about infinite words; finite traces (LTLf) "
    "have no meaning here. Symbols are names such as `a` or `p26`; `1` is true, `0` is false. "
    "Operators: `!` not, `X` next, `F` eventually, `G` always, `U` until, `R` release, `W` weak "
    "until, `M` strong release, `&` and, `xor` exclusive or, `|` or, `->` implies, `<->` if and "
    "only if. From the tightest: `! X F G`, then `U R W M` (right-associative), `&`, `xor`, `|`, "
    "then `->` and `<->` on one level (right-associative).\n"
    "The answer is a symbolic lasso in Spot's word syntax: steps separated by `;`, the last of "
    "them inside `cycle{...}`, which repeats for ever. Each step is a Boolean formula over the "
    "symbols. A step fixes only what it mentions; what it does not mention may be anything, anew "
    "at every visit. For example, `a & !b; cycle{b; 1}` is one step where `a` holds and `b` does "
    "not, then for ever, in turn, a step where `b` holds and a step that may be anything.\n"
    "The answer is right when it describes at least one infinite word and every infinite word that "
    "it describes satisfies the formula from its first step on. There is a right answer, and any "
    "right answer counts."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(FormulaOptions):
    """What shapes the distribution of formulas."""

    operators: str = option(DEFAULT_OPERATORS, 'constants and operators, such as "! X U &"')


class LTL:
    """The task `ltl`."""

    name = "ltl"
    summary = "satisfying traces of LTL formulas"
    instructions = INSTRUCTIONS
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {}
    names_matter = False
    fixed_tokens = tuple(_TOKENS.split())
    answer_mark = r"\{"
    grammar: Grammar | None = GRAMMAR
    shortcut_names: tuple[str, ...] = ("all-true", "all-false")
    checker = f"lasso 1, {CHECKER_BUDGET}"

    def stream(self, options: Options, window: Window) -> FormulaProblems:
        """Return formulas in canonical form."""
        return formula_problems(options, len(window), self.name, self.version)

    def read(self, text: str) -> Problem:
        """Return the formula that a text states."""
        try:
            formula = formulas.parse(text)
        except FormulaError as error:
            raise DataError(f"ltl input {text[:60]!r}: {error}") from None
        return problem_of(text, formula)

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Find a satisfying trace with Spot, and check it with our own checker."""
        formula = formulas.parse(problem.input)
        spot = find_spot()
        try:
            witness = spot.witness(formula)
        except SolverLimit:
            return Rejected("over the solver's limit")
        if witness is None:
            return Rejected("unsatisfiable")
        status = lasso.check(formula, witness).status
        if status is Status.EXHAUSTED:
            return Rejected("over the checker's limit")
        if status is not Status.SATISFIED:
            raise DisagreementError(
                f"Spot {spot.version} says {traces.show(witness)!r} satisfies {problem.input!r}, "
                f"symshift's checker says {status}: please report this row"
            )
        shortcuts = tuple(
            name
            for name in self.shortcut_names
            if lasso.check(formula, _constant(name, problem.symbols)).status is Status.SATISFIED
        )
        return Solution(traces.show(witness), f"spot {spot.version}", shortcuts)

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Judge a trace."""
        formula, target = _parsed(row["input"], row["target"])
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer")
        try:
            answer = _read_trace(text)
        except TraceError as error:
            return Judgement(Verdict.INVALID, str(error))
        foreign = not set(answer.symbols()) <= set(formula)
        outcome = lasso.check(formula, answer)
        if outcome.status is Status.SATISFIED:
            try:
                same = _same(answer, target)
            except BudgetExceeded as error:
                return Judgement(Verdict.CORRECT, f"not compared with the target: {error}", foreign)
            return Judgement(Verdict.EXACT if same else Verdict.CORRECT, foreign=foreign)
        if outcome.status is Status.VIOLATED:
            return Judgement(Verdict.INCORRECT, "a word of the trace violates it", foreign)
        if outcome.status is Status.EMPTY:
            reason = f"step {outcome.step} can never hold, so the trace describes no word"
            return Judgement(Verdict.INVALID, reason, foreign)
        return Judgement(Verdict.TIMEOUT, f"undecided within {CHECKER_BUDGET}", foreign)

    def explain(self, row: Mapping[str, Any], text: str) -> str:
        """Say why a trace got its verdict, with a counter-word where it is wrong."""
        judgement = self.check(row, text)
        if judgement.verdict is not Verdict.INCORRECT:
            return judgement.reason or "every word of the trace satisfies the formula"
        formula = formulas.parse(row["input"])
        try:
            word = lasso.counterexample(formula, traces.parse(text))
        except BudgetExceeded as error:
            return f"{judgement.reason}; none is shown: {error}"
        assert word is not None, "an incorrect trace has a counter-word"
        return f"the word {traces.show(word)} is one of the trace's and violates the formula"

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        """Return the constant trace in which all symbols are true, or all false."""
        return traces.show(_constant(name, formulas.symbols_of(formulas.parse(row["input"]))))

    def encode_input(self, text: str) -> list[str]:
        """Return a formula in Polish order."""
        return list(formulas.parse(text))

    def encode_target(self, text: str) -> list[str]:
        """Return a trace as Polish steps: `p1 ; p2 ; { c1 ; c2 }`."""
        trace = traces.parse(text)
        tokens: list[str] = []
        for step in trace.prefix:
            tokens += (*step, ";")
        tokens.append("{")
        for number, step in enumerate(trace.cycle):
            tokens += (";", *step) if number else step
        return [*tokens, "}"]

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the trace that tokens of encode_target state."""
        joined = " ".join(tokens)
        if not tokens or tokens[-1] != "}" or tokens.count("{") != 1:
            return joined
        at = tokens.index("{")
        if at and tokens[at - 1] != ";":
            return joined
        try:
            prefix = _steps(tokens[: at - 1]) if at else ()
            return traces.show(Trace(prefix, _steps(tokens[at + 1 : -1])))
        except FormulaError:
            return joined

    def tree_paths(self, tokens: Sequence[str]) -> list[tuple[int, ...]]:
        """Return each node's branch choices, nearest first, of a formula in Polish order."""
        return formulas.tree_paths(tokens)


def _constant(name: str, symbols: Sequence[str]) -> Trace:
    if name not in LTL.shortcut_names:
        raise ValueError(f"shortcut={name!r} must be one of {LTL.shortcut_names}")
    return Trace((), (conjunction(dict.fromkeys(symbols, name == "all-true")),))


@lru_cache(maxsize=1024)
def _parsed(text: str, target: str) -> tuple[Formula, Trace]:
    try:
        return formulas.parse(text), traces.parse(target)
    except (FormulaError, TraceError) as error:
        raise DataError(f"the ltl row {text!r:.60}: {error}") from None


@lru_cache(maxsize=64)
def _read_trace(text: str) -> Trace:
    return traces.parse(text)


def _same(answer: Trace, target: Trace) -> bool:
    """Tell whether two traces are equal step by step, each step as a Boolean function."""
    return len(answer.prefix) == len(target.prefix) and (
        len(answer.cycle) == len(target.cycle) and all(map(equivalent, answer.steps, target.steps))
    )


def _steps(tokens: Sequence[str]) -> tuple[Formula, ...]:
    steps, step = [], []
    for token in [*tokens, ";"]:
        if token != ";":
            step.append(token)
            continue
        steps.append(formulas.from_polish(step))
        if not formulas.is_boolean(steps[-1]):
            raise FormulaError("a step has a temporal operator")
        step = []
    return tuple(steps)


TASK: Task = LTL()
