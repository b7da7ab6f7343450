"""An index that somebody else has written, with a header and a checksum that are right, makes nothing worse
than a rebuild."""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Vectors
from deniable.embeddings import store
from deniable.errors import MalformedEmbedding
from tests.support.hostile import noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours import _native
from deniable.neighbours import scan as index_file
from deniable.neighbours.scan import FILE_NAME, HEADER_BYTES, Bytes, ScanNeighbours, usable_paths

HEADS_AT, HEAD_BYTES, TILE = 64, 224, 8
SCALE, HALF, HALF_ALL, NORMS, RESIDUALS, NORM = (
    0,
    32,
    64,
    128,
    160,
    192,
)  # where they stand in a head, native/layout.hpp
WORDS, DIMENSION = 203, 12  # three words in the last tile, and five places that are no words

Forgery = Callable[[Bytes], None]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(WORDS, DIMENSION), "small")
    return Embedding.open("small")


def heads(index: Bytes) -> Bytes:
    """Return the heads of the tiles of an index, one a row."""
    tiles = -(-WORDS // TILE)
    return index[HEADS_AT : HEADS_AT + tiles * HEAD_BYTES].reshape(tiles, HEAD_BYTES)


def put(head: Bytes, at: int, values: list[float]) -> None:
    head[at : at + 4 * len(values)] = np.frombuffer(struct.pack(f"<{len(values)}f", *values), dtype=np.uint8)


def fill_empty_places(head: Bytes, first: int) -> None:
    """Say that the places of a tile from ``first`` on, which are no words, hold words that are nearer than
    all others."""
    for at, value in ((HALF, -100.0), (HALF_ALL, -100.0), (NORMS, 1.0)):
        put(head, at + 4 * first, [value] * (TILE - first))


def let_empty_places_win(index: Bytes) -> None:
    fill_empty_places(heads(index)[-1], WORDS % TILE)


def lie_about_errors(index: Bytes) -> None:
    """Say that scores have no error, so that the scan rules out words that win."""
    for head in heads(index):
        put(head, NORMS, [0.0] * 16)
        put(head, NORM, [0.0] * 3)


def cross_the_bounds(index: Bytes) -> None:
    for head in heads(index):
        put(head, NORMS, [-1e20] * 16)
        put(head, NORM, [1e20] * 3)


def no_numbers(index: Bytes) -> None:
    for head in heads(index):
        put(head, NORMS, [float("inf")] * 8 + [float("nan")] * 8)
        put(head, SCALE, [float("inf"), float("-inf"), float("nan"), 3e38] * 2)


def infinite_bounds(index: Bytes) -> None:
    for head in heads(index):
        put(head, NORMS, [float("inf")] * 16)
        put(head, NORM, [float("inf")] * 3)
        put(head, SCALE, [float("inf")] * 8)


def noise(index: Bytes) -> None:
    index[HEADS_AT:] = np.random.default_rng(0).integers(0, 256, len(index) - HEADS_AT, dtype=np.uint8)


def other_codes(index: Bytes) -> None:
    codes = index[HEADS_AT + heads(index).size :]
    codes[:] = np.where(codes == 0, codes, 255 - codes)


def shadow_the_nearest(index: Bytes) -> None:
    for head in heads(index)[:20]:
        put(head, HALF, [float("inf")] * TILE)


FORGERIES: list[Forgery] = [
    let_empty_places_win,
    lie_about_errors,
    cross_the_bounds,
    no_numbers,
    infinite_bounds,
    noise,
    other_codes,
    shadow_the_nearest,
]


def forge(embedding: Embedding, forgery: Forgery) -> bytes:
    """Change the index beside an embedding, with a header that is right again; return what was there
    before."""
    assert embedding.folder is not None
    path = embedding.folder / FILE_NAME
    ScanNeighbours(embedding)
    good = path.read_bytes()
    index = np.frombuffer(good, dtype=np.uint8)[HEADER_BYTES:].copy()
    forgery(index)
    path.write_bytes(index_file._header(embedding, len(index), _native.checksum(index)) + index.tobytes())
    return good


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_index_is_built_again_and_the_search_is_exact(stored: Embedding, forgery: Forgery) -> None:
    good = forge(stored, forgery)
    queries = noisy_queries(stored, 5.0, 100)
    scan, oracle = ScanNeighbours(stored), OracleNeighbours(stored)
    assert np.array_equal(scan.nearest(queries), oracle.nearest(queries))
    assert np.array_equal(scan.nearest_k(queries, 10)[0], oracle.nearest_k(queries, 10)[0])
    assert stored.folder is not None
    assert (stored.folder / FILE_NAME).read_bytes() == good


@pytest.mark.parametrize("path", usable_paths())
@pytest.mark.parametrize("forgery", FORGERIES)
def test_the_native_search_of_a_forged_index_returns_words_or_stops(
    stored: Embedding, forgery: Forgery, path: str
) -> None:
    """As when the file is changed while it is in use: the search may be wrong then, and never leaves its
    arrays."""
    vectors: Vectors = np.ascontiguousarray(stored.vectors)
    index = index_file._lines(_native.index_bytes(*vectors.shape))
    index_file._build(stored, vectors, index)
    search = _native.Index(index, vectors)
    forgery(index)
    queries = noisy_queries(stored, 5.0, 64)
    found = np.full(64, -1, dtype=np.int64)
    many, distances = np.full((64, 40), -1, dtype=np.int64), np.empty((64, 40))
    with suppress(RuntimeError):
        search.nearest(queries, found, path, 1)
        assert found.min() >= 0
        assert found.max() < WORDS
    with suppress(RuntimeError):
        search.nearest_k(queries, many, distances, path, 1)
        assert many.min() >= 0
        assert many.max() < WORDS


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf"), 3.0, 1e-300])
def test_an_index_of_another_scale_is_refused(stored: Embedding, factor: float) -> None:
    vectors: Vectors = np.ascontiguousarray(stored.vectors)
    index = index_file._build(stored, vectors, index_file._lines(_native.index_bytes(*vectors.shape)))
    index[:8] = np.frombuffer(struct.pack("<d", factor), dtype=np.uint8)
    with pytest.raises(ValueError, match="power of two"):
        _native.Index(index, vectors)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e20])
def test_vectors_that_are_no_numbers_are_refused_with_one_error(stored: Embedding, value: float) -> None:
    assert stored.folder is not None
    path = stored.folder / "vectors.npy"
    content = bytearray(path.read_bytes())
    content[-4:] = struct.pack("<f", value)
    path.write_bytes(content)
    with pytest.raises(MalformedEmbedding, match="the stored copy is damaged") as caught:
        ScanNeighbours(Embedding.open("small"))
    assert str(stored.folder) in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e20])
def test_the_native_code_takes_no_vectors_that_are_no_numbers(stored: Embedding, value: float) -> None:
    vectors: Vectors = np.array(stored.vectors)
    room, none = (
        index_file._lines(_native.index_bytes(*vectors.shape)),
        np.zeros(len(vectors), dtype=np.uint8),
    )
    _native.build(vectors, none, room, 1)
    vectors[7, 3] = value
    with pytest.raises(ValueError, match="not finite or absurdly long"):
        _native.build(vectors, none, room, 1)
    with pytest.raises(ValueError, match="not finite or absurdly long"):
        _native.is_index_of(vectors, none, room, 1)


def _search_past_the_end(folder: str) -> None:
    from deniable.neighbours.scan import ScanNeighbours

    embedding = Embedding.open(Path(folder))
    queries = np.ascontiguousarray(embedding.vectors[:4])
    found = ScanNeighbours(embedding).nearest(queries)
    assert found.tolist() == [0, 1, 2, 3]


def test_a_forged_index_of_long_vectors_does_not_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place after the last word is a megabyte behind the vectors here: reading it was the end of the
    process."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(9, 60_000), "long")
    embedding = Embedding.open("long")

    def forgery(index: Bytes) -> None:
        fill_empty_places(index[HEADS_AT + HEAD_BYTES : HEADS_AT + 2 * HEAD_BYTES], 1)

    forge(embedding, forgery)
    process = multiprocessing.get_context("spawn").Process(
        target=_search_past_the_end, args=(str(embedding.folder),)
    )
    process.start()
    process.join(600)
    assert process.exitcode == 0
