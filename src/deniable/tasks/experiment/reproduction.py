"""Prepares one of the paper's tasks: reads the data, turns it into ids once, and sets up the bench to run it on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from deniable.embeddings.embedding import Embedding
from deniable.errors import MissingExtra
from deniable.learning.encoded_task import save_encoded_task
from deniable.mechanisms.chosen import ChosenMechanism
from deniable.parameters import validated_count
from deniable.tasks.data.examples import Task, fingerprint, smaller
from deniable.tasks.data.registry import TASKS, recipe_of
from deniable.tasks.experiment.encoding import encode_task
from deniable.text.policies import TextPolicy

try:
    from deniable.tasks.experiment.laboratory import Bench
except ImportError as error:
    raise MissingExtra("training models", "experiments") from error


def prepare(
    name: str,
    data: Path,
    embedding: str | Path,
    workplace: Path,
    *,
    device: str = "cpu",
    jobs: int = 1,
    threads: int = 1,
    texts: int | None = None,
    epochs: int | None = None,
    mechanism: ChosenMechanism | None = None,
    after_tan: bool = False,
) -> tuple[Bench, Task]:
    """Return the bench of a task and the task; the ids are computed on the first call and kept in ``workplace``.

    ``texts`` takes so many texts of each part only, ``epochs`` trains for so many at most. A mechanism other than the paper's has a
    folder of its own, for each choice of its options, and so has training after Tan et al.

    :raises TaskDataError: if the data set is missing, cut off or not what it should be.
    """
    task = TASKS[name].load(data) if texts is None else smaller(TASKS[name].load(data), validated_count(texts, "texts"))
    opened = Embedding.open(embedding)
    recipe = recipe_of(name, after_tan=after_tan)
    recipe = recipe if epochs is None else replace(recipe, epochs=validated_count(epochs, "epochs"))
    digest = fingerprint(task)
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    own = _own_folder(mechanism, opened) + ("-after-tan" if after_tan else "")
    bench = Bench(
        task=name,
        data=digest,
        embedding=opened.folder or embedding,
        folder=workplace / name / f"{opened.name}-{opened.fingerprint[:8]}-{digest[:8]}{own}",
        mechanism=mechanism,
        recipe=recipe,
        device=device,
        threads=threads,
    )
    if not bench.material.exists():
        save_encoded_task(encode_task(task, opened, TextPolicy(), jobs=jobs), bench.material)
    return bench, task


def _own_folder(mechanism: ChosenMechanism, embedding: Embedding) -> str:
    if mechanism.is_papers:
        return ""
    identity = json.dumps(mechanism.identity(embedding), sort_keys=True)
    return f"-{mechanism.name}-{hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()}"
