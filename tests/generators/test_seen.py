import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.generators.seen import KEY_BYTES, MEAN_KEYS, SeenIds

ANY = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
# Few last bytes share few buckets; few values overlap one another in many ways.
COLLIDING = st.builds(
    lambda start, end: bytes([*start, *end]),
    st.lists(st.integers(0, 1), min_size=KEY_BYTES - 1, max_size=KEY_BYTES - 1),
    st.sampled_from([(0,), (1,)]),
)


def hashed(number):
    return hashlib.sha256(str(number).encode()).digest()[:KEY_BYTES]


@given(st.lists(ANY | COLLIDING, max_size=200), st.lists(ANY | COLLIDING, max_size=50))
def test_it_holds_what_a_set_holds(added, asked):
    seen, twin = SeenIds(), set()
    for key in added:
        assert seen.add(key) is (key not in twin)
        twin.add(key)

    assert len(seen) == len(twin)
    assert sorted(seen) == sorted(twin)
    for key in [*added, *asked]:
        assert (key in seen) is (key in twin)


def test_it_holds_what_a_set_holds_at_every_size_of_the_table():
    seen = SeenIds()
    for number in range(40 * MEAN_KEYS):
        assert hashed(number) not in seen
        assert seen.add(hashed(number))
        assert not seen.add(hashed(number // 2))
        if number % 7 == 0:
            assert all(hashed(earlier) in seen for earlier in range(number + 1))

    assert len(seen) == 40 * MEAN_KEYS


def test_keys_that_all_fall_into_one_bucket_are_told_apart():
    keys = [number.to_bytes(8) + bytes(8) for number in range(20 * MEAN_KEYS)]
    seen = SeenIds()

    assert all(map(seen.add, keys))
    assert not any(map(seen.add, keys))
    assert (10**6).to_bytes(8) + bytes(8) not in seen


def test_the_end_of_one_key_and_the_start_of_the_next_are_no_key():
    zeros, ones = bytes(8), b"\1" * 8
    seen = SeenIds()
    seen.add(zeros + ones)
    seen.add(zeros + bytes(7) + b"\2")  # behind the first, in the same bucket

    assert ones + zeros not in seen
    assert seen.add(ones + zeros)
    assert ones + zeros in seen


def test_equal_sets_are_equal_whatever_the_order():
    one, two = SeenIds(), SeenIds()
    for number in range(300):
        one.add(hashed(number))
        two.add(hashed(299 - number))

    assert one == two
    two.add(hashed(300))
    assert one != two


def test_an_identity_takes_at_most_32_bytes_at_every_moment():
    count = 200_000
    tracemalloc.start()
    seen = SeenIds()
    most = 0.0
    for number in range(count):
        seen.add(hashed(number))
        if number > 1000 and number % 1000 == 0:
            most = max(most, tracemalloc.get_traced_memory()[1] / number)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 32
    assert peak < 22 * count


@pytest.mark.parametrize("key", [b"", b"x", bytes(15), bytes(17), bytes(32)])
def test_a_key_of_another_length_is_refused(key):
    with pytest.raises(ValueError, match="expected 16"):
        SeenIds().add(key)
    assert key not in SeenIds()
