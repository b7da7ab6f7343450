"""How records lie in a file: the format, the columns that hold private text, and how to read them."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.compression import ENDINGS as COMPRESSION_ENDINGS
from deniable.errors import InvalidParameter

FORMATS = ("text", "csv", "tsv", "jsonl", "parquet")

_ENDINGS = {
    "": "text",
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_DELIMITERS = {"tab": "\t", "\\t": "\t"}
# Python calls these encodings of text, but they are made for names, source code or mail: they cannot be read line by line.
_NOT_FOR_LINES = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf_7"}


def format_of(path: Path) -> str | None:
    """Return the format that the ending of a file's name stands for, a compression ending aside; None if it says nothing."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION_ENDINGS else path
    return _ENDINGS.get(bare.suffix.lower())


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read records.

    ``columns`` name the columns to privatize; with ``header=False`` they are numbers, counted from 1. ``record_id`` is the
    column that names the records of a keyed release. ``encoding`` is that of the input; output is UTF-8 always, since released
    words may need it.
    """

    format: str
    columns: tuple[str, ...] = ()
    record_id: str | None = None
    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8"

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as JSON-ready data, to recognise a job by."""
        return {
            "format": self.format,
            "columns": list(self.columns),
            "record_id": self.record_id,
            "delimiter": self.delimiter,
            "header": self.header,
            "encoding": self.encoding,
        }


def make_layout(
    source: Path | None,
    *,
    format: str | None,  # noqa: A002
    columns: tuple[str, ...],
    delimiter: str | None,
    header: bool,
    encoding: str,
    record_id: str | None = None,
) -> Layout:
    """Return the layout of a file, or of standard input when ``source`` is None.

    :raises InvalidParameter: if the format cannot be told or a setting does not fit it.
    """
    if source is not None and source.is_dir():
        raise InvalidParameter("file", str(source), "is a folder; name a file in it, or see `deniable watch` and `--engine spark`")
    if format is None:
        format = "text" if source is None else format_of(source)  # noqa: A001
        if format is None:
            raise InvalidParameter("format", str(source), f"the file's name does not say the format; say it: one of {', '.join(FORMATS)}")
    if format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    if format == "text" and columns:
        raise InvalidParameter("columns", list(columns), "plain text has no columns; choose the format csv, tsv, jsonl or parquet")
    if format == "text" and record_id is not None:
        raise InvalidParameter("record_id", record_id, "plain text has no columns; its records are named by their number in the file")
    if record_id in columns:
        raise InvalidParameter("record_id", record_id, "is a column of private text; ids are released as they are")
    if len(set(columns)) != len(columns):
        raise InvalidParameter("columns", list(columns), "a column is named twice")
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else ","
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InvalidParameter("delimiter", delimiter, "must be one character, and not a quote or a line end")
    _check_encoding(encoding)
    return Layout(format=format, columns=columns, record_id=record_id, delimiter=delimiter, header=header, encoding=encoding)


def _check_encoding(encoding: str) -> None:
    try:
        name = codecs.lookup(encoding).name.replace("-", "_")
        if name not in _NOT_FOR_LINES:
            "\n".encode(encoding)  # refuses what is no encoding of text, such as base64
            codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        problem = "is not an encoding of text that this Python knows, such as latin-1 or utf-16"
        raise InvalidParameter("encoding", encoding, problem) from None
    if name in _NOT_FOR_LINES:
        raise InvalidParameter("encoding", encoding, "cannot be read line by line; convert the file to UTF-8 first: iconv")
