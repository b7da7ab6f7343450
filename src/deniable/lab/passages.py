"""Texts as word ids, laid end to end: what mechanisms perturb and models read, and the files that arrays of
them are kept in."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.release.policies import Draft, Drafter, TextPolicy

_TEXTS_AT_ONCE = 500


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
        for array in (self.ids.astype("<i4"), self.offsets.astype("<i8"), self.drawn):
            digest.update(np.ascontiguousarray(array).data)
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


def passages_of(texts: list[str], embedding: Embedding, policy: TextPolicy, *, jobs: int = 1) -> Passages:
    """Return the texts as the mechanism's input under a policy; with several jobs, in as many processes.

    :raises UnknownWord: if the policy is to stop at unknown words.
    """
    name = embedding.folder or (embedding.name if embedding.name == "default" else None)
    chunks = [texts[start : start + _TEXTS_AT_ONCE] for start in range(0, len(texts), _TEXTS_AT_ONCE)]
    if jobs == 1 or name is None or len(chunks) < 2:
        worker = _Worker(embedding, policy)
        parts = [worker.passages(chunk) for chunk in chunks]
    else:
        with ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(name, policy)
        ) as pool:
            parts = list(pool.map(_passages_in_worker, chunks))
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(part.lengths for part in parts)])
    return Passages(
        ids=np.concatenate([np.array([], dtype=np.int32), *(part.ids for part in parts)]),
        offsets=np.cumsum(lengths),
        drawn=np.concatenate([np.array([], dtype=bool), *(part.drawn for part in parts)]),
    )


class _Worker:
    """Turns texts into passages."""

    def __init__(self, embedding: Embedding, policy: TextPolicy) -> None:
        self._drafter = Drafter(embedding, policy)
        self._index, self._unknown = embedding.index, embedding.unknown_id

    def passages(self, texts: list[str]) -> Passages:
        drafts = [self._drafter.draft(text, record=record) for record, text in enumerate(texts, 1)]
        placed = [self._place(draft) for draft in drafts]
        lengths = [0, *(len(ids) for ids, _ in placed)]
        return Passages(
            ids=np.fromiter(chain.from_iterable(ids for ids, _ in placed), dtype=np.int32),
            offsets=np.cumsum(lengths, dtype=np.int64),
            drawn=np.fromiter(chain.from_iterable(drawn for _, drawn in placed), dtype=bool),
        )

    def _place(self, draft: Draft) -> tuple[list[int], list[bool]]:
        if not draft.fixed:
            return draft.drawn, [True] * len(draft.drawn)
        drawn = iter(draft.drawn)
        fixed = [draft.fixed.get(place) for place in range(len(draft.drawn) + len(draft.fixed))]
        return [next(drawn) if word is None else self._index.get(word, self._unknown) for word in fixed], [
            word is None for word in fixed
        ]


_worker: _Worker | None = None


def _start_worker(name: str | Path, policy: TextPolicy) -> None:
    global _worker
    _worker = _Worker(Embedding.open(name), policy)


def _passages_in_worker(texts: list[str]) -> Passages:
    if _worker is None:
        raise RuntimeError("the process was not prepared")
    return _worker.passages(texts)


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
