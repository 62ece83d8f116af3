"""Spot's own parser and random formulas: the peers that ours are compared with.

For tests and benchmarks only. Texts should be such that our own parser reads them.
"""

import ctypes
from typing import Any

from symshift.data.formula import Formula
from symshift.solvers.cxx import STRING, Address, StandardLibrary, Text, function, text_of
from symshift.solvers.cxx import call_virtual as destroy
from symshift.solvers.libspot import LibSpot

# struct parsed_formula: a formula, the input (std::string), a std::list of errors, each with a
# location (32 bytes) and a message (std::string) behind the two links.
_INPUT, _ERRORS, _NUM_ERRORS, _PARSED_BYTES, _MESSAGE = 8, 40, 56, 64, 48
# std::set<formula>: the root of its tree; in a node two links, then the formula.
_ROOT, _SET_BYTES, _LEFT, _RIGHT, _VALUE = 16, 48, 16, 24, 32
_RANDOM_BYTES = 1024  # sizeof(spot::random_ltl) is under 200
_NO_FUNCTION = 32  # an empty std::function is 32 zero bytes


class Peer:
    """Spot's parser and generators beside a loaded libspot."""

    def __init__(self, spot: LibSpot) -> None:
        def bind(symbol: str, result: Any, *arguments: Any) -> Any:
            return function(spot.library, symbol, result, *arguments)

        flag, number = ctypes.c_bool, ctypes.c_int
        aps = "PKSt3setINS_7formulaESt4lessIS2_ESaIS2_EE"
        parse = f"_ZN4spot16parse_infix_pslERK{STRING}RNS_11environmentEbb".replace("16", "15", 1)
        self._formulas = spot.formulas
        self._standard = StandardLibrary(spot.library)
        self._environment = bind("_ZN4spot19default_environment8instanceEv", Address)()
        self._parse = bind(parse, Address, Address, Address, Address, flag, flag)
        self._seed = bind("_ZN4spot5srandEj", None, ctypes.c_uint)
        self._names = bind(
            "_ZN4spot22create_atomic_prop_setEjPKc", Address, Address, number, ctypes.c_char_p
        )
        self._random = bind(
            f"_ZN4spot10random_ltlC1E{aps}S8_St8functionIFbS2_EES8_", None, *([Address] * 5)
        )
        self._options = bind(
            "_ZN4spot14random_formula13parse_optionsEPKc", Address, Address, ctypes.c_char_p
        )
        self._draw = bind("_ZNK4spot14random_formula8generateEi", Address, Address, Address, number)

    def reads_as(self, text: str, formula: Formula) -> bool:
        """Tell whether Spot's parser reads a text as this formula, identities aside."""
        source, _memory = text_of(text)
        parsed = ctypes.create_string_buffer(_PARSED_BYTES)
        at = ctypes.addressof(parsed)
        self._parse(at, ctypes.addressof(source), self._environment, False, False)
        found = _word(at)
        built = self._formulas.build(formula)
        same = found == built and _word(at + _NUM_ERRORS) == 0
        self._formulas.drop(built)
        if found:
            self._formulas.drop(found)
        self._standard.free(Text.from_address(at + _INPUT))
        self._free_errors(at + _ERRORS)
        return same

    def random_formulas(
        self, *, num: int, size: int, num_symbols: int, priorities: str, seed: int
    ) -> list[Formula]:
        """Draw formulas with Spot's `random_ltl`, over `p0`, `p1`, ...

        Args:
            num: How many.
            size: Nodes of each tree before Spot's trivial identities.
            num_symbols: Symbols that may occur.
            priorities: As for `randltl --ltl-priorities`, such as "xor=0,F=0".
            seed: Of Spot's generator.
        """
        self._seed(seed)
        names = ctypes.create_string_buffer(_SET_BYTES)
        self._names(ctypes.addressof(names), num_symbols, b"p")
        generator = ctypes.create_string_buffer(_RANDOM_BYTES)
        nothing = ctypes.create_string_buffer(_NO_FUNCTION)
        at = ctypes.addressof(generator)
        self._random(at, ctypes.addressof(names), None, ctypes.addressof(nothing), None)
        wrong = self._options(at, priorities.encode())
        formulas = [] if wrong else [self._one(at, size) for _ in range(num)]
        destroy(at, 0)
        self._free_tree(_word(ctypes.addressof(names) + _ROOT))
        if wrong:
            raise ValueError(f"priorities={priorities!r}: Spot cannot read this")
        return formulas

    def _one(self, generator: int, size: int) -> Formula:
        drawn = Address()
        self._draw(ctypes.addressof(drawn), generator, size)
        assert drawn.value is not None
        formula = self._formulas.read(drawn.value)
        self._formulas.drop(drawn.value)
        return formula

    def _free_tree(self, node: int) -> None:
        if node:
            self._free_tree(_word(node + _LEFT))
            self._free_tree(_word(node + _RIGHT))
            self._formulas.drop(_word(node + _VALUE))
            self._standard.delete(node)

    def _free_errors(self, end: int) -> None:
        node = _word(end)
        while node != end:
            following = _word(node)
            self._standard.free(Text.from_address(node + _MESSAGE))
            self._standard.delete(node)
            node = following


def _word(at: int) -> int:
    return Address.from_address(at).value or 0
