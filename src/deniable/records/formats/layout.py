"""How records lie in a file: its format, how to read it, and what becomes of each column."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from deniable.compression import ENDINGS as COMPRESSION_ENDINGS
from deniable.compression import compression_for
from deniable.errors import InvalidParameter, printable
from deniable.records.formats.columns import is_inside, names_as_text

FORMATS = ("text", "csv", "tsv", "jsonl", "json", "parquet", "xlsx", "ods", "folder")
WITH_COLUMNS = tuple(name for name in FORMATS if name not in ("text", "folder"))
FOLDER = "folder"
WHOLE = {"parquet": "Parquet", "xlsx": "a spreadsheet", "ods": "a spreadsheet"}
"""Formats whose files are written as a whole: no streams, and compressed inside."""

SPREADSHEETS = ("xlsx", "ods")

_ENDINGS = {
    **dict.fromkeys(("", ".txt", ".text", ".log"), "text"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **{f".{name}": name for name in ("csv", "json", "xlsx", "ods")},
}
_DOCUMENT = re.compile(r"\.(?:pdf|docx?|odt|rtf|xls[mb]?|pptx?|odp|zip|sqlite|db)")
_DELIMITERS = {"tab": "\t", "\\t": "\t"}
# Python calls these encodings of text, but they are made for names, source code or mail: they cannot be read
# line by line.
_NOT_FOR_LINES = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf_7"}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns that a person named, by what becomes of them.

    ``text`` is privatized, ``drop`` is left out and ``keep`` is released as it is; so are the other sheets
    of a workbook in ``drop_sheets`` and ``keep_sheets``. In JSON and Parquet a name may be a path; everything
    inside a kept or dropped column has its role.
    """

    text: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    keep_sheets: tuple[str, ...] = ()
    drop_sheets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that every column has one role."""
        seen: dict[str, str] = {}
        for role, names in (("columns", self.text), ("drop", self.drop), ("keep", self.keep)):
            for name in names:
                if name in seen:
                    also = "" if seen[name] == role else f", as {seen[name]} and as {role}"
                    problem = f"the column {printable(name)} is named twice{also}"
                    raise InvalidParameter(role, list(names), problem)
                seen[name] = role
        for text, drop in product(self.text, self.drop):
            if is_inside(text, drop):
                problem = f"leaves out {printable(text)}, which is to be privatized; name one of the two"
                raise InvalidParameter("drop", drop, problem)

    @property
    def named(self) -> frozenset[str]:
        """All columns that have a role."""
        return frozenset((*self.text, *self.drop, *self.keep))

    @classmethod
    def of(cls, **given: Sequence[str] | None) -> Self:
        """Return the roles of columns that a caller listed."""
        for role, names in given.items():
            if isinstance(names, str) or not all(isinstance(name, str) for name in names or ()):
                role = "columns" if role == "text" else role
                raise InvalidParameter(role, names, "must be a list of names")
        return cls(**{role: tuple(names or ()) for role, names in given.items()})

    def left_out(self) -> list[str]:
        """Return in words which columns are left out; nothing if there are none."""
        parts = ((self.drop, "column"), (self.drop_sheets, "sheet"))
        return [f"left out: {names_as_text(names, what)}" for names, what in parts if names]


NO_ROLES = Roles()


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read records.

    ``roles`` name the columns to privatize, to leave out and to keep; with ``header=False`` they are numbers
    from 1. ``record_id`` is the column that names the records of a keyed release, and ``person`` the one that
    says whose a record is. ``encoding`` is that of the input; output is always UTF-8, since released words
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

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as JSON-ready data, to recognise a job by.

        What older versions did not have is left out where it is not used: their jobs can still be continued.
        """
        newer = {
            "person": self.person,
            "sheet": self.sheet,
            "drop": list(self.roles.drop) or None,
            "drop_sheets": list(self.roles.drop_sheets) or None,
        }
        return {
            "format": self.format,
            "columns": list(self.roles.text),
            "record_id": self.record_id,
            "delimiter": self.delimiter,
            "header": self.header,
            "encoding": self.encoding,
            **{name: value for name, value in newer.items() if value is not None},
        }

    def check_output_name(self, target: Path) -> None:
        """Check that records of this format may be written under that name."""
        if self.format == FOLDER:
            return
        meant, problem = format_of(target), None
        similar = ({"csv", "tsv"}, set(SPREADSHEETS), {"json", "jsonl"} if meant == "json" else set())
        if self.format in SPREADSHEETS and meant == "ods":
            name = printable(released_name(target.name))
            problem = f"spreadsheets are written as .xlsx, also those read from .ods; name it {name}"
        elif meant == "text" and self.format not in WHOLE:  # .txt may hold anything that is text
            pass
        elif meant not in (None, self.format) and {meant, self.format} not in similar:
            problem = f"its name says {meant} and the input is {self.format}; formats are not converted"
            if self.format == "text":  # assumed for standard input and for a name without an ending
                problem += f". If the input is {meant} as well, say so: --format {meant}"
        elif self.format in WHOLE and compression_for(target):
            problem = f"{WHOLE[self.format]} is compressed inside; leave the compression ending off"
        if problem is not None:
            raise InvalidParameter("output", str(target), problem)


def format_of(path: Path) -> str | None:
    """Return the format that a file's name stands for, a compression ending aside; None if it says
    nothing."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSION_ENDINGS else path
    return _ENDINGS.get(bare.suffix.lower())


def released_name(name: str) -> str:
    """Return the name of a file's release: its own, after which .ods gets the ending .xlsx."""
    return f"{name}.xlsx" if name.lower().endswith(".ods") else name


class ReadingOptions(TypedDict, total=False):
    """How a file is read where its name does not say."""

    format: str | None
    delimiter: str | None
    header: bool
    encoding: str
    sheet: str | None


def make_layout(
    source: Path | None,
    *,
    roles: Roles = NO_ROLES,
    record_id: str | None = None,
    person: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Layout:
    """Return the layout of a file, or of standard input when ``source`` is None."""
    if unknown := reading.keys() - ReadingOptions.__annotations__.keys():  # or a slip would go unnoticed
        raise TypeError(f"there is no option {', '.join(sorted(unknown))} of how a file is read")
    kind, delimiter = _find_format(source, reading.get("format")), reading.get("delimiter")
    if delimiter is None:
        delimiter = "\t" if kind == "tsv" else ","
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    sheet, encoding = reading.get("sheet"), reading.get("encoding", "utf-8")
    sheets = [*roles.keep_sheets, *roles.drop_sheets]
    problem: tuple[str, object, str] | None = None
    if kind in ("text", FOLDER):
        named = [*roles.text, *roles.drop, *roles.keep, *sheets]
        if named:
            choose = f"choose the format {', '.join(WITH_COLUMNS)}"
            problem = "columns", named, f"plain text has no columns; {choose}"
        elif record_id is not None:
            how = "its records are named by their number in the file"
            problem = "record_id", record_id, f"plain text has no columns; {how}"
        elif person is not None:
            problem = "person", person, "plain text has no columns, so that nobody is named in it"
    elif person in roles.text:
        how = "name the column that says whose a record is"
        problem = "person", person, f"is a column of private text; {how}"
    elif record_id in roles.text:
        problem = "record_id", record_id, "is a column of private text, which is released in other words"
    if kind not in SPREADSHEETS and (sheet is not None or sheets):
        name = "sheet" if sheet is not None else "keep_sheets" if roles.keep_sheets else "drop_sheets"
        value = sheets if sheet is None else sheet
        problem = problem or (name, value, f"only spreadsheets have sheets, and the format is {kind}")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        how = "must be one character, and not a quote or a line end"
        problem = problem or ("delimiter", delimiter, how)
    if problem is not None:
        raise InvalidParameter(*problem)
    _check_encoding(encoding)
    return Layout(
        format=kind,
        roles=roles,
        record_id=record_id,
        person=person,
        delimiter=delimiter,
        header=reading.get("header", True),
        encoding=encoding,
        sheet=sheet,
    )


def _find_format(source: Path | None, given: str | None) -> str:
    folder = source is not None and source.is_dir()
    if folder and given != FOLDER:
        how = "to release each .txt file in it as one record say --format folder"
        problem = f"is a folder; name a file in it, or {how}; see also `deniable watch` and `--engine spark`"
        raise InvalidParameter("file", str(source), problem)
    if given == FOLDER and not folder:
        raise InvalidParameter("format", given, "needs a folder of .txt files as input")
    kind = given or ("text" if source is None else format_of(source))
    if kind is None and source is not None and _DOCUMENT.fullmatch(source.suffix.lower()):
        formats = ", ".join(("text", *WITH_COLUMNS))
        problem = f"documents of this kind are not read; save it as one of {formats} first"
        raise InvalidParameter("format", str(source), problem)
    if kind is None:
        problem = f"the file's name does not say the format; say it: one of {', '.join(FORMATS)}"
        raise InvalidParameter("format", str(source), problem)
    if kind not in FORMATS:
        raise InvalidParameter("format", kind, f"must be one of {', '.join(FORMATS)}")
    return kind


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
        problem = "cannot be read line by line; convert the file to UTF-8 first: iconv"
        raise InvalidParameter("encoding", encoding, problem)
