"""Reduced ordered binary decision diagrams: Boolean functions of many symbols, under a budget.

Canonical (Bryant 1986), with complement edges (Brace, Rudell and Bryant 1990), and without
recursion: a function of thousands of symbols needs no deep stack. An element is an integer: its
lowest bit negates, the others name a node, so 0 is false, 1 is true, and `e ^ 1` is "not e".
"""

from collections.abc import Iterable
from itertools import accumulate

from symshift.solvers.budget import Budget

PRODUCT_STEPS = 4
"""What a product costs of a budget: about the time and memory of as many steps of a search."""


class DecisionDiagrams:
    """An algebra of Boolean functions over a fixed list of symbols.

    Args:
        symbols: The symbols, in the order in which diagrams test them.
        budget: Pays PRODUCT_STEPS for each product of two nodes.
    """

    __slots__ = ("_budget", "_high", "_level", "_low", "_place", "_products", "_symbols", "_unique")

    zero = 0
    one = 1

    def __init__(self, symbols: Iterable[str], budget: Budget) -> None:
        self._symbols = tuple(symbols)
        self._place = {symbol: level for level, symbol in enumerate(self._symbols)}
        self._budget = budget
        self._level = [len(self._symbols)]
        self._low = [0]
        self._high = [0]
        self._unique: dict[tuple[int, int, int], int] = {}
        self._products: dict[tuple[int, int], int] = {}

    def symbol(self, symbol: str) -> int:
        """Return the function that is true where the symbol is."""
        return self._node(self._place[symbol], 0, 1)

    def negate(self, f: int) -> int:
        """Return the complement of a function."""
        return f ^ 1

    def conj(self, f: int, g: int) -> int:
        """Return the conjunction of two functions.

        Raises:
            BudgetExceeded: If the budget is spent.
        """
        result = 0
        todo = [(f, g) if f < g else (g, f)]
        while todo:
            pair = todo[-1]
            if (known := self._product(*pair)) is not None:
                result = known
                todo.pop()
                continue
            level, *halves = self._halves(*pair)
            low, high = (self._product(*half) for half in halves)
            if low is None or high is None:
                todo += (half for half in halves if self._product(*half) is None)
                continue
            self._budget.spend(PRODUCT_STEPS)
            self._products[pair] = self._node(level, low, high)
        return result

    def disj(self, f: int, g: int) -> int:
        """Return the disjunction of two functions."""
        return self.conj(f ^ 1, g ^ 1) ^ 1

    def xor(self, f: int, g: int) -> int:
        """Return the function that is true where exactly one of two is."""
        return self.disj(self.conj(f, g ^ 1), self.conj(f ^ 1, g))

    def model(self, f: int) -> dict[str, bool]:
        """Return a partial assignment that makes a function true (it must not be `zero`)."""
        values = {}
        while f != 1:
            node, sign = f >> 1, f & 1
            value = self._low[node] ^ sign == 0
            values[self._symbols[self._level[node]]] = value
            f = (self._high if value else self._low)[node] ^ sign
        return values

    def implied(self, f: int) -> dict[str, bool]:
        """Return the literals that hold wherever a function does (it must not be `zero`)."""
        level = self._level
        top = len(self._symbols)
        can_be = ([False] * top, [False] * top)
        # Levels that some path to "true" leaves out are free; counted as begins minus ends.
        free = [0] * (top + 2)
        edges = [(-1, f)]
        seen = set()
        while edges:
            above, f = edges.pop()
            here = level[f >> 1]
            free[above + 1] += 1
            free[here] -= 1
            if here == top or f in seen:
                continue
            seen.add(f)
            for value, half in ((0, self._low), (1, self._high)):
                if child := half[f >> 1] ^ f & 1:
                    can_be[value][here] = True
                    edges.append((here, child))
        places = zip(self._symbols, accumulate(free), *can_be, strict=False)
        return {symbol: yes for symbol, skips, no, yes in places if not skips and no != yes}

    def _product(self, f: int, g: int) -> int | None:
        if f == 0 or f == g ^ 1:
            return 0
        if f in (1, g):
            return g
        return self._products.get((f, g))

    def _halves(self, f: int, g: int) -> tuple[int, tuple[int, int], tuple[int, int]]:
        level = min(self._level[f >> 1], self._level[g >> 1])
        (f_low, f_high), (g_low, g_high) = self._split(f, level), self._split(g, level)
        low = (f_low, g_low) if f_low < g_low else (g_low, f_low)
        high = (f_high, g_high) if f_high < g_high else (g_high, f_high)
        return level, low, high

    def _split(self, f: int, level: int) -> tuple[int, int]:
        node, sign = f >> 1, f & 1
        if self._level[node] != level:
            return f, f
        return self._low[node] ^ sign, self._high[node] ^ sign

    def _node(self, level: int, low: int, high: int) -> int:
        if low == high:
            return low
        # Only regular low edges: each function then has one element.
        sign = low & 1
        key = (level, low ^ sign, high ^ sign)
        if (known := self._unique.get(key)) is None:
            known = self._unique[key] = 2 * len(self._level)
            self._level.append(level)
            self._low.append(key[1])
            self._high.append(key[2])
        return known ^ sign
