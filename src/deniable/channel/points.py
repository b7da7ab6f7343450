"""Points that all input words share: drawn around them from a public seed, a few kept of each word that they
lie nearest to.

A draw tells what one word became. Its noisy point z tells more: how likely every other word was to come
there, since the density K(z | x) of the noise is known. So points are drawn around all input words together,
from the mixture q(z) = Σ_x w_x·K(z | x), and each one speaks of all rows: with c_y of T points nearest to the
word y,

    P(y | x) = E[K(z | x)/q(z); y is nearest to z] ≈ c_y/T · mean of K(z | x)/q(z) over points of y,

which is importance sampling with the mixture of all words' noise. It is unbiased, and no weight exceeds
1/w_x. The mean hardly needs all points of a frequent word, so no more than some of each are kept, chosen by
chance; how many there were is counted. Own draws of every word are among them, so it serves large ε as well.

However the points are spread the estimate is unbiased; a good spread makes it precise with fewer of them.
Points are about public words and stay in memory: nothing that was released has anything to do with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.draws import SeededPoints
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.base import NearestWord
from deniable.progress import Report

MOST_POINTS_EACH, MOST_POINTS_ASKED = 64, 128
FEWEST_POINTS_EACH = 2
"""How many points of each output are kept at most, of all or where some are asked for; fewer where memory is
short, and never below two."""

MEAN_POINTS = 14
"""How many points of an output are kept on average, where there are many outputs: then a reader loses nothing
against 32 of each."""

MOST_PAIRS_ASKED = 1 << 29
"""More are kept where there are few outputs, as long as no more pairs of an input word and a point are gone
through: a second or two."""

MOST_NUMBERS = 1 << 27
"""All kept points have no more coordinates than this, which is a gibibyte, since they are held twice; but two
of each are kept anyway."""

FURTHEST = 1_000.0
"""How far words may lie from their centre, in lengths of 1/ε, for float32 to tell their distances well
enough."""

MOST_DRAWS_EACH = 200
"""No more points are drawn than this times the outputs: a few are kept of each, and of how many is then known
within 7 % or so."""

SPREAD_DRAWS = 150_000
"""How many points are drawn around all input words where some outputs are asked for: they meet those that are
released most."""

LEAST_MET = 32
"""An output that fewer of these points are expected to meet gets points around the words near it."""

SPREAD_AN_OUTPUT = 40
"""There are as many of them as this for each output, where that is more."""

NEAR, DRAWS_AROUND = 40, 30
"""From how many words near such an output, and how many from each at most: all together no more than are
spread."""

PILOT_DRAWS = 50_000
_PRODUCTS_AT_ONCE = 1 << 24

_NUMBERS_AT_ONCE = 1 << 22
_HALVINGS = 20
_KEPT_OF_DRAWN = 0.4


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One point of each output that has as many, in the order of the outputs; ``own`` is each point's
    distance to the word it came from."""

    points: Vectors = field(repr=False)
    own: Floats = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class SharedPoints:
    """Points around input words, as -log K(z | x) needs them, up to a constant: distances are in lengths of
    1/ε.

    ``outputs`` are the words that points are nearest to, those with most points first; of ``draws`` points
    ``counts`` were nearest to each, ``kept`` of these were kept, and ``layers`` holds them. ``weights`` is
    how many points came from each input word, of all. With ``squared`` the density falls with half the square
    of the distance, and coordinates were divided by √2, so that the square alone is needed.
    """

    inputs: Vectors = field(repr=False)
    weights: Floats = field(repr=False)
    outputs: Ids = field(repr=False)
    counts: Ids = field(repr=False)
    kept: Ids = field(repr=False)
    draws: int
    layers: list[Layer] = field(repr=False)
    squared: bool

    def some(self, places: Ids) -> SharedPoints:
        """Return the points of the outputs at some places, given in order."""
        layers = []
        for layer in self.layers:
            have = places[: int(np.searchsorted(places, len(layer.own)))]
            if len(have):
                layers.append(Layer(points=layer.points[have], own=layer.own[have]))
        return replace(
            self,
            outputs=self.outputs[places],
            counts=self.counts[places],
            kept=self.kept[places],
            layers=layers,
        )


class NoiseMetric:
    """Coordinates in which the density of noise at one ε is a function of the plain distance to a word,
    around the inputs' centre."""

    def __init__(self, mechanism: NearestWord, inputs: Ids) -> None:
        noise = mechanism.radial_noise
        assert noise is not None  # noqa: S101 - said by ``shares_points``
        self._embedding, self._noise = mechanism.embedding, noise
        self._scale = mechanism.epsilon * (np.sqrt(0.5) if noise.lengths == "chi" else 1.0)
        entering = self._embedding.stands_in(inputs)
        self._centre = self._embedding.rows(entering).mean(axis=0, dtype=np.float64)
        self.inputs = self.of(self._embedding.rows(entering))

    def of(self, vectors: Vectors) -> Vectors:
        """Return the coordinates of some vectors."""
        found = np.empty(vectors.shape, dtype=np.float32)
        at_once = max(1, _NUMBERS_AT_ONCE // vectors.shape[1])
        for start in range(0, len(vectors), at_once):
            part = (vectors[start : start + at_once] - self._centre) * self._scale
            with np.errstate(
                over="ignore"
            ):  # what overflows is too far away to be told, as ``tells_distances`` says
                found[start : start + at_once] = (
                    part if self._noise.shape is None else np.linalg.solve(self._noise.shape, part.T).T
                )
        return found

    def to_own(self, points: Vectors, owners: Ids) -> Floats:
        """Return how far each point is from the input word it came from; squared where squares are what
        counts."""
        found = np.empty(len(points))
        at_once = max(1, _NUMBERS_AT_ONCE // points.shape[1])
        for start in range(0, len(points), at_once):
            part = slice(start, start + at_once)
            apart = points[part].astype(np.float64) - self.inputs[owners[part]]
            found[part] = np.einsum("ij,ij->i", apart, apart)
        return found if self.squared else np.sqrt(found)

    def nearest_inputs(self, vectors: Vectors) -> Ids:
        """Return the input word that each of a few vectors lies nearest to."""
        squares = np.einsum("ij,ij->i", self.inputs, self.inputs, dtype=np.float64)
        return np.array(
            [np.argmin(squares - 2.0 * (self.inputs @ point)) for point in self.of(vectors)], dtype=np.int64
        )

    @property
    def squared(self) -> bool:
        """Whether the density falls with the square of the distance."""
        return self._noise.lengths == "chi"

    @property
    def tells_distances(self) -> bool:
        """Whether float32 tells distances well enough. Words far apart for their ε hardly change: rays miss
        nothing there."""
        return bool((np.einsum("ij,ij->i", self.inputs, self.inputs, dtype=np.float64) <= FURTHEST**2).all())


def points_each(embedding: Embedding, asked: Ids | None = None) -> int:
    """Return how many points of each output are kept at most; more where only some outputs are asked for."""
    outputs, most = (len(embedding), MOST_POINTS_EACH) if asked is None else (len(asked), MOST_POINTS_ASKED)
    return max(FEWEST_POINTS_EACH, min(most, MOST_NUMBERS // (outputs * embedding.dimension)))


def points_in_all(outputs: int, inputs: int, draws: int) -> int:
    """Return how many points of so many outputs are kept together, of so many that are drawn."""
    return max(MOST_PAIRS_ASKED // inputs, min(MEAN_POINTS * outputs, int(_KEPT_OF_DRAWN * draws)))


def draws_each(embedding: Embedding, inputs: int, wanted: int) -> int:
    """Return how many points are drawn for each of so many input words, where so many are wanted; at least
    one."""
    return max(1, min(wanted, MOST_DRAWS_EACH * len(embedding) // inputs))


def draws_of_inputs(embedding: Embedding, inputs: Ids, draws: int) -> Ids:
    """Return how many of about so many points are drawn around each input word, in the order of their ranks;
    at least one.

    Half are the same for all, and half go by rank, as frequent words are released most and ought to be told
    best. ⊥ stands for many words, and lies where the points of no other word come: it gets as many as the
    most frequent word.
    """
    by_rank = 1.0 / (1.0 + np.arange(len(inputs)))
    by_rank[inputs == embedding.unknown_id] = 1.0
    shares = 0.5 / len(inputs) + 0.5 * by_rank / by_rank.sum()
    counts: Ids = np.maximum(1, np.round(shares * draws)).astype(np.int64)
    return counts


def draws_for_outputs(mechanism: NearestWord, inputs: Ids, outputs: Ids, *, seed: int) -> Ids:
    """Return how many points to draw around each input word so that some come out as each of these outputs.

    A pilot says which outputs points around all words seldom meet. Its own points are not used again: an
    estimate from points whose number depended on them would be biased.
    """
    embedding = mechanism.embedding
    each = draws_of_inputs(embedding, inputs, max(SPREAD_DRAWS, SPREAD_AN_OUTPUT * len(outputs)))
    pilot = draws_of_inputs(embedding, inputs, PILOT_DRAWS)
    _, met = SeededPoints(mechanism, seed=seed).of_each(embedding.stands_in(np.repeat(inputs, pilot)))
    expected = np.bincount(met, minlength=len(embedding))[outputs] * (each.sum() / pilot.sum())
    seldom = outputs[expected < LEAST_MET]
    near = _near(NoiseMetric(mechanism, inputs), embedding.rows(seldom), min(NEAR, len(inputs)))
    np.add.at(each, near.ravel(), max(1, min(DRAWS_AROUND, int(each.sum()) // max(1, near.size))))
    return each


def _near(metric: NoiseMetric, vectors: Vectors, count: int) -> Ids:
    """Return the places of the input words that lie nearest to each vector, as the noise sees them."""
    inputs, points = metric.inputs, metric.of(vectors)
    squares = np.einsum("ij,ij->i", inputs, inputs)
    found = np.empty((len(points), count), dtype=np.int64)
    at_once = max(1, _PRODUCTS_AT_ONCE // len(inputs))
    for start in range(0, len(points), at_once):
        apart = squares - 2.0 * (points[start : start + at_once] @ inputs.T)
        found[start : start + at_once] = np.argpartition(apart, count - 1, axis=1)[:, :count]
    return found


def draw_points(
    mechanism: NearestWord,
    inputs: Ids,
    each: Ids,
    *,
    seed: int,
    of: Ids | None = None,
    keep: int | None = None,
    in_all: int | None = None,
    report: Report | None = None,
) -> SharedPoints:
    """Return points around the input words, which are given in the order of their ids: ``each`` says how many
    around each.

    With ``of`` only points of these outputs are kept, at most ``keep`` of each, and about ``in_all``
    together. One that no point was drawn of gets its own vector as its only point: something is then known of
    it. ``report`` receives how many are drawn, of how many.
    """
    embedding, ends, entering = mechanism.embedding, np.cumsum(each), mechanism.embedding.stands_in(inputs)
    total = int(ends[-1])
    source, chance = SeededPoints(mechanism, seed=seed), np.random.Generator(np.random.PCG64([seed, 1]))
    most = points_each(embedding) if keep is None else keep
    kept = _KeptPoints(embedding, of, most=most)
    at_once = max(
        1, _NUMBERS_AT_ONCE // max(embedding.dimension, most)
    )  # each is held against the kept ones of its output
    for start in range(0, total, at_once):
        owners = np.searchsorted(ends, np.arange(start, min(start + at_once, total)), side="right")
        points, outputs = source.of_each(entering[owners])
        kept.add(outputs, points, owners, chance.random(len(outputs)))
        if report is not None:
            report(start + len(outputs), total)
    metric = NoiseMetric(mechanism, inputs)
    if of is not None:
        kept.add_own_vectors(embedding, metric)
    places = kept.in_order()
    numbers = thinned(kept.counts[places], most=most, in_all=in_all)
    return SharedPoints(
        inputs=metric.inputs,
        weights=each / total,
        outputs=kept.words[places],
        counts=kept.counts[places],
        kept=numbers,
        draws=total,
        layers=kept.layers(places, numbers, metric),
        squared=metric.squared,
    )


def thinned(counts: Ids, *, most: int, in_all: int | None) -> Ids:
    """Return how many points to keep of outputs of which so many were drawn: at most ``most`` of each, and
    about ``in_all`` together.

    An output that is released n times as often is told of √n times as many points: that tells most of
    released words, for the same work.
    """
    kept: Ids = np.minimum(counts, most)
    if in_all is None or kept.sum() <= in_all:
        return kept
    roots, low, high = np.sqrt(counts), 0.0, float(most)
    for _ in range(_HALVINGS):
        factor = (low + high) / 2.0
        fewer: Ids = np.minimum(kept, np.maximum(FEWEST_POINTS_EACH, np.ceil(factor * roots))).astype(
            np.int64
        )
        low, high = (factor, high) if fewer.sum() <= in_all else (low, factor)
    return np.minimum(kept, np.maximum(FEWEST_POINTS_EACH, np.ceil(low * roots))).astype(np.int64)


class _KeptPoints:
    """No more than some points of each output, of all of them or of those asked for: the ones with the
    smallest keys, given by chance."""

    def __init__(self, embedding: Embedding, of: Ids | None, *, most: int) -> None:
        self.words = np.arange(len(embedding), dtype=np.int64) if of is None else np.unique(of)
        self.counts = np.zeros(len(self.words), dtype=np.int64)
        self._place = np.full(len(embedding), -1, dtype=np.int64)
        self._place[self.words] = np.arange(len(self.words))
        self._keys = np.full((len(self.words), most), np.inf)
        self._owners = np.zeros((len(self.words), most), dtype=np.int64)
        self._points = np.empty((most, len(self.words), embedding.dimension), dtype=np.float32)

    def add(self, outputs: Ids, points: Vectors, owners: Ids, keys: Floats) -> None:
        """Count points by their outputs, and keep those whose keys are small enough."""
        asked = self._place[outputs]
        self.counts += np.bincount(asked[asked >= 0], minlength=len(self.counts))
        small = np.flatnonzero((asked >= 0) & (keys < self._keys[asked].max(axis=1)))
        order = small[np.lexsort((keys[small], asked[small]))]
        first = np.flatnonzero(np.diff(asked[order], prepend=-1))
        turns = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        for turn in range(min(self._keys.shape[1], int(turns.max(initial=-1)) + 1)):
            chosen = order[turns == turn]  # one point of each output in a turn
            rows = asked[chosen]
            places = self._keys[rows].argmax(axis=1)  # empty ones have the largest key, the first comes first
            better = keys[chosen] < self._keys[rows, places]
            chosen, rows, places = chosen[better], rows[better], places[better]
            self._keys[rows, places], self._owners[rows, places] = keys[chosen], owners[chosen]
            self._points[places, rows] = points[chosen]

    def add_own_vectors(self, embedding: Embedding, metric: NoiseMetric) -> None:
        """Give outputs without points their own vectors."""
        without = np.flatnonzero(self.counts == 0)
        self._points[0, without] = embedding.rows(self.words[without])
        self._owners[without, 0] = metric.nearest_inputs(self._points[0, without])
        self.counts[without] = 1

    def in_order(self) -> Ids:
        """Return the places of words that have points, those with most points first: every layer is the
        beginning of the one before it."""
        met = np.flatnonzero(self.counts)
        return met[np.argsort(-self.counts[met], kind="stable")]

    def layers(self, places: Ids, numbers: Ids, metric: NoiseMetric) -> list[Layer]:
        """Return so many points of the words at these places as layers, in the coordinates of the noise."""
        layers = []
        for turn in range(int(numbers.max())):
            some = places[numbers > turn]
            points = metric.of(self._points[turn][some])
            layers.append(Layer(points=points, own=metric.to_own(points, self._owners[some, turn])))
        return layers
