import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import DataError, UsageError
from symshift.data.plugins import load_task, plugin_names
from symshift.metrics.joining import join
from symshift.metrics.keys import keys_of
from symshift.metrics.predictions import format_of, read_predictions
from symshift.metrics.record import Reading
from symshift.metrics.result import DatasetInfo, System
from symshift.metrics.scoring import Scored, score

CASES = Path(__file__).parents[1] / "cases" / "readers"
COPIES = ["copy-311e8e6f158b991f97913c84", "copy-7b5a74090eb99a73f93b4360"]
COPIES += ["copy-e35c60cb05e270c6cbbcb0ec"]


def write(folder: Path, name: str, *lines: Any) -> Path:
    path = folder / name
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts), "utf-8")
    return path


def samples(path: Path, reading: Reading | None = None) -> dict[str, Any]:
    found = read_predictions(path, reading)
    ids = [record.id for record in found.reread()]
    answers = join(found, keys_of(ids)).answers(0, len(ids))
    return dict(zip(ids, (list(answer.samples) for answer in answers)))


def scored(task: str, rows: list[dict[str, Any]], path: Path, **said: Any) -> Scored:
    reading = Reading(**said)
    info = DatasetInfo(name="d", task=task, split="test")
    found = [read_predictions(path, reading)]
    return score(
        rows, found, load_task(task), dataset=info, systems=[System(name="s")], reading=reading
    )


def harness(row_id: Any, text: Any, name: str = "none", **more: Any) -> dict[str, Any]:
    return {"doc": {"id": row_id}, "filter": name, "filtered_resps": [text], **more}


def epochs(*found: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "eval": {}, "samples": list(found)}


def said(row_id: Any, text: str, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": row_id,
        "epoch": epoch,
        "output": {"completion": text, "choices": [{}]},
        **more,
    }


def test_what_lm_evaluation_harness_wrote_is_read_with_its_repeats() -> None:
    found = samples(CASES / "lm_eval_repeats.jsonl")

    assert list(found) == COPIES
    assert found[COPIES[0]] == ["6w", "6w"]


def test_one_of_several_filters_must_be_chosen() -> None:
    path = CASES / "lm_eval_filters.jsonl"

    with pytest.raises(UsageError, match="holds the filters raw, word; choose one with --filter"):
        read_predictions(path)
    with pytest.raises(UsageError, match=r"unknown filter 'words'. Did you mean 'word'\?"):
        read_predictions(path, Reading(filter="words"))
    raw, word = (samples(path, Reading(filter=name)) for name in ("raw", "word"))
    assert raw[COPIES[0]] == ["6w"]
    assert word[COPIES[0]] == ["w"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"doc": {}, "filter": "none", "filtered_resps": ["a"]}, "its doc has no id to join by"),
        (harness(7, "a"), "id 7 is not a text"),
        ({"doc": {"id": "y"}, "filter": "none", "filtered_resps": [[-1.0, True], 2]}, "no text"),
        ({"id": "y", "prediction": "a"}, 'expected an object {"doc"'),
        (harness("x", "b"), "id 'x' was given in line 1 already"),
    ],
)
def test_a_harness_sample_that_cannot_be_joined_refuses_the_file(
    tmp_path: Path, line: Any, what: str
) -> None:
    path = write(tmp_path, "samples_x.jsonl", harness("x", "a"), line)

    with pytest.raises(DataError, match=f"line 2: .*{what}"):
        join(read_predictions(path), keys_of(["x", "y"]))


def test_a_list_that_a_filter_keeps_is_a_list_of_samples(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", harness("x", ["a", "b"], "k", resps=[["a", "b", "c"]]))

    assert samples(path) == {"x": ["a", "b"]}


def test_what_inspect_ai_wrote_is_read_with_its_epochs() -> None:
    found = samples(CASES / "inspect.json")

    assert found == {
        "copy-1": ["c b", "x"],
        "copy-2": ["c b\n", None],
        "copy-3": ["a c", "Answer: c c b"],
    }


def test_a_failed_or_absent_epoch_is_an_answer_that_is_none(tmp_path: Path) -> None:
    failed = said("y", "b", error={"message": "lost"})
    log = epochs(said("x", "a", 2), said("x", "b", 1), failed, said("z", "", 2))
    path = write(tmp_path, "log.json", json.dumps(log, indent=2))

    assert samples(path) == {"x": ["b", "a"], "y": [None, None], "z": [None, None]}
    rows = [{"id": i, "input": "b", "target": "b"} for i in "xyz"]
    reasons = scored("copy", rows, path).rows["reason"].to_pylist()
    assert reasons == ["", "the sample ended with an error: 'lost'", "epoch 1 is absent"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (epochs(said(7, "a")), "sample 1: id 7 is not a text: give Sample"),
        (epochs(said("x", "a"), said("x", "b")), "sample 2: id 'x', epoch 1 was given in sample 1"),
        (epochs(said("x", "a", epoch="1")), "epoch '1' is not a number"),  # type: ignore[arg-type]
        ({"version": 2, "eval": {}}, 'expected an object with "samples"'),
        ("{", "broken JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("PK", "inspect log dump"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused(tmp_path: Path, content: Any, what: str) -> None:
    path = write(tmp_path, "log.json", content)

    with pytest.raises(DataError, match=what):
        join(read_predictions(path), keys_of(["x"]))


LTL = [
    {"id": "1", "input": "a U (b)", "target": "cycle{b}"},
    {"id": "2", "input": "G a", "target": "cycle{a}"},
    {"id": "3", "input": "!a & X b", "target": "!a; b; cycle{1}"},
    {"id": "4", "input": "F a", "target": "cycle{a}"},
]


def test_deepltl_text_is_joined_by_formula_whatever_brackets_a_row_has(tmp_path: Path) -> None:
    lines = ["&!aXb", "&!a1;{b}", "", "Uab", "&a!b;{b}", "Ga", "-", "Fa", "{0}"]
    path = write(tmp_path, "traces.txt", *lines)

    found = scored("ltl", LTL, path)
    assert found.rows["verdict"].to_pylist() == ["correct", "invalid", "correct", "invalid"]
    assert found.rows["reason"].to_pylist()[1] == "the prediction is null"


def test_deepltl_text_that_is_out_of_step_is_named_by_its_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "t.txt", "Uab", "{b}", "{a}", "Ga", "X", "{1}", "Gz", "{1}", "Uab")

    with pytest.raises(DataError) as caught:
        scored("ltl", LTL, path)
    message = str(caught.value)
    assert "line 3: '{a}' is no formula in Polish notation" in message
    assert "line 5: 'X' is no formula" in message
    assert "line 7: input 'G z' is not in the data set" in message
    assert "line 9: no answer in the line below" in message


def test_rows_with_the_same_formula_cannot_be_joined_by_it(tmp_path: Path) -> None:
    path = write(tmp_path, "t.txt", "Uab", "{b}")

    with pytest.raises(DataError, match="rows with the same formula"):
        scored("ltl", [*LTL, {**LTL[0], "id": "5", "input": "a U b"}], path)


@pytest.mark.parametrize(
    ("name", "first", "format"),
    [
        ("p.csv", "id,prediction", "csv"),
        ("p.CSV", "", "csv"),
        ("p.parquet", "", "parquet"),
        ("p.txt", "Uab", "deepltl"),
        ("p.json", '{"id": "x", "prediction": "a"}', "jsonl"),
        ("p.json", "{", "inspect"),
        ("log", '{"version": 2, "eval": {}, "samples": []}', "inspect"),
        ("samples_x.jsonl", json.dumps(harness("x", "a")), "lm-eval"),
        ("p.jsonl", "\n\n" + json.dumps(harness("x", "a")), "lm-eval"),
        ("p.jsonl", "{", "jsonl"),
        ("p", "", "jsonl"),
    ],
)
def test_the_format_is_seen_from_the_suffix_or_the_first_line(
    tmp_path: Path, name: str, first: str, format: str
) -> None:
    assert format_of(write(tmp_path, name, first), Reading()) == format


def test_a_format_can_be_forced_and_two_marks_must_be(tmp_path: Path) -> None:
    path = write(tmp_path, "p.dat", {**harness("x", "a"), "id": "y", "prediction": "b"})

    with pytest.raises(UsageError, match="may be jsonl or lm-eval; say which with --format"):
        read_predictions(path)
    assert samples(path, Reading(format="jsonl")) == {"y": ["b"]}
    assert samples(path, Reading(format="lm-eval")) == {"x": ["a"]}
    with pytest.raises(UsageError, match=r"unknown format 'lm_eval'. Did you mean 'lm-eval'\?"):
        read_predictions(path, Reading(format="lm_eval"))


def test_options_that_a_format_does_not_have_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "p.jsonl", {"id": "x", "prediction": "a"})

    with pytest.raises(UsageError, match="jsonl, which has no filters"):
        read_predictions(path, Reading(filter="none"))


@pytest.mark.parametrize("name", plugin_names("metrics.readers"))
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"\n\n", b"null", b'{"samples": 3}'])
def test_no_reader_fails_on_what_it_does_not_expect(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / "p"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        join(read_predictions(path, Reading(format=name)), keys_of(["x"]))


def test_all_problems_are_listed_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = [{"id": "x", "prediction": "a"}, *["{"] * 12, {"id": "z", "prediction": "a"}]
    path, listing = write(tmp_path, "p.jsonl", *lines, lines[0]), tmp_path / "problems.txt"

    with pytest.raises(DataError, match=r"and 4 more; all are in .*problems\.txt$"):
        join(read_predictions(path, listing=listing), keys_of(["x"]))
    listed = listing.read_text().splitlines()
    assert [line.split(":")[1].strip() for line in listed] == [f"line {n}" for n in range(2, 16)]
    assert listed[-2].endswith("id 'z' is not in the data set")
    assert listed[-1].endswith("id 'x' was given in line 1 already")


def test_polish_notation_is_read_and_recorded(tmp_path: Path) -> None:
    answers = {"1": "&a!b;{b}", "2": "{ a }", "3": "cycle{a}", "4": "{&a!a}"}
    lines = [{"id": i, "prediction": text} for i, text in answers.items()]
    path = write(tmp_path, "p.jsonl", *lines)

    found = scored("ltl", LTL, path, notation="polish")
    assert found.rows["verdict"].to_pylist() == ["correct", "exact", "invalid", "invalid"]
    assert found.rows["reason"].to_pylist()[2].startswith("no Polish notation")
    assert found.result.reading.notation == "polish"
    native = scored("ltl", LTL, path)
    assert native.rows["verdict"].to_pylist() == ["invalid", "invalid", "incorrect", "invalid"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("a1c0", "exact"),
        ("c 0 a 1", "exact"),
        ("a0", "incorrect"),
        ("", "incorrect"),
        ("a1a0", "invalid"),
        ("a=1 c=0", "invalid"),
        ("a 1 c", "invalid"),
        ("a1 c0", "invalid"),
    ],
)
def test_polish_assignments_are_read_with_and_without_spaces(
    tmp_path: Path, text: str, verdict: str
) -> None:
    rows = [{"id": "x", "input": "a & !c", "target": "a=1 c=0"}]
    path = write(tmp_path, "p.jsonl", {"id": "x", "prediction": text})

    found = scored("prop", rows, path, notation="polish")
    assert found.rows["verdict"].to_pylist() == [verdict]


def test_long_names_are_read_in_spaced_polish_notation(tmp_path: Path) -> None:
    rows = [{"id": "x", "input": "p26 U b", "target": "cycle{b}"}]
    path = write(tmp_path, "p.jsonl", {"id": "x", "prediction": "& p26 ! b ; { b ; 1 }"})

    assert scored("ltl", rows, path, notation="polish").result.counts["correct"] == 1


def test_notations_that_a_task_does_not_have_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "p.jsonl", {"id": "1", "prediction": "a"})

    with pytest.raises(UsageError, match="copy has no Polish notation, only ltl and prop"):
        scored("copy", [{"id": "1", "input": "a", "target": "a"}], path, notation="polish")
    with pytest.raises(UsageError, match="unknown notation 'polnish'"):
        scored("ltl", LTL, path, notation="polnish")
