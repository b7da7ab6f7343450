"""The noise of the GPU written a second time, in NumPy on OpenSSL's ChaCha20, and the statistics that its
tests ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.arrays import Floats

_LENGTHS = 1 << 20


def keystream(key: bytes, nonce: bytes, counter: int, blocks: int) -> bytes:
    """Return blocks of ChaCha20 as OpenSSL computes them."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    encryptor = Cipher(algorithms.ChaCha20(key, counter.to_bytes(4, "little") + nonce), mode=None).encryptor()
    return encryptor.update(bytes(64 * blocks))


def _words(key: bytes, number: int, token: int, counter: int, blocks: int) -> Floats:
    """Return the uniform numbers of a token, eight a block."""
    nonce = (
        token.to_bytes(4, "little")
        + (number & (1 << 31) - 1).to_bytes(4, "little")
        + (number >> 31).to_bytes(4, "little")
    )
    words = (
        np.frombuffer(keystream(key, nonce, counter, blocks), dtype="<u4").astype(np.float64).reshape(-1, 2)
    )
    return (words[:, 0] * 2.0**32 + words[:, 1] + 0.5) * 2.0**-64


def _normals(uniforms: Floats) -> Floats:
    radius, angle = np.sqrt(-2.0 * np.log(uniforms[::2])), 2 * np.pi * uniforms[1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()


def _gamma(key: bytes, number: int, token: int, shape: int) -> float:
    depth = shape - 1.0 / 3.0
    for attempt in range(64):
        uniforms = _words(key, number, token, _LENGTHS + attempt, 1)
        x = _normals(uniforms[:2])[0]
        root = 1.0 + x / np.sqrt(9.0 * depth)
        if root > 0.0 and np.log(uniforms[2]) < 0.5 * x * x + depth * (1.0 - root**3 + 3.0 * np.log(root)):
            return float(depth * root**3)
    raise AssertionError("no attempt was accepted")


def reference_noise(
    key: bytes, number: int, tokens: int, dimension: int, epsilon: float, *, cut: float = np.inf
) -> Floats:
    """Return the noise of a launch; ``cut`` is how far normal numbers may be out, for a mutant."""
    blocks = -(-dimension // 8)
    noise = np.empty((tokens, dimension))
    for token in range(tokens):
        normals = np.clip(_normals(_words(key, number, token, 0, blocks))[:dimension], -cut, cut)
        noise[token] = normals / np.linalg.norm(normals) * _gamma(key, number, token, dimension) / epsilon
    return noise


def cut_normals(key: bytes, number: int, tokens: int, dimension: int, cut: float) -> Floats:
    """Return the noise of a sampler whose normal numbers end at ``cut``."""
    return reference_noise(key, number, tokens, dimension, 1.0, cut=cut)


def gamma_cdf(shape: float) -> Callable[[Floats], Floats]:
    """Return the distribution function of Gamma(shape, 1)."""
    from scipy import stats

    found: Callable[[Floats], Floats] = stats.gamma(shape).cdf
    return found


def ks_p_value(values: Floats, cdf: Callable[[Floats], Floats]) -> float:
    """Return how likely values of that law lie as far from it as these do."""
    from scipy import stats

    return float(stats.kstest(values, cdf).pvalue)
