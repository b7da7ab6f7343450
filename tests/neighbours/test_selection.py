"""The machine gets its fastest search, without a compiler it gets the same words, and searches survive forks
and threads."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from deniable import Embedding
from deniable.interfaces import Neighbours
from deniable.neighbours import best_neighbours, selection
from deniable.neighbours.blas import BlasNeighbours
from tests.support.hostile import noisy_queries
from tests.support.strategies import random_embedding

RELEASE = """
import sys
if {hidden}:
    sys.modules["deniable.neighbours._native"] = None  # what an installation without a compiler looks like
from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
mechanism = Multivariate(Embedding.open(), epsilon=8)
private = Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=1))
print(type(mechanism.neighbours).__name__)
print(*private.many(["the quick brown fox jumps over the lazy dog"] * 100), sep="\\n")
"""


def release(*, hidden: bool) -> list[str]:
    command = [sys.executable, "-c", RELEASE.format(hidden=hidden)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_without_the_native_module_the_same_words_come_from_blas() -> None:
    with_native, without = release(hidden=False), release(hidden=True)
    assert without[0] == "BlasNeighbours"
    assert with_native[1:] == without[1:]


def test_one_search_is_shared_by_all_who_ask_and_dies_with_its_embedding() -> None:
    embedding = random_embedding(30, 3)
    search = best_neighbours(embedding)
    assert best_neighbours(embedding) is search
    assert best_neighbours(random_embedding(30, 3)) is not search
    gc.collect()
    before = len(selection._shared)
    del embedding
    gc.collect()
    assert len(selection._shared) == before - 1


def test_building_one_search_does_not_hold_up_another(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = random_embedding(30, 3), random_embedding(40, 3)
    building, finish = threading.Event(), threading.Event()
    built: list[Embedding] = []
    real = selection._new_search

    def build(embedding: Embedding) -> Neighbours:
        built.append(embedding)
        if embedding is slow:
            building.set()
            assert finish.wait(600)
        return real(embedding)

    monkeypatch.setattr(selection, "_new_search", build)
    with ThreadPoolExecutor(3) as pool:
        try:
            both = [pool.submit(best_neighbours, slow) for _ in range(2)]
            assert building.wait(600)
            pool.submit(best_neighbours, quick).result(timeout=600)
        finally:
            finish.set()
        assert both[0].result() is both[1].result()
    assert [embedding is slow for embedding in built].count(True) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_a_search_is_being_built_builds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = random_embedding(30, 3)
    building, finish = threading.Event(), threading.Event()
    real = selection._new_search

    def build(embedding: Embedding) -> Neighbours:
        building.set()
        assert finish.wait(600)
        return real(embedding)

    monkeypatch.setattr(selection, "_new_search", build)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(best_neighbours, embedding)
        assert building.wait(600)
        child = os.fork()
        if child == 0:
            selection._new_search = real
            signal.alarm(60)
            os._exit(0 if len(best_neighbours(embedding).nearest(embedding.vectors)) == 30 else 1)
        finish.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_native_scan_is_used_where_it_can_be() -> None:
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    from deniable.neighbours.scan import ScanNeighbours

    expected: type[Neighbours] = BlasNeighbours if selection.why_not_native() else ScanNeighbours
    assert isinstance(best_neighbours(random_embedding(30, 3)), expected)


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [(["avx2", "portable"], "avx2"), (["neon", "portable"], "neon"), (["portable"], None)],
)
def test_the_fastest_path_is_chosen_and_the_slow_one_never(
    paths: list[str], chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")
    from deniable.neighbours import scan

    monkeypatch.setattr(scan, "usable_paths", lambda: paths)
    assert scan.chosen_path() == chosen
    assert bool(selection.why_not_native()) == (chosen is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_can_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "3")
    embedding = random_embedding(6_000, 8)
    queries = noisy_queries(embedding, 3.0, 500)
    search = best_neighbours(embedding)
    expected = search.nearest(queries)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            same = (
                np.array_equal(search.nearest(queries), expected)
                and search.nearest(queries[:1])[0] == expected[0]
            )
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(search.nearest(queries), expected)


def test_several_threads_may_search_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_THREADS", "2")
    embedding = random_embedding(4_000, 8)
    queries = [noisy_queries(embedding, 3.0, 150, seed=seed) for seed in range(24)]
    search, plain = best_neighbours(embedding), BlasNeighbours(embedding)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(search.nearest, queries))
    for batch, ids in zip(queries, found, strict=True):
        assert np.array_equal(ids, plain.nearest(batch))


@pytest.mark.skipif(
    "DENIABLE_REQUIRE_NATIVE" not in os.environ, reason="only where CI says that there is a compiler"
)
def test_the_native_module_was_built() -> None:
    importlib.import_module("deniable.neighbours._native")
