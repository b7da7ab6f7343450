"""Exact draws per second of the rays against direct simulation, in one run on one machine.

A calibration asks what a word becomes along many directions at several ε: words x directions x ε values
draws. Direct simulation makes each of them (one nearest-word search each); a walk along a ray gives all ε of
a direction at once. The walks' time includes products, walks and reading off the words; the tables, made once
for the whole vocabulary, are timed by themselves and part of the projected times. Contestants take turns; the
median rate of the rounds counts.

Usage: python -m benchmarks.calibration [--embedding NAME] [--words 64] [--rays 1000] [--rounds 3] [--json
FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from deniable import Embedding
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import GammaFunction, furthest_radius, gamma_draws
from deniable.neighbours.threads import threads

SWEEP = 10
QUERIES = 256


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedding", default="default")
    parser.add_argument("--words", type=int, default=64)
    parser.add_argument("--rays", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    embedding = Embedding.open(options.embedding)
    started = time.perf_counter()
    rays = Rays(embedding, rays=options.rays)
    tables = time.perf_counter() - started
    epsilons = sweep(rays)
    contestants = {
        "rays, walked": whole_walks(rays, epsilons, options.words),
        "rays, N_w only": first_only(rays, options.words),
    }
    contestants |= {"rays, one ε": at_one_epsilon(rays, float(np.median(epsilons)), options.words)}
    contestants |= {"numpy, direct": by_numpy(embedding, float(np.median(epsilons)))}
    contestants |= by_faiss(embedding, float(np.median(epsilons)))
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, contestant in contestants.items():
            started = time.perf_counter()
            draws = contestant()
            rates[name].append(draws / (time.perf_counter() - started))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    pairs = len(embedding) * options.rays
    report: dict[str, Any] = {
        "machine": machine(),
        "threads": threads(),
        "embedding": embedding.name,
        "size": [len(embedding), embedding.dimension],
        "rays": options.rays,
        "rounds": options.rounds,
        "epsilons": epsilons.tolist(),
        "seconds_for_the_tables": tables,
        "draws_per_second": medians,
        "projected_seconds_for_all_words": {
            "N_w only": tables + pairs * SWEEP / medians["rays, N_w only"],
            "walked": tables + pairs * SWEEP / medians["rays, walked"],
        },
        "largest_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    for name, rate in medians.items():
        ratios = ", ".join(
            f"{rate / medians[other]:,.0f} x {other}"
            for other in medians
            if other != name and "direct" in other
        )
        print(f"{name:16} {rate:>14,.0f} draws/s   {ratios}")
    print(json.dumps(report["projected_seconds_for_all_words"]))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def sweep(rays: Rays) -> Any:
    """Return ten values of ε from where hardly a word stays to where most do."""
    from deniable.calibration.by_rays import epsilon_range
    from deniable.channel.rays.rays import RadialRays
    from deniable.noise.randomness import RadialNoise

    noise = RadialNoise(lengths="gamma", dimension=rays.embedding.dimension)
    return epsilon_range(RadialRays(rays.embedding, noise, rays=rays.rays), SWEEP)


def whole_walks(rays: Rays, epsilons: Any, words: int) -> Callable[[], int]:
    """Return a round of walks: the released word of every direction at every ε."""
    gamma, lengths = GammaFunction(rays.embedding.dimension), gamma_draws(rays.rays, rays.embedding.dimension)
    reach = furthest_radius(float(epsilons.min()), gamma, lengths)
    blocks = _blocks(rays, words)

    def round_of_draws() -> int:
        for envelope in rays.envelopes(next(blocks), furthest=reach):
            for epsilon in epsilons:
                envelope.at(lengths / epsilon)
        return words * rays.rays * SWEEP

    return round_of_draws


def first_only(rays: Rays, words: int) -> Callable[[], int]:
    """Return a round of first breakpoints: whether a word stays, for every direction and every ε."""
    blocks = _blocks(rays, words)

    def round_of_draws() -> int:
        rays.first_breakpoints(next(blocks))
        return words * rays.rays * SWEEP

    return round_of_draws


def at_one_epsilon(rays: Rays, epsilon: float, words: int) -> Callable[[], int]:
    """Return a round of draws at one ε: the released word of every direction, without a walk."""
    lengths, blocks = gamma_draws(rays.rays, rays.embedding.dimension) / epsilon, _blocks(rays, words)

    def round_of_draws() -> int:
        rays.winners_at(next(blocks), lengths)
        return words * rays.rays

    return round_of_draws


def _blocks(rays: Rays, words: int) -> Any:
    """Yield blocks of words that lie together, from all over the vocabulary: how a calibration takes them."""
    random = np.random.default_rng(0)
    while True:
        starts = random.integers(0, max(1, len(rays.order) - words // 4), 4)
        yield np.concatenate([rays.order[start : start + words // 4] for start in starts])


def _points(embedding: Embedding, epsilon: float) -> Any:
    random = np.random.default_rng(1)
    directions = random.standard_normal((QUERIES, embedding.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = random.standard_gamma(embedding.dimension, QUERIES) / epsilon
    words = random.integers(0, len(embedding), QUERIES)
    return (embedding.vectors[words] + directions * lengths[:, None]).astype(np.float32)


def by_numpy(embedding: Embedding, epsilon: float) -> Callable[[], int]:
    """Return direct simulation with a float32 matrix product."""
    vectors, points = np.ascontiguousarray(embedding.vectors), _points(embedding, epsilon)
    half = 0.5 * np.einsum("ij,ij->i", vectors, vectors)

    def round_of_draws() -> int:
        for start in range(0, QUERIES, 64):
            (points[start : start + 64] @ vectors.T - half).argmax(axis=1)
        return QUERIES

    return round_of_draws


def by_faiss(embedding: Embedding, epsilon: float) -> dict[str, Callable[[], int]]:
    """Return direct simulation with FAISS IndexFlatL2, if it is installed."""
    try:
        import faiss  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return {}
    index = faiss.IndexFlatL2(embedding.dimension)
    index.add(np.ascontiguousarray(embedding.vectors))
    points = _points(embedding, epsilon)

    def round_of_draws() -> int:
        index.search(points, 1)
        return QUERIES

    return {"faiss, direct": round_of_draws}


if __name__ == "__main__":
    main()
