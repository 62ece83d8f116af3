import pyarrow.parquet as pq
import pytest

from symshift.data.dataset import open_dataset
from symshift.data.files import read_json, sha256_of, write_json
from symshift.generators.generation import plan
from symshift.generators.verification import first_problems
from symshift.generators.writer import write_dataset


@pytest.fixture
def falsified(tmp_path, Serial):
    """Return a function that changes the rows of a data set, whose manifest vouches for them."""

    def change(edit):
        recipe, demand = plan("copy", {"symbols": 4, "size": "3-6", "test": 9})
        write_dataset(recipe, demand, tmp_path / "d", Serial())
        shard = next((tmp_path / "d" / "data").iterdir())
        table = pq.read_table(shard)
        rows = table.to_pylist()
        edit(rows)
        pq.write_table(type(table).from_pylist(rows, schema=table.schema), shard)
        manifest = read_json(tmp_path / "d" / "manifest.json")
        manifest["files"][0] |= {"sha256": sha256_of(shard), "bytes": shard.stat().st_size}
        write_json(tmp_path / "d" / "manifest.json", manifest)
        return "\n".join(first_problems(open_dataset(tmp_path / "d")))

    return change


def test_a_data_set_as_it_was_written_is_sound(falsified):
    assert falsified(lambda rows: None) == ""


def test_a_row_that_stands_twice_is_found(falsified):
    found = falsified(lambda rows: rows.__setitem__(5, rows[2]))

    assert "test row 5" in found
    assert "its id stands twice" in found
    assert "equivalent to an earlier row" in found


@pytest.mark.parametrize("stated", ["", "no id", "0" * 31, "é" * 32])
def test_an_id_that_is_none_is_found(falsified, stated):
    found = falsified(lambda rows: rows[3].update(canonical_id=stated, id=stated))

    assert f"canonical_id is {stated!r}" in found
    assert f"id is {stated!r}" in found
