"""Texts with the person who wrote each, from a file of records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from deniable.errors import UnusableAuditData
from deniable.records.labelled import Reading, labelled_records


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


def read_labelled(path: Path, *, person_column: str, text_column: str, **reading: Unpack[Reading]) -> LabelledTexts:
    """Return the texts of a CSV, TSV, JSON Lines or Parquet file that hold something, each with its person.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no text is left.
    """
    people, texts, records = [], [], 0
    for person, text in labelled_records(path, label_column=person_column, text_column=text_column, **reading):
        records += 1
        if person and text.strip():
            people.append(person)
            texts.append(text)
    if not texts:
        raise UnusableAuditData(str(path), f"none of its {records:,} records has both a person and a text that is not empty")
    return LabelledTexts(source=str(path), people=people, texts=texts)
