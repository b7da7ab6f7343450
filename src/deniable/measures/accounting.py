"""Accounting: what the release of texts that differ in several words spends, in the currency of differential
privacy.

The pure bound adds ε·d over the words that differ. It is the worst case of every word at once. For
independent draws the privacy loss is a sum of independent losses, and (ε', δ) follows from its distribution:
δ(ε') = E[(1 - exp(ε' - L))₊], where L = ln p(z | w)/p(z | w') for z drawn around w (Balle, Barthe and
Gaboardi 2018; Meiser and Mohammadi 2018; Sommer et al. 2019). What is made of z is post-processing.

**Radial noise** (Multivariate; Mahalanobis in its own metric; Vickrey and rank smoothing, which are made of
the point). Let a = ε·d, and z in lengths of 1/ε: r = ‖z‖ is Gamma(n), and t, the cosine of its angle with v =
φ(w') - φ(w), has density ∝ (1 - t²)^((n-3)/2). The loss is L = ‖z - v‖ - ‖z‖. For |l| < a:

    L > l   ⟺   t < t*(r) = (a² - l²)/(2ra) - l/a,      so that      P(L > l) = E_r[F(t*(r))].

(Squaring ‖z - v‖ > r + l is right where r + l ≥ 0; where it is negative the left side holds always, and t* ≥
1 then, since a > -l > r.) t* falls in r, so that each bin of r with its lower end gives an upper bound of P(L
> l), whatever the bins. Losses are then put on a grid, each on the upper end of its bin. Both errors go one
way: the loss on the grid is larger (stochastically), and δ is no smaller than the true one. L has the same
distribution with w and w' exchanged. P(L > l) rises with a, so distance d covers all pairs at most d apart.
In one dimension t is ±1, and P(L > l) = 1 - exp(-(a - l)/2)/2.

**Gaussian noise**: m words at μ = ε·d each are one pair of normal variables at μ·√m (Dong, Roth, Su 2022); no
grid.

**Randomised response** over k words: the loss of any pair is ε with probability e^ε/(e^ε + k - 1), -ε with
e^-ε times that, else 0.

**Everything else with a pure bound a**: the pair of coins with odds e^a and e^-a dominates all pairs with
that bound (Kairouz, Oh and Viswanath 2015), so L = a with probability 1/(1 + e^-a), else -a.

m words: the m-fold convolution of the loss on its grid, by the fast Fourier transform. Each of the N
frequencies is wrong by at most m times the rounding of a transform, so the sum of all errors is at most √N
times that (Parseval, Cauchy-Schwarz), which is added to δ.

The library dp-accounting does the same composition, with the same result (``tests/measures``). It is not
used: it knows no radial noise, and brings absl, dm-tree, mpmath, wrapt and attrs below 24 for what is a power
of a Fourier transform here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from deniable.arrays import Floats
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import behind
from deniable.mechanisms.base import radial_noise
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.neighbours.selection import released_words
from deniable.parameters import validated_share

DELTA = 1e-6
"""The δ that tables are made for, unless another is asked for."""

WORDS = (1, 5, 20)
MOST_WORDS = 2_000
"""Texts that differ in more words are given by the pure bound alone."""

_STEPS, _BINS, _TAIL = 400, 1_200, 1e-13
_ROUNDING = 5e-15
_PAIRS = 500
_HALVINGS = 80


@dataclass(frozen=True, kw_only=True)
class Loss:
    """An upper bound, on a grid, of a privacy loss: ``chances[i]`` is that of (``lowest`` + i)·``step``; δ
    may be off by ``slack``, which is added to it."""

    chances: Floats = field(repr=False)
    lowest: int
    step: float
    slack: float = 0.0

    def composed(self, times: int) -> Loss:
        """Return the loss of this many independent words."""
        if times == 1:
            return self
        size = times * (len(self.chances) - 1) + 1
        padded = 1 << (size - 1).bit_length()
        power: Floats = np.fft.irfft(np.fft.rfft(self.chances, padded) ** times, padded)[:size]
        slack = times * self.slack + _ROUNDING * times * math.sqrt(padded)
        return Loss(chances=np.maximum(power, 0.0), lowest=times * self.lowest, step=self.step, slack=slack)

    def delta(self, epsilon: float) -> float:
        """Return δ at an ε'."""
        losses = (self.lowest + np.arange(len(self.chances))) * self.step
        beyond = losses > epsilon
        return min(
            1.0, self.slack + float((self.chances[beyond] * -np.expm1(epsilon - losses[beyond])).sum())
        )

    def epsilon(self, delta: float) -> float:
        """Return the smallest ε' found at which δ is at most this, infinite if the slack alone is more."""
        highest = max(0.0, (self.lowest + len(self.chances) - 1) * self.step)
        return _smallest(self.delta, delta, highest) if self.delta(highest) <= delta else math.inf


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What texts spend that differ in ``words`` words, each pair "median" or "largest" in the vocabulary.
    ``pure`` is infinite where there is no pure bound; ``epsilon`` is None where there are too many words."""

    words: int
    distance: str
    pure: float
    epsilon: float | None
    delta: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready data, without infinity."""
        return {name: None if value == math.inf else value for name, value in asdict(self).items()}


def account(mechanism: Mechanism, *, words: Iterable[int] = WORDS, delta: float = DELTA) -> list[Spent]:
    """Return what texts spend that differ in so many words, at the median and at the largest distance of the
    vocabulary.

    The largest distance, with that of ⊥, is bounded by twice the largest distance from the middle, and the
    median is that of random pairs. No more is known of a mechanism of your own than its pure bound.

    :raises InvalidParameter: if δ is not between 0 and 1.
    """
    validated_share(delta, "delta", below_one=True)
    words = list(dict.fromkeys(words))
    rows = []
    for distance, exponent in exponents(mechanism).items():
        normal = isinstance(behind(mechanism), Gaussian)
        loss = None if normal or not 0.0 < exponent < math.inf else loss_of(mechanism, exponent)
        for count in words:
            if normal:
                epsilon: float | None = normal_epsilon(exponent * math.sqrt(count), delta)
            elif loss is None:
                epsilon = exponent  # 0, or infinite
            elif count > MOST_WORDS:
                epsilon = None
            else:
                epsilon = min(count * exponent, loss.composed(count).epsilon(delta))
            pure = math.inf if normal else count * exponent
            rows.append(Spent(words=count, distance=distance, pure=pure, epsilon=epsilon, delta=delta))
    return rows


def exponents(mechanism: Mechanism) -> dict[str, float]:
    """Return ε·d for a pair of words at the median, and at (at most) the largest distance of the vocabulary;
    μ for normal noise."""
    embedding, noisy = mechanism.embedding, behind(mechanism)
    released = released_words(embedding)
    chance = np.random.Generator(np.random.PCG64(7))
    first, second = chance.choice(released, (2, _PAIRS))
    if noisy is not None and (noise := radial_noise(noisy)) is not None:
        places = embedding.rows(np.append(released, embedding.unknown_id)).astype(np.float64)
        places -= places[:-1].mean(axis=0)
        if noise.shape is not None:
            places = np.asarray(np.linalg.solve(noise.shape, places.T).T, dtype=np.float64)
        where = np.searchsorted(released, [first, second])
        apart = np.linalg.norm(places[where[0]] - places[where[1]], axis=1)
        largest = 2.0 * float(np.linalg.norm(places, axis=1).max())
        return {"median": noisy.epsilon * float(np.median(apart)), "largest": noisy.epsilon * largest}
    bounds = np.array(
        [
            mechanism.log_bound(*pair)
            for pair in zip(first.tolist(), second.tolist(), strict=True)
            if pair[0] != pair[1]
        ]
    )
    if not len(bounds):
        return {"median": 0.0}
    return {"median": float(np.median(bounds)), "largest of 500 random pairs": float(bounds.max())}


def loss_of(mechanism: Mechanism, exponent: float) -> Loss:
    """Return the loss of one word under a mechanism whose pure bound for the pair is ``exponent``."""
    noisy = behind(mechanism)
    if noisy is not None and not isinstance(noisy, Gaussian):
        return radial_loss(mechanism.embedding.dimension, exponent)
    if type(mechanism) is RandomizedResponse:
        kept = 1.0 / (1.0 + (len(released_words(mechanism.embedding)) - 1) * math.exp(-exponent))
        other = kept * math.exp(-exponent)
        return Loss(chances=np.array([other, max(0.0, 1.0 - kept - other), kept]), lowest=-1, step=exponent)
    return coins(exponent)


def coins(exponent: float) -> Loss:
    """Return the loss of the two coins that dominate all pairs with this pure bound."""
    likely = 1.0 / (1.0 + math.exp(-exponent))
    return Loss(chances=np.array([1.0 - likely, 0.0, likely]), lowest=-1, step=exponent)


def radial_loss(dimension: int, exponent: float, *, steps: int = _STEPS, bins: int = _BINS) -> Loss:
    """Return the loss of one word under noise of density exp(-ε‖z‖) at ε·d = ``exponent``."""
    grid: Floats = np.arange(-steps, steps, dtype=np.float64) * (exponent / steps)
    beyond = np.append(radial_survival(grid, exponent, dimension, bins=bins), 0.0)  # no loss exceeds ε·d
    beyond = np.maximum.accumulate(beyond[::-1])[::-1]
    chances = np.append(1.0 - beyond[0], -np.diff(beyond))  # what lies in (l - step, l] is put on l
    return Loss(chances=chances, lowest=-steps, step=exponent / steps)


def radial_survival(losses: Floats, exponent: float, dimension: int, *, bins: int = _BINS) -> Floats:
    """Return no less than P(L > l) for losses from -a to below a."""
    if dimension == 1:
        return 1.0 - 0.5 * np.exp((losses - exponent) / 2.0)
    from scipy.special import betainc, gammainc, gammaincinv

    low, high = (float(gammaincinv(dimension, share)) for share in (_TAIL, 1.0 - _TAIL))
    edges = np.linspace(low, high, bins + 1)
    inside = gammainc(dimension, edges)
    # Below the first edge all is lost, and each other length counts as the lower end of its bin.
    weights = np.append(np.diff(inside), 1.0 - inside[-1])
    places = (exponent**2 - losses[:, None] ** 2) / (2.0 * exponent * edges) - losses[:, None] / exponent
    half = (dimension - 1) / 2.0
    chances = betainc(half, half, np.clip((places + 1.0) / 2.0, 0.0, 1.0))
    survival: Floats = np.minimum(1.0, inside[0] + chances @ weights)
    return survival


def normal_epsilon(mu: float, delta: float) -> float:
    """Return ε' at which telling Normal(0, 1) from Normal(μ, 1) is (ε', δ)-private, rounded up (Balle and
    Wang 2018)."""
    from scipy.special import log_ndtr

    def spent(epsilon: float) -> float:
        if mu == 0.0:
            return 0.0
        return math.exp(log_ndtr(mu / 2 - epsilon / mu)) - math.exp(
            epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        )

    return _smallest(spent, delta, mu * mu / 2.0 + mu * 40.0)


def _smallest(spent: Callable[[float], float], delta: float, highest: float) -> float:
    """Return about the smallest ε' up to ``highest`` at which a falling δ is at most this, rounded up."""
    low, high = 0.0, highest
    if spent(0.0) <= delta:
        return 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if spent(middle) <= delta else (middle, high)
    return high
