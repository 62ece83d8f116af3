import itertools
from collections import Counter

import pytest

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.theories.label_priority import draw_by_labels
from symshift.generators.theories.limits import limits_of
from symshift.generators.theories.options import Options
from symshift.generators.theories.rule_priority import _rules, draw_by_rules


def rounds_of(draft):
    """Chain a draft in the plainest way; return the round of each atom, -1 if there is none."""
    rounds = dict.fromkeys(draft.facts, 0)
    for number in itertools.count(1):
        new = {
            head
            for body, head in draft.clauses
            if head not in rounds and all(atom in rounds for atom in body)
        }
        if not new:
            return [rounds.get(atom, -1) for atom in range(len(draft.rounds))]
        rounds.update(dict.fromkeys(new, number))


def drafts(count, sampler, closure_depth, names=30, **options):
    limits = limits_of(Options(sampler=sampler, **options), names)
    fitting = limits.fitting_symbols(closure_depth)
    for number in range(count):
        draws = Draws("test", number)
        if sampler == "lp":
            draft = draw_by_labels(draws, limits, fitting, closure_depth, has_underivable=True)
        else:
            draft = draw_by_rules(
                draws,
                limits,
                fitting,
                closure_depth,
                has_underivable=number % 2 == 0,
                prefers_heads=number % 4 == 0,
            )
        if draft is not None:
            yield number, limits, draft


@pytest.mark.parametrize("sampler", ["rp", "lp"])
@pytest.mark.parametrize("closure_depth", [0, 1, 3, 7])
def test_closures_take_exactly_the_wanted_rounds(sampler, closure_depth):
    found = list(drafts(60, sampler, closure_depth))

    assert len(found) == 60
    for number, _, draft in found:
        assert list(draft.rounds) == rounds_of(draft)
        assert max(draft.rounds) == closure_depth
        in_rules = {atom for body, head in draft.clauses for atom in (*body, head)}
        if sampler == "lp" or number % 2 == 0:
            assert any(draft.rounds[atom] < 0 for atom in in_rules)


@pytest.mark.parametrize("sampler", ["rp", "lp"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_symbols": Range(12, 14), "rules": Range(20, 24), "facts": Range(2, 3)},
        {"num_symbols": Range(12, 12), "size": Range(25, 30)},
        {"body_size": Range(1, 1)},
        {"body_size": Range(2, 5), "num_symbols": Range(20, 30)},
    ],
)
def test_theories_are_what_was_asked_for(sampler, options):
    found = list(drafts(60, sampler, 2, **options))
    body_size = options.get("body_size", Range(1, 3))

    assert len(found) > 50
    for _, limits, (facts, clauses, _) in found:
        atoms = {*facts, *(atom for body, head in clauses for atom in (*body, head))}
        assert len(atoms) in limits.num_symbols
        assert len(clauses) in options.get("rules", Range(0, 120))
        assert len(facts) in options.get("facts", Range(0, 30))
        assert len(clauses) + len(facts) in options.get("size", Range(0, 150))
        assert len({(frozenset(body), head) for body, head in clauses}) == len(clauses)
        assert len(set(facts)) == len(facts)
        for body, head in clauses:
            assert len(body) in body_size
            assert len({*body, head}) == len(body) + 1


@pytest.mark.parametrize("sampler", ["rp", "lp"])
@pytest.mark.parametrize("names", [2, 3, 4, 5])
def test_few_predicates_end_no_draw_with_an_error_or_never(sampler, names):
    largest = limits_of(Options(sampler=sampler), names).largest_closure_depth
    for closure_depth in range(largest + 1):
        assert len(list(drafts(40, sampler, closure_depth, names=names))) > 20


def test_all_rules_there_are_can_be_drawn():
    clauses = _rules(Draws(0), Range(1, 3), 4, 28)

    assert len({(frozenset(body), head) for body, head in clauses}) == 28


def test_bodies_of_each_size_and_atoms_are_equally_likely():
    counts, heads, atoms = Counter(), Counter(), Counter()
    for number in range(300):
        for body, head in _rules(Draws(number), Range(1, 3), 20, 10):
            counts[len(body)] += 1
            heads[head] += 1
            atoms.update(body)
    # 0.999 quantiles of chi-square with 2 and 19 degrees of freedom.
    for counter, num, bound in ((counts, 3, 13.9), (heads, 20, 43.9), (atoms, 20, 43.9)):
        mean = counter.total() / num
        assert sum((counter[value] - mean) ** 2 / mean for value in counter) < bound
        assert len(counter) == num


def test_label_priority_keeps_its_own_laws():
    for _, _, draft in drafts(60, "lp", 3):
        for body, head in draft.clauses:
            if all(draft.rounds[atom] >= 0 for atom in body):
                assert draft.rounds[head] >= 0
        by_round = Counter(draft.rounds)
        assert all(by_round[number] >= 1 for number in range(-1, 4))
        chained = {head for _, head in draft.clauses}
        assert all(head in chained for head, number in enumerate(draft.rounds) if number > 0)


def test_labels_of_label_priority_are_fair_coins():
    trues = [sum(n >= 0 for n in draft.rounds) for _, _, draft in drafts(300, "lp", 1)]
    atoms = [len(draft.rounds) for _, _, draft in drafts(300, "lp", 1)]

    # 4.5 standard deviations of a coin thrown for each atom.
    assert abs(sum(trues) - sum(atoms) / 2) < 4.5 * (sum(atoms) / 4) ** 0.5
