"""The rays of one word: no more than a few projections are kept at once, so it is quick to begin and small in any vocabulary."""

from __future__ import annotations

import numpy as np

from deniable.arrays import Floats
from deniable.channel.rays.rays import Envelope, Rays
from deniable.channel.rays.tables import word_tables
from deniable.embeddings.embedding import Embedding

_TABLE_BYTES = 1 << 27


def word_envelope(embedding: Embedding, word: int, *, rays: int, furthest: float, directions: Floats | None = None) -> Envelope:
    """Return the walks of one word (or ⊥) along so many rays; ``directions`` are used in place of the public ones."""
    tables = word_tables(embedding, clustered=False)
    engine = Rays(embedding, rays=rays, words=tables, directions=directions, table_bytes=_TABLE_BYTES)
    return next(engine.envelopes(np.array([word]), furthest=furthest))
