"""The vectors that models start from: those of the words, then that of ⊥, then zeros for the padding."""

from __future__ import annotations

import numpy as np
import torch

from deniable.embeddings.embedding import Embedding


def vectors_for_models(embedding: Embedding) -> torch.Tensor:
    """Return one row for each id that passages and batches hold."""
    rows = np.concatenate([embedding.vectors, embedding.unknown[None], np.zeros((1, embedding.dimension))])
    return torch.from_numpy(rows.astype(np.float32))
