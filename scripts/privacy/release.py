"""Draw the releases of the membership experiment where there is an accelerator: NumPy and PyTorch are all
that is there.

The mechanism is the product's own; only its search is this file's, by brute force on the accelerator. The
noise comes from explicit seeds, so that a published experiment can be repeated: this is no release of
anybody's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from deniable.embeddings.embedding import Embedding
from deniable.lab.membership.streams import END, Streams
from deniable.mechanisms.multivariate import Multivariate
from deniable.noise.randomness import InsecureSeededRandomness

SCALE = 17.1677
PAPER_GRID = [round(x / SCALE, 4) for x in range(100, 1001, 100)]
"""The paper's ε for GloVe 300d; the paper prints them rounded."""
BELOW_THE_GRID = [round(x / SCALE, 4) for x in (25, 50, 75)]
"""This embedding has fewer words, so that they stay themselves at smaller ε: three points more show where the
curve begins."""
MOST_UNCHANGED = 0.5
MOST_EXPOSED = 0.95
RAYS = 200
SEED = 20200203
_QUERIES_AT_ONCE = 8192
_ROWS_AT_ONCE = 2048
_CANDIDATES = 8


class TorchNeighbours:
    """Nearest words by float32 products; the best eight are compared again in float64."""

    def __init__(self, vectors: NDArray[np.float32], device: torch.device) -> None:
        self._device = device
        self._vectors = torch.tensor(vectors, device=device)
        self._half = self._vectors.square().sum(1) / 2
        self._exact = self._vectors.double()

    def nearest(self, queries: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the id of the nearest word of every row; ties go to the lowest id."""
        found = []
        with torch.no_grad():
            for start in range(0, len(queries), _QUERIES_AT_ONCE):
                points = torch.from_numpy(queries[start : start + _QUERIES_AT_ONCE]).to(self._device)
                scores = points @ self._vectors.T - self._half
                best = scores.topk(min(_CANDIDATES, len(self._vectors)), dim=1).indices.sort(dim=1).values
                gaps = (points.double()[:, None] - self._exact[best]).square().sum(2)
                found.append(best.gather(1, gaps.argmin(1, keepdim=True))[:, 0].cpu().numpy())
        return np.concatenate(found).astype(np.int64) if found else np.empty(0, dtype=np.int64)


def load(folder: Path) -> Embedding:
    """Return the embedding that was carried along; its words have no names here."""
    vectors = np.load(folder / "vectors.npy")
    shadowed = np.array([], dtype=np.int64)
    return Embedding.from_checked(
        cast(Sequence[str], range(len(vectors))),
        vectors,
        np.load(folder / "unknown.npy"),
        name="carried",
        shadowed=shadowed,
    )


def releases(
    embedding: Embedding, original: Streams, device: torch.device, grid: list[float]
) -> dict[str, tuple[Streams, dict[str, Any]]]:
    """Return by name what d_χ-privacy releases at every ε, without and with protection of exposed words, and
    facts about it."""
    torch.set_float32_matmul_precision("highest")
    search = TorchNeighbours(embedding.vectors, device)
    stays = unchanged(embedding, grid, device)
    wanted: list[tuple[str, float, Embedding, dict[str, Any]]] = []
    for place, epsilon in enumerate(grid):
        facts = {"kind": "d_χ", "epsilon": epsilon, "mean_unchanged": float(stays[place].mean())}
        wanted.append((f"d_χ ε = {epsilon:.4g}", epsilon, embedding, facts))
    for place, epsilon in enumerate(grid):
        exposed = np.flatnonzero(stays[place] > MOST_UNCHANGED)
        if len(exposed) > MOST_EXPOSED * len(embedding):
            continue
        facts = {"kind": "d_χ, protected", "epsilon": epsilon, "words_mapped": len(exposed)}
        wanted.append(
            (f"d_χ protected ε = {epsilon:.4g}", epsilon, protected(embedding, exposed, device), facts)
        )
    words = original.tokens != END
    ids = np.where(original.tokens <= len(embedding), original.tokens - 1, embedding.unknown_id)[
        words
    ].astype(np.int64)

    def draw(
        task: tuple[int, tuple[str, float, Embedding, dict[str, Any]]],
    ) -> tuple[str, tuple[Streams, dict[str, Any]]]:
        number, (name, epsilon, space, facts) = task
        mechanism = Multivariate(space, epsilon=epsilon)
        mechanism.__dict__["neighbours"] = search
        drawn = mechanism.perturb(space.stands_in(ids), InsecureSeededRandomness(insecure_seed=SEED + number))
        tokens = original.tokens.copy()
        tokens[words] = drawn + 1
        return name, (
            Streams(tokens=tokens, offsets=original.offsets),
            {**facts, "changed": float((drawn != ids).mean())},
        )

    with ThreadPoolExecutor(8) as pool:  # the noise is drawn by the processor, one condition a thread
        return dict(pool.map(draw, enumerate(wanted)))


def unchanged(embedding: Embedding, grid: list[float], device: torch.device) -> NDArray[np.float64]:
    """Return N_w of every word at every ε (ε, words), from rays shared by all words (see
    deniable.channel.rays.rays)."""
    generator = torch.Generator(device="cpu").manual_seed(SEED)
    directions = torch.randn((RAYS, embedding.dimension), generator=generator).to(device)
    directions /= directions.norm(dim=1, keepdim=True)
    vectors = torch.tensor(embedding.vectors, device=device)
    along = directions @ vectors.T
    squares = vectors.square().sum(1)
    stays = torch.zeros((len(grid), len(vectors)), dtype=torch.float64, device=device)
    shape = torch.tensor(float(embedding.dimension), dtype=torch.float64, device=device)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        gaps = (squares[rows, None] + squares[None] - 2 * (vectors[rows] @ vectors.T)).clamp_(min=0.0)
        for ray in along:
            slopes = ray[None] - ray[rows, None]
            ends = torch.where(slopes > 0.0, gaps / (2 * slopes), torch.inf).amin(1).double()
            for place, epsilon in enumerate(grid):
                stays[place, rows] += torch.special.gammainc(shape, (epsilon * ends).clamp(max=1e6)) / RAYS
    return stays.cpu().numpy()


def protected(embedding: Embedding, exposed: NDArray[np.int64], device: torch.device) -> Embedding:
    """Return the embedding with every exposed word going in as its nearest word that is not
    (calibration/protection.py)."""
    mapped = np.arange(len(embedding) + 1, dtype=np.int64)
    free = np.setdiff1d(np.arange(len(embedding)), exposed)
    if len(exposed):
        mapped[exposed] = free[
            TorchNeighbours(embedding.vectors[free], device).nearest(embedding.vectors[exposed])
        ]
    known: dict[str, Any] = {"shadowed": embedding.shadowed, "protection": mapped}
    return Embedding.from_checked(
        embedding.words, embedding.vectors, embedding.unknown, name="carried, protected", **known
    )
