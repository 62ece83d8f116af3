from dataclasses import dataclass

import pytest

from symshift.data.errors import UsageError
from symshift.data.options import Range, build, option, to_plain


@dataclass(frozen=True, kw_only=True)
class Toy:
    size: Range = option(Range(1, 5), "size")
    rate: float = option(0.5, "rate")
    steps: int = option(10, "steps")
    loud: bool = option(False, "loud")
    kind: str = option("plain", "kind", ("plain", "fancy"))
    cap: int | None = option(None, "cap")


def test_texts_become_values_of_the_fields_types():
    toy = build(Toy, {"size": "2-3", "rate": "1e-3", "steps": "1_000", "loud": "true", "cap": "7"})

    assert toy == Toy(size=Range(2, 3), rate=0.001, steps=1000, loud=True, cap=7)
    assert build(Toy, {"cap": "none"}).cap is None


def test_plain_values_build_the_same_options_again():
    toy = Toy(size=Range(2, 3), cap=4)

    assert build(Toy, to_plain(toy)) == toy


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"step": "1"}, "'steps'"),
        ({"steps": "many"}, "steps='many'"),
        ({"loud": "perhaps"}, "loud='perhaps'"),
        ({"kind": "fanzy"}, "'fancy'"),
        ({"size": "5-2"}, "5-2"),
        ({"size": "-3"}, "'-3'"),
        ({"size": "x"}, "'x'"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_allowed(values, message):
    with pytest.raises(UsageError, match=message):
        build(Toy, values)


def test_ranges_are_inclusive():
    assert 2 in Range(2, 2)
    assert 3 not in Range(1, 2)
    assert str(Range.parse("4")) == "4-4"


def test_a_range_of_thousands_of_digits_is_refused_at_once():
    with pytest.raises(UsageError, match="give A-B or A"):
        Range.parse("1" * 5000)
