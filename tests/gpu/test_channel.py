"""A channel by draws on a GPU has the form and, within its error, the numbers of that by rays; it is kept
apart from it on the disk."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, Multivariate, Privatizer
from deniable.arrays import Floats
from deniable.calibration.protection import protect
from deniable.channel.columns import columns_of
from deniable.channel.making import make_channel, make_channels
from deniable.decoding.received import open_channel, open_channel_of_inputs
from deniable.embeddings.places import work_folder
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import set_device
from tests.channel.test_channel import dense
from tests.gpu.made_gpu import MadeGpu
from tests.support.strategies import random_embedding

pytest.importorskip("torch")

WORDS, EPSILON, DRAWS = 40, 2.0, 2_000
EMBEDDING = random_embedding(WORDS, 3)

pytestmark = pytest.mark.usefixtures("gpus")


def furthest(first: Floats, second: Floats) -> float:
    """Return how much probability two channels place differently, for the word where this is most."""
    return float(np.abs(first - second).sum(axis=1).max() / 2)


def test_rows_by_draws_are_those_by_rays_within_their_error(gpus: dict[Embedding, MadeGpu]) -> None:
    by_draws, at_once = make_channels(
        EMBEDDING, epsilons=[EPSILON, 3.0], directions=DRAWS, keep=False, on_gpu=True
    )
    by_rays = make_channel(EMBEDDING, epsilon=EPSILON, directions=DRAWS, keep=False)
    assert (by_draws.method, by_draws.directions, by_rays.method) == ("simulation", DRAWS, "rays")
    assert sorted(by_draws.inputs.tolist()) == sorted(by_rays.inputs.tolist())
    assert dense(by_draws).sum(axis=1) == pytest.approx(np.ones(WORDS + 1))
    assert furthest(dense(by_draws), dense(by_rays)) < 0.1 < furthest(dense(at_once), dense(by_rays))
    gpus[EMBEDDING] = MadeGpu(EMBEDDING, too_strong=1.5)
    set_device("cuda")
    assert (
        furthest(
            dense(make_channel(EMBEDDING, epsilon=EPSILON, directions=DRAWS, keep=False, on_gpu=True)),
            dense(by_rays),
        )
        > 0.1
    )


def test_a_protected_word_is_drawn_as_its_stand_in() -> None:
    safe = protect(EMBEDDING, np.array([4]))
    matrix = dense(make_channel(safe, epsilon=EPSILON, directions=DRAWS, keep=False, on_gpu=True))
    assert furthest(matrix[[4]], matrix[safe.stands_in(np.array([4]))]) < 0.1
    assert (
        furthest(
            matrix[[4]], dense(make_channel(EMBEDDING, epsilon=EPSILON, directions=DRAWS, keep=False))[[4]]
        )
        > 0.1
    )


def test_what_is_kept_says_where_it_was_drawn_and_is_not_drawn_again(gpus: dict[Embedding, MadeGpu]) -> None:
    first = make_channel(EMBEDDING, epsilon=EPSILON, directions=50, on_gpu=True)
    drawn = gpus[EMBEDDING].draws
    assert drawn == 50 * (WORDS + 1)
    assert (dense(make_channel(EMBEDDING, epsilon=EPSILON, directions=50, on_gpu=True)) == dense(first)).all()
    assert gpus[EMBEDDING].draws == drawn
    assert make_channel(EMBEDDING, epsilon=EPSILON, directions=50).method == "rays"
    kept = [(folder / "settings.json").read_text() for folder in work_folder(EMBEDDING, "channels").iterdir()]
    assert sorted("secure draws on a GPU" in each for each in kept) == [False, True]


@pytest.mark.parametrize(("name", "method"), [("santext", "exact"), ("vickrey", "simulation")])
def test_a_mechanism_without_radial_noise_is_measured_as_ever(
    gpus: dict[Embedding, MadeGpu], name: str, method: str
) -> None:
    channel = make_channel(
        EMBEDDING, ChosenMechanism(name=name), epsilon=EPSILON, directions=50, keep=False, on_gpu=True
    )
    assert channel.method == method
    assert not sum(gpu.draws for gpu in gpus.values())


def test_without_a_device_rays_are_followed() -> None:
    set_device(None)
    assert make_channel(EMBEDDING, epsilon=EPSILON, directions=50, keep=False, on_gpu=True).method == "rays"


def test_receivers_draw_on_the_device_that_was_asked_for(gpus: dict[Embedding, MadeGpu]) -> None:
    card = Privatizer(Multivariate(EMBEDDING, epsilon=EPSILON)).card
    assert open_channel(card, EMBEDDING, directions=50).method == "simulation"
    assert gpus[EMBEDDING].draws
    elsewhere = open_channel_of_inputs(card, EMBEDDING, np.arange(5), directions=50)
    assert elsewhere.method == "rays"  # a decoder that travels is the same everywhere


@pytest.mark.parametrize("name", ["multivariate", "gaussian"])
def test_sums_over_points_are_those_of_the_processor(
    gpus: dict[Embedding, MadeGpu], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 10)
    mechanism = ChosenMechanism(name=name)
    on_processor = make_channel(EMBEDDING, mechanism, epsilon=EPSILON, directions=50, keep=False)
    set_device("cpu")
    monkeypatch.setattr(
        "deniable.channel.point_sums.ProcessorSums", lambda *_: pytest.fail("the device was asked for")
    )
    monkeypatch.setattr("deniable.gpu.sums._PAIRS_AT_ONCE", 7 * WORDS)
    on_gpu = make_channel(EMBEDDING, mechanism, epsilon=EPSILON, directions=50, keep=False, on_gpu=True)
    assert on_gpu.method == on_processor.method == "points"
    assert dense(on_gpu) == pytest.approx(dense(on_processor), rel=1e-4, abs=1e-8)
    assert not sum(gpu.draws for gpu in gpus.values())  # the points come from the public seed


def test_columns_are_summed_on_the_device_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 10)
    outputs = np.array([3, 5, 8])
    set_device(None)
    columns = columns_of(Multivariate(EMBEDDING, epsilon=EPSILON), outputs, seed=1)
    on_processor = np.stack(list(columns.columns(outputs)))
    set_device("cpu")
    monkeypatch.setattr(
        "deniable.channel.point_sums.ProcessorSums", lambda *_: pytest.fail("the device was asked for")
    )
    assert np.stack(list(columns.columns(outputs))) == pytest.approx(on_processor, rel=1e-4, abs=1e-8)
