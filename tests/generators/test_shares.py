import random
from collections import Counter

import pytest
from numbered_rows import is_taken, numbered_row

from symshift.data.errors import UsageError
from symshift.data.task import Even
from symshift.generators.demand import Demand
from symshift.generators.quota import UNEVEN, Quota

LABELS = Even(("label",), ((True,), (False,)), is_exact=True)
DEPTHS = Even(("depth",), tuple((depth,) for depth in range(4)))
CLOSURES = Even(
    ("label", "closure_depth"),
    tuple((label, depth) for label in (True, False) for depth in range(1, 5)),
)


def row(number, label, depth=None, closure_depth=1, split="train", cell=(1, 3)):
    extra = {"label": label, "depth": depth, "closure_depth": closure_depth}
    return numbered_row(number, split, cell, task="horn", extra=extra)


def arrivals(seed, count):
    """Yield rows whose values are all as frequent, where no depth is beyond its closure."""
    rng = random.Random(seed)
    for number in range(count):
        matching = (
            [(0, 1), (1, 2), (2, 3), (3, 4)] if number % 4 < 2 else [(0, 4), (1, 1), (2, 2), (3, 3)]
        )
        depth, closure_depth = rng.choice(matching)
        split = rng.choices(["train", "validation", "test"], [8, 1, 1])[0]
        label = number % 2 == 0
        yield row(number, label, depth if label else None, closure_depth, split)


def test_an_exact_promise_lets_no_value_be_more_than_one_row_ahead():
    quota = Quota(Demand(rows={"train": 100}), even=[LABELS])
    labels = [True, True, False, False, True]
    taken = [is_taken(quota, row(number, label)) for number, label in enumerate(labels)]

    assert taken == [True, False, True, True, True]
    assert quota.rejects == {UNEVEN: 1}


def test_splits_keep_their_promises_apart():
    quota = Quota(Demand(rows={"train": 9, "test": 9}), even=[LABELS])

    assert is_taken(quota, row(0, True, split="train"))
    assert is_taken(quota, row(1, True, split="test"))
    assert not is_taken(quota, row(2, True, split="test"))


def test_labels_are_exact_at_every_moment_and_depths_differ_by_a_few_rows():
    quota = Quota(
        Demand(rows=dict.fromkeys(("train", "validation", "test"), 10**6)),
        even=[LABELS, DEPTHS, CLOSURES],
    )
    counts = {name: Counter() for name in ("label", "depth", "closure")}
    num_rows = Counter()
    for found in arrivals(0, 20_000):
        if not is_taken(quota, found):
            continue
        num_rows[found.split] += 1
        counts["label"][found.split, found["label"]] += 1
        counts["closure"][found.split, found["label"], found["closure_depth"]] += 1
        if found["label"]:
            counts["depth"][found.split, found["depth"]] += 1
        assert abs(counts["label"][found.split, True] - counts["label"][found.split, False]) <= 1

    assert num_rows["train"] > 8_000
    assert min(num_rows["validation"], num_rows["test"]) > 700
    for split in num_rows:
        depths = [counts["depth"][split, depth] for depth in range(4)]
        assert max(depths) - min(depths) <= 6
        for label in (True, False):
            closures = [counts["closure"][split, label, depth] for depth in range(1, 5)]
            assert max(closures) - min(closures) <= 6


def test_a_smaller_set_is_a_prefix_of_a_larger_one():
    def rows(train, test):
        demand = Demand(rows={"train": train, "test": test})
        quota = Quota(demand, even=[LABELS, DEPTHS, CLOSURES])
        return [found for found in arrivals(1, 4_000) if is_taken(quota, found)]

    small, large = rows(200, 30), rows(500, 90)
    for split, count in (("train", 200), ("test", 30)):
        assert [r.id for r in small if r.split == split] == [
            r.id for r in large if r.split == split
        ][:count]


def test_a_value_that_is_not_promised_is_nobodys_concern():
    quota = Quota(Demand(rows={"train": 9}), even=[DEPTHS])

    assert all(is_taken(quota, row(n, False)) for n in range(5))


@pytest.mark.parametrize("per_cell", [1, 3, 59])
def test_a_row_left_over_in_every_cell_is_refused(per_cell):
    with pytest.raises(UsageError, match=f"per_cell={per_cell}: .* label .* a multiple of 2"):
        Quota(Demand(rows={}, per_cell=per_cell), {(1, 3): None}, [DEPTHS, LABELS])
    assert Quota(Demand(rows={}, per_cell=per_cell), {(1, 3): None}, [DEPTHS])


def test_in_cells_each_cell_keeps_the_promise():
    quota = Quota(Demand(rows={}, per_cell=4), {(1, 3): None, (2, 3): None}, [LABELS])

    assert is_taken(quota, row(0, True))
    assert not is_taken(quota, row(1, True))
    assert is_taken(quota, row(2, True, cell=(2, 3)))
