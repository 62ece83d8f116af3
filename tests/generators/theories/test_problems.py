import hashlib
from collections import Counter

import pytest

from symshift.data.options import Range
from symshift.data.task import Problem
from symshift.data.theory import parse
from symshift.generators.theories.options import Options
from symshift.generators.theories.problems import TheoryProblems, problem_of
from symshift.solvers.chaining import forward_chain

CHOICES = [
    {},
    {"decorrelate": True},
    {"sampler": "lp"},
    {"sampler": "lp", "decorrelate": True},
    {"depth": Range(2, 4), "closure_depth": Range(4, 4)},
    {"balance": True, "num_symbols": Range(6, 8), "size": Range(8, 14)},
]


def problems(options, count=120, seed=0, names=30):
    stream = TheoryProblems(Options(**options), names, 1)
    return [stream.problem(seed, index) for index in range(count)]


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_labels_come_in_turn_and_depths_are_those_asked_for(options):
    stream = TheoryProblems(Options(**options), 30, 1)
    promised = {promise.columns: promise.values for promise in stream.even}
    found = 0
    for index, problem in enumerate(problems(options)):
        if not isinstance(problem, Problem):
            continue
        found += 1
        theory = parse(problem.input)
        closure = forward_chain(theory)
        label = theory.query in closure.rounds
        values = {
            ("label",): (label,),
            ("depth",): (closure.rounds.get(theory.query),),
            ("label", "closure_depth"): (label, closure.depth),
        }

        assert label is (index % 2 == 0)
        for columns, allowed in promised.items():
            assert values[columns] in allowed or (not label and columns == ("depth",))
        if options.get("balance"):
            assert (len(problem.symbols), problem.size) == stream.place(0, index)
            assert stream.place(0, index) in stream.cells
    assert found > 80


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_a_problem_is_a_pure_function_of_seed_and_index(options):
    stream = TheoryProblems(Options(**options), 30, 1)
    backward = [stream.problem(5, index) for index in reversed(range(40))]

    assert backward[::-1] == problems(options, 40, seed=5)
    assert problems(options, 40, seed=6) != problems(options, 40, seed=5)


@pytest.mark.parametrize("num_names", [31, 1_000, 100_000])
def test_more_names_give_the_same_problems(num_names):
    # What a study of symbol diversity rests on.
    options = {"num_symbols": Range(5, 30)}

    assert problems(options, 30, names=num_names) == problems(options, 30)


def test_the_chain_that_is_asked_for_changes_no_problem():
    texts = [[p.input for p in problems({"chain": chain}, 30)] for chain in ("closure", "minimal")]

    assert texts[0] == texts[1]


@pytest.mark.parametrize("sampler", ["rp", "lp"])
def test_decorrelated_theories_are_asked_for_both_answers(sampler):
    asked = Counter(p.decides_split for p in problems({"sampler": sampler, "decorrelate": True}))

    assert set(asked.values()) == {2}


@pytest.mark.parametrize("sampler", ["rp", "lp"])
@pytest.mark.parametrize("decorrelate", [False, True])
def test_few_predicates_leave_something_that_is_not_derivable(sampler, decorrelate):
    # Now and then the only false atoms of a draft occur nowhere, and cannot be asked about.
    options = {"sampler": sampler, "decorrelate": decorrelate, "num_symbols": Range(2, 5)}
    for index, problem in enumerate(problems(options, 3_000, names=5)):
        if isinstance(problem, Problem):
            theory = parse(problem.input)
            assert (theory.query in forward_chain(theory).rounds) is (index % 2 == 0)


def test_decorrelation_takes_the_number_of_rules_for_the_query_away():
    def accuracy(options):
        right = 0
        for index, problem in enumerate(problems(options, 600)):
            theory = parse(problem.input)
            has_rules = any(rule.head == theory.query for rule in theory.rules)
            right += has_rules is (index % 2 == 0)
        return right / 600

    # Four standard errors apart.
    assert accuracy({"decorrelate": True}) + 0.08 < accuracy({})


def test_the_split_does_not_know_the_query():
    theory = "facts: a; rules: a -> b, c -> d; query: "
    one, other = (problem_of(theory + query, parse(theory + query)) for query in "bd")

    assert one.decides_split == other.decides_split
    assert one.canonical_text != other.canonical_text


def test_the_order_of_a_text_has_no_meaning_for_the_form():
    one = "facts: a, b; rules: a & b -> c, c -> d, b -> e; query: d"
    other = "facts: q, p; rules: q -> z, y -> x, q & p -> y; query: x"

    first, second = (problem_of(text, parse(text)) for text in (one, other))
    assert first.canonical_text == second.canonical_text
    assert first.decides_split == second.decides_split
    # The canonical order is that of the structure: what is called alike there, is alike.
    names = dict(zip(first.symbols, second.symbols))
    assert names == {"a": "p", "b": "q", "c": "y", "d": "x", "e": "z"}


def test_a_query_outside_the_theory_is_the_last_symbol():
    text = "facts: p; rules: a & p -> b, b -> a; query: d"
    problem = problem_of(text, parse(text))

    assert problem.symbols[-1] == "d"
    assert problem.size == 3


def test_the_streams_are_frozen():
    texts = [p.input for options in CHOICES[:4] for p in problems(options, 40)]

    assert hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16] == "ce0cffafdb123377"
