"""Random formulas as Spot's `randltl` draws them, then shortened, then with equalised sizes.

A tree of size 1 is a symbol or a constant, each symbol as likely as each constant. A larger tree
takes an operator, each as likely as the next (of the unary ones alone at size 2), and a binary
operator splits what is left at a uniform place. Spot's trivial identities then shorten the
formula. Sizes follow the published LTLRandom35 (methods of DeepLTL, ICLR 2021: sizes from 10 up
equally frequent, 11.2 % of the rows below): a candidate first draws the size it shall have, then
trees of a uniform size, until one is as large as that when shortened.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from symshift.data.errors import UsageError
from symshift.data.formula import (
    ARITY,
    CONSTANTS,
    OPERATORS,
    Formula,
    canonical,
    symbols_of,
)
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.data.vocabulary import name_at
from symshift.generators.identities import reduce

FIRST_EQUAL_SIZE = 10
SMALL_SHARE = 0.112
MAX_TREES = 20_000


@dataclass(frozen=True, slots=True)
class Leaves:
    """What stands at the leaves and the nodes of a random tree."""

    symbols: tuple[str, ...]
    constants: tuple[str, ...]
    unary: tuple[str, ...]
    binary: tuple[str, ...]

    @classmethod
    def of(cls, operators: str, num_symbols: int) -> "Leaves":
        """Sort operators, given as text such as "0 1 ! X U &", by their arity.

        Raises:
            UsageError: For an unknown operator, or if no formula can be built.
        """
        given = operators.split()
        for operator in given:
            if operator not in ARITY:
                known = " ".join(sorted(ARITY))
                raise UsageError(f"operator {operator!r} is not one of: {known}")
        if len(set(given)) < len(given):
            raise UsageError(f"operators {operators!r}: each can be given once")
        return cls(
            tuple(map(name_at, range(num_symbols))),
            tuple(o for o in given if o in CONSTANTS),
            tuple(o for o in given if o in OPERATORS and ARITY[o] == 1),
            tuple(o for o in given if o in OPERATORS and ARITY[o] == 2),
        )

    def tree_sizes(self, max_size: int) -> list[int]:
        """Return the sizes up to `max_size` that a tree of these can have."""
        if self.unary:
            return list(range(1, max_size + 1))
        return list(range(1, max_size + 1, 2)) if self.binary else [1]


def draw_tree(draws: Draws, size: int, law: Leaves) -> list[str]:
    """Draw the Polish tokens of a tree with `size` nodes, as Spot's randltl does."""
    leaves = law.symbols + law.constants
    inner = law.unary + law.binary
    tokens = []
    waiting = [size]
    while waiting:
        size = waiting.pop()
        if size == 1:
            tokens.append(draws.choice(leaves))
            continue
        token = draws.choice(law.unary if size == 2 else inner)
        tokens.append(token)
        if ARITY[token] == 1:
            waiting.append(size - 1)
            continue
        step = 1 if law.unary else 2
        left = 1 + step * draws.below((size - 2 + step - 1) // step)
        waiting += (size - 1 - left, left)
    return tokens


def draw_size(draws: Draws, sizes: Sequence[int]) -> int:
    """Draw the size of a formula: uniform from FIRST_EQUAL_SIZE up, SMALL_SHARE below it.

    Where all sizes lie on one side, they are equally likely.
    """
    small = [size for size in sizes if size < FIRST_EQUAL_SIZE]
    large = [size for size in sizes if size >= FIRST_EQUAL_SIZE]
    if small and large:
        return draws.choice(small if draws.uniform() < SMALL_SHARE else large)
    return draws.choice(small or large)


def possible_sizes(law: Leaves, size: Range, num_symbols: Range) -> list[int]:
    """Return the sizes in a range that formulas with so many distinct symbols can have.

    Raises:
        UsageError: If there is none.
    """
    if num_symbols.min > len(law.symbols):
        raise UsageError(
            f"num_symbols {num_symbols}: the vocabulary has only {len(law.symbols)} names"
        )
    if num_symbols.min > 1 and not law.binary:
        raise UsageError(f"num_symbols {num_symbols}: without a binary operator there is only 1")
    least = max(1, 2 * num_symbols.min - 1)
    sizes = [s for s in law.tree_sizes(size.max) if s >= max(size.min, least)]
    if not sizes:
        raise UsageError(
            f"size {size}: formulas with {num_symbols.min} or more symbols over these operators "
            f"have size {least} or more"
        )
    return sizes


def draw_formula(draws: Draws, law: Leaves, size: Range, num_symbols: Range) -> Formula | None:
    """Draw a formula in canonical form whose size and number of symbols lie in the ranges.

    Returns:
        None if MAX_TREES trees gave no formula of the size that was drawn.
    """
    wanted = draw_size(draws, possible_sizes(law, size, num_symbols))
    sizes = [s for s in law.tree_sizes(size.max) if s >= wanted]
    for _ in range(MAX_TREES):
        formula = reduce(draw_tree(draws, draws.choice(sizes), law))
        if len(formula) == wanted and len(symbols_of(formula)) in num_symbols:
            return canonical(formula)
    return None
