"""Public texts with labels: what a space may be shaped by. Never private ones, since the vectors show what
they were shaped by."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, Unpack

from deniable.embeddings.linear_map import MOST_CLASSES, LabelKind
from deniable.errors import InvalidParameter, RecordError, TaskDataError
from deniable.records.formats.layout import ReadingOptions
from deniable.records.reading import labelled_records

FEWEST_TEXTS, FEWEST_OF_A_CLASS = 20, 4

_CLASSES_AT_MOST = 20
"""Whole numbers of at most this many kinds are taken for classes, such as 0 and 1, or 1 to 5 stars."""


@dataclass(frozen=True, kw_only=True)
class PublicTexts:
    """Public texts, each with a label: a class, or a number that is written out, as ``kind`` says.

    ``source`` names them in messages, and ``column`` the labels, where they are of a file. ``sha256`` is the
    digest of the file, or of labels and texts where there is no file. ``left_out`` counts the records without
    a text or a label. If these are a part of the texts of that file, they were drawn from ``drawn_from``
    texts with ``seed``.
    """

    source: str
    column: str | None = None
    labels: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)
    kind: LabelKind
    sha256: str
    left_out: int = 0
    drawn_from: int | None = None
    seed: int | None = None

    @classmethod
    def of(
        cls,
        labels: Sequence[str | float],
        texts: Sequence[str],
        *,
        kind: LabelKind | Literal["auto"] = "auto",
        source: str = "public texts",
    ) -> Self:
        """Return labels and texts that are in memory, checked.

        :raises TaskDataError: if nothing can be learnt from them, as ``read_public`` says.
        :raises InvalidParameter: if there are not as many labels as texts, or there is no such kind.
        """
        if len(labels) != len(texts):
            raise InvalidParameter("labels", len(labels), f"must be as many as the texts, {len(texts):,}")
        shown = ["" if label is None else str(label) for label in labels]
        records = list(zip(shown, (text or "" for text in texts), strict=True))
        digest = hashlib.sha256()
        for each in (part for record in records for part in record):
            encoded = each.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return cls._checked(records, kind, source, digest.hexdigest(), what="records")

    @classmethod
    def _checked(
        cls,
        records: list[tuple[str, str]],
        kind: str,
        source: str,
        digest: str,
        *,
        what: str,
        column: str | None = None,
    ) -> Self:
        if not records:
            raise TaskDataError(source, "holds no record")
        given = zip(without_gaps([label for label, _ in records]), (text for _, text in records), strict=True)
        labelled = [(label, text) for label, text in given if label]
        usable = [(label, text) for label, text in labelled if text.strip()]
        if not usable:
            lacks = "both a label and a text that is not empty" if labelled else "a label"
            raise TaskDataError(source, f"none of its {len(records):,} {what} has {lacks}")
        labels, texts = [label for label, _ in usable], [text for _, text in usable]
        chosen = _kind_of(labels, kind, source)
        public = cls(source=source, column=column, labels=labels, texts=texts, kind=chosen, sha256=digest)
        check_learnable(public)
        return replace(public, left_out=len(records) - len(usable))


def read_public(
    path: str | Path,
    *,
    text_column: str,
    label_column: str,
    kind: LabelKind | Literal["auto"] = "auto",
    **reading: Unpack[ReadingOptions],
) -> PublicTexts:
    """Return the texts of a public CSV, TSV, JSON Lines or Parquet file with the labels of a column.

    Labels are classes, or numbers if all of them are and there are more than 20 different ones or one is no
    whole number; ``kind`` says it otherwise.

    :raises InvalidParameter: if a column is not there, or there is no such kind.
    :raises RecordError: if the file cannot be read, or is a pipe.
    :raises TaskDataError: if nothing can be learnt from it: too few texts, one class or number only, or
        classes with hardly a text.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        problem = "is read more than once, which a pipe cannot be: save the texts to a file first"
        raise RecordError(path, problem)
    records = list(
        labelled_records(path, label_column=label_column, text_column=text_column, decimals=True, **reading)
    )
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return PublicTexts._checked(
        records, kind, path.name, digest, what=f"records, in {label_column!r},", column=label_column
    )


def check_learnable(texts: PublicTexts) -> None:
    """Check that directions can be learnt from these texts.

    :raises TaskDataError: if there are too few, all have one label, or classes have hardly a text.
    """
    counts, total, problem = Counter(texts.labels), len(texts.labels), None
    rare = sum(count < FEWEST_OF_A_CLASS for count in counts.values())
    if total < FEWEST_TEXTS:
        least = f"{FEWEST_TEXTS} are the least, and some hundreds are needed to say something"
        problem = f"has {total} texts with a label; {least}"
    elif len(set(map(float, counts)) if texts.kind == "numbers" else counts) == 1:
        problem = f"all {total:,} texts have the same label; there is nothing to tell apart"
    elif texts.kind == "classes" and len(counts) > MOST_CLASSES:
        most = f"at most {MOST_CLASSES} classes can be a purpose. Are they classes?"
        problem = f"has {len(counts):,} different labels; {most}"
    elif texts.kind == "classes" and rare:
        few = f"have fewer than {FEWEST_OF_A_CLASS} of the {total:,} texts"
        advice = "leave those texts out or join the labels, and check that the column holds classes"
        problem = f"{rare:,} of its {len(counts):,} labels {few}; {advice}"
    if problem is not None:
        raise TaskDataError(texts.source, problem)


def _kind_of(labels: list[str], asked: str, source: str) -> LabelKind:
    if asked not in ("auto", "classes", "numbers"):
        raise InvalidParameter("kind", asked, "must be classes, numbers or auto")
    if asked == "classes":
        return "classes"
    numbers = [number_of(label) for label in labels]
    if None in numbers:
        if asked == "numbers":
            problem = f"{numbers.count(None):,} of its {len(labels):,} labels are no finite numbers"
            raise TaskDataError(source, problem)
        return "classes"
    return "numbers" if asked == "numbers" or are_numbers(labels) else "classes"


def without_gaps(labels: Sequence[str]) -> list[str]:
    """Return labels without blanks around them, and "" where there is none: programs write a number that is
    missing as nan."""
    stripped = [label.strip() for label in labels]
    beside_numbers = any(number_of(label) is not None for label in stripped)
    return ["" if beside_numbers and label.casefold() == "nan" else label for label in stripped]


def are_numbers(labels: Sequence[str]) -> bool:
    """Return whether labels, where there are any, are numbers, and not whole ones of a few kinds, which are
    taken for classes."""
    numbers = {number_of(label) for label in without_gaps(labels) if label}
    return None not in numbers and (
        len(numbers) > _CLASSES_AT_MOST or not all(float(number or 0.0).is_integer() for number in numbers)
    )


def number_of(label: str) -> float | None:
    """Return the finite number that a label is; None if it is none."""
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
