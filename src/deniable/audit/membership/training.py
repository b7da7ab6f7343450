"""Trains language models side by side, each on its own text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from deniable.audit.membership.language_models import LanguageModels
from deniable.audit.membership.settings import LanguageModelSettings
from deniable.audit.membership.vocabulary import PADDING


def train(
    texts: Sequence[NDArray[np.int32]],
    settings: LanguageModelSettings,
    *,
    seed: int,
    device: torch.device,
    report: Callable[[int], None] | None = None,
) -> LanguageModels:
    """Return one trained model per text, given as rows of ``settings.sequence`` + 1 numbers.

    Every model sees each of its rows once per epoch, in an order of its own. ``report`` is told after each epoch how many
    rows all models saw in it.
    """
    models = LanguageModels(len(texts), settings, seed=seed, device=device)
    optimiser = torch.optim.Adam(models.weights, lr=settings.rate, fused=device.type == "cuda")
    blank = sum(len(rows) for rows in texts)
    numbers = np.concatenate([*texts, np.full((1, settings.sequence + 1), PADDING, dtype=np.int32)])
    rows = torch.from_numpy(numbers).to(device)
    starts = np.cumsum([0, *(len(part) for part in texts)])
    orders = np.random.default_rng(seed)
    for _ in range(settings.epochs):
        order = torch.from_numpy(_order(texts, starts, blank, settings.batch, orders)).to(device)
        for batch in order.unbind(0):
            optimiser.zero_grad(set_to_none=True)
            models.losses(rows[batch].long()).sum().backward()  # type: ignore[no-untyped-call, unused-ignore]
            _clip(models.weights, settings.clip)
            optimiser.step()
        if report is not None:
            report(blank)
    return models


def _order(
    texts: Sequence[NDArray[np.int32]], starts: NDArray[np.int64], blank: int, batch: int, orders: np.random.Generator
) -> NDArray[np.int64]:
    """Return (steps, models, batch) row numbers; a model with fewer rows ends with blank ones, which teach nothing."""
    steps = max(-(-len(part) // batch) for part in texts)
    order = np.full((len(texts), steps * batch), blank, dtype=np.int64)
    for model, part in enumerate(texts):
        order[model, : len(part)] = starts[model] + orders.permutation(len(part))
    return np.ascontiguousarray(order.reshape(len(texts), steps, batch).transpose(1, 0, 2))


def _clip(weights: list[torch.Tensor], longest: float) -> None:
    """Shorten each model's gradient to at most ``longest``."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    parts = torch.stack([torch.linalg.vector_norm(gradient, dim=(1, 2)) for gradient in gradients])
    shrink = (longest / (torch.linalg.vector_norm(parts, dim=0) + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(shrink[:, None, None])
