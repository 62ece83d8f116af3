import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import trace as traces
from symshift.data.formula import Formula
from symshift.data.trace import Trace, TraceError

LABELS = st.sampled_from(
    [("a",), ("!", "b"), ("1",), ("0",), ("&", "a", "!", "b"), ("xor", "a", "c"), ("->", "a", "b")]
).map(Formula)


@given(st.lists(LABELS, max_size=3), st.lists(LABELS, min_size=1, max_size=3))
def test_parse_undoes_show(prefix, cycle):
    trace = Trace(tuple(prefix), tuple(cycle))

    assert traces.parse(traces.show(trace)) == trace


def test_words_are_written_as_spot_writes_them():
    assert traces.show(traces.parse("a&!b;cycle{b ; 1}")) == "a & !b; cycle{b; 1}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a; b", "LTLf"),
        ("", "LTLf"),
        ("{a}", "LTLf"),
        ("a cycle{b}", "LTLf"),
        ("b; cycle{}", "empty formula"),
        ("cycle{a;}", "empty formula"),
        ("cycle{a", "never closed"),
        ("cycle{a} and so on", "after the cycle"),
        ("cycle{a}}", "after the cycle"),
        ("cycle{X a}", "temporal"),
        ("a U b; cycle{a}", "temporal"),
        ("cycle{a; b b}", "step 1"),
        ("cycle{" + "a" * 30_000 + "}", "at most"),
    ],
)
def test_what_is_no_lasso_is_refused_with_a_reason(text, reason):
    with pytest.raises(TraceError, match=reason):
        traces.parse(text)


def test_renaming_maps_every_step():
    trace = traces.parse("a & !b; cycle{b; a}")

    assert traces.show(trace.renamed({"a": "b", "b": "a"})) == "b & !a; cycle{a; b}"
    assert trace.symbols() == ("a", "b")
