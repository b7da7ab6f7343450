"""Whether public labels have anything to do with their texts. Any labels shape a space, also those of other
texts.

A ridge regression, with the penalty that directions are learnt with, tells labels from mean vectors: a number
as it is, a class by one number that is 1 for its texts. Each fifth of the texts is told by the others, and
the squared errors are compared with those of who says the mean of the others, which for classes is how
frequent each of them is. So it is also seen where a class is told that is too rare to be ever named. Where
texts are few, a class may be named correctly long before its probability is known: so it is enough if more
are named than by the most frequent class alone.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.linear_map import LabelKind
from deniable.purposes.directions import PENALTY, Scale, mean_vectors, ridge
from deniable.purposes.public_texts import PublicTexts
from deniable.report.wording import percent

FEW_TEXTS = 200
"""From so many texts on nothing is said of how few they are."""

MOST_CHECKED = 2_000
_FOLDS = 5
_SURE = 2.0
"""Standard errors above 0 from which on a gain is not chance."""


def label_warnings(embedding: Embedding, public: PublicTexts) -> list[str]:
    """Return a sentence if labels cannot be predicted from the words of their texts, and one if there are few
    texts.

    At most 2,000 texts are looked at, always the same ones. What nothing can be learnt from gives no warning:
    shaping says so.
    """
    drawn = np.random.Generator(np.random.PCG64(0)).permutation(len(public.texts))[:MOST_CHECKED].tolist()
    means, known = mean_vectors(embedding, [public.texts[i] for i in drawn])
    labels = [public.labels[i] for i, there in zip(drawn, known.tolist(), strict=True) if there]
    warnings, column = [], "" if public.column is None else f" “{public.column}”"
    if (reached := _reached_by_chance(means[known], labels, public.kind)) is not None:
        warnings.append(
            f"the labels{column} of {public.source} cannot be told from its words better than by chance "
            f"({reached}), so nothing shows that a space shaped by them serves a purpose. Are they the "
            "labels of these texts?"
        )
    if len(public.texts) < FEW_TEXTS:
        warnings.append(
            f"the file {public.source} has only {len(public.texts)} texts with a label: directions learnt "
            f"from fewer than {FEW_TEXTS} are chance in large part"
        )
    return warnings


def _reached_by_chance(means: Floats, labels: list[str], kind: LabelKind) -> str | None:
    """Return in words how well labels are predicted, if chance explains that; None if it does not, or there
    is nothing to tell apart."""
    if len(labels) < _FOLDS or len(set(map(float, labels)) if kind == "numbers" else set(labels)) < 2:
        return None
    targets = _targets(labels, kind)
    by_mean, by_words = _tell(means, targets)
    before, after = (np.square(targets - said).sum(axis=1) for said in (by_mean, by_words))
    if _is_sure(before - after):
        return None
    if kind == "numbers":
        return f"R² is {1.0 - after.sum() / before.sum():.2f} on {len(labels):,} held-out texts"
    named = by_words.argmax(axis=1) == targets.argmax(axis=1)
    frequent = targets[:, targets.sum(axis=0).argmax()]
    if _is_sure(named - frequent):
        return None
    alone = f"{percent(float(frequent.mean()))} by the most frequent label alone"
    return f"{percent(float(named.mean()))} of {len(labels):,} held-out labels are named, {alone}"


def _is_sure(gains: Floats) -> bool:
    """Return whether a gain at each text, on average, is more than chance."""
    return bool(gains.mean() > _SURE * gains.std() / math.sqrt(len(gains)))


def _targets(labels: list[str], kind: LabelKind) -> Floats:
    """Return what is told of each text, a row each: its number, or one number for each class."""
    if kind == "numbers":
        values = np.array([[float(label)] for label in labels])
        scaled: Floats = values / np.abs(values).max()  # squares of huge numbers would be infinite
        return scaled
    _, number = np.unique(np.array(labels), return_inverse=True)
    return np.eye(int(number.max()) + 1)[number]


def _tell(means: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return what is said of each text, which come in random order, by the mean of other texts and by their
    words."""
    folds: Ids = np.arange(len(targets)) % _FOLDS
    by_mean, by_words = np.empty_like(targets), np.empty_like(targets)
    for fold in range(_FOLDS):
        own, others = folds == fold, folds != fold
        by_mean[own] = targets[others].mean(axis=0)
        scale = Scale.of(means[others])
        weights = ridge(scale.features(means[others]), targets[others] - by_mean[own][0], penalty=PENALTY)
        by_words[own] = by_mean[own] + scale.features(means[own]) @ weights
    return by_mean, by_words
