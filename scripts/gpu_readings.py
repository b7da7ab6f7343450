"""What a receiver and an attacker read from released words, with whole matrices on a GPU: for experiments, where the product takes minutes.

The sums are those of ``deniable.decoding``: Bayes' rule, the iterative Bayesian update stopped by held-out records, forward–backward over
bigrams. Here no candidate is left out: the posterior of a released word is over all input words. ``Receiver`` gives features for linear
models, ``learn`` fits these (the losses of scikit-learn's LogisticRegression), ``Attacker`` says what is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from deniable.arrays import Floats, Ids
from gpu_draws import Drawing

STRENGTHS = {"words": (1.0, 10.0, 100.0, 1000.0), "vectors": (0.01, 0.1, 1.0)}
"""1/regularisation to choose from; the second of vectors and the first of words is what is taken where nothing is chosen."""
FIXED = {"words": 1.0, "vectors": 0.1}
VALIDATED = 0.2
HELD_OUT, MOST_STEPS, PATIENCE, WORTH_A_STEP = 5, 500, 3, 1e-4
TEXTS_AT_ONCE = 256
_SAMPLED, _COLUMNS, _JITTER = 400_000, 4096, 1e-9
_NEWTON_STEPS, _GRADIENTS, _HALVED, _STILL, _ARRIVED, _FLAT = 12, 25, 6, 1e-3, 1e-10, 1e-7


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
    """A Bayes attacker who knows the true frequencies of the words of the texts, and the channel; ``kinds`` are -1 where there is none."""

    def __init__(self, drawing: Drawing, texts: Texts, kinds: Ids) -> None:
        self.drawing, self.device = drawing, drawing.device
        self.inputs = np.flatnonzero(texts.shares).astype(np.int64)
        self.shares = torch.tensor(texts.shares[self.inputs], device=self.device, dtype=torch.float32)
        self.kinds = torch.tensor(kinds[self.inputs], device=self.device)
        having = torch.where(self.kinds >= 0, self.shares, 0.0)
        self.content = having / having.sum()
        self.of_kind = torch.zeros((int(self.kinds.max()) + 1, len(self.inputs)), device=self.device)
        self.of_kind[self.kinds.clamp(min=0), torch.arange(len(self.inputs), device=self.device)] = self.content
        places = np.full(texts.words + 1, -1, dtype=np.int64)
        places[self.inputs] = np.arange(len(self.inputs))
        self.places = torch.tensor(places, device=self.device)
        self.sample = np.tile(texts.ids, -(-_SAMPLED // len(texts.ids)))
        self.true = self.places[torch.tensor(self.sample, device=self.device, dtype=torch.long)]

    def guesses(self, chances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the place of the likeliest input, and the likeliest kind, of each output; ``chances`` has a row for each of the inputs."""
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
            # As many draws of a word as it is frequent: a few of each would leave the answer to those of the most frequent ones.
            fresh = self.drawing.release(self.sample, epsilon)
            having = self.kinds[self.true] >= 0
            right, of_kind = (word[fresh] == self.true).float(), (kind[fresh] == self.kinds[self.true])[having].float()
            return {"word": float(right.mean()), "kind": float(of_kind.mean())}
        rows = torch.arange(len(word), device=self.device)
        sure = torch.zeros(len(self.inputs), device=self.device).index_add_(0, word, chances[word, rows])
        same = torch.stack([(row * (kind == number)).sum() for row, number in zip(chances, self.kinds, strict=True)])
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
        """Return the shares of input words behind a release, and in how many steps; every fifth text says when to stop."""
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
            top, where = (self.chances[start : start + 2048] * shares[start : start + 2048, None].float()).max(0)
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


def word_weights(counts: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return TF-IDF of length 1, as ``deniable.learning.soft_counts`` has it; how rare a word is comes from the texts learnt from."""
    held = torch.zeros(counts.shape[1], device=counts.device)
    for part in torch.split(learnt, 1024):
        held += counts[part].clamp(max=1.0).sum(0)
    return torch.nn.functional.normalize(counts * (torch.log((1.0 + len(learnt)) / (1.0 + held)) + 1.0), dim=1)


def standardised(features: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return features of mean 0 and spread 1 in the texts learnt from."""
    return (features - features[learnt].mean(0)) / features[learnt].std(0, unbiased=False).clamp(min=1e-9)


def mean_vectors(counts: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the mean vector of the words of each text; ``vectors`` has that of ⊥ last."""
    return counts @ vectors / counts.sum(1, keepdim=True).clamp(min=1e-9)


def fit(features: torch.Tensor, labels: torch.Tensor, strengths: Sequence[float]) -> list[torch.Tensor]:
    """Return the weights, the last row without penalty, of multinomial logistic regressions with the loss of scikit-learn, one a strength.

    Newton's method, whose steps conjugate gradients solve for; all strengths go together, as the time is that of reading the features. A
    card waits for its processor once a step of Newton only: L-BFGS asks it for a number some ten times a step.
    """
    classes, device = int(labels.max()) + 1, features.device
    # The library has one vector for two classes, in place of two opposite ones.
    penalty = torch.tensor([(2.0 if classes == 2 else 1.0) / each for each in strengths], device=device)[None, :, None]
    penalty = penalty.repeat(features.shape[1] + 1, 1, 1)
    penalty[-1] = 0.0
    wanted = torch.nn.functional.one_hot(labels, classes).to(features.dtype)[:, None]
    weights = torch.zeros((features.shape[1] + 1, len(strengths), classes), device=device)
    sizes = torch.tensor([2.0**-halved for halved in range(_HALVED)] + [0.0], device=device)

    def scores(of: torch.Tensor) -> torch.Tensor:
        return torch.addmm(of[-1].flatten(), features, of[:-1].flatten(1)).view(len(features), *of.shape[1:])

    def gathered(of: torch.Tensor) -> torch.Tensor:
        return torch.cat([(features.T @ of.flatten(1)).view(-1, *of.shape[1:]), of.sum(0, keepdim=True)])

    def solved(chances: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        def curved(along: torch.Tensor) -> torch.Tensor:
            moved = scores(along)
            return gathered(chances * (moved - (chances * moved).sum(2, keepdim=True))) + penalty * along

        return _solved(curved, right)

    solve = None
    for _ in range(_NEWTON_STEPS):
        now = scores(weights)
        chances = torch.softmax(now, 2)
        slope = gathered(chances - wanted) + penalty * weights

        solve = solve or recorded(solved, chances, -slope)
        step = solve(chances, -slope)
        onward, costs = scores(step), []
        for size in sizes:
            missed = -(wanted * torch.log_softmax(now + size * onward, 2)).sum((0, 2))
            costs.append(missed + 0.5 * (penalty * (weights + size * step).square()).sum((0, 2)))
        taken = sizes[torch.stack(costs).argmin(0)][None, :, None] * step
        weights = weights + taken
        if float((taken.abs().amax((0, 2)) / weights.abs().amax((0, 2)).clamp(min=1e-9)).max()) < _STILL:
            break
    return list(weights.unbind(1))


def recorded(of: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Callable[..., torch.Tensor]:
    """Return a function that does the same with inputs like these; on a card its steps are recorded once, and run without being asked for.

    Steps are many and small here, and others share the card: each one that is asked for by itself waits its turn.
    """
    if inputs[0].device.type != "cuda":
        return of
    held = [each.clone() for each in inputs]
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()  # type: ignore[no-untyped-call,unused-ignore]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        of(*held)  # libraries make ready what they need
        torch.cuda.synchronize()
        graph.capture_begin()
        found = of(*held)
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)

    def again(*inputs: torch.Tensor) -> torch.Tensor:
        for place, each in zip(held, inputs, strict=True):
            place.copy_(each)
        graph.replay()
        return found.clone()

    return again


def _solved(product: Callable[[torch.Tensor], torch.Tensor], right: torch.Tensor) -> torch.Tensor:
    """Return x with product(x) = right, nearly, for each strength, by conjugate gradients; where they have arrived they stay."""

    def together(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return (one * other).sum((0, 2), keepdim=True)

    found, rest, along = torch.zeros_like(right), right, right
    size = begin = together(rest, rest)
    for _ in range(_GRADIENTS):
        made = product(along)
        bent = together(along, made)
        # The same number for every class is no change: in that direction nothing bends but by rounding.
        moving = (size > _ARRIVED * begin) & (bent > _FLAT * together(along, along))
        far = torch.where(moving, size / bent, 0.0)
        found, rest = found + far * along, rest - far * made
        fresh = together(rest, rest)
        along = rest + fresh / size.clamp(min=1e-30) * along
        size = fresh
    return found


class Span:
    """Texts as numbers in the space that the texts learnt from span: as many numbers as there are texts, where words are more.

    A model with a squared penalty has weights in that space, and all it needs are the products of texts. An orthonormal basis of the space
    keeps these, so that the same model is learnt, and every step is the same but for rounding.
    """

    def __init__(self, learnt: torch.Tensor) -> None:
        self.learnt, self.factor = learnt, None
        if learnt.shape[1] > len(learnt):
            products = _products(learnt, learnt)
            # Equal and empty texts make it singular.
            products.diagonal().add_(_JITTER * float(products.diagonal().mean()))
            self.factor = torch.linalg.cholesky(products)

    def own(self) -> torch.Tensor:
        """Return the coordinates of the texts learnt from."""
        return self.learnt if self.factor is None else self.factor.float()

    def of(self, features: torch.Tensor) -> torch.Tensor:
        """Return the coordinates of texts; those of texts not learnt from lack what lies outside the space, where all weights are 0."""
        if self.factor is None:
            return features
        found: torch.Tensor = torch.linalg.solve_triangular(self.factor, _products(self.learnt, features), upper=False)
        return found.T.float()


def _products(ones: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return the products of rows, in float64, a part of the columns at a time."""
    found = torch.zeros((len(ones), len(others)), device=ones.device, dtype=torch.float64)
    for mine, theirs in zip(torch.split(ones, _COLUMNS, 1), torch.split(others, _COLUMNS, 1), strict=True):
        found.addmm_(mine.double(), theirs.double().T)
    return found


def accuracy(weights: torch.Tensor, features: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the share of labels that are right."""
    return float(((features @ weights[:-1] + weights[-1]).argmax(1) == labels).float().mean())


@dataclass(frozen=True)
class Split:
    """Texts to learn from and to judge by; of the former, a part that chooses the regularisation."""

    labels: torch.Tensor
    learnt: torch.Tensor
    judged: torch.Tensor

    def learn(self, features: torch.Tensor, kind: str, *, others: dict[str, torch.Tensor] | None = None) -> dict[str, float]:
        """Return accuracies of a linear model: ``both`` with the fixed regularisation, ``chosen`` with that chosen on validation texts.

        ``others`` are features that the model, having learnt from these, is judged on as well.
        """
        order = torch.randperm(len(self.learnt), generator=torch.Generator().manual_seed(0)).to(self.learnt.device)
        cut = int(VALIDATED * len(order))
        checked, first = self.learnt[order[:cut]], self.learnt[order[cut:]]
        made = self._made(features, kind, first)
        span = Span(made[first])
        shown, models = span.of(made[checked]), fit(span.own(), self.labels[first], STRENGTHS[kind])
        reached = {at: accuracy(model, shown, self.labels[checked]) for at, model in zip(STRENGTHS[kind], models, strict=True)}
        best = max(reached, key=lambda strength: (reached[strength], -strength))
        made = self._made(features, kind, self.learnt)
        span = Span(made[self.learnt])
        shown = span.of(made[self.judged])
        fixed, chosen = fit(span.own(), self.labels[self.learnt], (FIXED[kind], best))
        found = {name: accuracy(model, shown, self.labels[self.judged]) for name, model in (("both", fixed), ("chosen", chosen))}
        found |= {"strength": best, "validation": reached[best]}
        for name, other in (others or {}).items():
            shown = span.of(self._made(other, kind, self.learnt)[self.judged])
            found[name] = accuracy(fixed, shown, self.labels[self.judged])
        return found

    def _made(self, features: torch.Tensor, kind: str, learnt: torch.Tensor) -> torch.Tensor:
        return word_weights(features, learnt) if kind == "words" else standardised(features, learnt)


class InContext:
    """Reads whole texts: forward–backward over bigrams of public text that back off to the shares of input words."""

    def __init__(self, inputs: Ids, shares: torch.Tensor, bigrams: Any, texts: Texts) -> None:
        follows = bigrams.follows.tocsr()[inputs][:, inputs].tocoo()
        self.texts, self.shares, device = texts, shares, shares.device
        self.inputs = torch.tensor(inputs, device=device)
        steps = torch.tensor(bigrams.backing_off[inputs], device=device, dtype=torch.float32)[:, None] * shares[None]
        places = tuple(torch.tensor(np.asarray(each), device=device, dtype=torch.long) for each in (follows.row, follows.col))
        self.steps = steps.index_put_(places, torch.tensor(follows.data, device=device, dtype=torch.float32), accumulate=True)
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

    def _read(self, chances: torch.Tensor, released: torch.Tensor) -> Iterator[tuple[torch.Tensor, int, torch.Tensor]]:
        """Yield some texts at a time: which they are, how many of their words are named, and how often each input is expected in each."""
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
        scaled: Callable[[torch.Tensor], torch.Tensor] = lambda each: each / each.sum(1, keepdim=True).clamp(min=1e-30)  # noqa: E731
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
