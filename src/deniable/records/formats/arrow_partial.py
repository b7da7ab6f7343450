"""A Parquet output while it grows: Arrow streams laid end to end.

A Parquet file is unreadable until its footer is written, so it cannot be appended to after a kill. The partial file
holds one complete Arrow stream per checkpoint instead; at the end they are copied into a Parquet file. The copy draws
nothing, so a kill in the middle of it only means to copy again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from deniable.records.formats.parquet_footer import CODECS, Footer
from deniable.records.formats.parquet_pages import checked_footer

_BYTES_PER_ROW_GROUP = 32 << 20
_ROWS_PER_ROW_GROUP = 1 << 20


def pack_stream(batches: list[pa.RecordBatch], schema: pa.Schema) -> bytes:
    """Return the batches as one complete Arrow stream, compressed."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def streams_to_parquet(partial: Path, ends: list[int], source: Path, finished: Path) -> None:
    """Write the Arrow streams of a partial file, ending at ``ends``, as Parquet with their schema and the source's compression."""
    compression = _compression(checked_footer(source))
    schema = _schema(partial, ends)
    descriptor = os.open(finished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        pq.ParquetWriter(file, schema, compression=compression) as writer,
    ):
        waiting: list[pa.RecordBatch] = []
        size = rows = 0
        for batch in _batches(partial, ends):
            waiting.append(batch)
            size += batch.nbytes
            rows += len(batch)
            if size >= _BYTES_PER_ROW_GROUP or rows >= _ROWS_PER_ROW_GROUP:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting, size, rows = [], 0, 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))


def _schema(partial: Path, ends: list[int]) -> pa.Schema:
    with partial.open("rb") as file, ipc.open_stream(pa.py_buffer(file.read(ends[0]))) as reader:
        return reader.schema


def _batches(partial: Path, ends: list[int]) -> Iterator[pa.RecordBatch]:
    start = 0
    with partial.open("rb") as file:
        for end in ends:
            with ipc.open_stream(pa.py_buffer(file.read(end - start))) as reader:
                yield from reader
            start = end


def _compression(footer: Footer) -> dict[str, str] | str:
    if not footer.groups:
        return "snappy"
    chunks = footer.groups[0].chunks
    return {leaf.path: CODECS[chunk.codec].upper() for leaf, chunk in zip(footer.leaves, chunks, strict=True) if chunk.codec < len(CODECS)}
