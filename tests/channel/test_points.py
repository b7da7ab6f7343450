"""A channel by shared points: the formula word for word, the truth within chance, better than rays, and the
same when continued."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids, Vectors
from deniable.calibration.choice import protect
from deniable.channel import points, rows
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel, make_channels
from deniable.channel.point_sums import ProcessorSums
from deniable.channel.points import Layer, SharedPoints, draw_points, draws_each, draws_of_inputs
from deniable.channel.rows import shares_points
from deniable.mechanisms.base import NearestWord, radial_noise
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.channel.test_channel import dense
from tests.support.strategies import random_embedding

WORDS, EPSILON = 150, 2.0
EMBEDDING = random_embedding(WORDS, 3)
ALL = np.arange(WORDS + 1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 100)
    return tmp_path


def drawn(
    embedding: Embedding,
    name: str = "multivariate",
    *,
    epsilon: float = EPSILON,
    draws: int = 200,
    inputs: Ids | None = None,
) -> SharedPoints:
    mechanism = ChosenMechanism(name=name)(embedding, epsilon=epsilon)
    assert isinstance(mechanism, NearestWord)
    ids = np.arange(len(embedding) + 1) if inputs is None else inputs
    return draw_points(mechanism, ids, draws_of_inputs(embedding, ids, draws * len(ids)), seed=3)


def summed(sums: ProcessorSums, found: SharedPoints) -> Floats:
    """Return P(y | x), before rows are brought to one sum."""
    return np.concatenate(list(sums.rows(slice(0, len(found.inputs)), lambda _, block: block))).astype(
        np.float64
    )


def by_definition(found: SharedPoints, weights: Floats | None = None, *, whole: bool = True) -> Floats:
    """Return c_y/T · mean of K(z | x)/Σ w·K(z | x') in float64, one point after the other."""
    weights = found.weights if weights is None else weights
    chances = np.zeros((len(found.inputs), len(found.outputs)))
    for layer in found.layers:
        for place, point in enumerate(layer.points.astype(np.float64)):
            far = ((found.inputs - point) ** 2).sum(axis=1)
            densities = np.exp(-far if found.squared else -np.sqrt(far))
            share = found.counts[place] / found.draws if whole else 1.0
            chances[:, place] += share / found.kept[place] * densities / (weights @ densities)
    return chances


@pytest.mark.parametrize("name", ["multivariate", "gaussian", "mahalanobis"])
@pytest.mark.parametrize(
    ("dimension", "epsilon", "within"), [(3, 0.5, 1e-4), (3, 60.0, 1e-3), (50, 4.0, 1e-4), (50, 25.0, 1e-4)]
)
def test_sums_are_those_of_the_definition_in_float64(
    name: str, dimension: int, epsilon: float, within: float
) -> None:
    embedding = protect(random_embedding(120, dimension), np.array([7, 30]))
    found = drawn(embedding, name, epsilon=epsilon, draws=40)
    assert summed(ProcessorSums(found), found) == pytest.approx(by_definition(found), rel=within, abs=1e-7)


def test_coordinates_give_the_density_of_the_noise() -> None:
    for name in ("multivariate", "gaussian", "mahalanobis"):
        mechanism = ChosenMechanism(name=name)(EMBEDDING, epsilon=EPSILON)
        noise = radial_noise(mechanism)
        assert noise is not None
        vectors, found = EMBEDDING.rows(ALL).astype(np.float64), drawn(EMBEDDING, name)
        apart = (vectors[3] - vectors[9]) @ np.linalg.inv(np.eye(3) if noise.shape is None else noise.shape)
        length = EPSILON * float(
            np.linalg.norm(apart)
        )  # the density is exp(-length), or exp(-length²/2) of normal noise
        ours = float(np.linalg.norm(found.inputs[3].astype(np.float64) - found.inputs[9]))
        assert (ours**2 if found.squared else ours) == pytest.approx(
            length**2 / 2 if name == "gaussian" else length, rel=1e-5
        )


def test_points_lie_nearest_to_their_output_and_no_more_than_some_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(points, "MOST_POINTS_EACH", 5)
    found = drawn(EMBEDDING, draws=100)
    assert (
        found.counts.sum()
        == found.draws
        == draws_of_inputs(EMBEDDING, np.arange(WORDS + 1), 100 * (WORDS + 1)).sum()
    )
    assert (np.diff(found.counts) <= 0).all()
    assert [len(layer.own) for layer in found.layers] == [
        int((found.counts > place).sum()) for place in range(5)
    ]
    own = found.inputs[: len(EMBEDDING)].astype(np.float64)
    for layer in found.layers:
        apart = ((layer.points[:, None, :] - own) ** 2).sum(axis=2)
        assert (apart.argmin(axis=1) == found.outputs[: len(layer.points)]).all()
        nearest_input = np.abs(
            np.sqrt(((layer.points[:, None, :] - found.inputs) ** 2).sum(axis=2)) - layer.own[:, None]
        ).min(axis=1)
        assert nearest_input.max() < 1e-4


@cache
def fresh(word: int, epsilon: float) -> Floats:
    """Return in which share of draws from another seed each word came out."""
    released = Multivariate(EMBEDDING, epsilon=epsilon).perturb(
        np.full(200_000, word), InsecureSeededRandomness(insecure_seed=99)
    )
    return np.bincount(released, minlength=WORDS) / len(released)


def apart(matrix: Floats, epsilon: float) -> float:
    """Return how much probability rows place otherwise than draws with another seed, on average over some
    words."""
    words = (0, 20, 70, 140, EMBEDDING.unknown_id)
    return float(np.mean([np.abs(matrix[word] - fresh(word, epsilon)).sum() / 2 for word in words]))


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 20.0])
def test_rows_are_what_words_become_and_wrong_ones_are_not(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(points, "MOST_POINTS_EACH", 300)
    monkeypatch.setattr(points, "MOST_DRAWS_EACH", 400)
    monkeypatch.setattr(rows, "LEFT_OUT", 1e-6)
    monkeypatch.setattr(rows, "_POINTS_LEAVE_OUT", 1e-6)
    channel = make_channel(EMBEDDING, epsilon=epsilon, directions=400, keep=False)
    assert channel.method == "points"
    matrix = dense(channel)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(WORDS + 1))
    assert apart(matrix, epsilon) < 0.025 < apart(np.roll(matrix, 1, axis=1), epsilon)


@pytest.mark.parametrize("epsilon", [2.0])
def test_wrong_sums_are_told_from_right_ones(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_POINTS_EACH", 300)
    found = drawn(EMBEDDING, epsilon=epsilon, draws=400)

    def error(chances: Floats, outputs: Ids = found.outputs) -> float:
        matrix = np.zeros((WORDS + 1, WORDS))
        matrix[:, outputs] = chances / chances.sum(axis=1, keepdims=True)
        return apart(matrix, epsilon)

    right = summed(ProcessorSums(found), found)
    limit = 0.03
    assert error(right) < limit
    wrong = replace(
        found,
        inputs=found.inputs * np.float32(1.1),
        layers=[replace(each, points=each.points * np.float32(1.1)) for each in found.layers],
    )
    assert error(summed(ProcessorSums(wrong), wrong)) > limit, "another ε"
    assert error(by_definition(found, np.full(WORDS + 1, 1.0 / (WORDS + 1)))) > limit, (
        "weights left out, though half went by rank"
    )
    assert error(by_definition(found, whole=False)) > limit, "how many points there were left out"
    assert error(right, np.roll(found.outputs, 1)) > limit, "points of other outputs"
    square = np.zeros((WORDS, WORDS))
    square[:, found.outputs] = right[:WORDS]
    assert error(np.vstack([square.T, square.T[:1]])[:, found.outputs]) > limit, "rows and columns exchanged"


def test_five_percent_of_epsilon_are_seen() -> None:
    found = drawn(EMBEDDING, draws=1_000)
    released = (
        Draws(Multivariate(EMBEDDING, epsilon=EPSILON), seed=5)
        .of_each(np.repeat(ALL, 1_000))
        .reshape(len(ALL), -1)
    )
    places = np.zeros(WORDS, dtype=np.int64)
    places[found.outputs] = np.arange(len(found.outputs))

    def nats(factor: float) -> float:
        off = replace(
            found,
            inputs=found.inputs * np.float32(factor),
            layers=[
                Layer(points=each.points * np.float32(factor), own=each.own * factor) for each in found.layers
            ],
        )
        chances = summed(ProcessorSums(off), off)
        chances /= chances.sum(axis=1, keepdims=True)
        return float(np.log(np.take_along_axis(chances, places[released], axis=1)).mean())

    assert nats(1.0) > max(nats(0.95), nats(1.05))


def likelihood(channel: Channel, released: Ids) -> float:
    """Return the mean of log P(y | x) over releases, a row an input word."""
    return float(np.log(np.take_along_axis(dense(channel), released, axis=1)).mean())


def test_points_say_more_than_as_many_rays_at_a_small_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = random_embedding(600, 10)
    released = (
        Draws(Multivariate(embedding, epsilon=1.0), seed=8)
        .of_each(np.repeat(np.arange(601), 100))
        .reshape(601, 100)
    )
    by_points = make_channel(embedding, epsilon=1.0, directions=60, keep=False)
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 10_000)
    by_rays = make_channel(embedding, epsilon=1.0, directions=60, keep=False)
    assert (by_points.method, by_rays.method) == ("points", "rays")
    assert likelihood(by_points, released) > likelihood(by_rays, released) + 0.1


def test_sums_over_words_are_near_those_of_draws_with_another_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = random_embedding(300, 10)
    released = Draws(Multivariate(embedding, epsilon=EPSILON), seed=3).of_each(
        np.repeat(np.arange(300), 2_000)
    )
    true = np.bincount(released, minlength=300) / len(released)
    monkeypatch.setattr(points, "MOST_DRAWS_EACH", 1_000)
    found = make_channel(embedding, epsilon=EPSILON, directions=1_000, keep=False).output_shares(
        np.append(np.full(300, 1.0 / 300), 0.0)
    )
    assert np.abs(found - true).sum() / 2 < 0.03
    assert np.abs(np.roll(found, 1) - true).sum() / 2 > 0.1


def test_few_words_and_epsilons_that_float32_cannot_tell_stay_with_rays() -> None:
    assert (
        make_channel(EMBEDDING, epsilon=EPSILON, inputs=np.arange(99), directions=30, keep=False).method
        == "rays"
    )
    largest = float(np.linalg.norm(EMBEDDING.rows(ALL) - EMBEDDING.rows(ALL).mean(axis=0), axis=1).max())
    below, above = make_channels(
        EMBEDDING,
        epsilons=[0.99 * points.FURTHEST / largest, 1.01 * points.FURTHEST / largest],
        directions=30,
        keep=False,
    )
    assert (below.method, above.method) == ("points", "rays")
    assert (dense(below)[:WORDS].argmax(axis=1) == np.arange(WORDS)).all()  # no word changes at so large an ε
    assert np.abs(dense(below) - dense(above))[:WORDS].max() < 0.01


def test_a_row_whose_points_do_not_add_up_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = 3.0 * np.random.default_rng(4).standard_normal((400, 6))
    vectors[[0, 399]] = 0.0
    vectors[0, 0], vectors[399, 0] = (
        0.8,
        -0.9,
    )  # ⊥ lies between a frequent word, whose points are its own, and a rare one
    embedding = Embedding([f"w{i}" for i in range(400)], vectors, unknown=np.zeros(6))
    monkeypatch.setattr(points, "MOST_POINTS_EACH", 8)
    # as few around ⊥ as around a rare word
    monkeypatch.setattr(
        rows,
        "draws_of_inputs",
        lambda space, inputs, draws: draws_of_inputs(space, np.zeros_like(inputs), draws),
    )
    true = float((Draws(Multivariate(embedding, epsilon=40.0), seed=5).of(400, 20_000) == 0).mean())

    def of_unknown() -> float:
        return float(dense(make_channel(embedding, epsilon=40.0, directions=100, keep=False))[400, 0])

    assert abs(of_unknown() - true) < 0.08
    monkeypatch.setattr(rows, "_FAR_FROM_ONE", np.inf)
    assert abs(of_unknown() - true) > 0.15


@pytest.mark.parametrize("numbers", [3 * 7, 1 << 30])
def test_how_many_points_are_drawn_at_once_changes_nothing(
    numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn(EMBEDDING, draws=30)
    monkeypatch.setattr(points, "_NUMBERS_AT_ONCE", numbers)
    after = drawn(EMBEDDING, draws=30)
    assert (before.outputs == after.outputs).all()
    assert (before.counts == after.counts).all()
    first, second = (
        np.sort(np.concatenate([layer.points for layer in each.layers]), axis=0) for each in (before, after)
    )
    assert (first == second).all()  # the same points, though not in the same layers
    assert summed(ProcessorSums(after), after) == pytest.approx(
        summed(ProcessorSums(before), before), rel=1e-5
    )


def test_points_of_one_dimension_are_held_against_the_kept_ones_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []

    class Noting(points._KeptPoints):
        def add(self, outputs: Ids, vectors: Vectors, owners: Ids, keys: Floats) -> None:
            sizes.append(len(outputs))
            super().add(outputs, vectors, owners, keys)

    monkeypatch.setattr(points, "_KeptPoints", Noting)
    monkeypatch.setattr(points, "_NUMBERS_AT_ONCE", 1 << 10)
    drawn(random_embedding(WORDS, 1), draws=10)
    assert max(sizes) * points.MOST_POINTS_EACH == 1 << 10


def test_no_more_points_are_drawn_than_say_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_DRAWS_EACH", 7)
    few, many = (
        make_channel(EMBEDDING, epsilon=EPSILON, directions=wanted, keep=False) for wanted in (3, 100)
    )
    assert (few.directions, many.directions) == (
        3,
        6,
    )  # 7 for each of 150 outputs are 6 for each of 151 inputs
    assert draws_each(EMBEDDING, 10**9, 100) == 1


def test_many_outputs_keep_a_few_points_each_and_few_outputs_many() -> None:
    assert points.points_in_all(50_000, 20_001, 10_000_000) == points.MEAN_POINTS * 50_000
    assert points.points_in_all(50_000, 20_001, 500_000) == 200_000
    assert points.points_in_all(200, 20_001, 500_000) == points.MOST_PAIRS_ASKED // 20_001


def test_outputs_that_are_met_more_often_keep_more_points_and_all_together_as_many_as_are_wanted() -> None:
    counts = np.array([4_000, 900, 100, 25, 25, 9, 3, 1])
    assert points.thinned(counts, most=32, in_all=None).tolist() == np.minimum(counts, 32).tolist()
    assert points.thinned(counts, most=32, in_all=10_000).tolist() == np.minimum(counts, 32).tolist()
    kept = points.thinned(counts, most=32, in_all=40)
    assert 32 <= kept.sum() <= 40
    assert (np.diff(kept) <= 0).all()
    assert (kept <= np.minimum(counts, 32)).all()
    assert kept[:2] / kept[2:4] == pytest.approx(np.sqrt(counts[:2] / counts[2:4]), rel=0.5)
    assert (
        points.thinned(counts, most=32, in_all=1).tolist()
        == np.minimum(counts, points.FEWEST_POINTS_EACH).tolist()
    )


def test_sums_over_thinned_points_are_those_of_the_definition() -> None:
    mechanism = Multivariate(EMBEDDING, epsilon=EPSILON)
    ids = np.arange(WORDS + 1)
    found = draw_points(
        mechanism, ids, draws_of_inputs(EMBEDDING, ids, 40 * len(ids)), seed=3, in_all=5 * WORDS
    )
    assert 1 <= found.kept.min() < found.kept.max() < points.MOST_POINTS_EACH
    assert [len(layer.own) for layer in found.layers] == [
        int((found.kept > turn).sum()) for turn in range(int(found.kept.max()))
    ]
    assert summed(ProcessorSums(found), found) == pytest.approx(by_definition(found), rel=1e-3, abs=1e-7)


def test_less_memory_means_fewer_points_of_each_output(monkeypatch: pytest.MonkeyPatch) -> None:
    each = points.points_each
    assert each(EMBEDDING) == points.MOST_POINTS_EACH
    assert each(EMBEDDING, np.arange(9)) == points.MOST_POINTS_ASKED
    monkeypatch.setattr(points, "MOST_NUMBERS", 3 * WORDS * 4)
    assert each(EMBEDDING) == 4
    monkeypatch.setattr(points, "MOST_NUMBERS", 1)
    assert each(EMBEDDING) == each(EMBEDDING, np.arange(9)) == points.FEWEST_POINTS_EACH
    assert dense(make_channel(EMBEDDING, epsilon=EPSILON, directions=50, keep=False)).sum(
        axis=1
    ) == pytest.approx(np.ones(WORDS + 1))


def test_an_interrupted_channel_goes_on_to_the_same_bytes_and_reports_rise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "_WORDS_AT_ONCE", {"points": 64})
    epsilons = [1.0, EPSILON]
    told: list[tuple[int, int]] = []
    whole = make_channels(
        EMBEDDING, epsilons=epsilons, directions=50, keep=False, report=lambda *each: told.append(each)
    )
    reached = [done for done, _ in told]
    assert (reached[0], told[-1]) == (0, (2 * (WORDS + 1), 2 * (WORDS + 1)))
    assert (np.diff(reached) > 0).all()
    assert len(reached) > 8  # drawing and the first sum are told of as well

    def stop(done: int, total: int) -> None:
        if done > 0.9 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_channels(EMBEDDING, epsilons=epsilons, directions=50, report=stop)
    again: list[int] = []
    continued = make_channels(
        EMBEDDING, epsilons=epsilons, directions=50, report=lambda done, _total: again.append(done)
    )
    assert again[0] == WORDS + 1
    assert (np.diff(again) > 0).all()
    for first, second in zip(whole, continued, strict=True):
        assert first.chances.tobytes() == second.chances.tobytes()
        assert first.outputs.tobytes() == second.outputs.tobytes()
    kept = [(folder / "settings.json").read_text() for folder in EMBEDDING.work_folder("channels").iterdir()]
    assert len(kept) == 2
    assert all(
        '"method": "points"' in each
        and f'"points_each": {points.MOST_POINTS_EACH}' in each
        and '"seed": 7' in each
        for each in kept
    )
    monkeypatch.setattr("deniable.channel.rows.draw_points", lambda *_, **__: pytest.fail("they were there"))
    make_channels(EMBEDDING, epsilons=epsilons, directions=50)


def test_an_epsilon_beyond_float32_takes_rays_without_a_warning() -> None:
    many = random_embedding(1_100, 3)
    assert not shares_points(ChosenMechanism()(many, epsilon=1e40), np.arange(1_100))


def test_unknown_words_are_told_as_well_as_the_most_frequent_one_and_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "MOST_OUTPUTS", 50)
    many = random_embedding(1_100, 5)
    inputs = np.append(np.arange(1_000), many.unknown_id)
    each = draws_of_inputs(many, inputs, 100_000)
    assert each[-1] == each[0] > 50 * each[-2]
    channel = make_channel(many, epsilon=2.0, inputs=inputs, directions=100, keep=False)
    assert channel.method == "points"
    assert channel.rest[-1] < 0.01 < channel.rest[:-1].min()
    assert len(channel.row(many.unknown_id)[0]) > 50 == len(channel.row(0)[0])
