"""Texts as word ids, laid end to end: what mechanisms perturb and models read, and the files that arrays of
them are kept in."""

from __future__ import annotations

import hashlib
import zipfile
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.release.policies import Drafter, TextPolicy


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Texts as ids: text i is ``ids[offsets[i]:offsets[i + 1]]``. ``drawn`` marks the words that a mechanism
    may change.

    What a policy releases as it is (a listed word, the mark of a redacted one) is not drawn.
    """

    ids: NDArray[np.int32]
    offsets: Ids
    drawn: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ids:
        """The number of words of each text."""
        return np.diff(self.offsets)

    @property
    def digest(self) -> str:
        """A short name for the content."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.ids.astype("<i4"), self.offsets.astype("<i8"), self.drawn):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    def take(self, places: Ids) -> Passages:
        """Return the texts at these places."""
        lengths = self.lengths[places]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        words = np.repeat(self.offsets[places] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Passages(ids=self.ids[words], offsets=offsets, drawn=self.drawn[words])

    def with_words(self, released: Ids) -> Passages:
        """Return the passages with other words in the drawn places, the rest as it is."""
        ids = self.ids.copy()
        ids[self.drawn] = released
        return replace(self, ids=ids)


def passages_of(texts: list[str], embedding: Embedding, policy: TextPolicy) -> Passages:
    """Return the texts as the mechanism's input under a policy.

    :raises UnknownWord: if the policy is to stop at unknown words.
    """
    drafter, ids, drawn, offsets = Drafter(embedding, policy), array("i"), bytearray(), [0]
    for record, text in enumerate(texts, 1):
        draft = drafter.draft(text, record=record)
        words = iter(draft.drawn)
        for place in range(len(draft.drawn) + len(draft.fixed)):
            fixed = draft.fixed.get(place)
            drawn.append(fixed is None)
            ids.append(next(words) if fixed is None else embedding.index.get(fixed, embedding.unknown_id))
        offsets.append(len(ids))
    return Passages(
        ids=np.array(ids, dtype=np.int32),
        offsets=np.array(offsets, dtype=np.int64),
        drawn=np.frombuffer(drawn, dtype=np.bool_),
    )


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as one .npz file, whole or not at all, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # the stubs take the names for options


def load_arrays(path: Path, *, advice: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that ``save_arrays`` wrote; ``advice`` says what to do if it is damaged.

    :raises TaskDataError: if the file is damaged or missing.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise TaskDataError(path, f"it cannot be read ({error}); {advice}") from error
