"""Linear models of texts on a GPU, with the losses of scikit-learn's LogisticRegression: for experiments,
where the product takes minutes.

Features are whole matrices of words or mean vectors. ``Split`` learns and judges, ``Span`` makes words as few
numbers as there are texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

STRENGTHS = {"words": (1.0, 10.0, 100.0, 1000.0), "vectors": (0.01, 0.1, 1.0)}
"""1/regularisation to choose from; the second of vectors and the first of words is what is taken where
nothing is chosen."""
FIXED = {"words": 1.0, "vectors": 0.1}
VALIDATED = 0.2
_COLUMNS, _JITTER = 4096, 1e-9
_NEWTON_STEPS, _GRADIENTS, _HALVED, _STILL, _ARRIVED, _FLAT = 12, 25, 6, 1e-3, 1e-10, 1e-7


def word_weights(counts: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return TF-IDF of length 1, as ``deniable.learning.soft_counts`` has it; how rare a word is comes from
    the texts learnt from."""
    held = torch.zeros(counts.shape[1], device=counts.device)
    for part in torch.split(learnt, 1024):
        held += counts[part].clamp(max=1.0).sum(0)
    return torch.nn.functional.normalize(
        counts * (torch.log((1.0 + len(learnt)) / (1.0 + held)) + 1.0), dim=1
    )


def standardised(features: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return features of mean 0 and spread 1 in the texts learnt from."""
    return (features - features[learnt].mean(0)) / features[learnt].std(0, unbiased=False).clamp(min=1e-9)


def mean_vectors(counts: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the mean vector of the words of each text; ``vectors`` has that of ⊥ last."""
    return counts @ vectors / counts.sum(1, keepdim=True).clamp(min=1e-9)


def fit(features: torch.Tensor, labels: torch.Tensor, strengths: Sequence[float]) -> list[torch.Tensor]:
    """Return the weights, the last row without penalty, of multinomial logistic regressions with the loss of
    scikit-learn, one a strength.

    Newton's method, whose steps conjugate gradients solve for; all strengths go together, as the time is that
    of reading the features. A card waits for its processor once a step of Newton only: L-BFGS asks it for a
    number some ten times a step.
    """
    classes, device = int(labels.max()) + 1, features.device
    # The library has one vector for two classes, in place of two opposite ones.
    penalty = torch.tensor([(2.0 if classes == 2 else 1.0) / each for each in strengths], device=device)[
        None, :, None
    ]
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

    for _ in range(_NEWTON_STEPS):
        now = scores(weights)
        chances = torch.softmax(now, 2)
        slope = gathered(chances - wanted) + penalty * weights
        step = solved(chances, -slope)
        onward, costs = scores(step), []
        for size in sizes:
            missed = -(wanted * torch.log_softmax(now + size * onward, 2)).sum((0, 2))
            costs.append(missed + 0.5 * (penalty * (weights + size * step).square()).sum((0, 2)))
        taken = sizes[torch.stack(costs).argmin(0)][None, :, None] * step
        weights = weights + taken
        if float((taken.abs().amax((0, 2)) / weights.abs().amax((0, 2)).clamp(min=1e-9)).max()) < _STILL:
            break
    return list(weights.unbind(1))


def _solved(product: Callable[[torch.Tensor], torch.Tensor], right: torch.Tensor) -> torch.Tensor:
    """Return x with product(x) = right, nearly, for each strength, by conjugate gradients; where they have
    arrived they stay."""

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
    """Texts as numbers in the space that the texts learnt from span: as many numbers as there are texts,
    where words are more.

    A model with a squared penalty has weights in that space, and all it needs are the products of texts. An
    orthonormal basis of the space keeps these, so that the same model is learnt, and every step is the same
    but for rounding.
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
        """Return the coordinates of texts; those of texts not learnt from lack what lies outside the space,
        where all weights are 0."""
        if self.factor is None:
            return features
        found: torch.Tensor = torch.linalg.solve_triangular(
            self.factor, _products(self.learnt, features), upper=False
        )
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

    def learn(
        self, features: torch.Tensor, kind: str, *, others: dict[str, torch.Tensor] | None = None
    ) -> dict[str, float]:
        """Return accuracies of a linear model: ``both`` with the fixed regularisation, ``chosen`` with that
        chosen on validation texts.

        ``others`` are features that the model, having learnt from these, is judged on as well.
        """
        order = torch.randperm(len(self.learnt), generator=torch.Generator().manual_seed(0)).to(
            self.learnt.device
        )
        cut = int(VALIDATED * len(order))
        checked, first = self.learnt[order[:cut]], self.learnt[order[cut:]]
        made = self._made(features, kind, first)
        span = Span(made[first])
        shown, models = span.of(made[checked]), fit(span.own(), self.labels[first], STRENGTHS[kind])
        reached = {
            at: accuracy(model, shown, self.labels[checked])
            for at, model in zip(STRENGTHS[kind], models, strict=True)
        }
        best = max(reached, key=lambda strength: (reached[strength], -strength))
        made = self._made(features, kind, self.learnt)
        span = Span(made[self.learnt])
        shown = span.of(made[self.judged])
        fixed, chosen = fit(span.own(), self.labels[self.learnt], (FIXED[kind], best))
        found = {
            name: accuracy(model, shown, self.labels[self.judged])
            for name, model in (("both", fixed), ("chosen", chosen))
        }
        found |= {"strength": best, "validation": reached[best]}
        for name, other in (others or {}).items():
            shown = span.of(self._made(other, kind, self.learnt)[self.judged])
            found[name] = accuracy(fixed, shown, self.labels[self.judged])
        return found

    def _made(self, features: torch.Tensor, kind: str, learnt: torch.Tensor) -> torch.Tensor:
        return word_weights(features, learnt) if kind == "words" else standardised(features, learnt)
