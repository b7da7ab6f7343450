"""How long the card takes to draw channels, N_w and the number of different words."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate
from deniable.channel.card_draws import CardDraws
from deniable.neighbours import set_device
from deniable.neighbours.fused import FusedNeighbours
from deniable.noise.randomness import RadialNoise
from scripts.gpu.device import DEVICE, SMALL, say


def measure_channel(embedding: Embedding) -> dict[str, Any]:
    """Return how long 2,000 draws of each word take, counted on the card."""
    draws = CardDraws(
        FusedNeighbours(embedding, device=DEVICE),
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


def measure_columns(embedding: Embedding) -> dict[str, Any]:
    """Return how long the columns of 240 released words take on the card and on the processor, and how they
    agree."""
    from deniable.channel.columns import columns_of  # it needs msgspec, which the other parts can do without

    released, took, found = np.arange(0, 24_000, 100) % len(embedding), {}, {}
    columns = columns_of(Multivariate(embedding, epsilon=6.0), released, seed=1)
    for device in (None, DEVICE):
        set_device(device)
        for turn in ("first", "again"):
            begin = time.perf_counter()
            found[device] = np.stack(list(columns.columns(released)))
            took[f"{device or 'processor'}, {turn}"] = time.perf_counter() - begin
    set_device(None)
    apart = float(np.abs(found[DEVICE] / found[None] - 1.0)[found[None] > 1e-8].max())
    say(
        f"columns of {len(released)} words: { ({name: f'{each:.2f} s' for name, each in took.items()}) }, "
        f"apart by {apart:.1e} at most"
    )
    return {"seconds": took, "columns": len(released), "apart": apart}


def measure_outcomes(embedding: Embedding, words: int) -> dict[str, Any]:
    """Return how long N_w and the number of different words of so many words x 1,000 draws take."""
    draws = CardDraws(
        FusedNeighbours(embedding, device=DEVICE),
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
        f"median N_w {np.median(outcomes.unchanged):.3f}, median of different words "
        f"{np.median(outcomes.distinct):.0f}"
    )
    return {"seconds": took, "words": len(ids), "met": took * len(embedding) / len(ids) < 120}
