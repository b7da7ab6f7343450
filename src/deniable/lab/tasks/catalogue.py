"""The three tasks by name: how each is read, what its curve shows, and how its model is trained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deniable.lab.tasks.enron import load_enron
from deniable.lab.tasks.imdb import load_imdb
from deniable.lab.tasks.insuranceqa import load_insuranceqa
from deniable.lab.tasks.task import Task

if TYPE_CHECKING:
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import RankerSettings


class PaperTask(NamedTuple):
    """One task: its reader, the score that its curve shows, and what that score is called in words."""

    load: Callable[[Path], Task]
    score: str
    score_in_words: str
    title: str


TASKS = {
    "imdb": PaperTask(load_imdb, "accuracy", "accuracy", "IMDb: is a review positive?"),
    "enron": PaperTask(load_enron, "accuracy", "accuracy", "Enron: which of ten authors wrote it?"),
    "insuranceqa": PaperTask(
        load_insuranceqa, "MRR@100", "mean reciprocal rank", "InsuranceQA: which answer fits?"
    ),
}


def training_settings(name: str, *, after_tan: bool = False) -> ClassifierSettings | RankerSettings:
    """Return how the model of a task is trained; with ``after_tan``, for insuranceqa, after Tan et al., whom
    the paper replicates."""
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import AFTER_TAN, RankerSettings

    if name == "insuranceqa":
        return AFTER_TAN if after_tan else RankerSettings()
    if name == "enron":
        return ClassifierSettings(batch=64, longest=300, epochs=30, patience=4)
    return ClassifierSettings()
