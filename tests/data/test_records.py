import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from symshift.data import lines, polish
from symshift.data.errors import UsageError
from symshift.data.records import (
    Columns,
    is_trace_line,
    json_records,
    pair_records,
    parquet_records,
)


def json_file(folder, content):
    path = folder / "x.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_json(folder, content, **columns):
    return list(json_records(json_file(folder, content), Columns(**columns)))


def read_pairs(folder, text, is_target=is_trace_line):
    path = folder / "x.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(pair_records(path, is_target))


def found(records):
    return [(r.place, r.input, r.target) for r in records if not r.problem]


def problems(records):
    return {r.place: r.problem for r in records if r.problem}


def test_json_lines_of_any_system_are_read(tmp_path):
    content = b'\xef\xbb\xbf{"input": "a", "target": "b"}\r\n\r\n{"input": "c"}'

    assert found(read_json(tmp_path, content)) == [(1, "a", "b"), (3, "c", None)]


def test_a_line_separator_inside_a_json_text_does_not_cut_it(tmp_path):
    line = json.dumps({"input": "a\u2028b"}, ensure_ascii=False)

    assert found(read_json(tmp_path, line)) == [(1, "a\u2028b", None)]


def test_the_other_columns_come_along(tmp_path):
    (record,) = read_json(tmp_path, '{"input": "a", "base_id": "x", "n": 3}')

    assert record.extra == {"input": "a", "base_id": "x", "n": 3}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"input": "a"', "broken JSON at column"),
        (b'{"input": "\xff"}', "not UTF-8"),
        (b'["a"]', "no JSON object"),
        (b'{"text": "a"}', "no column 'input'"),
        (b'{"input": null}', "holds None"),
        (b'{"input": 5}', "holds 5"),
        (b'{"input": "a", "input": "b"}', "a key is repeated"),
        (b'{"input": "\\ud800"}', "lone surrogate"),
        (b'{"input": "a", "\\ud800": 1}', "lone surrogate"),
        (b'{"input": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"input": ' + b"9" * 9_000 + b"}", "digits"),
    ],
)
def test_a_json_line_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path, line, problem):
    records = read_json(tmp_path, b'{"input": "x"}\n' + line + b'\n{"input": "y"}\n')

    assert found(records) == [(1, "x", None), (3, "y", None)]
    assert problem in problems(records)[2]


def test_a_huge_line_is_one_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(lines.lines_of, "__defaults__", (64,))
    content = b'{"input": "a"}\n{"input": "' + b"b" * 1000 + b'"}\n{"input": "c"}\n'

    records = read_json(tmp_path, content)

    assert found(records) == [(1, "a", None), (3, "c", None)]
    assert problems(records) == {2: "longer than 64 bytes"}


def test_a_wrong_column_is_refused_and_the_nearest_offered(tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'formula'"):
        read_json(tmp_path, '{"formula": "a", "trace": "b"}', input="formla")
    with pytest.raises(UsageError, match="Did you mean 'trace'"):
        read_json(tmp_path, '{"formula": "a", "trace": "b"}', input="formula", target="traces")


def test_a_target_that_was_asked_for_must_be_a_text(tmp_path):
    content = '{"input": "a", "target": "b"}\n{"input": "c", "target": 7}\n'

    assert problems(read_json(tmp_path, content, target="target")) == {
        2: "column 'target' holds 7, not a text"
    }
    assert problems(read_json(tmp_path, content)) == {}


def parquet_file(folder, **columns):
    path = folder / "x.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_texts_of_every_type_are_read(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        path = parquet_file(tmp_path, formula=pa.array(["a", "b"], kind), other=[1, 2])

        records = list(parquet_records(path, Columns(input="formula")))

        assert found(records) == [(1, "a", None), (2, "b", None)]


def test_parquet_rows_that_are_no_text_are_named(tmp_path):
    records = list(parquet_records(parquet_file(tmp_path, input=["a", None]), Columns()))

    assert found(records) == [(1, "a", None)]
    assert "holds None" in problems(records)[2]


def test_a_wrong_parquet_column_is_refused_and_the_nearest_offered(tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'inputs'"):
        list(parquet_records(parquet_file(tmp_path, inputs=["a"]), Columns()))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"nothing of the kind" * 100])
def test_what_is_no_parquet_is_named(tmp_path, content):
    path = tmp_path / "x.parquet"
    path.write_bytes(content)

    (record,) = parquet_records(path, Columns())

    assert "no readable Parquet" in record.problem


def test_parquet_that_is_cut_short_or_damaged_is_named(tmp_path):
    path = parquet_file(tmp_path, input=[f"{'a' * 50}{i}" for i in range(20_000)])
    content = bytearray(path.read_bytes())
    content[200:-2000] = bytes(len(content) - 2200)
    path.write_bytes(bytes(content))

    records = list(parquet_records(path, Columns()))

    assert "no readable Parquet behind row" in records[-1].problem


def test_pairs_of_lines_are_read_in_symshifts_notation(tmp_path):
    text = "\ufeffU&ab!c\r\n&a!b;{1}\r\nXa\n-\n!a\n{0}"

    assert found(read_pairs(tmp_path, text)) == [
        (1, "(a & b) U !c", "&a!b;{1}"),
        (3, "X a", "-"),
        (5, "!a", "{0}"),
    ]


def test_propositional_pairs_may_have_an_empty_target(tmp_path):
    records = read_pairs(tmp_path, "|a!a\n\nxorab\na1b0\n", polish.is_assignment)

    assert found(records) == [(1, "a | !a", ""), (3, "a xor b", "a1b0")]
    assert not problems(records)


@pytest.mark.parametrize(
    ("text", "places", "line", "problem"),
    [
        ("a\n{a}\nb\nc\n{c}\n", [1, 4], 3, "no target"),
        ("a\n{a}\n{b}\nc\n{c}\n", [1, 4], 3, "without a formula"),
        ("a\n{a}\nc\n", [1], 3, "no target"),
        ("a\n{a}\n\nc\n{c}\n", [1, 4], 3, "blank line"),
        ("a\n{a}\nb\n\nc\n{c}\n", [1, 5], 3, "no target"),
        ("a\n{a}\nUb\n{b}\nc\n{c}\n", [1, 5], 3, "operands are missing"),
        (b"a\n{a}\n\xff\n{b}\nc\n{c}\n", [1, 5], 3, "not UTF-8"),
    ],
)
def test_a_line_that_is_missing_or_broken_spoils_one_record(tmp_path, text, places, line, problem):
    records = read_pairs(tmp_path, text)

    assert [place for place, _, _ in found(records)] == places
    assert list(problems(records)) == [line]
    assert problem in problems(records)[line]


def test_blank_lines_at_the_end_are_no_problem(tmp_path):
    assert not problems(read_pairs(tmp_path, "a\n{a}\n\n\n"))


def test_an_empty_file_has_no_record(tmp_path):
    assert read_pairs(tmp_path, "") == []
    assert read_json(tmp_path, "\n\n") == []
