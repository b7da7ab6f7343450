"""The comparison itself: every mechanism, brought to every target, released, attacked and used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.comparison.keeping import Kept
from deniable.comparison.matching import Match, Matcher, Target
from deniable.comparison.material import Texts
from deniable.comparison.probe import Probe, make_probe
from deniable.comparison.readings import QUICK, THOROUGH, Effort, Reading, read_privacy
from deniable.comparison.utility import accuracy, mean_distance
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.parameters import validated_count
from deniable.randomness import SecureRandomness

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A mechanism that takes part: its name as typed, what identifies it in kept results, and what makes it at an ε."""

    name: str
    make: Callable[[float], Mechanism] = field(repr=False)
    identity: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the comparison is made."""

    targets: tuple[Target, ...]
    runs: int = 2
    words: int = 1_000
    seed: int = 0
    quick: Effort = QUICK
    thorough: Effort = THOROUGH

    def __post_init__(self) -> None:
        for name in ("runs", "words"):
            validated_count(getattr(self, name), name)


class Comparison:
    """Compares mechanisms over one embedding on one task."""

    def __init__(self, embedding: Embedding, learn: Texts, test: Texts, plan: Plan, *, kept: Kept | None = None) -> None:
        """Prepare the words that privacy is read on: a sample of the words of the texts to learn from."""
        self._embedding, self._learn, self._test, self._plan = embedding, learn, test, plan
        self._kept = Kept(None) if kept is None else kept
        self.probe: Probe = make_probe(embedding, learn.ids, words=plan.words, seed=plan.seed)

    def original(self) -> float:
        """Return the accuracy of a classifier that learnt from original text."""
        learn, test = self._learn, self._test
        return accuracy(learn.words, learn.labels, test.words, test.labels)

    def rows(self, contender: Contender, report: Callable[[int], None] | None = None) -> list[dict[str, Any]]:
        """Return one row for each target: where the mechanism meets it and what it is worth there, or why it cannot."""
        contender = replace(contender, make=lru_cache(1)(contender.make))  # runs share what a mechanism prepared
        matcher = Matcher(
            self._reader(contender, self._plan.quick, self._plan.seed + 1),
            self._reader(contender, self._plan.thorough, self._plan.seed + 2),
        )
        rows = []
        for target in self._plan.targets:
            rows.append(self._row(contender, matcher.match(target)))
            if report is not None:
                report(1)
        return rows

    def _row(self, contender: Contender, match: Match) -> dict[str, Any]:
        row: dict[str, Any] = {
            "mechanism": contender.name,
            "reading": match.target.reading,
            "target": match.target.value,
            "problem": match.problem,
        }
        if match.reached is None:
            return row
        epsilon = match.reached.epsilon
        runs = [self._scored(contender, epsilon, run) for run in range(self._plan.runs)]
        spread = {key: np.array([run[key] for run in runs]) for key in runs[0]}
        return {
            **row,
            "epsilon": epsilon,
            "reached": match.reached.to_dict(),
            "accuracy": _mean_and_spread(spread["accuracy"]),
            "unchanged": _mean_and_spread(spread["unchanged"]),
            "distance": _mean_and_spread(spread["distance"]),
            "words_per_second": float(spread["words_per_second"].min()),
        }

    def _scored(self, contender: Contender, epsilon: float, run: int) -> dict[str, Any]:
        key = {**self._key(contender, epsilon), "what": "utility", "learn": self._learn.digest, "test": self._test.digest, "run": run}
        return self._kept.get(key, lambda: self._score(contender.make(epsilon)))

    def _score(self, mechanism: Mechanism) -> dict[str, Any]:
        learn, test = self._learn, self._test
        randomness = SecureRandomness()
        mechanism.perturb(learn.ids[:1], randomness)  # whatever a mechanism prepares on first use is not its speed
        started = time.perf_counter()
        released = mechanism.perturb(learn.ids, randomness)
        seconds = time.perf_counter() - started
        return {
            "accuracy": accuracy(learn.released(self._embedding, released), learn.labels, test.words, test.labels),
            "unchanged": float((released == learn.ids).mean()),
            "distance": mean_distance(self._embedding, learn.ids, released) / self.probe.typical,
            "words_per_second": len(released) / max(seconds, 1e-9),
        }

    def _reader(self, contender: Contender, effort: Effort, seed: int) -> Callable[[float], Reading]:
        def read(epsilon: float) -> Reading:
            sample = {"words": self._plan.words, "seed": self._plan.seed, "text": self._learn.digest}
            how = {"draws": effort.draws, "judged": effort.judged, "seed": seed}
            key = {**self._key(contender, epsilon), "what": "privacy", "sample": sample, "effort": how}
            found = self._kept.get(key, lambda: read_privacy(contender.make(epsilon), self.probe, effort=effort, seed=seed).to_dict())
            return Reading(**found)

        return read

    def _key(self, contender: Contender, epsilon: float) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "embedding": self._embedding.fingerprint,
            "mechanism": contender.identity or {"name": contender.name},
            "epsilon": epsilon,
        }


def _mean_and_spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float | None]:
    """Return the mean over runs, and their standard deviation if there are several."""
    return {"mean": float(values.mean()), "spread": float(values.std(ddof=1)) if len(values) > 1 else None}
