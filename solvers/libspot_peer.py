"""Spot's own parser and random formulas: the peers that ours are compared with.

For tests and benchmarks only. Texts should be such that our own parser reads them.
"""

import ctypes
from typing import Any

from symshift.data.formula import Formula
from symshift.solvers.cxx import (
    STRING,
    Address,
    Boxed,
    StandardLibrary,
    Text,
    call_virtual,
    function,
    text_of,
    word_at,
)
from symshift.solvers.libspot import LibSpot

_RANDOM_BYTES = 1024  # sizeof(spot::random_ltl) is under 200
_NO_FUNCTION = 32  # an empty std::function is 32 zero bytes
# In a node of a std::set<formula>: the parent, two children, the formula.
_PARENT, _LEFT, _RIGHT, _VALUE = 8, 16, 24, 32
# In a node of a std::list of errors: the one before, the message (behind a location).
_BEFORE, _MESSAGE = 8, 48


class Parsed(ctypes.Structure):
    """A spot::parsed_formula: a formula, the input, and a std::list of errors."""

    _fields_ = (
        ("formula", Address),
        ("input", Text),
        ("first_error", Address),
        ("last_error", Address),
        ("num_errors", ctypes.c_size_t),
    )


class _Names(ctypes.Structure):
    """A std::set<formula>: the header of its tree, whose `parent` is the root."""

    _fields_ = (
        ("compare", Address),
        ("color", Address),
        ("root", Address),
        ("first", Address),
        ("last", Address),
        ("size", ctypes.c_size_t),
    )


class Peer:
    """Spot's parser and generators beside a loaded libspot."""

    def __init__(self, spot: LibSpot) -> None:
        def bind(symbol: str, result: Any, *arguments: Any) -> Any:
            return function(spot.library, symbol, result, *arguments)

        flag, number, text = ctypes.c_bool, ctypes.c_int, ctypes.c_char_p
        parse = f"_ZN4spot15parse_infix_pslERK{STRING}RNS_11environmentEbb"
        create = "_ZN4spot22create_atomic_prop_setEjPKc"
        aps = "PKSt3setINS_7formulaESt4lessIS2_ESaIS2_EE"
        construct = f"_ZN4spot10random_ltlC1E{aps}S8_St8functionIFbS2_EES8_"
        configure = "_ZN4spot14random_formula13parse_optionsEPKc"
        self._formulas = spot.formulas
        self._standard = StandardLibrary(spot.library)
        self._environment = bind("_ZN4spot19default_environment8instanceEv", Address)()
        self._parse = bind(parse, Parsed, Address, Address, flag, flag)
        self._seed = bind("_ZN4spot5srandEj", None, ctypes.c_uint)
        self._create_names = bind(create, _Names, ctypes.c_uint, text)
        self._construct = bind(construct, None, *([Address] * 5))
        self._configure = bind(configure, Address, Address, text)
        self._draw = bind("_ZNK4spot14random_formula8generateEi", Boxed, Address, number)

    def reads_as(self, text: str, formula: Formula) -> bool:
        """Tell whether Spot's parser reads a text as this formula, identities aside."""
        parsed = self.parse(text)
        built = self._formulas.build(formula)
        same = parsed.formula == built and parsed.num_errors == 0
        self._formulas.drop(built)
        self.forget(parsed)
        return bool(same)

    def parse(self, text: str) -> Parsed:
        """Read a formula with Spot's parser; `forget` gives it back."""
        source, _memory = text_of(text)
        parsed: Parsed = self._parse(ctypes.addressof(source), self._environment, False, False)
        return parsed

    def random_formulas(
        self, *, num: int, size: int, num_symbols: int, priorities: str, seed: int
    ) -> list[Formula]:
        """Draw formulas with Spot's `random_ltl`, over `p0`, `p1`, ...

        Args:
            num: How many.
            size: Nodes of each tree before Spot's trivial identities.
            num_symbols: Symbols that may occur, at least 1.
            priorities: As for `randltl --ltl-priorities`, such as "xor=0,F=0".
            seed: Of Spot's generator.

        Raises:
            ValueError: If Spot cannot read the priorities.
        """
        self._seed(seed)
        names = self._create_names(num_symbols, b"p")
        # The root still points to the header that was copied from.
        Address.from_address(names.root + _PARENT).value = (
            ctypes.addressof(names) + _Names.color.offset
        )
        memory = ctypes.create_string_buffer(_RANDOM_BYTES)
        nothing = ctypes.create_string_buffer(_NO_FUNCTION)
        generator = ctypes.addressof(memory)
        anything = ctypes.addressof(nothing)
        self._construct(generator, ctypes.addressof(names), None, anything, None)
        wrong = self._configure(generator, priorities.encode())
        drawn = [] if wrong else [self._one(generator, size) for _ in range(num)]
        call_virtual(generator, 0)
        self._free_tree(names.root)
        if wrong:
            raise ValueError(f"priorities={priorities!r}: Spot cannot read this")
        return drawn

    def _one(self, generator: int, size: int) -> Formula:
        node = self._draw(generator, size).pointer
        formula = self._formulas.read(node)
        self._formulas.drop(node)
        return formula

    def _free_tree(self, node: int) -> None:
        if node:
            self._free_tree(word_at(node + _LEFT))
            self._free_tree(word_at(node + _RIGHT))
            self._formulas.drop(word_at(node + _VALUE))
            self._standard.delete(node)

    def forget(self, parsed: Parsed) -> None:
        """Free what `parse` returned."""
        if parsed.formula:
            self._formulas.drop(parsed.formula)
        # The ends of the list still point to where the object lay before it was copied.
        first = parsed.first_error
        end = word_at(first + _BEFORE) if parsed.num_errors else first
        local = end - Parsed.first_error.offset + Parsed.input.offset + Text.local.offset
        if parsed.input.at != local:
            self._standard.delete(parsed.input.at)
        for _ in range(parsed.num_errors):
            following = word_at(first)
            message = Text.from_address(first + _MESSAGE)
            if message.at != ctypes.addressof(message) + Text.local.offset:
                self._standard.delete(message.at)
            self._standard.delete(first)
            first = following
