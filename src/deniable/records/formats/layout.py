"""How records lie in a file: the format, the columns that hold private text, where these stand, and how to
read them.

Messages never show what stands in the first line of a file: without a header, that is a private record.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.compression import ENDINGS as COMPRESSION_ENDINGS
from deniable.compression import compression_for
from deniable.errors import InvalidParameter, printable
from deniable.records.formats.roles import NO_ROLES, Roles

FORMATS = ("text", "csv", "tsv", "jsonl", "json", "parquet", "xlsx", "ods", "folder")
WITH_COLUMNS = tuple(name for name in FORMATS if name not in ("text", "folder"))
FOLDER = "folder"
WHOLE = {"parquet": "Parquet", "xlsx": "a spreadsheet", "ods": "a spreadsheet"}
"""Formats whose files are written as a whole: they cannot come from a stream or go to one, and are compressed
inside."""

SPREADSHEETS = ("xlsx", "ods")
TO_SEE_THE_NAMES = "`deniable check FILE` shows the names"

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
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".ods": "ods",
}
_DOCUMENTS = {
    ".pdf",
    ".doc",
    ".docx",
    ".odt",
    ".rtf",
    ".xls",
    ".xlsm",
    ".xlsb",
    ".ppt",
    ".pptx",
    ".odp",
    ".zip",
    ".sqlite",
    ".db",
}
_DELIMITERS = {"tab": "\t", "\\t": "\t"}
_NAMES_SHOWN = 50
_SHORTEST_MISTYPED = 4
OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
"""What may stand between cells, and how ``--delimiter`` takes it."""
# Python calls these encodings of text, but they are made for names, source code or mail: they cannot be read
# line by line.
_NOT_FOR_LINES = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf_7"}


def format_of(path: Path) -> str | None:
    """Return the format that the ending of a file's name stands for, a compression ending aside; None if it
    says nothing."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION_ENDINGS else path
    return _ENDINGS.get(bare.suffix.lower())


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read records.

    ``roles`` name the columns to privatize, to leave out and to keep; with ``header=False`` they are numbers
    from 1. ``record_id`` is the column that names the records of a keyed release, and ``person`` the one that
    says whose a record is. ``encoding`` is that of the input; output is UTF-8 always, since released words
    may need it. ``sheet`` is that of a spreadsheet, by default its first.
    """

    format: str
    roles: Roles = NO_ROLES
    record_id: str | None = None
    person: str | None = None
    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8"
    sheet: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to privatize."""
        return self.roles.text

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as JSON-ready data, to recognise a job by."""
        return {
            "format": self.format,
            **self.roles.to_dict(),
            "record_id": self.record_id,
            **({} if self.person is None else {"person": self.person}),
            "delimiter": self.delimiter,
            "header": self.header,
            "encoding": self.encoding,
            **(
                {} if self.sheet is None else {"sheet": self.sheet}
            ),  # jobs without one were begun before there were sheets
        }

    def check_output_name(self, target: Path) -> None:
        """Do nothing if records of this format may be written under that name.

        :raises InvalidParameter: if the name speaks of another format, or of a compression that the format
            does not have.
        """
        if self.format == FOLDER:
            return
        meant = format_of(target)
        if self.format in SPREADSHEETS and meant == "ods":
            name = printable(released_name(target.name))
            raise InvalidParameter(
                "output",
                str(target),
                f"spreadsheets are written as .xlsx, also those read from .ods; name it {name}",
            )
        if meant is not None and not _fits(meant, self.format):
            problem = f"its name says {meant} and the input is {self.format}; formats are not converted"
            if (
                self.format == "text"
            ):  # what is taken for granted of standard input and of a name without an ending
                problem += f". If the input is {meant} as well, say so: --format {meant}"
            raise InvalidParameter("output", str(target), problem)
        if self.format in WHOLE and compression_for(target):
            raise InvalidParameter(
                "output",
                str(target),
                f"{WHOLE[self.format]} is compressed inside; leave the compression ending off",
            )


def _fits(meant: str, written: str) -> bool:
    if meant == "text":  # .txt may hold anything that is text
        return written not in WHOLE
    return (
        meant == written
        or {meant, written} in ({"csv", "tsv"}, set(SPREADSHEETS))
        or (meant, written) == ("json", "jsonl")
    )


def released_name(name: str) -> str:
    """Return what a release of a file is called beside it or in another folder: its own name, after which
    .ods gets the ending .xlsx."""
    return f"{name}.xlsx" if name.lower().endswith(".ods") else name


def make_layout(
    source: Path | None,
    *,
    format: str | None,  # noqa: A002
    roles: Roles,
    delimiter: str | None,
    header: bool,
    encoding: str,
    record_id: str | None = None,
    person: str | None = None,
    sheet: str | None = None,
) -> Layout:
    """Return the layout of a file, or of standard input when ``source`` is None.

    :raises InvalidParameter: if the format cannot be told or a setting does not fit it.
    """
    if source is not None and source.is_dir() and format != FOLDER:
        how = (
            "to release each .txt file in it as one record say --format folder; see also `deniable watch` "
            "and `--engine spark`"
        )
        raise InvalidParameter("file", str(source), f"is a folder; name a file in it, or {how}")
    if format == FOLDER and (source is None or not source.is_dir()):
        raise InvalidParameter("format", format, "needs a folder of .txt files as input")
    if format is None:
        format = "text" if source is None else format_of(source)  # noqa: A001
        if format is None and source is not None and source.suffix.lower() in _DOCUMENTS:
            problem = (
                "documents of this kind are not read; save it as one of "
                f"{', '.join(('text', *WITH_COLUMNS))} first"
            )
            raise InvalidParameter("format", str(source), problem)
        if format is None:
            raise InvalidParameter(
                "format",
                str(source),
                f"the file's name does not say the format; say it: one of {', '.join(FORMATS)}",
            )
    if format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    if format in ("text", FOLDER) and roles != NO_ROLES:
        named = [*roles.text, *roles.drop, *roles.keep, *roles.keep_sheets]
        raise InvalidParameter(
            "columns", named, f"plain text has no columns; choose the format {', '.join(WITH_COLUMNS)}"
        )
    if format in ("text", FOLDER) and record_id is not None:
        raise InvalidParameter(
            "record_id",
            record_id,
            "plain text has no columns; its records are named by their number in the file",
        )
    if format in ("text", FOLDER) and person is not None:
        raise InvalidParameter("person", person, "plain text has no columns, so that nobody is named in it")
    if person is not None and person in roles.text:
        raise InvalidParameter(
            "person", person, "is a column of private text; name the column that says whose a record is"
        )
    if sheet is not None and format not in SPREADSHEETS:
        raise InvalidParameter("sheet", sheet, f"only spreadsheets have sheets, and the format is {format}")
    if roles.keep_sheets and format not in SPREADSHEETS:
        raise InvalidParameter(
            "keep_sheets",
            list(roles.keep_sheets),
            f"only spreadsheets have sheets, and the format is {format}",
        )
    if record_id in roles.text:
        raise InvalidParameter(
            "record_id", record_id, "is a column of private text, which is released in other words"
        )
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else ","
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InvalidParameter("delimiter", delimiter, "must be one character, and not a quote or a line end")
    _check_encoding(encoding)
    return Layout(
        format=format,
        roles=roles,
        record_id=record_id,
        person=person,
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        sheet=sheet,
    )


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
        raise InvalidParameter(
            "encoding", encoding, "cannot be read line by line; convert the file to UTF-8 first: iconv"
        )


def find_columns(
    wanted: Sequence[str], names: Sequence[str], source: str, *, there: str, advice: str
) -> list[int]:
    """Return where each wanted column stands among the names.

    ``there`` says in words what columns there are, and ``advice`` what to do when one is not among them.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice.
    """
    source = printable(source)
    if not wanted:
        raise InvalidParameter(
            "columns", [], f"say which columns hold private text (--column); {source} has {there}; {advice}"
        )
    for name in wanted:
        if name not in names:
            raise InvalidParameter("columns", name, f"{source} has {there}, none of that name; {advice}")
        if names.count(name) > 1:
            raise InvalidParameter(
                "columns", name, f"{source} has {names.count(name)} columns of that name; rename them"
            )
    return [names.index(name) for name in wanted]


def find_header_columns(wanted: Sequence[str], header: Sequence[str], source: str) -> list[int]:
    """Return where each wanted column stands in what should be a header, and may be a private record.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice.
    """
    return find_columns(
        wanted, header, source, there=number_of(len(header), "column"), advice=_advice(wanted, header)
    )


def _advice(wanted: Sequence[str], header: Sequence[str]) -> str:
    """Say what to do when a column is not found: if another delimiter would find one, or there is but one
    cell, say that."""
    missing = set(wanted).difference(header)
    if meant := meant_columns(missing, header):
        return meant
    for delimiter, option in OTHER_DELIMITERS.items():
        if any(
            not missing.isdisjoint(part.strip(' "') for part in cell.split(delimiter))
            for cell in header
            if delimiter in cell
        ):
            return f"is the delimiter another one? --delimiter {option}"
    other = "is the delimiter another one? say it, such as --delimiter ';'; " if len(header) == 1 else ""
    return f"{other}if the file has no header use --no-header; {TO_SEE_THE_NAMES}"


def likely_delimiter(header: Sequence[str], delimiter: str) -> str | None:
    """Return what to give ``--delimiter``, if another mark stands in the first row more often than the one it
    was cut at; else None."""
    marks = {mark: sum(cell.count(mark) for cell in header) for mark in OTHER_DELIMITERS if mark != delimiter}
    mark = max(marks, key=lambda each: marks[each])
    return OTHER_DELIMITERS[mark] if marks[mark] >= max(1, len(header)) else None


def meant_columns(missing: Collection[str], names: Collection[str]) -> str | None:
    """Return which columns are meant, if what was asked for says so itself: but for capitals, blanks or one
    slip, or as a comma list.

    No other name of the file is shown: its first row may be a private record. What is shown tells at most one
    letter of it.
    """
    for name in sorted(missing):
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(names):
            return "give each column an option of its own: " + " ".join(
                f"--column {printable(part)}" for part in parts
            )
        for alike in (_equal_but_for_case, _differ_by_one_slip):
            found = [each for each in names if alike(_plain(each), _plain(name))]
            if len(found) == 1:
                return f"did you mean {printable(found[0])}?"
    return None


def _equal_but_for_case(one: str, other: str) -> bool:
    return one == other


def _differ_by_one_slip(one: str, other: str) -> bool:
    """Return whether one character was left out, put in, mistaken or swapped with the next; of short names
    that says nothing."""
    if min(len(one), len(other)) < _SHORTEST_MISTYPED:
        return False
    start = next(
        (i for i, (mine, yours) in enumerate(zip(one, other, strict=False)) if mine != yours),
        min(len(one), len(other)),
    )
    one, other = one[start:], other[start:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[1::-1] == other[:2] and one[2:] == other[2:])
    )


def _plain(name: str) -> str:
    return "".join(name.split()).replace("_", "").casefold()


def find_numbered_columns(wanted: Sequence[str], width: int, source: str) -> list[int]:
    """Return where each column, wanted by its number from 1, stands in a file without a header.

    :raises InvalidParameter: if none is wanted, or one is not the number of a column.
    """
    numbers = [str(number) for number in range(1, width + 1)]
    return find_columns(
        wanted,
        numbers,
        source,
        there=number_of(width, "column"),
        advice="without a header, columns are numbers from 1",
    )


def find_named_columns(wanted: Sequence[str], names: Sequence[str], source: str) -> list[int]:
    """Return where each wanted column stands in a schema, whose names are no private text and can be shown.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice; the message lists the
        columns.
    """
    return find_columns(wanted, names, source, there=names_as_text(names), advice="name one of its columns")


def untouched_columns(names: Sequence[str], private: Sequence[int]) -> str | None:
    """Return in words which columns are released as they are; None if there are none."""
    others = [name for i, name in enumerate(names) if i not in private]
    return f"every value of {names_as_text(others)}" if others else None


def left_out(roles: Roles) -> list[str]:
    """Return in words which columns are left out; nothing if there are none."""
    return [f"left out: {names_as_text(roles.drop)}"] if roles.drop else []


def number_of(number: int, what: str) -> str:
    """Return the number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def names_as_text(names: Sequence[str]) -> str:
    """Return the names as words, the first few if they are many."""
    if not names:
        return "no columns"
    shown = ", ".join(map(printable, names[:_NAMES_SHOWN]))
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"the column{'s' if len(names) > 1 else ''} {shown}{more}"
