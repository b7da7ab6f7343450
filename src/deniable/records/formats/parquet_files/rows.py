"""A Parquet file as its parser sends it: schema, facts, and rows in record batches of bounded size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from deniable.records.formats.confined.parent import ParserFailed, parse_confined
from deniable.records.formats.source import FileSource

BYTES_AT_ONCE = 8 << 20
_ROWS_AT_ONCE, _FEW_ROWS_AT_ONCE = 2_048, 8
_PARSER = Path(__file__).with_name("parser.py")
_ADVICE = "if you trust it, write it again in smaller row groups, without dictionaries"


class ParquetRows:
    """A Parquet file that is read front to back: its schema, its number of rows, and how columns are
    compressed."""

    def __init__(self, source: FileSource) -> None:
        """Open the file.

        :raises RecordError: if it is not a Parquet file.
        """
        self._source = source
        pieces = self._parse(None, 0, _ROWS_AT_ONCE)
        about = json.loads(next(pieces))
        self.rows: int = about["rows"]
        self.compression: dict[str, str] | str = about["compression"]
        self.schema: pa.Schema = ipc.read_schema(pa.py_buffer(next(pieces)))
        self._begun: Iterator[bytes] | None = pieces

    def batches(self, *, skip: int = 0, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows after the first ones (``skip``), or some columns of them, in batches.

        :raises RecordError: if the file is damaged, or decodes to far more than its size.
        """
        done, begun = skip, self._begun
        if skip or columns is not None or begun is None:
            begun = self._rows(columns, skip, _ROWS_AT_ONCE)
        else:
            self._begun = None
        try:
            for batch in map(_batch, begun):
                done += len(batch)
                yield batch
        except ParserFailed:  # long values that stand once in the file may be those of very many rows
            yield from map(_batch, self._rows(columns, done, _FEW_ROWS_AT_ONCE))

    def _rows(self, columns: list[str] | None, skip: int, most_rows: int) -> Iterator[bytes]:
        pieces = self._parse(columns, skip, most_rows)
        next(pieces), next(pieces)
        return pieces

    def _parse(self, columns: list[str] | None, skip: int, most_rows: int) -> Iterator[bytes]:
        return parse_confined(
            self._source,
            _PARSER,
            _ADVICE,
            columns=columns,
            skip=skip,
            most_rows=most_rows,
            most_bytes=BYTES_AT_ONCE,
        )


def _batch(piece: bytes) -> pa.RecordBatch:
    with ipc.open_stream(pa.py_buffer(piece)) as stream:
        return stream.read_next_batch()
