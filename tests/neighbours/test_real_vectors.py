"""Every released word equals the float64 oracle's on real vectors. Needs the shared data; run by `make
check-slow`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.embeddings import store
from deniable.noise.randomness import multivariate_noise
from tests.support.oracle import OracleNeighbours

EMBEDDINGS = Path(__file__).parents[2].parent / "shared/data/embeddings"
FILES = ["glove.6B.50d.txt.bz2", "glove.840B.300d.34k.w2v.txt.bz2"]
QUERIES = 10_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the shared data sets are not there"),
]


@pytest.fixture(scope="module", params=FILES)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Embedding:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENIABLE_HOME", str(tmp_path_factory.mktemp("home")))
        store.add(EMBEDDINGS / request.param, "real")
        return Embedding.open("real")


@pytest.mark.parametrize("epsilon", [1.0, 5.0, 10.0, 20.0, 50.0])
def test_every_released_word_is_the_oracles(real: Embedding, epsilon: float) -> None:
    ids = np.random.default_rng(7).integers(0, len(real) + 1, QUERIES)
    released = Multivariate(real, epsilon=epsilon).perturb(ids, InsecureSeededRandomness(insecure_seed=11))
    at_once = (1 << 20) // real.dimension  # the mechanism draws noise in blocks of this size
    source, oracle = InsecureSeededRandomness(insecure_seed=11), OracleNeighbours(real)
    for start in range(0, QUERIES, at_once):
        part = ids[start : start + at_once]
        points = (multivariate_noise(source, epsilon, len(part), real.dimension) + real.rows(part)).astype(
            np.float32
        )
        assert np.array_equal(released[start : start + at_once], oracle.nearest(points))
