"""The interface over Spot's own Python module, with a toy module in its place.

The toy has the names, the order of arguments and the objects of Spot's module, as far as they are
used, and lets libspot answer.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError
from symshift.data.formula import Formula
from symshift.data.trace import Trace
from symshift.solvers.spot import SolverLimit, Spot
from symshift.solvers.spot_discovery import find_spot
from symshift.solvers.spot_module import SpotModule
from symshift.solvers.spot_self_test import self_test

pytestmark = pytest.mark.spot


@dataclass
class ToyWord:
    spot: Spot
    trace: Trace
    simple: bool = False

    def simplify(self) -> None:
        self.simple = True

    def __str__(self) -> str:
        assert self.simple
        return traces.show(self.trace)

    def as_automaton(self) -> "ToyWord":
        return self

    def is_empty(self) -> bool:
        return not self.spot.holds(Formula(("1",)), self.trace)


@dataclass
class ToyAutomaton:
    spot: Spot
    formula: Formula

    def accepting_word(self) -> ToyWord | None:
        trace = self.spot.witness(self.formula)
        return ToyWord(self.spot, trace) if trace else None

    def is_empty(self) -> bool:
        return self.spot.witness(self.formula) is None

    def intersects(self, words: ToyWord) -> bool:
        return not self.spot.holds(Formula(("!", *self.formula)), words.trace)


class ToyModule:
    def __init__(self, version: str = "2.14.5") -> None:
        self.spot = find_spot()
        self.number = version
        self.dictionaries: list[object] = []

    def version(self) -> str:
        return self.number

    def formula(self, text: str) -> Formula:
        return formulas.parse(text)

    def make_bdd_dict(self) -> object:
        self.dictionaries.append(object())
        return self.dictionaries[-1]

    def output_aborter(self, max_states: int, max_edges: int) -> tuple[int, int]:
        return max_states, max_edges

    def parse_word(self, text: str, dictionary: object) -> ToyWord:
        assert dictionary is self.dictionaries[-1]
        return ToyWord(self.spot, traces.parse(text))

    def ltl_to_tgba_fm(
        self,
        f: Formula,
        dictionary: object,
        exprop: bool,
        symb_merge: bool,
        branching_postponement: bool,
        fair_loop_approx: bool,
        unobs: None,
        simplifier: None,
        unambiguous: bool,
        aborter: tuple[int, int],
    ) -> ToyAutomaton | None:
        assert dictionary is self.dictionaries[-1]
        assert (exprop, symb_merge, unobs, simplifier) == (False, True, None, None)
        return ToyAutomaton(self.spot, f) if aborter[0] > 1 else None


@pytest.fixture
def toy() -> ToyModule:
    return ToyModule()


def test_module_passes_the_self_test(toy: ToyModule) -> None:
    module: Spot = SpotModule(toy, "toy")

    assert self_test(module) == []
    assert (module.version, module.source) == ("2.14.5", "toy")


def test_no_question_shares_a_dictionary_with_another(toy: ToyModule) -> None:
    module = SpotModule(toy, "toy")

    module.witness(formulas.parse("a"))
    module.equivalent(formulas.parse("a"), formulas.parse("b"))
    module.holds(formulas.parse("a"), traces.parse("cycle{a}"))

    assert len(set(map(id, toy.dictionaries))) == 3


def test_aborted_translation_and_a_large_formula_are_a_limit(toy: ToyModule) -> None:
    module = SpotModule(toy, "toy")

    with pytest.raises(SolverLimit, match="1 states"):
        module.witness(formulas.parse("a U b"), max_states=1)
    with pytest.raises(SolverLimit, match="nodes"):
        module.witness(Formula((*["X"] * 5000, "a")))


@pytest.mark.parametrize("version", ["2.10.6", "1.99", "2.9"])
def test_old_version_is_refused(toy: ToyModule, version: str) -> None:
    toy.number = version

    with pytest.raises(MissingToolError, match=r"at least 2\.11"):
        SpotModule(toy, "toy")


def test_development_version_is_read(toy: ToyModule) -> None:
    toy.number = "2.15.1.dev"

    assert SpotModule(toy, "toy").version == "2.15.1.dev"


def _conforms(module: SpotModule, library: Any) -> tuple[Spot, Spot]:
    """Let the type checker compare both with the Protocol."""
    return module, library
