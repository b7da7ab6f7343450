"""Channels for attackers on a GPU, by points that all words share: of the paper's mechanism, and of rank
smoothing over it.

In 300 dimensions a channel takes a processor long, and rank smoothing is drawn word by word there. On a card
both take seconds. The rank that smoothing adds needs no draw: P(z | x) = Σ_y P(y | x)·P(rank of z among the
neighbours of y), the first by points, the second exact.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.channel import LEFT_OUT, Channel
from deniable.channel.making import MOST_OUTPUTS
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.neighbours.selection import released_words
from scripts.gpu.draws import Drawing
from scripts.gpu.points import Effort

_ROWS_AT_ONCE = 512
_FURTHER_RANKS = 1e-4
"""Ranks that together have no more than this probability are left to the rest of a row."""


class ChannelsOnGpu:
    """Makes channels of a mechanism at any ε, from so many points drawn around each word."""

    def __init__(self, embedding: Embedding, mechanism: str, *, effort: Effort, device: str) -> None:
        self._embedding, self._effort = embedding, effort
        self._chosen = parse_mechanism(mechanism)
        made = self._chosen(embedding, epsilon=1.0)
        if type(made.wrapped if isinstance(made, RankSmoothing) else made) is not Multivariate:
            raise SystemExit(f"{mechanism} has no channel by points on a GPU: leave out --device")
        self._drawing = Drawing(embedding, "multivariate", device)

    def channel(self, inputs: Ids, epsilon: float) -> Channel:
        """Return what these words become."""
        ids = np.unique(inputs)
        chances = self._drawing.chances(ids, epsilon, self._effort)
        made = self._chosen(self._embedding, epsilon=epsilon)
        if isinstance(made, RankSmoothing):
            smooth_by_rank(chances, self._embedding, decay=made.c * epsilon)
        return Channel(
            embedding=self._embedding,
            epsilon=epsilon,
            method="points",
            directions=self._effort.drawn,
            inputs=ids,
            **listed(chances, unknown=int(ids[-1]) == self._embedding.unknown_id),
        )


def smooth_by_rank(chances: torch.Tensor, embedding: Embedding, *, decay: float) -> None:
    """Replace each output of all rows by a neighbour, with ranks as likely as exp(-decay·rank), in place."""
    outputs = released_words(embedding)
    ranks = min(len(outputs), math.ceil(-math.log(_FURTHER_RANKS) / decay))
    weights = np.exp(-decay * np.arange(ranks)) * -math.expm1(-decay) / -math.expm1(-decay * len(outputs))
    table = neighbour_table(embedding, outputs, ranks, device=str(chances.device))
    for rows in torch.split(chances, _ROWS_AT_ONCE):
        smoothed = torch.zeros_like(rows)
        for rank, weight in enumerate(weights.tolist()):
            smoothed.index_add_(1, table[:, rank], rows, alpha=weight)
        rows.copy_(smoothed)


def listed(chances: torch.Tensor, *, unknown: bool) -> dict[str, Any]:
    """Return the numbers of a channel: of each row the likeliest outputs, all but a small share, as
    ``deniable.channel.rows`` has it.

    ⊥, the last row if ``unknown``, lies among all words and becomes any of them: as many of its outputs are
    listed as that takes.
    """
    lengths, outputs, kept = [0], [], []
    known, outputs_there = len(chances) - unknown, chances.shape[1]
    parts = [(rows, min(MOST_OUTPUTS, outputs_there)) for rows in torch.split(chances[:known], _ROWS_AT_ONCE)]
    for rows, most in [*parts, (chances[known:], outputs_there)]:
        likeliest, words = rows.topk(most)
        before = likeliest.double().cumsum(1) - likeliest.double()
        there = (before < likeliest.double().sum(1, keepdim=True) - LEFT_OUT) & (likeliest > 0)
        lengths += there.sum(1).tolist()
        outputs.append(words[there].int().cpu().numpy())
        kept.append(likeliest[there].cpu().numpy())
    return {"starts": np.cumsum(lengths), "outputs": np.concatenate(outputs), "chances": np.concatenate(kept)}


def neighbour_table(embedding: Embedding, outputs: Ids, ranks: int, *, device: str) -> torch.Tensor:
    """Return the nearest released words of every released word, itself first; rows of other words hold
    nothing that is asked for."""
    vectors = torch.tensor(np.asarray(embedding.vectors[outputs], dtype=np.float32), device=device)
    halves, own = (
        -0.5 * (vectors * vectors).sum(1),
        torch.tensor(np.asarray(outputs, dtype=np.int64), device=device),
    )
    table = torch.zeros((len(embedding), ranks), dtype=torch.long, device=device)
    for first, last in pairwise([*range(0, len(outputs), 4096), len(outputs)]):
        scores = torch.addmm(halves, vectors[first:last], vectors.T)
        scores[torch.arange(last - first, device=device), torch.arange(first, last, device=device)] = (
            torch.inf
        )
        table[own[first:last]] = own[scores.topk(ranks).indices]
    return table
