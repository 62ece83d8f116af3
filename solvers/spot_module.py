"""Spot through its own Python module, where that is installed (conda, or a source build).

The PyPI package `spot` is an unrelated tool. It is told apart by its files, before any of its code
could run.
"""

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError
from symshift.data.formula import Formula
from symshift.data.trace import Trace
from symshift.solvers.spot import EDGES_PER_STATE, MAX_STATES, SolverLimit, check_size

MIN_VERSION = (2, 11)
"""Older versions lack what is used here, or were never compared with others."""


def find(name: str = "spot") -> "SpotModule":
    """Return Spot's own module behind our interface.

    Args:
        name: The module's name.

    Raises:
        MissingToolError: If it is not installed, too old, or another package has its name.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise MissingToolError("Spot's Python module is not installed")
    # SWIG's half of the module: impl.py, and the extension _impl.
    if not any(Path(spec.origin).parent.glob("_impl*")):
        raise MissingToolError(f"{spec.origin} is another package that is called {name}")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise MissingToolError(f"Spot's Python module cannot be imported: {error}") from error
    if not hasattr(module, "formula"):
        raise MissingToolError(f"{spec.origin} has no formulas: it is not Spot")
    return SpotModule(module, spec.origin)


class SpotModule:
    """Spot's Python module; the Protocol `spot.Spot` says what its methods promise.

    No formula, automaton or dictionary outlives a question, so that none can shape the next.
    """

    def __init__(self, module: Any, source: str) -> None:
        """Wrap the imported module.

        Raises:
            MissingToolError: If its version is below MIN_VERSION.
        """
        self._spot = module
        self.source = source
        self.version = str(module.version())
        numbers = tuple(int(number) for number in re.findall(r"\d+", self.version)[:2])
        if numbers < MIN_VERSION:
            least = ".".join(map(str, MIN_VERSION))
            raise MissingToolError(f"{source} is Spot {self.version}; at least {least} is needed")

    def witness(self, formula: Formula, max_states: int = MAX_STATES) -> Trace | None:
        """Return a lasso that satisfies the formula, or None: see `spot.Spot.witness`."""
        word = self._automaton(formula, max_states, self._spot.make_bdd_dict()).accepting_word()
        if word is None:
            return None
        word.simplify()
        text = str(word)
        if len(text) > formulas.MAX_TEXT:
            raise SolverLimit(f"witness of {len(text)} characters: at most {formulas.MAX_TEXT}")
        return traces.parse(text)

    def holds(self, formula: Formula, trace: Trace, max_states: int = MAX_STATES) -> bool:
        """Tell whether every word of a trace satisfies the formula: see `spot.Spot.holds`."""
        for step in trace.steps:
            check_size(step)
        # Names that Spot's grammar cannot take for a keyword.
        symbols = formulas.symbols_of((*formula, *trace.symbols()))
        names = {symbol: f"p{at}" for at, symbol in enumerate(symbols)}
        dictionary = self._spot.make_bdd_dict()
        negated = Formula(("!", *formulas.rename(formula, names)))
        bad = self._automaton(negated, max_states, dictionary)
        text = traces.show(trace.renamed(names))
        words = self._spot.parse_word(text, dictionary).as_automaton()
        return not words.is_empty() and not bad.intersects(words)

    def equivalent(self, first: Formula, second: Formula, max_states: int = MAX_STATES) -> bool:
        """Tell whether two formulas have the same words: see `spot.Spot.equivalent`."""
        difference = Formula(("xor", *first, *second))
        dictionary = self._spot.make_bdd_dict()
        return bool(self._automaton(difference, max_states, dictionary).is_empty())

    def _automaton(self, formula: Formula, max_states: int, dictionary: Any) -> Any:
        check_size(formula)
        spot = self._spot
        limit = spot.output_aborter(max_states, EDGES_PER_STATE * max_states)
        # (formula, dictionary, exprop, symb_merge, branching_postponement, fair_loop_approx,
        #  unobs, simplifier, unambiguous, aborter)
        automaton = spot.ltl_to_tgba_fm(
            spot.formula(formulas.show(formula)), dictionary,
            False, True, False, False, None, None, False, limit,
        )  # fmt: skip
        if automaton is None:
            raise SolverLimit(f"the automaton has more than {max_states} states")
        return automaton
