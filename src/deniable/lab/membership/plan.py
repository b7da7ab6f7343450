"""Who is in and who is out: the target models, the shadow models, what each is asked, and what kind of model
they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.errors import UnusableAuditData
from deniable.parameters import validated_count

ORIGINAL = "original"
FEWEST_USERS = 4


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings:
    """The model of the auditor's protocol, that of Song and Shmatikov, and how they trained it.

    It has 256 coordinates a word, an LSTM of 128, a softmax, and reads ``sequence`` words in a row before it
    starts afresh. ``clip`` is the longest gradient of a step.
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


@dataclass(frozen=True, kw_only=True)
class Job:
    """One language model to train on the text of ``members`` in one condition, then asked for that of
    ``users`` in some conditions."""

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

        The model trained on original text is asked for every condition, the others for their own and the
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
