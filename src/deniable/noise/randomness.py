"""Noise, and where it comes from.

``SecureRandomness`` is the default everywhere: AES-128 in counter mode, keyed from the operating system. The
guarantee is about what an adversary can compute from the output, so a generator whose next numbers can be
worked out from the last ones (numpy's default PCG64, Mersenne Twister) keeps no promise.

``InsecureSeededRandomness`` exists for tests and published experiments only. Who knows the seed can undo the
noise.

What is drawn from them is noise with density proportional to exp(-ε‖z‖) in n dimensions. In polar form this
is r^(n-1)·exp(-εr) dr on the radius times the uniform distribution on the sphere: the radius is Gamma(n) with
scale 1/ε, the direction is a normalised standard normal vector (section 2.6 of the paper).

Shaped by an invertible matrix A, the noise A·z has density proportional to exp(-ε‖A⁻¹x‖) = exp(-ε·√(xᵀS⁻¹x))
with S = AAᵀ: the change of variables only adds the constant factor 1/|det A|.

Such noise, and normal noise, is a length times a direction. ``RadialNoise`` says so as data: a mechanism that
releases the word nearest to it declares it, and the channel then follows each direction through all lengths
(``channel.rays``).
"""

from __future__ import annotations

import mmap
import os
import secrets
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Self

import numpy as np

from deniable.arrays import Floats
from deniable.errors import RandomnessError
from deniable.interfaces import Randomness
from deniable.parameters import validated_count

WIPE_ON_FORK = 18  # of Linux; the standard library has no name for it
_forks = 0
"""How many forks were noticed between this process and the first one: process ids alone can come back."""


def _wiped_on_fork() -> mmap.mmap | None:
    """Return memory that the kernel empties in every copy of this process; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        page.madvise(WIPE_ON_FORK)
    except (OSError, ValueError):  # an old kernel, or one that only looks like Linux
        return None
    page[0] = 1
    return page


_page = _wiped_on_fork()


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def this_process() -> tuple[int, int]:
    """Return what changes in a copy of this process: forks noticed, by hook or page, and process id."""
    if _page is not None and not _page[0]:
        _count_fork()
        _page[0] = 1
    return _forks, os.getpid()


def copies_are_noticed() -> bool:
    """Return whether every copy of this process notices it; else a key may serve for one draw only."""
    return _page is not None


KEY_BYTES = 32


def fresh_key() -> bytes:
    """Return 256 bits from the operating system.

    :raises RandomnessError: if it gives no entropy.
    """
    with _or_no_release():
        return secrets.token_bytes(KEY_BYTES)


@contextmanager
def _or_no_release() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise RandomnessError(
            f"no secure random numbers ({type(error).__name__}: {error}); nothing was released"
        ) from error


class _FromGenerator(ABC):
    """What sources over a numpy generator share. Which generator, is asked at every draw."""

    __slots__ = ()

    def normals(self, tokens: int, dimension: int) -> Floats:
        """Return a (tokens, dimension) array of independent standard normal numbers."""
        return self._generator().standard_normal((tokens, dimension))

    def gammas(self, tokens: int, shape: float) -> Floats:
        """Return (tokens,) independent Gamma(shape, 1) numbers."""
        return self._generator().standard_gamma(shape, tokens)

    def uniforms(self, tokens: int, count: int) -> Floats:
        """Return a (tokens, count) array of independent numbers, uniform on [0, 1)."""
        return self._generator().random((tokens, count))

    def for_tokens(self, part: slice) -> Self:  # noqa: ARG002
        """Return this source: its noise does not depend on the tokens."""
        return self

    @abstractmethod
    def _generator(self) -> np.random.Generator:
        """Return the generator that this thread of this process may draw from."""


class SecureRandomness(_FromGenerator):
    """A cryptographic source that is never shared between threads or processes.

    Every thread draws from a generator of its own under a key of its own. A copy of the process notices that
    it is one and takes a fresh key, so that workers never repeat one another's noise: by Python's fork hook,
    by its process id, and, where neither changes (a clone by other code into another namespace of process
    ids), by a page of memory that the kernel empties in every copy. Where the kernel has no such page, a key
    serves for one draw only. A snapshot of a whole virtual machine that is started twice is not noticed. The
    source has no state that could be saved: pickling and copying raise. When a key is needed and the
    operating system gives no entropy, ``RandomnessError`` is raised and no word is released.
    """

    __slots__ = ("_local",)

    def __init__(self) -> None:
        self._local = threading.local()

    def describe(self) -> Mapping[str, Any]:
        """Say what kind of source this is, for the receipt."""
        return {"source": "secure", "generator": "AES-128 counter mode, keyed by the operating system"}

    def _generator(self) -> np.random.Generator:
        generator: np.random.Generator | None = getattr(self._local, "generator", None)
        process = this_process()
        if generator is None or not copies_are_noticed() or self._local.process != process:
            generator = _fresh_secure_generator()
            self._local.generator = generator
            self._local.process = process
        return generator

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "SecureRandomness cannot be pickled or copied: a copy would repeat the noise. Make a new one "
            "where it is used"
        )


class InsecureSeededRandomness(_FromGenerator):
    """A repeatable source for tests and published experiments: anybody who knows the seed can undo the noise.

    A forked child that draws from it gets an error, since it would repeat its parent's noise.
    """

    __slots__ = ("_process", "_seeded", "insecure_seed")

    def __init__(self, *, insecure_seed: int) -> None:
        """Start the sequence of this seed.

        :raises InvalidParameter: if the seed is not a whole number of at least 0.
        """
        self.insecure_seed = validated_count(insecure_seed, "insecure_seed", at_least=0)
        self._seeded = np.random.Generator(np.random.PCG64(self.insecure_seed))
        self._process = this_process()

    def _generator(self) -> np.random.Generator:
        if self._process != this_process():
            raise RandomnessError(
                "a seeded source was carried into a forked process, where it would repeat noise; make one "
                "there"
            )
        return self._seeded

    def describe(self) -> Mapping[str, Any]:
        """Say that this source is insecure, with its seed, for the receipt."""
        return {"source": "INSECURE seeded", "generator": "PCG64", "insecure_seed": self.insecure_seed}

    def __reduce__(self) -> NoReturn:
        raise TypeError("InsecureSeededRandomness cannot be pickled or copied: a copy would repeat the noise")


def _fresh_secure_generator() -> np.random.Generator:
    # randomgen's seed= falls back to a hash of time and process id when no entropy is there; key= with our
    # own call to the operating system fails instead.
    with _or_no_release():
        from randomgen import AESCounter

        return np.random.Generator(AESCounter(key=secrets.randbits(128)))


@dataclass(frozen=True, kw_only=True)
class RadialNoise:
    """Noise in n dimensions that is a random length divided by ε times a direction g, uniform on the sphere,
    or times A·g.

    The length is Gamma(n, 1) or χ_n, as ``lengths`` says; ``shape`` is the matrix A, if there is one.
    """

    lengths: Literal["gamma", "chi"]
    dimension: int
    shape: Floats | None = field(default=None, repr=False)


def multivariate_noise(
    randomness: Randomness, epsilon: float | Floats, tokens: int, dimension: int
) -> Floats:
    """Return (tokens, dimension) independent noise vectors.

    ``epsilon`` is one number for all tokens or one per token; both are taken as validated.
    """
    noise = randomness.normals(tokens, dimension)
    norms = row_norms(noise)
    radii = randomness.gammas(tokens, dimension)
    # A zero normal vector has probability 0 in theory and 2^-53-ish per coordinate in practice: in one
    # dimension that can happen, and 0/0 would release garbage. Its direction is then the first axis.
    degenerate = norms == 0.0
    if degenerate.any():
        noise[degenerate, 0] = 1.0
        norms[degenerate] = 1.0
    noise *= (radii / norms / epsilon)[:, None]
    return noise


def shaped_noise(randomness: Randomness, epsilon: float | Floats, tokens: int, shape: Floats) -> Floats:
    """Return noise vectors with density proportional to exp(-ε‖A⁻¹x‖), ``shape`` being the symmetric matrix
    A.

    The matrix product may round the last bit differently in batches of another size: a keyed release repeats
    its words but for points that lie within 10⁻¹⁵ of their length from a border between two words.
    """
    shaped: Floats = multivariate_noise(randomness, epsilon, tokens, len(shape)) @ shape
    return shaped


def row_norms(vectors: Floats) -> Floats:
    """Return the length of each row, the same to the last bit on every machine.

    The right half of the squares is added to the left half, element by element, until one column is left.
    Sums by a library run in an order that depends on the processor, and a keyed release must give the same
    word everywhere.
    """
    squares = vectors * vectors
    width = squares.shape[1]
    while width > 1:
        half = width // 2
        squares[:, :half] += squares[:, width - half : width]
        width -= half
    norms: Floats = np.sqrt(squares[:, 0])
    return norms
