"""The vectors and the noisy queries of the search benchmark."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.material import GLOVE, enlarge, read_glove
from deniable import InsecureSeededRandomness
from deniable.arrays import Vectors
from deniable.embeddings.readers import open_embedding_file
from deniable.noise.randomness import multivariate_noise

GLOVE_50 = Path("embeddings/glove.6B.50d.txt.bz2")
WORD2VEC = Path("embeddings/word2vec.GoogleNews.300d.unit.bolukbasi26k.bin.xz")


@dataclass(frozen=True)
class VectorSet:
    """Vectors under a name that says where they come from; queries start from the first ``real`` words.

    ``scale`` times ε is the ε of this set: short vectors get less noise, so that it is the same in
    proportion.
    """

    name: str
    vectors: Vectors
    real: int
    scale: float = 1.0

    def queries(self, epsilon: float, count: int, seed: int = 1) -> Vectors:
        """Return the vectors of random words with the mechanism's noise."""
        ids = np.random.default_rng(seed).integers(0, self.real, count)
        noise = multivariate_noise(
            InsecureSeededRandomness(insecure_seed=seed), self.scale * epsilon, count, self.vectors.shape[1]
        )
        return np.asarray(self.vectors[ids] + noise, dtype=np.float32)


def vector_sets(data: Path, sizes: list[int]) -> Iterator[VectorSet]:
    """Yield the sets one after the other: 300 dimensions at each size, then the largest size with fewer
    dimensions."""
    words, real = read_glove(data / GLOVE)
    short = read_word2vec(data / WORD2VEC)
    yield VectorSet("word2vec, unit length", short, len(short), scale=median_norm(real) / median_norm(short))
    del short
    yield VectorSet("GloVe 840B", real, len(real))
    larger = enlarge(words, real, max(sizes))[1]
    for size in sizes:
        yield VectorSet(
            "GloVe 840B, enlarged with jittered copies", np.ascontiguousarray(larger[:size]), len(real)
        )
    yield VectorSet(
        "GloVe 840B, enlarged, first 150 coordinates", np.ascontiguousarray(larger[:, :150]), len(real)
    )
    del larger
    yield VectorSet("GloVe 6B, full file", read_glove_text(data / GLOVE_50), 400_000)


def read_glove_text(path: Path) -> Vectors:
    """Return the vectors of a bzip2 GloVe text file."""
    with bz2.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return np.array([line.rstrip("\n").split(" ")[1:] for line in lines], dtype=np.float32)


def read_word2vec(path: Path) -> Vectors:
    """Return the vectors of a word2vec binary file."""
    with open_embedding_file(path) as content:
        return np.concatenate([block for _, block in content.blocks])


def median_norm(vectors: Vectors) -> float:
    """Return the middle length of the vectors."""
    return float(np.median(np.linalg.norm(vectors, axis=1)))
