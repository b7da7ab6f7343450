"""The words that privacy is read on: a sample of the words of the text, so that frequent words count as often
as they occur."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding

_DECAYS = 16
_ROWS_AT_ONCE = 64
_PAIRS = 20_000


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Distinct words (⊥ may be one) with the share each has in the sample, and what public geometry an
    adversary needs.

    ``decays`` are rates κ, and ``log_sums[k, i]`` is ln Σ_y exp(-κ_k·d(word i, y)) over the whole vocabulary.
    ``typical`` is the mean distance of two words drawn from the text.
    """

    embedding: Embedding = field(repr=False)
    ids: Ids
    shares: Floats
    decays: Floats
    log_sums: Floats
    typical: float

    def distances(self, outputs: Ids) -> Floats:
        """Return the distances of all probed words to some words, a row per probed word."""
        return _distances(self.embedding.rows(self.ids), self.embedding.rows(outputs))


@dataclass(frozen=True, kw_only=True)
class SampleCounts:
    """The words that privacy is read on: how many, how many distinct ones, and how often a blind guess names
    one."""

    words: int
    distinct: int
    guess: float


def make_probe(embedding: Embedding, text: Ids, *, words: int, seed: int) -> Probe:
    """Return the probe of ``words`` words drawn from a text; words drawn twice are one probed word with a
    larger share."""
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    drawn = embedding.stands_in(text[generator.integers(0, len(text), words)])
    ids, counts = np.unique(drawn, return_counts=True)
    pairs = embedding.rows(text[generator.integers(0, len(text), 2 * _PAIRS)]).astype(np.float64)
    typical = float(np.linalg.norm(pairs[:_PAIRS] - pairs[_PAIRS:], axis=1).mean())
    scale = typical if typical > 0.0 else 1.0
    decays = np.concatenate([[0.0], np.geomspace(0.5, 300.0, _DECAYS)]) / scale
    return Probe(
        embedding=embedding,
        ids=ids,
        shares=counts / counts.sum(),
        decays=decays,
        log_sums=_log_sums(embedding, ids, decays),
        typical=typical,
    )


def _log_sums(embedding: Embedding, ids: Ids, decays: Floats) -> Floats:
    sums = np.empty((len(decays), len(ids)))
    everything = np.asarray(embedding.vectors, dtype=np.float32)
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        distances = _distances(embedding.rows(ids[part]), everything).astype(np.float32)
        nearest = distances.min(axis=1, keepdims=True)
        for k, decay in enumerate(decays.tolist()):
            weights = np.exp((nearest - distances) * np.float32(decay))
            sums[k, part] = np.log(weights.sum(axis=1, dtype=np.float64)) - decay * nearest[:, 0]
    return sums


def _distances(first: Vectors, second: Vectors) -> Floats:
    squares = (
        np.einsum("ij,ij->i", first, first)[:, None]
        + np.einsum("ij,ij->i", second, second)[None]
        - 2.0 * (first @ second.T)
    )
    distances: Floats = np.sqrt(np.maximum(squares, 0.0)).astype(np.float64)
    return distances
