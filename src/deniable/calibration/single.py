"""The rays of one word: no tables are kept, so it is quick to begin and small in any vocabulary."""

from __future__ import annotations

import numpy as np

from deniable.calibration.rays import SEED, Envelope, Rays
from deniable.calibration.tables import unit_directions, word_tables
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Floats

_NUMBERS_AT_ONCE = 1 << 26


def word_envelope(embedding: Embedding, word: int, *, rays: int, furthest: float, directions: Floats | None = None) -> Envelope:
    """Return the walks of one word (or ⊥) along so many rays; ``directions`` are used in place of the public ones."""
    words = word_tables(embedding, clustered=False)
    directions = unit_directions(rays, embedding.dimension, seed=SEED) if directions is None else directions
    at_once = max(16, _NUMBERS_AT_ONCE // len(embedding))
    parts = [
        next(Rays(embedding, directions=directions[start : start + at_once], words=words).envelopes(np.array([word]), furthest=furthest))
        for start in range(0, rays, at_once)
    ]
    return Envelope(
        start=parts[0].start,
        counts=np.concatenate([part.counts for part in parts]),
        winners=np.concatenate([part.winners for part in parts]),
        radii=np.concatenate([part.radii for part in parts]),
    )
