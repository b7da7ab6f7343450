"""Workbooks as they are written by XlsxWriter: values, types and names of sheets, and bytes that depend on
nothing else."""

from __future__ import annotations

import datetime
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException

from deniable.errors import RecordError

Value = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta | None

LONGEST_CELL = 32_767
"""Characters, in UTF-16, that a cell may have; XlsxWriter would cut off the rest."""

_CREATED = datetime.datetime(2000, 1, 1)
_FIRST_DATE = datetime.date(1900, 3, 1)  # what Excel counts before it, no calendar has
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMATS: Mapping[type, str] = {
    datetime.datetime: "yyyy-mm-dd hh:mm:ss",
    datetime.date: "yyyy-mm-dd",
    datetime.time: "hh:mm:ss",
    datetime.timedelta: "[h]:mm:ss",
}


def text_of(value: Value) -> str | None:
    """Return a value as text, as CSV has it; None if there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def utf16_length(text: str) -> int:
    """Return the length of a text as spreadsheets count it."""
    return len(text) + sum(character > "\uffff" for character in text)


def check_names(names: Iterable[str], source: str) -> None:
    """Check that sheets may have these names in an .xlsx file.

    :raises RecordError: if one may not.
    """
    book = Workbook()
    for number, name in enumerate(names, 1):
        try:
            book.add_worksheet(name)
        except XlsxWriterException:
            problem = (
                f"sheet {number:,} has a name that .xlsx does not allow (at most 31 characters, none "
                "of []:*?/\\); rename it"
            )
            raise RecordError(source, problem) from None


class SheetWriter:
    """Writes the cells of one sheet, row by row."""

    def __init__(self, sheet: Any, formats: Mapping[type, Any]) -> None:
        self._sheet, self._formats = sheet, formats

    def write(self, row: int, column: int, value: Value) -> None:
        """Write a value; rows count from 1, columns from 0."""
        at = (row - 1, column)
        if (
            isinstance(value, datetime.date)
            and (value.date() if isinstance(value, datetime.datetime) else value) < _FIRST_DATE
        ):
            value = text_of(value)
        if isinstance(value, str):
            text = _NOT_IN_XML.sub("", value)
            if text.startswith("<r>") and text.endswith(
                "</r>"
            ):  # XlsxWriter would take it for XML of its own
                self._sheet.write_rich_string(*at, text[:1], self._formats[str], text[1:])
            elif text:
                self._sheet.write_string(*at, text)
        elif isinstance(value, bool):
            self._sheet.write_boolean(*at, value)
        elif isinstance(value, int | float):
            self._sheet.write_number(*at, value)
        elif value is not None:
            self._sheet.write_datetime(*at, value, self._formats[type(value)])


@contextmanager
def new_workbook(file: BinaryIO, parts: Path) -> Iterator[Any]:
    """Lend a function that adds a sheet of some name, and write the workbook to a file; ``parts`` is a folder
    that is used meanwhile.

    :raises OSError: if it cannot be written.
    """
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(mode=0o700)
    book = Workbook(file, {"constant_memory": True, "tmpdir": str(parts), "use_zip64": True})
    try:
        book.set_properties({"created": _CREATED})
        formats = {kind: book.add_format({"num_format": shown}) for kind, shown in _FORMATS.items()} | {
            str: book.add_format()
        }
        yield lambda name: SheetWriter(book.add_worksheet(name), formats)
        try:
            book.close()
        except XlsxWriterException as error:
            raise next((each for each in error.args if isinstance(each, OSError)), error) from error
    finally:
        for sheet in book.worksheets():
            sheet.row_data_fh.close()
        shutil.rmtree(parts, ignore_errors=True)
