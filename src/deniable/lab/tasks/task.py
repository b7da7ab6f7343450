"""A task after reading: texts with classes to tell, or questions with pools of answers to rank."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace


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
