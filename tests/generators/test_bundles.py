"""Candidates that are taken together or not at all."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered_rows import numbered_row

from symshift.data.errors import UsageError
from symshift.data.example import SPLITS
from symshift.data.task import Even
from symshift.generators.candidates import FULL, Skipped
from symshift.generators.demand import Demand
from symshift.generators.quota import DUPLICATE, EASY, UNEVEN, WITH_ANOTHER, Quota

LABELS = Even(("label",), ((True,), (False,)), is_exact=True)
DEPTHS = Even(("depth",), tuple((depth,) for depth in range(3)))
ENDLESS = Demand(rows=dict.fromkeys(SPLITS, 10**6))

number = st.integers(0, 40)
depth = st.integers(0, 2)
split = st.sampled_from(SPLITS)
is_easy = st.booleans()


def row(number, label, depth=None, split="train", is_easy=False, cell=(1, 3)):
    """Return a row; those of one number and label are equivalent."""
    extra = {"label": label, "depth": depth if label else None}
    return numbered_row(
        2 * number + label, split, cell, extra=extra, shortcuts=("easy",) if is_easy else ()
    )


def pair(number, depth, split, easy, is_skipped=(False, False)):
    rows = [
        row(number, label, depth, split, is_easy)
        for label, is_easy in zip((True, False), easy, strict=True)
    ]
    return [
        Skipped("no", split) if skipped else each
        for each, skipped in zip(rows, is_skipped, strict=True)
    ]


pairs = st.lists(
    st.builds(
        pair, number, depth, split, st.tuples(is_easy, is_easy), st.sampled_from([(0, 0), (0, 1)])
    ),
    max_size=60,
)


def together(*bundles):
    return [outcome for bundle in bundles for outcome in bundle]


@given(pairs, st.sampled_from([None, 0.5, 0.8]))
def test_whole_bundles_are_taken_and_every_promise_is_kept(bundles, share):
    demand = Demand(rows=ENDLESS.rows, hard_share=share)
    quota = Quota(demand, even=[LABELS, DEPTHS], bundle=2)
    taken = list(quota.judge(together(*bundles)))

    assert len(taken) == len(bundles)
    labels, ids, easy = Counter(), Counter(), Counter()
    for bundle, rows in zip(bundles, taken, strict=True):
        assert list(rows) in ([], bundle)
        for each in rows:
            labels[each.split, each["label"]] += 1
            ids[each.canonical_id] += 1
            easy[each.split, bool(each.shortcuts)] += 1
        assert all(labels[each, True] == labels[each, False] for each in SPLITS)
        assert share is None or all(
            easy[each, False] >= share * (easy[each, False] + easy[each, True]) for each in SPLITS
        )
    assert not ids or max(ids.values()) == 1
    assert quota.taken == Counter(each.split for rows in taken for each in rows)
    assert quota.candidates == 2 * len(bundles)
    assert quota.rejects.total() == 2 * taken.count(())


@given(pairs, st.integers(1, 4), st.integers(1, 4))
def test_a_smaller_set_is_a_prefix_of_a_larger_one(bundles, small, more):
    def rows(count):
        quota = Quota(Demand(rows={"train": 2 * count}), even=[LABELS, DEPTHS], bundle=2)
        return [each for taken in quota.judge(together(*bundles)) for each in taken]

    few = rows(small)
    assert len(few) <= 2 * small
    assert rows(small + more)[: len(few)] == few


@given(pairs, st.integers(0, 60))
def test_an_interrupted_quota_goes_on_as_if_it_had_not_been(bundles, cut):
    def quota():
        return Quota(ENDLESS, even=[LABELS, DEPTHS], bundle=2)

    whole, first, second = quota(), quota(), quota()
    begun = list(first.judge(together(*bundles[:cut])))
    for each in together(*begun):
        second.note(each)
    second.restore(first.state())

    assert list(whole.judge(together(*bundles))) == [
        *begun,
        *second.judge(together(*bundles[cut:])),
    ]
    assert second.state() == whole.state()


@pytest.mark.parametrize(
    ("second", "reasons"),
    [
        ([row(1, True, 1), row(2, False)], {DUPLICATE: 1, WITH_ANOTHER: 1}),
        ([row(2, True, 1), row(1, False)], {DUPLICATE: 1, WITH_ANOTHER: 1}),
        ([row(2, True, 1), Skipped("no", "train")], {"no": 1, WITH_ANOTHER: 1}),
        ([row(2, True, 0), row(2, False)], {UNEVEN: 2}),
        ([row(2, True, 1), row(2, True, 1)], {DUPLICATE: 2}),
        ([row(2, True, 1), row(3, True, 1)], {UNEVEN: 2}),
        ([row(2, True, 1, is_easy=True), row(2, False, is_easy=True)], {EASY: 2}),
        ([row(2, True, 1, "test"), row(2, False, None, "test")], {FULL: 2}),
    ],
)
def test_one_that_is_not_welcome_takes_the_others_with_it(second, reasons):
    demand = Demand(rows={"train": 8}, hard_share=0.75)
    quota = Quota(demand, even=[LABELS, DEPTHS], bundle=2)
    first = [row(1, True, 0), row(1, False)]

    assert list(quota.judge([*first, *second])) == [tuple(first), ()]
    assert quota.rejects == reasons


def test_the_next_bundle_is_judged_when_it_is_asked_for():
    quota = Quota(Demand(rows={"train": 4}), bundle=2)
    taken = quota.judge(together(*(pair(n, 0, "train", (False, False)) for n in range(3))))
    next(taken)

    assert quota.candidates == 2
    assert quota.taken == {"train": 2}


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"rows": {"train": 9, "test": 4}}, "train=9: rows come 2 together"),
        ({"rows": {}, "per_cell": 3}, "per_cell=3: rows come 2 together"),
    ],
)
def test_a_number_that_would_cut_a_bundle_is_refused(wishes, message):
    with pytest.raises(UsageError, match=f"{message} .* a multiple of 2"):
        Quota(Demand(**wishes), {(1, 3): None}, bundle=2)
