"""The paper's tasks as one call: perturb, train, evaluate, and go on where an earlier call was
interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MissingExtra, TaskDataError
from deniable.lab.tasks.data.examples import Task, fingerprint, take_texts
from deniable.lab.tasks.data.registry import TASKS, training_settings
from deniable.lab.tasks.experiment.outcomes import Place, TaskOutcome, settings_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import set_device
from deniable.neighbours.threads import threads
from deniable.parameters import validated_count, validated_epsilon
from deniable.release.policies import TextPolicy
from deniable.utility.summary import Point, points_of

_PLACES: dict[str, tuple[Place, ...]] = {"train": ("train",), "test": ("test",), "both": ("train", "test")}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What one of the paper's tasks gave: the result of every setting, and the folder that keeps them."""

    name: str
    folder: Path
    embedding: str | Path
    mechanism: ChosenMechanism
    task: Task = field(repr=False)
    outcomes: list[TaskOutcome] = field(repr=False)

    @property
    def points(self) -> list[Point]:
        """The points of the curve: the runs at each place and ε, brought together."""
        return points_of(self.outcomes)

    def write_curve(self) -> list[Path]:
        """Write ``curve.svg``, ``curve.png`` and ``table.md`` into the folder and return their paths.

        :raises MissingExtra: if a library for the baseline is not installed.
        """
        from deniable.lab.tasks.experiment.reporting import write_curve_and_table

        return write_curve_and_table(
            self.name,
            self.task,
            self.outcomes,
            self.folder,
            embedding=self.embedding,
            mechanism=self.mechanism,
        )


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
    values are those at which an average word stays itself in 5, 25, 50, 75, 95 and 99 % of the draws. What is
    finished is kept in ``work``: the same call goes on where it was interrupted, and ``on_result`` is called
    with each new result. ``texts`` and ``epochs`` are upper limits for a quick look; ``after_tan``, for
    insuranceqa, trains after Tan et al. (2015).

    :raises InvalidParameter: if a value is not allowed.
    :raises MissingExtra: if a library for training models is not installed.
    :raises TaskDataError: if the data set is missing, cut off or not what it should be, or a kept file
        belongs to another experiment.
    """
    try:
        from deniable.lab.neural.encoded_task import save_encoded_task
        from deniable.lab.tasks.experiment.runner import Experiment, encode_task, run_settings
    except ImportError as error:
        raise MissingExtra("training models", "lab") from error

    if name not in TASKS:
        raise InvalidParameter("task", name, f"must be one of {', '.join(TASKS)}")
    if at not in _PLACES:
        raise InvalidParameter("at", at, f"must be one of {', '.join(_PLACES)}")
    if after_tan and name != "insuranceqa":
        raise InvalidParameter(
            "after_tan", after_tan, f"Tan et al. trained for insuranceqa; {name} has one recipe"
        )
    runs, data = validated_count(runs, "runs"), Path(data)
    epsilons = [validated_epsilon(e) for e in epsilons]
    chosen = ChosenMechanism() if mechanism is None else mechanism
    if not data.exists():
        raise TaskDataError(data, "there is no such file or folder")
    if device != "cpu":
        set_device(device)
    task = TASKS[name].load(data)
    if texts is not None:
        task = take_texts(task, validated_count(texts, "texts"))
    training = training_settings(name, after_tan=after_tan)
    if epochs is not None:
        training = replace(training, epochs=validated_count(epochs, "epochs"))
    space, digest = Embedding.open(embedding), fingerprint(task)
    own = _own_folder(chosen, space) + ("-after-tan" if after_tan else "")
    experiment = Experiment(
        task=name,
        data=digest,
        embedding=space.folder or embedding,
        folder=Path(work) / name / f"{space.name}-{space.fingerprint[:8]}-{digest[:8]}{own}",
        mechanism=chosen,
        training=training,
        device=device,
        threads=1 if device == "cpu" else threads(),
    )
    if not experiment.encoded_file.exists():
        save_encoded_task(encode_task(task, space, TextPolicy()), experiment.encoded_file)
    if not epsilons:
        from deniable.calibration.run import epsilons_where_words_stay

        epsilons = epsilons_where_words_stay(experiment.embedding, chosen)
    outcomes = run_settings(experiment, settings_of(epsilons, _PLACES[at], runs), on_result=on_result)
    return Reproduction(
        name=name,
        folder=experiment.folder,
        embedding=experiment.embedding,
        mechanism=chosen,
        task=task,
        outcomes=outcomes,
    )


def _own_folder(mechanism: ChosenMechanism, embedding: Embedding) -> str:
    if mechanism.is_papers:
        return ""
    identity = json.dumps(mechanism.identity(embedding), sort_keys=True)
    return f"-{mechanism.name}-{hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()}"
