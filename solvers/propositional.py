"""The target of a propositional formula: a minimal partial assignment, unique by a fixed order.

The rule has two steps.

1. The first model: of all assignments to the formula's symbols that satisfy it, the first in
   lexicographic order, with symbols in order of first occurrence and 0 before 1.
2. Dropping: from the last symbol to the first, a literal is left out if every completion of what
   remains still satisfies the formula.

So no literal of the result can be left out (it is a prime implicant), which is the published aim:
DeepLTL (ICLR 2021, sat_generator.py) takes the model of a SAT solver and keeps the literals of an
unsatisfiable core of the formula's negation. Such a core depends on the solver and need not be
minimal; ours is both unique and minimal. False comes first, as in that solver's default phase, and
the last symbols are dropped first, as in a core of assumptions made in order. The rule looks at
nothing but the order of first occurrence, so renaming a formula renames its target.

Formulas of up to MAX_TABLE_SYMBOLS symbols are truth tables held as integers; for larger ones
SymPy's `satisfiable` is asked, with clauses built from the tokens (Tseitin 1968).
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from symshift.data.formula import BINARY, Formula, is_boolean, symbols_of

MAX_TABLE_SYMBOLS = 20
Clause = tuple[int, ...]
"""A disjunction of literals: a positive or negative number of a variable, counted from 1."""


def minimal_assignment(formula: Formula) -> dict[str, bool] | None:
    """Return the target of a formula, in order of first occurrence; None if it has no model.

    Args:
        formula: A formula without temporal operators.

    Returns:
        The assignment that the rule gives. It is empty for a tautology.

    Raises:
        ValueError: If the formula has a temporal operator.
    """
    if not is_boolean(formula):
        raise ValueError(f"{formula!r} has a temporal operator")
    symbols = symbols_of(formula)
    if len(symbols) <= MAX_TABLE_SYMBOLS:
        return _by_table(formula, symbols)
    return _by_search(formula, symbols)


def solver_of(num_symbols: int) -> str:
    """Return name and version of the method for formulas of so many symbols."""
    if num_symbols <= MAX_TABLE_SYMBOLS:
        return "truth-table 1"
    import sympy

    return f"sympy {sympy.__version__}"


@lru_cache(maxsize=MAX_TABLE_SYMBOLS + 1)
def _columns(num_symbols: int) -> tuple[int, ...]:
    """Return the truth table of each symbol, the first symbol's first.

    Bit i is the value under assignment i, where the first symbol is the highest bit of i: the
    lowest bit set in a table is its first model.
    """
    columns = []
    for place in reversed(range(num_symbols)):
        width = 1 << place
        column = ((1 << width) - 1) << width
        for doubled in range(place + 1, num_symbols):
            column |= column << (1 << doubled)
        columns.append(column)
    return tuple(columns)


def _table(formula: Formula, symbols: Sequence[str]) -> int:
    """Return the truth table of a formula."""
    full = (1 << (1 << len(symbols))) - 1
    values = dict(zip(symbols, _columns(len(symbols)), strict=True))
    values["0"], values["1"] = 0, full
    stack: list[int] = []
    for token in reversed(formula):
        if (value := values.get(token)) is not None:
            stack.append(value)
            continue
        left = stack.pop()
        if token == "!":
            stack.append(full ^ left)
        elif token == "&":
            stack[-1] &= left
        elif token == "|":
            stack[-1] |= left
        elif token == "xor":
            stack[-1] ^= left
        else:
            stack[-1] = full ^ left ^ stack[-1] if token == "<->" else full ^ left | stack[-1]
    return stack[0]


def _by_table(formula: Formula, symbols: Sequence[str]) -> dict[str, bool] | None:
    table = _table(formula, symbols)
    if not table:
        return None
    model = (table & -table).bit_length() - 1
    kept: dict[str, bool] = {}
    columns = _columns(len(symbols))
    for place, (name, column) in enumerate(zip(reversed(symbols), reversed(columns), strict=True)):
        width = 1 << place
        if table >> (model ^ width) & 1:
            # From here on a bit tells whether both values of this symbol give a model.
            table &= (table & column) >> width | table << width & column
        else:
            kept[name] = bool(model & width)
    return dict(reversed(kept.items()))


def _by_search(formula: Formula, symbols: Sequence[str]) -> dict[str, bool] | None:
    search = _Search(formula)
    model = search.model([search.root])
    if model is None:
        return None
    numbers = [search.numbers[name] for name in symbols]
    first = [search.root]
    for number in numbers:
        if number in model and (lower := search.model([*first, -number])) is not None:
            model = lower
        first.append(number if number in model else -number)
    kept = first[1:]
    for literal in reversed(first[1:]):
        rest = [other for other in kept if other != literal]
        if search.model([-search.root, *rest]) is None:
            kept = rest
    return {
        name: literal > 0
        for name, literal in zip(symbols, first[1:], strict=True)
        if literal in kept
    }


class _Search:
    """A formula as clauses, and SymPy's answers about them."""

    def __init__(self, formula: Formula) -> None:
        self.numbers: dict[str, int] = {}
        self._clauses: list[Clause] = []
        self._num = 0
        self.root = self._add(formula)

    def model(self, literals: Iterable[int]) -> set[int] | None:
        """Return the variables that are true in some model of these literals, or None."""
        from sympy import Symbol
        from sympy.assumptions.cnf import EncodedCNF
        from sympy.logic.inference import satisfiable

        encoding = {Symbol(f"v{number}"): number for number in range(1, self._num + 1)}
        clauses = [*map(set, self._clauses), *({literal} for literal in literals)]
        model = satisfiable(EncodedCNF(clauses, encoding), algorithm="dpll2")
        return {encoding[s] for s, value in model.items() if value} if model else None

    def _add(self, formula: Formula) -> int:
        """Add clauses that define every subformula, and return the literal of the whole."""
        stack: list[int] = []
        for token in reversed(formula):
            if token == "!":
                stack[-1] = -stack[-1]
            elif token in BINARY:
                left = stack.pop()
                stack[-1] = self._define(token, left, stack[-1])
            elif token in self.numbers:
                stack.append(self.numbers[token])
            else:
                self._num += 1
                stack.append(self._num)
                self.numbers[token] = self._num
                if token in ("0", "1"):
                    self._clauses.append((self._num if token == "1" else -self._num,))
        return stack[0]

    def _define(self, operator: str, left: int, right: int) -> int:
        """Return a literal that equals an operator's result on two literals."""
        if operator == "&":
            return -self._either(-left, -right)
        if operator == "|":
            return self._either(left, right)
        if operator == "->":
            return self._either(-left, right)
        if operator == "xor":
            return self._unequal(left, right)
        return -self._unequal(left, right)

    def _either(self, left: int, right: int) -> int:
        self._num += 1
        self._clauses += [(-self._num, left, right), (self._num, -left), (self._num, -right)]
        return self._num

    def _unequal(self, left: int, right: int) -> int:
        self._num += 1
        for one, other in ((left, right), (-left, -right)):
            self._clauses += [(-self._num, one, other), (self._num, one, -other)]
        return self._num
