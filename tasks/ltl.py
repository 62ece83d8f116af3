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
from symshift.data.formula import ARITY, Formula, FormulaError
from symshift.data.options import Range, option
from symshift.data.task import Cell, Problem, Rejected, Solution
from symshift.data.trace import Trace, TraceError
from symshift.data.verdict import Judgement, Verdict
from symshift.data.vocabulary import Window
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.streams import SAMPLERS, FormulaStream, formula_stream
from symshift.solvers import lasso
from symshift.solvers.boolean import equivalent
from symshift.solvers.budget import BudgetExceeded
from symshift.solvers.lasso import Status
from symshift.solvers.spot import SolverLimit, find_spot
from symshift.solvers.steps import conjunction

_TOKENS = "0 1 ! X F G & | -> <-> xor U R W M ; { }"
DEFAULT_OPERATORS = "0 1 ! X U &"
CHECKER_BUDGET = f"{lasso.DEFAULT_MAX_STATES} checker states"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What shapes the distribution of formulas."""

    size: Range = option(Range(1, 35), "nodes of the formula tree, A-B")
    num_symbols: Range | None = option(None, "distinct symbols in a formula, A-B")
    sampler: str = option("randltl", "how formulas are drawn", SAMPLERS)
    operators: str = option(DEFAULT_OPERATORS, 'constants and operators, such as "! X U &"')
    balance: bool = option(False, "all cells (num_symbols, size) evenly")


class LTL:
    """The task `ltl`."""

    name = "ltl"
    summary = "satisfying traces of LTL formulas"
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {}
    names_matter = False
    fixed_tokens = tuple(_TOKENS.split())
    shortcut_names = ("all-true", "all-false")
    checker = f"lasso 1, {CHECKER_BUDGET}"

    def num_candidates(self, options: Options, window: Window) -> int | None:
        """Return the end of the stream: the uniform sampler's has one."""
        return _stream(options, len(window)).length

    def space(self, options: Options, window: Window) -> int | None:
        """Return how many formulas there are up to renaming, where the sampler counts them."""
        return _stream(options, len(window)).length

    def cells(self, options: Options, window: Window) -> Mapping[Cell, int | None]:
        """Return the cells that formulas can lie in."""
        return _stream(options, len(window)).cells

    def place(self, options: Options, window: Window, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate where all cells are drawn evenly."""
        return _stream(options, len(window)).place(seed, index) if options.balance else None

    def candidate(
        self, options: Options, window: Window, seed: int, index: int
    ) -> Problem | Rejected:
        """Draw a formula in canonical form."""
        formula = _stream(options, len(window)).formula(seed, index)
        if formula is None:
            return Rejected("no formula of the size")
        return _problem(formula, formulas.show(formula), formula)

    def read(self, text: str) -> Problem:
        """Return the formula that a text states."""
        try:
            formula = formulas.parse(text)
        except FormulaError as error:
            raise DataError(f"ltl input {text[:60]!r}: {error}") from None
        return _problem(formula, text, formulas.canonical(formula))

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
        formula, target = _parsed(row)
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer")
        try:
            answer = traces.parse(text)
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
        word = lasso.counterexample(formula, traces.parse(text))
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
        paths: list[tuple[int, ...]] = []
        waiting: list[tuple[int, ...]] = [()]
        for token in tokens:
            path = waiting.pop()
            paths.append(path)
            waiting += [(choice, *path) for choice in reversed(range(ARITY.get(token, 0)))]
        return paths


@lru_cache(maxsize=16)
def _stream(options: Options, num_names: int) -> FormulaStream:
    return formula_stream(
        Grammar.of(options.operators, num_names),
        options.sampler,
        options.size,
        options.num_symbols,
        options.balance,
        (LTL.name, LTL.version),
    )


def _problem(formula: Formula, text: str, canonical: Formula) -> Problem:
    return Problem(text, formulas.symbols_of(formula), len(formula), " ".join(canonical))


def _constant(name: str, symbols: Sequence[str]) -> Trace:
    if name not in LTL.shortcut_names:
        raise ValueError(f"shortcut={name!r} must be one of {LTL.shortcut_names}")
    return Trace((), (conjunction(dict.fromkeys(symbols, name == "all-true")),))


def _parsed(row: Mapping[str, Any]) -> tuple[Formula, Trace]:
    try:
        return formulas.parse(row["input"]), traces.parse(row["target"])
    except (FormulaError, TraceError) as error:
        raise DataError(f"the ltl row {row['input']!r:.60}: {error}") from None


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


TASK = LTL()
