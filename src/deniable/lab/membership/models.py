"""Word-level LSTM language models of the auditor's protocol, one for each training text, and how highly they
rank the words of a user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deniable.arrays import Ids
from deniable.audit.draws import Users
from deniable.lab.membership.auditor import BINS, PROTOCOL_BINS, WIDTH, Job, LanguageModelSettings
from deniable.lab.neural.encoder import train

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
    """Maps word codes to a model's own numbers: padding, the end of a text, the unknown word, then the most
    frequent words of the text it was trained on."""

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
    """Return one user's numbers cut into rows of ``length`` + 1, the last one padded.

    Rows overlap by one number, so that every word but the first is predicted once.
    """
    rows = max(1, -(-(len(numbers) - 1) // length))
    padded = np.full(rows * length + 1, PADDING, dtype=np.int32)
    padded[: len(numbers)] = numbers
    return np.lib.stride_tricks.sliding_window_view(padded, length + 1)[::length].copy()


def run_job(
    job: Job,
    conditions: Mapping[str, Streams],
    settings: LanguageModelSettings,
    *,
    seed: int,
    device: torch.device,
    after_epoch: Callable[[int], None] = lambda _: None,
) -> NDArray[np.int32]:
    """Train the model of a job and return rank counts (conditions asked, users, bins)."""
    trained_on = conditions[job.trained_on]
    vocabulary = Vocabulary([trained_on[user] for user in job.members], size=settings.vocabulary)

    def rows(streams: Streams, user: int) -> Codes:
        return sequences(vocabulary.encode(streams[user]), settings.sequence)

    texts = np.concatenate([rows(trained_on, user) for user in job.members])
    torch.manual_seed(seed)
    model = LanguageModel(settings).to(device)
    train_model(model, texts, settings, seed=seed, after_epoch=after_epoch)
    asked = [rows(conditions[name], user) for name in job.asked for user in job.users]
    return rank_counts(model, asked).reshape(len(job.asked), len(job.users), -1)


class LanguageModel(nn.Module):
    """Embedding, one LSTM layer, softmax; dropout before and after the LSTM."""

    def __init__(self, settings: LanguageModelSettings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(settings.vocabulary, settings.embedding)
        self.lstm = nn.LSTM(settings.embedding, settings.hidden, batch_first=True)
        self.outwards = nn.Linear(settings.hidden, settings.vocabulary)
        self.dropout = nn.Dropout(settings.dropout)
        nn.init.uniform_(self.embedding.weight, -0.05, 0.05)
        nn.init.xavier_uniform_(self.outwards.weight)
        biases = dict(self.lstm.named_parameters())["bias_ih_l0"].data
        biases[settings.hidden : 2 * settings.hidden] += 1.0  # remember at first: the usual forget gate

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores of the next word: (batch · length, vocabulary) for words (batch, length)."""
        states = self.dropout(self.lstm(self.dropout(self.embedding(words)))[0])
        scores: Tensor = self.outwards(states.flatten(0, 1))
        return scores


def train_model(
    model: LanguageModel,
    texts: NDArray[np.int32],
    settings: LanguageModelSettings,
    *,
    seed: int,
    after_epoch: Callable[[int], None] = lambda _: None,
) -> None:
    """Train a model in place on rows of ``settings.sequence`` + 1 numbers."""
    rows = torch.from_numpy(texts).to(model.outwards.weight.device)
    orders, epochs = np.random.default_rng(seed), iter(range(settings.epochs))

    def batches(_: int) -> list[Ids]:
        order = orders.permutation(len(texts))
        return np.split(order, range(settings.batch, len(order), settings.batch))

    def loss(batch: Ids) -> Tensor:
        part = rows[torch.from_numpy(batch).to(rows.device)].long()
        scores, wanted = model(part[:, :-1]), part[:, 1:].flatten()
        return nn.functional.cross_entropy(scores, wanted, ignore_index=PADDING)

    train(
        model,
        torch.optim.Adam(model.parameters(), lr=settings.rate, fused=rows.device.type == "cuda"),
        batches,
        loss,
        lambda: float(next(epochs)),  # the last state is kept, as in the protocol
        epochs=settings.epochs,
        patience=settings.epochs,
        clip=settings.clip,
        after_epoch=after_epoch,
    )


def rank_counts(model: LanguageModel, users: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return for each user, given as rows, how many of the words they wrote have a rank in each bin.

    Words that the model does not know get the highest rank; ends of texts are not counted.
    """
    device = model.outwards.weight.device
    rows = np.concatenate(list(users))
    owners = np.repeat(np.arange(len(users)), [len(part) for part in users])
    counts = torch.zeros(len(users) * BINS, dtype=torch.int32, device=device)
    at_once = _ROWS_AT_ONCE.get(device.type, 64)
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(rows), at_once):
            part = torch.from_numpy(rows[start : start + at_once]).to(device).long()
            whose = torch.from_numpy(owners[start : start + at_once]).to(device)
            wanted = part[:, 1:].flatten()
            scores = model(part[:, :-1])
            ranks = (scores > scores.gather(1, wanted[:, None])).sum(1)
            coarse = WIDTH - 1 + torch.div(ranks, WIDTH, rounding_mode="floor").clamp(max=PROTOCOL_BINS - 1)
            bins = torch.where(wanted == UNKNOWN, BINS - 1, torch.where(ranks < WIDTH, ranks, coarse))
            counted = (wanted != PADDING) & (wanted != TEXT_END)
            places = (whose.repeat_interleave(part.shape[1] - 1) * BINS + bins)[counted]
            counts.index_add_(0, places, torch.ones_like(places, dtype=torch.int32))
    return counts.reshape(len(users), BINS).cpu().numpy()
