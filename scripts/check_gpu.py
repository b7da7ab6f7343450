"""Checks and measures everything that runs on a GPU, in one command; only Python, NumPy, PyTorch and Triton need to be there.

    PYTHONPATH=src:. python3 scripts/check_gpu.py --json docs/data/gpu.json --glove glove.840B.300d.34k.w2v.txt.bz2

Each part runs on its own: what fails is printed, and the others go on. ``--tilings`` also times every way to cut the product.
With TRITON_INTERPRET=1 it is a rehearsal on a machine without a GPU: nothing that it measures then means anything.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

if os.environ.get("TRITON_INTERPRET") == "1":
    import tests.gpu.interpreting  # noqa: F401 - before any kernel

from deniable import Embedding, Multivariate, SecureRandomness
from deniable.arrays import Vectors
from deniable.channel.card_draws import CardDraws
from deniable.gpu.stream import card_noise
from deniable.neighbours.fused import FusedNeighbours, Tiling
from deniable.neighbours.gpu import GpuNeighbours
from deniable.randomness import RadialNoise

ROOT = Path(__file__).resolve().parent.parent
BUILT_IN = ROOT / "src/deniable/embeddings/data/vectors.npy"
JITTER = 0.05
EPSILONS = {300: 10.0, 50: 6.0}
TARGETS = {"400,000 x 300": 1.5e6, "400,000 x 50": 4e6, "50,000 x 50": 10e6}

TILINGS = {
    300: [
        Tiling(stream=False, rows=128, tile=32, side=8, warps=8, depth=3),
        Tiling(stream=False, rows=128, tile=32, side=8, warps=8, depth=4),
        Tiling(stream=False, rows=128, tile=64, side=4, warps=8, depth=3),
        Tiling(stream=False, rows=128, tile=32, side=4, warps=8, depth=3),
        Tiling(stream=False, rows=128, tile=32, side=4, warps=4, depth=3),
        Tiling(stream=False, rows=128, tile=32, side=4, warps=4, depth=2),
        Tiling(stream=False, rows=256, tile=32, side=4, warps=8, depth=3),
        Tiling(stream=False, rows=64, tile=32, side=8, warps=4, depth=3),
        Tiling(stream=True, rows=128, tile=32, side=2, warps=8, depth=3),
        Tiling(stream=True, rows=128, tile=32, side=2, warps=4, depth=3),
        Tiling(stream=True, rows=64, tile=32, side=2, warps=4, depth=2),
        Tiling(stream=True, rows=64, tile=32, side=4, warps=4, depth=2),
    ],
    50: [
        Tiling(stream=True, rows=128, tile=64, side=2, warps=8, depth=3),
        Tiling(stream=True, rows=128, tile=64, side=2, warps=4, depth=3),
        Tiling(stream=True, rows=128, tile=128, side=1, warps=4, depth=3),
        Tiling(stream=True, rows=128, tile=64, side=1, warps=4, depth=4),
        Tiling(stream=True, rows=128, tile=64, side=4, warps=8, depth=3),
        Tiling(stream=True, rows=256, tile=64, side=2, warps=8, depth=3),
        Tiling(stream=True, rows=64, tile=64, side=2, warps=4, depth=3),
        Tiling(stream=True, rows=128, tile=32, side=4, warps=4, depth=3),
        Tiling(stream=False, rows=128, tile=64, side=2, warps=4, depth=2),
        Tiling(stream=False, rows=128, tile=64, side=4, warps=8, depth=2),
    ],
}
SETTLING = [
    {"best_first": False, "settle_step": 128},
    {"settle_step": 128},
    {"span": 64},
    {"span": 64, "settle_step": 32},
    {"span": 64, "settle_warps": 2, "settle_step": 32},
    {"settled": 32, "span": 64, "settle_warps": 8},
    {"settled": 8, "span": 64, "settle_warps": 2},
    {"settled": 8, "span": 128, "settle_warps": 4},
    {"settled": 8, "span": 256, "settle_warps": 4},
    {"settled": 16, "span": 128, "settle_warps": 8},
]

REHEARSAL = os.environ.get("TRITON_INTERPRET") == "1"
"""Without a card: everything runs once, interpreted and tiny, to see that it runs."""
DEVICE = "cpu" if REHEARSAL else "cuda"
KIND = torch.float32 if REHEARSAL else torch.bfloat16
SMALL = 256 if REHEARSAL else 1
"""By how much a rehearsal does less."""

if REHEARSAL:
    TILINGS = {each: [Tiling(stream=each == 50, rows=16, tile=16, side=2, span=16)] for each in TILINGS}
    SETTLING = [{"span": 32}]
    TARGETS = dict.fromkeys(TARGETS, 10.0)

started = time.perf_counter()
found: dict[str, Any] = {"parts": {}}


def say(text: str) -> None:
    """Print a line with the time since the start."""
    print(f"[{time.perf_counter() - started:6.1f} s] {text}", flush=True)


def part(name: str, run: Callable[[], Any]) -> None:
    """Run one part; what fails is printed and noted."""
    say(f"--- {name}")
    try:
        found["parts"][name] = run()
    except Exception:  # the other parts are still worth their time
        found["parts"][name] = {"failed": traceback.format_exc()}
        say(f"FAILED {name}\n{traceback.format_exc()}")


def wait() -> None:
    """Wait until the card has done what it was told."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def seconds(call: Callable[[], object], *, times: int = 3) -> float:
    """Return the median of so many timings of a call, after one that does not count."""
    call()
    took = []
    for _ in range(times):
        wait()
        begin = time.perf_counter()
        call()
        wait()
        took.append(time.perf_counter() - begin)
    return median(took)


def environment() -> dict[str, Any]:
    """Return what ran where."""
    import triton

    asked = ["echo"] if REHEARSAL else ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False)
    facts = {
        "card": "none" if REHEARSAL else torch.cuda.get_device_name(),
        "driver": driver.stdout.strip(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
    }
    say(str(facts))
    return facts


def ceiling() -> dict[str, float]:
    """Return what cuBLAS reaches: a square product, and products of our sizes, all scores written; with rows as they are, and padded."""
    a, b = (torch.randn(8192 // SMALL, 8192 // SMALL, device=DEVICE, dtype=KIND) for _ in range(2))
    rates = {"tflops": 2 * (8192 // SMALL) ** 3 / seconds(lambda: a @ b, times=10) / 1e12}
    for words, dimension in ((400_000, 300), (400_000, 50), (50_000, 50)):
        for width, kind in ((dimension, ""), (-(-dimension // 64) * 64, " padded")):  # cuBLAS is slow with rows that are not aligned
            queries = torch.randn(16_384 // SMALL, width, device=DEVICE, dtype=KIND)
            vectors = torch.randn(words // SMALL, width, device=DEVICE, dtype=KIND)
            out = torch.empty(16_384 // SMALL, words // SMALL, device=DEVICE, dtype=KIND)
            took = seconds(lambda q=queries, v=vectors, o=out: torch.mm(q, v.T, out=o))  # type: ignore[misc]
            rates[f"{words:,} x {dimension}{kind}"] = 16_384 // SMALL / took
            del queries, vectors, out
    say(", ".join(f"{name}: {rate:,.0f}" for name, rate in rates.items()))
    return rates


def checks() -> dict[str, Any]:
    """Run every check of tests/gpu on the card."""
    from tests.gpu.checks import CHECKS

    outcomes: dict[str, Any] = {}
    for check in CHECKS:
        begin = time.perf_counter()
        try:
            outcomes[check.__name__] = {"passed": True, "saw": check(DEVICE)}
        except Exception:  # the other checks are still worth their time
            outcomes[check.__name__] = {"passed": False, "saw": traceback.format_exc()}
        outcome = outcomes[check.__name__]
        say(f"{'ok    ' if outcome['passed'] else 'FAILED'} {check.__name__} ({time.perf_counter() - begin:.1f} s): {outcome['saw']}")
    return outcomes


def enlarged(vectors: Vectors, size: int) -> Vectors:
    """Return the vectors, then copies with noise of 5 % of the standard deviation, as benchmarks/peers/material.py makes them."""
    rng = np.random.default_rng(0)
    larger = np.resize(vectors, (size, vectors.shape[1])).astype(np.float32)
    larger[len(vectors) :] += np.float32(JITTER * vectors.std()) * rng.standard_normal(
        (size - len(vectors), vectors.shape[1]), dtype=np.float32
    )
    return larger


def made_mixture(size: int, dimension: int) -> Vectors:
    """Return vectors in clusters, with lengths as GloVe has them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((2000, dimension), dtype=np.float32)
    vectors = centres[rng.integers(0, 2000, size)] + rng.standard_normal((size, dimension), dtype=np.float32)
    vectors *= (6.6 * np.exp(0.25 * rng.standard_normal(size)) / np.linalg.norm(vectors, axis=1))[:, None].astype(np.float32)
    return vectors


def spaces(glove: Path | None) -> dict[str, tuple[str, Vectors]]:
    """Return the embeddings to measure, with a word about where their vectors come from."""
    built_in = np.load(BUILT_IN).astype(np.float32)
    if REHEARSAL:
        wide, built_in = made_mixture(90, 300), built_in[:60]
        return {name: ("a rehearsal", wide if name.endswith("300") else built_in) for name in TARGETS}
    if glove is None:
        wide, origin = made_mixture(400_000, 300), "made: 2,000 clusters, lengths as GloVe's"
    else:
        sys.path.insert(0, str(ROOT / "benchmarks"))
        from peers.material import read_glove

        wide, origin = enlarged(read_glove(glove)[1], 400_000), "GloVe 840B, enlarged with jittered copies"
    return {
        "400,000 x 300": (origin, wide),
        "400,000 x 50": ("the built-in GloVe 6B, enlarged with jittered copies", enlarged(built_in, 400_000)),
        "50,000 x 50": ("the built-in GloVe 6B", built_in),
    }


def embedding_of(vectors: Vectors) -> Embedding:
    """Return an embedding without names."""
    none = np.array([], dtype=np.int64)
    return Embedding.from_checked(range(len(vectors)), vectors, vectors.mean(axis=0), name="measured", shadowed=none)  # type: ignore[arg-type]


def try_tilings(name: str, embedding: Embedding, queries: Vectors) -> dict[str, Any]:
    """Time each way to cut the product, and each way to settle, on points that are on the card; return the times by tiling."""
    rows = [_time_tiling(name, embedding, queries, tiling) for tiling in TILINGS[embedding.dimension]]
    best = min((row for row in rows if "whole" in row), key=lambda row: row["whole"])
    rows += [_time_tiling(name, embedding, queries, Tiling(**{**best["tiling"], **change})) for change in SETTLING]
    best = max((row for row in rows if "whole" in row), key=lambda row: row["words_per_second"])
    say(f"{name}: best is {best['tiling']}")
    return {"rows": rows, "best": best["tiling"]}


def _time_tiling(name: str, embedding: Embedding, queries: Vectors, tiling: Tiling) -> dict[str, Any]:
    from dataclasses import asdict

    row: dict[str, Any] = {"tiling": asdict(tiling)}
    try:
        search = FusedNeighbours(embedding, device=DEVICE, tiling=tiling)
        count = min(len(queries), search.points_at_once)
        points = torch.from_numpy(queries[:count]).to(DEVICE)
        into = torch.empty(count, dtype=torch.int32, device=DEVICE)
        with torch.inference_mode():
            whole = seconds(lambda: search._search(points, into))
            search._rescored.zero_()
            search._search(points, into)
            again = int(search._rescored) / count
            product = _product_seconds(search, points, into)
        row |= {
            "points": count,
            "whole": whole / count,
            "product": product / count,
            "tiles_again": again,
            "words_per_second": count / whole,
        }
        row["undecided"] = int((into < 0).sum())
        say(
            f"{name} {'stream' if tiling.stream else 'block '} rows {tiling.rows} tile {tiling.tile} side {tiling.side} "
            f"warps {tiling.warps} depth {tiling.depth} settled {tiling.settled}/{tiling.span}/{tiling.settle_warps}/{tiling.settle_step}"
            f"{'' if tiling.best_first else ' in order'}: "
            f"{count / whole:,.0f} words/s, product {count / product:,.0f}, {again:.2f} tiles again, {row['undecided']} undecided"
        )
    except Exception as error:  # a tiling that does not fit the card is no failure
        row["failed"] = f"{type(error).__name__}: {error}"[:300]
        say(f"{name} {tiling}: {row['failed']}")
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
    return row


def _product_seconds(search: FusedNeighbours, points: Any, into: Any) -> float:
    """Return the time of a search without its second kernel."""
    from unittest import mock

    from deniable.neighbours import fused

    class Nothing:
        def __getitem__(self, grid: object) -> Callable[..., None]:
            return lambda *_arguments, **_options: None

    with mock.patch.object(fused, "settle", Nothing()):
        return seconds(lambda: search._search(points, into))


def measure_space(name: str, origin: str, embedding: Embedding, tiling: Tiling | None, limit: float) -> dict[str, Any]:
    """Return words per second, ids in and ids out, and the share of what cuBLAS reaches; words are compared with the float32 form."""
    epsilon = EPSILONS[embedding.dimension]
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()
    search = FusedNeighbours(embedding, device=DEVICE, tiling=tiling)
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
    row |= {"share_of_cublas": speed / limit, "met": speed >= TARGETS[name], "tiles_again": search.tiles_scored_again}
    if DEVICE == "cuda":
        row["memory"] = torch.cuda.max_memory_allocated()
    say(f"{name}, {origin}: {speed:,.0f} words/s, ids to ids, {speed / limit:.0%} of cuBLAS alone; target {TARGETS[name]:,.0f}")
    for size in (1, 100, 10_000, 100_000)[: 1 if REHEARSAL else 4]:
        row["batches"][size] = size / seconds(lambda size=size: mechanism.perturb(ids[:size], source), times=5)  # type: ignore[misc]
    say(f"{name}: by batch { ({size: f'{speed:,.0f}' for size, speed in row['batches'].items()}) }")
    spent = torch.full(((1 << 16) // SMALL,), epsilon, dtype=torch.float64, device=DEVICE)
    noise = RadialNoise(lengths="gamma", dimension=embedding.dimension)
    row["noise_alone"] = len(spent) / seconds(lambda: card_noise(torch.device(DEVICE)).launch().noise(noise, spent))
    say(f"{name}: noise alone {row['noise_alone']:,.0f} words/s")
    queries = noisy(embedding, epsilon, 16_384 // SMALL)
    old = GpuNeighbours(embedding, device=DEVICE)
    row["float32_form"] = len(queries) / seconds(lambda: old.nearest(queries))
    same = int((old.nearest(queries) == search.nearest(queries)).sum())
    say(f"{name}: torch's float32 form {row['float32_form']:,.0f} words/s; {same:,} of {len(queries):,} words are the same")
    row["same_as_float32_form"] = [same, len(queries)]
    asked = queries[:2048]
    exact = exact_on_card(embedding, asked)
    row["same_as_float64"] = [int((exact == search.nearest(asked)).sum()), len(asked)]
    say(f"{name}: {row['same_as_float64'][0]:,} of {len(asked):,} words are those of a float64 product")
    return row


def noisy(embedding: Embedding, epsilon: float, count: int) -> Vectors:
    """Return noisy points of random words, with noise of the card."""
    ids = np.random.default_rng(2).integers(0, len(embedding), count)
    spent = torch.full((count,), epsilon, dtype=torch.float64, device=DEVICE)
    noise = card_noise(torch.device(DEVICE)).launch().noise(RadialNoise(lengths="gamma", dimension=embedding.dimension), spent)
    return (noise.cpu().numpy() + embedding.rows(ids)).astype(np.float32)


def exact_on_card(embedding: Embedding, queries: Vectors) -> Any:
    """Return the nearest words by float64 products, all scores looked at."""
    vectors = torch.from_numpy(np.array(embedding.vectors)).to(DEVICE).double()
    halves = 0.5 * vectors.square().sum(dim=1)
    parts = [(part.double() @ vectors.T - halves).argmax(dim=1) for part in torch.split(torch.from_numpy(queries).to(DEVICE), 512)]
    return torch.cat(parts).cpu().numpy()


def faiss_flat(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of FAISS's flat index on the card, where it can be imported."""
    try:
        import faiss  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        say("FAISS cannot be imported here")
        return {"left_out": "FAISS cannot be imported here"}
    if not hasattr(faiss, "GpuIndexFlatL2"):
        return {"left_out": "FAISS has no GPU here"}
    index = faiss.GpuIndexFlatL2(faiss.StandardGpuResources(), embedding.dimension)
    index.add(np.array(embedding.vectors))
    queries = noisy(embedding, EPSILONS[embedding.dimension], 16_384 // SMALL)
    speed = len(queries) / seconds(lambda: index.search(queries, 1))
    say(f"FAISS GpuIndexFlatL2: {speed:,.0f} words/s")
    return {"words_per_second": speed}


def on_processor(embedding: Embedding) -> dict[str, Any]:
    """Return the words per second of the processor of the same machine, by the native scan where it is there."""
    from deniable.neighbours.selection import best_neighbours, why_not_native

    search = best_neighbours(embedding)
    queries = noisy(embedding, EPSILONS[embedding.dimension], 2048)
    speed = len(queries) / seconds(lambda: search.nearest(queries), times=1)
    say(f"the processor ({type(search).__name__}): {speed:,.0f} words/s")
    return {"words_per_second": speed, "search": type(search).__name__, "obstacle": why_not_native()}


def measure_channel(embedding: Embedding, tiling: Tiling | None) -> dict[str, Any]:
    """Return how long 2,000 draws of each word take, counted on the card."""
    draws = CardDraws(
        FusedNeighbours(embedding, device=DEVICE, tiling=tiling),
        RadialNoise(lengths="gamma", dimension=embedding.dimension),
        epsilon=6.0,
        draws=2000 // SMALL,
    )
    ids = np.arange(len(embedding))
    begin = time.perf_counter()
    listed = sum(len(outputs) for outputs, _ in draws.counts(ids))
    took = time.perf_counter() - begin
    say(f"channel of {len(ids):,} words x 2,000 draws: {took:.1f} s (target 20), {listed:,} pairs of words")
    return {"seconds": took, "pairs": listed, "met": took < 20}


def measure_outcomes(embedding: Embedding, words: int, tiling: Tiling | None) -> dict[str, Any]:
    """Return how long N_w and the number of different words of so many words x 1,000 draws take."""
    draws = CardDraws(
        FusedNeighbours(embedding, device=DEVICE, tiling=tiling),
        RadialNoise(lengths="gamma", dimension=embedding.dimension),
        epsilon=6.0,
        draws=1000 // SMALL,
    )
    ids = np.arange(len(embedding))[:words]
    begin = time.perf_counter()
    outcomes = draws.outcomes(ids)
    took = time.perf_counter() - begin
    say(
        f"N_w and distinct words of {len(ids):,} words x 1,000 draws: {took:.1f} s (target 120 for 400,000); "
        f"median N_w {np.median(outcomes.unchanged):.3f}, median of different words {np.median(outcomes.distinct):.0f}"
    )
    return {"seconds": took, "words": len(ids), "met": took * len(embedding) / len(ids) < 120}


def main() -> None:
    """Run what was asked for, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write what was found here")
    parser.add_argument("--glove", type=Path, help="GloVe 840B 300d, 34k words, bzip2; without it 300 dimensions are made up")
    parser.add_argument("--tilings", action="store_true", help="time every way to cut the product, and go on with the fastest")
    parser.add_argument("--only", default="", help="only parts whose name holds this")
    parser.add_argument("--skip", default="nothing", help="no parts whose name holds this")
    parser.add_argument("--outcome-words", type=int, default=400_000, help="how many words N_w is measured for")
    options = parser.parse_args()
    torch.set_float32_matmul_precision("highest")

    def wanted(name: str, run: Callable[[], Any]) -> None:
        if options.only in name and options.skip not in name:
            part(name, run)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    wanted("environment", environment)
    wanted("ceiling", ceiling)
    wanted("checks", checks)
    limits = found["parts"].get("ceiling", {})
    for name, (origin, vectors) in spaces(options.glove).items():
        embedding, tiling = embedding_of(vectors), None
        if options.tilings:
            queries = noisy(embedding, EPSILONS[embedding.dimension], (1 << 16) // SMALL)
            wanted(f"tilings {name}", lambda n=name, e=embedding, q=queries: try_tilings(n, e, q))  # type: ignore[misc]
            best = found["parts"].get(f"tilings {name}", {}).get("best")
            tiling = Tiling(**best) if best else None
        limit = limits.get(name, float("nan"))
        wanted(f"speed {name}", lambda n=name, o=origin, e=embedding, t=tiling, x=limit: measure_space(n, o, e, t, x))  # type: ignore[misc]
        wanted(f"FAISS {name}", lambda e=embedding: faiss_flat(e))  # type: ignore[misc]
        wanted(f"processor {name}", lambda e=embedding: on_processor(e))  # type: ignore[misc]
        if name == "50,000 x 50":
            wanted("channel", lambda e=embedding, t=tiling: measure_channel(e, t))  # type: ignore[misc]
        if name == "400,000 x 50":
            wanted("N_w", lambda e=embedding, t=tiling: measure_outcomes(e, options.outcome_words, t))  # type: ignore[misc]
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
    failed = [name for name, each in found["parts"].items() if "failed" in each]
    failed += [name for name, each in found["parts"].get("checks", {}).items() if isinstance(each, dict) and not each.get("passed", True)]
    say(f"done; failed: {', '.join(failed) or 'nothing'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
