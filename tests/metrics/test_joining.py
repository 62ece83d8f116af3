import pytest

from symshift.data.errors import DataError
from symshift.metrics.joining import MISSING, Joined, join
from symshift.metrics.keys import keys_of
from symshift.metrics.predictions import predictions_from, read_predictions


def joined(answers: dict[str, str | None], ids: list[str]) -> Joined:
    return join(predictions_from(answers), keys_of(ids))


def test_predictions_are_joined_by_id_in_any_order() -> None:
    found = joined({"c": "3", "a": "1", "b": None}, ["a", "b", "c", "d"])

    answers = found.answers(0, 4)
    assert [a.samples for a in answers] == [["1"], [None], ["3"], ()]
    assert answers[1].reason == "the prediction is null"
    assert answers[3] is MISSING


def test_slices_of_answers_are_the_answers() -> None:
    ids = [str(n) for n in range(100)]
    found = joined({i: i * 2 for i in reversed(ids)}, ids)

    slices = [answer for start in range(0, 100, 7) for answer in found.answers(start, start + 7)]
    assert [a.samples for a in slices] == [[i * 2] for i in ids]


def test_blocks_of_rows_that_are_sought_together_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = [str(n) for n in range(20)]
    answers = {i: i * 2 for i in reversed(ids) if i != "7"}
    whole = joined(answers, ids).answers(0, 20)

    monkeypatch.setattr("symshift.metrics.joining._SEARCHED_ROWS", 3)
    assert joined(answers, ids).answers(0, 20) == whole


def test_no_predictions_at_all_are_all_missing() -> None:
    assert joined({}, ["a", "b"]).answers(0, 2) == [MISSING, MISSING]


def test_unknown_and_repeated_ids_refuse_the_file_and_name_the_lines(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "p.jsonl"
    lines = [f'{{"id": "{i}", "prediction": "{n}"}}' for n, i in enumerate("abzaza")]
    path.write_text("\n".join(lines))

    with pytest.raises(DataError) as caught:
        join(read_predictions(path), keys_of(["a", "b"]))
    assert str(caught.value).removeprefix(f"{path}: ").split("; ") == [
        "line 3: id 'z' is not in the data set",
        "line 4: id 'a' was given in line 1 already",
        "line 5: id 'z' was given in line 3 already",
        "line 6: id 'a' was given in line 1 already",
    ]


def test_ids_that_end_in_null_bytes_are_told_apart() -> None:
    found = joined({"a\0": "1", "a": "2"}, ["a", "a\0"])

    assert [a.samples for a in found.answers(0, 2)] == [["2"], ["1"]]
