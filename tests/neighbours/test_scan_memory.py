"""The scan at full size: what it holds in memory, and the largest vocabulary of the comparison with the oracle."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

MEASURE = """
import numpy as np
from pathlib import Path
from deniable import Embedding
from deniable.neighbours.oracle import OracleNeighbours
from deniable.neighbours.scan import ScanNeighbours

def held(field):
    return next(int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))

words, dimension = 400_000, 300
rng = np.random.default_rng(0)
vectors = rng.standard_normal((words, dimension), dtype=np.float32)
known = {"shadowed": np.empty(0, dtype=np.int64), "fingerprint": "", "cased": False}
embedding = Embedding.from_checked([str(i) for i in range(words)], vectors, vectors[0].copy(), name="large", **known)
queries = vectors[:2000] + 3 * rng.standard_normal((2000, dimension), dtype=np.float32)
before = held("VmRSS")
search = ScanNeighbours(embedding)
found = search.nearest(queries)
print((held("VmHWM") - before) / (words * dimension))
print(np.array_equal(found[:20], OracleNeighbours(embedding).nearest(queries[:20])))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_search_holds_at_most_one_and_a_half_bytes_a_number() -> None:
    shown = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True).stdout.split()
    assert float(shown[0]) <= 1.5
    assert shown[1] == "True"
