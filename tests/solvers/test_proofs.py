import pytest
from horn_theories import is_proof, theories
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.theory import Answer, Rule, parse, parse_answer
from symshift.data.verdict import Proof
from symshift.solvers.chaining import forward_chain
from symshift.solvers.proofs import check_proof

THEORY = "facts: a, b; rules: a & b -> c, c -> d, b -> e, e -> c, d -> d, x -> y; query: "


@pytest.mark.parametrize(
    ("query", "answer", "verdict", "reason"),
    [
        ("d", "a & b -> c; c -> d; true", "minimal", ""),
        ("d", "b & a -> c; c->d; true", "minimal", ""),
        ("d", "b -> e; e -> c; c -> d; true", "minimal", ""),
        ("d", "b -> e; a & b -> c; c -> d; true", "valid", "step 1 `b -> e` is not needed"),
        ("d", "a & b -> c; a & b -> c; c -> d; true", "valid", "step 2"),
        ("d", "a & b -> c; c -> d; d -> d; true", "valid", "step 3"),
        ("d", "c -> d; a & b -> c; true", "broken", "step 1 `c -> d`: c is not derived"),
        ("d", "a & b -> c; true", "broken", "step 2, the answer `true`: d is not derived"),
        ("d", "a -> c; c -> d; true", "broken", "step 1 `a -> c`: the problem has no such"),
        ("d", "a & b -> c; a & a & b -> c; c -> d; true", "broken", "step 2"),
        ("d", "a & b -> c; so c -> d; true", "broken", "step 2"),
        ("d", "a & b -> c; c -> d; false", "broken", "step 3, the answer `false`: rule `b -> e`"),
        ("d", "a & b -> c; c -> d; b -> e; false", "broken", "d is derived"),
        ("d", "true", "absent", "d is not derived"),
        ("d", "false", "absent", "rule `a & b -> c` derives more"),
        ("a", "true", "minimal", ""),
        ("a", "b -> e; true", "valid", "step 1"),
        ("y", "b -> e; e -> c; c -> d; false", "minimal", ""),
        ("y", "b -> e; e -> c; a & b -> c; c -> d; false", "valid", "step 3"),
        ("y", "b -> e; e -> c; false", "broken", "rule `c -> d` derives more"),
        ("y", "x -> y; true", "broken", "step 1"),
        ("y", "false", "absent", "derives more"),
    ],
)
def test_a_proof_gets_its_own_verdict_and_the_first_bad_step(query, answer, verdict, reason):
    found = check_proof(parse(THEORY + query), parse_answer(answer))

    assert found.verdict == verdict
    assert reason in found.reason


def test_nothing_derivable_needs_no_step():
    theory = parse("facts: ; rules: a -> b; query: b")

    assert check_proof(theory, Answer((), False)).verdict is Proof.MINIMAL
    assert check_proof(theory, Answer((), True)).verdict is Proof.ABSENT


@st.composite
def attempts(draw):
    """A theory with steps that are mostly right."""
    theory = draw(theories(max_rules=8))
    steps = list(forward_chain(theory).steps)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(steps)))
        action = draw(st.sampled_from(["drop", "add", "swap"]))
        if action == "add" and theory.rules:
            steps.insert(at, draw(st.sampled_from(theory.rules)))
        elif action == "drop":
            del steps[at : at + 1]
        elif steps[at : at + 2]:
            steps[at : at + 2] = steps[at : at + 2][::-1]
    return theory, tuple(steps), draw(st.booleans())


@given(attempts())
def test_the_checker_agrees_with_reading_step_by_step(attempt):
    theory, steps, is_derivable = attempt
    found = check_proof(theory, Answer(steps, is_derivable)).verdict
    is_right = is_proof(theory, steps, is_derivable)

    assert (found in (Proof.VALID, Proof.MINIMAL)) is is_right
    if not is_right:
        assert found is (Proof.BROKEN if steps else Proof.ABSENT)


@given(attempts())
def test_minimal_means_that_no_step_and_no_set_of_steps_can_go(attempt):
    theory, steps, is_derivable = attempt
    found = check_proof(theory, Answer(steps, is_derivable)).verdict
    if not is_proof(theory, steps, is_derivable):
        return
    shorter = [steps[:at] + steps[at + 1 :] for at in range(len(steps))]
    can_one_go = any(is_proof(theory, rest, is_derivable) for rest in shorter)

    assert (found is Proof.VALID) is can_one_go
    if len(steps) <= 6:
        subsets = [
            tuple(step for at, step in enumerate(steps) if chosen >> at & 1)
            for chosen in range(2 ** len(steps) - 1)
        ]
        assert can_one_go is any(is_proof(theory, rest, is_derivable) for rest in subsets)


@given(attempts())
def test_the_first_bad_step_is_the_first(attempt):
    theory, steps, is_derivable = attempt
    found = check_proof(theory, Answer(steps, is_derivable))
    if found.bad_step is None:
        return
    before = steps[: found.bad_step - 1]
    reachable = {*theory.facts, *(step.head for step in before)}

    for number, step in enumerate(before):
        assert set(step.body) <= {*theory.facts, *(s.head for s in before[:number])}
    if found.bad_step <= len(steps):
        assert not set(steps[found.bad_step - 1].body) <= reachable


def test_a_step_of_another_theory_is_the_first_bad_one():
    theory = parse(THEORY + "d")
    steps = (Rule(("a", "b"), "c"), Rule(("z",), "d"))

    assert check_proof(theory, Answer(steps, True)).bad_step == 2
