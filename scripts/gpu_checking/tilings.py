"""The ways to cut the fused product into tiles, and to settle what it leaves, each timed on the card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from unittest import mock

import torch

from deniable import Embedding
from deniable.arrays import Vectors
from deniable.neighbours import fused
from deniable.neighbours.fused import FusedNeighbours, Tiling
from gpu_checking.setting import DEVICE, REHEARSAL, SMALL, free_memory, say, seconds
from gpu_checking.spaces import EPSILONS, noisy

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

if REHEARSAL:
    TILINGS = {each: [Tiling(stream=each == 50, rows=16, tile=16, side=2, span=16)] for each in TILINGS}
    SETTLING = [{"span": 32}]


def try_tilings(name: str, embedding: Embedding) -> dict[str, Any]:
    """Time each way to cut the product, and each way to settle, on points that are on the card; return the times by tiling."""
    queries = noisy(embedding, EPSILONS[embedding.dimension], (1 << 16) // SMALL)
    rows = [_time_tiling(name, embedding, queries, tiling) for tiling in TILINGS[embedding.dimension]]
    best = min((row for row in rows if "whole" in row), key=lambda row: row["whole"])
    rows += [_time_tiling(name, embedding, queries, Tiling(**{**best["tiling"], **change})) for change in SETTLING]
    best = max((row for row in rows if "whole" in row), key=lambda row: row["words_per_second"])
    say(f"{name}: best is {best['tiling']}")
    return {"rows": rows, "best": best["tiling"]}


def best_tiling(tried: dict[str, Any]) -> Tiling | None:
    """Return the fastest of the tilings that were tried; None where there is none, which means the product's own choice."""
    return Tiling(**tried["best"]) if "best" in tried else None


def _time_tiling(name: str, embedding: Embedding, queries: Vectors, tiling: Tiling) -> dict[str, Any]:
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
    free_memory()
    return row


def _product_seconds(search: FusedNeighbours, points: Any, into: Any) -> float:
    """Return the time of a search without its second kernel."""

    class Nothing:
        def __getitem__(self, grid: object) -> Callable[..., None]:
            return lambda *_arguments, **_options: None

    with mock.patch.object(fused, "settle", Nothing()):
        return seconds(lambda: search._search(points, into))
