"""Rows of a Parquet file in batches of bounded size, whatever its pages stand for.

A text that stands once in a file may be the value of thousands of rows, so the longest one bounds how many rows are asked for.
In columns of lists one row may have it any number of times: these are read as dictionaries, measured as they would be written out,
cut into few enough rows, and only then written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deniable.errors import RecordError
from deniable.records.formats.parquet_files.footer import BYTE_ARRAY, Footer
from deniable.records.formats.parquet_files.pages import check_group, most_decoded, size_of
from deniable.records.formats.source import FileSource

_LONGEST_ROW = 256 << 20
_READ_BUFFER = 1 << 18


class BoundedBatches:
    """Reads the row groups of a file, having looked at their pages. Over all of them, no more is decoded than the file's size allows."""

    def __init__(self, source: FileSource, file: pq.ParquetFile, footer: Footer, *, most_rows: int, most_bytes: int) -> None:
        self._source, self._file, self._footer = source, file, footer
        self._path, self._pages = source.path, source.reopen()
        self._most_rows, self._most_bytes = most_rows, most_bytes
        self._decoded, self._limit = 0, most_decoded(self._pages)

    def of_group(self, group: int, column: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a row group, or one column of them, in batches.

        :raises RecordError: if the group is damaged, or the file decodes to far more than its size.
        """
        facts, about = check_group(self._pages, self._path, self._footer, group), self._footer.groups[group]
        per_row = max(1, about.size // max(1, about.rows), facts.longest_row)
        at_once = min(self._most_rows, max(1, self._most_bytes // per_row))
        file = self._file if facts.nested <= self._most_bytes else self._by_dictionary
        try:
            batches = file.iter_batches(at_once, row_groups=[group], columns=None if column is None else [column])
            yield from self._regrouped(piece for batch in batches for piece in self._cut(batch))
        except (pa.ArrowException, OSError, MemoryError) as error:
            raise RecordError(self._path, f"row group {group + 1:,} cannot be read; the file is damaged") from error

    @cached_property
    def _by_dictionary(self) -> pq.ParquetFile:
        """The file once more, with the texts in lists read as dictionaries.

        :raises RecordError: if Arrow cannot write these out as the types that they have.
        """
        texts = [leaf.path for leaf in self._footer.leaves if leaf.kind == BYTE_ARRAY and leaf.repetition_levels]
        try:
            file = pq.ParquetFile(self._source.reopen(), pre_buffer=False, buffer_size=_READ_BUFFER, read_dictionary=texts)
            self._written_out(pa.RecordBatch.from_pylist([], schema=file.schema_arrow))
        except (pa.ArrowException, OSError) as error:
            raise RecordError(self._path, "has long texts in lists of a type that cannot be read a little at a time") from error
        return file

    def _cut(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the batch in pieces that are not too large when they are written out, and write them out."""
        waiting = [batch]
        while waiting:
            piece = waiting.pop()
            size = sum(written_bytes(column) for column in piece.columns)
            if size > self._most_bytes and len(piece) > 1:
                middle = len(piece) // 2
                waiting += [piece.slice(middle), piece.slice(0, middle)]
                continue
            self._decoded += size
            if size > _LONGEST_ROW or self._decoded > self._limit:
                problem = (
                    f"its {size_of(self._pages):,} bytes decode to more than {self._decoded - size:,}: made to fill the memory, or a "
                    "few long values in very many rows; if you trust it, write it again without dictionaries and compression"
                )
                raise RecordError(self._path, problem)
            yield self._written_out(piece)

    def _written_out(self, piece: pa.RecordBatch) -> pa.RecordBatch:
        schema = self._file.schema_arrow
        fields = [schema.field(name) for name in piece.schema.names] if len(piece.schema) != len(schema) else list(schema)
        if [field.type for field in fields] == piece.schema.types:
            return piece
        columns = [column.cast(field.type) for column, field in zip(piece.columns, fields, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _regrouped(self, pieces: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the pieces put together again as far as memory allows: a release of eight rows at a time would be slow."""
        held: list[pa.RecordBatch] = []
        rows = size = 0
        for piece in pieces:
            if held and (rows + len(piece) > self._most_rows or size + piece.nbytes > self._most_bytes):
                yield _joined(held)
                held, rows, size = [], 0, 0
            held.append(piece)
            rows, size = rows + len(piece), size + piece.nbytes
        if held:
            yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def written_bytes(array: pa.Array) -> int:
    """Return how many bytes an array takes with its dictionaries written out."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if not (pa.types.is_string(kind.value_type) or pa.types.is_binary(kind.value_type) or pa.types.is_large_string(kind.value_type)):
            return int(array.indices.nbytes)
        lengths = pc.binary_length(array.dictionary).cast(pa.int64()).take(array.indices)
        return int(array.indices.nbytes) + int(pc.sum(lengths).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(map(written_bytes, array.flatten()))
    if pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        return 4 * len(array) + sum(written_bytes(child.slice(first, last - first)) for child in (array.keys, array.items))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return 4 * len(array) + written_bytes(array.flatten())
    return int(array.nbytes)
