"""Turns the texts of a task into ids of an embedding, cut as a release cuts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.embeddings.embedding import Embedding
from deniable.learning.encoded_task import EncodedTask
from deniable.learning.passages import passages_of
from deniable.tasks.data.examples import Classification, Task
from deniable.text.policies import TextPolicy

SPLITS = ("train", "validation", "test")


def encode_task(task: Task, embedding: Embedding, policy: TextPolicy, *, jobs: int = 1) -> EncodedTask:
    """Return the task as ids of an embedding. Answers are public: no policy changes them."""
    passages = {split: passages_of(getattr(task, split).texts, embedding, policy, jobs=jobs) for split in SPLITS}
    arrays: dict[str, NDArray[np.int64]] = {}
    if isinstance(task, Classification):
        arrays["classes"] = np.array(len(task.classes))
        for split in SPLITS:
            arrays[f"labels/{split}"] = np.array(getattr(task, split).labels, dtype=np.int64)
        return EncodedTask(passages=passages, arrays=arrays)
    passages["answers"] = passages_of(task.answers, embedding, TextPolicy(), jobs=jobs)
    for split in SPLITS:
        questions = getattr(task, split)
        arrays[f"right/{split}"] = np.array([answer for answers in questions.answers for answer in answers], dtype=np.int64)
        arrays[f"right_offsets/{split}"] = np.cumsum([0, *map(len, questions.answers)], dtype=np.int64)
        for size, pools in questions.pools.items():
            arrays[f"pool{size}/{split}"] = np.array(pools, dtype=np.int64)
    return EncodedTask(passages=passages, arrays=arrays)
