"""Texts with a label each, from a file of records: who wrote it, or which class it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.noise.encoding import RecordId
from deniable.records.formats.layout import Roles, make_layout
from deniable.records.formats.naming import Naming, Place
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import BatchSize


class ReadingOptions(TypedDict, total=False):
    """How a file is read where its name does not say; for those who hand it on to ``labelled_records``."""

    format: str | None
    delimiter: str | None
    header: bool
    encoding: str
    sheet: str | None


def labelled_records(
    path: Path,
    *,
    label_column: str,
    text_column: str,
    decimals: bool = False,
    called: str = "label",
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
    encoding: str = "utf-8",
    sheet: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield label and text of the records of a file that has columns; what is missing is empty.

    A label is text, a whole number, or true or false; with ``decimals`` it may be any number. It is written
    out. ``called`` is what messages call it. ``format``, ``delimiter``, ``header``, ``encoding`` and
    ``sheet`` are as for ``privatize_file``.

    :raises InvalidParameter: if a column is not there or cannot be what it should be.
    :raises RecordError: if the file cannot be read.
    """
    if label_column == text_column:
        raise InvalidParameter(called, label_column, "is the column of texts as well; name another one")
    roles = Roles(text=(text_column,))
    layout = make_layout(
        path, format=format, roles=roles, delimiter=delimiter, header=header, encoding=encoding, sheet=sheet
    )
    if layout.format == "text":
        raise InvalidParameter(
            "format",
            layout.format,
            "has no columns; give a file that has, such as CSV, or say with --format that it is",
        )
    with open_source(path) as source:
        naming = (_Numbers if decimals else _Labels)(source.name, column=label_column)
        naming.called = called
        try:
            reader = open_reader(source, layout, naming)
        except InvalidParameter as error:
            if error.name != "record_id":
                raise
            raise InvalidParameter(called, label_column, error.problem) from None
        for batch in reader.batches(BatchSize()):
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


class _Numbers(_Labels):
    kinds = (str, int, bool, float)
    kinds_in_words = "text, numbers, or true and false"


@dataclass(frozen=True, kw_only=True)
class LabelledTexts:
    """``texts[i]`` was written by ``people[i]``. ``source`` names the file in messages; texts never stand in
    messages."""

    source: str
    people: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)

    def by_person(self) -> dict[str, list[str]]:
        """Return everybody's texts, in order."""
        gathered: dict[str, list[str]] = {}
        for person, text in zip(self.people, self.texts, strict=True):
            gathered.setdefault(person, []).append(text)
        return gathered

    def counts(self) -> Counter[str]:
        """Return how many texts everybody wrote."""
        return Counter(self.people)


def read_labelled(
    path: Path,
    *,
    person_column: str,
    text_column: str,
    called: str = "person",
    **reading: Unpack[ReadingOptions],
) -> LabelledTexts:
    """Return the texts of a file with columns that hold something, each with its person; ``called`` is what
    messages call that.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no text is left.
    """
    people, texts, records = [], [], 0
    for person, text in labelled_records(
        path, label_column=person_column, text_column=text_column, **reading
    ):
        records += 1
        if person and text.strip():
            people.append(person)
            texts.append(text)
    if not texts:
        raise UnusableAuditData(
            str(path), f"none of its {records:,} records has both a {called} and a text that is not empty"
        )
    return LabelledTexts(source=str(path), people=people, texts=texts)
