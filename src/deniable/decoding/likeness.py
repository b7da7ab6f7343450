"""Whether words can be a release: is there any text that the mechanism turns into words like these?

A mechanism spreads every word over many. Whatever text went in, "the" comes out only so often, and the words
around it come out as well, while text that was never perturbed says "the" again and again. So the received
words are split in two halves at random. One gives the frequencies of its commonest words, the other how much
likelier it is by these than by the best that any text could become. Under the mechanism that exceeds a
million for at most one text in a million, whichever went in and however short it is: a split likelihood
ratio (Wasserman, Ramdas and Balakrishnan, "Universal inference", 2020).
"""

from __future__ import annotations

import math

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel

MOST_EVIDENCE = math.log(1e6)
"""Log of how many times likelier a release may be by its own frequencies than by any text."""

MOST_WORDS = 10_000
"""The number of words of a longer text that are judged."""

_COMMON = 20
"""The number of commonest words that are distinguished. More would fit any words better, and tell less."""

ERRORS = 5.0
"""Multiple of the expected error of an estimated channel that is allowed for: words that change little have
larger errors."""

CUT_ERROR = 0.002
"""Nats a word allowed for outputs that are hardly ever released, which even exact sums do not distinguish."""

STEPS = 500
CLOSE_ENOUGH = 0.5
_LEAST = 1e-12


def evidence_against(channel: Channel, observed: Floats, *, seed: int = 0) -> float:
    """Return the evidence that words, counted in ``observed``, are no release through a channel.

    It is a logarithm, which exceeds ``log(n)`` for at most one release in ``n``, if the words were drawn one
    by one and the channel is nearly right.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    ends = np.cumsum(observed.astype(np.int64))
    total = int(ends[-1])
    # A list of all words of a release may not fit in memory.
    chosen = rng.permutation(total) if total <= MOST_WORDS else rng.choice(total, MOST_WORDS, replace=False)
    words: Ids = np.searchsorted(ends, chosen, side="right")
    one, other = words[0::2], words[1::2]
    if not len(other):
        return 0.0
    # Either half may say what the other is compared with; the mean of the two ratios keeps what each
    # promises. The words of a text become others by different rows, not by one mix of them: the product of
    # what is expected of each is at most that of the mix.
    return float(np.logaddexp(log_ratio(channel, one, other), log_ratio(channel, other, one)) - math.log(2.0))


def log_ratio(channel: Channel, told: Ids, judged: Ids) -> float:
    """Return by how much the judged words are likelier by the frequencies of those told than by whatever text
    they could come from."""
    words, counts = np.unique(told, return_counts=True)
    # Any word that was not considered may have gone in itself, and nothing that was considered would explain
    # it.
    repeated = np.flatnonzero((counts > 1) & (channel.places(words) >= 0))
    common = words[repeated[np.argsort(-counts[repeated], kind="stable")[:_COMMON]]]
    if not len(common):
        return 0.0
    cells = _cells_around(channel, common, words)
    size = 2 * len(common) + 1
    kinds = np.bincount(cells[words], minlength=size) if channel.asked is not None else None
    shares = _shares_of(
        np.bincount(cells[told], minlength=size).astype(np.float64), counts, len(common), kinds
    )
    counted = np.bincount(cells[judged], minlength=size).astype(np.float64)
    return beyond_any_text(
        _chances_of(channel, cells, size), counted, shares, draws=channel.draws_behind
    ) - CUT_ERROR * len(judged)


def _cells_around(channel: Channel, common: Ids, told: Ids) -> Ids:
    """Return the cell of each output: one for each common word, one for the outputs around it, and the last
    for all others.

    Around a word are the outputs that it becomes. Of a channel that knows the released words only, they are
    the told ones: with the judged ones among them, cells would depend on what they judge.
    """
    cells = np.full(len(channel.embedding), 2 * len(common))
    eligible = np.full(len(channel.embedding), channel.asked is None)
    eligible[told] = True
    nearest = np.zeros(len(channel.embedding))
    for place, word in enumerate(common.tolist()):
        outputs, chances = channel.row(word)
        nearer = eligible[outputs] & (chances > nearest[outputs])
        nearest[outputs[nearer]] = chances[nearer]
        cells[outputs[nearer]] = len(common) + place
    cells[common] = np.arange(len(common))
    return cells


def _shares_of(told: Floats, counts: Ids, common: int, kinds: Ids | None) -> Floats:
    """Return the shares that counts in cells let expect in other words of the same text.

    Words are common by chance as well, so a part of each count is taken away and given to the other cells:
    Ney's absolute discounting. Where cells hold told words only, ``kinds`` says how many: a part of each goes
    to the last cell, which has all words not seen yet.
    """
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    taken = min(once / max(once + 2 * twice, 1), 0.9)
    expected = told.copy()
    if kinds is not None:
        expected[:-1] -= taken * kinds[:-1]
        expected[-1] += taken * kinds[:-1].sum()
        expected = np.maximum(expected, 0.0) + 0.5 / len(expected)
    else:
        expected[:common] -= taken
        expected[common:] += 0.5
        expected[common:] *= 1.0 + taken * common / expected[common:].sum()
    shares: Floats = expected / expected.sum()
    return shares


def _chances_of(channel: Channel, cells: Ids, size: int) -> Floats:
    """Return the chance that each input word comes out in each cell."""
    members = (cells[:, None] == np.arange(size - 1)).astype(np.float64)
    told = channel.pulled_back(members)
    told /= np.maximum(told.sum(axis=1, keepdims=True), 1.0)  # an estimate may exceed 1
    # A word that is never released is no release, and no division by zero.
    chances: Floats = np.maximum(np.column_stack([told, 1.0 - told.sum(axis=1)]), _LEAST)
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def beyond_any_text(chances: Floats, judged: Floats, shares: Floats, *, draws: float) -> float:
    """Return by how much counts in cells are likelier by given shares than by any mix of input words: a lower
    bound.

    The best mix is approached by the iterative Bayesian update. No mix is likelier than one by more than the
    largest factor that the next step would give to any word, so that stopping early is safe. If rows are
    known from so many draws each, the error of a mix is half the sum over cells of its variance by its share:
    errors of many words cancel, that of a single word is seen as a whole.
    """
    words = float(judged.sum())
    of_text = np.full(len(chances), 1.0 / len(chances))
    by_shares = float(judged @ np.log(shares))
    beyond = short_of_best = math.inf
    for _ in range(STEPS):
        likely = chances.T @ of_text
        factors = chances @ (judged / words / likely)
        beyond, short_of_best = by_shares - float(judged @ np.log(likely)), words * math.log(factors.max())
        if beyond < 0.0 or short_of_best < CLOSE_ENOUGH:
            break
        of_text *= factors
    error = 0.5 * words / draws * float(np.square(of_text) @ (chances @ (1.0 / (chances.T @ of_text))))
    return beyond - short_of_best - ERRORS * error
