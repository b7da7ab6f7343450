"""P(y | x) of mechanisms that release the word nearest to a noisy point, for some outputs and all inputs, from points that all words share.

The estimate is that of ``points``. Columns need the points of their own outputs alone, so that many of each can be kept; those of other
outputs are drawn, counted for nothing and forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.allocation import draws_of_inputs
from deniable.channel.point_sums import ProcessorSums
from deniable.channel.points import FEWEST_POINTS_EACH, MOST_NUMBERS, MOST_PAIRS, Layer, SharedPoints, draw_points
from deniable.mechanisms.base import NearestWord, radial_noise

_OUTPUTS_AT_ONCE = 256
_MOST_DRAWS = 1 << 23
"""No more points than this are drawn in all: in a large vocabulary each of them takes long to search for."""

_OWN_SEEDS = 1 << 40
"""Where the seeds of points begin: draws that somebody is judged on never come from one of them."""


class PointChannel:
    """The columns of some outputs at one ε."""

    def __init__(self, mechanism: NearestWord, outputs: Ids, *, points: int, seed: int) -> None:
        """Draw so many points for each word of the embedding, on average, and keep at most as many of each output."""
        noise = radial_noise(mechanism)
        assert noise is not None  # noqa: S101 - said by ``shares_points``
        words, outputs = len(mechanism.embedding), np.unique(outputs)
        points = max(1, min(points, _MOST_DRAWS // words))
        self.how = f"{points:,} points for each word, which all words share"
        pairs, numbers = len(outputs) * words, len(outputs) * mechanism.embedding.dimension
        keep = max(FEWEST_POINTS_EACH, min(points, MOST_PAIRS // max(1, pairs), MOST_NUMBERS // max(1, numbers)))
        inputs = np.arange(words, dtype=np.int64)
        each = draws_of_inputs(mechanism.embedding, inputs, points * words)
        self._points = draw_points(mechanism, noise, inputs, each, seed=_OWN_SEEDS + seed, of=outputs, keep=keep)
        self._place = {int(word): place for place, word in enumerate(self._points.outputs)}

    def log_likelihoods(self, outputs: Ids) -> Iterator[Floats]:
        """Yield for each output the logarithm of its probability for every input word, ⊥ left out; at least what float32 tells from 0."""
        least = float(np.finfo(np.float32).tiny)
        for start in range(0, len(outputs), _OUTPUTS_AT_ONCE):
            places = np.array([self._place[int(word)] for word in outputs[start : start + _OUTPUTS_AT_ONCE]], dtype=np.int64)
            wanted, back = np.unique(places, return_inverse=True)
            columns = _columns(_some(self._points, wanted))
            for place in back:
                found: Floats = np.log(np.maximum(columns[place].astype(np.float64), least))
                yield found


def _columns(points: SharedPoints) -> Vectors:
    """Return P(y | x), a row for each output."""
    columns = np.empty((len(points.outputs), len(points.inputs)), dtype=np.float32)

    def take(start: int, block: Vectors) -> None:
        columns[:, start : start + len(block)] = block.T

    for _ in ProcessorSums(points).rows(slice(0, len(points.inputs)), take):
        pass
    return columns


def _some(points: SharedPoints, places: Ids) -> SharedPoints:
    """Return the points of some outputs, whose places are given in order."""
    layers = []
    for layer in points.layers:
        have = places[: int(np.searchsorted(places, len(layer.own)))]
        if len(have):
            layers.append(Layer(points=layer.points[have], own=layer.own[have]))
    return SharedPoints(
        inputs=points.inputs,
        weights=points.weights,
        outputs=points.outputs[places],
        counts=points.counts[places],
        draws=points.draws,
        layers=layers,
        squared=points.squared,
    )
