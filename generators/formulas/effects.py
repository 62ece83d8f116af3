"""What the identities do to a node of a random tree, said in a form that can be counted.

The identities look at little of an operand: whether it is a constant, and which of `!`, `F` and `G`
it starts with. That much is its *kind*. Each effect here is found by applying
identities to an operand of the kind, so that the identities have one home. The equality
rules (`f & f`) are left out: here, two operands never equal each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from symshift.data.formula import Formula
from symshift.generators.formulas import identities
from symshift.generators.formulas.identities import ONE, ZERO

CONSTANTS = (ZERO, ONE)
_STARTS: tuple[tuple[str, ...], ...] = ((), ("F",), ("G",))
NUM_PLAIN = len(_STARTS)
NUM_KINDS = 2 * NUM_PLAIN
PLAIN = 0
"""Kinds of formulas that are no constant: PLAIN (neither `!`, `F` nor `G` first), `F`, `G`, then
the negations of these three in the same order."""
ANY_KIND = (1 << NUM_KINDS) - 1
"""Sets of kinds are bit masks; this one has them all."""
NOT_NEGATED = (1 << NUM_PLAIN) - 1
_A: Formula = Formula(("a",))
_B: Formula = Formula(("b",))


def kind_of(formula: Formula) -> int:
    """Return the kind of a formula that is no constant."""
    negated = formula[0] == "!"
    start = formula[negated : negated + 1]
    return NUM_PLAIN * negated + (_STARTS.index(start) if start in _STARTS else PLAIN)


def _of_kind(kind: int) -> Formula:
    return Formula(("!",) * (kind >= NUM_PLAIN) + _STARTS[kind % NUM_PLAIN] + _A)


@dataclass(frozen=True, slots=True)
class UnaryEffect:
    """What a unary operator does to its operand, by the operand's kind."""

    operator: str
    """The operator."""
    on_constant: tuple[int, int]
    """Which constant it makes of 0, and of 1."""
    node: tuple[int, ...]
    """For each kind, the kind of the formula where it adds a node, or -1 where it does not."""
    kept: int
    """Kinds that it leaves as they are (a bit mask)."""
    stripped: int
    """Kinds that lose their first token to it (a bit mask)."""

    @classmethod
    def of(cls, operator: str) -> "UnaryEffect":
        """Find the effect by applying the identities."""
        node = [-1] * NUM_KINDS
        kept = stripped = 0
        for kind in range(NUM_KINDS):
            operand = _of_kind(kind)
            result = identities.unary(operator, operand)
            if result == operand:
                kept |= 1 << kind
            elif result == operand[1:]:
                stripped |= 1 << kind
            else:
                assert result == (operator, *operand), f"{operator} {operand}: {result}"
                node[kind] = kind_of(result)
        constants = [CONSTANTS.index(identities.unary(operator, c)) for c in CONSTANTS]
        return cls(operator, (constants[0], constants[1]), tuple(node), kept, stripped)

    def sources(self, kinds: int) -> int:
        """Return the kinds of operand from which it makes a node of these kinds."""
        return sum(1 << kind for kind, out in enumerate(self.node) if out >= 0 and kinds >> out & 1)


NEGATION = UnaryEffect.of("!")


@dataclass(frozen=True, slots=True)
class BinaryEffects:
    """What some binary operators do where an operand is a constant, `f` being the other.

    Numbers of ways are given for 0 and for 1, and both sides are counted: `1 & f` and `f & 1` are
    two ways to keep `f`. Where no operand is a constant, each operator makes a node of kind PLAIN.
    """

    kept: tuple[int, int]
    """Ways to keep the other operand."""
    negated: tuple[int, int]
    """Ways to negate the other operand."""
    standing: tuple[tuple[str, int, bool], ...]
    """(operator, constant, whether it is on the left): a node of kind PLAIN, such as `1 U f`."""
    absorbed: tuple[tuple[int, int], tuple[int, int]]
    """[constant][result]: ways to make a constant, whatever the other operand is."""
    joined: tuple[tuple[int, int, int], ...]
    """(left, right, result): one entry for each operator and pair of constants."""

    @classmethod
    def of(cls, operators: Iterable[str]) -> "BinaryEffects":
        """Find the effects by applying the identities."""
        kept, negated, absorbed = [0, 0], [0, 0], [[0, 0], [0, 0]]
        standing, joined = [], []
        for operator in operators:
            node = identities.binary(operator, _A, _B)
            assert node == (operator, *_A, *_B)
            for c, constant in enumerate(CONSTANTS):
                for pair in ((constant, _A), (_A, constant)):
                    result = identities.binary(operator, *pair)
                    kept[c] += result == _A
                    negated[c] += result == ("!", *_A)
                    if result == (operator, *pair[0], *pair[1]):
                        standing.append((operator, c, pair[0] == constant))
                    for out, absorber in enumerate(CONSTANTS):
                        absorbed[c][out] += result == absorber
                for d, other in enumerate(CONSTANTS):
                    out = CONSTANTS.index(identities.binary(operator, constant, other))
                    joined.append((c, d, out))
        return cls(
            (kept[0], kept[1]),
            (negated[0], negated[1]),
            tuple(standing),
            ((absorbed[0][0], absorbed[0][1]), (absorbed[1][0], absorbed[1][1])),
            tuple(joined),
        )
