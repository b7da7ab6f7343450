"""Counts of what went through, kept while a job runs; they add up across batches, workers and resumed jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Tally:
    """How many records, words and unknown words were seen, and how long the records were."""

    records: int = 0
    missing: int = 0
    words: int = 0
    unknown_words: int = 0
    protected_words: int = 0
    lengths: Counter[int] = field(default_factory=Counter)

    def count(self, *, words: int, unknown: int, spent: int, protected: int = 0) -> None:
        """Add one text: its words, the unknown ones among them, and the words that were drawn with noise."""
        self.records += 1
        self.words += words
        self.unknown_words += unknown
        self.protected_words += protected
        self.lengths[spent] += 1

    def count_missing(self) -> None:
        """Add one missing text."""
        self.records += 1
        self.missing += 1

    def add(self, other: Tally) -> None:
        """Add the counts of another tally to this one."""
        self.records += other.records
        self.missing += other.missing
        self.words += other.words
        self.unknown_words += other.unknown_words
        self.protected_words += other.protected_words
        self.lengths.update(other.lengths)

    def clear(self) -> None:
        """Start again from zero."""
        self.records = self.missing = self.words = self.unknown_words = self.protected_words = 0
        self.lengths.clear()

    @property
    def longest(self) -> int:
        """The most words drawn for one record."""
        return max(self.lengths, default=0)

    @property
    def shortest(self) -> int:
        """The fewest words drawn for one record that has any; 0 if none has."""
        return min((length for length in self.lengths if length), default=0)

    @property
    def median(self) -> int:
        """The lower median of the words drawn per record."""
        middle = (sum(self.lengths.values()) + 1) // 2
        seen = 0
        for length, count in sorted(self.lengths.items()):
            seen += count
            if seen >= middle:
                return length
        return 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data."""
        return {
            "records": self.records,
            "missing": self.missing,
            "words": self.words,
            "unknown_words": self.unknown_words,
            "protected_words": self.protected_words,
            "lengths": {str(length): count for length, count in sorted(self.lengths.items())},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Return the tally that ``to_dict`` wrote."""
        return cls(
            records=int(data["records"]),
            missing=int(data["missing"]),
            words=int(data["words"]),
            unknown_words=int(data["unknown_words"]),
            protected_words=int(data.get("protected_words", 0)),
            lengths=Counter({int(length): int(count) for length, count in data["lengths"].items()}),
        )
