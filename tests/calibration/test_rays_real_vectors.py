"""Rays against direct search, draw for draw, on real vectors. Needs the shared data; run by `make check-slow`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.calibration.gamma import GammaFunction, gamma_draws
from deniable.calibration.rays import Rays
from deniable.calibration.statistics import furthest_radius, unchanged
from deniable.embeddings import store
from deniable.neighbours import best_neighbours
from deniable.randomness import InsecureSeededRandomness
from direct import Direct, assert_same_words

DATA = Path(__file__).parents[3] / "shared" / "data" / "embeddings"
SETS = {"glove.6B.50d.txt.bz2": (2.0, 3.0, 5.0, 8.0, 12.0), "glove.840B.300d.34k.w2v.txt.bz2": (10.0, 20.0, 30.0, 40.0, 60.0)}
WORDS, RAYS, DRAWS = 50, 1000, 100_000

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not here")]


@pytest.fixture(scope="module", params=SETS)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Rays, tuple[float, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENIABLE_HOME", str(tmp_path_factory.mktemp("home")))
        store.add(DATA / request.param, "real", duplicates="first")
        return Rays(Embedding.open("real"), rays=RAYS), SETS[request.param]


def test_every_draw_is_the_word_that_direct_search_finds(real: tuple[Rays, tuple[float, ...]]) -> None:
    rays, epsilons = real
    embedding, gamma = rays.embedding, GammaFunction(rays.embedding.dimension)
    lengths = gamma_draws(RAYS, embedding.dimension)
    direct, search = Direct(embedding), best_neighbours(embedding)
    ids = np.sort(np.random.default_rng(0).choice(len(embedding), WORDS, replace=False))
    walks = rays.envelopes(ids, furthest=furthest_radius(min(epsilons), gamma, lengths))
    for word, envelope in zip(ids, walks, strict=True):
        for epsilon in epsilons:
            points = embedding.vectors[word].astype(np.float64) + (lengths / epsilon)[:, None] * rays.directions
            found = envelope.at(lengths / epsilon)
            # The package's own search is exact for the point rounded to float32; a different word must be a matter of that rounding.
            for i in np.flatnonzero(search.nearest(points.astype(np.float32)) != found):
                assert_same_words(direct, points[i : i + 1], found[i : i + 1])


def test_curves_agree_with_many_direct_draws(real: tuple[Rays, tuple[float, ...]]) -> None:
    rays, epsilons = real
    embedding, gamma = rays.embedding, GammaFunction(rays.embedding.dimension)
    norms = np.linalg.norm(embedding.vectors, axis=1)
    exposed = np.argsort(-norms)[:5]  # the longest vectors are the most isolated words
    ids = np.concatenate([exposed, np.random.default_rng(1).choice(len(embedding), 15, replace=False)])
    means, errors = unchanged(rays.first_breakpoints(ids)[0], np.array(epsilons), gamma)
    source = InsecureSeededRandomness(insecure_seed=7)
    for e in (1, 2):
        mechanism = Multivariate(embedding, epsilon=epsilons[e])
        for i, word in enumerate(ids):
            share = float((mechanism.perturb(np.full(DRAWS, word), source) == word).mean())
            # One draw more of each kind keeps the error of "never" and "always" above zero.
            spread = math.hypot(errors[i, e], math.sqrt((share + 1 / DRAWS) * (1 - share + 1 / DRAWS) / DRAWS))
            assert abs(share - means[i, e]) < 4 * spread + 1 / RAYS
