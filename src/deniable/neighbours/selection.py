"""Which search this machine gets, and which words a search can return: all but those that share their vector
with an earlier word."""

from __future__ import annotations

import os
import threading
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Neighbours
from deniable.noise.randomness import RadialNoise

MOST_DIMENSIONS = 65_536
MOST_DIMENSIONS_OF_KERNELS = 1000
SLOWER = "some 6 to 17 times slower"
"""How a search without the native scan compares, by docs/research/search.md."""

_NUMBERS_AT_ONCE = 1 << 22


@runtime_checkable
class NoisyNeighbours(Protocol):
    """A search that makes secure noise itself, where the words are: ids go in and ids come out."""

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        """Return the nearest word of each word's vector plus noise of its own at its own ε."""
        ...


class _Shared:
    """The search of one embedding, under a lock of its own: nobody waits for another's index."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.search: Neighbours | None = None


_shared: WeakKeyDictionary[Embedding, _Shared] = WeakKeyDictionary()
_lock = threading.Lock()
_device: str | None = None


def set_device(device: str | None) -> None:
    """Let new searches of this process run on a PyTorch device such as "cuda"; None goes back to the
    processor.

    Mechanisms that have searched before keep the search they have.
    """
    global _device
    with _lock:
        _device = device
        _shared.clear()


def device_in_use() -> str | None:
    """Return the device that new searches of this process run on; None for the processor."""
    return _device


def _renew_locks() -> None:
    # Another thread of the parent may have held a lock when this process was forked; here nobody would
    # release it.
    global _lock
    _lock = threading.Lock()
    for shared in _shared.values():
        shared.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def best_neighbours(embedding: Embedding) -> Neighbours:
    """Return the fastest exact search this machine has; one and the same for each embedding."""
    with _lock:
        shared = _shared.setdefault(embedding, _Shared())
    with shared.lock:
        if shared.search is None:
            shared.search = _new_search(embedding)
        return shared.search


def why_not_native() -> str:
    """Return why the native scan is not used on this machine; nothing where it is."""
    try:
        from deniable.neighbours import scan
    except ImportError as error:
        problem = (
            f"the native module cannot be imported ({error}): most likely the package was installed "
            "without a C++ compiler"
        )
        return f"{problem}; the same words are found {SLOWER}"
    if scan.chosen_path() is None:
        return (
            "the processor has none of the instructions that make the scan fast; the same words are "
            f"found {SLOWER}"
        )
    return ""


def _new_search(embedding: Embedding) -> Neighbours:
    return _processor_search(embedding) if _device is None else search_on(embedding, _device)


def search_on(embedding: Embedding, device: str) -> Neighbours:
    """Return the fastest search of a PyTorch device: by our own kernels where they run."""
    from deniable.gpu.devices import compiles_kernels, usable_device

    if embedding.dimension <= MOST_DIMENSIONS_OF_KERNELS and compiles_kernels(usable_device(device)):
        from deniable.gpu.search import FusedNeighbours

        return FusedNeighbours(embedding, device=device, on_processor=_processor_search)
    from deniable.gpu.torch_search import GpuNeighbours

    return GpuNeighbours(embedding, device=device)


def _processor_search(embedding: Embedding) -> Neighbours:
    if not why_not_native() and embedding.dimension <= MOST_DIMENSIONS:
        from deniable.neighbours.scan import ScanNeighbours

        return ScanNeighbours(embedding)
    from deniable.neighbours.blas import BlasNeighbours

    return BlasNeighbours(embedding)


def first_of_each(embedding: Embedding) -> Ids:
    """Return for every word the first word with the same vector: itself, unless it is shadowed."""
    first = np.arange(len(embedding), dtype=np.int64)
    if len(embedding.shadowed):
        first[embedding.shadowed] = best_neighbours(embedding).nearest(embedding.rows(embedding.shadowed))
    return first


def known_words_for(embedding: Embedding) -> Ids:
    """Return the output that stands for every input id: first of its vector, or nearest to ⊥."""
    nearest = best_neighbours(embedding).nearest(embedding.unknown[None, :])
    return np.concatenate([first_of_each(embedding), nearest])


def released_words(embedding: Embedding) -> Ids:
    """Return the ids of all words that can be released, in order."""
    return np.delete(np.arange(len(embedding), dtype=np.int64), embedding.shadowed)


def nearest_released(embedding: Embedding, search: Neighbours, points: Vectors, k: int) -> tuple[Ids, Floats]:
    """Return the ``k`` nearest words that can be released of every row, nearest first, and their distances.

    ``k`` must not exceed the number of such words.
    """
    ids, distances = np.empty((len(points), k), dtype=np.int64), np.empty((len(points), k))
    shadowed = np.zeros(len(embedding), dtype=bool)
    shadowed[embedding.shadowed] = True
    left, asked = np.arange(len(points)), k
    while len(left):
        at_once = max(1, _NUMBERS_AT_ONCE // asked)
        short = []
        for start in range(0, len(left), at_once):
            rows = left[start : start + at_once]
            near, far = search.nearest_k(points[rows], asked)
            free = ~shadowed[near]
            enough = free.sum(axis=1) >= k
            first_k = np.argsort(~free, axis=1, kind="stable")[enough, :k]
            ids[rows[enough]] = np.take_along_axis(near[enough], first_k, axis=1)
            distances[rows[enough]] = np.take_along_axis(far[enough], first_k, axis=1)
            short.append(rows[~enough])
        left, asked = np.concatenate(short), min(2 * asked + len(embedding.shadowed[:64]), len(embedding))
    return ids, distances
