"""Channels for attackers by draws on a GPU: of the paper's mechanism, and of rank smoothing over it.

In 300 dimensions rays on a processor take an hour, and rank smoothing is drawn word by word there. On a card both take seconds. The rank
that smoothing adds needs no draw: P(z | x) = Σ_y P(y | x)·P(rank of z among the neighbours of y), the first from draws, the second exact.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.making import LEFT_OUT, MOST_OUTPUTS
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.neighbours.selection import released_words
from gpu_draws import Drawing, drawn_channel

_ROWS_AT_ONCE = 512
_FURTHER_RANKS = 1e-4
"""Ranks that together have no more than this probability are left to the rest of a row."""


class ChannelsOnGpu:
    """Makes channels of a mechanism at any ε, with so many draws of each word."""

    def __init__(self, embedding: Embedding, mechanism: str, *, draws: int, device: str) -> None:
        self._embedding, self._draws, self._device = embedding, draws, device
        self._chosen = parse_mechanism(mechanism)
        made = self._chosen(embedding, epsilon=1.0)
        if type(made.wrapped if isinstance(made, RankSmoothing) else made) is not Multivariate:
            raise SystemExit(f"{mechanism} has no channel by draws on a GPU: leave out --device")
        self._drawing = Drawing(embedding, "multivariate", device)

    def channel(self, inputs: Ids, epsilon: float) -> Channel:
        """Return what these words become."""
        numbers = drawn_channel(self._drawing, np.unique(inputs), epsilon, self._draws)
        made = self._chosen(self._embedding, epsilon=epsilon)
        if isinstance(made, RankSmoothing):
            numbers = smooth_by_rank(numbers, self._embedding, decay=made.c * epsilon, device=self._device)
        return Channel(embedding=self._embedding, epsilon=epsilon, method="simulation", directions=self._draws, **numbers)


def smooth_by_rank(numbers: dict[str, Any], embedding: Embedding, *, decay: float, device: str) -> dict[str, Any]:
    """Return the numbers of a channel whose outputs are replaced by a neighbour, with ranks as likely as exp(-decay·rank)."""
    outputs = released_words(embedding)
    ranks = min(len(outputs), math.ceil(-math.log(_FURTHER_RANKS) / decay))
    weights = np.exp(-decay * np.arange(ranks)) * -math.expm1(-decay) / -math.expm1(-decay * len(outputs))
    table = neighbour_table(embedding, outputs, ranks, device=device)
    starts, lengths, found, chances = numbers["starts"], [0], [], []
    for first in range(0, len(starts) - 1, _ROWS_AT_ONCE):
        bounds = starts[first : first + _ROWS_AT_ONCE + 1]
        part = slice(int(bounds[0]), int(bounds[-1]))
        row = torch.repeat_interleave(torch.arange(len(bounds) - 1, device=device), torch.tensor(np.diff(bounds), device=device))
        near = table[torch.tensor(np.asarray(numbers["outputs"][part], dtype=np.int64), device=device)]
        chance = torch.tensor(np.asarray(numbers["chances"][part], dtype=np.float32), device=device)
        smoothed = torch.zeros((len(bounds) - 1) * len(embedding), device=device)
        for rank in range(ranks):
            smoothed.index_add_(0, row * len(embedding) + near[:, rank], chance * float(weights[rank]))
        likeliest, words = smoothed.view(len(bounds) - 1, -1).topk(min(MOST_OUTPUTS, len(embedding)))
        kept = _kept(likeliest)
        lengths += kept.sum(1).tolist()
        found.append(words[kept].int().cpu().numpy())
        chances.append(likeliest[kept].cpu().numpy())
    return {
        "inputs": numbers["inputs"],
        "starts": np.cumsum(lengths),
        "outputs": np.concatenate(found),
        "chances": np.concatenate(chances),
    }


def neighbour_table(embedding: Embedding, outputs: Ids, ranks: int, *, device: str) -> torch.Tensor:
    """Return the nearest released words of every released word, itself first; rows of other words hold nothing that is asked for."""
    vectors = torch.tensor(np.asarray(embedding.vectors[outputs], dtype=np.float32), device=device)
    halves, own = -0.5 * (vectors * vectors).sum(1), torch.tensor(np.asarray(outputs, dtype=np.int64), device=device)
    table = torch.zeros((len(embedding), ranks), dtype=torch.long, device=device)
    for first, last in pairwise([*range(0, len(outputs), 4096), len(outputs)]):
        scores = torch.addmm(halves, vectors[first:last], vectors.T)
        scores[torch.arange(last - first, device=device), torch.arange(first, last, device=device)] = torch.inf
        table[own[first:last]] = own[scores.topk(ranks).indices]
    return table


def _kept(likeliest: torch.Tensor) -> torch.Tensor:
    """Return which outputs of each row are listed: as ``deniable.channel.rows`` lists them, all but a small share."""
    before = likeliest.double().cumsum(1) - likeliest.double()
    return (before < likeliest.double().sum(1, keepdim=True) - LEFT_OUT) & (likeliest > 0)
