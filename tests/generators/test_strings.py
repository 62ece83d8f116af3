import itertools
from collections import Counter

from symshift.data.options import Range
from symshift.generators.strings import (
    count_patterns,
    count_strings,
    pattern_counts,
    unrank_injection,
    unrank_pattern,
    unrank_string,
)


def brute_force(length, num_names, num_symbols):
    strings = itertools.product(range(num_names), repeat=length)
    return {string for string in strings if len(set(string)) in num_symbols}


def number_of(length, num_names, num_symbols):
    return sum(count_strings(Range(length, length), num_names, num_symbols).values())


def test_unranking_lists_every_string_once():
    for length in range(1, 6):
        for num_names in range(1, 5):
            for num_symbols in (Range(1, 9), Range(2, 3), Range(num_names, num_names)):
                count = number_of(length, num_names, num_symbols)
                listed = [
                    tuple(unrank_string(length, num_names, num_symbols, rank))
                    for rank in range(count)
                ]

                assert len(set(listed)) == count
                assert set(listed) == brute_force(length, num_names, num_symbols)


def test_counts_of_all_lengths_are_those_of_each():
    for length, counts in enumerate(itertools.islice(pattern_counts(7), 12)):
        assert list(counts) == [count_patterns(length, k) for k in range(8)]


def test_patterns_are_restricted_growth_strings():
    patterns = [unrank_pattern(5, 3, rank) for rank in range(count_patterns(5, 3))]

    assert len({tuple(p) for p in patterns}) == count_patterns(5, 3) == 25
    for pattern in patterns:
        firsts = list(dict.fromkeys(pattern))
        assert firsts == [0, 1, 2]


def test_stirling_numbers_are_the_known_ones():
    assert [count_patterns(5, k) for k in range(1, 6)] == [1, 15, 25, 10, 1]
    assert count_patterns(10, 4) == 34105


def test_injections_are_listed_once():
    listed = {tuple(unrank_injection(3, 5, rank)) for rank in range(60)}

    assert listed == set(itertools.permutations(range(5), 3))


def test_all_strings_of_a_length_are_counted_as_powers():
    for length in (1, 7, 80):
        assert number_of(length, 20, Range(1, 20)) == 20**length


def test_each_cell_has_its_own_number():
    found = count_strings(Range(0, 5), 3, Range(1, 9))

    assert found == {
        (k, length): len(brute_force(length, 3, Range(k, k)))
        for length in range(1, 6)
        for k in range(1, min(3, length) + 1)
    }


def test_long_strings_with_every_symbol_are_drawn_without_trials():
    count = number_of(160, 160, Range(160, 160))
    string = unrank_string(160, 160, Range(160, 160), count - 1)

    assert Counter(string) == Counter(range(160))
