"""Files of released records as their receiver reads them: the texts of a column, and a copy of the file with
other texts in it.

Which mark stands between the cells of CSV need not be said: it is the one by which the header has the column.
The header is public here, while that of a private file may turn out to be a record.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Unpack

from deniable.atomic import check_apart, check_place, whole_file
from deniable.compression import compress, compression_for
from deniable.errors import InvalidParameter, RecordError
from deniable.progress import Report
from deniable.records.formats.columns import OTHER_DELIMITERS
from deniable.records.formats.layout import Layout, Roles, make_layout
from deniable.records.formats.lines import Lines
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import BatchSize, Reader
from deniable.records.labelled import ReadingOptions, labelled_records

Change = Callable[[list[str | None]], list[str | None]]
"""Texts in, as many texts out; what is None may become a text or stay None."""


def read_texts(path: Path, *, column: str | None, **reading: Unpack[ReadingOptions]) -> Iterator[str | None]:
    """Yield the texts of a column of a file; of plain text, which has no columns, its lines.

    :raises InvalidParameter: if the column is not there.
    :raises RecordError: if the file cannot be read.
    """
    with open_source(path) as source:
        for batch in open_reader(source, _layout(path, column, reading)).batches(BatchSize()):
            yield from batch.texts


def read_grouped(
    path: Path, *, column: str, by: str, **reading: Unpack[ReadingOptions]
) -> Iterator[tuple[str, str]]:
    """Yield group and text of each record of a file; a group is text or a whole number, and what is missing
    is empty.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    """
    options: ReadingOptions = {**reading, "delimiter": _layout(path, column, reading).delimiter}
    try:
        yield from labelled_records(path, label_column=by, text_column=column, called="group", **options)
    except InvalidParameter as error:
        if error.value != by:
            raise
        raise InvalidParameter("by", by, error.problem) from None


def rewrite_file(
    path: Path,
    target: Path,
    change: Change,
    *,
    column: str | None,
    force: bool = False,
    report: Report | None = None,
    **reading: Unpack[ReadingOptions],
) -> int:
    """Copy a file of records with other texts in a column, and return how many records it has; the copy
    appears whole or not at all.

    ``report`` is told how far the reading is, of how much.

    :raises InvalidParameter: if the column is not there, or the target's name speaks of another format.
    :raises RecordError: if the file cannot be read, or the target is there and is not to be replaced.
    """
    check_rewritten(path, target, column=column, force=force, **reading)
    records = 0
    with open_source(path) as source, whole_file(target) as file:
        reader = open_reader(source, _layout(path, column, reading))

        def pieces() -> Iterator[Any]:
            nonlocal records
            for batch in reader.batches(BatchSize()):
                yield batch.write(change(batch.texts))
                records += len(batch)
                if report is not None and reader.total is not None:
                    report(reader.position(), reader.total)

        if reader.is_whole:
            _write_whole(file, reader, pieces(), target)
        else:
            kind = compression_for(target)
            for piece in chain([reader.head()], pieces(), [reader.tail()]):
                if piece:
                    file.write(compress(piece, kind))
    return records


def check_rewritten(
    path: Path, target: Path, *, column: str | None, force: bool, **reading: Unpack[ReadingOptions]
) -> None:
    """Check where a copy of a file of records would go, before long work is done for it; raises what
    ``rewrite_file`` raises."""
    if path.is_dir():
        problem = "is a folder, whose files are read and not written again"
        raise RecordError(path, f"{problem}; put their texts into a CSV file first")
    check_place(target)
    check_apart(str(path), target)
    _layout(path, column, reading).check_output_name(target)
    if target.exists() and not force:
        raise RecordError(target, "exists already; replace it with force=True")


def _layout(path: Path, column: str | None, reading: ReadingOptions) -> Layout:
    layout = make_layout(
        path,
        roles=Roles() if column is None else Roles(text=(column,)),
        format=reading.get("format"),
        delimiter=reading.get("delimiter"),
        header=reading.get("header", True),
        encoding=reading.get("encoding", "utf-8"),
        sheet=reading.get("sheet"),
    )
    if layout.format not in ("csv", "tsv") or not layout.header or reading.get("delimiter") is not None:
        return layout
    with open_source(path) as source:
        first = next(iter(Lines(source, layout.encoding)), "")
    cut = (
        mark
        for mark in (layout.delimiter, *OTHER_DELIMITERS)
        if column in next(csv.reader([first], delimiter=mark), [])
    )
    return replace(layout, delimiter=next(cut, layout.delimiter))


def _write_whole(file: IO[bytes], reader: Reader, pieces: Iterator[Any], target: Path) -> None:
    """Keep the records in a folder beside the target, and put the file together from there."""
    with TemporaryDirectory(dir=target.parent, prefix=".deniable-") as folder:
        partial, finished, ends = Path(folder, "partial"), Path(folder, "finished"), list[int]()
        with partial.open("wb") as kept:
            for piece in pieces:
                kept.write(reader.pack([piece]))
                ends.append(kept.tell())
            if not ends:  # a file without records has its columns all the same
                ends.append(kept.write(reader.pack([])))
        reader.finish(partial, ends, finished)
        with finished.open("rb") as written:
            shutil.copyfileobj(written, file)
