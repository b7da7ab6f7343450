"""A Parquet output while it grows: Arrow streams laid end to end.

A Parquet file is unreadable until its footer is written, so it cannot be appended to after a kill. The
partial file holds one complete Arrow stream per checkpoint instead; at the end they are copied into a Parquet
file. The copy draws nothing, so a kill in the middle of it only means to copy again.

Where streams and batches end depends on private text and on time. Nothing of that is left in the Parquet
file: row groups end by the number of released rows and their size, and each is written from one array per
column, whose dictionary, if it has one, is made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from deniable.atomic import open_regular

BYTES_PER_ROW_GROUP = 8 << 20
ROWS_PER_ROW_GROUP = 1 << 20
_WIDEST_NARROW_INDEX = np.iinfo(np.uint16).max

_Numbers = npt.NDArray[np.int64]
_Used = npt.NDArray[np.bool_]
_Batches = Callable[[], Iterator[pa.RecordBatch]]


def pack_stream(batches: list[pa.RecordBatch], schema: pa.Schema) -> bytes:
    """Return the batches as one complete Arrow stream, compressed."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def streams_to_parquet(
    partial: Path,
    ends: list[int],
    compression: dict[str, str] | str,
    finished: Path,
    *,
    private: Collection[str],
) -> None:
    """Write the Arrow streams of a partial file, ending at ``ends``, as Parquet with their schema.

    ``private`` names the columns that were released in other words.
    """
    streams = _streams(partial, ends)
    schema: pa.Schema = next(streams).schema
    streams.close()
    schema, shared, used = _dictionaries(lambda: _batches(partial, ends), schema, private)
    with (
        os.fdopen(open_regular(finished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file,
        pq.ParquetWriter(file, schema, compression=compression) as writer,
    ):
        for group in row_groups(_batches(partial, ends)):
            columns = [
                _of_used(column.combine_chunks(), used.get(place))
                if place in shared
                else _in_one(column, schema.field(place).type)
                for place, column in enumerate(group.columns)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=len(group))


def row_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of the batches in tables, each of which ends where it has enough rows or bytes, wherever
    batches end."""
    waiting: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in batches:
        sizes = np.cumsum(_row_sizes(batch))
        start = 0
        while start < len(batch):
            before = int(sizes[start - 1]) if start else 0
            by_size = int(np.searchsorted(sizes, before + BYTES_PER_ROW_GROUP - size)) + 1
            end = min(by_size, start + ROWS_PER_ROW_GROUP - rows, len(batch))
            waiting.append(batch.slice(start, end - start))
            size += int(sizes[end - 1]) - before
            rows += end - start
            start = end
            if size >= BYTES_PER_ROW_GROUP or rows >= ROWS_PER_ROW_GROUP:
                yield pa.Table.from_batches(waiting)
                waiting, size, rows = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _row_sizes(batch: pa.RecordBatch) -> _Numbers:
    """Return about how many bytes each row has, which must not depend on the rows around it."""
    sizes = np.zeros(len(batch), dtype=np.int64)
    for column in batch.columns:
        sizes += _value_sizes(column)
    return sizes


def _value_sizes(array: pa.Array) -> _Numbers:
    kind, length = array.type, len(array)
    if isinstance(array, pa.ExtensionArray):
        return _value_sizes(array.storage)
    if pa.types.is_dictionary(kind):
        return _value_sizes(array.dictionary_decode())
    if pa.types.is_struct(kind):
        return sum((_value_sizes(child) for child in array.flatten()), start=np.ones(length, dtype=np.int64))
    if pa.types.is_fixed_size_list(kind):
        return _sums(array.values, np.arange(array.offset, array.offset + length + 1) * kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return _sums(array.values, array.offsets.to_numpy(zero_copy_only=False).astype(np.int64))
    if pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    elif not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        return np.full(length, 1 if pa.types.is_null(kind) else max(1, kind.bit_width // 8), dtype=np.int64)
    lengths: _Numbers = (
        pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    )
    return lengths + 4


def _sums(values: pa.Array, ends: _Numbers) -> _Numbers:
    """Return the sizes of lists, of which each begins in ``values`` where the one before it ends."""
    first, last = int(ends[0]), int(ends[-1])
    sums = np.concatenate(
        [np.zeros(1, dtype=np.int64), np.cumsum(_value_sizes(values.slice(first, last - first)))]
    )
    sizes: _Numbers = np.diff(sums[ends - first]) + 4
    return sizes


def _dictionaries(
    batches: _Batches, schema: pa.Schema, private: Collection[str]
) -> tuple[pa.Schema, set[int], dict[int, _Used]]:
    """Return the schema to write, where the columns stand whose arrays are only put together, and which
    values of their dictionaries stand in a row.

    If all batches have the same dictionary of a column, it keeps the order of its values, without those that
    stand in no row: nobody looked at these. Other dictionaries are made again for each row group, and may
    hold more values than narrow indices can count.
    """
    shared = {place for place, field in enumerate(schema) if not _holds_dictionary(field.type)}
    public = [
        i
        for i, field in enumerate(schema)
        if pa.types.is_dictionary(field.type) and field.name not in private
    ]
    first: dict[int, pa.Array] = {}
    used: dict[int, _Used] = {}
    values: dict[int, set[Any]] = {}
    for batch in batches() if public else ():
        for place in public:
            dictionary, indices = batch.column(place).dictionary, batch.column(place).indices.drop_null()
            stand = used.setdefault(place, np.zeros(len(dictionary), dtype=np.bool_))
            if len(stand) == len(dictionary):
                stand[indices.to_numpy(zero_copy_only=False)] = True
            if not first.setdefault(place, dictionary).equals(dictionary):
                seen = values.setdefault(place, set(first[place].to_pylist()))
                if len(seen) <= _WIDEST_NARROW_INDEX:
                    seen.update(dictionary.to_pylist())
    for place, seen in values.items():
        kind = schema.field(place).type
        if len(seen) > np.iinfo(kind.index_type.to_pandas_dtype()).max:
            schema = schema.set(
                place, schema.field(place).with_type(pa.dictionary(pa.int32(), kind.value_type, kind.ordered))
            )
    return schema, shared | (first.keys() - values.keys()), used


def _of_used(array: pa.Array, used: _Used | None) -> pa.Array:
    """Return the array with those values of its dictionary that stand in a row of the file."""
    if used is None or used.all():
        return array
    kind, places = array.type, pa.array(np.cumsum(used) - 1)
    return pa.DictionaryArray.from_arrays(
        places.take(array.indices).cast(kind.index_type),
        array.dictionary.filter(pa.array(used)),
        ordered=kind.ordered,
    )


def _in_one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Return the column as one array whose dictionaries hold its own values alone, in the order in which they
    come."""
    if not pa.types.is_dictionary(kind):
        return pa.array(column.to_pylist(), type=kind)
    encoded = pa.concat_arrays([chunk.dictionary_decode() for chunk in column.chunks]).dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        encoded.indices.cast(kind.index_type), encoded.dictionary, ordered=kind.ordered
    )


def _holds_dictionary(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or any(
        _holds_dictionary(kind.field(i).type) for i in range(kind.num_fields)
    )


def _streams(partial: Path, ends: list[int]) -> Generator[pa.RecordBatchReader]:
    start = 0
    with os.fdopen(open_regular(partial), "rb") as file:
        for end in ends:
            with ipc.open_stream(pa.py_buffer(file.read(end - start))) as reader:
                yield reader
            start = end


def _batches(partial: Path, ends: list[int]) -> Iterator[pa.RecordBatch]:
    for stream in _streams(partial, ends):
        yield from stream
