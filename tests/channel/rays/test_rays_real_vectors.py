"""Rays against direct search, draw for draw, on real vectors. Needs the shared data; run by `make
check-slow`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.arrays import Ids
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import LengthFunction, furthest_radius, unchanged
from deniable.embeddings import store
from deniable.neighbours import best_neighbours
from deniable.noise.randomness import InsecureSeededRandomness
from tests.channel.rays.direct import Direct, assert_same_words

DATA = Path(__file__).parents[4] / "shared" / "data" / "embeddings"
SETS = {
    "glove.6B.50d.txt.bz2": (2.0, 3.0, 5.0, 8.0, 12.0),
    "glove.840B.300d.34k.w2v.txt.bz2": (5.82, 8.74, 11.65, 14.56, 17.47),
}
"""From where hardly a word stays to where most do."""
WORDS, RAYS = 50, 1000
DRAWS = 20_000
"""For each word and each of five ε: 100,000 direct draws a word."""
LONGEST = 5
"""So many of the words have the longest vectors: the most isolated ones, which hardly ever change."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not here"),
]


@pytest.fixture(scope="module", params=SETS)
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Rays, tuple[float, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENIABLE_HOME", str(tmp_path_factory.mktemp("home")))
        store.add(DATA / request.param, "real", duplicates="first")
        return Rays(Embedding.open("real"), rays=RAYS), SETS[request.param]


def words_of(embedding: Embedding, count: int) -> Ids:
    """Return ids of the longest vectors and of words drawn at random."""
    norms = np.linalg.norm(embedding.vectors, axis=1)
    others = np.random.default_rng(count).choice(len(embedding), count - LONGEST, replace=False)
    return np.concatenate([np.argsort(-norms, kind="stable")[:LONGEST], others])


def test_every_draw_is_the_word_that_direct_search_finds(real: tuple[Rays, tuple[float, ...]]) -> None:
    rays, epsilons = real
    embedding, gamma = rays.embedding, LengthFunction("gamma", rays.embedding.dimension)
    lengths = LengthFunction("gamma", embedding.dimension).draws(RAYS)
    direct, search = Direct(embedding), best_neighbours(embedding)
    ids, changed = words_of(embedding, WORDS), 0
    walks = rays.envelopes(ids, furthest=furthest_radius(min(epsilons), gamma, lengths))
    for word, envelope in zip(ids, walks, strict=True):
        for epsilon in epsilons:
            points = (
                embedding.vectors[word].astype(np.float64) + (lengths / epsilon)[:, None] * rays.directions
            )
            found = envelope.at(lengths / epsilon)
            changed += int((found != word).sum())
            # The package's own search is exact for the point rounded to float32; a different word must be a
            # matter of that rounding.
            for i in np.flatnonzero(search.nearest(points.astype(np.float32)) != found):
                assert_same_words(direct, points[i : i + 1], found[i : i + 1])
    assert changed > WORDS * RAYS  # most draws of at least one ε in five: equality says something


def test_curves_agree_with_many_direct_draws_and_not_with_those_of_a_slightly_larger_epsilon(
    real: tuple[Rays, tuple[float, ...]],
) -> None:
    embedding, epsilons = real[0].embedding, real[1]
    gamma, ids = LengthFunction("gamma", embedding.dimension), words_of(embedding, 20)
    # Where a word seldom stays, few rays make up N_w, and with only 1,000 of them their spread is not a
    # standard error to rely on.
    radii, _ = Rays(embedding, rays=10 * RAYS, seed=2).first_breakpoints(ids)
    means, errors = unchanged(radii, np.array(epsilons), gamma)
    wrong, _ = unchanged(radii, 1.05 * np.array(epsilons), gamma)
    assert (means[:LONGEST, 2] > 0.5).all()  # exposed where the average word changes
    source = InsecureSeededRandomness(insecure_seed=7)
    shares = np.empty_like(means)
    for e, epsilon in enumerate(epsilons):
        mechanism = Multivariate(embedding, epsilon=epsilon)
        shares[:, e] = [(mechanism.perturb(np.full(DRAWS, word), source) == word).mean() for word in ids]
    # One draw more of each kind keeps the error of "never" and "always" above zero.
    spread = np.hypot(errors, np.sqrt((shares + 1 / DRAWS) * (1 - shares + 1 / DRAWS) / DRAWS))
    apart = np.argwhere(np.abs(shares - means) >= 4 * spread)
    assert not len(apart), [
        (embedding.words[ids[i]], epsilons[e], shares[i, e], means[i, e], spread[i, e]) for i, e in apart
    ]
    assert ((np.abs(shares - wrong) > 4 * spread).sum(axis=0) >= 3).sum() >= 3
