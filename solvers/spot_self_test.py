"""Twenty questions to a Spot, with known answers."""

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.solvers.spot import Spot

_HOLDS = (
    ("G F a", "cycle{a}", True),
    ("G F a", "a; cycle{!a}", False),
    ("a U b", "a; b; cycle{1}", True),
    ("a U b", "cycle{a}", False),
    ("X X a", "1; 1; a; cycle{1}", True),
    ("F a", "cycle{1}", False),
    ("a xor b", "a & !b; cycle{1}", True),
    ("1", "cycle{0}", False),
    ("F G (a -> b)", "a & !b; cycle{!a; b}", True),
    ("a W b", "cycle{a; a; !a & !b}", False),
)
_SATISFIABLE = (
    ("G F a & G F !a", True),
    ("G a & F !a", False),
    ("a M !a", False),
    ("F (a & X !a) & G (a | b)", True),
    ("0", False),
)
_EQUIVALENT = (
    ("a U b", "b | (a & X (a U b))", True),
    ("a R b", "!(!a U !b)", True),
    ("F G a", "G F a", False),
    ("a xor b -> c", "(a xor b) -> c", True),
    ("a W b", "a U b", False),
)


def self_test(spot: Spot) -> list[str]:
    """Ask 20 questions with known answers; return those that were answered wrongly."""
    wrong = []
    for text, word, expected in _HOLDS:
        if spot.holds(formulas.parse(text), traces.parse(word)) is not expected:
            wrong.append(f"{word!r} on {text!r}")
    for text, expected in _SATISFIABLE:
        formula = formulas.parse(text)
        found = spot.witness(formula)
        if (found is not None) is not expected or (found and not spot.holds(formula, found)):
            wrong.append(f"satisfiability of {text!r}")
    for first, second, expected in _EQUIVALENT:
        if spot.equivalent(formulas.parse(first), formulas.parse(second)) is not expected:
            wrong.append(f"equivalence of {first!r} and {second!r}")
    return wrong
