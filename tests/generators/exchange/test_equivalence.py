"""Sorted arrays against the definitions, written down plainly."""

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from symshift.generators.exchange.equivalence import (
    Identity,
    RowCollector,
    common_keys,
    num_common_texts,
    overlap,
)

SMALL = st.integers(0, 4)
ROWS = st.lists(st.tuples(SMALL, SMALL, st.integers(0, 8)), max_size=30)


def sixteen(number):
    # The two halves differ in turn, so that both are needed to tell identities apart.
    return bytes([number // 2] * 8 + [number % 2] * 8)


def collect(rows):
    collector = RowCollector()
    for place, (canonical, family, text) in enumerate(rows):
        identity = Identity(
            canonical=sixteen(canonical),
            family=bytes([family] * 8),
            text=bytes([text] * 8),
            loose=sixteen(canonical // 2),
            cell=(canonical, 2 * canonical),
        )
        collector.add(identity, place % 3, place)
    return collector.rows()


def problems(rows):
    grouped = defaultdict(list)
    for place, row in enumerate(rows):
        grouped[row[0]].append(place)
    return grouped


def repeats(rows):
    """Return the rows that are one too many, each with the first row of its problem."""
    found = {}
    for places in problems(rows).values():
        first_family, texts = rows[places[0]][1], set()
        for place in places:
            _, family, text = rows[place]
            if family != first_family or text in texts:
                found[place] = places[0]
            texts.add(text)
    return found


@given(ROWS)
def test_problems_and_repeats_are_those_of_the_definition(rows):
    index = collect(rows)
    flags = index.repeated()
    at, firsts = index.order[flags], index.firsts()[flags]

    assert len(index) == len(rows)
    assert len(index.starts) == len(problems(rows))
    assert len(index.texts) == len({text for _, _, text in rows})
    assert len(index.loose if index.loose is not None else ()) == len({c // 2 for c, _, _ in rows})
    assert dict(zip(at.tolist(), firsts.tolist(), strict=True)) == repeats(rows)
    assert index.cells() == Counter((c, 2 * c) for c, _, _ in rows)
    assert index.cells(at) == Counter((rows[p][0], 2 * rows[p][0]) for p in repeats(rows))
    assert [index.place(place) for place in range(len(rows))] == [
        (place % 3, place) for place in range(len(rows))
    ]


@given(ROWS, ROWS)
def test_what_two_splits_share_is_what_the_definition_says(one, two):
    left, right = collect(one), collect(two)
    mine, theirs = problems(one), problems(two)
    common = sorted(mine.keys() & theirs.keys())

    found = overlap(left, right, families_apart=False)

    assert found.first.tolist() == [mine[c][0] for c in common]
    assert found.second.tolist() == [theirs[c][0] for c in common]
    assert found.num_first == sum(len(mine[c]) for c in common)
    assert found.num_second == sum(len(theirs[c]) for c in common)
    assert found.num_exempt == 0
    assert num_common_texts(left, right) == len({r[2] for r in one} & {r[2] for r in two})
    assert len(common_keys(left.keys, right.keys)[0]) == len(common)


@given(ROWS, ROWS)
def test_renamings_of_one_row_are_told_apart_from_the_rest(one, two):
    mine, theirs = problems(one), problems(two)
    common = mine.keys() & theirs.keys()
    families = {c: {one[p][1] for p in mine[c]} | {two[p][1] for p in theirs[c]} for c in common}
    shared = sorted(c for c in common if len(families[c]) > 1)

    found = overlap(collect(one), collect(two), families_apart=True)

    assert found.first.tolist() == [mine[c][0] for c in shared]
    assert found.num_exempt == len(common) - len(shared)
