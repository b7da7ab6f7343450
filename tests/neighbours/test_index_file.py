"""The index beside a stored embedding is reused when it is good and built again when it is anything else."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.embeddings import store
from tests.support.hostile import noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours import _native
from deniable.neighbours import scan as index_file
from deniable.neighbours.scan import FILE_NAME, HEADER_BYTES, ScanNeighbours


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(200, 12), "small")
    return Embedding.open("small")


def file_of(embedding: Embedding) -> Path:
    assert embedding.folder is not None
    return embedding.folder / FILE_NAME


def assert_right_words(embedding: Embedding) -> None:
    queries = noisy_queries(embedding, 5.0, 100)
    assert np.array_equal(
        ScanNeighbours(embedding).nearest(queries), OracleNeighbours(embedding).nearest(queries)
    )


def test_the_index_is_written_once_and_then_mapped(stored: Embedding) -> None:
    assert_right_words(stored)
    written = file_of(stored).stat()
    assert_right_words(stored)
    assert file_of(stored).stat() == written
    assert [path.name for path in file_of(stored).parent.glob(".*")] == []


def flipped(content: bytes, at: int) -> bytes:
    damaged = bytearray(content)
    damaged[at] ^= 0x10
    return bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [partial(flipped, at=at) for at in (0, 25, 60, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 1000, -1)]
    + [itemgetter(slice(end)) for end in (0, 100, HEADER_BYTES, -1)],
)
def test_a_damaged_file_or_one_cut_short_is_built_again(
    stored: Embedding, damage: Callable[[bytes], bytes]
) -> None:
    assert_right_words(stored)
    good = file_of(stored).read_bytes()
    file_of(stored).write_bytes(damage(good))
    assert_right_words(stored)
    assert file_of(stored).read_bytes() == good


def test_the_index_of_another_embedding_is_not_used(stored: Embedding) -> None:
    store.save(random_embedding(200, 12, seed=1), "other")
    other = Embedding.open("other")
    assert_right_words(other)
    file_of(stored).write_bytes(file_of(other).read_bytes())
    assert_right_words(stored)
    assert file_of(stored).read_bytes() != file_of(other).read_bytes()


def test_the_index_of_another_version_is_not_used(stored: Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "FILE_VERSION", index_file.FILE_VERSION + 1)
    assert_right_words(stored)
    later = file_of(stored).read_bytes()
    monkeypatch.undo()
    assert index_file._map(file_of(stored), stored, len(later) - HEADER_BYTES) is None


def test_where_nothing_can_be_written_the_index_stays_in_memory(
    stored: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(index_file, "_write", refuse)
    assert_right_words(stored)
    assert not file_of(stored).exists()


def test_drafts_of_dead_processes_are_swept_away(stored: Embedding) -> None:
    old, new = (file_of(stored).with_name(f".{FILE_NAME}.{name}.tmp") for name in ("0123abcd", "4567abcd"))
    old.write_bytes(b"half")
    os.utime(old, (0, 0))
    new.write_bytes(b"half")
    assert_right_words(stored)
    assert not old.exists()
    assert new.exists()


def _search(folder: Path, queries: np.ndarray, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    results.put(ScanNeighbours(Embedding.open(folder)).nearest(queries).tolist())


def test_two_processes_may_build_at_once(stored: Embedding) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    queries = noisy_queries(stored, 5.0, 50)
    workers = [context.Process(target=_search, args=(stored.folder, queries, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    assert found == [OracleNeighbours(stored).nearest(queries).tolist()] * 2
    assert [path.name for path in file_of(stored).parent.glob(".*")] == []


def test_the_index_takes_little_more_than_one_byte_a_number() -> None:
    words, dimension = 400_000, 300
    assert _native.index_bytes(words, dimension) <= 1.15 * words * dimension
