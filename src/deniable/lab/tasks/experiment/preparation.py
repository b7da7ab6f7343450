"""Prepares an experiment: reads the data, turns it into ids of an embedding once, and finds the folder to
keep everything in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.embeddings.embedding import Embedding
from deniable.lab.neural.encoded_task import EncodedTask, save_encoded_task
from deniable.lab.passages import passages_of
from deniable.lab.tasks.data.examples import Classification, Task, fingerprint, take_texts
from deniable.lab.tasks.data.registry import TASKS, training_settings
from deniable.lab.tasks.experiment.runner import Experiment
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count
from deniable.release.policies import TextPolicy

SPLITS = ("train", "validation", "test")


def prepare(
    name: str,
    data: Path,
    embedding: str | Path,
    workplace: Path,
    *,
    device: str = "cpu",
    threads: int = 1,
    texts: int | None = None,
    epochs: int | None = None,
    mechanism: ChosenMechanism | None = None,
    after_tan: bool = False,
) -> tuple[Experiment, Task]:
    """Return the experiment with a task, and the task; the ids are computed on the first call and kept in
    ``workplace``.

    ``texts`` takes at most that many texts of each part, ``epochs`` trains for at most that many. A mechanism
    other than the paper's has a folder of its own, for each choice of its options, and so has training after
    Tan et al.

    :raises TaskDataError: if the data set is missing, cut off or not what it should be.
    """
    task = (
        TASKS[name].load(data)
        if texts is None
        else take_texts(TASKS[name].load(data), validated_count(texts, "texts"))
    )
    space = Embedding.open(embedding)
    training = training_settings(name, after_tan=after_tan)
    training = training if epochs is None else replace(training, epochs=validated_count(epochs, "epochs"))
    digest = fingerprint(task)
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    own = _own_folder(mechanism, space) + ("-after-tan" if after_tan else "")
    experiment = Experiment(
        task=name,
        data=digest,
        embedding=space.folder or embedding,
        folder=workplace / name / f"{space.name}-{space.fingerprint[:8]}-{digest[:8]}{own}",
        mechanism=mechanism,
        training=training,
        device=device,
        threads=threads,
    )
    if not experiment.encoded_file.exists():
        save_encoded_task(encode_task(task, space, TextPolicy()), experiment.encoded_file)
    return experiment, task


def encode_task(task: Task, embedding: Embedding, policy: TextPolicy) -> EncodedTask:
    """Return the task as ids of an embedding, cut as a release cuts text. Answers are public: no policy
    changes them."""
    passages = {split: passages_of(getattr(task, split).texts, embedding, policy) for split in SPLITS}
    arrays: dict[str, NDArray[np.int64]] = {}
    if isinstance(task, Classification):
        arrays["classes"] = np.array(len(task.classes))
        for split in SPLITS:
            arrays[f"labels/{split}"] = np.array(getattr(task, split).labels, dtype=np.int64)
        return EncodedTask(passages=passages, arrays=arrays)
    passages["answers"] = passages_of(task.answers, embedding, TextPolicy())
    for split in SPLITS:
        questions = getattr(task, split)
        arrays[f"right/{split}"] = np.array(
            [answer for answers in questions.answers for answer in answers], dtype=np.int64
        )
        arrays[f"right_offsets/{split}"] = np.cumsum([0, *map(len, questions.answers)], dtype=np.int64)
        for size, pools in questions.pools.items():
            arrays[f"pool{size}/{split}"] = np.array(pools, dtype=np.int64)
    return EncodedTask(passages=passages, arrays=arrays)


def _own_folder(mechanism: ChosenMechanism, embedding: Embedding) -> str:
    if mechanism.is_papers:
        return ""
    identity = json.dumps(mechanism.identity(embedding), sort_keys=True)
    return f"-{mechanism.name}-{hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()}"
