"""mldp-text 0.1.2: one word at a time, FAISS ``IndexIVFFlat`` (50 of 100 lists probed) by default."""

from __future__ import annotations

import importlib
from pathlib import Path

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import load_embedding


def load_approximate(folder: Path, epsilon: float) -> Contestant:
    """Return its multivariate mechanism as it comes, with the approximate search."""
    return _load(folder, epsilon, use_faiss=True)


def load_exact(folder: Path, epsilon: float) -> Contestant:
    """Return its multivariate mechanism with the exact search, a NumPy scan for each word."""
    return _load(folder, epsilon, use_faiss=False)


def _load(folder: Path, epsilon: float, *, use_faiss: bool) -> Contestant:
    # Imported by name: the package carries no types, and this module shares its name.
    keyed_vectors = importlib.import_module("gensim.models").KeyedVectors
    words, vectors = load_embedding(folder)
    embedding = keyed_vectors(vectors.shape[1])
    embedding.add_vectors(words, vectors)
    mechanism = importlib.import_module("mldp_text").MultivariateCalibrated(
        epsilon, embedding_matrix=embedding, dim=vectors.shape[1], use_faiss=use_faiss
    )

    def release(texts: list[str]) -> list[str]:
        return [" ".join(mechanism.replace_word(word) for word in text.split(" ")) for text in texts]

    return Contestant("approximate (FAISS IVF)" if use_faiss else "exact (NumPy)", release)
