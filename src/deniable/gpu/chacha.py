"""ChaCha20 on a GPU: the block function of RFC 8439, bit for bit the one of OpenSSL.

A block is a function of a key of 256 bits and four numbers of 32 bits, a counter and a nonce of three. Every
lane computes a block of its own, so that no lane waits for another. Functions here are Triton's: they are
compiled for the GPU, or interpreted on the processor for tests.
"""

# Kernels are not Python but Triton, which has no types.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

import triton
import triton.language as tl

ROUNDS = 20


@triton.jit
def _half_of_a_quarter_round(a, b, c, d, first: tl.constexpr, second: tl.constexpr):
    a = a + b
    d = d ^ a
    d = (d << first) | (d >> (32 - first))
    c = c + d
    b = b ^ c
    b = (b << second) | (b >> (32 - second))
    return a, b, c, d


@triton.jit
def _quarter_round(a, b, c, d):
    a, b, c, d = _half_of_a_quarter_round(a, b, c, d, 16, 12)
    return _half_of_a_quarter_round(a, b, c, d, 8, 7)


@triton.jit
def key_word(key, place: tl.constexpr, like):
    """Return one word of the key for every lane."""
    return like * 0 + tl.load(key + place).to(tl.uint32, bitcast=True)


@triton.jit
def chacha_block(key, counter, first, second, third, rounds: tl.constexpr):
    """Return the 16 words of each lane's block; counter and nonce are unsigned 32-bit numbers."""
    x0, x1, x2, x3 = (
        counter * 0 + 0x61707865,
        counter * 0 + 0x3320646E,
        counter * 0 + 0x79622D32,
        counter * 0 + 0x6B206574,
    )
    x4, x5, x6, x7 = (
        key_word(key, 0, counter),
        key_word(key, 1, counter),
        key_word(key, 2, counter),
        key_word(key, 3, counter),
    )
    x8, x9, x10, x11 = (
        key_word(key, 4, counter),
        key_word(key, 5, counter),
        key_word(key, 6, counter),
        key_word(key, 7, counter),
    )
    x12, x13, x14, x15 = counter, first, second, third
    for _ in range(rounds // 2):
        x0, x4, x8, x12 = _quarter_round(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter_round(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter_round(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter_round(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter_round(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter_round(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter_round(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter_round(x3, x4, x9, x14)
    x0, x1, x2, x3 = x0 + 0x61707865, x1 + 0x3320646E, x2 + 0x79622D32, x3 + 0x6B206574
    x4, x5 = x4 + key_word(key, 0, counter), x5 + key_word(key, 1, counter)
    x6, x7 = x6 + key_word(key, 2, counter), x7 + key_word(key, 3, counter)
    x8, x9 = x8 + key_word(key, 4, counter), x9 + key_word(key, 5, counter)
    x10, x11 = x10 + key_word(key, 6, counter), x11 + key_word(key, 7, counter)
    x12, x13, x14, x15 = x12 + counter, x13 + first, x14 + second, x15 + third
    return x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15


@triton.jit
def keystream(words, key, nonce, counter, blocks: tl.constexpr, rounds: tl.constexpr):
    """Write blocks from a counter on: what OpenSSL's stream cipher gives for zeros."""
    lane = tl.arange(0, blocks)
    count = (lane + counter).to(tl.uint32)
    first, second, third = key_word(nonce, 0, count), key_word(nonce, 1, count), key_word(nonce, 2, count)
    block = chacha_block(key, count, first, second, third, rounds)
    for place in tl.static_range(16):
        tl.store(words + lane * 16 + place, block[place].to(tl.int32, bitcast=True))
