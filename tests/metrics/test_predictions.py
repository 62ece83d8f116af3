import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.errors import DataError
from symshift.metrics import packing as module
from symshift.metrics.joining import Answer, join
from symshift.metrics.keys import keys_of
from symshift.metrics.predictions import Predictions, predictions_from, read_predictions


def read(folder: Path, content: bytes | str, name: str = "p.jsonl") -> Predictions:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_predictions(path)


def answers_of(found: Predictions) -> dict[str, Answer]:
    """Return the answers by id, by way of what is kept of the file."""
    ids = list(dict.fromkeys(record.id for record in found.reread()))
    return dict(zip(ids, join(found, keys_of(ids)).answers(0, len(ids))))


def texts(found: Predictions) -> dict[str, Any]:
    return {row_id: answer.samples for row_id, answer in answers_of(found).items()}


def reasons(found: Predictions) -> dict[str, Any]:
    return {row_id: answer.reason for row_id, answer in answers_of(found).items()}


def test_marks_line_ends_and_blank_lines_of_other_systems_are_read(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf{"id": "x", "prediction": "a"}\r\n\r\n  \n{"id": "y", "prediction": ""}'

    assert texts(read(tmp_path, content)) == {"x": ["a"], "y": [""]}


def test_unicode_line_separators_inside_a_text_do_not_cut_it(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\x85d\x0be"
    line = json.dumps({"id": "x", "prediction": text}, ensure_ascii=False)

    assert texts(read(tmp_path, line + "\n")) == {"x": [text]}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"id": "y", "prediction": "a"', "broken JSON at column"),
        (b'{"id": "y", "prediction": "\xff"}', "not UTF-8 at byte"),
        (b'["y", "a"]', "expected an object"),
        (b'{"id": "y", "answer": "a"}', "expected an object"),
        (b'{"id": 7, "prediction": "a"}', "id 7 is not a text"),
        (b'{"id": "y", "id": "z", "prediction": "a"}', "a key is repeated"),
        (b'{"id": "\\ud800", "prediction": "a"}', "lone surrogate"),
        (b'{"id": "y", "prediction": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"id": "y", "prediction": ' + b"9" * 9_000 + b"}", "digits"),
    ],
)
def test_a_record_that_cannot_be_joined_is_named_by_its_line(
    tmp_path: Path, line: bytes, what: str
) -> None:
    content = b'{"id": "x", "prediction": "a"}\n' + line + b"\n"

    with pytest.raises(DataError, match=rf"p\.jsonl: line 2: .*{what}"):
        texts(read(tmp_path, content))


def test_all_problems_are_counted_and_the_first_ones_shown(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 1: .*; line 10: [^;]*; and 15 more \(--problems"):
        texts(read(tmp_path, "{\n" * 25))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("null", "the prediction is null"),
        ("7", "a number"),
        ("0.5", "a number"),
        ("true", "a Boolean"),
        ('{"a": 1}', "an object"),
        ('"\\udc00"', "lone surrogate"),
        ("[]", "the list of samples is empty"),
        ('[null, "a"]', "null"),
    ],
)
def test_a_value_that_is_no_text_is_an_invalid_answer_with_its_reason(
    tmp_path: Path, value: str, reason: str
) -> None:
    found = read(tmp_path, f'{{"id": "x", "prediction": {value}}}\n')

    assert reason in reasons(found)["x"]


def test_samples_are_kept_in_order(tmp_path: Path) -> None:
    found = read(tmp_path, '{"id": "x", "prediction": ["b", null, "a"]}\n')

    assert texts(found) == {"x": ["b", None, "a"]}
    assert reasons(read(tmp_path, '{"id": "x", "prediction": ["b", null, "a"]}')) == {"x": ""}


def test_csv_and_parquet_say_the_same_as_json_lines(tmp_path: Path) -> None:
    answers = {"x": 'a, "b"\nc', "y": "", "z": " =1"}
    lines = "".join(json.dumps({"id": i, "prediction": t}) + "\n" for i, t in answers.items())
    csv = 'note,prediction,id\r\n,"a, ""b""\nc",x\r\n\r\n,,y\r\n, =1,z\r\n'
    pq.write_table(
        pa.table({"id": list(answers), "n": [1, 2, 3], "prediction": list(answers.values())}),
        tmp_path / "q.parquet",
    )

    expected = {i: [t] for i, t in answers.items()}
    assert texts(read(tmp_path, lines)) == expected
    assert texts(read(tmp_path, "\ufeff" + csv, "p.csv")) == expected
    assert texts(read_predictions(tmp_path / "q.parquet")) == expected


def test_parquet_columns_of_other_types_are_read(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    columns = {
        "id": pa.array(["x", "y"]).dictionary_encode(),
        "prediction": pa.array([["a", "b"], None]),
    }
    pq.write_table(pa.table(columns), path)

    found = read_predictions(path)
    assert texts(found) == {"x": ["a", "b"], "y": [None]}
    assert reasons(read_predictions(path))["y"] == "the prediction is null"


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("p.csv", "id,answer\nx,a\n", "columns id and prediction"),
        ("p.csv", "id,prediction,id\nx,a,y\n", "columns id and prediction"),
        ("p.csv", "id,prediction\nx,a\ny\n", "line 3: 1 cells, the header has 2"),
        ("p.csv", 'id,prediction\nx,"a\n', "line 2: "),
        ("p.csv", b"id,prediction\nx,\xff\n", "line 2: not UTF-8"),
        ("p.csv", "", "columns id and prediction"),
        ("p.parquet", "PAR1 nothing", "cannot be read"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: str | bytes, what: str
) -> None:
    with pytest.raises(DataError, match=what):
        texts(read(tmp_path, content, name))


def test_parquet_without_the_columns_or_with_broken_text_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["x"], "answer": ["a"]}), tmp_path / "p.parquet")
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    pq.write_table(pa.table({"id": ["x"], "prediction": broken}), tmp_path / "q.parquet")
    pq.write_table(pa.table({"id": [None], "prediction": ["a"]}), tmp_path / "r.parquet")

    for name, what in (("p", "columns id"), ("q", "UTF8"), ("r", "row 1: id None")):
        with pytest.raises(DataError, match=what):
            texts(read_predictions(tmp_path / f"{name}.parquet"))


def test_parquet_whose_column_names_are_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": ["x"], "prediction": ["a"]}), path)
    path.write_bytes(path.read_bytes().replace(b"prediction", b"\xedrediction"))

    with pytest.raises(DataError, match="cannot be read"):
        read_predictions(path)


def test_a_missing_file_is_an_error_of_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read_predictions(path)


def test_batches_do_not_change_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [["a", None], "é", None, [], 7, "", ["x", "y", "z"]]
    for num_single in (0, 40):
        given = ["t"] * num_single + [values[n % 7] for n in range(50)]
        lines = "".join(
            json.dumps({"id": str(n), "prediction": value}) + "\n" for n, value in enumerate(given)
        )
        whole = answers_of(read(tmp_path, lines))
        expected = [value if isinstance(value, list) else [value] for value in given]
        assert [answer.samples for answer in whole.values()] == [
            [text if isinstance(text, str) else None for text in samples] for samples in expected
        ]
        monkeypatch.setattr(module, "BATCH_RECORDS", 32)
        assert answers_of(read(tmp_path, lines)) == whole
        monkeypatch.undo()


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=9), max_size=6))
def test_whatever_json_can_write_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, answers: dict[str, str]
) -> None:
    lines = (json.dumps({"id": i, "prediction": t}, ensure_ascii=False) for i, t in answers.items())
    found = read(tmp_path_factory.mktemp("p"), "\n".join(lines))

    assert answers_of(found) == answers_of(predictions_from(answers))
