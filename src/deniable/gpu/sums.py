"""The two sums over pairs of an input word and a shared point on a PyTorch device: what
``channel.point_sums`` does on the processor.

Points come from the processor and its public seed, so a channel has the same numbers on both, as far as
float32 goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.arrays import Floats, Vectors
from deniable.gpu.devices import check_full_products, on_device, pytorch, usable_device
from deniable.progress import Report

if TYPE_CHECKING:
    from torch import Tensor

Taken = TypeVar("Taken")

_PAIRS_AT_ONCE = 1 << 26


class GpuSums:
    """The sums on a PyTorch device."""

    def __init__(
        self,
        inputs: Vectors,
        layers: list[Vectors],
        own: list[Floats],
        weights: Floats,
        log_shares: Floats,
        *,
        squared: bool,
        device: str,
        report: Report | None = None,
    ) -> None:
        """Compute the density of the mixture at every point. ``inputs`` and ``layers`` come with their
        squares; for the others see ``channel.points``."""
        self._torch, self._device = pytorch(), usable_device(device)
        check_full_products("a channel")
        self._squared, self._outputs = squared, len(log_shares)
        with self._torch.inference_mode():
            self._inputs, self._layers = (
                on_device(inputs, self._device),
                [on_device(layer, self._device) for layer in layers],
            )
            there, self._offsets = on_device(weights.astype(np.float32), self._device), list[Any]()
            done, total = 0, sum(map(len, own))
            for layer, distances in zip(self._layers, own, strict=True):
                log_densities = self._log_densities(layer, distances, there)
                offsets = log_shares[: len(distances)] - log_densities
                self._offsets.append(on_device(offsets.astype(np.float32), self._device))
                done += len(distances)
                if report is not None:
                    report(done, total)

    def rows(self, part: slice, take: Callable[[int, Vectors], Taken]) -> Iterator[Taken]:
        """Yield what ``take`` makes of blocks of rows; see ``channel.point_sums``."""
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
        offsets = on_device(own.astype(np.float32), self._device)
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
