"""Where the checks of a GPU run, how they are timed, and the embeddings that they measure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch
from benchmarks.peers.material import embedding_of, enlarge, read_glove

from deniable import Embedding
from deniable.arrays import Vectors
from deniable.gpu.stream import gpu_noise
from deniable.noise.randomness import RadialNoise

REHEARSAL = os.environ.get("TRITON_INTERPRET") == "1"
"""Without a GPU: everything runs once, interpreted and tiny, to see that it runs."""
DEVICE = "cpu" if REHEARSAL else "cuda"
KIND = torch.float32 if REHEARSAL else torch.bfloat16
SMALL = 256 if REHEARSAL else 1
"""By how much a rehearsal does less."""
BUILT_IN = Path(__file__).resolve().parents[2] / "src/deniable/embeddings/data/vectors.npy"
EPSILONS = {300: 10.0, 50: 6.0}
TARGETS = {"400,000 x 300": 1.5e6, "400,000 x 50": 4e6, "50,000 x 50": 10e6}
"""The words per second that were asked for."""

_started = time.perf_counter()


def say(text: str) -> None:
    """Print a line with the time since the start."""
    print(f"[{time.perf_counter() - _started:6.1f} s] {text}", flush=True)


def seconds(call: Callable[[], object], *, times: int = 3) -> float:
    """Return the median of so many timings of a call, after one that does not count."""

    def wait() -> None:
        if DEVICE == "cuda":
            torch.cuda.synchronize()

    call()
    took = []
    for _ in range(times):
        wait()
        began = time.perf_counter()
        call()
        wait()
        took.append(time.perf_counter() - began)
    return median(took)


def spaces(glove: Path) -> dict[str, tuple[str, Embedding]]:
    """Return the embeddings to measure, with where their vectors come from."""
    built_in, size = np.load(BUILT_IN).astype(np.float32), 400_000
    if REHEARSAL:
        built_in, size = built_in[:60], 90
        real = np.random.default_rng(0).standard_normal((60, 300), dtype=np.float32)
    else:
        real = read_glove(glove)[1]
    wide, narrow = (enlarge([""] * len(some), some, size)[1] for some in (real, built_in))
    return {
        "400,000 x 300": ("GloVe 840B, enlarged with jittered copies", embedding_of(wide)),
        "400,000 x 50": ("the built-in GloVe 6B, enlarged with jittered copies", embedding_of(narrow)),
        "50,000 x 50": ("the built-in GloVe 6B", embedding_of(built_in)),
    }


def noisy(embedding: Embedding, count: int) -> Vectors:
    """Return noisy points of random words, with noise of the GPU."""
    ids = np.random.default_rng(2).integers(0, len(embedding), count)
    epsilon = EPSILONS[embedding.dimension]
    spent = torch.full((count,), epsilon, dtype=torch.float64, device=DEVICE)
    law = RadialNoise(lengths="gamma", dimension=embedding.dimension)
    noise = gpu_noise(torch.device(DEVICE)).launch().noise(law, spent)
    return (noise.cpu().numpy() + embedding.rows(ids)).astype(np.float32)
