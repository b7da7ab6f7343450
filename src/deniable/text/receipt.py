"""The receipt of a run: what was promised, what is public, what was spent; no more than is proven.

``ReleaseSettings`` say how text is released, before any text is read. A ``Tally`` counts what went through. A ``Receipt`` is both
together, with what a stored calibration says of the words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from deniable.interfaces import NOTHING_EXPOSED, RATE_PER_DISTANCE, Mechanism
from deniable.text.note import Quote, quote_calibration
from deniable.text.policies import TextPolicy
from deniable.version import __version__

CAVEATS = (
    "The paper claims 'one user, one word'. A record of many words spends ε per word; the budget lines say how much.",
    "The counts, the budget lines and the largest ε of a word come from the private text (its unknown words, its longest and shortest "
    "records) and are not covered by the guarantee: keep this receipt with the data holder.",
)


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
        return {**vars(self), "lengths": {str(length): count for length, count in sorted(self.lengths.items())}}

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


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What a run promised and spent. ``to_dict`` is the JSON that is written beside an output.

    No word got more than ``word_epsilon``, and no record more than ``record_epsilon`` if there is one.
    """

    mechanism: str
    guarantee: Mapping[str, Any]
    embedding: Mapping[str, Any]
    policy: Mapping[str, Any]
    public: tuple[str, ...]
    relaxations: tuple[str, ...]
    randomness: Mapping[str, Any]
    record_epsilon: float | None
    word_epsilon: float
    tally: Tally
    created: str
    caveat: str = RATE_PER_DISTANCE
    calibration: Quote | None = None

    @property
    def ceiling(self) -> float | None:
        """The most that a word may get; None if a budget per record alone limits it."""
        return _ceiling(self.word_epsilon, self.record_epsilon)

    @property
    def budget(self) -> dict[str, dict[str, float]]:
        """The words and the summed ε of the longest and of the median record."""
        budget = {}
        for which, words in (("longest_record", self.tally.longest), ("median_record", self.tally.median)):
            spent = self.word_epsilon * words
            budget[which] = {"words": words, "epsilon": spent if self.record_epsilon is None else min(self.record_epsilon, spent)}
        return budget

    @property
    def largest_epsilon_of_a_word(self) -> float:
        """The most that a word really got: with a budget per record, a word of the shortest one. 0 if no word was drawn."""
        if not self.tally.shortest:
            return 0.0
        return self.word_epsilon if self.record_epsilon is None else min(self.word_epsilon, self.record_epsilon / self.tally.shortest)

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready data."""
        tally = self.tally
        return {
            "deniable": __version__,
            "created": self.created,
            "mechanism": self.mechanism,
            "guarantee": dict(self.guarantee),
            "epsilon_per_word": self.ceiling,
            "epsilon_per_record": self.record_epsilon,
            "largest_epsilon_of_a_word": self.largest_epsilon_of_a_word,
            "embedding": dict(self.embedding),
            "policy": dict(self.policy),
            "public": list(self.public),
            "relaxations": list(self.relaxations),
            "randomness": dict(self.randomness),
            "counts": {
                "records": tally.records,
                "missing_records": tally.missing,
                "words": tally.words,
                "unknown_words": tally.unknown_words,
                "protected_words": tally.protected_words,
            },
            "budget": self.budget,
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "caveats": [self.caveat, *CAVEATS],
        }

    def with_tally(self, tally: Tally) -> Receipt:
        """Return the receipt that makes the same promises for other counts, as of now."""
        return replace(self, tally=tally, created=_now())

    def to_json(self) -> str:
        """Return the receipt as indented JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def summary(self) -> str:
        """Return a few lines for the terminal."""
        tally = self.tally
        share = f" ({100 * tally.unknown_words / tally.words:.1f} % unknown to the embedding)" if tally.words else ""
        budget = self.budget
        lines = [
            f"{tally.records:,} records, {tally.words:,} words{share}",
            f"{self._spending()}, {self.mechanism} on {self.embedding['name']} ({self.embedding['fingerprint'][:12]})",
            "budget: median record Σε = {:g}, longest record Σε = {:g}".format(
                budget["median_record"]["epsilon"], budget["longest_record"]["epsilon"]
            ),
            f"public: {'; '.join(self.public)}",
        ]
        if (exposed := self.guarantee["exposed"]) != NOTHING_EXPOSED:
            lines.append(f"exposed: {exposed}")
        if self.calibration is not None:
            stays = self.calibration.unchanged
            lines.append(
                f"calibration: words stay themselves with N_w = {stays.median:.3f} (median), {stays.most:.3f} (95 %), "
                f"{stays.worst:.3f} (worst of {self.calibration.words:,} words)"
            )
        if protected := self.embedding["protected_words"]:
            lines.append(
                f"protected: {protected:,} exposed words of the embedding go in as others ({tally.protected_words:,} in this text)"
            )
        lines += [f"relaxed: {relaxation}" for relaxation in self.relaxations]
        if self.randomness["source"] == "keyed":
            lines.append(f"keyed ({self.randomness['key']}): {self.randomness['repeated']}")
        if "insecure_seed" in self.randomness:
            lines.append("INSECURE: the noise came from a seed; whoever knows it can undo the noise")
        return "\n".join(lines)

    def _spending(self) -> str:
        if self.record_epsilon is None:
            return f"ε = {self.word_epsilon:g} per word"
        most = "" if self.ceiling is None else f" and at most {self.ceiling:g} per word"
        return f"ε = {self.record_epsilon:g} per record{most}: a word of the shortest record got {self.largest_epsilon_of_a_word:g}"


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings:
    """How text is released: what receipts promise, jobs are recognised by and warnings are made from. Nothing private, nothing spent.

    ``randomness`` is what the source of noise says of itself. ``word_epsilon`` is the most that a word gets, ``record_epsilon`` the most
    that a record gets, if there is such a limit.
    """

    mechanism: Mechanism = field(repr=False)
    policy: TextPolicy
    record_epsilon: float | None
    randomness: Mapping[str, Any]

    @property
    def mechanism_name(self) -> str:
        """The name of the mechanism's class."""
        return type(self.mechanism).__name__

    @property
    def word_epsilon(self) -> float:
        """The most that a word gets."""
        return self.mechanism.guarantee.epsilon

    @property
    def ceiling(self) -> float | None:
        """The most that a word may get; None if a budget per record alone limits it."""
        return _ceiling(self.word_epsilon, self.record_epsilon)

    @property
    def seeded(self) -> bool:
        """Whether the noise comes from a seed: who knows it can undo the noise, and two processes would draw the same."""
        return "insecure_seed" in self.randomness

    @property
    def relaxations(self) -> list[str]:
        """What is disclosed beyond the guarantee; empty for the default."""
        found = self.policy.relaxations
        if self.seeded:
            found.append("insecure_seed: whoever knows the seed can undo the noise")
        if self.randomness.get("consistent"):
            found.append("consistent: which words of a user are equal is released exactly, and so how often each occurs")
        return found

    @property
    def guarantee(self) -> dict[str, Any]:
        """What is promised as data, worded for what is really done."""
        promised, protected = self.mechanism.guarantee, len(self.mechanism.embedding.protected)
        statement = promised.statement
        if protected:
            statement += (
                f" {protected:,} exposed words go in as other words by a public map π of the embedding: π(w) stands in place of w in all "
                "that is said here, so distances are d(π(w), π(w'))."
            )
        if self.relaxations:
            statement = "Between texts that agree in everything listed under relaxations: " + statement
        if self.record_epsilon is not None:
            share = f"{self.record_epsilon:g} divided by the number of words drawn for the record"
            statement += f" Here ε is {share if self.ceiling is None else f'the smaller of {self.ceiling:g} and {share}'}."
        return {
            "notion": promised.notion,
            "metric": promised.metric,
            "epsilon": promised.epsilon if self.record_epsilon is None else None,
            "statement": statement,
            "parameters": dict(promised.parameters),
            "exposed": promised.exposed,
        }

    @property
    def embedding(self) -> dict[str, Any]:
        """Which embedding it is, as data."""
        embedding = self.mechanism.embedding
        return {
            "name": embedding.name,
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "words_that_share_a_vector_and_are_never_released": len(embedding.shadowed),
            "protected_words": len(embedding.protected),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-ready data, under the names that receipts have for them."""
        policy = self.policy
        return {
            "mechanism": self.mechanism_name,
            "guarantee": self.guarantee,
            "epsilon_per_word": self.ceiling,
            "epsilon_per_record": self.record_epsilon,
            "embedding": self.embedding,
            "policy": {
                "unknown": policy.unknown,
                "punctuation": policy.punctuation,
                "case": policy.case,
                "keep_words": len(policy.keep_words),
            },
            "randomness": dict(self.randomness),
        }

    def receipt(self, tally: Tally) -> Receipt:
        """Return the receipt for what the tally counted, with what the calibration on disk says of the words at this ε.

        :raises DamagedCalibration: if that calibration cannot be read.
        """
        described, promised = self.to_dict(), self.mechanism.guarantee
        return Receipt(
            mechanism=self.mechanism_name,
            guarantee=described["guarantee"],
            embedding=described["embedding"],
            policy=described["policy"],
            public=tuple(self.policy.public),
            relaxations=tuple(self.relaxations),
            randomness=self.randomness,
            record_epsilon=self.record_epsilon,
            word_epsilon=promised.epsilon,
            tally=tally,
            created=_now(),
            caveat=promised.caveat,
            calibration=quote_calibration(self.mechanism) if self.record_epsilon is None else None,
        )


def _ceiling(word_epsilon: float, record_epsilon: float | None) -> float | None:
    """Return ε per word where it is a limit beside the budget: not if even a record of one word does not reach it."""
    return None if record_epsilon is not None and record_epsilon <= word_epsilon else word_epsilon


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
