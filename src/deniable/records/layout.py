"""How records lie in a file: the format, the columns that hold private text, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.records.compression import ENDINGS as COMPRESSION_ENDINGS

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


def format_of(path: Path) -> str | None:
    """Return the format that the ending of a file's name stands for, a compression ending aside; None if it says nothing."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION_ENDINGS else path
    return _ENDINGS.get(bare.suffix.lower())


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read records.

    ``columns`` name the columns to privatize; with ``header=False`` they are numbers, counted from 1. ``encoding`` is
    that of the input; output is UTF-8 always, since released words may need it.
    """

    format: str
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8"

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as JSON-ready data, to recognise a job by."""
        return {
            "format": self.format,
            "columns": list(self.columns),
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
) -> Layout:
    """Return the layout of a file, or of standard input when ``source`` is None.

    :raises InvalidParameter: if the format cannot be told or a setting does not fit it.
    """
    if format is None:
        format = "text" if source is None else format_of(source)  # noqa: A001
        if format is None:
            raise InvalidParameter("format", str(source), f"the file's name does not say the format; say it: one of {', '.join(FORMATS)}")
    if format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    if format == "text" and columns:
        raise InvalidParameter("columns", list(columns), "plain text has no columns; choose the format csv, tsv, jsonl or parquet")
    if len(set(columns)) != len(columns):
        raise InvalidParameter("columns", list(columns), "a column is named twice")
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else ","
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InvalidParameter("delimiter", delimiter, "must be one character, and not a quote or a line end")
    try:
        "".encode(encoding)
    except LookupError:
        raise InvalidParameter("encoding", encoding, "is not an encoding this Python knows, such as latin-1 or utf-16") from None
    return Layout(format=format, columns=columns, delimiter=delimiter, header=header, encoding=encoding)
