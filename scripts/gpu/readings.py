"""What a receiver and an attacker read from released words, with whole matrices on a GPU: for experiments,
where the product takes minutes.

The sums are those of ``deniable.decoding``: Bayes' rule, the iterative Bayesian update stopped by held-out
records, forward–backward over bigrams. Here no candidate is left out: the posterior of a released word is
over all input words. ``Receiver`` gives features for linear models (models.py), ``Attacker`` says what is
named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from deniable.arrays import Floats, Ids
from scripts.gpu.draws import Drawing

HELD_OUT, MOST_STEPS, PATIENCE, WORTH_A_STEP = 5, 500, 3, 1e-4
TEXTS_AT_ONCE = 256
_SAMPLED = 400_000


@dataclass(frozen=True)
class Texts:
    """Words of texts by number, ⊥ last, and their labels."""

    ids: Ids
    offsets: Ids
    labels: Ids
    words: int

    @property
    def owners(self) -> Ids:
        """The text of each word."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.offsets))

    @property
    def shares(self) -> Floats:
        """How often each word occurs, ⊥ last."""
        return np.bincount(self.ids, minlength=self.words + 1) / len(self.ids)

    def counts(self, ids: torch.Tensor) -> torch.Tensor:
        """Return how often each word stands in each text, whole."""
        counts = torch.zeros((len(self.labels), self.words + 1), device=ids.device)
        ones = torch.ones(len(ids), device=ids.device)
        return counts.index_put_((torch.tensor(self.owners, device=ids.device), ids), ones, accumulate=True)


class Attacker:
    """A Bayes attacker who knows the true frequencies of the words of the texts, and the channel; ``kinds``
    are -1 where there is none."""

    def __init__(self, drawing: Drawing, texts: Texts, kinds: Ids) -> None:
        self.drawing, self.device = drawing, drawing.device
        self.inputs = np.flatnonzero(texts.shares).astype(np.int64)
        self.shares = torch.tensor(texts.shares[self.inputs], device=self.device, dtype=torch.float32)
        self.kinds = torch.tensor(kinds[self.inputs], device=self.device)
        having = torch.where(self.kinds >= 0, self.shares, 0.0)
        self.content = having / having.sum()
        self.of_kind = torch.zeros((int(self.kinds.max()) + 1, len(self.inputs)), device=self.device)
        self.of_kind[self.kinds.clamp(min=0), torch.arange(len(self.inputs), device=self.device)] = (
            self.content
        )
        places = np.full(texts.words + 1, -1, dtype=np.int64)
        places[self.inputs] = np.arange(len(self.inputs))
        self.places = torch.tensor(places, device=self.device)
        self.sample = np.tile(texts.ids, -(-_SAMPLED // len(texts.ids)))
        self.true = self.places[torch.tensor(self.sample, device=self.device, dtype=torch.long)]

    def guesses(self, chances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the place of the likeliest input, and the likeliest kind, of each output; ``chances`` has a
        row for each of the inputs."""
        best = torch.full((chances.shape[1],), -1.0, device=self.device)
        which = torch.zeros(chances.shape[1], dtype=torch.long, device=self.device)
        for start in range(0, len(chances), 2048):
            top, where = (chances[start : start + 2048] * self.shares[start : start + 2048, None]).max(0)
            which, best = torch.where(top > best, where + start, which), torch.maximum(top, best)
        return which, (self.of_kind @ chances).argmax(0)

    def names(self, chances: torch.Tensor, epsilon: float) -> dict[str, float]:
        """Return the expected shares of words and of kinds that it names: judged on draws of their own."""
        word, kind = self.guesses(chances)
        if not self.drawing.exact:
            # As many draws of a word as it is frequent: a few of each would leave the answer to those of the
            # most frequent ones.
            fresh = self.drawing.release(self.sample, epsilon)
            having = self.kinds[self.true] >= 0
            right, of_kind = (
                (word[fresh] == self.true).float(),
                (kind[fresh] == self.kinds[self.true])[having].float(),
            )
            return {"word": float(right.mean()), "kind": float(of_kind.mean())}
        rows = torch.arange(len(word), device=self.device)
        sure = torch.zeros(len(self.inputs), device=self.device).index_add_(0, word, chances[word, rows])
        same = torch.stack(
            [(row * (kind == number)).sum() for row, number in zip(chances, self.kinds, strict=True)]
        )
        return {"word": float((sure * self.shares).sum()), "kind": float((same * self.content).sum())}

    def named(self, chances: torch.Tensor, texts: Texts, released: torch.Tensor) -> dict[str, float]:
        """Return what it names of the words of a release, and blind guessing of the kind."""
        word, kind = self.guesses(chances)
        true = self.places[torch.tensor(texts.ids, device=self.device, dtype=torch.long)]
        having = self.kinds[true] >= 0
        return {
            "named": float((word[released] == true).float().mean()),
            "kind_named": float((kind[released] == self.kinds[true])[having].float().mean()),
            "kind_blind": float(self.of_kind.sum(1).max()),
        }


class Receiver:
    """Knows the release, the embedding, the mechanism and ε: ``chances`` has a row for each of ``inputs``."""

    def __init__(self, chances: torch.Tensor, inputs: Ids, start: Floats, words: int) -> None:
        self.chances, self.words = chances, words
        self.inputs = torch.tensor(inputs, device=chances.device)
        self.start = torch.tensor(start / start.sum(), device=chances.device, dtype=torch.float64)

    def learn_shares(self, counts: torch.Tensor, *, weight: float) -> tuple[torch.Tensor, int]:
        """Return the shares of input words behind a release, and in how many steps; every fifth text says
        when to stop."""
        everything = counts[:, : self.words].double().sum(0)
        held = counts[::HELD_OUT, : self.words].double().sum(0)
        learnt, shares = everything - held, self.start
        best, best_at = self._likelihood(held, self._outputs(shares)), 0
        for step in range(1, MOST_STEPS + 1):
            shares = self._step(learnt, shares, weight * float(learnt.sum()))
            reached = self._likelihood(held, self._outputs(shares))
            if reached > best + WORTH_A_STEP:
                best, best_at = reached, step
            if step - best_at >= PATIENCE:
                break
        shares = self.start
        number = max(best_at, 1)
        for _ in range(number):
            shares = self._step(everything, shares, weight * float(everything.sum()))
        return shares, number

    def likeliest(self, shares: torch.Tensor) -> torch.Tensor:
        """Return the id of the likeliest input behind each output."""
        best, which = self.chances.new_full((self.words,), -1.0), self.inputs.new_zeros(self.words)
        for start in range(0, len(self.chances), 2048):
            top, where = (
                self.chances[start : start + 2048] * shares[start : start + 2048, None].float()
            ).max(0)
            which, best = torch.where(top > best, self.inputs[where + start], which), torch.maximum(top, best)
        return which

    def expected(self, counts: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """Return how often each word is expected in each text."""
        whole = torch.zeros_like(counts)
        weighted = counts[:, : self.words] / self._outputs(shares).float().clamp(min=1e-30)
        return whole.index_copy_(1, self.inputs, (weighted @ self.chances.T) * shares.float())

    def _outputs(self, shares: torch.Tensor) -> torch.Tensor:
        return (shares.float() @ self.chances).double()

    def _step(self, observed: torch.Tensor, shares: torch.Tensor, weight: float) -> torch.Tensor:
        total = observed.sum()
        ratios = observed / self._outputs(shares).clamp(min=1e-30) / total
        updated = shares * (self.chances @ ratios.float()).double()
        updated = (total * updated + weight * self.start) / (total + weight)
        return updated / updated.sum()

    @staticmethod
    def _likelihood(observed: torch.Tensor, expected: torch.Tensor) -> float:
        seen = observed > 0
        return float((observed[seen] * expected[seen].clamp(min=1e-30).log()).sum() / observed.sum())


class InContext:
    """Reads whole texts: forward–backward over bigrams of public text that back off to the shares of input
    words."""

    def __init__(self, inputs: Ids, shares: torch.Tensor, bigrams: Any, texts: Texts) -> None:
        follows = bigrams.follows.tocsr()[inputs][:, inputs].tocoo()
        self.texts, self.shares, device = texts, shares, shares.device
        self.inputs = torch.tensor(inputs, device=device)
        steps = (
            torch.tensor(bigrams.backing_off[inputs], device=device, dtype=torch.float32)[:, None]
            * shares[None]
        )
        places = tuple(
            torch.tensor(np.asarray(each), device=device, dtype=torch.long)
            for each in (follows.row, follows.col)
        )
        self.steps = steps.index_put_(
            places, torch.tensor(follows.data, device=device, dtype=torch.float32), accumulate=True
        )
        there = torch.full((texts.words + 1,), -1, dtype=torch.long, device=device)
        there[self.inputs] = torch.arange(len(inputs), device=device)
        self.true = there[torch.tensor(texts.ids, device=device, dtype=torch.long)]

    def named(self, chances: torch.Tensor, released: torch.Tensor) -> float:
        """Return the share of the words of a release that it names; ``chances`` has a row for each input."""
        return sum(right for _, right, _ in self._read(chances, released)) / len(self.texts.ids)

    def expected(self, chances: torch.Tensor, released: torch.Tensor) -> tuple[float, torch.Tensor]:
        """Return the share of words that it names, and how often each word is expected in each text."""
        whole, right = torch.zeros((len(self.texts.labels), self.texts.words + 1), device=chances.device), 0
        for own, found, counts in self._read(chances, released):
            whole[own[:, None], self.inputs[None]] = counts
            right += found
        return right / len(self.texts.ids), whole

    def _read(
        self, chances: torch.Tensor, released: torch.Tensor
    ) -> Iterator[tuple[torch.Tensor, int, torch.Tensor]]:
        """Yield some texts at a time: which they are, how many of their words are named, and how often each
        input is expected in each."""
        lengths, starts = np.diff(self.texts.offsets), self.texts.offsets[:-1]
        order = np.argsort(lengths, kind="stable")
        by_output = chances.T.contiguous()
        for begin in range(0, len(order), TEXTS_AT_ONCE):
            own = order[begin : begin + TEXTS_AT_ONCE]
            longest = int(lengths[own].max())
            if longest:
                places = np.minimum(starts[own][:, None] + np.arange(longest), len(self.texts.ids) - 1)
                inside = np.arange(longest) < lengths[own][:, None]
                there = [torch.tensor(each, device=chances.device) for each in (own, places, inside)]
                yield there[0], *self._of_some(by_output, released, there[1], there[2])

    def _of_some(
        self, by_output: torch.Tensor, released: torch.Tensor, places: torch.Tensor, inside: torch.Tensor
    ) -> tuple[int, torch.Tensor]:
        def scaled(each: torch.Tensor) -> torch.Tensor:
            return each / each.sum(1, keepdim=True).clamp(min=1e-30)

        seen = [by_output[released[places[:, step]]] for step in range(places.shape[1])]
        forward = [scaled(self.shares * seen[0])]
        for step in range(1, len(seen)):
            onward = scaled((forward[-1] @ self.steps) * seen[step])
            forward.append(torch.where(inside[:, step, None], onward, forward[-1]))
        backward, right, counts = torch.ones_like(forward[0]), 0, torch.zeros_like(forward[0])
        for step in range(len(seen) - 1, -1, -1):
            here = inside[:, step]
            posterior = scaled(forward[step] * backward)
            right += int(((posterior.argmax(1) == self.true[places[:, step]]) & here).sum())
            counts += posterior * here[:, None]
            before = scaled((backward * seen[step]) @ self.steps.T)
            backward = torch.where(here[:, None], before, backward)
        return right, counts
