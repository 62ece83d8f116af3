import contextlib

import pytest

from symshift.data.errors import DataError, SymshiftError
from symshift.models.hub.partial_answers import partial_answers

CONFIGURATION = {"model": "tiny", "shots": 3}


def interrupted(output, *batches, configuration=CONFIGURATION):
    with contextlib.suppress(KeyboardInterrupt), partial_answers(output, configuration) as partial:
        for batch in batches:
            partial.add(batch)
        raise KeyboardInterrupt


def left(output, configuration=CONFIGURATION):
    with partial_answers(output, configuration) as partial:
        return [*partial.batches]


def test_batches_outlive_an_interruption_and_go_at_the_end(tmp_path):
    interrupted(tmp_path / "out", ["a", "\u2028\n"], ["c"])

    assert left(tmp_path / "out") == [["a", "\u2028\n"], ["c"]]
    assert list(tmp_path.iterdir()) == []


def test_a_batch_that_was_cut_short_is_dropped_however_often(tmp_path):
    for batch in (["a"], ["b"]):
        interrupted(tmp_path / "out", batch)
        [file] = tmp_path.glob(".out.*/answers.jsonl")
        with file.open("ab") as torn:
            torn.write(b'["cut sho')

    assert left(tmp_path / "out") == [["a"], ["b"]]


def test_another_configuration_or_file_has_batches_of_its_own(tmp_path):
    interrupted(tmp_path / "out", ["a"])

    assert left(tmp_path / "out", {**CONFIGURATION, "shots": 2}) == []
    assert left(tmp_path / "other") == []
    assert left(tmp_path / "out") == [["a"]]


def test_a_second_run_is_kept_out(tmp_path):
    with (
        partial_answers(tmp_path / "out", CONFIGURATION),
        pytest.raises(SymshiftError, match="another run is writing here"),
        partial_answers(tmp_path / "out", CONFIGURATION),
    ):
        pass


def test_a_broken_file_is_an_error_with_the_remedy(tmp_path):
    interrupted(tmp_path / "out", ["a"])
    [file] = tmp_path.glob(".out.*/answers.jsonl")
    file.write_text("[1]\n")

    with pytest.raises(DataError, match="remove its folder"):
        left(tmp_path / "out")
