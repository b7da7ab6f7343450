"""Linear models of texts on a GPU, with the losses of scikit-learn's LogisticRegression: for experiments,
where the product takes minutes.

Features are whole matrices of words or mean vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

STRENGTHS = {"words": (1.0, 10.0, 100.0, 1000.0), "vectors": (0.01, 0.1, 1.0)}
"""1/regularisation to choose from."""
FIXED = {"words": 1.0, "vectors": 0.1}
VALIDATED = 0.2
_STEPS, _SETTLED = 300, 1e-7


def word_weights(counts: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return TF-IDF of length 1, as ``deniable.learning.soft_counts`` has it; how rare a word is comes from
    the texts learnt from."""
    held = torch.zeros(counts.shape[1], device=counts.device)
    for part in torch.split(learnt, 1024):
        held += counts[part].clamp(max=1.0).sum(0)
    rare = torch.log((1.0 + len(learnt)) / (1.0 + held)) + 1.0
    return torch.nn.functional.normalize(counts * rare, dim=1)


def standardised(features: torch.Tensor, learnt: torch.Tensor) -> torch.Tensor:
    """Return features of mean 0 and spread 1 in the texts learnt from."""
    return (features - features[learnt].mean(0)) / features[learnt].std(0, unbiased=False).clamp(min=1e-9)


def mean_vectors(counts: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the mean vector of the words of each text; ``vectors`` has that of ⊥ last."""
    return counts @ vectors / counts.sum(1, keepdim=True).clamp(min=1e-9)


def fit(features: torch.Tensor, labels: torch.Tensor, strength: float) -> torch.Tensor:
    """Return the weights, the last row without penalty, of a multinomial logistic regression with the loss of
    scikit-learn."""
    classes = int(labels.max()) + 1
    # The library has one vector for two classes, in place of two opposite ones.
    penalty = (2.0 if classes == 2 else 1.0) / strength / len(features)
    weights = torch.zeros((features.shape[1] + 1, classes), device=features.device, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [weights],
        max_iter=_STEPS,
        tolerance_grad=_SETTLED,
        tolerance_change=0.0,
        history_size=20,
        line_search_fn="strong_wolfe",
    )

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        scores = torch.addmm(weights[-1], features, weights[:-1])
        value = (
            torch.nn.functional.cross_entropy(scores, labels) + 0.5 * penalty * weights[:-1].square().sum()
        )
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call, unused-ignore]
    return weights.detach()


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
        self, features: torch.Tensor, kind: str, *, others: Mapping[str, torch.Tensor] | None = None
    ) -> dict[str, float]:
        """Return accuracies of a linear model: ``both`` with the fixed regularisation, ``chosen`` with that
        chosen on validation texts.

        ``others`` are features that the model, having learnt from these, is judged on as well.
        """
        order = torch.randperm(len(self.learnt), generator=torch.Generator().manual_seed(0))
        shuffled, cut = self.learnt[order.to(self.learnt.device)], int(VALIDATED * len(order))
        checked, first = shuffled[:cut], shuffled[cut:]
        prepared = self._prepared(features, kind, first)
        reached = {
            strength: self._judged(self._fitted(prepared, first, strength), prepared, checked)
            for strength in STRENGTHS[kind]
        }
        best = max(reached, key=lambda strength: (reached[strength], -strength))
        prepared = self._prepared(features, kind, self.learnt)
        fixed, chosen = (self._fitted(prepared, self.learnt, each) for each in (FIXED[kind], best))
        accuracies = {
            "both": self._judged(fixed, prepared, self.judged),
            "chosen": self._judged(chosen, prepared, self.judged),
            "strength": best,
            "validation": reached[best],
        }
        for name, other in (others or {}).items():
            accuracies[name] = self._judged(fixed, self._prepared(other, kind, self.learnt), self.judged)
        return accuracies

    def _prepared(self, features: torch.Tensor, kind: str, learnt: torch.Tensor) -> torch.Tensor:
        return word_weights(features, learnt) if kind == "words" else standardised(features, learnt)

    def _fitted(self, features: torch.Tensor, texts: torch.Tensor, strength: float) -> torch.Tensor:
        return fit(features[texts], self.labels[texts], strength)

    def _judged(self, weights: torch.Tensor, features: torch.Tensor, texts: torch.Tensor) -> float:
        return accuracy(weights, features[texts], self.labels[texts])
