"""Texts with the person who wrote each, from a file of records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from deniable.errors import UnusableAuditData
from deniable.records.batch import BatchSize
from deniable.records.files import open_source
from deniable.records.layout import make_layout
from deniable.records.opening import open_reader


@dataclass(frozen=True, kw_only=True)
class LabelledTexts:
    """``texts[i]`` was written by ``people[i]``. ``source`` names the file in messages; texts never stand in messages."""

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


def read_labelled(path: Path, *, person_column: str, text_column: str, format: str | None = None) -> LabelledTexts:  # noqa: A002
    """Return the texts of a CSV, TSV, JSON Lines or Parquet file that hold something, each with its person.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no text is left.
    """
    layout = make_layout(path, format=format, columns=(person_column, text_column), delimiter=None, header=True, encoding="utf-8")
    people, texts, records = [], [], 0
    with open_source(path) as source:
        for batch in open_reader(source, layout).batches(BatchSize()):
            cells = iter(batch.texts)
            for count in batch.counts:
                row = [next(cells) for _ in range(count)]
                records += 1
                if len(row) == 2 and row[0] and row[1] and row[1].strip():
                    people.append(row[0])
                    texts.append(row[1])
    if not texts:
        raise UnusableAuditData(str(path), f"none of its {records:,} records has both a person and a text that is not empty")
    return LabelledTexts(source=str(path), people=people, texts=texts)
