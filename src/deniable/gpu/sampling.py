"""Noise vectors on a GPU, from ChaCha20 blocks: the kernel, and why its noise has the law that the guarantee
speaks of.

Token t of launch l owns the blocks with nonce (t, l) and any counter, and no other token ever has them:
launches of one key have different numbers. Counters from 0 on give the direction, eight normal numbers a
block; those from ``_LENGTHS`` on give the length, one attempt a block.

Numbers are float64, as on the processor: next to the search their cost is nothing. A uniform number is (k +
½)·2⁻⁶⁴ with k of 64 bits, rounded to float64. Two of them give two independent normal numbers by Box and
Muller, √(-2·ln u)·(cos, sin)(2πv). The law differs from the real one

- in its tail: a pair of normal numbers is never further out than √(2·65·ln 2) = 9.49, which happens with
  probability 2⁻⁶⁵;
- by rounding: between u and the uniform number it stands for lie at most 2⁻⁶⁵ + 2⁻⁵⁴·u, which moves a normal
  number by 2⁻⁵³ on average and makes the steps of the tail coarser the further out they are (2⁻³⁷ at 6.4,
  which is passed once in 2³⁰ pairs); the functions of the GPU are good to 2 units in the last place, as the
  processor's are.

So the noise of a word of n dimensions can be coupled with real-valued noise such that, but for an event of
probability n·2⁻⁶⁶, it is the same up to rounding; both are then rounded to float32, and a word comes out. The
total variation distance between the released words is at most n·2⁻⁶⁶ plus the probability that a border
between two words lies within the rounding, some 2⁻⁵⁰ of the distance to the nearest border on average: the
same as on the processor (``mechanisms.multivariate``).

The length is Gamma(n) by Marsaglia and Tsang (2000): with d = n - 1/3, c = 1/√(9d), x normal and u uniform,
d·(1 + cx)³ is accepted if ln u < x²/2 + d - dv + d·ln v. An attempt fails at most 5 times in 100, and each
has a block of its own, so what is accepted has exactly that law. A token that was refused ``ATTEMPTS`` times
(probability below 2⁻²⁷⁶) becomes not-a-number, and nothing at all is released.
"""

# Kernels are not Python but Triton, which has no types.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,no-any-return"

from __future__ import annotations

import triton
import triton.language as tl

from deniable.gpu.chacha import chacha_block

NORMALS_PER_BLOCK = 8
ATTEMPTS = 64
_LENGTHS = tl.constexpr(1 << 20)


@triton.jit
def _uniform(high, low):
    return (high.to(tl.float64) * 4294967296.0 + low.to(tl.float64) + 0.5) * 5.421010862427522e-20  # 2**-64


@triton.jit
def _two_normals(a, b, c, d):
    radius = tl.sqrt(-2.0 * tl.log(_uniform(a, b)))
    angle = 6.283185307179586 * _uniform(c, d)
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def _squares(values, column, dimension: tl.constexpr):
    return tl.sum(tl.where(column < dimension, values * values, 0.0), 1)


@triton.jit
def _gammas(key, token, second, third, dimension: tl.constexpr, attempts: tl.constexpr, rounds: tl.constexpr):
    """Return one Gamma(dimension) number a token; not-a-number where no attempt was accepted."""
    depth: tl.constexpr = dimension - 1.0 / 3.0
    slope: tl.constexpr = (9.0 * (dimension - 1.0 / 3.0)) ** -0.5
    found = token.to(tl.float64) * 0.0 + float("nan")
    missing = token * 0 + 1
    left = 1
    attempt = 0
    while left > 0:
        a, b, c, d, e, f, _g, _h, _i, _j, _k, _l, _m, _n, _o, _p = chacha_block(
            key, token * 0 + (attempt + _LENGTHS).to(tl.uint32), token, second, third, rounds
        )
        x, _unused = _two_normals(a, b, c, d)
        root = 1.0 + slope * x
        v = root * root * root
        accepted = tl.log(_uniform(e, f)) < 0.5 * x * x + depth * (
            1.0 - v + tl.log(tl.where(root > 0.0, v, 1.0))
        )
        taken = (root > 0.0) & accepted & (missing > 0)
        found = tl.where(taken, depth * v, found)
        missing = tl.where(taken, 0, missing)
        attempt += 1
        left = tl.where(attempt < attempts, tl.max(missing.to(tl.int32)), 0)
    return found


@triton.jit(do_not_specialize=["launch_low", "launch_high", "tokens"])
def noise_vectors(
    noise,
    epsilons,
    key,
    launch_low,
    launch_high,
    tokens,
    dimension: tl.constexpr,
    gamma: tl.constexpr,
    at_once: tl.constexpr,
    blocks: tl.constexpr,
    attempts: tl.constexpr,
    rounds: tl.constexpr,
):
    """Write a noise vector for each token: direction times Gamma(dimension)/ε, or normals over ε."""
    place = tl.program_id(0) * at_once + tl.arange(0, at_once)
    token = place.to(tl.uint32)
    second, third = token * 0 + launch_low.to(tl.uint32), token * 0 + launch_high.to(tl.uint32)
    counter = tl.zeros([at_once, blocks], tl.uint32) + tl.arange(0, blocks)[None, :].to(tl.uint32)
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15 = chacha_block(
        key,
        counter,
        counter * 0 + token[:, None],
        counter * 0 + second[:, None],
        counter * 0 + third[:, None],
        rounds,
    )
    z0, z1 = _two_normals(x0, x1, x2, x3)
    z2, z3 = _two_normals(x4, x5, x6, x7)
    z4, z5 = _two_normals(x8, x9, x10, x11)
    z6, z7 = _two_normals(x12, x13, x14, x15)
    column = tl.zeros([at_once, blocks], tl.int32) + tl.arange(0, blocks)[None, :] * 8
    inside = place < tokens
    scale = 1.0 / tl.load(epsilons + place, mask=inside, other=1.0)
    if gamma:
        squares = _squares(z0, column, dimension) + _squares(z1, column + 1, dimension)
        squares += _squares(z2, column + 2, dimension) + _squares(z3, column + 3, dimension)
        squares += _squares(z4, column + 4, dimension) + _squares(z5, column + 5, dimension)
        squares += _squares(z6, column + 6, dimension) + _squares(z7, column + 7, dimension)
        # In one dimension a direction of length zero can happen, with probability 2⁻⁵⁴: it is then the first
        # axis, as on the processor.
        empty = squares == 0.0
        z0 = tl.where((column == 0) & empty[:, None], 1.0, z0)
        lengths = _gammas(key, token, second, third, dimension, attempts, rounds)
        scale *= lengths / tl.sqrt(tl.where(empty, 1.0, squares))
    start = noise + place.to(tl.int64)[:, None] * dimension
    written = inside[:, None]
    tl.store(start + column, z0 * scale[:, None], mask=written & (column < dimension))
    tl.store(start + column + 1, z1 * scale[:, None], mask=written & (column + 1 < dimension))
    tl.store(start + column + 2, z2 * scale[:, None], mask=written & (column + 2 < dimension))
    tl.store(start + column + 3, z3 * scale[:, None], mask=written & (column + 3 < dimension))
    tl.store(start + column + 4, z4 * scale[:, None], mask=written & (column + 4 < dimension))
    tl.store(start + column + 5, z5 * scale[:, None], mask=written & (column + 5 < dimension))
    tl.store(start + column + 6, z6 * scale[:, None], mask=written & (column + 6 < dimension))
    tl.store(start + column + 7, z7 * scale[:, None], mask=written & (column + 7 < dimension))
