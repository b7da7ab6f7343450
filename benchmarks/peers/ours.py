"""deniable, through its public interface."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import load_embedding
from deniable import Embedding, Multivariate, Privatizer


def load(folder: Path, epsilon: float) -> Contestant:
    """Return the paper's mechanism over the embedding in ``folder``."""
    mechanism = Multivariate(Embedding(*load_embedding(folder)), epsilon=epsilon)
    private = Privatizer(mechanism)

    def release(texts: list[str]) -> list[str]:
        return [text for text in private.many(texts) if text is not None]

    return Contestant(f"exact ({type(mechanism.neighbours).__name__})", release)
