"""The shadow: documents of the public text that attackers release themselves, to learn from or to choose by.

They are not counted in what an attacker knows of the public text while it learns. Otherwise it would learn
from documents that its bigrams have seen, and trust them more than it should where the text is new. Equal
documents are one: they stay together on one side.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from deniable.arrays import Ids
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import Bigrams, PairCounts
from deniable.interfaces import Mechanism

_MOST_DOCUMENTS = 20_000
_LARGEST_SHARE = 0.5
_PART = 60


@dataclass(frozen=True, kw_only=True)
class Shadow:
    """Documents to release and learn from, as ids, and the bigrams of all the others."""

    documents: Sequence[Ids] = field(repr=False)
    bigrams: Bigrams = field(repr=False)

    def release(self, mechanism: Mechanism, *, seed: int, words: int | None = None) -> ReleasedShadow:
        """Return the documents as the mechanism releases them; with ``words`` the first ones that have about
        so many together.

        Of long documents the beginning is taken then: many documents say more than few.
        """
        chosen, taken = [], 0
        for document in self.documents:
            if words is not None and taken >= words:
                break
            part = document if words is None else document[:_PART]
            if len(part):
                chosen.append(part)
                taken += len(part)
        drawn = Draws(mechanism, seed=seed).of_each(np.concatenate(chosen))
        return ReleasedShadow(
            documents=chosen, released=np.split(drawn, np.cumsum([len(each) for each in chosen])[:-1])
        )


@dataclass(frozen=True, kw_only=True)
class ReleasedShadow:
    """Documents whose words the attacker knows, and what the mechanism made of them, all as ids."""

    documents: Sequence[Ids] = field(repr=False)
    released: Sequence[Ids] = field(repr=False)

    @property
    def truth(self) -> Ids:
        """The words of all documents, one after the other."""
        return np.concatenate(self.documents)


@dataclass(kw_only=True)
class _Kept:
    ids: Ids = field(repr=False)
    times: int = 1


class ShadowSample:
    """Chooses documents for the shadow from all that are offered, at random by what they say, and counts the
    others in ``counts``.

    The documents whose digests, hashed with the seed, come first are kept: where a document stands in the
    file does not matter, nor how often. Memory is bounded.
    """

    def __init__(self, counts: PairCounts, *, words: int, seed: int, most: int = _MOST_DOCUMENTS) -> None:
        self._counts, self._words, self._most = counts, words, most
        self._key = f"shadow {seed}".encode()
        self._kept: dict[bytes, _Kept] = {}
        self._last_first: list[tuple[int, bytes]] = []
        self._offered = 0

    def offer(self, digest: bytes, ids: Ids) -> None:
        """Take a document, which ``digest`` tells again."""
        self._offered += len(ids)
        place = blake2b(digest, key=self._key, digest_size=8).digest()
        if place in self._kept:
            self._kept[place].times += 1
            return
        self._kept[place] = _Kept(ids=ids)
        heapq.heappush(self._last_first, (-int.from_bytes(place, "big"), place))
        if len(self._kept) > self._most:
            _, last = heapq.heappop(self._last_first)
            self._count(self._kept.pop(last))

    def finish(self) -> Shadow | None:
        """Return the shadow, and count its documents too from now on; None if no other document has two words
        in a row, or none is chosen.

        Documents are taken while they have fewer words than are wanted, and as long as half of all words are
        left.
        """
        chosen: list[_Kept] = []
        words = taken = 0
        for _, kept in sorted(self._kept.items()):
            weight = kept.times * len(kept.ids)
            if len(kept.ids) and words < self._words and taken + weight <= _LARGEST_SHARE * self._offered:
                chosen.append(kept)
                words, taken = words + len(kept.ids), taken + weight
            else:
                self._count(kept)
        bigrams = self._counts.smooth()
        for kept in chosen:
            self._count(kept)
        return (
            None
            if bigrams is None or not chosen
            else Shadow(documents=[kept.ids for kept in chosen], bigrams=bigrams)
        )

    def _count(self, kept: _Kept) -> None:
        for _ in range(kept.times):
            self._counts.add(kept.ids)
