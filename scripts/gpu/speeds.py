"""Words per second on a GPU: the product's own search, and what stands beside it (cuBLAS, torch, the
processor); and how long channels, N_w and columns take there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from benchmarks.peers.material import embedding_of, enlarge, read_glove

from deniable import Embedding, Multivariate, SecureRandomness
from deniable.arrays import Vectors
from deniable.gpu.search import FusedNeighbours
from deniable.gpu.stream import gpu_noise
from deniable.gpu.torch_search import GpuNeighbours
from deniable.neighbours import set_device
from deniable.neighbours.selection import best_neighbours, why_not_native
from deniable.noise.randomness import RadialNoise
from scripts.pages import ROOT

REHEARSAL = os.environ.get("TRITON_INTERPRET") == "1"
"""Without a GPU: everything runs once, interpreted and tiny, to see that it runs."""
DEVICE = "cpu" if REHEARSAL else "cuda"
KIND = torch.float32 if REHEARSAL else torch.bfloat16
SMALL = 256 if REHEARSAL else 1
"""By how much a rehearsal does less."""
BUILT_IN = ROOT / "src/deniable/embeddings/data/vectors.npy"
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


def ceiling() -> dict[str, float]:
    """Return what cuBLAS reaches: a square product, and products of our sizes, all scores written; with rows
    as they are, and padded: cuBLAS is slow with rows that are not aligned."""
    a, b = (torch.randn(8192 // SMALL, 8192 // SMALL, device=DEVICE, dtype=KIND) for _ in range(2))
    rates = {"tflops": 2 * (8192 // SMALL) ** 3 / seconds(lambda: a @ b, times=10) / 1e12}
    for words, dimension in ((400_000, 300), (400_000, 50), (50_000, 50)):
        for width, kind in ((dimension, ""), (-(-dimension // 64) * 64, " padded")):
            queries = torch.randn(16_384 // SMALL, width, device=DEVICE, dtype=KIND)
            vectors = torch.randn(words // SMALL, width, device=DEVICE, dtype=KIND)
            out = torch.empty(16_384 // SMALL, words // SMALL, device=DEVICE, dtype=KIND)
            took = seconds(lambda q=queries, v=vectors, o=out: torch.mm(q, v.T, out=o))  # type: ignore[misc]
            rates[f"{words:,} x {dimension}{kind}"] = 16_384 // SMALL / took
            del queries, vectors, out
    return rates


def measure_space(name: str, origin: str, embedding: Embedding, limit: float) -> dict[str, Any]:
    """Return words per second, ids in and ids out, and the share of what cuBLAS reaches; words are compared
    with the float32 form and with float64 products."""
    epsilon, target = EPSILONS[embedding.dimension], 10.0 if REHEARSAL else TARGETS[name]
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    search, source = FusedNeighbours(embedding, device=DEVICE), SecureRandomness()
    mechanism = Multivariate(embedding, epsilon=epsilon)
    mechanism.__dict__["neighbours"] = search
    ids = np.random.default_rng(1).integers(0, len(embedding), int(3 * target))
    mechanism.perturb(ids[: len(ids) // 10], source)
    rates = [len(ids) / seconds(lambda: mechanism.perturb(ids, source), times=1) for _ in range(3)]
    speed = median(rates)
    row: dict[str, Any] = {
        "origin": origin,
        "epsilon": epsilon,
        "words_per_second": rates,
        "share_of_cublas": speed / limit,
        "met": speed >= target,
        "tiles_again": search.tiles_scored_again,
    }
    if DEVICE == "cuda":
        row["memory"] = torch.cuda.max_memory_allocated()
    row["batches"] = {
        size: size / seconds(lambda size=size: mechanism.perturb(ids[:size], source), times=5)  # type: ignore[misc]
        for size in (1, 100, 10_000, 100_000)[: 1 if REHEARSAL else 4]
    }
    spent = torch.full(((1 << 16) // SMALL,), epsilon, dtype=torch.float64, device=DEVICE)
    noise = RadialNoise(lengths="gamma", dimension=embedding.dimension)
    alone = seconds(lambda: gpu_noise(torch.device(DEVICE)).launch().noise(noise, spent))
    queries, old = noisy(embedding, 16_384 // SMALL), GpuNeighbours(embedding, device=DEVICE)
    same = int((old.nearest(queries) == search.nearest(queries)).sum())
    return row | {
        "noise_alone": len(spent) / alone,
        "float32_form": len(queries) / seconds(lambda: old.nearest(queries)),
        "same_as_float32_form": [same, len(queries)],
        "same_as_float64": _same_as_float64(embedding, queries[:2048], search.nearest(queries[:2048])),
    }


def torch_flat(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of PyTorch alone: float32 products, half squares taken off, the largest
    score, in the fastest blocks.

    It proves nothing: a word is wrong where float32 does not tell two words apart. So it is the fastest exact
    search to be had without a proof, all scores written to memory.
    """
    vectors = torch.from_numpy(np.array(embedding.vectors)).to(DEVICE)
    halves = 0.5 * vectors.square().sum(dim=1)
    points = noisy(embedding, 16_384 // SMALL)
    queries = torch.from_numpy(points).to(DEVICE)

    def search(rows: int) -> torch.Tensor:
        parts = torch.split(queries, rows)
        return torch.cat([torch.addmm(halves, part, vectors.T, beta=-1.0).argmax(dim=1) for part in parts])

    speeds = {rows: len(queries) / seconds(lambda rows=rows: search(rows)) for rows in (512, 2048, 8192)}  # type: ignore[misc]
    rows, speed = max(speeds.items(), key=lambda each: each[1])
    same = _same_as_float64(embedding, points[:2048], search(rows)[:2048].cpu().numpy())
    return {"words_per_second": speed, "rows": rows, "same_as_float64": same}


def _same_as_float64(embedding: Embedding, queries: Vectors, words: Any) -> list[int]:
    """Return how many words are those of float64 products, all scores looked at, and of how many."""
    vectors = torch.from_numpy(np.array(embedding.vectors)).to(DEVICE).double()
    halves = 0.5 * vectors.square().sum(dim=1)
    parts = torch.split(torch.from_numpy(queries).to(DEVICE), 512)
    exact = torch.cat([(part.double() @ vectors.T - halves).argmax(dim=1) for part in parts])
    return [int((exact.cpu().numpy() == words).sum()), len(queries)]


def on_processor(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of the processor of the same machine, by the native scan where it is
    there."""
    search, queries = best_neighbours(embedding), noisy(embedding, 2048)
    speed = len(queries) / seconds(lambda: search.nearest(queries), times=1)
    return {"words_per_second": speed, "search": type(search).__name__, "obstacle": why_not_native()}


def measure_outcomes(embedding: Embedding, words: int = 400_000, draws: int = 1_000) -> dict[str, Any]:
    """Return how long N_w and the number of different words of so many words x 1,000 draws take."""
    search, ids = FusedNeighbours(embedding, device=DEVICE), np.arange(len(embedding))[:words]
    noise, draws = RadialNoise(lengths="gamma", dimension=embedding.dimension), max(1, draws // SMALL)
    unchanged, distinct, at_once = np.empty(len(ids)), np.empty(len(ids)), (1 << 24) // draws
    began = time.perf_counter()
    for start in range(0, len(ids), at_once):
        part = slice(start, start + at_once)
        repeated = np.repeat(ids[part], draws)
        drawn = search.nearest_to_noisy(repeated, noise, np.full(len(repeated), 6.0)).reshape(-1, draws)
        unchanged[part] = (drawn == ids[part, None]).mean(axis=1)
        distinct[part] = np.count_nonzero(np.diff(np.sort(drawn, axis=1), axis=1), axis=1) + 1
    took = time.perf_counter() - began
    say(f"median N_w {np.median(unchanged):.3f}, different words {np.median(distinct):.0f}")
    return {"seconds": took, "words": len(ids), "met": took * len(embedding) / len(ids) < 120}


def measure_columns(embedding: Embedding) -> dict[str, Any]:
    """Return how long the columns of 240 released words take on the GPU and on the processor, and how they
    agree."""
    from deniable.channel.columns import columns_of  # it needs msgspec, which the other parts can do without

    released = np.arange(0, 24_000, 100) % len(embedding)
    columns = columns_of(Multivariate(embedding, epsilon=6.0), released, seed=1)
    took, numbers = {}, {}
    for device in (None, DEVICE):
        set_device(device)
        for turn in ("first", "again"):
            began = time.perf_counter()
            numbers[device] = np.stack(list(columns.columns(released)))
            took[f"{device or 'processor'}, {turn}"] = time.perf_counter() - began
    set_device(None)
    apart = float(np.abs(numbers[DEVICE] / numbers[None] - 1.0)[numbers[None] > 1e-8].max())
    return {"seconds": took, "columns": len(released), "apart": apart}
