"""The auditor of Song and Shmatikov: who is in the training text of which model, and how members are told
from the ranks of their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import UnusableAuditData
from deniable.parameters import validated_count
from deniable.utility.classifiers import Scores, scores_of, sklearn

ORIGINAL = "original"
FEWEST_USERS = 4


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings:
    """The model of Song and Shmatikov's protocol, which reads ``sequence`` words at a time, and its training.

    ``clip`` is the longest gradient of a step.
    """

    vocabulary: int = 5_000
    embedding: int = 256
    hidden: int = 128
    dropout: float = 0.25
    sequence: int = 35
    batch: int = 20
    rate: float = 1e-3
    clip: float = 5.0
    epochs: int = 30


class Job(NamedTuple):
    """A language model: trained on the text of ``members`` in one condition, asked for that of ``users``."""

    name: str
    trained_on: str
    members: tuple[int, ...]
    asked: tuple[str, ...]
    users: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Users 0 … 2n-1 are the target's pool, users 2n … 4n-1 the pool of the shadows; each model trains on n
    of its pool.

    The paper has one target; more of them, each with another half of the pool, show how much chance decides.
    """

    in_each: int
    targets: tuple[tuple[int, ...], ...]
    shadows: tuple[tuple[int, ...], ...]

    @property
    def target_pool(self) -> tuple[int, ...]:
        """The users that a target model may know."""
        return tuple(range(2 * self.in_each))

    @property
    def shadow_pool(self) -> tuple[int, ...]:
        """The users whose texts the adversary has."""
        return tuple(range(2 * self.in_each, 4 * self.in_each))

    def summarise(self) -> dict[str, int]:
        """Return how many users are in the training data of a model, and how many models there are."""
        return {"in_each": self.in_each, "targets": len(self.targets), "shadows": len(self.shadows)}

    def jobs(self, conditions: Sequence[str]) -> list[Job]:
        """Return all models to train: targets and shadows of every condition, the original text among them.

        Targets trained on original text are asked for every condition, the others for their own and the
        original.
        """
        jobs = []
        for condition in conditions:
            asked = (ORIGINAL,) if condition == ORIGINAL else (ORIGINAL, condition)
            of_target = tuple(conditions) if condition == ORIGINAL else asked
            for kind, splits, pool, questions in (
                ("target", self.targets, self.target_pool, of_target),
                ("shadow", self.shadows, self.shadow_pool, asked),
            ):
                for place, members in enumerate(splits):
                    name = f"{condition} {kind} {place}"
                    jobs.append(
                        Job(name=name, trained_on=condition, members=members, asked=questions, users=pool)
                    )
        return jobs


def make_plan(
    users: int,
    *,
    in_each: int | None = None,
    targets: int = 1,
    shadows: int = 10,
    seed: int = 0,
    source: str = "data",
) -> Plan:
    """Return a plan for ``users`` users; ``in_each`` is the n of the protocol, a quarter of the users unless
    it is given.

    :raises InvalidParameter: if a number is not a whole number of at least 1.
    :raises UnusableAuditData: if there are not four users, or not 4·n.
    """
    if users < FEWEST_USERS:
        raise UnusableAuditData(
            source, f"has {users:,} users with enough text; a membership audit needs at least {FEWEST_USERS}"
        )
    n = users // 4 if in_each is None else validated_count(in_each, "in_each")
    if 4 * n > users:
        raise UnusableAuditData(
            source,
            f"has {users:,} users with enough text, but {n:,} members, {n:,} others and a shadow pool of "
            f"{2 * n:,} are asked for",
        )
    rng = np.random.default_rng(validated_count(seed, "seed", at_least=0))

    def halves(first: int, count: int) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(sorted((first + rng.permutation(2 * n)[:n]).tolist())) for _ in range(count))

    return Plan(
        in_each=n,
        targets=halves(0, validated_count(targets, "targets")),
        shadows=halves(2 * n, validated_count(shadows, "shadows")),
    )


PROTOCOL_BINS = 100
HIGHEST_RANK = 5_000
WIDTH = HIGHEST_RANK // PROTOCOL_BINS
BINS = WIDTH + PROTOCOL_BINS
"""The protocol's feature is a histogram of 100 equal bins over the ranks 0 (the first guess) to 5,000. Most
ranks are small, so counts are kept finer: ranks 0 to 49 one by one, 99 bins of 50 ranks, and a last bin for
words that the model has never heard."""

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
class ScoreSummary:
    """Mean and standard deviation of the scores of several runs; of one run, the latter are None."""

    runs: int
    mean: Scores
    spread: dict[str, float | None]


Findings = dict[str, dict[str, dict[str, ScoreSummary]]]
"""What the auditor reaches, by condition, question and adversary."""


def summarise(several: Sequence[Scores]) -> ScoreSummary:
    """Return mean and spread of the scores of several runs."""
    table = {
        field.name: np.array([getattr(each, field.name) for each in several]) for field in fields(Scores)
    }
    spread = {name: float(values.std(ddof=1)) if len(several) > 1 else None for name, values in table.items()}
    mean = Scores(**{name: float(values.mean()) for name, values in table.items()})
    return ScoreSummary(runs=len(several), mean=mean, spread=spread)


def histograms(counts: NDArray[np.int32], *, fine: bool = False) -> NDArray[np.float64]:
    """Return (users, bins) histograms of length 1; a user without a counted word has zeros.

    ``fine`` takes logarithms of all counts, in place of the protocol's 100 equal bins, where words that the
    model does not know fall in the last one.
    """
    if fine:
        values = np.log1p(counts.astype(np.float64))
    else:
        first = counts[..., :WIDTH].sum(axis=-1, keepdims=True)
        last = counts[..., BINS - 2 :].sum(axis=-1, keepdims=True)
        values = np.concatenate([first, counts[..., WIDTH : BINS - 2], last], axis=-1).astype(np.float64)
    lengths = np.linalg.norm(values, axis=-1, keepdims=True)
    return values / np.where(lengths > 0.0, lengths, 1.0)


def judge_conditions(
    plan: Plan, conditions: Sequence[str], counts: Counts, *, fine: bool = False
) -> Findings:
    """Return what the auditor learns in each condition, by question and adversary, over all target models.

    The plain adversary's shadows are trained on original text; the adaptive one trains them on text released
    in the same way, and asks them the same question.
    """
    plain = _train_auditor(plan, counts, ORIGINAL, 0, fine)

    def judged(auditor: Any, condition: str, row: int) -> ScoreSummary:
        asked = (counts[f"{condition} target {i}"][row] for i in range(len(plan.targets)))
        return _judge(plan, auditor, [histograms(each, fine=fine) for each in asked])

    findings: Findings = {ORIGINAL: {"original text": {"plain": judged(plain, ORIGINAL, 0)}}}
    places = {condition: place for place, condition in enumerate(conditions)}
    for condition in (each for each in conditions if each != ORIGINAL):
        questions = findings[condition] = {}
        for row, question in enumerate(("original text", "released text")):
            adaptive = _train_auditor(plan, counts, condition, row, fine)
            questions[question] = {
                "plain": judged(plain, condition, row),
                "adaptive": judged(adaptive, condition, row),
            }
        features = []
        for i, inside in enumerate(plan.targets):
            asked = histograms(counts[f"{ORIGINAL} target {i}"], fine=fine)
            members = np.isin(plan.target_pool, inside)[:, None]
            features.append(np.where(members, asked[places[condition]], asked[places[ORIGINAL]]))
        questions["as in the paper"] = {"plain": _judge(plan, plain, features)}
    return findings


def _train_auditor(plan: Plan, counts: Counts, condition: str, row: int, fine: bool) -> Any:
    """Return a linear SVM on rank histograms, scaled to length 1 each and standardised on the shadows (Song
    and Shmatikov 2019).

    :raises MissingExtra: if scikit-learn is not installed.
    """
    asked = [counts[f"{condition} shadow {i}"][row] for i in range(len(plan.shadows))]
    members = np.concatenate([np.isin(plan.shadow_pool, inside) for inside in plan.shadows])
    svm = sklearn("svm").LinearSVC(dual=False, C=0.01, max_iter=5000, random_state=0)
    model = sklearn("pipeline").make_pipeline(sklearn("preprocessing").StandardScaler(), svm)
    return model.fit(np.concatenate([histograms(each, fine=fine) for each in asked]), members)


def _judge(plan: Plan, auditor: Any, features: Sequence[NDArray[np.float64]]) -> ScoreSummary:
    """Return how well the members of each target model are told from the others."""
    members = [np.isin(plan.target_pool, inside) for inside in plan.targets]
    pairs = zip(members, features, strict=True)
    return summarise([scores_of(inside, auditor.decision_function(each)) for inside, each in pairs])
