from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.generators.theories.statistics import (
    FEATURES,
    LabelStatistics,
    best_threshold,
    features,
    statistics_lines,
)

ROW = {
    "facts": ["a", "b"],
    "rules": ["a & c -> d", "b & a -> d", "d -> e", "e -> c"],
    "query": "d",
    "num_symbols": 5,
    "label": True,
    "depth": 1,
    "closure_depth": 3,
}


def test_features_are_what_they_are_called():
    assert dict(zip(FEATURES, features(ROW))) == {
        "rules": 4,
        "facts": 2,
        "predicates": 5,
        "query is a fact": 0,
        "rules for the query": 2,
        "rules from the query": 1,
        "facts in rules for the query": 3,
    }


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 6), st.booleans()), st.integers(1, 9), min_size=1, max_size=14
    )
)
def test_the_best_threshold_is_the_best_of_all_tried(counts):
    total = sum(counts.values())
    scores = []
    for threshold in range(-1, 7):
        right = sum(n for (value, label), n in counts.items() if (value > threshold) is label)
        scores += [right, total - right]

    assert best_threshold(counts)["accuracy"] == pytest.approx(max(scores) / total)


def test_the_rule_gets_the_accuracy_that_is_stated():
    counts = {(0, False): 4, (1, False): 1, (1, True): 3, (2, True): 2}
    assert best_threshold(counts) == {"accuracy": 0.9, "rule": "true where more than 0"}
    flipped = {(value, not label): n for (value, label), n in counts.items()}
    assert best_threshold(flipped) == {"accuracy": 0.9, "rule": "true where at most 0"}
    assert best_threshold({(1, True): 2})["rule"] == "always true"


def test_rule_counts_are_shown_in_parts_that_add_up():
    statistics = LabelStatistics()
    for number in range(100):
        statistics.add({**ROW, "rules": ["a -> d"] * (number % 20), "label": number % 3 == 0})
    parts = statistics.summary()["by_rules"]

    assert sum(part["rows"] for part in parts) == 100
    assert sum(part["true"] for part in parts) == 34
    assert parts[0]["min"] == 0
    assert parts[-1]["max"] == 19
    assert all(one["max"] < other["min"] for one, other in pairwise(parts))
    assert 6 <= len(parts) <= 10


def test_no_rows_have_no_statistics():
    assert LabelStatistics().summary() == {}
    assert list(statistics_lines(None)) == []


def test_the_card_tells_the_statistics():
    statistics = LabelStatistics()
    statistics.add(ROW)
    statistics.add({**ROW, "query": "a", "depth": 0})
    statistics.add({**ROW, "label": False, "depth": None})
    text = "\n".join(statistics_lines(statistics.summary()))

    assert "2 of 3 queries are derivable" in text
    assert "In 33.3% of the rows the query is a fact" in text
    assert "| 3 | 0 | 2 | 1 |" in text
