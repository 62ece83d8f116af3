import itertools

import pytest

from symshift.data.errors import UsageError
from symshift.data.options import Range
from symshift.generators.theories.limits import limits_of
from symshift.generators.theories.options import Options
from symshift.generators.theories.schedule import depth_ranges


def deepest(num_atoms, body_size, facts):
    """Return the closure depths beside which some atom of a rule is not derivable.

    Each comes with the most rules that a theory of that depth has.
    """
    rules = [
        (frozenset(body), head)
        for size in range(body_size.min, body_size.max + 1)
        for body in itertools.combinations(range(num_atoms), size)
        for head in set(range(num_atoms)) - set(body)
    ]
    found = {}
    for chosen in range(2 ** len(rules)):
        clauses = [rule for at, rule in enumerate(rules) if chosen >> at & 1]
        in_rules = {atom for body, head in clauses for atom in (*body, head)}
        for num in range(max(1, facts.min), min(facts.max, num_atoms) + 1):
            known, rounds = set(range(num)), 0
            if len(in_rules | known) < num_atoms:
                continue
            while new := {head for body, head in clauses if body <= known} - known:
                known |= new
                rounds += 1
            if in_rules - known:
                found[rounds] = max(found.get(rounds, 0), len(clauses))
    return found


@pytest.mark.parametrize(
    ("num_atoms", "body_size", "facts"),
    [
        (2, Range(1, 1), Range(0, 9)),
        (3, Range(1, 2), Range(0, 9)),
        (3, Range(2, 2), Range(0, 9)),
        (4, Range(1, 1), Range(0, 9)),
        (4, Range(1, 1), Range(2, 3)),
        (4, Range(2, 2), Range(0, 9)),
    ],
)
def test_the_largest_depth_and_number_of_rules_are_those_of_all_theories(
    num_atoms, body_size, facts
):
    options = Options(num_symbols=Range(num_atoms, num_atoms), body_size=body_size, facts=facts)
    found = deepest(num_atoms, body_size, facts)
    limits = limits_of(options, 30)

    assert limits.largest_closure_depth == max(found)
    for depth, num in found.items():
        counts = limits.counts(num_atoms, depth)
        assert limits.most_rules(num_atoms, depth, counts.facts) == num


@pytest.mark.parametrize(
    ("options", "names", "reason"),
    [
        ({"num_symbols": Range(6, 9)}, 5, "num_symbols 6-9: the vocabulary has only 5 names"),
        ({"num_symbols": Range(1, 1)}, 5, "2 predicates or more"),
        ({"num_symbols": Range(5, 500)}, 5, "the largest possible is 200"),
        ({"body_size": Range(0, 3)}, 5, "bodies have 1 to 10"),
        ({"body_size": Range(5, 6)}, 5, "body_size 5-6: the largest possible is 4 with 5"),
        ({"rules": Range(21, 30), "body_size": Range(1, 1)}, 5, "the largest possible is 16"),
        ({"rules": Range(5, 3_000)}, 30, "the largest possible is 2000"),
        ({"facts": Range(5, 5)}, 5, "facts 5-5: the largest possible is 4"),
        ({"depth": Range(0, 4)}, 5, "depth 0-4: the largest possible is 3"),
        ({"closure_depth": Range(1, 9)}, 10, "closure_depth 1-9: the largest possible is 8"),
        ({"depth": Range(0, 9), "facts": Range(4, 4)}, 10, "the largest possible is 5"),
        ({"depth": Range(0, 9), "rules": Range(0, 5)}, 30, "the largest possible is 4"),
        ({"depth": Range(0, 9), "size": Range(0, 7)}, 30, "the largest possible is 5"),
        ({"depth": Range(0, 9), "body_size": Range(3, 3)}, 10, "the largest possible is 6"),
        ({"depth": Range(0, 9), "sampler": "lp"}, 12, "the largest possible is 5"),
        ({"rules": Range(0, 0)}, 5, "no theory for sampler rp has num_symbols 5-5"),
        ({"size": Range(0, 1)}, 5, "rules and facts are at least 2 together"),
        ({"size": Range(5, 5), "rules": Range(6, 9)}, 5, "size 5-5: .* at least 7 together"),
        ({"size": Range(99, 99)}, 5, "size 99-99: the largest possible is 70 with 66 rules"),
        (
            {"size": Range(20, 20), "rules": Range(1, 3), "facts": Range(1, 2)},
            5,
            "size 20-20: the largest possible is 5 with 3 rules and 2 facts",
        ),
        ({"facts": Range(0, 0)}, 5, "facts 0-0: a theory has 1 fact or more"),
        ({"depth": Range(3, 4), "closure_depth": Range(1, 4)}, 30, "does not go with"),
        ({"depth": Range(0, 6), "closure_depth": Range(0, 5)}, 30, "does not go with"),
    ],
)
def test_what_cannot_be_is_refused_with_the_largest_that_can(options, names, reason):
    with pytest.raises(UsageError, match=reason):
        depth_ranges(Options(**options), limits_of(Options(**options), names).largest_closure_depth)


@pytest.mark.parametrize("sampler", ["rp", "lp"])
@pytest.mark.parametrize("num_names", [2, 3, 4, 5, 6, 7, 10, 30, 1000])
def test_defaults_are_possible_with_any_number_of_names(sampler, num_names):
    options = Options(sampler=sampler)
    if sampler == "rp" or num_names > 1:
        ranges = depth_ranges(options, limits_of(options, num_names).largest_closure_depth)
        assert 0 <= ranges.query.max <= ranges.closure.max <= 7
    if num_names >= 30:
        assert ranges == (Range(0, 6), Range(1, 7))


def test_what_stays_open_of_a_range_is_what_is_possible():
    limits = limits_of(Options(num_symbols=Range(5, 99), size=Range(10, 12)), 8)

    assert limits.num_symbols == Range(5, 8)
    assert limits.counts(8, 2) is not None
    for num_rules in range(limits.counts(8, 2).rules.min, limits.counts(8, 2).rules.max + 1):
        facts = limits.facts_beside(num_rules, limits.counts(8, 2))
        assert 10 <= num_rules + facts.min <= num_rules + facts.max <= 12
