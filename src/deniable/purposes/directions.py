"""The directions of an embedding that matter for a purpose, learnt from public labelled texts.

A text is the mean of its words' vectors. Classes: a multinomial logistic regression, and the span of its
class weights, less their mean, which are as many directions as there are classes, less one. Numbers: a ridge
regression, which is one direction. Both have one solution, and it is computed to many digits, so that the
same texts give the same directions.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.progress import Report
from deniable.purposes.principal import signed
from deniable.purposes.public_texts import PublicTexts, check_learnable
from deniable.utility.classifiers import sklearn
from deniable.words.cutter import Cutter

PENALTY = 0.25
"""Half of it times the squared weights is added to the mean loss of a text, with features of spread 1.

It is large: a small one finds the directions that tell texts apart best as they are, however little words
differ along them. What survives noise is what words differ in (docs/research/purpose.md, "Directions")."""

_ROUNDS, _SETTLED = 200, 1e-10
_NO_WEIGHT = 1e-9
_SAME = 1e-9
_TEXTS_AT_ONCE = 500

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def mean_vectors(
    embedding: Embedding, texts: list[str], *, report: Report | None = None
) -> tuple[Floats, Flags]:
    """Return the mean vector of the known words of each text, and which texts hold any; the others are rows
    of zeros."""
    cutter = Cutter(embedding)
    means, known = np.zeros((len(texts), embedding.dimension)), np.zeros(len(texts), dtype=np.bool_)
    for place, text in enumerate(texts):
        ids: Ids = np.array(cutter.ids(cutter.words(text), folded=cutter.folds), dtype=np.int64)
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


class PurposeDirections(NamedTuple):
    """Orthonormal directions, one a row, and the texts they were learnt from: with a label, and with a word
    that is known."""

    axes: Floats
    texts: int
    classes: tuple[str, ...]


def learn_directions(
    embedding: Embedding, public: PublicTexts, *, report: Report | None = None
) -> PurposeDirections:
    """Return the directions along which the texts' labels can be told; ``report`` receives how many texts
    were cut.

    :raises TaskDataError: if too few texts hold a known word, or the words of all texts are alike.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("linear_model", "shaping a space")  # before any work
    means, known = mean_vectors(embedding, public.texts, report=report)
    if not known.any():
        raise TaskDataError(public.source, "none of its texts holds a word that the embedding knows")
    labels, texts = list(compress(public.labels, known)), list(compress(public.texts, known))
    if not known.all():
        check_learnable(replace(public, labels=labels, texts=texts))
    means = means[known]
    scale = Scale.of(means)
    if not scale.useful.any():
        problem = "the words of all its texts have the same mean vector; there is nothing to tell apart"
        raise TaskDataError(public.source, problem)
    features = scale.features(means)
    classes: tuple[str, ...] = ()
    if public.kind == "numbers":
        weights = _number_weights(features, np.array([float(label) for label in labels]))
    else:
        classes = tuple(sorted(set(labels)))
        weights = _class_weights(features, np.array([classes.index(label) for label in labels]))
    if np.abs(weights).max() < _NO_WEIGHT:
        problem = "its labels have nothing to do with its words: no direction was found"
        raise TaskDataError(public.source, problem)
    whole = np.zeros((len(weights), embedding.dimension))
    whole[:, scale.useful] = weights / scale.spread
    axes = _span(whole, most=max(1, len(classes) - 1))
    return PurposeDirections(axes=axes, texts=len(labels), classes=classes)


def join_directions(several: list[Floats]) -> Floats:
    """Return orthonormal directions that span all of these, those of the first as they are; what others
    repeat is left out."""
    kept: list[Floats] = []
    for direction in np.concatenate(several):
        rest = direction
        for _ in range(2):  # once more, for what rounding left
            for other in kept:
                rest = rest - (rest @ other) * other
        length = float(np.linalg.norm(rest))
        if length > 1e-6:
            kept.append(rest / length)
    return signed(np.array(kept))


def _class_weights(features: Floats, labels: Ids) -> Floats:
    """Return the weights of each class, less their mean."""
    two = int(labels.max()) == 1
    # For two classes the library has one vector of weights in place of two opposite ones: the same penalty
    # is half as large on it.
    model = sklearn("linear_model", "shaping a space").LogisticRegression(
        C=(2.0 if two else 1.0) / (PENALTY * len(labels)), solver="newton-cg", max_iter=_ROUNDS, tol=_SETTLED
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search complains when no digit is left to gain
        model.fit(features, labels)
    weights: Floats = model.coef_ if not two else np.concatenate([-model.coef_, model.coef_]) / 2.0
    centred: Floats = weights - weights.mean(axis=0)
    return centred


def _number_weights(features: Floats, numbers: Floats) -> Floats:
    """Return the weights of a ridge regression as one row, the numbers brought to spread 1."""
    small = numbers / np.abs(numbers).max()  # squares of huge numbers would be infinite
    aims = (small - small.mean()) / small.std()
    return ridge(features, aims, penalty=PENALTY)[np.newaxis]


def _span(weights: Floats, *, most: int) -> Floats:
    """Return an orthonormal basis of the rows, strongest first: at most ``most`` directions, and none that is
    nothing but rounding."""
    _, strengths, axes = np.linalg.svd(weights, full_matrices=False)
    there = int((strengths > 1e-8 * strengths[0]).sum())
    return signed(axes[: min(most, there)])
