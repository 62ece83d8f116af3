"""Spot through ctypes: the library file of the `stormpy` wheel, and nothing but Python around it.

Nothing of stormpy is imported; only its copy of libspot is located. The calls rely on how C++
objects lie in memory, so only versions of Spot that were tested are used, and only on Linux.

A C++ exception that reaches ctypes ends the process. So what Spot would refuse is refused here
first, and its parsers see no text that this module did not write.

Every question starts from the same state: no formula alive, formulas numbered from the start, a
fresh dictionary of BDD variables, a fresh table of BDD nodes. Then no answer can depend on what was
asked before.
"""

import ctypes
import functools
import importlib.metadata
import platform
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError
from symshift.data.formula import Formula
from symshift.data.trace import Trace
from symshift.solvers.buddy import NodeTable
from symshift.solvers.cxx import STRING, Address, Shared, StandardLibrary, function, text_of
from symshift.solvers.fnode import FormulaStore
from symshift.solvers.spot import EDGES_PER_STATE, MAX_STATES, SolverLimit, check_size

T = TypeVar("T")

TESTED_VERSIONS = ("2.16",)
"""The versions of Spot whose layouts this module was tested with."""

TESTED_MACHINES = ("x86_64",)
"""The machines it was tested on; on any other, a trial in a process of its own comes first."""

_DICTIONARY_BYTES = 4096  # sizeof(spot::bdd_dict) is under 300
_TRANSLATE = (
    "_ZN4spot14ltl_to_tgba_fmENS_7formulaERKSt10shared_ptrINS_8bdd_dictEEbbbbPKSt3setIS0_"
    "St4lessIS0_ESaIS0_EEPNS_13tl_simplifierEbPKNS_14output_aborterEbb"
)


class _Limit(ctypes.Structure):
    """A spot::output_aborter: a limit that is the same on every machine."""

    _fields_ = (
        ("max_states", ctypes.c_uint),
        ("max_edges", ctypes.c_uint),
        ("reason_is_states", ctypes.c_bool),
    )


def find() -> "LibSpot":
    """Return the library in the `stormpy` wheel.

    Raises:
        MissingToolError: If this is not Linux, or no usable wheel is installed.
    """
    try:
        files = importlib.metadata.files("stormpy") or []
    except importlib.metadata.PackageNotFoundError:
        raise MissingToolError("stormpy is not installed") from None
    for file in files:
        if file.name.startswith("libspot-"):
            return load(str(file.locate()))
    raise MissingToolError("stormpy is installed, but carries no libspot")


@functools.cache
def load(source: str) -> "LibSpot":
    """Return the one libspot of this process that a file holds.

    Raises:
        MissingToolError: As `LibSpot`, or if this is not Linux, or a trial on an untested machine
            fails.
    """
    if sys.platform != "linux":
        raise MissingToolError("libspot is used on Linux only")
    if platform.machine() not in TESTED_MACHINES:
        _try_elsewhere(source)
    return LibSpot(source)


def _try_elsewhere(source: str) -> None:
    """Run the self-test in another process: a wrong guess about C++ would end this one."""
    code = (
        "import sys; from symshift.solvers import libspot, spot_self_test; "
        "sys.exit(len(spot_self_test.self_test(libspot.LibSpot(sys.argv[1]))))"
    )
    done = subprocess.run([sys.executable, "-c", code, source], capture_output=True, check=False)
    if done.returncode:
        machine = platform.machine()
        raise MissingToolError(f"{source} does not work on {machine} (exit {done.returncode})")


class LibSpot:
    """Spot through ctypes; the Protocol `spot.Spot` says what its methods promise.

    For one thread: Spot and BuDDy are not thread-safe.
    """

    def __init__(self, source: str) -> None:
        """Load a libspot file.

        Raises:
            MissingToolError: If it is no libspot of a tested version for Linux, or another part
                of this process uses its BDD library already.
        """
        self.source = source
        self.library = _open(source)
        try:
            self.version = _version(self.library)
            if self.version not in TESTED_VERSIONS:
                tested = ", ".join(TESTED_VERSIONS)
                raise MissingToolError(f"{source} is Spot {self.version}; tested: {tested}")
            self._table = NodeTable(self.library)
            self.formulas = FormulaStore(self.library)
            self._standard = StandardLibrary(self.library)
            self._bind()
        except (AttributeError, ValueError) as error:
            raise MissingToolError(f"{source} is no libspot of Linux: {error}") from error
        if self._table.is_running():
            raise MissingToolError(f"the BDD library of {source} is in use in this process")
        self._memory = ctypes.create_string_buffer(_DICTIONARY_BYTES)
        self._dictionary = Shared(ctypes.addressof(self._memory), None)
        self._dictionary_at = ctypes.addressof(self._dictionary)

    def _bind(self) -> None:
        def bind(symbol: str, result: Any, *arguments: Any) -> Any:
            return function(self.library, symbol, result, *arguments)

        flag = ctypes.c_bool
        self._open_dictionary = bind("_ZN4spot8bdd_dictC1Ev", None, Address)
        self._close_dictionary = bind("_ZN4spot8bdd_dictD1Ev", None, Address)
        # (formula, dictionary, exprop, symb_merge, branching_postponement, fair_loop_approx,
        #  unobs, simplifier, unambiguous, aborter, label_with_ltl, force_obligation); without
        #  exprop no state tries all 2^n valuations.
        two, four = [Address] * 2, [flag] * 4
        self._translate = bind(_TRANSLATE, Shared, *two, *four, *two, flag, Address, flag, flag)
        self._accepting_word = bind("_ZNK4spot3twa14accepting_wordEv", Shared, Address)
        self._simplify = bind("_ZN4spot8twa_word8simplifyEv", None, Address)
        self._print = bind("_ZN4spotlsERSoRKNS_8twa_wordE", Address, Address, Address)
        parse_word = f"_ZN4spot10parse_wordERK{STRING}RKSt10shared_ptrINS_8bdd_dictEE"
        self._parse_word = bind(parse_word, Shared, Address, Address)
        self._as_automaton = bind("_ZNK4spot8twa_word12as_automatonEv", Shared, Address)
        self._is_empty = bind("_ZNK4spot3twa8is_emptyEv", flag, Address)
        intersects = "_ZNK4spot3twa10intersectsESt10shared_ptrIKS0_E"
        self._intersects = bind(intersects, flag, Address, Address)

    def witness(self, formula: Formula, max_states: int = MAX_STATES) -> Trace | None:
        """Return a lasso that satisfies the formula, or None: see `spot.Spot.witness`."""

        def read(automaton: Shared) -> Trace | None:
            word: Shared = self._accepting_word(automaton.object)
            if not word.object:
                return None
            self._simplify(word.object)
            text = self._standard.printed(lambda stream: self._print(stream, word.object))
            word.release()
            if len(text) > formulas.MAX_TEXT:
                raise SolverLimit(f"witness of {len(text)} characters: at most {formulas.MAX_TEXT}")
            return traces.parse(text)

        return self._ask(formula, max_states, read)

    def holds(self, formula: Formula, trace: Trace, max_states: int = MAX_STATES) -> bool:
        """Tell whether every word of a trace satisfies the formula: see `spot.Spot.holds`."""
        for step in trace.steps:
            check_size(step)
        # Names that Spot's grammar cannot take for a keyword.
        symbols = formulas.symbols_of((*formula, *trace.symbols()))
        names = {symbol: f"p{at}" for at, symbol in enumerate(symbols)}
        text, _memory = text_of(traces.show(trace.renamed(names)))

        def read(bad: Shared) -> bool:
            word: Shared = self._parse_word(ctypes.addressof(text), self._dictionary_at)
            words: Shared = self._as_automaton(word.object)
            empty = self._is_empty(words.object)
            good = not empty and not self._intersects(bad.object, ctypes.addressof(words))
            words.release()
            word.release()
            return good

        return self._ask(Formula(("!", *formulas.rename(formula, names))), max_states, read)

    def equivalent(self, first: Formula, second: Formula, max_states: int = MAX_STATES) -> bool:
        """Tell whether two formulas have the same words: see `spot.Spot.equivalent`."""
        difference = Formula(("xor", *first, *second))
        return self._ask(difference, max_states, lambda found: bool(self._is_empty(found.object)))

    def normalise(self, text: str) -> str:
        """Return a formula after Spot's trivial identities, which its constructors apply."""
        node = self.formulas.build(formulas.parse(text))
        formula = self.formulas.read(node)
        self.formulas.drop(node)
        return formulas.show(formula)

    def _ask(self, formula: Formula, max_states: int, read: Callable[[Shared], T]) -> T:
        """Read an answer off a formula's automaton."""
        check_size(formula)
        while True:
            self.formulas.refresh()
            self._table.refresh()
            self._open_dictionary(ctypes.addressof(self._memory))
            try:
                answer = self._translated(formula, max_states, read)
            finally:
                self._close_dictionary(ctypes.addressof(self._memory))
            if not self._table.has_more_variables():
                return answer

    def _translated(self, formula: Formula, max_states: int, read: Callable[[Shared], T]) -> T:
        root = self.formulas.build(formula)
        node = Address(root)
        limit = _Limit(max_states, EDGES_PER_STATE * max_states, False)
        automaton: Shared = self._translate(
            ctypes.addressof(node), self._dictionary_at,
            False, True, False, False, None, None, False, ctypes.addressof(limit), False, False,
        )  # fmt: skip
        try:
            if not automaton.object:
                raise SolverLimit(f"the automaton has more than {max_states} states")
            return read(automaton)
        finally:
            automaton.release()
            self.formulas.drop(root)


def _open(source: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(source)
    except OSError as error:
        raise MissingToolError(f"cannot load {source}: {error}") from error


def _version(library: ctypes.CDLL) -> str:
    return str(function(library, "_ZN4spot7versionEv", ctypes.c_char_p)().decode())
