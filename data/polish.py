"""Polish notation without spaces, as DeepLTL's files write it: `U&ab!c` and `&a!b;{1}`.

Every token is one character but for `->`, `<->` and `xor`, so symbols are single letters. A trace
is its steps, each followed by `;`, then the cycle in braces; a propositional assignment is each
symbol followed by its value: `a1c0` (DeepLTL, ICLR 2021; its data/ltl_parser.py and
data/sat_generator.py). What the published reader refuses is not written: formulas with `W` or
`M`, steps with other operators than `! & |`.
"""

import re
from collections.abc import Mapping

from symshift.data import assignment as assignments
from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.assignment import AssignmentError
from symshift.data.formula import MAX_TEXT, OPERATORS, Formula, FormulaError
from symshift.data.trace import Trace, TraceError

UNSATISFIABLE = "{0}"
"""What stands for the trace of a formula that has none (its generator's --unsat-frac)."""
NO_TRACE = "-"
"""What stands where no trace was found in time (its generator's --allow-no-trace)."""
_TOKEN = re.compile(r"<->|->|xor|[a-z]|[!XFGURWM&|01]|(?P<bad>.)", re.DOTALL)
_PAIR = re.compile(r"([a-z])([01])")
_ASSIGNMENT = re.compile(r"(?:[a-z][01])*")
_FORMULA_OPERATORS = OPERATORS - frozenset("WM")
_STEP_OPERATORS = frozenset("!&|")


def parse_formula(text: str) -> Formula:
    """Read a formula such as `U&ab!c`; longest tokens first, as the published reader does.

    Raises:
        FormulaError: If the text is no formula, or longer than formula.MAX_TEXT.
    """
    if len(text) > MAX_TEXT:
        raise FormulaError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    tokens = []
    for found in _TOKEN.finditer(text):
        if found["bad"]:
            raise FormulaError(f"unexpected {found[0]!r} at position {found.start()}")
        tokens.append(found[0])
    return formulas.from_polish(tokens)


def show_formula(formula: Formula) -> str:
    """Print a formula so that the published reader reads the same one.

    Raises:
        FormulaError: If that cannot be: a name of several characters, `W` or `M`, or the symbols
            x, o, r in a row, which would be read as `xor`.
    """
    return _show(formula, _FORMULA_OPERATORS)


def _show(formula: Formula, operators: frozenset[str]) -> str:
    for token in formula:
        if token in OPERATORS and token not in operators:
            raise FormulaError(f"{token!r} is unknown to DeepLTL's reader here")
        if token not in OPERATORS and len(token) > 1:
            raise FormulaError(f"the name {token!r} has more than one character")
    text = "".join(formula)
    if "xor" in text and parse_formula(text) != formula:
        raise FormulaError("the symbols x, o, r in a row would be read as an operator")
    return text


def parse_trace(text: str) -> Trace:
    """Read a trace such as `&a!b;{1}`.

    Raises:
        TraceError: If the text is none, or longer than formula.MAX_TEXT.
    """
    if len(text) > MAX_TEXT:
        raise TraceError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    head, brace, rest = text.partition("{")
    *prefix, left = head.split(";")
    if not brace or not rest.endswith("}") or left:
        raise TraceError(f"{text[:40]!r} is no trace: steps, each with `;`, then {{a cycle}}")
    steps = [_parse_step(step, at) for at, step in enumerate([*prefix, *rest[:-1].split(";")])]
    return Trace(tuple(steps[: len(prefix)]), tuple(steps[len(prefix) :]))


def _parse_step(text: str, number: int) -> Formula:
    try:
        step = parse_formula(text)
    except FormulaError as error:
        raise TraceError(f"step {number}: {error}") from error
    if not formulas.is_boolean(step):
        raise TraceError(f"step {number} {text!r} has a temporal operator")
    return step


def show_trace(trace: Trace) -> str:
    """Print a trace so that the published reader reads the same one.

    Raises:
        FormulaError: If that cannot be (show_formula), or a step has other operators than `! & |`.
    """
    steps = [_show(step, _STEP_OPERATORS) for step in trace.steps]
    at = len(trace.prefix)
    return "".join(f"{step};" for step in steps[:at]) + f"{{{';'.join(steps[at:])}}}"


def is_assignment(text: str) -> bool:
    """Tell whether a text is an assignment such as `a1c0`; no formula is one."""
    return _ASSIGNMENT.fullmatch(text) is not None


def parse_assignment(text: str) -> dict[str, bool]:
    """Read an assignment such as `a1c0`; the empty text fixes nothing.

    Raises:
        AssignmentError: If the text is none, contradicts itself, or is longer than
            formula.MAX_TEXT.
    """
    if len(text) > MAX_TEXT:
        raise AssignmentError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    if not is_assignment(text):
        raise AssignmentError(f"{text[:40]!r} is no assignment, such as `a1c0`")
    return assignments.joined((name, value == "1") for name, value in _PAIR.findall(text))


def show_assignment(assignment: Mapping[str, bool]) -> str:
    """Print an assignment, sorted by symbol as published.

    Raises:
        AssignmentError: If a name has several characters.
    """
    if long := [name for name in assignment if len(name) > 1]:
        raise AssignmentError(f"the name {long[0]!r} has more than one character")
    return "".join(f"{name}{assignment[name]:d}" for name in sorted(assignment))


def target_from_polish(task: str, text: str) -> str:
    """Return a target of DeepLTL's files in symshift's notation.

    Args:
        task: "ltl" or "prop".
        text: The target.

    Raises:
        TraceError: If it is no trace.
        AssignmentError: If it is no assignment.
    """
    if task == "ltl":
        return traces.show(parse_trace(text))
    return assignments.show(parse_assignment(text))


def target_to_polish(task: str, text: str) -> str:
    """Return a target in symshift's notation as DeepLTL's files write it.

    Args:
        task: "ltl" or "prop".
        text: The target.

    Raises:
        FormulaError: If a trace cannot be written for the published reader.
        AssignmentError: If an assignment cannot.
    """
    if task == "ltl":
        return show_trace(traces.parse(text))
    return show_assignment(assignments.parse(text))
