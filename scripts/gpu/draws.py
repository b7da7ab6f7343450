"""Channels of a mechanism on a GPU, for experiments only: draws come from a seed, round as the card does, and
release nothing.

A channel is a whole matrix here, P(y | x) for the input words asked for and every word that can come out:
34,000 by 34,000 numbers fit on a card. It comes from points that all words share (points.py); SanText and
randomised response are exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from deniable import Embedding
from deniable.arrays import Ids
from deniable.neighbours.selection import released_words
from scripts.gpu.points import Effort, chances_by_points

MECHANISMS = ("multivariate", "santext", "randomized-response")
_SCORES_AT_ONCE = 1 << 29


class Drawing:
    """What words become under a mechanism in a space, at any ε."""

    def __init__(self, embedding: Embedding, mechanism: str, device: str) -> None:
        if mechanism not in MECHANISMS:
            raise SystemExit(f"{mechanism} is not drawn on a GPU; take one of {', '.join(MECHANISMS)}")
        self.embedding, self.mechanism, self.device = embedding, mechanism, device
        self.words = torch.tensor(np.asarray(embedding.vectors, dtype=np.float32), device=device)
        self.halves = -0.5 * (self.words * self.words).sum(1)
        self.dimension = self.words.shape[1]
        self.released = torch.zeros(len(self.words), dtype=torch.bool, device=device)
        self.released[torch.tensor(released_words(embedding), device=device)] = True
        self.generator = torch.Generator(device=device).manual_seed(0)

    @property
    def exact(self) -> bool:
        """Whether its chances are known without draws."""
        return self.mechanism != "multivariate"

    def chances(self, inputs: Ids, epsilon: float, effort: Effort) -> torch.Tensor:
        """Return P(y | x), one row an input word, in the order of the ids; by shared points where it is not
        known exactly."""
        if self.mechanism == "randomized-response":
            return self._by_response(inputs, epsilon)
        if self.mechanism == "multivariate":
            unknown = int(inputs[-1]) == self.embedding.unknown_id
            return chances_by_points(
                self._starts(inputs),
                epsilon,
                self.nearest,
                self.released,
                effort,
                self.generator,
                unknown=unknown,
            )
        found = torch.empty((len(inputs), len(self.words)), device=self.device)
        for part in _parts(len(inputs), max(1, _SCORES_AT_ONCE // len(self.words))):
            far = torch.where(self.released, torch.cdist(self._starts(inputs[part]), self.words), torch.inf)
            found[part] = torch.softmax(-0.5 * epsilon * far, 1)
        return found

    def draw(self, inputs: Ids, epsilon: float, draws: int) -> torch.Tensor:
        """Return the words that each input becomes, one row of draws an input."""
        if self.exact:
            return torch.multinomial(
                self.chances(inputs, epsilon, Effort()), draws, replacement=True, generator=self.generator
            )
        starts = self._starts(inputs)
        noise = torch.randn(len(starts) * draws, self.dimension, device=self.device, generator=self.generator)
        noise /= noise.norm(dim=1, keepdim=True)
        lengths = torch._standard_gamma(
            torch.full((len(noise), 1), float(self.dimension), device=self.device), generator=self.generator
        )
        points = starts.repeat_interleave(draws, 0).addcmul_(noise, lengths / epsilon)
        return self.nearest(points).view(len(starts), draws)

    def release(self, ids: Ids, epsilon: float) -> torch.Tensor:
        """Return what each of many places becomes."""
        return torch.cat(
            [
                self.draw(ids[part], epsilon, 1)[:, 0]
                for part in _parts(len(ids), 1 << (20 if not self.exact else 13))
            ]
        )

    def nearest(self, points: torch.Tensor) -> torch.Tensor:
        """Return the nearest word of each point."""
        at_once = max(1, _SCORES_AT_ONCE // len(self.words))
        return torch.cat(
            [torch.addmm(self.halves, part, self.words.T).argmax(1) for part in torch.split(points, at_once)]
        )

    def _by_response(self, inputs: Ids, epsilon: float) -> torch.Tensor:
        """Return the rows of randomised response: the word itself with e^ε times the probability of any
        other; ⊥ becomes any word."""
        found = self.released.float().expand(len(inputs), -1).clone()
        known = np.flatnonzero(inputs < len(self.words))
        found[torch.tensor(known, device=self.device), torch.tensor(inputs[known], device=self.device)] *= (
            math.exp(epsilon)
        )
        return found.div_(found.sum(1, keepdim=True))

    def _starts(self, inputs: Ids) -> torch.Tensor:
        return torch.tensor(self.embedding.rows(inputs).astype(np.float32), device=self.device)


def _parts(size: int, at_once: int) -> list[slice]:
    return [slice(start, start + at_once) for start in range(0, size, at_once)]


def typical_scale(drawing: Drawing) -> tuple[float, float]:
    """Return the range of ε in which every attacker of interest lies."""
    typical = float(
        np.median(np.linalg.norm(np.asarray(drawing.embedding.vectors[:5000], dtype=np.float64), axis=1))
    )
    if drawing.mechanism == "randomized-response":
        return 4.0, 16.0
    scale: Any = drawing.dimension if drawing.mechanism == "multivariate" else 10.0
    return 0.03 * scale / typical, 10.0 * scale / typical
