"""The attacker with a language model: beam search over the best candidates of each place, scored by what a
language model expects.

After BeamClean (2025). The candidates come from the attacker who reads in context. A sequence of words is
worth

    Σ_i  log P(y_i | x_i) + log(w·P_model(x_i | x_1 … x_{i-1}) + (1 - w)·P_bigram(x_i | x_{i-1})),

where the bigrams are those of the public text. Which word stood at a place is read from the sequences that
are still followed a few words later; that counts v, and what the attacker in context says 1 - v. Both weights
are chosen on public text that the attacker released itself: a model that knows nothing, or is sure of what is
wrong, then does little harm. Texts are read side by side, a word of each at a time, so that a model is asked
for many words at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import Attacker, FurtherAttacker, Known, word_by_word
from deniable.audit.inversion.results import LANGUAGE_MODEL
from deniable.audit.inversion.text import ReleasedShadow
from deniable.channel.channel import Channel
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.priors import first_shares
from deniable.decoding.reading import Reading
from deniable.lab.inversion.learnt import reranked

CANDIDATES, BEAMS, LOOK_AHEAD = 10, 12, 4
_TEXTS_AT_ONCE = 64
_TINY = 1e-300
_WORDS_READ = 200
"""How many words back a beginning goes at most; models read fewer tokens than that."""

_WORDS_TO_CHOOSE_BY = 400
"""How many words of public text it releases to choose its weights: models are slow."""


class Weights(NamedTuple):
    """The weights of the model against the bigrams, and of the search against the attacker in context."""

    model: float = 0.5
    search: float = 0.95


MODEL_WEIGHTS, SEARCH_WEIGHTS = (0.5, 0.8), (0.95, 0.75, 0.5, 0.25, 0.0)
"""What is tried on the shadow."""


Asked = tuple[list[list[str]], list[str]]
"""What is asked of one text: its beginnings, each a list of words, and the words that may come next."""


class LanguageModel(Protocol):
    """A language model on this machine; ``name`` says which, with its digest."""

    name: str

    def scores(self, asked: Sequence[Asked]) -> list[Floats]:
        """Return log P(word | beginning) for each text: a row for each beginning, a column for each word."""
        ...


class _Sequences(NamedTuple):
    """The sequences that are followed in one text: their words so far, and what they are worth."""

    words: Ids
    worth: Floats


def language_model_attack(model: LanguageModel) -> FurtherAttacker:
    """Return the attacker with a language model, for ``audit_inversion(further=…)``. Its weights are chosen
    on the shadow of the public text if there is one."""

    def attacker(known: Known) -> Attacker:
        shadow, weights = known.public.shadow, None
        if shadow is not None and known.learning is not None:
            prior = first_shares(known.channel, shadow.bigrams)
            alone = word_by_word(known.channel, prior)
            trying = ByLanguageModel(known.learning, alone, known.channel, prior, shadow.bigrams, model)
            released = shadow.release(known.mechanism, seed=known.seed, words=_WORDS_TO_CHOOSE_BY)
            weights = trying.choose_weights(released)
        return ByLanguageModel(
            known.in_context,
            known.alone,
            known.channel,
            known.prior,
            known.public.bigrams,
            model,
            weights=weights,
        ).attacker

    return FurtherAttacker(attacker=attacker, chooses_by=_WORDS_TO_CHOOSE_BY)


class ByLanguageModel:
    """Reads each word after all that was read before it."""

    def __init__(
        self,
        base: Attacker,
        alone: Attacker,
        channel: Channel,
        prior: Floats,
        bigrams: Bigrams,
        model: LanguageModel,
        *,
        beams: int = BEAMS,
        weights: Weights | None = None,
    ) -> None:
        """Take candidates from ``base``, and likelihoods of released words from ``alone``."""
        self._base, self._alone, self._bigrams, self._model, self._beams = base, alone, bigrams, model, beams
        self._weights = Weights() if weights is None else weights
        self._shares = np.zeros(len(channel.embedding) + 1)
        self._shares[channel.inputs] = prior
        self._words = channel.embedding.words

    @property
    def attacker(self) -> Attacker:
        """The attacker with these weights."""
        knows = (
            f"All of that, and what the language model {self._model.name} expects after the words read so "
            f"far. It counts {self._weights.model:g} beside the bigrams, and the search "
            f"{self._weights.search:g} beside the attacker in context."
        )
        return Attacker(name=LANGUAGE_MODEL, knows=knows, read=self.read)

    def read(self, released: Sequence[Ids]) -> Reading:
        """Return the candidates of the other attacker, ranked by the sequences that hold them."""
        base = self._base.read(released)
        return reranked(base, self._searched(base, released, self._weights.model), self._weights.search)

    def choose_weights(self, shadow: ReleasedShadow) -> Weights:
        """Return the weights by which the true words of the shadow are likeliest."""
        base = self._base.read(shadow.released)
        tried: dict[Weights, float] = {}
        for model in MODEL_WEIGHTS:
            found = self._searched(base, shadow.released, model)
            for search in SEARCH_WEIGHTS:
                tried[Weights(model, search)] = reranked(base, found, search).mean_log_chance(shadow.truth)
        return max(tried, key=lambda weights: tried[weights])

    def _searched(self, base: Reading, released: Sequence[Ids], weight: float) -> Floats:
        """Return the share of the followed sequences that each of the first candidates of each place has."""
        words = base.words[:, :CANDIDATES]
        likely = _likelihoods(words, self._alone.read(released), self._shares)
        ends = np.cumsum([len(ids) for ids in released])
        parts = [slice(int(end) - len(ids), int(end)) for end, ids in zip(ends, released, strict=True)]
        shares = np.zeros(words.shape)
        parts = [part for part in parts if part.stop > part.start]
        order = sorted(parts, key=lambda part: part.stop - part.start)
        for start in range(0, len(order), _TEXTS_AT_ONCE):
            some = order[start : start + _TEXTS_AT_ONCE]
            found = self._search([(words[part], likely[part]) for part in some], weight)
            for part, share in zip(some, found, strict=True):
                shares[part] = share
        return shares

    def _search(self, texts: list[tuple[Ids, Floats]], weight: float) -> list[Floats]:
        """Return what ``_searched`` says of some texts, given their candidates and log-likelihoods."""
        followed = [_Sequences(np.zeros((1, 0), dtype=np.int64), np.zeros(1)) for _ in texts]
        shares = [np.zeros(words.shape) for words, _ in texts]
        for place in range(max(len(words) for words, _ in texts)):
            still = [i for i, (words, _) in enumerate(texts) if place < len(words)]
            scores = self._model.scores([self._ask(followed[i], texts[i][0][place]) for i in still])
            for i, scored in zip(still, scores, strict=True):
                words, likely = texts[i]
                followed[i] = self._extend(followed[i], words[place], likely[place], scored, weight)
                end = place + 1 if place + 1 == len(words) else place - LOOK_AHEAD + 1
                for earlier in range(max(0, place - LOOK_AHEAD), end):
                    shares[i][earlier] = _share(followed[i], earlier, words[earlier])
        return shares

    def _ask(self, followed: _Sequences, candidates: Ids) -> Asked:
        """Return what the model is asked; it does not know ⊥."""
        beginnings = [self._spell(row) for row in followed.words[:, -_WORDS_READ:]]
        return beginnings, self._spell(candidates[candidates >= 0])

    def _spell(self, ids: Ids) -> list[str]:
        return [self._words[i] for i in ids.tolist() if i < len(self._words)]

    def _extend(
        self, followed: _Sequences, candidates: Ids, likely: Floats, scored: Floats, weight: float
    ) -> _Sequences:
        """Return the best sequences with one word more."""
        words, likely = candidates[candidates >= 0], likely[candidates >= 0]
        by_pairs = self._pairs(followed.words[:, -1] if followed.words.shape[1] else None, words)
        by_model = by_pairs.copy()  # the bigrams alone say how likely ⊥ is
        by_model[:, words < len(self._words)] = np.exp(scored)
        mixed = np.log(weight * by_model + (1.0 - weight) * by_pairs + _TINY)
        worth = followed.worth[:, None] + likely + mixed
        best = np.argsort(-worth.ravel(), kind="stable")[: self._beams]
        beginnings, chosen = followed.words[best // len(words)], words[best % len(words)]
        return _Sequences(
            np.concatenate([beginnings, chosen[:, None]], axis=1), worth.ravel()[best] - worth.max()
        )

    def _pairs(self, last: Ids | None, words: Ids) -> Floats:
        if last is None:
            return self._shares[words][None]
        follows = self._bigrams.follows[last][:, words].toarray()
        found: Floats = follows + self._bigrams.backing_off[last][:, None] * self._bigrams.alone[words]
        return found


def _likelihoods(words: Ids, alone: Reading, shares: Floats) -> Floats:
    """Return log P(y | x) but for a number that is the same for all words at a place, from what Bayes' rule
    says without context.

    A candidate that is not among those of the reading alone gets what is left over there.
    """
    same = words[:, :, None] == alone.words[:, None, :]
    held = np.where(same.any(axis=2), np.take_along_axis(alone.chances, same.argmax(axis=2), axis=1), 0.0)
    rest = alone.rest[:, None] * alone.elsewhere[np.maximum(words, 0)]
    found: Floats = np.log(
        (held + np.where(held > 0.0, 0.0, rest) + _TINY) / (shares[np.maximum(words, 0)] + _TINY)
    )
    return found


def _share(followed: _Sequences, place: int, candidates: Ids) -> Floats:
    weights = np.exp(followed.worth - followed.worth.max())
    found: Floats = ((followed.words[:, place][:, None] == candidates) * weights[:, None]).sum(
        axis=0
    ) / weights.sum()
    return found
