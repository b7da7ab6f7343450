"""Texts as numbers: the mean vector of their words, each dimension brought to mean 0 and spread 1; and a
ridge regression on these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.progress import Report
from deniable.words.cutter import Cutter, Lookup

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

_SAME = 1e-9
_TEXTS_AT_ONCE = 500


def mean_vectors(
    embedding: Embedding, texts: list[str], *, report: Report | None = None
) -> tuple[Floats, Flags]:
    """Return the mean vector of the known words of each text, and which texts hold any; the others are rows
    of zeros."""
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    means, known = np.zeros((len(texts), embedding.dimension)), np.zeros(len(texts), dtype=np.bool_)
    for place, text in enumerate(texts):
        ids: Ids = np.array(lookup.ids(cutter.words(text), folded=cutter.folds), dtype=np.int64)
        ids = ids[ids != embedding.unknown_id]
        if len(ids):
            known[place] = True
            means[place] = embedding.vectors[ids].mean(axis=0, dtype=np.float64)
        if report is not None and (place + 1) % _TEXTS_AT_ONCE == 0:
            report(place + 1, len(texts))
    if report is not None:
        report(len(texts), len(texts))
    return means, known


class Scale(NamedTuple):
    """In which dimensions the means of texts spread; where they lie in these, and how far they spread."""

    useful: Flags
    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, means: Floats) -> Scale:
        """Return the scale of these means; dimensions in which they differ by rounding alone are not
        useful."""
        spread = means.std(axis=0)
        useful = spread > _SAME * max(float(spread.max()), np.finfo(np.float64).tiny)
        return cls(useful=useful, centre=means[:, useful].mean(axis=0), spread=spread[useful])

    def features(self, means: Floats) -> Floats:
        """Return the useful dimensions of means, in which those that the scale is of have mean 0 and spread
        1."""
        scaled: Floats = (means[:, self.useful] - self.centre) / self.spread
        return scaled


def ridge(features: Floats, targets: Floats, *, penalty: float) -> Floats:
    """Return weights, a column for each of the targets: half of ``penalty`` times their squares is added to
    the mean loss of a text."""
    gram = features.T @ features + penalty * len(features) * np.eye(features.shape[1])
    return np.asarray(np.linalg.solve(gram, features.T @ targets), dtype=np.float64)
