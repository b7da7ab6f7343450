"""Reads Parquet by Arrow in a confined process: what a crafted file claims, or ends the process with, stays
there.

Sends what the file says of itself, its schema, then its rows as Arrow streams of bounded size.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

_FEWEST_ROWS, _ROWS_PER_BYTE = 1 << 24, 64
_LEAST_DECODED, _DECODED_RATIO = 256 << 20, 1_000
_READ_BUFFER = 1 << 18
_CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4", "LZ4_HADOOP": "LZ4"}


def parse(
    file: io.BufferedReader, refuse: Callable[[str], NoReturn], *, skip: int, most_rows: int, most_bytes: int
) -> Iterator[bytes]:
    """Yield the facts of a file, and its rows after the first ones (``skip``), at most ``most_rows`` at a
    time."""
    size = file.seek(0, io.SEEK_END)
    try:
        parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BUFFER)
        about, schema = parquet.metadata, parquet.schema_arrow
        str(schema)  # names that are not UTF-8 fail here and not later
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError):
        refuse("not a Parquet file, or a damaged one")
    groups = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
    if min(groups, default=0) < 0 or sum(groups) != about.num_rows:
        refuse("its row groups do not have the number of records that it states; the file is damaged")
    if about.num_rows > _FEWEST_ROWS + _ROWS_PER_BYTE * size:  # repeated values take no room in Parquet
        refuse(
            f"claims {about.num_rows:,} records in {size:,} bytes: the file is damaged, or made to take up "
            "time"
        )
    yield json.dumps({"rows": about.num_rows, "compression": _compression(about)}).encode()
    yield schema.serialize().to_pybytes()
    left = max(_LEAST_DECODED, _DECODED_RATIO * size)
    for group, rows in enumerate(groups):
        if rows <= skip:
            skip -= rows
            continue
        at_once = max(1, min(most_rows, most_bytes * rows // max(1, about.row_group(group).total_byte_size)))
        missing = rows
        try:
            for batch in parquet.iter_batches(at_once, row_groups=[group], use_threads=False):
                missing -= len(batch)
                rest, skip = batch.slice(min(skip, len(batch))), max(0, skip - len(batch))
                left -= rest.nbytes
                if left < 0:
                    refuse(
                        f"its {size:,} bytes stand for far more: made to fill the memory, or a few long "
                        "values in very many rows"
                    )
                yield from _streams(rest, most_bytes)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError):
            missing = 1
        if missing:
            refuse(f"row group {group + 1:,} cannot be read; the file is damaged")


def _compression(about: Any) -> dict[str, str] | str:
    """Return how columns are compressed, as Arrow's writer takes it."""
    if not about.num_row_groups:
        return "snappy"
    chunks = [about.row_group(0).column(place) for place in range(about.num_columns)]
    return {chunk.path_in_schema: _CODECS.get(chunk.compression, chunk.compression) for chunk in chunks}


def _streams(batch: pa.RecordBatch, most_bytes: int) -> Iterator[bytes]:
    """Yield a batch as Arrow streams, cut into pieces that are about as large as they may be."""
    rows = max(1, len(batch) * most_bytes // max(1, batch.nbytes))
    for start in range(0, len(batch), rows):
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch.slice(start, rows))
        yield bytes(sink.getvalue())
