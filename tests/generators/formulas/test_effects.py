import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.formula import BINARY, UNARY, Formula
from symshift.data.seeds import Draws
from symshift.generators.formulas.effects import CONSTANTS, BinaryEffects, UnaryEffect, kind_of
from symshift.generators.formulas.identities import binary, reduce, unary


def formula_of(number):
    """A formula that no identity shortens, and that is no constant."""
    draws = Draws("operand", number)
    tokens = [draws.choice("!XFG") for _ in range(draws.below(4))]
    if draws.below(2):
        tokens += [draws.choice(sorted(BINARY)), "a", draws.choice("!X"), "b"]
    else:
        tokens.append("a")
    return reduce(tokens)


@pytest.mark.parametrize("operator", sorted(UNARY))
@given(st.integers(0, 10**6))
def test_what_a_unary_operator_does_depends_on_the_kind_alone(operator, number):
    operand, effect = formula_of(number), UnaryEffect.of(operator)
    kind, result = kind_of(operand), unary(operator, operand)

    if effect.node[kind] >= 0:
        assert result == (operator, *operand)
        assert kind_of(result) == effect.node[kind]
        assert effect.sources(1 << kind_of(result)) >> kind & 1
    elif effect.kept >> kind & 1:
        assert result == operand
    else:
        assert effect.stripped >> kind & 1
        assert result == operand[1:]


@pytest.mark.parametrize("operator", sorted(BINARY))
@given(st.integers(0, 10**6))
def test_what_a_constant_does_depends_on_nothing_else(operator, number):
    operand, effects = formula_of(number), BinaryEffects.of([operator])
    for c, constant in enumerate(CONSTANTS):
        results = [binary(operator, constant, operand), binary(operator, operand, constant)]
        standing = [is_left for _, d, is_left in effects.standing if d == c]
        expected = [
            *([operand] * effects.kept[c]),
            *([unary("!", operand)] * effects.negated[c]),
            *(CONSTANTS[out] for out in (0, 1) for _ in range(effects.absorbed[c][out])),
            *(
                Formula(
                    (operator, *constant, *operand) if left else (operator, *operand, *constant)
                )
                for left in standing
            ),
        ]

        assert sorted(results) == sorted(expected)
    assert len(effects.joined) == 4
