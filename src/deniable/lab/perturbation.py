"""Perturbed passages, kept on the disk under everything they depend on, so that a second run draws nothing
again.

The name of a kept perturbation is a digest of the passages, the embedding's fingerprint, the mechanism with
all it promises, ε, the policy and the number of the run. The file repeats them in full and is checked against
them: one that was drawn for another ε, embedding, policy or run is never used.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np

from deniable.arrays import Ids
from deniable.errors import TaskDataError
from deniable.interfaces import Mechanism, Randomness
from deniable.lab.passages import Passages, load_arrays, save_arrays
from deniable.noise.randomness import SecureRandomness
from deniable.release.policies import TextPolicy

_WORDS_AT_ONCE = 16_384


def perturbation_key(
    passages: Passages, mechanism: Mechanism, policy: TextPolicy, run: int
) -> dict[str, object]:
    """Return everything that a perturbation depends on but the noise."""
    guarantee = asdict(mechanism.guarantee)
    del guarantee["keeps_words"]  # follows from the others; kept perturbations are named without it
    return {
        "format": 1,
        "passages": passages.digest,
        "embedding": mechanism.embedding.fingerprint,
        "mechanism": type(mechanism).__qualname__,
        "guarantee": guarantee,
        "epsilon": mechanism.epsilon,
        "policy": {**asdict(policy), "keep_words": sorted(policy.keep_words)},
        "run": run,
    }


class Perturbations:
    """Perturbed passages, drawn once and then kept in a folder."""

    def __init__(self, folder: Path, policy: TextPolicy, *, threads: int = 1) -> None:
        """Keep perturbations of passages made under a policy; several threads pay where the search runs on a
        GPU."""
        self._folder, self._policy, self._threads = folder, policy, threads

    def path(self, passages: Passages, mechanism: Mechanism, run: int) -> Path:
        """Return where the perturbation lies, whether it was drawn or not."""
        return (
            self._folder
            / f"{_digest(_key_as_json(perturbation_key(passages, mechanism, self._policy, run)))}.npz"
        )

    def get(self, passages: Passages, mechanism: Mechanism, run: int) -> Passages:
        """Return the perturbed passages, drawing them with secure noise if they are not there.

        :raises TaskDataError: if the kept file is damaged or holds something else.
        """
        key = _key_as_json(perturbation_key(passages, mechanism, self._policy, run))
        path = self._folder / f"{_digest(key)}.npz"
        words = int(passages.drawn.sum())
        if path.exists():
            return passages.with_words(_read(path, key, words))
        perturbed = draw(passages, mechanism, threads=self._threads)
        save_arrays(path, {"released": perturbed.ids[passages.drawn].astype(np.uint32), "key": np.array(key)})
        return perturbed


def draw(passages: Passages, mechanism: Mechanism, *, threads: int = 1) -> Passages:
    """Return the passages perturbed with secure noise."""
    randomness: Randomness = SecureRandomness()  # draws from a generator of its own in every thread
    ids = passages.ids[passages.drawn].astype(np.int64)
    released = np.empty(len(ids), dtype=np.int64)

    def draw_part(start: int) -> None:
        part = slice(start, start + _WORDS_AT_ONCE)
        released[part] = mechanism.perturb(ids[part], randomness)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw_part, range(0, len(ids), _WORDS_AT_ONCE)))  # a list, so that errors come up here
    return passages.with_words(released)


def changed_share(before: Passages, after: Passages) -> float:
    """Return the share of the words that are another one now; an unknown word always is."""
    return float((before.ids != after.ids).mean()) if len(before.ids) else 0.0


def _key_as_json(key: dict[str, object]) -> str:
    return json.dumps(key, sort_keys=True, ensure_ascii=False)


def _digest(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


def _read(path: Path, key: str, words: int) -> Ids:
    advice = "remove the file to draw again"
    found = load_arrays(path, advice=advice)
    if str(found.get("key")) != key or "released" not in found or len(found["released"]) != words:
        raise TaskDataError(path, f"the kept perturbation was drawn for something else; {advice}")
    released: Ids = found["released"].astype(np.int64)
    return released
