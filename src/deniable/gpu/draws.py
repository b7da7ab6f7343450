"""What words become, by many draws on a GPU: words are counted where they are drawn, and only counts come
back.

The noise is the secure one that releases draw there, so two runs differ within their error; a seed promises
the same draws again, which only the processor keeps. Counts are about public words and release nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from deniable.arrays import Ids
from deniable.noise.randomness import RadialNoise

if TYPE_CHECKING:
    from torch import Tensor

SEED = "none: secure draws on a GPU"
"""What stands in the settings of stored numbers in place of the seed they were drawn from."""

_DRAWS_AT_ONCE = 1 << 24


@runtime_checkable
class DrawsRepeatedly(Protocol):
    """A search that draws many times where the words are, and leaves what it drew there."""

    def draw_repeatedly(
        self, ids: Ids, noise: RadialNoise, epsilon: float, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return the ids and what each becomes in so many draws, one row a word, on the device."""
        ...


class GpuDraws:
    """Draws of the word nearest to a vector plus noise, made and counted on a GPU. The noise is secure: no
    two runs are the same."""

    def __init__(self, search: DrawsRepeatedly, noise: RadialNoise, *, epsilon: float, draws: int) -> None:
        self._search, self._noise, self._epsilon, self._draws = search, noise, epsilon, draws

    @property
    def words_at_once(self) -> int:
        """How many words are best asked for at once."""
        return max(1, _DRAWS_AT_ONCE // self._draws)

    def of_each(self, ids: Ids) -> Iterator[Ids]:
        """Yield for each word what it became, draw by draw."""
        for start in range(0, len(ids), self.words_at_once):
            _, drawn = self._search.draw_repeatedly(
                ids[start : start + self.words_at_once], self._noise, self._epsilon, self._draws
            )
            yield from drawn.cpu().numpy().astype(np.int64)

    def counts(self, ids: Ids) -> Iterator[tuple[Ids, Ids]]:
        """Yield for each word the words that came out, in order, and how often each did."""
        for start in range(0, len(ids), self.words_at_once):
            _, drawn = self._search.draw_repeatedly(
                ids[start : start + self.words_at_once], self._noise, self._epsilon, self._draws
            )
            ordered = drawn.sort(dim=1).values
            first = ordered.diff(dim=1, prepend=ordered[:, :1] - 1) != 0
            sizes = first.sum(dim=1).cpu().numpy()
            places = first.flatten().nonzero()[:, 0]
            ends = places.diff(append=places.new_full((1,), ordered.numel()))
            outputs, counts = ordered.flatten()[places].cpu().numpy().astype(np.int64), ends.cpu().numpy()
            borders = np.cumsum(sizes)[:-1]
            yield from zip(np.split(outputs, borders), np.split(counts, borders), strict=True)
