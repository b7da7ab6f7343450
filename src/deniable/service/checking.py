"""What is in a file before its release, so that somebody can say what becomes of each column.

The reply shows values of the file. It goes to the sender alone, who has the file, and nothing of it is kept.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from deniable.embeddings.embedding import Embedding
from deniable.records.check import check_file
from deniable.records.deciding import WARNED, why_refused
from deniable.records.formats.columns import OTHER_DELIMITERS, Leaf, Unnamed, Value, likely_delimiter
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_reader, open_source
from deniable.service.replies import CheckReply, ColumnReply

ROWS = 10
"""How many values of each column are shown."""

_LONGEST_VALUE = 400
_BYTES = 1 << 20
_NOT_UTF_8 = "cp1252"
_DELIMITERS = {option: mark for mark, option in OTHER_DELIMITERS.items()}
_BY_LINES = ("text", "csv", "tsv")


def look_into(path: Path, layout: Layout, embedding: Embedding, *, find_encoding: bool) -> CheckReply:
    """Return what the first records of a file hold.

    The encoding is found if it is asked for; the mark between cells is found where the file's name says csv
    and another one is more frequent in its first row.
    """
    if (
        find_encoding
        and layout.format in _BY_LINES
        and path.suffix.lower() not in (".gz", ".bz2", ".xz", ".zst")
    ):
        layout = replace(layout, encoding=encoding_of(path))
    if layout.format == "csv" and layout.delimiter == "," and layout.header:
        names = [name for name in _first_values(path, layout) if name is not None]
        if (option := likely_delimiter(names, layout.delimiter)) is not None:
            layout = replace(layout, delimiter=_DELIMITERS[option])
    check = check_file(path, layout, embedding)
    values = _first_values(path, layout)
    return CheckReply(
        format=layout.format,
        delimiter=layout.delimiter if layout.format in ("csv", "tsv") else None,
        encoding=layout.encoding,
        records=check.records,
        complete=check.complete,
        columns=[
            ColumnReply(
                name=None if column.path is None else str(column.path),
                kind=column.kind,
                why=why_refused(column) or WARNED.get(column.kind),
                releasable=not isinstance(column.path, Unnamed),
                text=column.path in check.private,
                values=values.get(column.path, []),
            )
            for column in check.columns
        ],
        sheets=check.sheets,
        # What speaks of options of the command is said by the columns.
        findings=[finding.says for finding in check.findings if "--" not in finding.says],
    )


def encoding_of(path: Path) -> str:
    """Return the encoding of a file of text: by its mark, as UTF-8 if it is that, else as Windows writes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        start = file.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        with suppress(UnicodeDecodeError):
            while chunk := file.read(_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
            return "utf-8"
    return _NOT_UTF_8


def _first_values(path: Path, layout: Layout) -> dict[str | None, list[str]]:
    values: dict[str | None, list[str]] = {}
    with open_source(path) as source:
        reader = open_reader(source, layout, looks=True)
        for row in islice(reader.rows_left(), ROWS):
            for column, value in row.fields:
                shown = values.setdefault(column, [])
                if len(shown) < ROWS:
                    shown.append(_shown(value))
    return values


def _shown(value: Value) -> str:
    if isinstance(value, Leaf):
        return "(a formula)" if value is Leaf.FORMULA else "(not looked into)"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} …"
