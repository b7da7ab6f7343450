"""Draws at the very borders between two released words, where one wrong last bit shows.

``find`` finds uniform numbers between which the released word changes and no other float64 number lies;
``python -m tests.mechanisms.borders FILE`` prints what another process releases at those numbers.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

from deniable import Embedding, Mechanism, Vickrey
from deniable.arrays import Floats, Ids
from deniable.interfaces import Randomness
from tests.mechanisms.every import every

WORDS, DIMENSION, TOKENS = 400, 24, 401
LEFT_OUT = ("Mahalanobis",)
"""Its noise goes through a matrix product, whose last bit is nobody's promise: docs/guide/keyed.md says
so."""


class Fixed:
    """Noise that is the same in every process, with the uniform numbers that decide between words given."""

    def __init__(self, deciding: Floats) -> None:
        self.deciding = deciding
        self._random = np.random.Generator(np.random.PCG64(11))

    def normals(self, tokens: int, dimension: int) -> Floats:
        return self._random.integers(-(2**20), 2**20, (tokens, dimension)).astype(np.float64) * 2.0**-19

    def gammas(self, tokens: int, shape: float) -> Floats:
        return shape + self._random.integers(-(2**20), 2**20, tokens).astype(np.float64) * 2.0**-18

    def uniforms(self, tokens: int, count: int) -> Floats:
        made = self._random.integers(0, 2**53, (tokens, count)).astype(np.float64) * 2.0**-53
        if len(self.deciding):
            made[:, 0], self.deciding = self.deciding, np.empty(0)
        return made

    def for_tokens(self, part: slice) -> Randomness:
        assert part.start == 0, "one part"
        return self

    def describe(self) -> dict[str, str]:
        return {}


def mechanisms() -> dict[str, Mechanism]:
    """One of every mechanism whose draw a uniform number decides, over vectors that are the same
    everywhere."""
    random = np.random.Generator(np.random.PCG64(3))
    vectors = (random.integers(-(2**20), 2**20, (WORDS, DIMENSION)) * 2.0**-19).astype(np.float32)
    vectors[7] = vectors[5]
    embedding = Embedding([f"w{i}" for i in range(WORDS)], vectors)
    made = {
        name: one
        for name, one in every(embedding, 2.0).items()
        if name not in (*LEFT_OUT, "Multivariate", "Gaussian")
    }
    return {**made, "Vickrey at ε = 40": Vickrey(embedding, epsilon=40.0, t=0.5)}


def drawn(mechanism: Mechanism, deciding: Floats) -> Ids:
    ids = np.arange(len(deciding)) % (WORDS + 1)
    return mechanism.perturb(ids, Fixed(deciding))


def find(mechanism: Mechanism) -> Floats:
    """Return two neighbouring uniform numbers for each token, between which its released word changes."""
    random = np.random.Generator(np.random.PCG64(5))
    low, high = 2.0**-20 * random.random(TOKENS), 1.0 - 2.0**-53 * random.integers(1, 2**50, TOKENS)
    below = drawn(mechanism, low)
    for _ in range(64):
        middle = np.floor((low + high) * 2.0**52) * 2.0**-53
        same = drawn(mechanism, middle) == below
        before, low, high = (low, high), np.where(same, middle, low), np.where(same, high, middle)
        if np.array_equal(before, (low, high)):
            break
    return np.stack([low, high])


def released(borders: dict[str, Floats]) -> tuple[dict[str, list[list[int]]], str]:
    """Return the words at the borders of every mechanism, and a checksum of exponentials as numpy has
    them."""
    words = {
        name: [drawn(mechanism, row).tolist() for row in borders[name]]
        for name, mechanism in mechanisms().items()
    }
    random = np.random.Generator(np.random.PCG64(9))
    others = np.exp(-random.integers(0, 2**53, 100_000) * 2.0**-50)
    return words, hashlib.blake2b(others.tobytes()).hexdigest()


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        print(json.dumps(released(dict(stored))))
