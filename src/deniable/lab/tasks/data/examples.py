"""Data sets of the tasks after reading: texts with labels, and questions with pools of answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Texts, and for each the number of its class."""

    texts: list[str] = field(repr=False)
    labels: list[int] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    def take(self, places: Sequence[int]) -> Labelled:
        """Return the texts at these places."""
        return Labelled(texts=[self.texts[i] for i in places], labels=[self.labels[i] for i in places])


@dataclass(frozen=True, kw_only=True)
class Classification:
    """A task in which a text gets one of a few classes."""

    name: str
    classes: list[str]
    train: Labelled
    validation: Labelled
    test: Labelled

    @property
    def majority(self) -> float:
        """The accuracy of always naming the class that is most frequent in training."""
        counts = [self.train.labels.count(label) for label in range(len(self.classes))]
        return self.test.labels.count(counts.index(max(counts))) / len(self.test)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Questions, the answers that are right, and pools to find them in by size; answers are places in a
    list."""

    texts: list[str] = field(repr=False)
    answers: list[list[int]] = field(repr=False)
    pools: dict[int, list[list[int]]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.texts)


@dataclass(frozen=True, kw_only=True)
class AnswerSelection:
    """A task in which the right answers to a question are to be found in a pool. The answers are public."""

    name: str
    answers: list[str] = field(repr=False)
    train: Questions
    validation: Questions
    test: Questions


Task = Classification | AnswerSelection


def take_texts(task: Task, most: int) -> Task:
    """Return the task with at most ``most`` texts in each part, spread evenly over it: for a quick look."""
    parts: dict[str, Any] = {}
    for split in ("train", "validation", "test"):
        part = getattr(task, split)
        places = range(0, len(part), -(-len(part) // most))
        if isinstance(part, Labelled):
            parts[split] = part.take(places)
        else:
            pools = {size: [rows[i] for i in places] for size, rows in part.pools.items()}
            parts[split] = Questions(
                texts=[part.texts[i] for i in places], answers=[part.answers[i] for i in places], pools=pools
            )
    return replace(task, **parts)


def fingerprint(task: Task) -> str:
    """Return a digest of all texts, labels, answers and pools: results of different data are never mixed."""
    digest = hashlib.blake2b(digest_size=16, person=b"deniable-task-1")
    for part in (task.train, task.validation, task.test):
        digest.update(f"{len(part)}\n".encode())
        digest.update("\0".join(part.texts).encode("utf-8", "surrogatepass"))
        digest.update(
            repr(part.labels if isinstance(part, Labelled) else (part.answers, part.pools)).encode()
        )
    if isinstance(task, AnswerSelection):
        digest.update("\0".join(task.answers).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
