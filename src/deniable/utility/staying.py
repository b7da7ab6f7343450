"""How often an average word stays itself under a mechanism (N_w): by rays where they apply, else by drawing."""

from __future__ import annotations

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.multivariate import Multivariate
from deniable.randomness import SecureRandomness
from deniable.tasks.matching import AverageUnchanged

_WORDS, _DRAWS, _SEED = 1000, 100, 4


def average_unchanged(embedding: Embedding, mechanisms: dict[float, Mechanism]) -> tuple[dict[float, float], str]:
    """Return the average N_w of mechanisms by their ε, and in words how it was found."""
    if all(type(mechanism) is Multivariate for mechanism in mechanisms.values()):
        rays = AverageUnchanged(embedding)
        return {epsilon: rays.at(epsilon) for epsilon in mechanisms}, f"{rays.words:,} words of the vocabulary, {rays.rays} rays each"
    chosen = np.random.Generator(np.random.PCG64(_SEED)).choice(len(embedding), min(_WORDS, len(embedding)), replace=False)
    words = np.repeat(np.sort(chosen), _DRAWS)
    drawn = {e: m.perturb(embedding.stands_in(words), SecureRandomness()) for e, m in mechanisms.items()}
    shares = {epsilon: float((released == words).mean()) for epsilon, released in drawn.items()}
    return shares, f"{len(chosen):,} words of the vocabulary, {_DRAWS} draws each"
