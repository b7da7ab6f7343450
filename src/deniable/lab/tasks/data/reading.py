"""Reading the files of data sets: every problem names the file, the line, and what to do."""

from __future__ import annotations

import csv
import io
import json
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from deniable.compression import BYTES_TO_TELL, compression_of, decompress
from deniable.errors import TaskDataError

_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, compressed or not, without their ends.

    :raises TaskDataError: if the file is missing, cut off or not UTF-8.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise TaskDataError(path, "there is no such file") from None
    with file:
        kind = compression_of(file.peek(BYTES_TO_TELL))
        text = io.TextIOWrapper(decompress(cast(BinaryIO, file), kind), encoding="utf-8", newline="\n")
        try:
            for line in text:
                yield line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise TaskDataError(path, f"it is not UTF-8 ({error.reason})") from error
        except _DAMAGE as error:
            if kind is None:
                raise
            raise TaskDataError(
                path, f"the {kind} data is cut off or damaged ({error}); fetch it again"
            ) from error


def json_lines(path: Path, *keys: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, each of which must have the keys.

    :raises TaskDataError: if the file cannot be read, a line is no JSON object, or a key is missing.
    """
    for number, line in enumerate(lines_of(path), 1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise TaskDataError(
                path, f"no JSON ({error.msg}); the file may be cut off", line=number
            ) from error
        missing = [key for key in keys if not isinstance(record, dict) or key not in record]
        if missing:
            raise TaskDataError(path, f"no {' and no '.join(missing)} in this line", line=number)
        yield record


def csv_rows(path: Path, *columns: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header, which must have the columns; fields may be as long as they
    like.

    :raises TaskDataError: if the file cannot be read, or a column or a field is missing.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.DictReader(line + "\n" for line in lines_of(path))
    absent = [column for column in columns if column not in (reader.fieldnames or [])]
    if absent:
        raise TaskDataError(
            path,
            f"no column {' and none '.join(map(repr, absent))}; it has "
            f"{', '.join(reader.fieldnames or ['none'])}",
        )
    for row in reader:
        if any(row[column] is None for column in columns):
            raise TaskDataError(
                path, "the row has too few fields; the file may be cut off", line=reader.line_num
            )
        yield row


def expect(path: Path, what: str, found: int, expected: int) -> None:
    """Check a count.

    :raises TaskDataError: if it is another one.
    """
    if found != expected:
        raise TaskDataError(
            path,
            f"it holds {found:,} {what} where {expected:,} belong: part of it is missing, or it is another "
            "data set",
        )
