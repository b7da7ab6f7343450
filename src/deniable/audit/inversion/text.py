"""Running text to attack, and the public text that attackers learn from.

Without a text of one's own, one document in ten of the public text is held back and attacked: its attackers
know text of just that kind. No attacker reads a document that is attacked, wherever it stands in the public
text: equal ones are left out. Words are put into groups by what they are, for the report alone; no attacker
knows them.

The shadow is documents of the public text that attackers release themselves, to learn from or to choose by.
They are not counted in what an attacker knows of the public text while it learns. Otherwise it would learn
from documents that its bigrams have seen, and trust them more than it should where the text is new. Equal
documents are one: they stay together on one side.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import Bigrams, PairCounts
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import MOST_FREQUENT
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.measures.texts import Texts
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_documents

_MOST_DOCUMENTS = 20_000
_LARGEST_SHARE = 0.5
_PART = 60


@dataclass(frozen=True, kw_only=True)
class Shadow:
    """Documents to release and learn from, as ids, and the bigrams of all the others."""

    documents: Sequence[Ids] = field(repr=False)
    bigrams: Bigrams = field(repr=False)

    def release(self, mechanism: Mechanism, *, seed: int, words: int | None = None) -> ReleasedShadow:
        """Return the documents as the mechanism releases them; with ``words`` the beginnings of the first
        ones."""
        chosen, taken = [], 0
        for document in self.documents:
            if words is not None and taken >= words:
                break
            part = document if words is None else document[:_PART]
            if len(part):
                chosen.append(part)
                taken += len(part)
        drawn = Draws(mechanism, seed=seed).of_each(np.concatenate(chosen))
        released = np.split(drawn, np.cumsum([len(each) for each in chosen])[:-1])
        return ReleasedShadow(truth=np.concatenate(chosen), released=released)


class ReleasedShadow(NamedTuple):
    """The words of documents, one after the other, and what the mechanism made of each document, as ids."""

    truth: Ids
    released: Sequence[Ids]


class ShadowSample:
    """Chooses documents for the shadow, and counts the others in ``counts``. Those whose digests, hashed
    with the seed, come first are kept, wherever and how often they stand in the file. Memory is bounded."""

    def __init__(self, counts: PairCounts, *, words: int, seed: int, most: int = _MOST_DOCUMENTS) -> None:
        self._counts, self._words, self._most = counts, words, most
        self._key = f"shadow {seed}".encode()
        self._kept: dict[bytes, list[Ids]] = {}  # the same document as often as it was offered
        self._last_first: list[tuple[int, bytes]] = []
        self._offered = 0

    def offer(self, digest: bytes, ids: Ids) -> None:
        """Take a document, which ``digest`` tells again."""
        self._offered += len(ids)
        place = blake2b(digest, key=self._key, digest_size=8).digest()
        if place in self._kept:
            self._kept[place].append(self._kept[place][0])
            return
        self._kept[place] = [ids]
        heapq.heappush(self._last_first, (-int.from_bytes(place, "big"), place))
        if len(self._kept) > self._most:
            _, last = heapq.heappop(self._last_first)
            self._count(self._kept.pop(last))

    def finish(self) -> Shadow | None:
        """Return the shadow, of at most half of all words, and count its documents too from now on; None if
        no other document has two words in a row, or none is chosen."""
        chosen: list[list[Ids]] = []
        words = taken = 0
        for place in sorted(self._kept):
            kept = self._kept[place]
            length, weight = len(kept[0]), len(kept) * len(kept[0])
            if length and words < self._words and taken + weight <= _LARGEST_SHARE * self._offered:
                chosen.append(kept)
                words, taken = words + length, taken + weight
            else:
                self._count(kept)
        bigrams = self._counts.smooth()
        for kept in chosen:
            self._count(kept)
        if bigrams is None or not chosen:
            return None
        return Shadow(documents=[kept[0] for kept in chosen], bigrams=bigrams)

    def _count(self, kept: list[Ids]) -> None:
        for ids in kept:
            self._counts.add(ids)


GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")
NOT_RARE = 10_000
"""The first 150 words are frequent; those that come after the first 10,000 are rare."""

LONGEST_PART = 100
"""Of a longer document this many words in a row are attacked."""

_HELD_BACK = 10
_ENDS_SENTENCE = frozenset('.!?:;"“”«»()\n\t•|')


@dataclass(frozen=True, kw_only=True)
class PublicText:
    """What the attackers have read. ``shadow`` is None if the text is too short; ``left_out`` counts further
    documents that were left out because they are attacked."""

    source: str
    bigrams: Bigrams = field(repr=False)
    shadow: Shadow | None = field(repr=False)
    left_out: int

    @property
    def words(self) -> int:
        """How many words it has."""
        return int(self.bigrams.counts.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackedText(Texts):
    """Parts of documents, and which words are written as names are. The first ``sampled`` are drawn at
    random, those after them hold words of a user's lists. ``digests`` identify all of them."""

    source: str
    names: Ids = field(repr=False)
    sampled: int
    digests: frozenset[bytes] = field(repr=False)

    @property
    def judged(self) -> int:
        """How many words the documents have that were drawn at random; they come first."""
        return int(self.offsets[self.sampled])

    def groups(self, embedding: Embedding, shares: Floats) -> Ids:
        """Return the place in ``GROUPS`` of each word; ``shares`` say how frequent the words are."""
        order = np.argsort(-shares[: len(embedding)], kind="stable")
        rank = np.empty(len(embedding) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(embedding)), -1
        digits = np.array([any(letter.isdigit() for letter in word) for word in embedding.words] + [False])
        chosen = [
            self.ids == embedding.unknown_id,
            digits[self.ids],
            rank[self.ids] < MOST_FREQUENT,
            np.isin(self.ids, self.names),
            rank[self.ids] >= NOT_RARE,
        ]
        names = ("unknown", "numbers", "frequent", "names", "rare")
        return np.select(chosen, [GROUPS.index(name) for name in names], GROUPS.index("others"))


def read_public_text(
    embedding: Embedding,
    path: Path,
    *,
    hold_back: bool,
    places: int,
    seed: int,
    listed: Ids | None = None,
    attacked: AttackedText | None = None,
    shadow_words: int | None = None,
) -> tuple[PublicText, AttackedText | None]:
    """Return what attackers learn from a public text, one document a line, and if some of it is held back,
    the text to attack.

    Documents with words that are ``listed`` are attacked beside those drawn at random. Documents that are
    held back, or are part of ``attacked``, are read nowhere. About ``shadow_words`` words, at most half of
    the text, are a shadow to learn from.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no document is left to read or to attack.
    """
    cutter, random = Cutter(embedding), np.random.default_rng([seed, 11])
    held, counts, left_out = _Sample(places, random), PairCounts(len(embedding) + 1), 0
    shadow = None if shadow_words is None else ShadowSample(counts, words=shadow_words, seed=seed)
    # Read before, since a document may stand before the place at which it is held back.
    apart = set() if attacked is None else set(attacked.digests)
    if hold_back:
        apart |= {digest_of(line) for number, line in _documents(path) if number % _HELD_BACK == 0}
    for number, line in _documents(path):
        if hold_back and number % _HELD_BACK == 0:
            held.offer(line)
            continue
        digest = digest_of(line)
        if digest in apart:
            left_out += 1
            continue
        ids = np.array(cutter.ids(cutter.words(line)), dtype=np.int64)
        if shadow is None:
            counts.add(ids)
        else:
            shadow.offer(digest, ids)
    learnt = None if shadow is None else shadow.finish()
    bigrams = counts.smooth()
    if bigrams is None:
        problem = (
            "holds hardly more than the documents that are attacked: give a public text with others"
            if left_out
            else "holds no two words in a row in its documents, one a line: attackers learn nothing from it"
        )
        raise UnusableAuditData(path, problem)
    public = PublicText(source=path.name, bigrams=bigrams, shadow=learnt, left_out=left_out)
    if not hold_back:
        return public, None
    return public, make_attacked_text(
        embedding, held.kept, source=path, places=places, random=random, listed=listed
    )


def digest_of(document: str) -> bytes:
    """Return what tells a document again, but for its case and the spaces in it."""
    return blake2b(
        " ".join(document.casefold().split()).encode(errors="surrogatepass"), digest_size=16
    ).digest()


def _documents(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their number among these."""
    return enumerate(line for line in read_documents(path) if line.strip())


def read_attacked_text(
    embedding: Embedding, path: Path, *, places: int, seed: int, listed: Ids | None = None
) -> AttackedText:
    """Return documents of a text file drawn at random, and further ones with words that are ``listed``.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if it holds no words.
    """
    random = np.random.default_rng([seed, 13])
    sample = _Sample(places, random)
    for _, line in _documents(path):
        sample.offer(line)
    return make_attacked_text(
        embedding, sample.kept, source=path, places=places, random=random, listed=listed
    )


def make_attacked_text(
    embedding: Embedding,
    documents: Sequence[str],
    *,
    source: Path,
    places: int | None = None,
    random: np.random.Generator | None = None,
    listed: Ids | None = None,
) -> AttackedText:
    """Return documents, or a part of a long one, as they would go into a release; with ``places`` about as
    many words, in an order that ``random`` gives.

    :raises UnusableAuditData: if they hold no words, or none that the embedding knows.
    """
    cutter, typed = Cutter(embedding), Cutter(embedding, keep_case=True)
    random = np.random.default_rng(0) if random is None else random
    order = range(len(documents)) if places is None else random.permutation(len(documents)).tolist()
    wanted = np.zeros(0, dtype=np.int64) if listed is None else listed
    parts: list[Ids] = []
    digests: set[bytes] = set()
    capital, small = np.zeros(len(embedding) + 1), np.zeros(len(embedding) + 1)
    sampled = words = further = 0
    for number in order:
        enough = places is not None and words >= places
        if enough and (not len(wanted) or further >= (places or 0)):
            break
        ids = np.array(cutter.ids(cutter.words(documents[number])), dtype=np.int64)
        if not len(ids) or (enough and not np.isin(ids, wanted).any()):
            continue
        _count_capitals(*typed.words_and_gaps(documents[number]), ids, capital, small)
        digests.add(digest_of(documents[number]))
        parts.append(_part(ids, wanted if enough else None, random))
        if enough:
            further += len(parts[-1])
        else:
            sampled, words = sampled + 1, words + len(parts[-1])
    if not parts:
        raise UnusableAuditData(source, "holds no words to attack")
    if all((part == embedding.unknown_id).all() for part in parts[:sampled]):
        raise UnusableAuditData(source, f"none of the words to attack is in the embedding {embedding.name!r}")
    return AttackedText(
        ids=np.concatenate(parts),
        offsets=np.cumsum([0, *map(len, parts)], dtype=np.int64),
        source=source.name,
        names=np.flatnonzero(capital > small),
        sampled=sampled,
        digests=frozenset(digests),
    )


def _part(ids: Ids, around: Ids | None, random: np.random.Generator) -> Ids:
    """Return a part of a long document: any, or one with the first of some words in it."""
    if len(ids) <= LONGEST_PART:
        return ids
    last = len(ids) - LONGEST_PART
    centred = (
        int(random.integers(last + 1))
        if around is None
        else int(np.isin(ids, around).argmax()) - LONGEST_PART // 2
    )
    start = min(last, max(0, centred))
    return ids[start : start + LONGEST_PART]


def _count_capitals(words: list[str], gaps: list[str], ids: Ids, capital: Floats, small: Floats) -> None:
    """Count how often each word begins with a capital letter, and how often not, where no sentence begins."""
    if len(words) != len(ids):  # cut otherwise in the case it has: no telling which is which
        return
    for place in range(1, len(words)):
        if words[place][0].isalpha() and not _ENDS_SENTENCE & set(gaps[place]):
            (capital if words[place][0].isupper() else small)[ids[place]] += 1.0


class _Sample:
    """A random sample of what is offered, of bounded size (a reservoir)."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self.kept: list[str] = []
        self._size, self._random, self._offered = size, random, 0

    def offer(self, item: str) -> None:
        self._offered += 1
        if len(self.kept) < self._size:
            self.kept.append(item)
        elif (place := int(self._random.integers(self._offered))) < self._size:
            self.kept[place] = item
