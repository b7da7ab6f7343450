"""The two sums over pairs of an input word and a shared point on a PyTorch device: what ``point_sums`` does
on the processor.

Points come from the processor and its public seed, so a channel has the same numbers on both, as far as
float32 goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats, Vectors
from deniable.channel.point_sums import Taken, offsets_of, with_squares
from deniable.channel.points import SharedPoints
from deniable.gpu.devices import check_full_products, pytorch, usable_device
from deniable.progress import Report

if TYPE_CHECKING:
    from torch import Tensor

_PAIRS_AT_ONCE = 1 << 26


class CardSums:
    """The sums on a PyTorch device."""

    def __init__(self, points: SharedPoints, device: str, report: Report | None = None) -> None:
        """Compute the density of the mixture at every point; ``report`` is told of how many points it is
        known, of how many.

        :raises MissingExtra: if PyTorch is not installed.
        :raises InvalidParameter: if PyTorch has no such device here, or may use TF32, which does not tell
            distances well enough.
        """
        self._torch, self._device = pytorch(), usable_device(device)
        check_full_products("a channel")
        self._squared, self._outputs = points.squared, len(points.outputs)
        with self._torch.inference_mode():
            self._inputs = self._there(with_squares(points.inputs, 1.0))
            self._layers = [self._there(with_squares(layer.points, -2.0)) for layer in points.layers]
            weights, found = self._there(points.weights.astype(np.float32)), []
            done, total = 0, sum(len(layer.own) for layer in points.layers)
            for places, layer in zip(self._layers, points.layers, strict=True):
                found.append(self._log_densities(places, layer.own, weights))
                done += len(layer.own)
                if report is not None:
                    report(done, total)
            self._offsets = [self._there(each.astype(np.float32)) for each in offsets_of(points, found)]

    def rows(self, part: slice, take: Callable[[int, Vectors], Taken]) -> Iterator[Taken]:
        """Yield what ``take`` makes of blocks of rows; see ``PointSums``."""
        at_once = max(1, _PAIRS_AT_ONCE // self._outputs)
        for start in range(part.start, part.stop, at_once):
            with self._torch.inference_mode():
                inputs = self._inputs[start : min(start + at_once, part.stop)]
                rows = self._torch.zeros(
                    (len(inputs), self._outputs), dtype=self._torch.float32, device=self._device
                )
                for places, offsets in zip(self._layers, self._offsets, strict=True):
                    rows[:, : len(places)] += self._weighed(inputs, places, offsets)
                block = rows.cpu().numpy()
            yield take(start, block)

    def _log_densities(self, places: Tensor, own: Floats, weights: Tensor) -> Floats:
        offsets = self._there(own.astype(np.float32))
        sums = self._torch.zeros(len(places), dtype=self._torch.float64, device=self._device)
        at_once = max(1, _PAIRS_AT_ONCE // len(places))
        for start in range(0, len(self._inputs), at_once):
            part = slice(start, start + at_once)
            sums += weights[part] @ self._weighed(self._inputs[part], places, offsets)
        log_densities: Floats = sums.log().cpu().numpy() - own
        return log_densities

    def _weighed(self, inputs: Tensor, places: Tensor, offsets: Tensor) -> Tensor:
        """Return exp(offset - distance) for all pairs."""
        found: Tensor = (inputs @ places.T).clamp_(min=0.0)
        if not self._squared:
            found.sqrt_()
        return found.neg_().add_(offsets).exp_()

    def _there(self, numbers: np.ndarray[Any, Any]) -> Tensor:
        there: Tensor = self._torch.from_numpy(np.ascontiguousarray(numbers)).to(self._device)
        return there
