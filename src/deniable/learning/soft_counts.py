"""TF-IDF for counts that need not be whole numbers: how often words are expected in a text."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from deniable.arrays import Floats


class SoftTfidf:
    """Weights words by how rare they are, and brings every text to length 1.

    A text in which a word is expected 0.1 times counts as a tenth of a text that holds it. For whole counts these are the usual weights.
    """

    weights: Floats

    def fit(self, counts: Any) -> Self:
        """Learn how rare each word is from a sparse matrix of counts, one row a text."""
        held = counts.copy()
        held.data = np.minimum(held.data, 1.0)
        self.weights = np.log((1.0 + counts.shape[0]) / (1.0 + np.asarray(held.sum(axis=0)).ravel())) + 1.0
        return self

    def transform(self, counts: Any) -> Any:
        """Return the weighted counts, sparse."""
        weighted = counts.astype(np.float64).multiply(self.weights[None, :]).tocsr()
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        weighted.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(weighted.indptr))
        return weighted
