"""SanText and SanText+: the exponential mechanism over the whole vocabulary, for all words or for sensitive
ones (Yue et al. 2021).

SanText: P(u | w) is proportional to exp(-(ε/2)·d(w, u)) over the words of the public embedding. The cost d is
a metric, so ε·d metric privacy holds (proof in ``softmax``), ⊥ included: it is one more point of the space.
The authors' code takes the vocabulary from the private data; here it is that of the embedding.

SanText+ is SanText for a public set of sensitive words; other words are mostly kept. A sensitive word w is
replaced by SanText's draw Q(· | w). Any other word is kept with probability 1-p, and replaced by that draw
with probability p. ⊥ is always sensitive, so no unknown word is kept; words that share a vector are sensitive
if one of them is, and the word that stands in for a protected one is if that one is. A listed word is
sensitive in every case: "john" means "John" and "JOHN" too, whichever of them the vocabulary holds. An
unknown word may not go in as the known word that is spelt most like it (``keeps_words``): that word could be
kept.

Between two sensitive words ε·d holds, as for SanText. A word outside the set is exposed: it comes out as
itself with probability above 1-p, so nothing is promised for any pair with such a word, and the output tells
which positions are likely to hold one. The set must be public and must not be made from the private data (the
authors' code makes it from that).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import METRIC_PRIVACY, Guarantee, Randomness
from deniable.mechanisms.base import metric_privacy
from deniable.mechanisms.softmax import Softmax
from deniable.parameters import validated_share
from deniable.words.cutter import Cutter, Tokeniser
from deniable.words.languages import normalise


class SanText(Softmax):
    """P(u | w) proportional to exp(-(ε/2)·d(w, u)): ε·d metric privacy for every pair of words."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        return metric_privacy(
            self._epsilon,
            metric="Euclidean distance between word vectors, rounded to a fine public grid; summed over the "
            "words of a text",
            exponent="ε·d(w, w')",
            where=", d being the Euclidean distance of the grid vectors",
        )

    def cost(self, distances: Floats, epsilon: float | Floats) -> Floats:  # noqa: ARG002
        """Return the distances themselves."""
        return distances.copy()

    def log_bound(self, first: int, second: int) -> float:
        """Return ε times the distance of the grid vectors."""
        return self._epsilon * self.grid.between(*self._entering_pair(first, second))


class SanTextPlus(SanText):
    """SanText for sensitive words, and mostly no change for the others: ε·d among sensitive words, others
    exposed."""

    def __init__(
        self, embedding: Embedding, epsilon: float, *, sensitive: Iterable[str], p: float = 0.2
    ) -> None:
        """Prepare the mechanism; ``sensitive`` are public words, and ``p`` how often other words are
        replaced.

        :raises InvalidParameter: if ``epsilon`` is not a finite number greater than 0, ``p`` not in [0, 1],
            or ``sensitive`` is a single text or has no word of the embedding.
        """
        super().__init__(embedding, epsilon=epsilon)
        self.p = validated_share(p, "p")
        if isinstance(sensitive, str):
            raise InvalidParameter("sensitive", "a single str", "must be a list of words")
        listed = _ids_of(list(sensitive), embedding)
        self.sensitive: Ids = np.unique(listed[listed != embedding.unknown_id])
        if not len(self.sensitive):
            raise InvalidParameter(
                "sensitive", "no known word", f"must hold words of the embedding {embedding.name!r}"
            )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for one word."""
        plain = super().guarantee
        others = len(self._embedding) + 1 - int(self._is_sensitive.sum())
        return Guarantee(
            notion=f"{METRIC_PRIVACY} among the sensitive words only",
            metric=plain.metric,
            epsilon=self._epsilon,
            statement=(
                "For any two sensitive or unknown words w and w' and any output y: Pr[M(w) = y] ≤ exp(ε·d(w, "
                "w'))·Pr[M(w') = y], d being "
                "the Euclidean distance of the grid vectors. Nothing is promised for the other words."
            ),
            parameters={
                "p": self.p,
                "sensitive_words": len(self.sensitive),
                "sensitive_digest": self._digest,
            },
            exposed=f"{others:,} words outside the sensitive set: each comes out as itself with probability "
            f"above {1.0 - self.p:g}",
            keeps_words=True,
        )

    def log_bound(self, first: int, second: int) -> float:
        """Return ε·d for two sensitive words, 0 for a word and itself, and infinity for all other pairs."""
        pair = self._entering_pair(first, second)
        if not self._is_sensitive[list(pair)].all():
            return 0.0 if self.taken_as[pair[0]] == self.taken_as[pair[1]] else math.inf
        return super().log_bound(first, second)

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        """Return SanText's draw for sensitive words, and for some of the others."""
        released = super().draw(ids, source, epsilon)
        kept = (source.uniforms(len(ids), 1)[:, 0] >= self.p) & ~self._is_sensitive[ids]
        return np.where(kept, self.taken_as[ids], released)

    def distributions(self, ids: Ids, epsilons: Floats) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input id all outputs and their probabilities; see ``ExactSums``."""
        for word, (outputs, drawn) in zip(
            self._entering(ids).tolist(), super().distributions(ids, epsilons), strict=True
        ):
            if not self._is_sensitive[word]:
                drawn *= self.p
                drawn[:, outputs == self.taken_as[word]] += 1.0 - self.p
            yield outputs, drawn

    @cached_property
    def _is_sensitive(self) -> NDArray[np.bool_]:
        listed = np.zeros(len(self._embedding) + 1, dtype=bool)
        listed[self.taken_as[self.sensitive]] = True
        # A protected word goes in as another one, which must not be kept in its place.
        listed[self.taken_as[self._embedding.stands_in(self.sensitive)]] = True
        listed[self._embedding.unknown_id] = True
        return listed[self.taken_as]

    @cached_property
    def _digest(self) -> str:
        return hashlib.blake2b(
            np.ascontiguousarray(self.sensitive, dtype="<i8").data, digest_size=8
        ).hexdigest()


def _ids_of(listed: list[str], embedding: Embedding) -> Ids:
    """Return the ids of the listed words as text is read, in every case that the vocabulary holds; ⊥ for
    those it does not hold.

    A listed "John", "New York" or "o'neil" must not stay outside because the vocabulary spells it otherwise.
    """
    cutter = Cutter(embedding)
    words = [word for entry in listed for word in cutter.words(entry)]
    ids = cutter.ids(words)
    if embedding.cased:
        folded = [_fold(word) for word in embedding.words]
        in_any_case = Tokeniser(frozenset(folded))
        wanted = {_fold(word) for word in words}
        wanted.update(word for entry in listed for word in in_any_case.words(_fold(entry)))
        ids += [word for word, spelling in enumerate(folded) if spelling in wanted]
    return np.array(ids, dtype=np.int64)


def _fold(text: str) -> str:
    return normalise(text).casefold()
