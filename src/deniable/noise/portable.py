"""Random bits into normal, gamma and uniform numbers, exponentials and logarithms: the same to the last bit
on every machine.

A keyed release must give the same word wherever it is computed, and the nearest word is a discontinuous
function of the noisy point: one wrong last bit in a logarithm can, rarely, change a released word, and so
spend the budget of that word again. ``numpy.log`` and its kin differ in the last bit between processors and
versions. What does not differ is the arithmetic that IEEE 754 defines to be correctly rounded: conversion of
whole numbers, addition, subtraction, multiplication, division and square root. numpy applies each of these
element by element in a loop of its own, so no compiler can fuse two of them. Everything here is made of these
and of operations on whole numbers and bits, so the result is a function of the bits alone. (``noise`` adds up
squares in an order that is written down, the point is rounded to float32, and the search for the nearest word
is exact: so the released word is a function of the bits too. Mechanisms that weigh words have ``exp_minus``
and a written order of adding up for what a library's last bits could decide.)

Each row is made from its own bits alone, so it does not matter which other rows are made with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids

Bits = NDArray[np.uint64]

_AT_ONCE = 16_384  # numbers per step: a dozen temporary arrays stay in the processor's cache
_LOWEST_TOP = np.int64(0x3FE6A09E667F3BCD)  # the bits of √½
_LN2 = 0.6931471805599453
_QUARTER_TURN = 0.7853981633974483 * 2.0**-63  # π/4 over the range of a signed 64-bit number
_EXP_AT_ONCE = 8192
_STEP_BITS = 11
_STEPS = 1 << _STEP_BITS  # of the table of 2^(-k/2048)
_ROUNDING = 1.5 * 2.0**52  # added to a number below 2^51, it leaves the nearest whole number in the last bits
_MOST_HALVINGS = 1021  # further down there are no normal float64 numbers
_SMALLEST = 2.0**-_MOST_HALVINGS
# Minimax polynomials of fdlibm (e_log.c and k_sin.c, Sun Microsystems 1993), accurate to 2^-58 where they are
# used.
_LOG = (
    0.6666666666666735130,
    0.3999999999940941908,
    0.2857142874366239149,
    0.2222219843214978396,
    0.1818357216161805012,
    0.1531383769920937332,
    0.1479819860511658591,
)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)


def _powers_of_the_root() -> NDArray[np.int64]:
    """Return the bits of 2^(-k/2048) for k from 0 to 2047, correctly rounded, with k added where
    ``exp_minus`` takes it away again.

    Worked out in whole numbers of 256 bits.
    """
    root = 1 << 255
    for _ in range(_STEP_BITS):
        root = math.isqrt(root << 256)
    powers = [1 << 256]
    while len(powers) < _STEPS:
        powers.append(powers[-1] * root >> 256)
    bits = np.array([power / (1 << 256) for power in powers]).view(np.int64)
    return bits + (np.arange(_STEPS) << (52 - _STEP_BITS))


_POWERS = _powers_of_the_root()
_STEP = _LN2 / _STEPS
_EXP = (1.0, -_STEP, _STEP * _STEP / 2.0, -_STEP * _STEP * _STEP / 6.0)  # off by 2^-54


def normal_bits(dimension: int) -> int:
    """Return how many 64-bit numbers ``normals`` takes for each row of ``dimension`` normal numbers."""
    return dimension + dimension % 2


def normals(bits: Bits, dimension: int) -> Floats:
    """Return a (rows, dimension) array of standard normal numbers from (rows, ``normal_bits(dimension)``)
    random bits.

    Box and Muller: a radius √(-2·ln u) and an angle give two numbers. The angle is a multiple of a quarter
    turn (two bits) plus x within ±π/4 (62 bits), where sine is a short polynomial and cosine is √(1 - sin²)
    without loss.
    """
    pairs = normal_bits(dimension) // 2
    made = np.empty((len(bits), 2 * pairs))
    step = max(1, _AT_ONCE // max(pairs, 1))
    for start in range(0, len(bits), step):
        rows = slice(start, start + step)
        radius = minus_log(_above_zero(bits[rows, :pairs]))
        radius += radius
        np.sqrt(radius, out=radius)
        angle = bits[rows, pairs:].view(np.int64)
        radius.view(np.int64)[...] ^= (angle << 1) & np.int64(-(2**63))
        first, second = _cosine_and_sine(angle << 2)
        swapped = first.view(np.int64) ^ second.view(np.int64)
        swapped &= angle >> 63
        first.view(np.int64)[...] ^= swapped
        second.view(np.int64)[...] ^= swapped
        np.multiply(radius, first, out=made[rows, :pairs])
        np.multiply(radius, second, out=made[rows, pairs:])
    return made if dimension == 2 * pairs else np.ascontiguousarray(made[:, :dimension])


def gammas(bits_of: Callable[[Ids, int], Bits], rows: int, shape: float) -> Floats:
    """Return (rows,) Gamma(shape, 1) numbers for a shape of at least 1, by the method of Marsaglia and Tsang
    (2000).

    A candidate is refused now and then (less than once in twenty at shape 1, hardly ever at 300) and the row
    tries again. ``bits_of(chosen, attempt)`` gives those rows three 64-bit numbers of their own for each
    attempt, so that a row depends on nothing but its own bits all the same.
    """
    made = np.empty(rows)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    chosen, attempt = np.arange(rows), 0
    while len(chosen):
        bits = bits_of(chosen, attempt)
        x = normals(bits[:, :2], 1)[:, 0]
        cube_root = 1.0 + c * x
        v = cube_root * cube_root * cube_root
        positive = v > 0.0
        v[~positive] = 1.0
        threshold = 0.5 * x * x + d - d * v - d * minus_log(v)
        accepted = positive & (minus_log(_above_zero(bits[:, 2])) > -threshold)
        made[chosen[accepted]] = (d * v)[accepted]
        chosen, attempt = chosen[~accepted], attempt + 1
    return made


def uniforms(bits: Bits) -> Floats:
    """Return numbers that are uniform on [0, 1), from one 64-bit number each."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def minus_log(values: Floats) -> Floats:
    """Return -ln of positive normal float64 numbers, off by one or two units in the last place.

    x = 2^k·m with m between √½ and √2, and ln m = 2·artanh(s) for s = (m - 1)/(m + 1).
    """
    bits = np.ascontiguousarray(values).view(np.int64)
    exponent = (bits - _LOWEST_TOP) >> 52
    fraction = (bits - (exponent << 52)).view(np.float64)
    s = fraction - 1.0
    fraction += 1.0
    s /= fraction
    z = np.multiply(s, s, out=fraction)
    series = _polynomial(z, _LOG)
    series *= z
    series += 2.0
    series *= s
    result = exponent.astype(np.float64)
    result *= -_LN2
    result -= series
    return result


def exp_minus(values: Floats) -> Floats:
    """Return e^-x for numbers of at least 0, infinity included; what is not above 2^-1021 is 0.

    Off by 2^-52·(1 + x) of itself: with y = x·2048/ln 2 rounded once, n the whole number nearest to y and f =
    y - n, it is 2^(-f/2048), a short polynomial, times 2^(-n/2048), of which a table has the part that is no
    power of two.
    """
    made = np.empty(values.shape)
    given, flat = np.ascontiguousarray(values).reshape(-1), made.reshape(-1)
    room = np.empty((3, min(len(flat), _EXP_AT_ONCE)))
    for start in range(0, len(flat), _EXP_AT_ONCE):
        part = flat[start : start + _EXP_AT_ONCE]
        y, whole, rest = room[:, : len(part)]
        with np.errstate(over="ignore"):
            np.multiply(given[start : start + _EXP_AT_ONCE], _STEPS / _LN2, out=y)
        np.minimum(y, float(_STEPS * _MOST_HALVINGS), out=y)
        np.add(y, _ROUNDING, out=whole)
        bits, places, powers = whole.view(np.int64), rest.view(np.int64), part.view(np.int64)
        np.bitwise_and(bits, _STEPS - 1, out=places)
        np.take(_POWERS, places, out=powers, mode="clip")
        powers -= np.left_shift(bits, 52 - _STEP_BITS, out=places)
        whole -= _ROUNDING
        y -= whole
        part *= _polynomial(y, _EXP, out=whole)
        part -= _SMALLEST  # nothing is left of those that were cut off above, and the others do not notice
    return made


def one_minus_exp_minus(values: Floats) -> Floats:
    """Return 1 - e^-x for numbers of at least 0, precise near 0 too (Kahan: the errors cancel)."""
    power = exp_minus(values)
    some = (power > 0.5) & (power < 1.0)
    made = np.where(power == 1.0, values, 1.0 - power)
    made[some] *= values[some] / minus_log(power[some])
    return made


def minus_log_one_minus(values: Floats) -> Floats:
    """Return -ln(1 - x) for numbers from 0 to below 1, precise near 0 too (after Kahan)."""
    rest = 1.0 - values
    some = rest < 1.0
    made = values.copy()
    made[some] *= minus_log(rest[some]) / (1.0 - rest[some])
    return made


def _cosine_and_sine(turn: NDArray[np.int64]) -> tuple[Floats, Floats]:
    x = turn.astype(np.float64)
    x *= _QUARTER_TURN
    z = x * x
    sine = _polynomial(z, _SIN)
    sine *= z
    sine *= x
    sine += x
    cosine = np.multiply(sine, sine, out=z)
    np.subtract(1.0, cosine, out=cosine)
    np.sqrt(cosine, out=cosine)
    return cosine, sine


def _polynomial(z: Floats, coefficients: tuple[float, ...], out: Floats | None = None) -> Floats:
    value: Floats = np.multiply(z, coefficients[-1], out=out)
    for coefficient in coefficients[-2:0:-1]:
        value += coefficient
        value *= z
    value += coefficients[0]
    return value


def _above_zero(bits: Bits) -> Floats:
    """Return numbers that are uniform on (0, 1], the smallest being 2^-64."""
    return (bits | np.uint64(1)).astype(np.float64) * 2.0**-64
