"""A task in the form that models read: passages and plain arrays, in one file that worker processes open."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.tasks.examples import Classification, Task
from deniable.tasks.passages import Passages, passages_of
from deniable.tasks.saving import save_arrays
from deniable.text.policies import TextPolicy

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class Material:
    """Passages by name ("train", "validation", "test", and "answers" where there are any) and arrays by name.

    Classification: ``labels/SPLIT`` and ``classes``. Answer selection: ``right/SPLIT`` (places in the answers, all questions
    one after the other) with ``right_offsets/SPLIT``, and ``pool100/SPLIT`` and the like, one row a question.
    """

    passages: dict[str, Passages]
    arrays: dict[str, NDArray[np.int64]]

    def right(self, split: str, question: int) -> NDArray[np.int64]:
        """Return the right answers to a question."""
        offsets = self.arrays[f"right_offsets/{split}"]
        return self.arrays[f"right/{split}"][offsets[question] : offsets[question + 1]]

    def pools(self, split: str) -> dict[int, NDArray[np.int64]]:
        """Return the pools of a split by their size, smallest first."""
        sizes = sorted(
            int(name.removeprefix("pool").partition("/")[0])
            for name in self.arrays
            if name.startswith("pool") and name.endswith(f"/{split}")
        )
        return {size: self.arrays[f"pool{size}/{split}"] for size in sizes}


def material_of(task: Task, embedding: Embedding, policy: TextPolicy, *, jobs: int = 1) -> Material:
    """Return the task as ids of an embedding. Answers are public: no policy changes them."""
    passages = {split: passages_of(getattr(task, split).texts, embedding, policy, jobs=jobs) for split in SPLITS}
    arrays: dict[str, NDArray[np.int64]] = {}
    if isinstance(task, Classification):
        arrays["classes"] = np.array(len(task.classes))
        for split in SPLITS:
            arrays[f"labels/{split}"] = np.array(getattr(task, split).labels, dtype=np.int64)
        return Material(passages=passages, arrays=arrays)
    passages["answers"] = passages_of(task.answers, embedding, TextPolicy(), jobs=jobs)
    for split in SPLITS:
        questions = getattr(task, split)
        arrays[f"right/{split}"] = np.array([answer for answers in questions.answers for answer in answers], dtype=np.int64)
        arrays[f"right_offsets/{split}"] = np.cumsum([0, *map(len, questions.answers)], dtype=np.int64)
        for size, pools in questions.pools.items():
            arrays[f"pool{size}/{split}"] = np.array(pools, dtype=np.int64)
    return Material(passages=passages, arrays=arrays)


def save_material(material: Material, path: Path) -> None:
    """Write the material, whole or not at all."""
    arrays: dict[str, Any] = {f"array:{name}": array for name, array in material.arrays.items()}
    for name, passages in material.passages.items():
        arrays |= {f"ids:{name}": passages.ids, f"offsets:{name}": passages.offsets, f"drawn:{name}": passages.drawn}
    save_arrays(path, arrays)


def load_material(path: Path) -> Material:
    """Read the material back.

    :raises TaskDataError: if the file is damaged.
    """
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = [name.removeprefix("ids:") for name in file.files if name.startswith("ids:")]
            return Material(
                passages={n: Passages(ids=file[f"ids:{n}"], offsets=file[f"offsets:{n}"], drawn=file[f"drawn:{n}"]) for n in names},
                arrays={name.removeprefix("array:"): file[name] for name in file.files if name.startswith("array:")},
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise TaskDataError(path, f"it cannot be read ({error}); remove it and run the command again") from error
