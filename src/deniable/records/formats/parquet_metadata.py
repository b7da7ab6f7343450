"""Which of the notes that a Parquet file carries say something: they are released as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa

_SAYS_TYPES_ONLY = {b"ARROW:schema", b"PARQUET:field_id"}
_PANDAS = b"pandas"


def has_own_metadata(schema: pa.Schema, private: Sequence[int]) -> bool:
    """Return whether the schema carries more than types: notes of its own on the file or on a column.

    What pandas notes about types is not counted, unless it holds attributes set by hand or the number of different
    values of a ``private`` column, given by its place.
    """
    notes = dict(schema.metadata or {})
    pandas = notes.pop(_PANDAS, None)
    if pandas is not None and _pandas_tells(pandas, {schema.field(i).name for i in private}):
        return True
    return any(set(found) - _SAYS_TYPES_ONLY for found in (notes, *_of_fields(schema)))


def _of_fields(fields: pa.Schema | pa.DataType) -> Iterator[dict[bytes, bytes]]:
    count = len(fields) if isinstance(fields, pa.Schema) else fields.num_fields
    for i in range(count):
        field = fields.field(i)
        yield field.metadata or {}
        yield from _of_fields(field.type)


def _pandas_tells(note: bytes, private: set[str]) -> bool:
    try:
        known = json.loads(note)
        columns = [column for column in known["columns"] if column["field_name"] in private]
        return bool(known.get("attributes")) or any("num_categories" in (column["metadata"] or {}) for column in columns)
    except (ValueError, KeyError, TypeError, AttributeError):
        return True
