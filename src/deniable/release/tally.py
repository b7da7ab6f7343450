"""Counts what went through: texts, words, and how many words were drawn for each text, each row and each
user.

A text is a cell. A row is all texts of one record, whatever columns they stand in: what is spent on
somebody's row adds up over them. Who calls ``Privatizer.many`` without ``rows`` does not say which texts
belong together, and then no row is counted. Users are counted where ids name them (``Keyed(…,
consistent=True)``), or ``people`` do without a key.

Users are counted in bounded memory: exactly, up to ``MOST_USERS`` of them. Beyond, the smallest counts make
room for new ones, and what was taken off is added to all (Misra and Gries, 1982), so that the largest count
is never too small: too large by at most the number of all words divided by ``MOST_USERS``. A user goes by 64
bits of BLAKE2b of the id; should two share them, their counts are added, which is again more and not less. An
interrupted job keeps these in its journal, beside the released records, which hold the ids themselves.

``Repeats`` recognises texts that one ``Privatizer`` releases again: each release of a text with fresh noise
spends its budget once more. A text is recognised by 64 bits of BLAKE2b under a random key that never leaves
the process, so what is kept says nothing to anybody without that key. The last ``MOST_TEXTS`` texts are kept;
one that was forgotten counts as new. Equal texts of one call are different records, so the second copy is
compared with the second copies of earlier calls.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

MOST_USERS = MOST_TEXTS = 65_536

_NUMBERS = ("records", "missing", "words", "unknown_words", "protected_words", "rows", "row_texts")
_FIRST_NUMBERS = 4
"""How many of them every version has written."""

_COUNTERS = ("lengths", "row_lengths", "repeats")

Key = tuple[bytes, int]

Measure = TypeVar("Measure", int, tuple[float, int])


@dataclass(kw_only=True)
class UserCounts:
    """How many words were drawn for each user in ``texts`` texts; no user has more than ``counts`` and
    ``uncertain`` say together."""

    counts: Counter[str] = field(default_factory=Counter, repr=False)
    uncertain: int = 0
    texts: int = 0

    def count(self, user: bytes, words: int) -> None:
        """Add the words of one text of a user, who is given as an encoded id."""
        self.counts[hashlib.blake2b(user, digest_size=8).hexdigest()] += words
        self.texts += 1
        self._make_room()

    def add(self, other: UserCounts) -> None:
        """Add the counts of others, or of the same users elsewhere."""
        self.counts.update(other.counts)
        self.uncertain += other.uncertain
        self.texts += other.texts
        self._make_room()

    @property
    def largest(self) -> int:
        """The most words drawn for one user, or a number above it if it is not ``exact``."""
        return max(self.counts.values(), default=0) + self.uncertain

    @property
    def median(self) -> int:
        """The words drawn for the median user, where all are ``exact``."""
        return lower_median(Counter(self.counts.values()), 0)

    @property
    def exact(self) -> bool:
        """Whether there never were more users than can be distinguished."""
        return self.uncertain == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data."""
        return {"counts": dict(self.counts), "uncertain": self.uncertain, "texts": self.texts}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return what ``to_dict`` wrote."""
        counts = Counter({user: int(words) for user, words in data["counts"].items()})
        return cls(counts=counts, uncertain=int(data["uncertain"]), texts=int(data["texts"]))

    def _make_room(self) -> None:
        if len(self.counts) <= 2 * MOST_USERS:  # seldom, since it takes a pass over all
            return
        taken_off = sorted(self.counts.values(), reverse=True)[MOST_USERS]
        self.counts = Counter(
            {user: words - taken_off for user, words in self.counts.items() if words > taken_off}
        )
        self.uncertain += taken_off


@dataclass(kw_only=True)
class Tally:
    """How many texts (``records``), words and unknown words were seen, and how many words were drawn for each
    text, row and user.

    ``rows`` counts the rows of ``row_texts`` texts; where that is not all texts, rows are not known.
    ``repeats`` counts the texts that were released more than once: by how many words were drawn each time,
    and how many times (see ``Repeats``).
    """

    records: int = 0
    missing: int = 0
    words: int = 0
    unknown_words: int = 0
    protected_words: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    rows: int = 0
    row_texts: int = 0
    row_lengths: Counter[int] = field(default_factory=Counter)
    users: UserCounts = field(default_factory=UserCounts)
    repeats: Counter[tuple[int, int]] = field(default_factory=Counter)
    _coming: Iterator[int] | None = field(default=None, repr=False, compare=False)
    _row: list[int | None] = field(default_factory=list, repr=False, compare=False)
    _row_length: int = field(default=0, repr=False, compare=False)

    def count(
        self, *, words: int, unknown: int, spent: int, protected: int = 0, user: bytes | None = None
    ) -> None:
        """Add one text: its words, the unknown ones among them, the words that were drawn, and whose it
        is."""
        self.records += 1
        self.words += words
        self.unknown_words += unknown
        self.protected_words += protected
        self.lengths[spent] += 1
        if user is not None:
            self.users.count(user, spent)
        self._place(spent)

    def count_missing(self) -> None:
        """Add one missing text."""
        self.records += 1
        self.missing += 1
        self._place(None)

    def count_again(self, words: int, times: int) -> None:
        """Note that a text of that many words, counted before, was released now for that time, from 2."""
        if times > 2:
            self.repeats[words, times - 1] -= 1
            if not self.repeats[words, times - 1]:
                del self.repeats[words, times - 1]
        self.repeats[words, times] += 1

    def place_in_rows(self, rows: Iterable[int] | None) -> None:
        """Let the texts counted from now on belong to rows, given how many texts each has; None if it is not
        known."""
        self._coming = None if rows is None else iter(rows)

    def _place(self, spent: int | None) -> None:
        """Put the next text into its row; ``spent`` is None for a missing one."""
        if self._coming is None:
            return
        while not self._row_length:
            self._row_length = next(self._coming)
        self._row.append(spent)
        if len(self._row) < self._row_length:
            return
        self.rows += 1
        self.row_texts += len(self._row)
        if there := [words for words in self._row if words is not None]:
            self.row_lengths[sum(there)] += 1
        self._row, self._row_length = [], 0

    def every_text_is_a_row(self) -> Tally:
        """Return these counts as those of rows of one text each."""
        known = Tally.from_dict(self.to_dict())
        known.rows, known.row_texts, known.row_lengths = self.records, self.records, Counter(self.lengths)
        return known

    def add(self, other: Tally) -> None:
        """Add the counts of another tally to this one."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        self.users.add(other.users)

    def clear(self) -> None:
        """Start again from zero; the rows that were begun go on."""
        for name in _NUMBERS:
            setattr(self, name, 0)
        for name in _COUNTERS:
            getattr(self, name).clear()
        self.users = UserCounts()

    @property
    def releases(self) -> Counter[tuple[int, int]]:
        """How many different texts there were, by how many words were drawn each time, and how many times."""
        found = Counter({(words, 1): texts for words, texts in self.lengths.items()})
        for (words, times), texts in self.repeats.items():
            found[words, 1] -= times * texts
            found[words, times] += texts
        return +found

    @property
    def released_again(self) -> int:
        """How many of the texts had been released before."""
        return sum((times - 1) * texts for (_, times), texts in self.repeats.items())

    @property
    def knows_rows(self) -> bool:
        """Whether it is known of every text which row it belongs to; which rows were released again is not
        known."""
        return self.row_texts == self.records and not self.repeats

    @property
    def knows_users(self) -> bool:
        """Whether it is known of every text whose it is."""
        return 0 < self.users.texts == self.records - self.missing

    @property
    def shortest(self) -> int:
        """The fewest words drawn for one text that has any; 0 if none has."""
        return min((length for length in self.lengths if length), default=0)

    def __str__(self) -> str:
        """Return how much there was, as people say it: records, or rows and texts where a row has several."""
        if not self.knows_rows:
            return f"{self.records:,} texts"
        return (
            f"{self.records:,} records"
            if self.rows == self.records
            else f"{self.rows:,} rows, {self.records:,} texts"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready data."""
        data: dict[str, Any] = {
            **{name: getattr(self, name) for name in _NUMBERS},
            "lengths": _as_json(self.lengths),
            "row_lengths": _as_json(self.row_lengths),
        }
        if self.users != UserCounts():
            data["users"] = self.users.to_dict()
        if self.repeats:
            data["repeats"] = [
                [words, times, texts] for (words, times), texts in sorted(self.repeats.items())
            ]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Return the tally that ``to_dict`` wrote, here or in an earlier version."""
        repeats = {(int(words), int(times)): int(texts) for words, times, texts in data.get("repeats", ())}
        numbers: dict[str, Any] = {name: int(data[name]) for name in _NUMBERS[:_FIRST_NUMBERS]}
        numbers |= {name: int(data.get(name, 0)) for name in _NUMBERS[_FIRST_NUMBERS:]}
        return cls(
            **numbers,
            lengths=_from_json(data["lengths"]),
            row_lengths=_from_json(data.get("row_lengths", {})),
            users=UserCounts.from_dict(data["users"]) if "users" in data else UserCounts(),
            repeats=Counter(repeats),
        )


class Call:
    """The texts of one call: their digests, in the order of the copies, and their numbers of drawn words."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._copies: Counter[bytes] = Counter()
        self.texts: list[tuple[Key, int]] = []

    def add(self, text: str, words: int) -> None:
        """Note a text for which that many words were drawn."""
        if not words:
            return
        digest = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=8
        ).digest()
        if len(self._copies) > MOST_TEXTS:  # of a stream, which may never end
            self._copies.clear()
        self.texts.append(((digest, self._copies[digest]), words))
        self._copies[digest] += 1


class Repeats:
    """Knows which texts were released before, and how often. The caller holds a lock."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._seen: dict[Key, tuple[Call, int]] = {}

    def call(self) -> Call:
        """Return what notes the texts of a new call."""
        return Call(self._secret)

    def count(self, call: Call, tally: Tally) -> None:
        """Count the texts that the call has noted and an earlier call released, and forget the notes."""
        for key, words in call.texts:
            before, times = self._seen.pop(key, (call, 0))
            if before is not call:
                tally.count_again(words, times + 1)
            self._seen[key] = (call, 1 if before is call else times + 1)
            if len(self._seen) > MOST_TEXTS:
                del self._seen[next(iter(self._seen))]
        call.texts.clear()

    def forget(self) -> None:
        """Forget all texts: their counts were handed over."""
        self._seen.clear()


def lower_median(counts: Counter[Measure], default: Measure) -> Measure:
    """Return the lower median of what is counted, given how often each occurs."""
    middle, seen = (counts.total() + 1) // 2, 0
    for each, count in sorted(counts.items()):
        seen += count
        if seen >= middle:
            return each
    return default


def _as_json(lengths: Counter[int]) -> dict[str, int]:
    return {str(length): count for length, count in sorted(lengths.items())}


def _from_json(lengths: dict[str, Any]) -> Counter[int]:
    return Counter({int(length): int(count) for length, count in lengths.items()})
