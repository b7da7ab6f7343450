"""Learns from the original and from releases, judges both, and repeats it with fresh noise and another split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.errors import MissingExtra
from deniable.interfaces import Mechanism
from deniable.learning.perturbation import changed_share
from deniable.learning.version import Learner, original_version, released_version
from deniable.utility.texts import ClassifiedTexts

Told = Callable[[], None]


def measure(
    data: ClassifiedTexts,
    mechanisms: dict[float, Mechanism],
    learner: Learner,
    *,
    runs: int,
    held_out: float,
    threads: int = 1,
    tell: Told | None = None,
) -> list[dict[str, Any]]:
    """Return one outcome for each run, ε and place of the perturbation; ``tell`` hears of each release that was measured.

    ``at`` is "nowhere", "train" (learn from released, judge original text), "test" (the other way round) or "both".

    :raises MissingExtra: if scikit-learn is not installed.
    """
    original = original_version(data.texts, next(iter(mechanisms.values())).embedding)
    outcomes = []
    for run in range(1, runs + 1):
        learnt, judged = stratified(data.labels, held_out, seed=run)

        def scores(classes: Ids, judged: Ids = judged) -> dict[str, float]:
            return scores_of(classes, data.labels[judged])

        clean = learner.learnt(original, learnt, data.labels, seed=run)
        outcomes.append(_outcome("nowhere", None, run, scores(clean(original, judged)), 0.0, 0))
        for epsilon, mechanism in sorted(mechanisms.items()):
            released = released_version(original, mechanism, threads=threads)
            noisy = learner.learnt(released, learnt, data.labels, seed=run)
            changed, words = changed_share(original.passages, released.passages), len(released.passages.ids)
            for at, classes in {"train": noisy(original, judged), "test": clean(released, judged), "both": noisy(released, judged)}.items():
                outcomes.append(_outcome(at, epsilon, run, scores(classes), changed, words))
            if tell is not None:
                tell()
    return outcomes


def stratified(labels: Ids, held_out: float, *, seed: int) -> tuple[Ids, Ids]:
    """Return places to learn from and places to judge by, with the same share of every class held out, at least one text of each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    learnt, judged = [], []
    for number in range(int(labels.max()) + 1):
        places = rng.permutation(np.flatnonzero(labels == number))
        held = min(max(1, round(held_out * len(places))), len(places) - 1)
        judged.append(places[:held])
        learnt.append(places[held:])
    return np.sort(np.concatenate(learnt)), np.sort(np.concatenate(judged))


def majority_of(labels: Ids, held_out: float, *, runs: int) -> dict[str, float]:
    """Return the scores of always naming the class that is most frequent among the texts to learn from."""
    found = []
    for run in range(1, runs + 1):
        learnt, judged = stratified(labels, held_out, seed=run)
        most = int(np.bincount(labels[learnt]).argmax())
        found.append(scores_of(np.full(len(judged), most), labels[judged]))
    return {name: float(np.mean([scores[name] for scores in found])) for name in found[0]}


def scores_of(classes: Ids, true: Ids) -> dict[str, float]:
    """Return accuracy, and F1 averaged over the classes, in which rare classes count as much as frequent ones.

    :raises MissingExtra: if scikit-learn is not installed.
    """
    try:
        from sklearn.metrics import accuracy_score, f1_score
    except ImportError as error:
        raise MissingExtra("scoring a classifier", "experiments") from error
    f1: Floats = f1_score(true, classes, average="macro", zero_division=0.0)
    return {"accuracy": float(accuracy_score(true, classes)), "macro F1": float(f1)}


def _outcome(at: str, epsilon: float | None, run: int, scores: dict[str, float], changed: float, words: int) -> dict[str, Any]:
    return {"at": at, "epsilon": epsilon, "run": run, "scores": scores, "words": {"all": words}, "changed": {"all": changed}}
