"""The three tasks by name: how each is read, what its curve shows, and how its model is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.lab.tasks.data.enron import load_enron
from deniable.lab.tasks.data.examples import Task
from deniable.lab.tasks.data.imdb import load_imdb
from deniable.lab.tasks.data.insuranceqa import load_insuranceqa

if TYPE_CHECKING:
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import RankerSettings


@dataclass(frozen=True, kw_only=True)
class PaperTask:
    """One task: its reader, the score that its curve shows, and what that score is called in words."""

    load: Callable[[Path], Task]
    score: str
    score_in_words: str
    title: str


TASKS = {
    "imdb": PaperTask(
        load=load_imdb, score="accuracy", score_in_words="accuracy", title="IMDb: is a review positive?"
    ),
    "enron": PaperTask(
        load=load_enron,
        score="accuracy",
        score_in_words="accuracy",
        title="Enron: which of ten authors wrote it?",
    ),
    "insuranceqa": PaperTask(
        load=load_insuranceqa,
        score="MRR@100",
        score_in_words="mean reciprocal rank",
        title="InsuranceQA: which answer fits?",
    ),
}


def training_settings(name: str, *, after_tan: bool = False) -> ClassifierSettings | RankerSettings:
    """Return how the model of a task is trained; ``after_tan``, for insuranceqa, as those did whom the paper
    replicates."""
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import AFTER_TAN, RankerSettings

    if name == "insuranceqa":
        return AFTER_TAN if after_tan else RankerSettings()
    if name == "enron":
        return ClassifierSettings(batch=64, longest=300, epochs=30, patience=4)
    return ClassifierSettings()
