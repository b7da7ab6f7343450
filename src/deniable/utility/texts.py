"""The user's own texts with their classes, checked before any work is done. Messages never show a label or a
text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.errors import TaskDataError
from deniable.parameters import validated_count
from deniable.records.labelled import ReadingOptions, labelled_records

FEWEST_TEXTS, FEWEST_OF_A_CLASS = 20, 4


@dataclass(frozen=True, kw_only=True)
class ClassifiedTexts:
    """Texts, and for each the number of its class. ``left_out`` counts the records without a text or a
    label."""

    source: str
    texts: list[str] = field(repr=False)
    labels: Ids = field(repr=False)
    left_out: int

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1


def read_classified(
    path: Path,
    *,
    text_column: str,
    label_column: str,
    most: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> ClassifiedTexts:
    """Return the texts of a file; at most ``most`` of them, drawn at random.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises TaskDataError: if nothing can be learnt from it: too few texts, one class, or classes with hardly
        a text.
    """
    records = list(labelled_records(path, label_column=label_column, text_column=text_column, **reading))
    usable = [(label, text) for label, text in records if label.strip() and text.strip()]
    left_out = len(records) - len(usable)
    if not any(label.strip() for label, _ in records):
        raise TaskDataError(path, f"none of its {len(records):,} records has a label in {label_column!r}")
    if not usable:
        raise TaskDataError(
            path, f"none of its {len(records):,} records has both a label and a text that is not empty"
        )
    if most is not None and validated_count(most, "texts") < len(usable):
        places = np.sort(np.random.default_rng(0).choice(len(usable), most, replace=False))
        usable = [usable[place] for place in places]
    _check(path, Counter(label for label, _ in usable), left_out)
    numbers = {label: number for number, label in enumerate(sorted({label for label, _ in usable}))}
    labels = np.array([numbers[label] for label, _ in usable], dtype=np.int64)
    return ClassifiedTexts(
        source=str(path), texts=[text for _, text in usable], labels=labels, left_out=left_out
    )


def _check(path: Path, counts: Counter[str], left_out: int) -> None:
    total = counts.total()
    besides = f" ({left_out:,} records without a text or a label were left out)" if left_out else ""
    if total < FEWEST_TEXTS:
        raise TaskDataError(
            path,
            f"has {total} texts to learn from{besides}; {FEWEST_TEXTS} are the least, and a few hundred say "
            "something",
        )
    if len(counts) == 1:
        raise TaskDataError(
            path, f"all {total:,} texts have the same label{besides}; a classifier needs two classes or more"
        )
    rare = sum(count < FEWEST_OF_A_CLASS for count in counts.values())
    if rare:
        raise TaskDataError(
            path,
            f"{rare:,} of its {len(counts):,} labels stand with fewer than {FEWEST_OF_A_CLASS} of the "
            f"{total:,} texts; leave those texts "
            "out or join the labels, and check that the column holds classes",
        )
