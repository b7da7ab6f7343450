"""Word-level LSTM language models, many of one shape side by side: one matrix product serves all of them.

The target and its shadows are small, and there are many: trained one after the other they leave an
accelerator idle. Each weight has a first axis over the models. No number of one model ever enters another.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from deniable.audit.draws import Users
from deniable.lab.membership.auditor import BINS, PROTOCOL_BINS, WIDTH, Job, LanguageModelSettings
from deniable.progress import Report

Codes = NDArray[np.int32]
Streams = Sequence[Codes]
"""What each user wrote in one condition: word codes, with END after every text."""

END = 0
"""The code that ends every text; words have codes from 1."""

PADDING, TEXT_END, UNKNOWN = 0, 1, 2
_FIRST_WORD = 3
_ROWS_AT_ONCE = {"cpu": 64, "cuda": 1024}


def encode_conditions(conditions: Mapping[str, Users]) -> dict[str, Streams]:
    """Return the words of all conditions as streams, with one code per word."""
    codes: dict[str, int] = {}

    def code(texts: list[list[str]]) -> Codes:
        flat = [[*(codes.setdefault(word, len(codes) + 1) for word in words), END] for words in texts]
        return np.array([each for text in flat for each in text], dtype=np.int32)

    return {name: [code(texts) for texts in users] for name, users in conditions.items()}


class Vocabulary:
    """The words a model knows: the most frequent of the text it was trained on.

    It maps word codes to a model's own numbers: padding, the end of a text, the unknown word, then words by
    frequency.
    """

    def __init__(self, texts: Streams, *, size: int) -> None:
        trained_on = np.concatenate(texts)
        codes, counts = np.unique(trained_on[trained_on != END], return_counts=True)
        kept = codes[np.lexsort((codes, -counts))][: size - _FIRST_WORD]
        self._numbers = np.full(int(trained_on.max(initial=0)) + 1, UNKNOWN, dtype=np.int32)
        self._numbers[kept] = np.arange(_FIRST_WORD, _FIRST_WORD + len(kept))
        self._numbers[END] = TEXT_END

    def encode(self, tokens: Codes) -> NDArray[np.int32]:
        """Return the model's numbers of word codes."""
        heard = tokens < len(self._numbers)
        return np.where(heard, self._numbers[np.where(heard, tokens, 0)], UNKNOWN).astype(np.int32)


def sequences(numbers: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Return one user's numbers cut into rows of ``length`` + 1: each row's words and, shifted by one, the
    words to predict.

    Rows overlap by one number, so that every word but the first is predicted once. The last row is padded.
    """
    rows = max(1, -(-(len(numbers) - 1) // length))
    padded = np.full(rows * length + 1, PADDING, dtype=np.int32)
    padded[: len(numbers)] = numbers
    return np.lib.stride_tricks.sliding_window_view(padded, length + 1)[::length].copy()


def run_jobs(
    jobs: Sequence[Job],
    conditions: Mapping[str, Streams],
    settings: LanguageModelSettings,
    *,
    seed: int,
    device: torch.device,
    report: Report | None = None,
) -> dict[str, NDArray[np.int32]]:
    """Train the jobs' models side by side and return, by job, rank counts (conditions asked, users, bins)."""
    vocabularies = [
        Vocabulary([conditions[job.trained_on][user] for user in job.members], size=settings.vocabulary)
        for job in jobs
    ]
    texts = [
        np.concatenate(
            [_rows(conditions[job.trained_on], user, vocabulary, settings) for user in job.members]
        )
        for job, vocabulary in zip(jobs, vocabularies, strict=True)
    ]
    steps, done = settings.epochs + len(jobs), 0

    def count_step() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, steps)

    models = train(texts, settings, seed=seed, device=device, after_epoch=count_step)
    found = {}
    for place, (job, vocabulary) in enumerate(zip(jobs, vocabularies, strict=True)):
        rows = [
            _rows(conditions[name], user, vocabulary, settings) for name in job.asked for user in job.users
        ]
        found[job.name] = rank_counts(models.one(place), rows).reshape(len(job.asked), len(job.users), -1)
        count_step()
    return found


def _rows(
    streams: Streams, user: int, vocabulary: Vocabulary, settings: LanguageModelSettings
) -> NDArray[np.int32]:
    return sequences(vocabulary.encode(streams[user]), settings.sequence)


class LanguageModels:
    """``count`` models: embedding, one LSTM layer, softmax; dropout before and after the LSTM."""

    def __init__(
        self, count: int, settings: LanguageModelSettings, *, seed: int, device: torch.device
    ) -> None:
        self.count, self.settings, self.device = count, settings, device
        words, wide, hidden = settings.vocabulary, settings.embedding, settings.hidden
        self._generator = torch.Generator(device=device).manual_seed(seed)
        self.embedding = self._uniform((count, words, wide), 0.05)
        self.inwards = self._uniform((count, wide, 4 * hidden), (6.0 / (wide + 4 * hidden)) ** 0.5)
        self.recurrent = self._uniform((count, hidden, 4 * hidden), hidden**-0.5)
        self.bias = torch.zeros((count, 1, 4 * hidden), device=device)
        self.bias[:, :, hidden : 2 * hidden] = 1.0  # remember at first: the usual start of the forget gate
        self.outwards = self._uniform((count, hidden, words), (6.0 / (words + hidden)) ** 0.5)
        self.offset = torch.zeros((count, 1, words), device=device)
        for weight in self.weights:
            weight.requires_grad_(True)

    @property
    def weights(self) -> list[torch.Tensor]:
        """Everything that is trained."""
        return [self.embedding, self.inwards, self.recurrent, self.bias, self.outwards, self.offset]

    def one(self, model: int) -> LanguageModels:
        """Return one of the models; it shares its weights with this one."""
        single = copy.copy(self)
        single.count = 1
        single.embedding, single.inwards, single.recurrent, single.bias, single.outwards, single.offset = (
            weight.detach()[model : model + 1] for weight in self.weights
        )
        return single

    def logits(self, words: torch.Tensor, *, training: bool) -> torch.Tensor:
        """Return the scores of the next word: (models, batch · length, vocabulary) for words (models, batch,
        length)."""
        models, batch, length = words.shape
        rows = words + self.settings.vocabulary * torch.arange(models, device=self.device)[:, None, None]
        # index_select and not an embedding layer: its backward pass adds rows in place, without sorting them
        # first.
        vectors = self.embedding.reshape(-1, self.settings.embedding).index_select(0, rows.reshape(-1))
        vectors = self._dropped(vectors.reshape(models, batch * length, -1), training)
        inputs = torch.baddbmm(self.bias, vectors, self.inwards).reshape(models, batch, length, -1)
        states = self._dropped(self._states(inputs).reshape(models, batch * length, -1), training)
        return torch.baddbmm(self.offset, states, self.outwards)

    def _states(self, inputs: torch.Tensor) -> torch.Tensor:
        models, batch, _, wide = inputs.shape
        hidden = torch.zeros((models, batch, wide // 4), device=self.device)
        cell, states = hidden, []
        for step in inputs.unbind(2):
            take, keep, candidate, show = torch.baddbmm(step, hidden, self.recurrent).chunk(4, 2)
            cell = torch.sigmoid(keep) * cell + torch.sigmoid(take) * torch.tanh(candidate)
            hidden = torch.sigmoid(show) * torch.tanh(cell)
            states.append(hidden)
        return torch.stack(states, 2)

    def losses(self, rows: torch.Tensor) -> torch.Tensor:
        """Return each model's mean cross-entropy over the words to predict, for rows (models, batch, length +
        1)."""
        scores = self.logits(rows[:, :, :-1], training=True)
        wanted = rows[:, :, 1:].reshape(-1)
        each = functional.cross_entropy(
            scores.reshape(len(wanted), -1), wanted, ignore_index=PADDING, reduction="none"
        )
        counted = (wanted != PADDING).reshape(self.count, -1).sum(1).clamp(min=1)
        return each.reshape(self.count, -1).sum(1) / counted

    def _dropped(self, values: torch.Tensor, training: bool) -> torch.Tensor:
        kept = 1.0 - self.settings.dropout
        if not training or kept == 1.0:
            return values
        mask = torch.rand(values.shape, device=self.device, generator=self._generator) < kept
        return values * mask / kept

    def _uniform(self, shape: tuple[int, ...], limit: float) -> torch.Tensor:
        return torch.empty(shape, device=self.device).uniform_(-limit, limit, generator=self._generator)


def rank_counts(models: LanguageModels, users: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return for each user, given as rows, how many of the words they wrote have a rank in each bin, by the
    first of the models.

    Words that the model does not know get the highest rank; ends of texts are not counted.
    """
    device = models.device
    rows = np.concatenate(list(users))
    owners = np.repeat(np.arange(len(users)), [len(part) for part in users])
    counts = torch.zeros(len(users) * BINS, dtype=torch.int32, device=device)
    at_once = _ROWS_AT_ONCE.get(device.type, 64)
    with torch.no_grad():
        for start in range(0, len(rows), at_once):
            part = torch.from_numpy(rows[start : start + at_once]).to(device).long()[None]
            whose = torch.from_numpy(owners[start : start + at_once]).to(device)
            wanted = part[0, :, 1:].reshape(-1)
            scores = models.logits(part[:, :, :-1], training=False)[0]
            ranks = (scores > scores.gather(1, wanted[:, None])).sum(1)
            coarse = WIDTH - 1 + torch.div(ranks, WIDTH, rounding_mode="floor").clamp(max=PROTOCOL_BINS - 1)
            bins = torch.where(wanted == UNKNOWN, BINS - 1, torch.where(ranks < WIDTH, ranks, coarse))
            counted = (wanted != PADDING) & (wanted != TEXT_END)
            places = (whose.repeat_interleave(part.shape[2] - 1) * BINS + bins)[counted]
            counts.index_add_(0, places, torch.ones_like(places, dtype=torch.int32))
    return counts.reshape(len(users), BINS).cpu().numpy()


def train(
    texts: Sequence[NDArray[np.int32]],
    settings: LanguageModelSettings,
    *,
    seed: int,
    device: torch.device,
    after_epoch: Callable[[], None] | None = None,
) -> LanguageModels:
    """Return one trained model per text, given as rows of ``settings.sequence`` + 1 numbers.

    Every model sees each of its rows once per epoch, in an order of its own. ``after_epoch`` is called after
    each epoch.
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
        if after_epoch is not None:
            after_epoch()
    return models


def _order(
    texts: Sequence[NDArray[np.int32]],
    starts: NDArray[np.int64],
    blank: int,
    batch: int,
    orders: np.random.Generator,
) -> NDArray[np.int64]:
    """Return (steps, models, batch) row numbers; a model with fewer rows ends with blank ones, which teach
    nothing."""
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
