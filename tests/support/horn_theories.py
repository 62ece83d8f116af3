"""Horn theories for tests: random ones, and what they mean, told in the plainest way."""

from hypothesis import strategies as st

from symshift.data.theory import Rule, Theory

ATOMS = "abcdefg"


@st.composite
def theories(draw, max_rules=12):
    atoms = ATOMS[: draw(st.integers(1, len(ATOMS)))]
    atom = st.sampled_from(atoms)
    bodies = st.lists(atom, min_size=1, max_size=3, unique=True).map(tuple)
    rules = st.lists(
        st.builds(Rule, bodies, atom), max_size=max_rules, unique_by=lambda rule: rule.key
    )
    facts = draw(st.lists(atom, max_size=3, unique=True))
    return Theory(tuple(facts), tuple(draw(rules)), draw(atom))


def closure(theory):
    """Apply every rule to everything known until nothing changes; return the atoms by round."""
    rounds = [set(theory.facts)]
    while True:
        known = rounds[-1]
        larger = known | {rule.head for rule in theory.rules if set(rule.body) <= known}
        if larger == known:
            return rounds
        rounds.append(larger)


def is_proof(theory, steps, is_derivable):
    """Tell whether steps show an answer, by reading them one after the other."""
    known = set(theory.facts)
    for step in steps:
        if not any(
            sorted(step.body) == sorted(rule.body) and step.head == rule.head
            for rule in theory.rules
        ):
            return False
        if not set(step.body) <= known:
            return False
        known = known | {step.head}
    if is_derivable:
        return theory.query in known
    return known == closure(theory)[-1] and theory.query not in known
