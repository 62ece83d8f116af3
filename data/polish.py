"""Polish notation without spaces, as DeepLTL's files write it: `U&ab!c` and `&a!b;{1}`.

Every token is one character but for `->`, `<->` and `xor`, so symbols are single letters. A trace
is its steps, each followed by `;`, then the cycle in braces; a propositional assignment is each
symbol followed by its value: `a1c0` (DeepLTL, ICLR 2021; reactive-systems/deepltl, data/
ltl_parser.py and data/sat_generator.py). The published reader knows no `W` and `M`: they are read
here, and not written.
"""

import re

from symshift.data import formula as formulas
from symshift.data.formula import BINARY, CONSTANTS, MAX_TEXT, UNARY, Formula, FormulaError
from symshift.data.trace import Trace, TraceError

UNSATISFIABLE = "{0}"
"""What stands for the trace of a formula that has none (data/generator.py, --unsat-frac)."""
NO_TARGET = "-"
"""What stands where no trace was found in time (data/generator.py, --allow-no-trace)."""
_TOKEN = re.compile(r"<->|->|xor|[a-z]|[!XFGURWM&|01]|(?P<bad>.)", re.DOTALL)
_PAIR = re.compile(r"([a-z])([01])")
_STEP_TOKENS = UNARY | BINARY | CONSTANTS
_PUBLISHED_STEP = frozenset("!&|01")
_UNPUBLISHED = frozenset("WM")


def _tokens(text: str) -> tuple[str, ...]:
    if len(text) > MAX_TEXT:
        raise FormulaError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    for found in _TOKEN.finditer(text):
        if found["bad"]:
            raise FormulaError(f"unexpected {found[0]!r} at position {found.start()}")
    return tuple(_TOKEN.findall(text)) and tuple(found[0] for found in _TOKEN.finditer(text))


def parse_formula(text: str) -> Formula:
    """Read a formula such as `U&ab!c`; longest tokens first, as the published reader does.

    Raises:
        FormulaError: If the text is no formula, or longer than formula.MAX_TEXT.
    """
    return formulas.from_polish(_tokens(text))
