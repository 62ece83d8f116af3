"""Spot's formulas through ctypes: built by Spot's own constructors, given back after use.

A formula is the address of a spot::fnode. Whoever holds one owns a reference, and constructors take
over those of their operands. A reference is given back by building `f & 0`, which takes f and
yields the constant 0, so that no field of a node is ever touched.
"""

import ctypes
from typing import Any

from symshift.data import formula as formulas
from symshift.data.formula import Formula
from symshift.solvers.cxx import STRING, Address, StandardLibrary, Text, function, text_of

# The enumeration spot::op, by token.
_UNARY = {"!": 4, "X": 5, "F": 6, "G": 7}
_BINARY = {"xor": 11, "->": 12, "<->": 13, "U": 14, "R": 15, "W": 16, "M": 17}
_AND = 23
_MANY = {"|": 21, "&": _AND}
# LBT, the Polish notation that Spot prints, where it differs from ours.
_FROM_LBT = {"f": "0", "t": "1", "i": "->", "e": "<->", "^": "xor", "V": "R"}
_MAX_NAMES = 4096


class FormulaStore:
    """The formulas of the one libspot of this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        def bind(symbol: str, result: Any, *arguments: Any) -> Any:
            return function(library, symbol, result, *arguments)

        number = ctypes.c_int
        binary = (Address, number, Address, Address)
        self._standard = StandardLibrary(library)
        self._proposition = bind(f"_ZN4spot5fnode2apERK{STRING}", Address, Address)
        self._unary = bind("_ZN4spot5fnode4unopENS_2opEPKS0_", Address, number, Address)
        self._binary = bind("_ZN4spot5fnode5binopENS_2opEPKS0_S3_", *binary)
        self._many = bind("_ZN4spot5fnode6multopENS_2opEPKS0_S3_", *binary)
        self._print = bind("_ZN4spot13print_lbt_ltlERSoNS_7formulaE", Address, Address, Address)
        self._is_clean = bind("_ZN4spot5fnode15instances_checkEv", ctypes.c_bool)
        self._true = Address.in_dll(library, "_ZN4spot5fnode3tt_E").value
        self._false = Address.in_dll(library, "_ZN4spot5fnode3ff_E").value
        self._next_id = ctypes.c_size_t.in_dll(library, "_ZN4spot5fnode8next_id_E")
        self._first_id = self._next_id.value
        self._names: dict[str, tuple[int, Text, Any]] = {}

    def refresh(self) -> None:
        """Number new formulas from the start again; none may be alive."""
        assert self._is_clean(), "a formula was never given back"
        self._next_id.value = self._first_id

    def build(self, formula: Formula) -> int:
        """Return Spot's formula, which its trivial identities may have made smaller."""
        operands: list[Any] = []
        for token in reversed(formula):
            if token in _MANY:
                operands.append(self._many(_MANY[token], operands.pop(), operands.pop()))
            elif token in _BINARY:
                operands.append(self._binary(_BINARY[token], operands.pop(), operands.pop()))
            elif token in _UNARY:
                operands.append(self._unary(_UNARY[token], operands.pop()))
            elif token in formulas.CONSTANTS:
                operands.append(self._true if token == "1" else self._false)
            else:
                operands.append(self._proposition(self._name(token)))
        (root,) = operands
        return int(root)

    def drop(self, node: int) -> None:
        """Give back a reference."""
        self._many(_AND, node, self._false)

    def read(self, node: int) -> Formula:
        """Return a formula of Spot's in our tokens; sums and products as nested pairs."""
        box = Address(node)
        text = self._standard.printed(lambda stream: self._print(stream, ctypes.addressof(box)))
        tokens = text.split()
        return formulas.from_polish(_FROM_LBT.get(token, token.strip('"')) for token in tokens)

    def _name(self, token: str) -> int:
        if token not in self._names:
            if len(self._names) == _MAX_NAMES:
                self._names.clear()
            text, memory = text_of(token)
            self._names[token] = ctypes.addressof(text), text, memory
        return self._names[token][0]
