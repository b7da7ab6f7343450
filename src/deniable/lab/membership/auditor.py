"""The adversary: learns from shadow models how members' ranks look, and judges the users of the target
model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.lab.membership.plan import ORIGINAL, Plan
from deniable.lab.membership.ranks import histograms
from deniable.learning.scores import Scores, scores_of, sklearn

Counts = Mapping[str, NDArray[np.int32]]
"""Rank counts (conditions asked, users, bins) by the name of the job."""

QUESTIONS = {
    "original text": "the model was trained on released text; the adversary asks it about the users' "
    "original text",
    "released text": "the model was trained on released text; the adversary asks it about that released text",
    "as in the paper": "the model was trained on original text; members are asked by their released text, "
    "others by their original text",
}


@dataclass(frozen=True, kw_only=True)
class ScoreSpread:
    """The standard deviation of each score over several runs; None if there was one run."""

    precision: float | None
    recall: float | None
    accuracy: float | None
    auc: float | None
    auc_either_way: float | None


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """Mean and spread of the scores of several runs."""

    runs: int
    mean: Scores
    spread: ScoreSpread


Findings = dict[str, dict[str, dict[str, ScoreSummary]]]
"""What the auditor reaches, by condition, question and adversary."""


def summarise(several: Sequence[Scores]) -> ScoreSummary:
    """Return mean and spread of the scores of several runs."""
    table = {
        field.name: np.array([getattr(scores, field.name) for scores in several]) for field in fields(Scores)
    }
    return ScoreSummary(
        runs=len(several),
        mean=Scores(**{name: float(values.mean()) for name, values in table.items()}),
        spread=ScoreSpread(
            **{
                name: float(values.std(ddof=1)) if len(several) > 1 else None
                for name, values in table.items()
            }
        ),
    )


class Auditor:
    """Linear SVM on rank histograms, scaled to length 1 each and standardised on the shadows (Song and
    Shmatikov 2019)."""

    def __init__(self, features: NDArray[np.float64], members: NDArray[np.bool_], *, seed: int = 0) -> None:
        """Learn from the shadows.

        :raises MissingExtra: if scikit-learn is not installed.
        """
        pipeline, scaling, svm = sklearn("pipeline"), sklearn("preprocessing"), sklearn("svm")
        self._model: Any = pipeline.make_pipeline(
            scaling.StandardScaler(), svm.LinearSVC(dual=False, C=0.01, max_iter=5000, random_state=seed)
        )
        self._model.fit(features, members)

    def judge(self, features: NDArray[np.float64], members: NDArray[np.bool_]) -> Scores:
        """Return how well the members among some users are told from the others."""
        return scores_of(members, self._model.decision_function(features))


def judge_conditions(
    plan: Plan,
    conditions: Sequence[str],
    counts: Counts,
    *,
    asked_of_original: Sequence[str] | None = None,
    fine: bool = False,
) -> Findings:
    """Return what the auditor learns in each condition, by question and adversary, over all target models.

    ``asked_of_original`` are the conditions that the model trained on original text was asked for, if not the
    same. The plain adversary's shadows are trained on original text; the adaptive one trains them on text
    released in the same way, and asks them the same question.
    """
    plain = _train_auditor(plan, counts, ORIGINAL, 0, fine)
    found: Findings = {
        ORIGINAL: {"original text": {"plain": _judge_targets(plan, counts, plain, ORIGINAL, 0, fine)}}
    }
    asked = list(conditions if asked_of_original is None else asked_of_original)
    for condition in conditions:
        if condition == ORIGINAL:
            continue
        questions: dict[str, dict[str, ScoreSummary]] = {}
        for row, question in enumerate(("original text", "released text")):
            adaptive = _train_auditor(plan, counts, condition, row, fine)
            questions[question] = {
                "plain": _judge_targets(plan, counts, plain, condition, row, fine),
                "adaptive": _judge_targets(plan, counts, adaptive, condition, row, fine),
            }
        places = asked.index(condition), asked.index(ORIGINAL)
        questions["as in the paper"] = {"plain": _judge_as_in_the_paper(plan, counts, plain, *places, fine)}
        found[condition] = questions
    return found


def _train_auditor(plan: Plan, counts: Counts, condition: str, row: int, fine: bool) -> Auditor:
    features = np.concatenate(
        [histograms(counts[f"{condition} shadow {i}"][row], fine=fine) for i in range(len(plan.shadows))]
    )
    members = np.concatenate([np.isin(plan.shadow_pool, inside) for inside in plan.shadows])
    return Auditor(features, members)


def _judge_targets(
    plan: Plan, counts: Counts, auditor: Auditor, condition: str, row: int, fine: bool
) -> ScoreSummary:
    return summarise(
        [
            auditor.judge(
                histograms(counts[f"{condition} target {i}"][row], fine=fine),
                np.isin(plan.target_pool, inside),
            )
            for i, inside in enumerate(plan.targets)
        ]
    )


def _judge_as_in_the_paper(
    plan: Plan, counts: Counts, auditor: Auditor, released: int, original: int, fine: bool
) -> ScoreSummary:
    several = []
    for i, inside in enumerate(plan.targets):
        members = np.isin(plan.target_pool, inside)
        asked = counts[f"{ORIGINAL} target {i}"]
        features = np.where(
            members[:, None], histograms(asked[released], fine=fine), histograms(asked[original], fine=fine)
        )
        several.append(auditor.judge(features, members))
    return summarise(several)
