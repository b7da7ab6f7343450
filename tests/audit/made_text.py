"""Made texts for attackers: words that follow from one another, words in any order, pairs of opposite words;
and a mutant for them.

The mutant is right for every word by itself, so ``audit bound`` cannot refute it: it stands here and not in
``wrong``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate
from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import Attacker, blind, in_context, word_by_word
from deniable.audit.inversion.results import AttackerFinding
from deniable.audit.inversion.text import AttackedText, make_attacked_text
from deniable.audit.inversion.text_attack import judge, make_truth, release_text
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams, count_bigrams
from deniable.decoding.priors import first_shares
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import shares_of_all


def follow_one_another(words: int, documents: int, length: int, *, seed: int) -> list[Ids]:
    """Return documents in which one of two words follows each word."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(documents):
        document = [int(random.integers(words))]
        for _ in range(length - 1):
            document.append((document[-1] * 7 + (3 if random.random() < 0.8 else 5)) % words)
        found.append(np.array(document))
    return found


def follow_at_a_distance(words: int, documents: int, length: int, *, seed: int) -> list[Ids]:
    """Return documents in which each word follows from the one before the last, and says nothing of the
    next."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(documents):
        document = random.integers(words, size=2).tolist()
        while len(document) < length:
            document.append((document[-2] * 7 + 3) % words)
        found.append(np.array(document))
    return found


def shuffle(documents: list[Ids], *, seed: int) -> list[Ids]:
    """Return the same words in an order that says nothing, within documents and across them."""
    flat = np.random.default_rng(seed).permutation(np.concatenate(documents))
    return np.split(flat, np.cumsum([len(document) for document in documents])[:-1])


def opposite_pairs(words: int, documents: int, length: int, *, seed: int) -> list[Ids]:
    """Return documents in which each second word is the opposite of the one before it."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(documents):
        firsts = random.integers(words, size=length // 2)
        found.append(np.stack([firsts, firsts ^ 1], axis=1).ravel())
    return found


def opposites(words: int, dimension: int) -> Embedding:
    """Return an embedding in which the words 2i and 2i + 1 have opposite vectors."""
    half = np.random.default_rng(0).standard_normal((words // 2, dimension))
    return Embedding(
        [f"w{i}" for i in range(words)],
        np.stack([half, -half], axis=1).reshape(words, dimension),
        name="opposites",
    )


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A text, what is public of it, and a channel."""

    embedding: Embedding
    text: AttackedText
    model: Bigrams = field(repr=False)
    channel: Channel

    def judge(self, mechanism: Mechanism, attacker: Attacker, *, seed: int = 3) -> AttackerFinding:
        """Return what an attacker reaches on a release of the text."""
        truth = make_truth(self.embedding, self.text, shares_of_all(self.embedding, self.model.counts))
        return judge(attacker, release_text(mechanism, self.text, seed=seed), truth)

    @property
    def blind(self) -> Attacker:
        return blind(self.channel, first_shares(self.channel, self.model))

    @property
    def alone(self) -> Attacker:
        return word_by_word(self.channel, first_shares(self.channel, self.model))

    @property
    def in_context(self) -> Attacker:
        return self.in_context_of(100)

    def in_context_of(self, candidates: int) -> Attacker:
        return in_context(self.decoder(candidates=candidates))

    def decoder(self, **options: Any) -> ContextDecoder:
        return ContextDecoder(self.channel, self.model, first_shares(self.channel, self.model), **options)


def prepare(
    embedding: Embedding,
    public: list[Ids],
    attacked: list[Ids],
    *,
    epsilon: float,
    mechanism: str = "multivariate",
) -> Attack:
    """Return what attackers need who have read the public documents."""
    model = count_bigrams(public, len(embedding) + 1)
    assert model is not None
    text = make_attacked_text(
        embedding,
        [" ".join(embedding.words[i] for i in document) for document in attacked],
        source=Path("made"),
    )
    channel = make_channel(
        embedding, ChosenMechanism(name=mechanism), epsilon=epsilon, directions=400, keep=False
    )
    return Attack(embedding=embedding, text=text, model=model, channel=channel)


class SharedNoise(Multivariate):
    """Each second word gets the noise of the word before it: right for every word by itself, and wrong for a
    text."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        noise = super().noise(source, epsilon)
        noise[1::2] = noise[: len(noise) // 2 * 2 : 2]
        return noise
