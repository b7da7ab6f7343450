"""Columns by points that all words share: what the definition says of the same points, near the truth, and
more than rays tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import laplace

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids
from deniable.calibration.choice import protect
from deniable.channel import points, rows
from deniable.channel.channel import Channel
from deniable.channel.columns import Columns, PointColumns, columns_of
from deniable.channel.draws import Draws
from deniable.channel.making import make_rows
from deniable.channel.points import SharedPoints
from deniable.mechanisms.base import NearestWord
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import by_rank
from tests.support.strategies import random_embedding

WORDS, DIMENSION, EPSILON = 250, 10, 3.0
EMBEDDING = random_embedding(WORDS, DIMENSION)
ALL = np.arange(WORDS)


def made(name: str, embedding: Embedding = EMBEDDING, epsilon: float = EPSILON) -> NearestWord:
    mechanism = ChosenMechanism(name=name)(embedding, epsilon=epsilon)
    assert isinstance(mechanism, NearestWord)
    return mechanism


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "SPREAD_DRAWS", 10_000)
    monkeypatch.setattr(points, "SPREAD_AN_OUTPUT", 0)
    monkeypatch.setattr(points, "PILOT_DRAWS", 5_000)


def columns(channel: Columns, outputs: Ids) -> Floats:
    """Return logarithms: a row for each output, a column for each word."""
    found: Floats = np.log(np.stack(list(channel.columns(outputs)))[:, np.argsort(channel.inputs)])
    return found


def by_definition(found: SharedPoints, outputs: Ids, weights: Floats | None = None) -> Floats:
    """Return log(c_y/T) + log of the mean of K(z | x)/q(z), in float64."""
    weights, answer = found.weights if weights is None else weights, []
    for output in outputs:
        place = int(np.flatnonzero(found.outputs == output)[0])
        own = np.stack([layer.points[place] for layer in found.layers if place < len(layer.own)]).astype(
            np.float64
        )
        far = ((own[:, None, :] - found.inputs.astype(np.float64)) ** 2).sum(axis=2)
        logs = -far if found.squared else -np.sqrt(far)
        ratios = logs - logsumexp(logs, b=weights, axis=1)[:, None]
        answer.append(
            np.log(found.counts[place] / found.draws) + logsumexp(ratios, axis=0) - np.log(len(own))
        )
    return np.stack(answer)


@pytest.mark.parametrize("name", ["multivariate", "gaussian", "mahalanobis"])
@pytest.mark.parametrize("epsilon", [0.5, EPSILON, 12.0])
def test_columns_are_those_of_the_definition_in_float64(name: str, epsilon: float) -> None:
    embedding, outputs = protect(EMBEDDING, np.array([7, 30])), np.array([30, 3, 249, 3, 100])
    channel = PointColumns(made(name, embedding, epsilon), outputs, points=40, seed=1)
    found, direct = columns(channel, outputs), by_definition(channel.points, outputs)
    told = direct > -80.0  # float32 tells these from 0
    assert told.any(axis=1).all()
    # Logarithms: 1e-4 of the probabilities. A point that is the word's own vector is less than 0.002 away
    # from it in float32, not 0.
    at_a_word = np.isin(outputs, channel.points.outputs[channel.points.layers[0].own < 0.1])[:, None]
    assert found[told & ~at_a_word] == pytest.approx(direct[told & ~at_a_word], abs=1e-4)
    assert found[told] == pytest.approx(direct[told], abs=2e-3)
    assert (found[direct < -90.0] <= -86.0).all()
    assert (found[1] == found[3]).all()


def test_only_points_of_the_outputs_are_kept_and_all_of_them_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs = np.array([0, 5, 249])
    monkeypatch.setattr(points, "LEAST_MET", 0)  # the same points for all
    some = PointColumns(made("multivariate"), outputs, points=40, seed=1)
    whole = PointColumns(made("multivariate"), ALL, points=40, seed=1)
    assert sorted(some.points.outputs.tolist()) == outputs.tolist()
    counts = dict(zip(whole.points.outputs.tolist(), whole.points.counts.tolist(), strict=True))
    assert {word: counts[word] for word in outputs.tolist()} == dict(
        zip(some.points.outputs.tolist(), some.points.counts.tolist(), strict=True)
    )
    assert columns(some, outputs[:1]) == pytest.approx(columns(whole, outputs)[:1], abs=1e-4)
    monkeypatch.setattr("deniable.channel.columns.MOST_NUMBERS", 3 * DIMENSION * 4)
    assert len(PointColumns(made("multivariate"), outputs, points=40, seed=1).points.layers) == 4


def test_on_a_line_they_are_those_of_laplace_noise() -> None:
    places = np.sort(np.random.default_rng(2).uniform(0.0, 30.0, 120))
    embedding = Embedding([f"w{i}" for i in range(120)], places[:, None], unknown=np.zeros(1))
    borders = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])
    true = np.diff(laplace(loc=places[:, None], scale=1 / 0.8).cdf(borders), axis=1).T
    found = np.exp(
        columns(
            PointColumns(Multivariate(embedding, epsilon=0.8), np.arange(120), points=300, seed=0),
            np.arange(120),
        )
    )
    assert np.abs(found - true).sum(axis=0).max() / 2 < 0.06
    assert np.abs(found.T - true).sum(axis=0).max() / 2 > 0.2, "rows and columns exchanged"


def read(channel: Columns | Floats, truth: Ids, outputs: Ids) -> tuple[float, float]:
    """Return the mean of log P(x | y) of the words that went in, and how many of them an attacker names."""
    found = (columns(channel, ALL) if not isinstance(channel, np.ndarray) else channel)[outputs] + np.log(
        by_rank(EMBEDDING)
    )
    posterior = found - logsumexp(found, axis=1)[:, None]
    return float(posterior[np.arange(len(truth)), truth].mean()), float(
        (found.argmax(axis=1) == truth).mean()
    )


def released(name: str = "multivariate") -> tuple[Ids, Ids]:
    truth = np.random.default_rng(3).choice(WORDS, size=10_000, p=by_rank(EMBEDDING))
    return truth, Draws(made(name), seed=11).of_each(truth)


def test_their_reader_knows_more_than_that_of_as_many_rays() -> None:
    truth, outputs = released()
    nats, named = read(PointColumns(made("multivariate"), ALL, points=60, seed=0), truth, outputs)
    nats_by_rays, named_by_rays = read(make_rows(made("multivariate"), ALL, directions=60), truth, outputs)
    assert nats > nats_by_rays + 0.02
    assert named > named_by_rays - 3.0 * np.sqrt(0.25 / len(truth))


def test_wrong_columns_are_told_from_right_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "SPREAD_DRAWS", 100 * WORDS)
    monkeypatch.setattr(points, "LEAST_MET", 0)
    truth, outputs = released()
    channel = PointColumns(made("multivariate"), ALL, points=100, seed=0)
    right, _ = read(channel, truth, outputs)
    found = channel.points

    def off(factor: float) -> SharedPoints:
        scale = np.float32(factor)
        layers = [replace(each, points=each.points * scale, own=each.own * factor) for each in found.layers]
        return replace(found, inputs=found.inputs * scale, layers=layers)

    weights = np.full(WORDS, 1.0 / WORDS)
    for what, wrong in {
        "another ε": by_definition(off(1.1), ALL),
        "weights left out, though half went by rank": by_definition(found, ALL, weights),
        "rows and columns exchanged": columns(channel, ALL).T,
        "points of other outputs": np.roll(columns(channel, ALL), 1, axis=0),
    }.items():
        assert read(wrong, truth, outputs)[0] < right - 0.005, what
    assert read(by_definition(found, ALL), truth, outputs)[0] == pytest.approx(right, abs=1e-4)


@pytest.mark.parametrize("name", ["multivariate", "gaussian"])
def test_an_output_without_points_is_known_by_its_own_vector(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(points, "SPREAD_DRAWS", WORDS)
    monkeypatch.setattr(points, "LEAST_MET", 0)
    safe = protect(EMBEDDING, np.array([240]))
    channel = PointColumns(
        made(name, safe, epsilon=1e-3), ALL, points=1, seed=0
    )  # far noise: most cells are missed
    missed = channel.points.outputs[channel.points.counts == 1]
    assert 240 in missed
    found = columns(channel, ALL)
    assert np.isfinite(found).all()
    near = PointColumns(made(name, safe, epsilon=8.0), np.array([240]), points=1, seed=0)
    far = ((EMBEDDING.vectors - EMBEDDING.vectors[240]) ** 2).sum(axis=1)
    far[240] = far[safe.stands_in(np.array([240]))[0]]
    assert near.points.counts.tolist() == [1]
    assert far[columns(near, np.array([240]))[0].argmax()] == far.min()


def test_points_are_taken_where_there_are_many_words_and_float32_tells_distances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "FEWEST_INPUTS", WORDS)
    outputs = np.array([1, 2])
    few = random_embedding(WORDS - 1, 3)
    largest = float(np.linalg.norm(EMBEDDING.vectors - EMBEDDING.vectors.mean(axis=0), axis=1).max())
    for name in ("multivariate", "gaussian"):
        found = columns_of(made(name), outputs, seed=0, points=5)
        assert isinstance(found, PointColumns)
        assert found.how == "at most 5 points of each released word"
        assert isinstance(columns_of(made(name, few), outputs, seed=0, points=5), Channel)
        far = made(name, epsilon=1.5 * points.FURTHEST / largest)
        assert isinstance(columns_of(far, outputs, seed=0, points=5), Channel)


def test_points_do_not_come_from_the_seeds_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: set[int] = set()

    def remember(*, insecure_seed: int) -> InsecureSeededRandomness:
        seeds.add(insecure_seed)
        return InsecureSeededRandomness(insecure_seed=insecure_seed)

    monkeypatch.setattr("deniable.channel.draws.InsecureSeededRandomness", remember)
    for seed in range(4):
        PointColumns(made("multivariate"), ALL[:1], points=1, seed=seed)
    of_points = seeds.copy()
    seeds.clear()
    for seed in range(40):
        Draws(made("multivariate"), seed=seed)
    assert len(of_points) == 24  # three kinds of numbers, for the points and for the pilot
    assert len(seeds) == 40
    assert not of_points & seeds
