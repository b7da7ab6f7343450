"""The embeddings that are measured on a GPU, and noisy points of their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from deniable import Embedding
from deniable.arrays import Vectors
from deniable.gpu.stream import card_noise
from deniable.noise.randomness import RadialNoise
from scripts.gpu.device import DEVICE, REHEARSAL

ROOT = Path(__file__).resolve().parents[2]
BUILT_IN = ROOT / "src/deniable/embeddings/data/vectors.npy"
JITTER = 0.05
EPSILONS = {300: 10.0, 50: 6.0}
TARGETS = {"400,000 x 300": 1.5e6, "400,000 x 50": 4e6, "50,000 x 50": 10e6}
"""The words per second that were asked for."""
if REHEARSAL:
    TARGETS = dict.fromkeys(TARGETS, 10.0)


def spaces(glove: Path | None) -> dict[str, tuple[str, Vectors]]:
    """Return the embeddings to measure, with a word about where their vectors come from."""
    built_in = np.load(BUILT_IN).astype(np.float32)
    if REHEARSAL:
        wide, built_in = _made_mixture(90, 300), built_in[:60]
        return {name: ("a rehearsal", wide if name.endswith("300") else built_in) for name in TARGETS}
    if glove is None:
        wide, origin = _made_mixture(400_000, 300), "made: 2,000 clusters, lengths as GloVe's"
    else:
        from benchmarks.peers.material import read_glove

        wide, origin = _enlarged(read_glove(glove)[1], 400_000), "GloVe 840B, enlarged with jittered copies"
    return {
        "400,000 x 300": (origin, wide),
        "400,000 x 50": (
            "the built-in GloVe 6B, enlarged with jittered copies",
            _enlarged(built_in, 400_000),
        ),
        "50,000 x 50": ("the built-in GloVe 6B", built_in),
    }


def _enlarged(vectors: Vectors, size: int) -> Vectors:
    """Return the vectors, then copies with noise of 5 % of the standard deviation, as
    benchmarks/peers/material.py makes them."""
    rng = np.random.default_rng(0)
    larger = np.resize(vectors, (size, vectors.shape[1])).astype(np.float32)
    larger[len(vectors) :] += np.float32(JITTER * vectors.std()) * rng.standard_normal(
        (size - len(vectors), vectors.shape[1]), dtype=np.float32
    )
    return larger


def _made_mixture(size: int, dimension: int) -> Vectors:
    """Return vectors in clusters, with lengths as GloVe has them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((2000, dimension), dtype=np.float32)
    vectors = centres[rng.integers(0, 2000, size)] + rng.standard_normal((size, dimension), dtype=np.float32)
    vectors *= (6.6 * np.exp(0.25 * rng.standard_normal(size)) / np.linalg.norm(vectors, axis=1))[
        :, None
    ].astype(np.float32)
    return vectors


def embedding_of(vectors: Vectors) -> Embedding:
    """Return an embedding without names."""
    none = np.array([], dtype=np.int64)
    return Embedding.from_checked(
        range(len(vectors)),  # type: ignore[arg-type]
        vectors,
        vectors.mean(axis=0),
        name="measured",
        shadowed=none,
    )


def noisy(embedding: Embedding, epsilon: float, count: int) -> Vectors:
    """Return noisy points of random words, with noise of the card."""
    ids = np.random.default_rng(2).integers(0, len(embedding), count)
    spent = torch.full((count,), epsilon, dtype=torch.float64, device=DEVICE)
    noise = (
        card_noise(torch.device(DEVICE))
        .launch()
        .noise(RadialNoise(lengths="gamma", dimension=embedding.dimension), spent)
    )
    return (noise.cpu().numpy() + embedding.rows(ids)).astype(np.float32)
