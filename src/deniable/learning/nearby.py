"""Groups of texts that a model finds alike, by k-means on vectors of length 1."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from deniable.arrays import Ids

_ROUNDS = 8


def groups_of_alike(vectors: Tensor, size: int, rng: np.random.Generator) -> Ids:
    """Return the group of each vector; an average group holds ``size`` of them."""
    count = max(1, len(vectors) // size)
    centres = vectors[torch.from_numpy(rng.choice(len(vectors), count, replace=False)).to(vectors.device)]
    for _ in range(_ROUNDS):
        group = (vectors @ centres.T).argmax(dim=1)
        sums = torch.zeros_like(centres).index_add_(0, group, vectors)
        length = torch.linalg.vector_norm(sums, dim=1, keepdim=True)
        centres = torch.where(length > 0, sums / length, centres)  # a group that lost all its members stays where it was
    groups: Ids = group.cpu().numpy()
    return groups
