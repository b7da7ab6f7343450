"""A task after reading: texts with classes to tell, or questions with pools of answers to rank; and how the
files of data sets are read, every problem naming the file and the line."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deniable.errors import RecordError, TaskDataError
from deniable.words.public_text import read_lines


@dataclass(frozen=True, kw_only=True)
class Part:
    """The texts of one part of a task, with the class of each, or with the answers to each.

    ``labels`` are numbers of classes. ``answers`` are the right answers to a question, and ``pools``, by
    their size, the answers to find them among; answers are places in ``Task.answers``.
    """

    texts: list[str] = field(repr=False)
    labels: list[int] = field(default_factory=list, repr=False)
    answers: list[list[int]] = field(default_factory=list, repr=False)
    pools: dict[int, list[list[int]]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    def take(self, places: Sequence[int]) -> Part:
        """Return the texts at these places."""
        return Part(
            texts=[self.texts[i] for i in places],
            labels=[self.labels[i] for i in places] if self.labels else [],
            answers=[self.answers[i] for i in places] if self.answers else [],
            pools={size: [rows[i] for i in places] for size, rows in self.pools.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task: each text gets one of a few ``classes``, or the right ``answers`` to it are found in a pool.

    The answers are public: they are never perturbed.
    """

    name: str
    train: Part
    validation: Part
    test: Part
    classes: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list, repr=False)

    @property
    def parts(self) -> dict[str, Part]:
        """The parts by name."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    @property
    def majority(self) -> float:
        """The accuracy of always naming the class that is most frequent in training."""
        counts = [self.train.labels.count(label) for label in range(len(self.classes))]
        return self.test.labels.count(counts.index(max(counts))) / len(self.test)

    @property
    def digest(self) -> str:
        """A digest of all texts, labels, answers and pools: results of different data are never mixed."""
        digest = hashlib.blake2b(digest_size=16, person=b"deniable-task-1")
        for part in self.parts.values():
            digest.update(f"{len(part)}\n".encode())
            digest.update("\0".join(part.texts).encode("utf-8", "surrogatepass"))
            digest.update(repr((part.answers, part.pools) if self.answers else part.labels).encode())
        if self.answers:
            digest.update("\0".join(self.answers).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def take(self, most: int) -> Task:
        """Return the task with at most ``most`` texts in each part, spread evenly over it."""
        parts = {
            name: part.take(range(0, len(part), -(-len(part) // most))) for name, part in self.parts.items()
        }
        return replace(self, **parts)  # type: ignore[arg-type]  # the names are those of parts


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, compressed or not, without their ends.

    :raises TaskDataError: if the file is missing, cut off or not UTF-8.
    """
    try:
        for line in read_lines(path):
            yield line.rstrip("\r")
    except RecordError as error:
        raise TaskDataError(path, error.problem, line=error.line) from error


def json_lines(path: Path, *keys: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, each of which must have the keys.

    :raises TaskDataError: if the file cannot be read, a line is no JSON object, or a key is missing.
    """
    for number, line in enumerate(lines_of(path), 1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            problem = f"no JSON ({error.msg}); the file may be cut off"
            raise TaskDataError(path, problem, line=number) from error
        missing = [key for key in keys if not isinstance(record, dict) or key not in record]
        if missing:
            raise TaskDataError(path, f"no {' and no '.join(missing)} in this line", line=number)
        yield record


def train_and_test(
    path: Path, label: str, labels: Sequence[object] = ()
) -> tuple[list[tuple[Any, str]], list[tuple[Any, str]]]:
    """Return the pairs (label, text) to train on and to test on of a JSON Lines file with split, label and
    text.

    :raises TaskDataError: if the file cannot be read, or a split or a label is not known.
    """
    parts: dict[str, list[tuple[Any, str]]] = {"train": [], "test": []}
    for number, record in enumerate(json_lines(path, "split", label, "text"), 1):
        if record["split"] not in parts or (labels and record[label] not in labels):
            problem = f"a split {record['split']!r} with {label} {record[label]!r}; splits are train and test"
            raise TaskDataError(path, problem, line=number)
        parts[record["split"]].append((record[label], record["text"]))
    return parts["train"], parts["test"]


def csv_rows(path: Path, *columns: str) -> Iterator[tuple[str, ...]]:
    """Yield the fields in some columns of a CSV file with a header; fields may have any length.

    :raises TaskDataError: if the file cannot be read, or a column or a field is missing.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.DictReader(line + "\n" for line in lines_of(path))
    for column in columns:
        if column not in (reader.fieldnames or ()):
            problem = f"no column {column!r}; it has {', '.join(reader.fieldnames or ['none'])}"
            raise TaskDataError(path, problem)
    for row in reader:
        fields = tuple(row[column] for column in columns)
        if None in fields:
            problem = "the row has too few fields; the file may be cut off"
            raise TaskDataError(path, problem, line=reader.line_num)
        yield fields


def only_file(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder with such a name.

    :raises TaskDataError: if there is none, or more than one.
    """
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise TaskDataError(folder, f"holds neither the published folders nor one file {pattern}")
    return found[0]


def expect(path: Path, what: str, found: int, expected: int) -> None:
    """Check a count.

    :raises TaskDataError: if it is another one.
    """
    if found != expected:
        problem = f"it holds {found:,} {what}, not {expected:,}: a part is missing, or it is other data"
        raise TaskDataError(path, problem)
