"""Files of records as their receiver or an analyst reads them: texts of a column, texts with a label each,
and a copy of the file with other texts in it.

Which mark stands between the cells of a released CSV file need not be said: it is the one by which the header
has the column. The header is public there, while that of a private file may turn out to be a record.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Unpack

from deniable.atomic import check_apart, check_new, check_place, whole_file
from deniable.compression import compress, compression_for
from deniable.errors import InvalidParameter, RecordError, UnusableAuditData
from deniable.noise.encoding import RecordId
from deniable.progress import Report
from deniable.records.formats.columns import OTHER_DELIMITERS
from deniable.records.formats.layout import Layout, ReadingOptions, Roles, make_layout
from deniable.records.formats.lines import Lines
from deniable.records.formats.naming import Naming, Place
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import Reader


def labelled_records(
    path: Path,
    *,
    label_column: str,
    text_column: str,
    decimals: bool = False,
    called: str = "label",
    **reading: Unpack[ReadingOptions],
) -> Iterator[tuple[str, str]]:
    """Yield label and text of the records of a file that has columns; what is missing is empty.

    A label is text, a whole number, or true or false; with ``decimals`` it may be any number. It is written
    out. ``called`` is what messages call it. ``reading`` is as for ``privatize_file``.

    :raises InvalidParameter: if a column is not there or cannot be what it should be.
    :raises RecordError: if the file cannot be read.
    """
    if label_column == text_column:
        raise InvalidParameter(called, label_column, "is the column of texts as well; name another one")
    layout = make_layout(path, roles=Roles(text=(text_column,)), **reading)
    if layout.format == "text":
        raise InvalidParameter(
            "format",
            layout.format,
            "has no columns; give a file that has, such as CSV, or say with --format that it is",
        )
    with open_source(path) as source:
        naming = _Labels(source.name, column=label_column)
        naming.called = called
        if decimals:
            naming.kinds, naming.kinds_in_words = (*naming.kinds, float), "text, numbers, or true and false"
        try:
            reader = open_reader(source, layout, naming)
        except InvalidParameter as error:
            if error.name != "record_id":
                raise
            raise InvalidParameter(called, label_column, error.problem) from None
        for batch in reader.batches():
            for text, label in zip(batch.texts, batch.names or (), strict=True):
                yield str(label), text or ""


class _Labels(Naming):
    """Names a record by its label: readers take the label along as they would an id, but many records may
    share one."""

    kinds: tuple[type, ...] = (str, int, bool)
    kinds_in_words = "text, whole numbers, or true and false"

    def names(self, record: int, given: object, places: Sequence[Place]) -> tuple[RecordId, ...]:  # noqa: ARG002 - as a naming has it
        label = (
            ""
            if given is None or given != given
            else str(given).lower()
            if isinstance(given, bool)
            else str(given)
        )
        return (label,) * len(places)


@dataclass(frozen=True, kw_only=True)
class LabelledTexts:
    """``labels[i]`` is the label of ``texts[i]``, or the person who wrote it.

    ``source`` names the file in messages, which never quote a text. ``left_out`` counts the records without a
    text or a label.
    """

    source: str
    labels: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)
    left_out: int = 0

    def by_label(self) -> dict[str, list[str]]:
        """Return the texts of each label, or person, in order."""
        gathered: dict[str, list[str]] = {}
        for label, text in zip(self.labels, self.texts, strict=True):
            gathered.setdefault(label, []).append(text)
        return gathered

    def take(self, places: Iterable[int]) -> LabelledTexts:
        """Return the texts at these places."""
        chosen = list(places)
        labels, texts = ([values[i] for i in chosen] for values in (self.labels, self.texts))
        return replace(self, labels=labels, texts=texts)


def read_labelled(
    path: Path,
    *,
    label_column: str,
    text_column: str,
    called: str = "person",
    **reading: Unpack[ReadingOptions],
) -> LabelledTexts:
    """Return the texts of a file with columns that hold something, each with its label; ``called`` is what
    messages call that.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no text is left.
    """
    records = list(labelled_records(path, label_column=label_column, text_column=text_column, **reading))
    places = [place for place, (label, text) in enumerate(records) if label and text.strip()]
    if not places:
        raise UnusableAuditData(
            str(path),
            f"none of its {len(records):,} records has both a {called} and a text that is not empty",
        )
    labels, texts = map(list, zip(*records, strict=True))
    left_out = len(records) - len(places)
    return LabelledTexts(source=str(path), labels=labels, texts=texts, left_out=left_out).take(places)


Change = Callable[[list[str | None]], list[str | None]]
"""Texts in, as many texts out; what is None may become a text or stay None."""


def read_texts(path: Path, *, column: str | None, **reading: Unpack[ReadingOptions]) -> Iterator[str | None]:
    """Yield the texts of a column of a file; of plain text, which has no columns, its lines.

    :raises InvalidParameter: if the column is not there.
    :raises RecordError: if the file cannot be read.
    """
    with open_source(path) as source:
        for batch in open_reader(source, _layout(path, column, reading)).batches():
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

    ``report`` receives how far the reading is, of how much.

    :raises InvalidParameter: if the column is not there, or the target's name speaks of another format.
    :raises RecordError: if the file cannot be read, or the target is there and is not to be replaced.
    """
    check_rewritten(path, target, column=column, force=force, **reading)
    records = 0
    with open_source(path) as source, whole_file(target) as file:
        reader = open_reader(source, _layout(path, column, reading))

        def pieces() -> Iterator[Any]:
            nonlocal records
            for batch in reader.batches():
                yield reader.write(batch.payloads, change(batch.texts))
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
    check_new(target, force=force)


def _layout(path: Path, column: str | None, reading: ReadingOptions) -> Layout:
    roles = Roles() if column is None else Roles(text=(column,))
    layout = make_layout(path, roles=roles, **reading)
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
            waiting: list[Any] = [reader.head()]
            for piece in pieces:
                kept.write(reader.pack([*waiting, piece]))
                waiting = []
                ends.append(kept.tell())
            if not ends:  # a file without records has its columns all the same
                ends.append(kept.write(reader.pack(waiting)))
        reader.finish(partial, ends, finished)
        with finished.open("rb") as written:
            shutil.copyfileobj(written, file)
