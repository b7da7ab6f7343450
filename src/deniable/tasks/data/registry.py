"""The three tasks by name: how each is read, and with which recipe its model is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.tasks.data.enron import load_enron
from deniable.tasks.data.examples import Task
from deniable.tasks.data.imdb import load_imdb
from deniable.tasks.data.insuranceqa import load_insuranceqa

if TYPE_CHECKING:
    from deniable.tasks.experiment.laboratory import Recipe


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One task: its reader, the score that its curve shows, and what that score is called in words."""

    load: Callable[[Path], Task]
    score: str
    score_in_words: str
    title: str


TASKS = {
    "imdb": Entry(load=load_imdb, score="accuracy", score_in_words="accuracy", title="IMDb: is a review positive?"),
    "enron": Entry(load=load_enron, score="accuracy", score_in_words="accuracy", title="Enron: which of ten authors wrote it?"),
    "insuranceqa": Entry(
        load=load_insuranceqa, score="MRR@100", score_in_words="mean reciprocal rank", title="InsuranceQA: which answer fits?"
    ),
}


def recipe_of(name: str, *, after_tan: bool = False) -> Recipe:
    """Return how the model of a task is trained; ``after_tan``, for insuranceqa, as those did whom the paper replicates."""
    from deniable.learning.classifier import ClassifierRecipe
    from deniable.learning.ranker import AFTER_TAN, RankerRecipe

    if name == "insuranceqa":
        return AFTER_TAN if after_tan else RankerRecipe()
    if name == "enron":
        return ClassifierRecipe(batch=64, longest=300, epochs=30, patience=4)
    return ClassifierRecipe()
