"""Exact draws per second of the rays against direct simulation, in one run on one machine.

    python -m benchmarks.calibration --embedding glove-6b-50d     #
    docs/research/calibration-benchmark.json

A calibration asks what a word becomes along many directions at several ε: words x directions x ε values
draws. Direct simulation makes each of them (one nearest-word search each); a walk along a ray gives all ε of
a direction at once. The walks' time includes products, walks and reading off the words; the tables, made once
for the whole vocabulary, are timed by themselves and part of the projected times. Contestants take turns; the
median rate of the rounds counts.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from scripts.pages import EXPERIMENTS, options_of, write_json

from benchmarks.machine import machine
from benchmarks.search.contestants import LeftOut, Search, blocked_numpy, faiss_flat
from deniable import Embedding
from deniable.arrays import Ids
from deniable.calibration.by_rays import epsilon_range
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import LengthFunction, furthest_radius
from deniable.neighbours.threads import threads
from deniable.noise.randomness import RadialNoise

WORDS, SWEEP, QUERIES = 64, 10, 256
Work = Callable[[], int]
"""One round of a contestant; it returns how many draws were made."""


def main() -> None:
    """Measure, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--embedding", default="default")
    parser.add_argument("--rays", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    embedding = Embedding.open(options.embedding)
    started = time.perf_counter()
    rays = Rays(embedding, rays=options.rays)
    tables = time.perf_counter() - started
    noise = RadialNoise(lengths="gamma", dimension=embedding.dimension)
    epsilons = epsilon_range(Rays(embedding, noise, rays=options.rays), SWEEP)
    contestants = by_rays(rays, epsilons) | directly(embedding, float(np.median(epsilons)))
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, work in contestants.items():
            started = time.perf_counter()
            draws = work()
            rates[name].append(draws / (time.perf_counter() - started))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    draws = len(embedding) * options.rays * SWEEP
    result = {
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
            "N_w only": tables + draws / medians["rays, N_w only"],
            "walked": tables + draws / medians["rays, walked"],
        },
        "largest_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(result)
    write_json(EXPERIMENTS / "calibration-benchmark.json", result)


def by_rays(rays: Rays, epsilons: np.ndarray) -> dict[str, Work]:
    """Return the walks: the released word of every direction at every ε, whether a word stays, and the
    released word at one ε, without a walk."""
    dimension = rays.embedding.dimension
    lengths = LengthFunction("gamma", dimension).draws(rays.rays)
    reach = furthest_radius(float(epsilons.min()), LengthFunction("gamma", dimension), lengths)
    blocks = blocks_of(rays)

    def walked() -> int:
        for envelope in rays.envelopes(next(blocks), furthest=reach):
            for epsilon in epsilons:
                envelope.at(lengths / epsilon)
        return WORDS * rays.rays * SWEEP

    def unchanged() -> int:
        rays.first_breakpoints(next(blocks))
        return WORDS * rays.rays * SWEEP

    def at_one() -> int:
        rays.winners_at(next(blocks), lengths / float(np.median(epsilons)))
        return WORDS * rays.rays

    return {"rays, walked": walked, "rays, N_w only": unchanged, "rays, one ε": at_one}


def blocks_of(rays: Rays) -> Iterator[Ids]:
    """Yield blocks of words that lie together, from all over the vocabulary: how a calibration takes them."""
    random, part = np.random.default_rng(0), WORDS // 4
    while True:
        starts = random.integers(0, max(1, len(rays.order) - part), 4)
        yield np.concatenate([rays.order[start : start + part] for start in starts])


def directly(embedding: Embedding, epsilon: float) -> dict[str, Work]:
    """Return direct simulation by other searches: NumPy's, and FAISS's if it is installed."""
    random, vectors = np.random.default_rng(1), np.ascontiguousarray(embedding.vectors)
    directions = random.standard_normal((QUERIES, embedding.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = random.standard_gamma(embedding.dimension, QUERIES) / epsilon
    words = random.integers(0, len(embedding), QUERIES)
    points = (vectors[words] + directions * lengths[:, None]).astype(np.float32)
    searches: dict[str, Search] = {"numpy, direct": blocked_numpy(vectors, threads())}
    try:
        searches["faiss, direct"] = faiss_flat(vectors, threads())
    except LeftOut as reason:
        print(f"FAISS is left out: {reason}")

    def work(search: Search) -> Work:
        return lambda: len(search(points))

    return {name: work(search) for name, search in searches.items()}


if __name__ == "__main__":
    main()
