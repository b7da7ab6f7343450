"""Wrong mechanisms, most of them found in other programs. Every test of a mechanism must reject its
mutant."""

from __future__ import annotations

import numpy as np

from deniable import Embedding, InsecureSeededRandomness
from deniable.arrays import Floats, Ids
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.base import NearestWord
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.line import Line
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.mechanisms.santext import SanText, SanTextPlus
from deniable.mechanisms.tem import TEM
from deniable.mechanisms.vickrey import Vickrey
from deniable.neighbours.selection import nearest_released
from tests.mechanisms.refutation import Draw


def drawn(mechanism: Mechanism, *, seed: int = 0) -> Draw:
    randomness = InsecureSeededRandomness(insecure_seed=seed)
    return lambda word, draws: mechanism.perturb(np.full(draws, word), randomness)


class RenormalisedMahalanobis(Mahalanobis):
    """Brings the shaped direction back to length 1 before the radius is applied (pyPANTERA 1.0.2)."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        directions = source.normals(len(epsilon), self.embedding.dimension) @ self.shape
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        shrunk: Floats = (
            directions * (source.gammas(len(epsilon), self.embedding.dimension) / epsilon)[:, None]
        )
        return shrunk


class VickreySkippingTheInput(Vickrey):
    """Takes the second and third nearest word where the nearest is the input (mldp-text 0.1.2)."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        points = self.points(ids, source, epsilon)
        near, distances = nearest_released(self.embedding, self.neighbours, points, 3)
        skip = (near[:, 0] == ids)[:, None]
        near, distances = (
            np.where(skip, near[:, 1:], near[:, :2]),
            np.where(skip, distances[:, 1:], distances[:, :2]),
        )
        first = (1 - self.t) * distances[:, 1] / (self.t * distances[:, 0] + (1 - self.t) * distances[:, 1])
        return np.where(source.uniforms(len(ids), 1)[:, 0] < first, near[:, 0], near[:, 1])


class HalfTheNormalNoise(Gaussian):
    """Normal noise of half the standard deviation."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, epsilon) / 2


class RanksFromOne(RankSmoothing):
    """Never releases the word that came out itself."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        released = super().draw(ids, source, epsilon)
        near, _ = nearest_released(self.embedding, self.wrapped.neighbours, self.embedding.rows(released), 2)
        return near[:, 1]


class RanksOfTheInput(RankSmoothing):
    """Ranks the neighbours of the input word in place of those of the word that came out."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        class Unchanged(Multivariate):
            def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
                super().draw(ids, source, epsilon)
                return ids.copy()

        return RankSmoothing(Unchanged(self.embedding, epsilon=self.epsilon), c=self.c).draw(
            ids, source, epsilon
        )


class WholeEpsilon(SanText):
    """exp(-ε·d) in place of exp(-(ε/2)·d): the normaliser is forgotten in the accounting. Twice the allowed
    loss."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, 2 * epsilon)


class UntruncatedTEM(SanText):
    """TEM without its cut at γ: not ε·γ for words further apart than γ."""


class TEMReturningTheInput(TEM):
    """Releases the input word where a word from beyond γ was to be drawn (pyPANTERA 1.0.2)."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        released = super().draw(ids, source, epsilon)
        return np.where(self.grid.to_some(ids, released[:, None])[:, 0] > self.gamma, ids, released)


class KeepsUnlistedUnknown(SanTextPlus):
    """Treats ⊥ as any word outside the list: the word nearest to it is mostly released."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        nearest = self.embedding.rows(ids)
        found = nearest_released(
            self.embedding, Multivariate(self.embedding, epsilon=1).neighbours, nearest, 1
        )[0][:, 0]
        released = super().draw(ids, source, epsilon)
        return np.where(
            (ids == self.embedding.unknown_id) & (source.uniforms(len(ids), 1)[:, 0] >= self.p),
            found,
            released,
        )


class ResponseAmongFew(RandomizedResponse):
    """Computes the probability to stay as if there were two words."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        stays = source.uniforms(len(ids), 1)[:, 0] < 1 / (1 + np.exp(-epsilon))
        others = super().draw(np.full_like(ids, self.embedding.unknown_id), source, epsilon)
        return np.where(stays & (ids < self.embedding.unknown_id), self.taken_as[ids], others)


class HalfTheSteps(Line):
    """Steps half as long: twice the allowed loss."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, 2 * epsilon)


class StepsTheWrongWay(Line):
    """Steps that get longer with ε in place of shorter."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, 1 / epsilon)


class ListOfTheWord(Line):
    """Moves each word in a list of its own choice (as dp-diffractor 0.2.1 does among the lists that hold the
    word)."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        released = np.empty_like(ids)
        for chosen in range(self.lists):
            alone = Line(self.embedding, epsilon=self.epsilon)
            vars(alone)["orders"], tokens = self.orders[[chosen]], ids % self.lists == chosen
            released[tokens] = alone.draw(ids[tokens], source, epsilon[tokens])
        return released


class WrapsAround(Line):
    """Goes on at the other end of the list in place of staying at the end."""

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        uniforms, (order,) = source.uniforms(len(ids), 2), self.orders
        first, second = np.floor(-np.log(1 - uniforms) / epsilon[:, None]).astype(np.int64).T
        released: Ids = order[(self.places[0, ids] + first - second) % len(order)]
        return released


class NearestLists(NearestWord):
    """CusText with the k nearest words of each word in place of cells (pyPANTERA 1.0.2, the authors' plain
    form)."""

    def __init__(self, embedding: Embedding, *, epsilon: float, k: int) -> None:
        super().__init__(embedding, epsilon=epsilon)
        self.k = k

    guarantee = Multivariate.guarantee

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        raise NotImplementedError

    def _log_bound_between(self, difference: Floats) -> float:
        raise NotImplementedError

    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        near, distances = nearest_released(self.embedding, self.neighbours, self.embedding.rows(ids), self.k)
        least, most = distances[:, :1], distances[:, -1:]
        weights = np.exp(-epsilon[:, None] / 2 * (distances - least) / (most - least)).cumsum(axis=1)
        places = (weights <= source.uniforms(len(ids), 1) * weights[:, -1:]).sum(axis=1)
        drawn: Ids = near[np.arange(len(ids)), places]
        return drawn
