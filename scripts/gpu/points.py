"""P(y | x) of the paper's mechanism by points that all words share, on a GPU: ``deniable.channel.points``
with whole matrices.

Points z are drawn around all input words, frequent ones more often, and some are kept of each output y, the
word nearest to them. A point speaks of every word: K(z | x)/q(z) = exp(-ε‖z - φ(x)‖) / Σ w(x')·exp(-ε‖z -
φ(x')‖), w being the share of the points that were drawn around a word. Its mean over the points of y, times
the share of all points that fell to y, is P(y | x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

_POINTS_AT_ONCE = 1 << 21
_NUMBERS_AT_ONCE = 1 << 28
_EVEN = 0.001
"""What each row leaves to all outputs alike: no word is impossible."""


@dataclass(frozen=True)
class Effort:
    """How many points are drawn around a word on average, and how many are kept of an output at most."""

    drawn: int = 256
    kept: int = 64


@dataclass(frozen=True)
class Points:
    """Points by output: ``slots[s, i]`` is the place in ``points`` of point s of ``outputs[i]``, of which
    there are ``kept[i]``.

    Outputs come by falling number of points, so that those with a point s are the first ones. ``shares`` are
    those of all points drawn.
    """

    points: torch.Tensor
    outputs: torch.Tensor
    slots: torch.Tensor
    kept: torch.Tensor
    shares: torch.Tensor


def chances_by_points(
    starts: torch.Tensor,
    epsilon: float,
    nearest: Callable[[torch.Tensor], torch.Tensor],
    released: torch.Tensor,
    effort: Effort,
    generator: torch.Generator,
    *,
    unknown: bool,
) -> torch.Tensor:
    """Return P(y | x), a row for each vector of ``starts``, which go by rank, the last one being that of ⊥ if
    ``unknown``.

    ``released`` says which words can come out.
    """
    weights, drawn = draws_of_each(len(starts), effort.drawn, starts.device, unknown=unknown)
    points = _drawn(starts, drawn, epsilon, nearest, len(released), effort.kept, generator)
    return chances_from(points, starts, weights, epsilon, released)


def draws_of_each(
    inputs: int, mean: int, device: torch.device, *, unknown: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the share of all points that is drawn around each input, half of it even and half by rank, and
    how many those are.

    ⊥, which comes last where it is among them, stands for many words and has as many points as the most
    frequent one.
    """
    ranks = 1.0 / torch.arange(1, inputs + 1, device=device, dtype=torch.float64)
    if unknown:
        ranks[-1] = 1.0
    wanted = 0.5 / inputs + 0.5 * ranks / ranks.sum()
    drawn = (wanted * mean * inputs).round().clamp(min=1).long()
    return drawn.double() / drawn.sum(), drawn


def _drawn(
    starts: torch.Tensor,
    drawn: torch.Tensor,
    epsilon: float,
    nearest: Callable[[torch.Tensor], torch.Tensor],
    words: int,
    most: int,
    generator: torch.Generator,
) -> Points:
    device, dimension = starts.device, starts.shape[1]
    points, found = [], []
    for part in torch.split(torch.repeat_interleave(drawn), _POINTS_AT_ONCE):
        noise = torch.randn(len(part), dimension, device=device, generator=generator)
        lengths = torch._standard_gamma(
            torch.full((len(part), 1), float(dimension), device=device), generator=generator
        )
        noise *= lengths / (epsilon * noise.norm(dim=1, keepdim=True))
        noise += starts[part]
        points.append(noise)
        found.append(nearest(noise))
    of_each = torch.cat(found)
    counts = torch.bincount(of_each, minlength=words)
    order = torch.randperm(len(of_each), generator=generator, device=device)
    order = order[torch.argsort(of_each[order], stable=True)]
    outputs = torch.argsort(counts, descending=True, stable=True)[: int((counts > 0).sum())]
    firsts = counts.cumsum(0) - counts
    rank = torch.arange(len(order), device=device) - firsts[of_each[order]]
    order = order[rank < most]
    place = torch.zeros_like(counts)
    place[outputs] = torch.arange(len(outputs), device=device)
    slots = torch.zeros((most, len(outputs)), dtype=torch.long, device=device)
    slots[rank[rank < most], place[of_each[order]]] = torch.arange(len(order), device=device)
    return Points(
        torch.cat(points)[order],
        outputs,
        slots,
        counts[outputs].clamp(max=most),
        counts[outputs].double() / len(of_each),
    )


def chances_from(
    points: Points, starts: torch.Tensor, weights: torch.Tensor, epsilon: float, released: torch.Tensor
) -> torch.Tensor:
    """Return P(y | x) from points by output."""
    found = torch.zeros((len(starts), len(released)), device=starts.device)
    squares, logs = (starts * starts).sum(1), weights.log().float()
    means = (points.shares / points.kept).float()
    at_once = max(1, _NUMBERS_AT_ONCE // len(starts))
    for first in range(0, len(points.outputs), at_once):
        part = slice(first, first + at_once)
        kept = points.kept[part]
        total = torch.zeros((len(kept), len(starts)), device=starts.device)
        for layer in range(int(kept[0])):
            having = int((kept > layer).sum())
            own = points.points[points.slots[layer, first : first + having]]
            far = (
                torch.addmm(squares[None], own, starts.T, alpha=-2.0)
                .add_((own * own).sum(1, keepdim=True))
                .clamp_(min=0.0)
                .sqrt_()
            )
            total[:having] += torch.softmax(far.mul_(-epsilon).add_(logs), 1)
        found[:, points.outputs[part]] = (total * means[part, None] / weights.float()).T
    found *= (1.0 - _EVEN) / found.sum(1, keepdim=True).clamp(min=1e-30)
    return found.add_(released.float() * (_EVEN / released.sum()))
