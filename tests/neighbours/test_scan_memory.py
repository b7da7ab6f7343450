"""What the scan holds in memory: at full size, from a file, and on data where every word is a candidate."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours.scan import usable_paths

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
    pytest.mark.skipif(
        "libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps freed memory for itself"
    ),
]

START = """
import sys, threading
import numpy as np
from pathlib import Path
from deniable import Embedding
from tests.support.oracle import OracleNeighbours
from deniable.neighbours.scan import ScanNeighbours

def held(field):
    return next(int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))

def embedding_of(vectors):
    known = {"shadowed": np.empty(0, dtype=np.int64), "fingerprint": "", "cased": False}
    return Embedding.from_checked([str(i) for i in range(len(vectors))], vectors, vectors[0].copy(), name="large", **known)

def noisy(vectors, count):
    return vectors[:count] + 3 * rng.standard_normal((count, vectors.shape[1]), dtype=np.float32)

rng = np.random.default_rng(0)
"""  # noqa: E501

IN_MEMORY = """
vectors = rng.standard_normal((400_000, 300), dtype=np.float32)
embedding = embedding_of(vectors)
queries = noisy(vectors, 2000)
before = held("VmRSS")
found = ScanNeighbours(embedding).nearest(queries)
print((held("VmHWM") - before) / vectors.size)
print(np.array_equal(found[:20], OracleNeighbours(embedding).nearest(queries[:20])))
"""

STORE = """
from deniable.embeddings import store
vectors = rng.standard_normal((400_000, 300), dtype=np.float32)
store.save(Embedding([f"w{i}" for i in range(len(vectors))], vectors), "stored")
"""

FROM_FILE = """
def besides_vectors():
    # The embedding's own vectors are mapped as well; what was read of them does not count.
    total, of_vectors = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            of_vectors = line.endswith("/vectors.npy")
        elif first == "Rss:" and not of_vectors:
            total += int(rest[0]) * 1024
    return total

def watch():
    while not done.wait(0.01):  # meant to run out
        seen.append(besides_vectors())

embedding = Embedding.open("stored")
queries = noisy(embedding.vectors[:2000], 2000)
before, seen, done = besides_vectors(), [], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
search = ScanNeighbours(embedding)
found = search.nearest(queries)
seen.append(besides_vectors())
done.set()
watcher.join()
print((max(seen) - before) / embedding.vectors.size)
print(np.array_equal(found[:20], OracleNeighbours(embedding).nearest(queries[:20])))
"""

EVERY_WORD_A_CANDIDATE = """
vectors = rng.standard_normal(6).astype(np.float32) + np.float32(1e-5) * rng.standard_normal((60_000, 6), dtype=np.float32)
search = ScanNeighbours(embedding_of(vectors), path=sys.argv[1])
queries = noisy(vectors, 96)
search.nearest_k(queries[:1], 1)
before = held("VmRSS")
search.nearest_k(queries, 1000)
print(held("VmHWM") - before)
"""  # noqa: E501


def shown(script: str, *arguments: str, home: Path | None = None) -> list[str]:
    environment = os.environ | ({"DENIABLE_HOME": str(home)} if home else {}) | {"DENIABLE_THREADS": "2"}
    command = [sys.executable, "-c", START + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()


@pytest.mark.slow
def test_the_search_holds_at_most_one_and_a_half_bytes_a_number() -> None:
    ratio, right = shown(IN_MEMORY)
    assert float(ratio) <= 1.5
    assert right == "True"


@pytest.mark.slow
def test_an_index_from_a_file_holds_no_more(tmp_path: Path) -> None:
    shown(STORE, home=tmp_path)
    for _ in ("written and mapped", "found and mapped"):
        ratio, right = shown(FROM_FILE, home=tmp_path)
        # All of the index is read, so that less than a byte a number would mean that nothing was measured.
        assert 1.0 <= float(ratio) <= 1.5
        assert right == "True"


@pytest.mark.parametrize("path", usable_paths())
def test_candidates_take_no_more_room_when_every_word_is_one(path: str) -> None:
    # One list of all words for each query would take 70 MB at least; the answer itself takes 1.5 MB.
    assert int(*shown(EVERY_WORD_A_CANDIDATE, path)) < 35e6
