"""Bayes bound: which share of words can a reader name at most who reads released words one by one?

A word x is drawn from frequencies π that the reader knows, and comes out as y. The best guess is the
likeliest word behind y, by Bayes' rule, and is right with probability Σ_y max_x π(x)·P(y | x). Nobody does
better, with any method.

*On the noisy point.* Where y is a function of a noisy point z, let the reader see z itself, which is more:
anybody who sees z can compute y (or draw it, where the function is random) and guess as before. So

    Σ_y max_x π(x)·P(y | x)  ≤  ∫ max_x π(x)·p(z | x) dz  =  E[max_x P(x | z)],      x drawn from π, z around
    x.

No channel is needed for the right side: draw x, add noise, and look at the posterior. In coordinates u =
ε·A⁻¹z the density of the noise is exp(-‖u‖) (Multivariate, Mahalanobis) or exp(-‖u‖²/2) (Gaussian), times a
constant that all words share. The largest posterior probability is averaged, not the number of hits: the mean
is the same, and its variance smaller.

*Kinds.* The best guess at a kind is right with probability E[max_k Σ_{x of kind k} P(x | z)]; the reader is
told that the word has one.

*Groups* (names, numbers, diagnoses): π restricted to the group, and the reader knows that the word is one
of it.

*Revealed words.* Kept words come out as themselves, unknown words as a mark (``redact``) or as nothing
(``drop``). Such words count as always named. The reader knows which words these are, which can only help.

*Budgets of records.* With a smaller ε a reader of z gains less: noise at a smaller ε is noise at a larger ε
plus independent noise (for exp(-ε‖z‖): its characteristic function is (1 + ‖t‖²/ε²)^(-(n+1)/2), and the
quotient of two of them is that of a normal variable whose variance is the rest of a self-decomposable one,
namely Gamma). So the bound at the largest ε that a word can get holds for all, and grows with ε, which the
search for an ε needs.

*In context.* Readers of whole texts may know more, by what stands around a word. At each place a language
model of public text, or anything else that is public, says how likely each word is between the true words
around it: π_i. The reader knows π_i, all other words of the text, and the noisy point z of this one. For x
drawn from π_i the best guess is right with probability E[max_x P(x | z)], and the average over places bounds
every reader of the whole release: what is released elsewhere tells nothing of this word that the true words
there do not tell, for draws are independent. Where a text is more predictable than the model thinks, a reader
with a better model may name more of it.

What it does not say: it speaks of words drawn from π. Rare words of a group may be named far more often,
which is why groups are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.measures.estimate import Estimate, ends_of_mean, solve
from deniable.mechanisms.base import ExactSums, NearestWord, exact_sums, radial_noise
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.mechanisms.vickrey import Vickrey
from deniable.noise.randomness import RadialNoise
from deniable.parameters import validated_share

DRAWS, DRAWS_TO_SEARCH = 12_000, 1_000
_WORDS_TO_SEARCH = 4_000
_NUMBERS_AT_ONCE = 1 << 18
_ROWS_AT_ONCE = 64
_FEW_DIMENSIONS = 8
_SEED = 11


@dataclass(frozen=True, kw_only=True)
class Words:
    """Which words are drawn: ``shares`` has a number for each word and ⊥, of any sum. ``revealed`` words
    count as named. With ``kinds`` the reader names kinds; words without one are left out. ``in_words`` says
    which words and frequencies these are."""

    shares: Floats = field(repr=False)
    in_words: str
    revealed: Ids = field(default_factory=lambda: np.array([], dtype=np.int64), repr=False)
    kinds: Kinds | None = None

    def __post_init__(self) -> None:
        """Check the shares.

        :raises InvalidParameter: if they are not finite numbers of at least 0, or all are 0.
        """
        shares = np.array(self.shares, dtype=np.float64)
        if self.kinds is not None:
            shares[self.kinds.of < 0] = 0.0
        if not np.isfinite(shares).all() or (shares < 0.0).any() or not shares.sum() > 0.0:
            raise InvalidParameter(
                "shares", self.in_words, "must be finite numbers of at least 0, and not all 0"
            )
        object.__setattr__(self, "shares", shares / shares.sum())

    @property
    def blind(self) -> float:
        """How often a reader is right who sees nothing of the release but the revealed words."""
        shown, hidden = self.split()
        return shown + (float(self.by_guess(hidden).max()) if hidden.any() else 0.0)

    def split(self) -> tuple[float, Floats]:
        """Return the share of revealed words, and the shares of the others."""
        hidden = self.shares.copy()
        hidden[self.revealed] = 0.0
        return float(self.shares[self.revealed].sum()), hidden

    def by_guess(self, shares: Floats) -> Floats:
        """Return the share of each word, or of each kind: of whatever is guessed."""
        if self.kinds is None:
            return shares
        has_kind = self.kinds.of >= 0
        by_kind: Floats = np.bincount(
            self.kinds.of[has_kind], weights=shares[has_kind], minlength=self.kinds.count
        ).astype(np.float64)
        return by_kind


def bayes_bound(
    mechanism: Mechanism, words: Words, *, draws: int = DRAWS, seed: int = _SEED
) -> Estimate | None:
    """Return the share of words, or kinds, that no reader of single released words exceeds; None where it is
    not known: for a mechanism of your own that declares neither radial noise nor exact sums."""
    shown, hidden = words.split()
    statement = f"{words.in_words}; a reader who knows these frequencies and reads released words one by one"
    if not hidden.any():
        return Estimate(value=1.0, low=1.0, high=1.0, blind=1.0, statement=statement)
    if (noisy := behind(mechanism)) is not None:
        values = shown + (1.0 - shown) * _largest_chances(noisy, words, hidden, draws, seed)
        low, high = ends_of_mean(values)
        value = float(values.mean())
    elif (sums := exact_sums(mechanism)) is not None:
        value = low = high = min(
            1.0, shown + _by_sums(sums, words, hidden, mechanism.epsilon, len(mechanism.embedding))
        )
    else:
        return None
    blind = words.blind  # anybody who sees more guesses no worse
    return Estimate(
        value=max(value, blind), low=max(low, blind), high=max(high, blind), blind=blind, statement=statement
    )


def bound_in_context(
    mechanism: Mechanism, places: Iterable[Floats], *, in_words: str, seed: int = 11
) -> Estimate | None:
    """Return the share of words that no reader in context exceeds; None if it is not noise in a space.
    ``places`` say how likely each word and ⊥ is there, all other words known."""
    noisy = behind(mechanism)
    if noisy is None or (noise := radial_noise(noisy)) is None:
        return None
    chance = np.random.Generator(np.random.PCG64(seed))
    words = coordinates(noisy, np.arange(len(mechanism.embedding) + 1))
    squares = np.einsum("ij,ij->i", words, words)
    tops, blind = [], []
    for given in places:
        inputs = np.flatnonzero(given)
        shares = given[inputs] / given[inputs].sum()
        own = min(int(np.searchsorted(np.cumsum(shares), chance.random())), len(inputs) - 1)
        away = unit_noise(noise, 1, chance)[0]
        point = words[inputs[own]] + away
        apart = np.maximum(squares[inputs] - 2.0 * (words[inputs] @ point) + point @ point, 0.0)
        apart[own] = away @ away  # its distance is known exactly
        logs = np.log(shares) - cost(apart, squared=noise.lengths == "chi")
        tops.append(min(1.0, 1.0 / float(np.exp(logs - logs.max()).sum())))
        blind.append(float(shares.max()))
    values = np.array(tops)
    low, high = ends_of_mean(values)
    before, value = float(np.mean(blind)), float(values.mean())
    statement = f"{in_words}; a reader who knows all other words, and how likely each word is between them"
    return Estimate(
        value=max(value, before),
        low=max(low, before),
        high=max(high, before),
        blind=before,
        statement=statement,
    )


def largest_epsilon(
    made: ChosenMechanism, embedding: Embedding, words: Words, at_most: float
) -> tuple[float, Estimate]:
    """Return the largest ε found at which the Bayes bound is at most ``at_most``, and the bound there, judged
    by fresh draws.

    :raises InvalidParameter: if the share is not between 0 and 1, or the bound of the mechanism is not known.
    :raises TargetsNotMet: if blind guessing names more.
    """
    validated_share(at_most, "named_at_most", below_one=True)
    few = replace(words, shares=_most_frequent(words.shares, _WORDS_TO_SEARCH))
    left_out = 1.0 - float((words.shares * (few.shares > 0.0)).sum())

    def measure(epsilon: float, turn: int) -> Estimate:
        # The search looks at the frequent words alone, which decide; the check at all.
        draws, some = (DRAWS, words) if turn else (DRAWS_TO_SEARCH, few)
        found = bayes_bound(made(embedding, epsilon=epsilon), some, draws=draws, seed=_SEED + 1 + turn)
        if found is None:
            raise InvalidParameter(
                "mechanism", made.name, "has no Bayes bound: choose epsilon in another way"
            )
        return found if turn else replace(found, value=found.value * (1.0 - left_out), blind=words.blind)

    start = 10.0 / float(np.sqrt(embedding.vectors[:_WORDS_TO_SEARCH].var(axis=0, dtype=np.float64).sum()))
    return solve(measure, at_most, start=start, what="the share of words that a reader names")


def _most_frequent(shares: Floats, count: int) -> Floats:
    if len(shares) <= count:
        return shares
    return np.where(shares >= np.partition(shares, -count)[-count], shares, 0.0)


def behind(mechanism: Mechanism) -> NearestWord | None:
    """Return the mechanism whose noisy point is all that the release is made from; None if it has none."""
    if type(mechanism) is RankSmoothing:
        return behind(mechanism.wrapped)
    if type(mechanism) is Vickrey:
        return behind(mechanism.plain)
    return mechanism if isinstance(mechanism, NearestWord) and radial_noise(mechanism) is not None else None


def _largest_chances(mechanism: NearestWord, words: Words, hidden: Floats, draws: int, seed: int) -> Floats:
    """Return for each draw the chance of the likeliest word, or kind, given its noisy point."""
    noise = radial_noise(mechanism)
    assert noise is not None  # noqa: S101 - said by the caller
    chance = np.random.Generator(np.random.PCG64(seed))
    inputs = np.flatnonzero(hidden > 0.0)
    shares = hidden[inputs] / hidden[inputs].sum()
    kinds = None if words.kinds is None else words.kinds.of[inputs]
    if kinds is not None:
        order = np.argsort(kinds, kind="stable")
        inputs, shares, kinds = inputs[order], shares[order], kinds[order]
    places = coordinates(mechanism, inputs)
    # The same numbers for every ε: so the search compares like with like.
    own = np.searchsorted(np.cumsum(shares)[:-1], chance.random(draws), side="right")
    directions = unit_noise(noise, draws, chance)
    points = _Points(places, shares, squared=noise.lengths == "chi", kinds=kinds)
    tops = np.empty(draws)
    for start in range(0, draws, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        tops[part] = points.largest(own[part], directions[part])
    return tops


def unit_noise(noise: RadialNoise, draws: int, chance: np.random.Generator) -> Floats:
    """Return round noise in lengths of the noise, a row for each draw."""
    directions: Floats = chance.standard_normal((draws, noise.dimension))
    if noise.lengths == "gamma":
        lengths = chance.standard_gamma(noise.dimension, draws)
        norms = np.sqrt((directions * directions).sum(axis=1))
        directions *= (lengths / np.where(norms > 0.0, norms, 1.0))[:, None]
    return directions


def coordinates(mechanism: NearestWord, inputs: Ids) -> Floats:
    """Return the words as they go in, around their centre, in lengths of the noise."""
    noise, embedding = radial_noise(mechanism), mechanism.embedding
    rows: Floats = embedding.rows(embedding.stands_in(inputs)).astype(np.float64)
    rows -= rows.mean(axis=0)
    rows *= mechanism.epsilon
    if noise is not None and noise.shape is not None:
        rows = np.asarray(np.linalg.solve(noise.shape, rows.T).T, dtype=np.float64)
    return rows


class _Points:
    """The posterior at noisy points, a block of words at a time, so that memory stays bounded."""

    def __init__(self, places: Floats, shares: Floats, *, squared: bool, kinds: Ids | None) -> None:
        # In few dimensions words lie close together, where single precision cannot tell distances from
        # squares.
        self._type: type[np.floating[Any]] = np.float64 if places.shape[1] <= _FEW_DIMENSIONS else np.float32
        self._exact, self._squared, self._kinds = places, squared, kinds
        # ‖z - φ‖² as one product: (-2z, ‖z‖², 1)·(φ, 1, ‖φ‖²).
        squares = np.einsum("ij,ij->i", places, places)
        self._places: Any = (
            np.column_stack([places, np.ones(len(places)), squares]).astype(self._type).T.copy()
        )
        self._log_shares = np.log(shares)

    def largest(self, own: Ids, noise: Floats) -> Floats:
        """Return the largest posterior probability of a word, or of a kind, for noisy points of
        some words."""
        points, of_own = (
            self._exact[own] + noise,
            self._log_shares[own] - cost(np.einsum("ij,ij->i", noise, noise), squared=self._squared),
        )
        sides: Floats = np.column_stack(
            [-2.0 * points, np.einsum("ij,ij->i", points, points), np.ones(len(own))]
        ).astype(self._type)
        peaks, sums = np.full((len(own), 1), -np.inf), np.zeros((len(own), 1))
        masses = np.zeros((len(own), 1 if self._kinds is None else int(self._kinds[-1]) + 1))
        at_once = max(1, _NUMBERS_AT_ONCE // len(own))
        for start in range(0, len(self._exact), at_once):
            block = slice(start, start + at_once)
            squares: Floats = sides @ self._places[:, block]
            logs: Floats = self._log_shares[block].astype(self._type) - cost(
                np.maximum(squares, 0.0, out=squares), squared=self._squared
            )
            inside = np.flatnonzero((own >= start) & (own < start + at_once))
            logs[inside, own[inside] - start] = of_own[inside]  # its distance is known exactly
            higher = np.maximum(peaks, logs.max(axis=1, keepdims=True))
            logs -= higher.astype(self._type)
            weights, rescaled = np.exp(logs, out=logs), np.exp(peaks - higher)
            sums = sums * rescaled + weights.sum(axis=1, keepdims=True)
            if self._kinds is not None:
                kinds = self._kinds[block]
                starts = np.flatnonzero(np.diff(kinds, prepend=-1))
                masses *= rescaled
                masses[:, kinds[starts]] += np.add.reduceat(weights, starts, axis=1)
            peaks = higher
        tops = 1.0 if self._kinds is None else masses.max(axis=1)
        return np.minimum(tops / sums[:, 0], 1.0)


def cost(squares: Floats, *, squared: bool) -> Floats:
    """Return minus the log density at squared distances, in their place; ``squared`` for normal noise."""
    if squared:
        squares *= 0.5
        return squares
    return np.sqrt(squares, out=squares)


def _by_sums(sums: ExactSums, words: Words, hidden: Floats, epsilon: float, outputs: int) -> float:
    """Return Σ_y max_x π(x)·P(y | x), or of kinds, a row at a time: one number is kept for each output."""
    inputs = np.flatnonzero(hidden > 0.0)
    if words.kinds is not None:
        inputs = inputs[np.argsort(words.kinds.of[inputs], kind="stable")]
    best, mass, before = np.zeros(outputs), np.zeros(outputs), -1
    for start in range(0, len(inputs), _ROWS_AT_ONCE):
        part = inputs[start : start + _ROWS_AT_ONCE]
        for word, (released, chances) in zip(
            part.tolist(), sums.distributions(part, np.array([epsilon])), strict=True
        ):
            kind = word if words.kinds is None else int(words.kinds.of[word])
            if kind != before:
                np.maximum(best, mass, out=best)
                mass[:], before = 0.0, kind
            mass[released] += hidden[word] * chances[0]
    return float(np.maximum(best, mass).sum())
