"""Shares of words behind a release, learnt from the release itself: the iterative Bayesian update.

With q the observed shares of released words and A the channel, π ← π·A(q/Aᵀπ) is an EM step: the likelihood
of the release never falls, and for the noise of this family the estimate is consistent (ElSalamouny and
Palamidessi 2025). But a vocabulary has more words than most releases have records, and an EM that runs to its
end then explains chance: a few words get all the weight. So records are held back, the step is repeated as
long as the likelihood of these rises, and the same number of steps is then made on all records. A public
prior can be mixed in as counts that were seen before any record (a Dirichlet prior).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.errors import InvalidParameter
from deniable.parameters import validated_count

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_STEPS = 500
NUMBERS_TO_HOLD = 1 << 25
_PATIENCE = 3
_SETTLED = 1e-7
"""An update that raises the mean log-likelihood of a word by less than this has arrived."""

_WORTH_A_STEP = 1e-4
"""Records that were held back must become likelier by more than this for a step to help; less is creeping,
for hundreds of steps."""

_IMPOSSIBLE = 1e-300
"""The probability of a word that nothing becomes: a text that holds one is unlikely, not an error."""


class SeenOutputs:
    """Some outputs of a channel in float64; ``listed`` are the probabilities that its rows list for them."""

    def __init__(self, channel: Channel, outputs: Ids, listed: csr_array) -> None:
        self._listed, self._rest, self._background = listed, channel.rest, channel.background[outputs]

    def output_shares(self, prior: Floats) -> Floats:
        """Return how likely each of the outputs is, if the input words have these shares."""
        shares: Floats = self._listed.T @ prior + float(self._rest @ prior) * self._background
        return shares

    def pulled_back(self, weights: Floats) -> Floats:
        """Return Σ_y P(y | x)·weight(y) over these outputs, for each input word."""
        pulled: Floats = self._listed @ weights + self._rest * float(self._background @ weights)
        return pulled


def select_seen(channel: Channel, counts: Floats) -> tuple[Channel | SeenOutputs, Ids]:
    """Return the counted outputs and their ids; if those list too many numbers, the channel and all ids."""
    from scipy.sparse import vstack

    seen = np.flatnonzero(counts)
    held, numbers = [], 0
    for _, block in channel.blocks():
        held.append(block[:, seen])
        numbers += held[-1].nnz
        if numbers > NUMBERS_TO_HOLD:
            return channel, np.arange(len(counts))
    return SeenOutputs(channel, seen, vstack(held, format="csr")), seen


class LearntShares(NamedTuple):
    """The shares of the channel's inputs, and after how many ``steps``."""

    shares: Floats
    steps: int


def update(
    channel: Channel | SeenOutputs,
    observed: Floats,
    shares: Floats,
    *,
    public: Floats | None = None,
    weight: float = 0.0,
    expected: Floats | None = None,
) -> tuple[Floats, float]:
    """Return the shares after one step, and the mean log-likelihood of the observed words before it.

    ``observed`` are counts of the channel's outputs; ``public`` counts as ``weight`` further words with these
    shares. ``expected`` are the channel's output shares, if they are known already. Words that nothing
    becomes say nothing.
    """
    expected = channel.output_shares(shares) if expected is None else expected
    seen = (observed > 0.0) & (expected > 0.0)  # a word that nothing becomes says nothing of what stood there
    total = float(observed.sum())
    ratios = np.zeros_like(observed)
    ratios[seen] = observed[seen] / expected[seen] / total
    likelihood = _log_likelihood(observed, expected)
    updated = shares * channel.pulled_back(ratios)
    if public is not None and weight > 0.0:
        updated = (total * updated + weight * public) / (total + weight)
    said = float(updated.sum())
    return updated / said if said > 0.0 else shares, likelihood


def learn_shares(
    channel: Channel,
    observed: Floats,
    *,
    held_out: Floats | None = None,
    start: Floats | None = None,
    weight: float = 0.0,
    most_steps: int = MOST_STEPS,
) -> LearntShares:
    """Return the shares of the input words behind the counts of released words.

    ``held_out`` are counts of records that were held back: with them the number of steps is found on the
    other records, and made again on all. ``start`` are the shares to begin with, even ones without them; they
    count as ``weight`` words seen before. They are also what is returned where no word can come from any
    input, as of text that was never released.

    :raises InvalidParameter: if there is nothing to learn from, or a size does not fit the channel.
    """
    most = validated_count(most_steps, "most_steps")
    begin = np.full(len(channel), 1.0 / len(channel)) if start is None else start / start.sum()
    check_numbers("observed", observed, len(channel.embedding))
    check_numbers("start", begin, len(channel))
    everything = observed if held_out is None else observed + held_out
    if not everything.sum() > 0.0:
        raise InvalidParameter("observed", "no words", "there is no released word to learn from")
    part, seen = select_seen(channel, everything)  # what was not released has no say
    everything, least_gain = everything[seen], _SETTLED
    if held_out is not None and held_out.sum() > 0.0 and observed.sum() > 0.0:
        most = _steps_that_help(part, observed[seen], held_out[seen], begin, weight, most)
        least_gain = -math.inf
    shares, last, steps = begin, -math.inf, 0
    while steps < most:
        updated, likelihood = update(part, everything, shares, public=begin, weight=weight)
        if likelihood - last < least_gain:
            break
        shares, last, steps = updated, likelihood, steps + 1
    return LearntShares(shares, steps)


def check_numbers(name: str, values: Floats, size: int) -> None:
    """Check that these are ``size`` numbers of at least 0.

    :raises InvalidParameter: if they are not.
    """
    if len(values) != size or not np.isfinite(values).all() or (values < 0.0).any():
        raise InvalidParameter(name, f"{len(values):,} numbers", f"must be {size:,} numbers of at least 0")


def _log_likelihood(observed: Floats, expected: Floats) -> float:
    """Return the mean log-likelihood of the observed words."""
    seen = observed > 0.0
    return float((observed[seen] * np.log(np.maximum(expected[seen], _IMPOSSIBLE))).sum() / observed.sum())


def _steps_that_help(
    channel: Channel | SeenOutputs,
    observed: Floats,
    held_out: Floats,
    begin: Floats,
    weight: float,
    most: int,
) -> int:
    """Return after how many steps on the observed records those held out are likeliest."""
    shares, expected = begin, channel.output_shares(begin)
    best, best_at = _log_likelihood(held_out, expected), 0
    for step in range(1, most + 1):
        shares, _ = update(channel, observed, shares, public=begin, weight=weight, expected=expected)
        expected = channel.output_shares(shares)
        reached = _log_likelihood(held_out, expected)
        if reached > best + _WORTH_A_STEP:
            best, best_at = reached, step
        if step - best_at >= _PATIENCE:
            break
    return max(best_at, 1)
