import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from symshift.data.schema import arrow_schema, column_types
from symshift.generators import shards
from symshift.generators.shards import ShardWriter

SCHEMA = arrow_schema(column_types({}, renamed=False))


def row(number):
    digits = hashlib.sha256(str(number).encode()).hexdigest()
    return {
        "id": f"copy-{digits[:24]}",
        "task": "copy",
        "input": digits,
        "target": digits,
        "symbols": sorted(set(digits)),
        "num_symbols": len(set(digits)),
        "size": 64,
        "canonical_id": digits[:32],
        "split": "train",
        "perturbation": "none",
        "shortcuts": [],
        "index": number,
        "solver": "copy 1",
    }


def tables(num_rows, rows_in_each):
    for start in range(0, num_rows, rows_in_each):
        numbers = range(start, min(start + rows_in_each, num_rows))
        yield pa.Table.from_pylist([row(number) for number in numbers], schema=SCHEMA)


@pytest.mark.parametrize("rows_in_each", [1, 7, 30, 64, 500])
def test_the_bytes_do_not_depend_on_how_rows_come(tmp_path, monkeypatch, rows_in_each):
    monkeypatch.setattr(shards, "GROUP_ROWS", 30)
    monkeypatch.setattr(shards, "SHARD_ROWS", 90)
    summaries = []
    for name, step in (("one", 211), ("other", rows_in_each)):
        writer = ShardWriter(tmp_path / name, SCHEMA)
        assert writer.write_split("train", tables(211, step)) == 211
        summaries.append(writer.summary())
    files = [pq.ParquetFile(tmp_path / "other" / file["path"]) for file in summaries[1]["files"]]

    assert summaries[0] == summaries[1]
    assert [file.metadata.num_rows for file in files] == [90, 90, 31]
    assert [file.metadata.num_row_groups for file in files] == [3, 3, 2]
    read = [number for file in files for number in file.read(["index"])["index"].to_pylist()]
    assert read == list(range(211))


def test_a_few_groups_of_rows_are_in_memory_however_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "GROUP_ROWS", 500)
    monkeypatch.setattr(shards, "SHARD_ROWS", 10_000)
    held = []
    before = pa.total_allocated_bytes()

    def watched():
        for table in tables(10_000, 250):
            yield table
            held.append(pa.total_allocated_bytes() - before)

    ShardWriter(tmp_path, SCHEMA).write_split("train", watched())
    group = next(iter(tables(500, 500))).nbytes

    assert max(held) < 8 * group
