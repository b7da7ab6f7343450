"""Words per second on the card: the product's own search, and what stands beside it (cuBLAS, torch, the
processor)."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import torch

from deniable import Embedding, Multivariate, SecureRandomness
from deniable.arrays import Vectors
from deniable.gpu.stream import card_noise
from deniable.neighbours.fused import FusedNeighbours
from deniable.neighbours.gpu import GpuNeighbours
from deniable.neighbours.selection import best_neighbours, why_not_native
from deniable.noise.randomness import RadialNoise
from scripts.gpu.device import DEVICE, KIND, REHEARSAL, SMALL, say, seconds
from scripts.gpu.spaces import EPSILONS, TARGETS, noisy


def ceiling() -> dict[str, float]:
    """Return what cuBLAS reaches: a square product, and products of our sizes, all scores written; with rows
    as they are, and padded."""
    a, b = (torch.randn(8192 // SMALL, 8192 // SMALL, device=DEVICE, dtype=KIND) for _ in range(2))
    rates = {"tflops": 2 * (8192 // SMALL) ** 3 / seconds(lambda: a @ b, times=10) / 1e12}
    for words, dimension in ((400_000, 300), (400_000, 50), (50_000, 50)):
        for width, kind in (
            (dimension, ""),
            (-(-dimension // 64) * 64, " padded"),
        ):  # cuBLAS is slow with rows that are not aligned
            queries = torch.randn(16_384 // SMALL, width, device=DEVICE, dtype=KIND)
            vectors = torch.randn(words // SMALL, width, device=DEVICE, dtype=KIND)
            out = torch.empty(16_384 // SMALL, words // SMALL, device=DEVICE, dtype=KIND)
            took = seconds(lambda q=queries, v=vectors, o=out: torch.mm(q, v.T, out=o))  # type: ignore[misc]
            rates[f"{words:,} x {dimension}{kind}"] = 16_384 // SMALL / took
            del queries, vectors, out
    say(", ".join(f"{name}: {rate:,.0f}" for name, rate in rates.items()))
    return rates


def measure_space(name: str, origin: str, embedding: Embedding, limit: float) -> dict[str, Any]:
    """Return words per second, ids in and ids out, and the share of what cuBLAS reaches; words are compared
    with the float32 form."""
    epsilon = EPSILONS[embedding.dimension]
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    search = FusedNeighbours(embedding, device=DEVICE)
    mechanism = Multivariate(embedding, epsilon=epsilon)
    mechanism.__dict__["neighbours"] = search
    rng, source = np.random.default_rng(1), SecureRandomness()
    row: dict[str, Any] = {"origin": origin, "epsilon": epsilon, "words_per_second": [], "batches": {}}
    count = int(3 * TARGETS[name])
    ids = rng.integers(0, len(embedding), count)
    mechanism.perturb(ids[: count // 10], source)
    for _ in range(3):
        begin = time.perf_counter()
        mechanism.perturb(ids, source)
        row["words_per_second"].append(count / (time.perf_counter() - begin))
    speed = median(row["words_per_second"])
    row |= {
        "share_of_cublas": speed / limit,
        "met": speed >= TARGETS[name],
        "tiles_again": search.tiles_scored_again,
    }
    if DEVICE == "cuda":
        row["memory"] = torch.cuda.max_memory_allocated()
    say(
        f"{name}, {origin}: {speed:,.0f} words/s, ids to ids, {speed / limit:.0%} of cuBLAS alone; target "
        f"{TARGETS[name]:,.0f}"
    )
    for size in (1, 100, 10_000, 100_000)[: 1 if REHEARSAL else 4]:
        row["batches"][size] = size / seconds(
            lambda size=size: mechanism.perturb(ids[:size], source),  # type: ignore[misc]
            times=5,
        )
    say(f"{name}: by batch { ({size: f'{speed:,.0f}' for size, speed in row['batches'].items()}) }")
    spent = torch.full(((1 << 16) // SMALL,), epsilon, dtype=torch.float64, device=DEVICE)
    noise = RadialNoise(lengths="gamma", dimension=embedding.dimension)
    row["noise_alone"] = len(spent) / seconds(
        lambda: card_noise(torch.device(DEVICE)).launch().noise(noise, spent)
    )
    say(f"{name}: noise alone {row['noise_alone']:,.0f} words/s")
    queries = noisy(embedding, epsilon, 16_384 // SMALL)
    old = GpuNeighbours(embedding, device=DEVICE)
    row["float32_form"] = len(queries) / seconds(lambda: old.nearest(queries))
    same = int((old.nearest(queries) == search.nearest(queries)).sum())
    say(
        f"{name}: torch's float32 form {row['float32_form']:,.0f} words/s; {same:,} of {len(queries):,} "
        "words are the same"
    )
    row["same_as_float32_form"] = [same, len(queries)]
    asked = queries[:2048]
    exact = _exact_on_card(embedding, asked)
    row["same_as_float64"] = [int((exact == search.nearest(asked)).sum()), len(asked)]
    say(f"{name}: {row['same_as_float64'][0]:,} of {len(asked):,} words are those of a float64 product")
    return row


def _exact_on_card(embedding: Embedding, queries: Vectors) -> Any:
    """Return the nearest words by float64 products, all scores looked at."""
    vectors = torch.from_numpy(np.array(embedding.vectors)).to(DEVICE).double()
    halves = 0.5 * vectors.square().sum(dim=1)
    parts = [
        (part.double() @ vectors.T - halves).argmax(dim=1)
        for part in torch.split(torch.from_numpy(queries).to(DEVICE), 512)
    ]
    return torch.cat(parts).cpu().numpy()


def torch_flat(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of PyTorch alone: float32 products, half squares taken off, the largest
    score, in the fastest blocks.

    It proves nothing: a word is wrong where float32 does not tell two words apart. So it is the fastest exact
    search to be had without a proof, all scores written to memory.
    """
    vectors = torch.from_numpy(np.array(embedding.vectors)).to(DEVICE)
    halves = 0.5 * vectors.square().sum(dim=1)
    queries = torch.from_numpy(noisy(embedding, EPSILONS[embedding.dimension], 16_384 // SMALL)).to(DEVICE)

    def search(rows: int) -> torch.Tensor:
        return torch.cat(
            [
                torch.addmm(halves, part, vectors.T, beta=-1.0).argmax(dim=1)
                for part in torch.split(queries, rows)
            ]
        )

    speeds = {rows: len(queries) / seconds(lambda rows=rows: search(rows)) for rows in (512, 2048, 8192)}  # type: ignore[misc]
    rows, speed = max(speeds.items(), key=lambda each: each[1])
    same = int(
        (search(rows)[:2048].cpu().numpy() == _exact_on_card(embedding, queries[:2048].cpu().numpy())).sum()
    )
    say(
        f"torch's float32 products alone, {rows} at a time: {speed:,.0f} words/s; {same:,} of "
        f"{len(queries[:2048]):,} words are right"
    )
    return {"words_per_second": speed, "rows": rows, "same_as_float64": [same, len(queries[:2048])]}


def on_processor(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of the processor of the same machine, by the native scan where it is
    there."""
    search = best_neighbours(embedding)
    queries = noisy(embedding, EPSILONS[embedding.dimension], 2048)
    speed = len(queries) / seconds(lambda: search.nearest(queries), times=1)
    say(f"the processor ({type(search).__name__}): {speed:,.0f} words/s")
    return {"words_per_second": speed, "search": type(search).__name__, "obstacle": why_not_native()}
