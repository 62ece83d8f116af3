"""The Arrow schema of each task's files: fixed, never inferred."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from symshift.data.example import Example

_PAIR = pa.struct([("name", pa.string()), ("renamed", pa.string())])
# Lists are spelt as Parquet stores them, so that a file's schema equals this one.
TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "list<string>": pa.list_(pa.field("element", pa.string())),
    "renaming": pa.list_(pa.field("element", _PAIR)),
}
COMMON = {
    "id": "string",
    "task": "string",
    "input": "string",
    "target": "string",
    "symbols": "list<string>",
    "num_symbols": "int64",
    "size": "int64",
    "canonical_id": "string",
    "split": "string",
    "perturbation": "string",
    "shortcuts": "list<string>",
    "index": "int64",
    "solver": "string",
}
RENAMED = {"base_id": "string", "renaming": "renaming", "regime": "string"}


def column_types(extra_columns: Mapping[str, str], *, renamed: bool) -> dict[str, str]:
    """Return every column of a data set with the name of its type, in file order.

    Args:
        extra_columns: The columns that the task adds (Task.extra_columns).
        renamed: Whether the set was written by `symshift rename`.
    """
    return {**COMMON, **extra_columns, **(RENAMED if renamed else {})}


def arrow_schema(columns: Mapping[str, str]) -> pa.Schema:
    """Return the Arrow schema of columns given by the names of their types."""
    return pa.schema([(name, TYPES[kind]) for name, kind in columns.items()])


def to_table(rows: Sequence[Example] | Iterable[Example], schema: pa.Schema) -> pa.Table:
    """Return rows as an Arrow table with exactly this schema."""
    listed = list(rows)
    arrays = [pa.array([row[field.name] for row in listed], type=field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)
