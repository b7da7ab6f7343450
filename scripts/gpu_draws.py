"""Draws of a mechanism on a GPU, for experiments only: they come from a seed, round as the card does, and release nothing.

``drawn_channel`` gives the numbers of a channel, ``Attacker`` how many words a Bayes attacker with the true word frequencies names at an ε:
its guesses are chosen on one half of the draws and judged on the other.
"""

# ruff: noqa: ANN001, ANN202 - kernels are not Python but Triton

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from deniable import Embedding
from deniable.arrays import Floats, Ids

try:
    import triton
    import triton.language as tl
except ImportError:  # plain torch then, several times slower
    triton = None

_POINTS_AT_ONCE = 1 << 21
_SCORES_AT_ONCE = 1 << 30
_WIDEST_FUSED = 128


if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator,unused-ignore]
    def _nearest(points, words, halves, found, count, vocabulary, width: tl.constexpr, rows: tl.constexpr, tile: tl.constexpr):  # type: ignore[no-untyped-def]
        row, column = tl.program_id(0) * rows + tl.arange(0, rows), tl.arange(0, width)
        point = tl.load(points + row[:, None] * width + column[None, :], mask=row[:, None] < count, other=0.0)
        best = tl.full([rows], -1e38, tl.float32)
        winner = tl.zeros([rows], tl.int32)
        for start in range(0, vocabulary, tile):
            place = start + tl.arange(0, tile)
            word = tl.load(words + place[:, None] * width + column[None, :], mask=place[:, None] < vocabulary, other=0.0)
            half = tl.load(halves + place, mask=place < vocabulary, other=-1e38)
            scores = tl.dot(point, tl.trans(word), input_precision="tf32x3") + half[None, :]
            top, where = tl.max(scores, 1, return_indices=True)
            better = top > best
            best = tl.where(better, top, best)
            winner = tl.where(better, where + start, winner)
        tl.store(found + row, winner, mask=row < count)


class Drawing:
    """Draws what words become under the paper's mechanism, or under SanText, at any ε."""

    def __init__(self, embedding: Embedding, mechanism: str, device: str) -> None:
        if mechanism not in ("multivariate", "santext"):
            raise SystemExit(f"{mechanism} is not drawn on a GPU")
        self.embedding, self.mechanism, self.device = embedding, mechanism, device
        self.words = torch.tensor(np.asarray(embedding.vectors, dtype=np.float32), device=device)
        self.halves = -0.5 * (self.words * self.words).sum(1)
        self.dimension = self.words.shape[1]
        self.generator = torch.Generator(device=device).manual_seed(0)
        width = max(16, 1 << (self.dimension - 1).bit_length())
        self.padded = torch.nn.functional.pad(self.words, (0, width - self.dimension)).contiguous()

    def rows(self, draws: int) -> int:
        """Return how many inputs are drawn at once."""
        return max(1, (_POINTS_AT_ONCE if self.mechanism == "multivariate" else _SCORES_AT_ONCE // 4 // len(self.words) * draws) // draws)

    def outputs(self, inputs: Ids, epsilon: float, draws: int) -> torch.Tensor:
        """Return the words that each input becomes, one row of draws an input."""
        starts = torch.tensor(self.embedding.rows(inputs).astype(np.float32), device=self.device)
        if self.mechanism == "santext":
            return torch.multinomial(self.chances(inputs, epsilon), draws, replacement=True, generator=self.generator)
        noise = torch.randn(len(starts) * draws, self.dimension, device=self.device, generator=self.generator)
        noise /= noise.norm(dim=1, keepdim=True)
        lengths = torch._standard_gamma(torch.full((len(noise), 1), float(self.dimension), device=self.device), generator=self.generator)
        points = starts.repeat_interleave(draws, 0).addcmul_(noise, lengths / epsilon)
        return self.nearest(points).view(len(starts), draws)

    def chances(self, inputs: Ids, epsilon: float) -> torch.Tensor:
        """Return P(y | x) of SanText, one row an input."""
        starts = torch.tensor(self.embedding.rows(inputs).astype(np.float32), device=self.device)
        return torch.softmax(-0.5 * epsilon * torch.cdist(starts, self.words), 1)

    def nearest(self, points: torch.Tensor) -> torch.Tensor:
        """Return the nearest word of each point."""
        width = self.padded.shape[1]
        if triton is None or width > _WIDEST_FUSED or self.device == "cpu":
            at_once = max(1, _SCORES_AT_ONCE // len(self.words))
            return torch.cat([torch.addmm(self.halves, part, self.words.T).argmax(1) for part in torch.split(points, at_once)])
        points = torch.nn.functional.pad(points, (0, width - self.dimension)).contiguous()
        found = torch.empty(len(points), dtype=torch.int32, device=self.device)
        _nearest[(triton.cdiv(len(points), 128),)](
            points, self.padded, self.halves, found, len(points), len(self.words), width=width, rows=128, tile=64, num_warps=4
        )
        return found.long()


def drawn_channel(drawing: Drawing, inputs: Ids, epsilon: float, draws: int) -> dict[str, Any]:
    """Return the numbers of a channel; what was drawn only once stands for all that was not drawn, as in ``deniable.channel.rows``."""
    vocabulary, size = len(drawing.words), drawing.rows(draws)
    lengths, outputs, chances = [], [], []
    for first in range(0, len(inputs), size):
        found = drawing.outputs(inputs[first : first + size], epsilon, draws)
        rows = torch.arange(len(found), device=found.device)
        keys, counts = torch.unique(found + rows[:, None] * vocabulary, return_counts=True)
        owners = keys // vocabulary
        order = torch.argsort(owners * (draws + 1) + (draws - counts), stable=True)
        keys, counts, owners = keys[order], counts[order], owners[order]
        once = torch.zeros(len(found), dtype=torch.long, device=found.device).index_add_(0, owners, (counts == 1).long())
        shares = counts / draws * (1.0 - once[owners] / draws)
        lengths.append(torch.bincount(owners, minlength=len(found)).cpu().numpy())
        outputs.append((keys - owners * vocabulary).int().cpu().numpy())
        chances.append(shares.float().cpu().numpy())
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return {"inputs": inputs, "starts": starts, "outputs": np.concatenate(outputs), "chances": np.concatenate(chances), "draws": draws}


@dataclass(frozen=True)
class Named:
    """What the attacker names: the share of all words, and the share of the kinds of the words that have one."""

    word: float
    kind: float


class Attacker:
    """A context-free Bayes attacker who knows the true frequencies of the words of a text."""

    def __init__(self, drawing: Drawing, shares: Floats, kinds: Ids) -> None:
        self.drawing = drawing
        self.inputs = np.flatnonzero(shares).astype(np.int64)
        self.shares = torch.tensor(shares[self.inputs], device=drawing.device)
        self.kinds = torch.tensor(kinds[self.inputs], device=drawing.device)

    def names(self, epsilon: float, draws: int) -> Named:
        """Return what it names at one ε; of SanText without draws, as its chances are known."""
        if self.drawing.mechanism == "santext":
            return self._names_exactly(epsilon)
        sides: list[list[torch.Tensor]] = [[], []]
        size = self.drawing.rows(draws)
        for first in range(0, len(self.inputs), size):
            found = self.drawing.outputs(self.inputs[first : first + size], epsilon, draws)
            rows = first + torch.arange(len(found), device=found.device)
            for side, half in zip(sides, found.chunk(2, dim=1), strict=True):
                side.append((half * len(self.inputs) + rows[:, None]).flatten())
        with_kind = self.kinds >= 0
        content = torch.where(with_kind, self.shares, 0.0)
        return Named(
            word=self._success(sides, torch.arange(len(self.inputs), device=self.shares.device), self.shares, draws),
            kind=self._success(sides, self.kinds.clamp(min=0), content / content.sum(), draws),
        )

    def _names_exactly(self, epsilon: float) -> Named:
        """Return how likely the likeliest input, and the likeliest kind, of each output is the true one."""
        size = max(1, _SCORES_AT_ONCE // 8 // len(self.drawing.words))
        best = torch.zeros(len(self.drawing.words), device=self.drawing.device)
        of_kinds = torch.zeros((int(self.kinds.max()) + 1, len(best)), device=self.drawing.device)
        for first in range(0, len(self.inputs), size):
            part = slice(first, first + size)
            joint = self.drawing.chances(self.inputs[part], epsilon) * self.shares[part, None].float()
            best = torch.maximum(best, joint.amax(0))
            having = self.kinds[part] >= 0
            of_kinds.index_add_(0, self.kinds[part][having], joint[having])
        return Named(word=float(best.double().sum()), kind=float(of_kinds.amax(0).double().sum() / of_kinds.double().sum()))

    def _success(self, sides: list[list[torch.Tensor]], classes: torch.Tensor, shares: torch.Tensor, draws: int) -> float:
        """Return how likely the guess of the class of a word is right."""
        most = int(classes.max()) + 1
        chosen, judged = [self._weights(torch.cat(side), classes, shares, most) for side in sides]
        keys, weights = chosen
        words = keys // most
        best = torch.zeros(len(self.drawing.words), dtype=weights.dtype, device=weights.device)
        best.scatter_reduce_(0, words, weights, "amax")
        # Of a word that was never drawn nothing is known: the most frequent class is the best guess.
        likeliest = torch.zeros(most, dtype=shares.dtype, device=shares.device).index_add_(0, classes, shares).argmax()
        guesses = likeliest.expand(len(best)).clone()
        wins = weights == best[words]
        guesses[words[wins]] = keys[wins] % most
        keys, weights = judged
        return float(weights[guesses[keys // most] == keys % most].sum() / (draws // 2))

    def _weights(self, drawn: torch.Tensor, classes: torch.Tensor, shares: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = drawn % len(self.inputs)
        keys, places = torch.unique(drawn // len(self.inputs) * most + classes[inputs], return_inverse=True)
        weights = torch.zeros(len(keys), dtype=torch.float64, device=drawn.device).index_add_(0, places, shares[inputs])
        return keys, weights


def find_epsilons_exactly(attacker: Attacker, wanted: list[tuple[float, str]]) -> list[float | None]:
    """Return, for SanText, the ε of four digits at which each reading reaches what is wanted; one curve serves all, as it has no noise."""
    typical = float(np.median(np.linalg.norm(attacker.drawing.embedding.vectors[:5000], axis=1)))
    grid = np.geomspace(1.0, 100.0, 12) / typical
    curve = [attacker.names(float(epsilon), 0) for epsilon in grid]
    found: list[float | None] = []
    for level, reading in wanted:
        reached = np.array([getattr(each, reading) for each in curve])
        inside = reached[0] < level < reached[-1]
        found.append(float(f"{math.exp(float(np.interp(level, reached, np.log(grid)))):.4g}") if inside else None)
    return found


def find_epsilon(attacker: Attacker, wanted: float, reading: str, *, draws: int = 400) -> float | None:
    """Return the ε, of four digits, at which a reading of the attacker reaches what is wanted; None if it is out of reach."""
    drawing = attacker.drawing
    typical = float(np.median(np.linalg.norm(drawing.embedding.vectors[:5000], axis=1)))
    scale = drawing.dimension / typical
    low, high = math.log(0.05 * scale), math.log(5.0 * scale)

    def reached(log_epsilon: float, number: int) -> float:
        return float(getattr(attacker.names(math.exp(log_epsilon), number), reading))

    # Few draws show an attacker that is too weak: they find the neighbourhood, many draws the place.
    for _ in range(4):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reached(middle, draws) < wanted else (low, middle)
    low, high = low - 0.25, high + 0.05
    below, above = reached(low, 5 * draws), reached(high, 5 * draws)
    if not below < wanted < above:
        return None
    for _ in range(3):
        middle = low + (high - low) * (wanted - below) / (above - below)
        here = reached(middle, 5 * draws)
        if abs(here - wanted) < 0.002:
            return float(f"{math.exp(middle):.4g}")
        low, below, high, above = (middle, here, high, above) if here < wanted else (low, below, middle, here)
    return float(f"{math.exp(low + (high - low) * (wanted - below) / (above - below)):.4g}")
