"""The paper's three tasks by name, and each as one call: perturb, train, evaluate, and go on where an earlier
call was interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from deniable.atomic import put
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, TaskDataError
from deniable.lab.libraries import require
from deniable.lab.tasks.classification import load_enron, load_imdb
from deniable.lab.tasks.insuranceqa import load_insuranceqa
from deniable.lab.tasks.outcomes import Place, TaskOutcome, settings_of
from deniable.lab.tasks.task import Task
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import set_device
from deniable.neighbours.threads import threads
from deniable.parameters import validated_count, validated_epsilon
from deniable.utility.classifiers import ranking_scores
from deniable.utility.summary import Outcome, Point, lines_of, markdown, points_of, table_of
from deniable.words.cutter import words_of

if TYPE_CHECKING:
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import RankerSettings

_PLACES: dict[str, tuple[Place, ...]] = {"train": ("train",), "test": ("test",), "both": ("train", "test")}


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
    """Return how the model of a task is trained; ``after_tan`` is for insuranceqa."""
    from deniable.lab.neural.classifier import ClassifierSettings
    from deniable.lab.neural.ranker import AFTER_TAN, RankerSettings

    if name == "insuranceqa":
        return AFTER_TAN if after_tan else RankerSettings()
    if name == "enron":
        return ClassifierSettings(batch=64, longest=300, epochs=30, patience=4)
    return ClassifierSettings()


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What one of the paper's tasks gave: the result of every setting, and the folder that keeps them."""

    folder: Path
    embedding: str | Path
    mechanism: ChosenMechanism
    task: Task = field(repr=False)
    outcomes: Sequence[Outcome] = field(repr=False)

    @property
    def points(self) -> list[Point]:
        """The points of the curve: the runs at each place and ε, brought together."""
        return points_of(self.outcomes)

    def write_curve(self) -> list[Path]:
        """Write ``curve.svg``, ``curve.png`` and ``table.md`` into the folder and return their paths.

        :raises MissingExtra: if a library for the baseline is not installed.
        """
        from deniable.calibration.run import sampled, source_of
        from deniable.report.curves import curves
        from deniable.report.figure import save

        about, points = TASKS[self.task.name], self.points
        sample = sampled(Embedding.open(self.embedding), self.mechanism)
        epsilons = {point.epsilon for point in points if point.epsilon is not None}
        unchanged = {epsilon: sample.average(epsilon)[0] for epsilon in epsilons}
        name, scores = baseline_of(self.task)
        levels = {name: scores[about.score]} if about.score in scores else {}
        for point in points:
            if point.epsilon is None:
                levels["unperturbed"] = point.mean(about.score)
        lines, y = lines_of(points, about.score), about.score_in_words
        figure = curves(lines, x="ε", y=y, levels=levels, shares=False, title=about.title)
        written = [markdown(*table_of(points, unchanged)), ""]
        written.append(f"{name}: {', '.join(f'{score} {value:.3f}' for score, value in scores.items())}.")
        if not self.mechanism.is_papers:
            written.append(f"Mechanism: {self.mechanism.name}.")
        written.append(f"N_w: average over {source_of(sample)}. Scores: mean (lowest to highest run).")
        table = self.folder / "table.md"
        put(table, ("\n".join(written) + "\n").encode())
        return [*save(figure, self.folder, "curve"), table]


def reproduce(
    name: str,
    data: str | Path,
    *,
    embedding: str | Path = "default",
    epsilons: Sequence[float] = (),
    mechanism: ChosenMechanism | None = None,
    at: Literal["train", "test", "both"] = "both",
    runs: int = 3,
    work: str | Path = "reproduced",
    device: str = "cpu",
    texts: int | None = None,
    epochs: int | None = None,
    after_tan: bool = False,
    on_result: Callable[[TaskOutcome], None] | None = None,
) -> Reproduction:
    """Measure what ε costs on one of the paper's tasks: perturb, train and evaluate.

    ``name`` is "imdb", "enron" or "insuranceqa", ``data`` the data set as it was downloaded. Text is
    perturbed ``at`` training time, at test time, or both, one after the other. Without ``epsilons``, the
    values are those at which an average word stays unchanged in 5, 25, 50, 75, 95 and 99 % of the draws.
    Finished results are kept in ``work``: the same call goes on where it was interrupted, and ``on_result``
    is called with each new result. ``texts`` and ``epochs`` are upper limits for a quick look; ``after_tan``,
    for insuranceqa, trains after Tan et al. (2015).

    :raises InvalidParameter: if a value is not allowed.
    :raises MissingExtra: if a library for training models is not installed.
    :raises TaskDataError: if the data set is missing, cut off or not what it should be, or a kept file
        belongs to another experiment.
    """
    require("training models", "torch")
    from deniable.lab.tasks.experiment import Experiment

    if name not in TASKS:
        raise InvalidParameter("task", name, f"must be one of {', '.join(TASKS)}")
    if at not in _PLACES:
        raise InvalidParameter("at", at, f"must be one of {', '.join(_PLACES)}")
    if after_tan and name != "insuranceqa":
        problem = f"Tan et al. trained for insuranceqa; {name} has one recipe"
        raise InvalidParameter("after_tan", after_tan, problem)
    runs, data = validated_count(runs, "runs"), Path(data)
    epsilons = [validated_epsilon(epsilon) for epsilon in epsilons]
    chosen = ChosenMechanism() if mechanism is None else mechanism
    if not data.exists():
        raise TaskDataError(data, "there is no such file or folder")
    if device != "cpu":
        set_device(device)
    task = TASKS[name].load(data)
    if texts is not None:
        task = task.take(validated_count(texts, "texts"))
    training = training_settings(name, after_tan=after_tan)
    if epochs is not None:
        training = replace(training, epochs=validated_count(epochs, "epochs"))
    space = Embedding.open(embedding)
    own = _own_folder(chosen, space) + ("-after-tan" if after_tan else "")
    folder = Path(work) / name / f"{space.name}-{space.fingerprint[:8]}-{task.digest[:8]}{own}"
    experiment = Experiment(
        task,
        space,
        training,
        folder=folder,
        mechanism=chosen,
        device=device,
        threads=1 if device == "cpu" else threads(),
    )
    if not epsilons:
        from deniable.calibration.run import epsilons_where_words_stay

        epsilons = epsilons_where_words_stay(space.folder or embedding, chosen)
    outcomes = experiment.run(settings_of(epsilons, _PLACES[at], runs), on_result=on_result)
    return Reproduction(
        folder=folder, embedding=space.folder or embedding, mechanism=chosen, task=task, outcomes=outcomes
    )


def _own_folder(mechanism: ChosenMechanism, embedding: Embedding) -> str:
    if mechanism.is_papers:
        return ""
    identity = json.dumps(mechanism.identity(embedding), sort_keys=True)
    return f"-{mechanism.name}-{hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()}"


def baseline_of(task: Task) -> tuple[str, dict[str, float]]:
    """Return what the task is compared with, and its scores: the majority class, or BM25 over all answers
    (Lucene's form, k₁ = 1.5, b = 0.75).

    :raises MissingExtra: if bm25s is needed and not installed.
    """
    if not task.answers:
        return "Always the most frequent class", {"accuracy": task.majority}
    require("a BM25 ranking", "bm25s")
    import bm25s

    index = bm25s.BM25()
    index.index([words_of(answer) for answer in task.answers], show_progress=False)
    questions = [words_of(text) for text in task.test.texts]
    everything = [index.get_scores(words) if words else np.zeros(len(task.answers)) for words in questions]
    right, found = [np.array(answers) for answers in task.test.answers], dict[str, float]()
    for size, pools in task.test.pools.items():
        scores = np.stack([row[pool] for row, pool in zip(everything, pools, strict=True)])
        for score, value in ranking_scores(scores, np.array(pools), right).items():
            found[f"{score}@{size}"] = value
    return "BM25", found
