from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable import Embedding, InvalidParameter
from deniable.channel.rays.rays import Rays, ray_paths
from deniable.channel.rays.tables import TILE, TILES_AT_ONCE, UNIT, tiled_order
from tests.channel.rays.direct import Direct, assert_same_words
from tests.support.strategies import line_embedding, random_embedding

RADII = (1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 1e3)


def hostile(kind: str, dimension: int = 6) -> Embedding:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((150, dimension))
    if kind == "duplicates":
        vectors[50:100] = vectors[:50]
    elif kind == "far apart":
        vectors *= 10.0 ** random.integers(-6, 6, (150, 1))
    elif kind == "close together":
        vectors = 1e3 + 1e-3 * vectors
    elif kind == "integers":
        vectors = random.integers(-2, 3, (150, dimension)).astype(float)
    elif kind == "one line":
        vectors = np.outer(np.arange(150), np.ones(dimension))
    elif kind == "tiny":
        vectors *= 1e-30
    elif kind == "huge":
        vectors *= 1e11
    elif kind == "zero":
        vectors[7] = 0.0
        vectors[9] = 0.0
    return Embedding([f"w{i}" for i in range(len(vectors))], vectors)


KINDS = ("plain", "duplicates", "far apart", "close together", "integers", "one line", "tiny", "huge", "zero")


def size_of(embedding: Embedding) -> float:
    return float(np.abs(embedding.vectors).max())


@pytest.mark.parametrize("path", ray_paths())
@pytest.mark.parametrize("kind", KINDS)
def test_every_draw_is_the_word_that_direct_search_finds(kind: str, path: str) -> None:
    embedding = hostile(kind)
    rays = Rays(embedding, rays=40, path=path)
    direct = Direct(embedding)
    ids = np.arange(0, 150, 7)
    for word, envelope in zip(ids, rays.envelopes(ids), strict=True):
        for radius in RADII:
            points = (
                embedding.vectors[word].astype(np.float64) + radius * size_of(embedding) * rays.directions
            )
            assert_same_words(direct, points, envelope.at(np.full(40, radius * size_of(embedding))))


@pytest.mark.parametrize("path", ray_paths())
@pytest.mark.parametrize("kind", KINDS)
def test_the_words_at_one_radius_are_those_of_the_walk(kind: str, path: str) -> None:
    embedding, ids, random = hostile(kind), np.arange(0, 150, 7), np.random.default_rng(1)
    for table_bytes in (1 << 20, 20 * 2 * 160):
        rays = Rays(embedding, rays=40, path=path, table_bytes=table_bytes)
        walks = list(rays.envelopes(ids))
        for radius in RADII[1::2]:
            radii = radius * size_of(embedding) * random.uniform(0.9, 1.1, 40)
            expected = np.stack([walk.at(radii) for walk in walks])
            stays = expected == np.array([walk.start for walk in walks])[:, None]
            assert np.array_equal(rays.winners_at(ids, radii), expected)
            assert np.array_equal(rays.winners_at(ids, radii, stays=stays), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_all_paths_give_the_same_numbers(kind: str) -> None:
    embedding = hostile(kind)
    ids = np.arange(60)
    expected: list[np.ndarray] | None = None
    for path in ray_paths():
        rays = Rays(embedding, rays=33, path=path)
        walks = list(rays.envelopes(ids, furthest=3 * size_of(embedding)))
        got = [
            *rays.first_breakpoints(ids),
            *(part for w in walks for part in (w.counts, w.winners, w.radii)),
        ]
        expected = got if expected is None else expected
        assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 2**32))
@example(
    words=74, dimension=1, seed=131
)  # two words only 1e-5 apart, of the length 1.3: scores in float64 cannot tell which is nearer
def test_the_first_breakpoint_is_where_the_cell_ends(words: int, dimension: int, seed: int) -> None:
    embedding = random_embedding(words, dimension, seed=seed)
    rays = Rays(embedding, rays=8, seed=seed)
    radii, behind = rays.first_breakpoints(np.arange(words))
    direct = Direct(embedding)
    for word in range(0, words, 9):
        for j in range(8):
            end = radii[word, j]
            step = rays.directions[j] * (min(end, 1e6) * np.array([1 - 1e-6, 1 + 1e-6]))[:, None]
            inside, outside = direct.nearest(embedding.vectors[word].astype(np.float64) + step)
            assert inside == word
            assert behind[word, j] == (outside if np.isfinite(end) else -1)


def test_a_walk_begins_with_the_first_breakpoint_and_ends_where_it_is_told() -> None:
    embedding = random_embedding(300, 5)
    rays = Rays(embedding, rays=20)
    ids = np.arange(300)
    first, behind = rays.first_breakpoints(ids)
    for word, envelope in enumerate(rays.envelopes(ids, furthest=2.0)):
        begins = np.cumsum(envelope.counts) - envelope.counts
        some = envelope.counts > 0
        assert np.array_equal(some, first[word] < 2.0)
        assert np.array_equal(envelope.radii[begins[some]], first[word][some])
        assert np.array_equal(envelope.winners[begins[some]], behind[word][some])
        assert (envelope.radii < 2.0).all()


@pytest.mark.parametrize("furthest", [0.5, 2.0, 5.0, 15.0])
@pytest.mark.parametrize("path", ray_paths())
def test_a_walk_that_ends_early_is_the_beginning_of_the_whole_one(path: str, furthest: float) -> None:
    # The empty tiles behind the last one once passed the test of rays that end early from words that lie far
    # out.
    embedding = random_embedding(80, 4)
    rays, ids = Rays(embedding, rays=300, path=path), np.array([0, 5, 9, 30, 80, 2])
    for whole, cut in zip(rays.envelopes(ids), rays.envelopes(ids, furthest=furthest), strict=True):
        kept = whole.radii < furthest
        assert np.array_equal(cut.winners, whole.winners[kept])
        assert np.array_equal(cut.radii, whole.radii[kept])


@pytest.mark.parametrize("path", ray_paths())
def test_little_memory_gives_the_same_numbers(path: str) -> None:
    embedding, ids = random_embedding(150, 5), np.arange(0, 150, 11)
    whole, parts = (Rays(embedding, rays=30, path=path, table_bytes=size) for size in (1 << 20, 7 * 2 * 160))
    assert (whole.in_parts, parts.in_parts) == (False, True)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(whole.first_breakpoints(ids), parts.first_breakpoints(ids), strict=True)
    )
    for a, b in zip(whole.envelopes(ids, furthest=4.0), parts.envelopes(ids, furthest=4.0), strict=True):
        assert a.start == b.start
        assert all(
            np.array_equal(getattr(a, name), getattr(b, name)) for name in ("counts", "winners", "radii")
        )


def test_native_code_and_numpy_share_their_units() -> None:
    native = pytest.importorskip("deniable.neighbours._native")
    assert (native.RAY_TILE, native.RAY_TILES_AT_ONCE, native.RAY_UNIT) == (TILE, TILES_AT_ONCE, UNIT)


def test_words_that_share_a_vector_have_the_cell_of_the_first() -> None:
    rays = Rays(hostile("duplicates"), rays=30)
    radii, _ = rays.first_breakpoints(np.arange(150))
    assert np.array_equal(radii[:50], radii[50:100])
    assert next(rays.envelopes(np.array([60]))).start == 10


def test_the_unknown_word_starts_in_the_cell_it_lies_in() -> None:
    embedding = line_embedding(0.0, 1.0, 5.0)
    envelope = next(Rays(embedding, rays=50).envelopes(np.array([embedding.unknown_id])))
    assert envelope.start == 1
    to_the_right = envelope.at(np.full(50, 1.5)) == 2
    assert to_the_right.any()
    assert (envelope.at(np.full(50, 1.5))[~to_the_right] == 0).all()


def test_tiles_hold_every_word_once() -> None:
    for words in (1, 31, 32, 33, 1000):
        assert np.array_equal(np.sort(tiled_order(np.zeros((words, 3), dtype=np.float32))), np.arange(words))


def test_an_unknown_path_and_no_rays_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="path"):
        Rays(line_embedding(0.0), path="abacus")
    with pytest.raises(InvalidParameter, match="rays"):
        Rays(line_embedding(0.0), rays=0)
