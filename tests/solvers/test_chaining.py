import json
from pathlib import Path

import pytest
from horn_theories import closure, theories
from hypothesis import given, settings

from symshift.data.text import rename_text
from symshift.data.theory import Answer, Rule, Theory, parse, parse_rule
from symshift.data.verdict import Proof
from symshift.solvers.chaining import forward_chain
from symshift.solvers.fixpoint import rounds_by_fixpoint
from symshift.solvers.proofs import check_proof

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases/horn.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["input"])
def test_cases_by_hand(case):
    theory = parse(case["input"])
    rounds = forward_chain(theory).rounds

    assert (theory.query in rounds) is case["label"]
    assert rounds.get(theory.query) == case["depth"]
    for atom, depth in case.get("depth_of", {}).items():
        assert rounds[atom] == depth


@given(theories())
def test_three_methods_agree_on_every_round(theory):
    plain = closure(theory)
    rounds = {
        atom: next(number for number, atoms in enumerate(plain) if atom in atoms)
        for atom in plain[-1]
    }
    chained = forward_chain(theory)

    assert chained.rounds == rounds == rounds_by_fixpoint(theory)
    assert chained.depth == len(plain) - 1


@given(theories())
def test_steps_stand_in_the_stated_order(theory):
    chained = forward_chain(theory)
    rounds = chained.rounds
    places = [(rounds[step.head], theory.rules.index(step)) for step in chained.steps]

    assert places == sorted(places)
    assert sorted(step.head for step in chained.steps) == sorted(set(rounds) - {*theory.facts})
    for step in chained.steps:
        first = next(
            rule
            for rule in theory.rules
            if rule.head == step.head
            and all(rounds.get(atom, 99) < rounds[step.head] for atom in rule.body)
        )
        assert step == first


@given(theories())
def test_a_proof_is_minimal_and_a_part_of_the_closure(theory):
    chained = forward_chain(theory)
    for query in theory.symbols():
        asked = Theory(theory.facts, theory.rules, query)
        proof = chained.proof(query)
        answer = Answer(proof, query in chained.rounds)

        assert check_proof(asked, answer).verdict is Proof.MINIMAL
        assert [step for step in chained.steps if step in proof] == list(proof)


@given(theories())
def test_renaming_a_theory_renames_its_proof(theory):
    names = dict(zip("abcdefg", "gcfadbe"))
    renamed = parse(rename_text(str(theory), names))
    proof = forward_chain(renamed).proof(renamed.query)

    assert [str(step) for step in proof] == [
        rename_text(str(step), names) for step in forward_chain(theory).proof(theory.query)
    ]


def test_of_several_rules_the_first_in_the_text_is_used():
    theory = parse("facts: a, b; rules: c -> d, b -> c, a -> c, a & b -> d; query: d")

    assert list(map(str, forward_chain(theory).steps)) == ["b -> c", "a & b -> d"]


def test_work_grows_with_the_length_of_the_text_alone():
    # A chain whose rules stand in the worst order takes a fixpoint a pass for each of them.
    length = 20_000
    rules = [Rule((f"x{n}",), f"x{n + 1}") for n in reversed(range(length))]

    assert forward_chain(Theory(("x0",), tuple(rules), "x0")).depth == length


@pytest.mark.slow
@settings(deadline=None)
@given(theories())
def test_sympy_agrees(theory):
    from sympy import Symbol
    from sympy.logic.boolalg import And, Implies, Not
    from sympy.logic.inference import satisfiable

    symbols = {name: Symbol(f"v_{name}") for name in theory.symbols()}
    clauses = [symbols[fact] for fact in theory.facts]
    clauses += [
        Implies(And(*(symbols[atom] for atom in rule.body)), symbols[rule.head])
        for rule in theory.rules
    ]
    follows = not satisfiable(And(*clauses, Not(symbols[theory.query])))

    assert follows is (theory.query in forward_chain(theory).rounds)


def test_rules_read_as_they_are_printed():
    assert str(parse_rule("a&b ->c")) == "a & b -> c"
