"""``deniable calibrate --device``: at given ε words are drawn on the device, and found as by rays; the search
for an ε follows rays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.calibration import Files, Targets, calibrate
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.choice import Protection
from deniable.embeddings import store
from deniable.neighbours import set_device
from deniable.release.note import read_note
from tests.gpu.made_gpu import MadeGpu

pytest.importorskip("torch")

WORDS, EPSILON, DRAWS = 60, 3.0, 1_000


@pytest.fixture(autouse=True)
def small(gpus: dict[Embedding, MadeGpu]) -> None:
    vectors = np.random.default_rng(0).standard_normal((WORDS, 4))
    vectors[7] = 40.0
    store.save(Embedding([f"w{i}" for i in range(WORDS)], vectors), "small")


def test_words_are_found_as_by_rays_within_their_errors(
    gpus: dict[Embedding, MadeGpu], tmp_path: Path
) -> None:
    targets, page = Targets(max_unchanged=0.9, min_distinct=5, quantile=0.5), tmp_path / "page.html"
    by_draws = calibrate("small", targets=targets, epsilons=[EPSILON], draws=DRAWS, files=Files(page=page))
    assert by_draws.calibration.method == "simulation"
    assert sum(gpu.draws for gpu in gpus.values()) >= WORDS * DRAWS
    said = page.read_text(encoding="utf-8")
    assert "with secure noise on a GPU" in said
    assert "from a public seed" not in said
    set_device(None)
    by_rays = calibrate("small", targets=targets, epsilons=[EPSILON], draws=DRAWS)
    assert by_rays.calibration.method == "rays"
    first, second = by_draws.choice, by_rays.choice
    assert first is not None
    assert second is not None
    order = np.argsort(by_rays.calibration.ids)  # rays are followed in an order of their own
    assert by_draws.calibration.ids.tolist() == list(range(WORDS))
    within = 5.0 * np.hypot(first.errors, second.errors[order]) + 1e-3
    assert (np.abs(first.unchanged - second.unchanged[order]) <= within).all()
    elsewhere = by_rays.calibration.unchanged(1.5 * EPSILON)[0][order]
    assert not (np.abs(first.unchanged - elsewhere) <= within).all()  # so much would be noticed
    assert isinstance(by_rays.calibration, RayCalibration)
    drawn = by_draws.calibration.distinct_words(np.arange(len(order)), EPSILON)
    assert drawn is not None
    assert np.abs(drawn.astype(int) - by_rays.calibration.distinct_words(order, EPSILON)).max() <= 12
    assert first.unchanged[7] == 1.0


def test_the_search_for_an_epsilon_follows_rays(gpus: dict[Embedding, MadeGpu]) -> None:
    found = calibrate("small", targets=Targets(max_unchanged=0.9, quantile=0.9), draws=100)
    assert found.calibration.method == "rays"
    assert not sum(gpu.draws for gpu in gpus.values())


def test_what_draws_say_takes_no_place_of_what_rays_said() -> None:
    targets = Targets(max_unchanged=0.9, quantile=0.5)

    def noted() -> str | None:
        from deniable import Multivariate

        note = read_note(Multivariate(Embedding.open("small"), epsilon=1.0))
        assert note is not None
        return note.method

    calibrate("small", targets=targets, epsilons=[EPSILON], draws=200)
    assert noted() == "simulation"
    set_device(None)
    calibrate("small", targets=targets, draws=200)
    assert noted() == "rays"
    set_device("cuda")
    calibrate("small", targets=targets, epsilons=[2.0], draws=200)
    assert noted() == "rays"


def test_protected_words_are_measured_on_the_device_too() -> None:
    targets = Targets(max_unchanged=0.99, min_distinct=2)
    found = calibrate(
        "small", targets=targets, epsilons=[EPSILON], draws=200, protect=Protection(by="unknown", name="safe")
    )
    assert found.protected is not None
    assert found.protected.words_mapped >= 1
    assert found.protected.exposed_words_left == 0
