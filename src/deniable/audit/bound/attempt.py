"""The audit of the bound: the same attempt in small spaces, through the text, and on the user's own embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.audit.bound.refutation import Finding, search_and_judge
from deniable.audit.bound.spaces import DIMENSIONS, projected, spread, stretched
from deniable.audit.draws import TextDraws
from deniable.channel.draws import Draws
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count, validated_epsilon

Maker = Callable[[Embedding, float], Mechanism]
"""Makes the mechanism under audit for any embedding and ε."""

LEVEL = 1e-4
NOT_PROVEN = (
    "A pass is not a proof: it says that this attempt, with so many draws of so few words, found nothing. The proof stands beside "
    "the mechanism. In high dimensions an attempt like this has little power, whatever the code does; the small spaces are where a "
    "wrong mechanism is caught. It says nothing about the source of randomness of a release, the text around the words, or "
    "what an adversary learns within the bound: see the inversion audit for that."
)
_PAIRS = 12
_WORDS = 10
_UNHEARD_OF = ("qqzzx", "xzzqq")


@dataclass(frozen=True, kw_only=True)
class Place:
    """What was tried in one space."""

    space: str
    dimension: int
    words: int
    draws: int
    findings: tuple[Finding[str], ...]

    @property
    def refuted(self) -> bool:
        """Whether some pair breaks the promise."""
        return any(finding.refuted for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the place as JSON-ready data, its worst pair first."""
        rows = [
            {"first": f.first, "second": f.second, "promised": f.promised, "shown": f.shown if np.isfinite(f.shown) else None}
            for f in self.findings
        ]
        return {
            "space": self.space,
            "dimension": self.dimension,
            "words": self.words,
            "draws_per_word": self.draws,
            "pairs_judged": len(self.findings),
            "refuted": self.refuted,
            "worst_pairs": rows[:3],
        }


def audit_bound(
    make: Maker, embedding: Embedding, epsilon: float, *, seed: int, draws: int = 200_000, own_draws: int = 20_000, level: float = LEVEL
) -> Iterator[Place]:
    """Yield what was found in each place; ``level`` is the chance that a true mechanism is refuted in any of them.

    :raises InvalidParameter: if a number is not allowed.
    """
    epsilon, seed = validated_epsilon(epsilon), validated_count(seed, "seed", at_least=0)
    draws, own_draws = validated_count(draws, "draws"), validated_count(own_draws, "own_draws")
    usable = list(_spaces(embedding, epsilon, seed))
    each = level / (2 * len(usable) + 1)
    for place, space in enumerate(usable):
        mechanism = make(space, epsilon)
        inputs = [*range(min(_WORDS, len(space))), space.unknown_id]
        yield _by_ids(mechanism, inputs, seed=seed + 2 * place, draws=draws, level=each)
        yield _by_text(mechanism, seed=seed + 2 * place + 1, draws=draws // 4, level=each)
    own = make(embedding, epsilon)
    yield _by_ids(own, _own_words(embedding, seed), seed=seed + 2 * len(usable), draws=own_draws, level=each)


def places(embedding: Embedding) -> int:
    """Return in how many places the audit tries."""
    return 2 * len(list(_spaces(embedding, 1.0, 0))) + 1


def _spaces(embedding: Embedding, epsilon: float, seed: int) -> Iterator[Embedding]:
    for n in DIMENSIONS:
        yield spread(n, epsilon)
        yield stretched(n, epsilon)
        own = projected(embedding, n, epsilon, seed=seed)
        if own is not None:
            yield own


def _by_ids(mechanism: Mechanism, inputs: list[int], *, seed: int, draws: int, level: float) -> Place:
    source, embedding = Draws(mechanism, seed=seed), mechanism.embedding
    found = search_and_judge(source.of, inputs, mechanism.log_bound, draws=draws, level=level, pairs=_PAIRS)
    names = [*embedding.words, "⊥"] if len(embedding) <= 100 else None

    def name(word: int) -> str:
        return names[word] if names is not None else "⊥" if word == embedding.unknown_id else str(embedding.words[word])

    renamed = tuple(
        Finding(first=name(f.first), second=name(f.second), promised=f.promised, shown=f.shown, outputs=f.outputs) for f in found
    )
    return Place(space=embedding.name, dimension=embedding.dimension, words=len(inputs), draws=draws, findings=renamed)


def _by_text(mechanism: Mechanism, *, seed: int, draws: int, level: float) -> Place:
    """Attack the whole path of a text: two unknown words must be indistinguishable, and known ones as the promise says."""
    source, embedding = TextDraws(mechanism, seed=seed), mechanism.embedding
    inputs = [str(word) for word in embedding.words[:2]] + list(_UNHEARD_OF)

    def promised(first: str, second: str) -> float:
        one, other = (embedding.index.get(word, embedding.unknown_id) for word in (first, second))
        return mechanism.log_bound(one, other)

    found = search_and_judge(source.of, inputs, promised, draws=max(draws, 2), level=level, pairs=_PAIRS)
    return Place(
        space=f"{embedding.name}, as text", dimension=embedding.dimension, words=len(inputs), draws=max(draws, 2), findings=tuple(found)
    )


def _own_words(embedding: Embedding, seed: int) -> list[int]:
    """Return a few words of the embedding with their nearest neighbours, and ⊥."""
    some: Ids = np.random.default_rng(seed).integers(0, len(embedding), 4)
    near, _ = best_neighbours(embedding).nearest_k(embedding.rows(some), min(2, len(embedding)))
    return [*np.unique(near).tolist(), embedding.unknown_id]
