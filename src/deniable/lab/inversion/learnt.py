"""The attacker who learns: it releases public text itself, and trains a model to see which candidate stood
behind a word.

The protocol is that of Tong et al. (NAACL 2025): public ("shadow") text is sanitised with the same mechanism
and ε; the ten best candidates of each place come from another attacker; a model ranks them by the released
text around. Their model is BERT; ours is small and trained from nothing but the shadow text
(``deniable.lab.neural.candidate_ranker``). It also sees the noise that each candidate would mean, beside the
noise at the neighbouring places: a mechanism whose noise is not independent from word to word gives itself
away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import Attacker, FurtherAttacker, Known
from deniable.audit.inversion.results import LEARNT
from deniable.channel.draws import Draws
from deniable.decoding.reading import Reading
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.lab.libraries import require
from deniable.parameters import validated_count

if TYPE_CHECKING:
    from deniable.lab.neural.candidate_ranker import RankedText, RankerSettings

CANDIDATES = 10
_WHAT = "the learnt attacker"
_KNOWS = (
    "All of that. Released public text with the same mechanism and ε, and learnt from it which of the ten "
    "best candidates of the attacker before it stood behind a word."
)


def learnt_attack(shadow_words: int = 40_000) -> FurtherAttacker:
    """Return the learnt attacker, for ``audit_inversion(further=…)``; it releases about ``shadow_words``
    words of public text.

    :raises InvalidParameter: if the number is not a whole number of at least 1.
    :raises MissingExtra: if PyTorch is not installed.
    """
    validated_count(shadow_words, "shadow_words")
    require(_WHAT, "torch")

    def attacker(known: Known) -> Attacker:
        assert known.public.shadow is not None  # noqa: S101 - it asks for one
        return learn_from_shadow(
            known.in_context,
            known.mechanism,
            known.public.shadow.documents,
            learning=known.learning,
            seed=known.seed,
        )

    return FurtherAttacker(attacker=attacker, shadow_words=shadow_words)


def learn_from_shadow(
    base: Attacker,
    mechanism: Mechanism,
    shadow: Sequence[Ids],
    *,
    seed: int,
    learning: Attacker | None = None,
    settings: RankerSettings | None = None,
) -> Attacker:
    """Return the attacker who ranks the ten best candidates of ``base`` by what it learnt from documents of
    public text that it released itself.

    Give ``learning``, who names candidates in the documents to learn from, if ``base`` has read these.

    :raises MissingExtra: if PyTorch is not installed.
    """
    require(_WHAT, "torch")
    from deniable.lab.neural.candidate_ranker import RankerSettings, rank, train_ranker
    from deniable.lab.neural.encoder import best_device, vectors_for_models

    embedding, device = mechanism.embedding, best_device()
    documents = [document for document in shadow if len(document)]
    released = np.split(
        Draws(mechanism, seed=seed).of_each(np.concatenate(documents)),
        np.cumsum([len(each) for each in documents])[:-1],
    )
    texts = _texts(embedding, (learning or base).read(released), released, documents)
    vectors = vectors_for_models(embedding)
    model = train_ranker(texts, vectors, settings or RankerSettings(), seed=seed, device=device)

    def read(released: Sequence[Ids]) -> Reading:
        found = base.read(released)
        ranked = [rank(model, text, device=device) for text in _texts(embedding, found, released, None)]
        none = np.zeros((0, min(CANDIDATES, found.words.shape[1])))
        return reranked(found, np.concatenate([*ranked, none]))

    return Attacker(name=LEARNT, knows=_KNOWS, read=read)


def _texts(
    embedding: Embedding, reading: Reading, released: Sequence[Ids], truth: Sequence[Ids] | None
) -> list[RankedText]:
    from deniable.lab.neural.candidate_ranker import RankedText

    texts, start = [], 0
    for place, ids in enumerate(released):
        part = slice(start, start + len(ids))
        words, chances = reading.words[part, :CANDIDATES], reading.chances[part, :CANDIDATES]
        right = np.full(len(ids), -1, dtype=np.int64)
        if truth is not None and len(ids):
            hits = words == truth[place][:, None]
            right = np.where(hits.any(axis=1), hits.argmax(axis=1), -1)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)), -30.0)
        features = _features(embedding, ids, words, chances)
        texts.append(RankedText(released=ids, words=words, logs=logs, features=features, right=right))
        start += len(ids)
    return texts


def _features(embedding: Embedding, released: Ids, words: Ids, chances: Floats) -> Floats:
    """Return what the noise that each candidate would mean has to do with the noise before and after it: on
    each side the angle between the two, their distance, and their distance with one turned around."""
    if not len(released):
        return np.zeros((0, words.shape[1], 6))
    vectors = embedding.rows(np.maximum(words, 0).ravel()).reshape(*words.shape, -1).astype(np.float64)
    seen = embedding.rows(released).astype(np.float64)
    shares = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
    noise = seen[:, None, :] - vectors
    expected = np.einsum("pc,pcd->pd", shares, noise)
    scale = max(1e-9, float(np.linalg.norm(expected, axis=1).mean()))
    found = []
    for by in (1, -1):
        beside = np.roll(expected, by, axis=0)
        beside[0 if by == 1 else -1] = 0.0
        lengths = np.linalg.norm(noise, axis=2) * np.linalg.norm(beside, axis=1)[:, None]
        found.append(np.einsum("pcd,pd->pc", noise, beside) / np.maximum(lengths, 1e-9))
        found += [np.linalg.norm(noise + sign * beside[:, None, :], axis=2) / scale for sign in (-1.0, 1.0)]
    return np.stack(found, axis=2)


def reranked(base: Reading, shares: Floats, weight: float = 1.0) -> Reading:
    """Return a reading whose first candidates share what they had together by new shares, mixed with the old
    ones."""
    top = slice(0, shares.shape[1])
    mass = base.chances[:, top].sum(axis=1, keepdims=True)
    chances = weight * shares * mass + (1.0 - weight) * base.chances[:, top]
    order = np.argsort(-np.where(base.words[:, top] >= 0, chances, -1.0), axis=1, kind="stable")
    words, all_chances = base.words.copy(), base.chances.copy()
    words[:, top] = np.take_along_axis(base.words[:, top], order, axis=1)
    all_chances[:, top] = np.take_along_axis(chances, order, axis=1)
    return Reading(words=words, chances=all_chances, rest=base.rest, elsewhere=base.elsewhere)
