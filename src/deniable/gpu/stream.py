"""The secure source of noise on a GPU: ChaCha20 under a key from the operating system, one key for a process
and a device.

The rules are those of ``SecureRandomness``. A copy of the process notices that it is one and takes a fresh
key; where the kernel cannot tell a copy, a key serves for one launch only. A key is never shown, saved or
copied: pickling raises. No entropy, or a GPU whose blocks are not those of RFC 8439, raise
``RandomnessError``, and no word is released.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from deniable.errors import RandomnessError
from deniable.gpu.chacha import ROUNDS, keystream
from deniable.gpu.devices import pytorch
from deniable.gpu.sampling import ATTEMPTS, NORMALS_PER_BLOCK, noise_vectors
from deniable.noise.randomness import RadialNoise, copies_are_noticed, fresh_key, this_process

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_LANES = 128
_LANES_INTERPRETED = 1 << 16
_HALF_OF_A_NUMBER = 31
_BLOCK_OF_RFC_8439 = (
    "e4e7f110 15593bd1 1fdd0f50 c47120a3 c7f4d1c7 0368c033 9aaa2204 4e6cd4c3 "
    "466482d2 09aa9f07 05d7c214 a2028bd9 d19c12b5 b94e16de e883d0cb 4e3c50a2"
)


class Launch:
    """The noise of one batch. Who holds it can make it again, so it never leaves the search."""

    __slots__ = ("_key", "_number")

    def __init__(self, key: Tensor, number: int) -> None:
        self._key, self._number = key, number

    def noise(self, noise: RadialNoise, epsilons: Tensor) -> Tensor:
        """Return one float64 noise vector for each of ``epsilons``; not-a-number if the source failed."""
        made = self.unshaped(epsilons, noise.dimension, gamma=noise.lengths == "gamma")
        if noise.shape is None:
            return made
        shaped: Tensor = made @ pytorch().from_numpy(np.array(noise.shape, dtype=np.float64)).to(made.device)
        return shaped

    def unshaped(
        self, epsilons: Tensor, dimension: int, *, gamma: bool, attempts: int = ATTEMPTS, rounds: int = ROUNDS
    ) -> Tensor:
        """Return noise without a shape; other ``attempts`` and ``rounds`` are for tests of the tests."""
        torch, tokens = pytorch(), len(epsilons)
        # What is not written stays not-a-number, which nothing is released by.
        made: Tensor = torch.full((tokens, dimension), torch.nan, dtype=torch.float64, device=epsilons.device)
        blocks = 1 << (-(-dimension // NORMALS_PER_BLOCK) - 1).bit_length()
        lanes = _LANES if epsilons.is_cuda else min(_LANES_INTERPRETED, blocks << (tokens - 1).bit_length())
        at_once = max(1, lanes // blocks)
        half = (1 << _HALF_OF_A_NUMBER) - 1
        with launching_on(epsilons.device):
            noise_vectors[(-(-tokens // at_once),)](
                made,
                epsilons,
                self._key,
                self._number & half,
                self._number >> _HALF_OF_A_NUMBER,
                tokens,
                dimension=dimension,
                gamma=gamma,
                at_once=at_once,
                blocks=blocks,
                attempts=attempts,
                rounds=rounds,
            )
        return made

    def __repr__(self) -> str:
        return "<Launch>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("the noise of a launch cannot be pickled or copied")


class GpuNoise:
    """Gives every batch a launch of its own, under this process's key. Safe in several threads."""

    __slots__ = ("_device", "_key", "_launches", "_lock", "_process")

    def __init__(self, device: torch.device) -> None:
        """Check that the device computes ChaCha20."""
        self._device = device
        self._lock = threading.Lock()
        self._key: Tensor | None = None
        self._launches = 0
        self._process = this_process()
        _check(device)

    def launch(self) -> Launch:
        """Return the noise of a new batch of at most 2³¹ tokens."""
        with self._lock:
            process = this_process()
            if self._key is None or self._process != process or not copies_are_noticed():
                self._key, self._launches, self._process = _on(self._device, fresh_key()), 0, process
            self._launches += 1
            return Launch(self._key, self._launches)

    def renew_lock(self) -> None:
        """Forget who held the lock: in a copy of the process nobody would release it."""
        self._lock = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise TypeError("GpuNoise cannot be pickled or copied: a copy would repeat the noise")


_sources: dict[str, GpuNoise] = {}
_lock = threading.Lock()


def gpu_noise(device: torch.device) -> GpuNoise:
    """Return the one source of this process for a device."""
    with _lock:
        if str(device) not in _sources:
            _sources[str(device)] = GpuNoise(device)
        return _sources[str(device)]


def _renew_locks() -> None:
    global _lock
    _lock = threading.Lock()
    for source in _sources.values():
        source.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def stream(device: torch.device, key: bytes, nonce: bytes, counter: int, blocks: int) -> bytes:
    """Return so many blocks, a power of two, as the device computes them; the nonce has 12 bytes."""
    torch = pytorch()
    words: Any = torch.zeros(16 * blocks, dtype=torch.int32, device=device)
    with launching_on(device):
        keystream[(1,)](words, _on(device, key), _on(device, nonce), counter, blocks=blocks, rounds=ROUNDS)
    made: bytes = words.cpu().numpy().astype("<i4").tobytes()
    return made


def launching_on(device: torch.device) -> AbstractContextManager[object]:
    """Make kernels run on this device: Triton starts them on the current one, whose work those that read the
    results do not wait for."""
    return pytorch().cuda.device(device) if device.type == "cuda" else nullcontext()


def _check(device: torch.device) -> None:
    expected = np.array([int(word, 16) for word in _BLOCK_OF_RFC_8439.split()], dtype="<u4").tobytes()
    found = stream(device, bytes(range(32)), bytes.fromhex("000000090000004a00000000"), 1, 1)
    if found != expected:
        raise RandomnessError(
            f"the blocks of ChaCha20 that {device} computes are not those of RFC 8439; nothing was released"
        )


def _on(device: torch.device, secret: bytes) -> Tensor:
    numbers: Tensor = pytorch().from_numpy(np.frombuffer(secret, dtype="<i4").astype(np.int32)).to(device)
    return numbers
