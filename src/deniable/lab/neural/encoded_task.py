"""A task as ids of an embedding: passages and arrays, and the file that keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import TaskDataError
from deniable.lab.passages import Passages, load_arrays, save_arrays


@dataclass(frozen=True, kw_only=True)
class EncodedTask:
    """Passages by name ("train", "validation", "test", and "answers" where there are any) and arrays by name.

    Classification: ``labels/SPLIT`` and ``classes``. Answer selection: ``right/SPLIT`` (places in the
    answers, all questions one after the other) with ``right_offsets/SPLIT``, and ``pool100/SPLIT`` and the
    like, one row a question.
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


def save_encoded_task(task: EncodedTask, path: Path) -> None:
    """Write the task, whole or not at all."""
    arrays: dict[str, NDArray[Any]] = {f"array:{name}": array for name, array in task.arrays.items()}
    for name, passages in task.passages.items():
        arrays |= {
            f"ids:{name}": passages.ids,
            f"offsets:{name}": passages.offsets,
            f"drawn:{name}": passages.drawn,
        }
    save_arrays(path, arrays)


def load_encoded_task(path: Path) -> EncodedTask:
    """Read the task back.

    :raises TaskDataError: if the file is damaged or missing.
    """
    advice = "remove it and run the command again"
    found = load_arrays(path, advice=advice)
    names = [name.removeprefix("ids:") for name in found if name.startswith("ids:")]
    try:
        return EncodedTask(
            passages={
                n: Passages(ids=found[f"ids:{n}"], offsets=found[f"offsets:{n}"], drawn=found[f"drawn:{n}"])
                for n in names
            },
            arrays={
                name.removeprefix("array:"): array
                for name, array in found.items()
                if name.startswith("array:")
            },
        )
    except KeyError as error:
        raise TaskDataError(path, f"it cannot be read ({error}); {advice}") from error
