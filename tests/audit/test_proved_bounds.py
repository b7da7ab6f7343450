"""Attacks stay below the bounds that are proved, and a bound for another release is refuted by the same
attacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Multivariate
from deniable.audit.inversion.audit import audit_inversion
from deniable.audit.inversion.drawn_words import InversionEffort, invert, proved_bound
from deniable.audit.results import read_result
from deniable.measures.capacity import capacity
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import by_rank
from tests.audit.test_inversion import SimulatedOnly
from tests.support.strategies import random_embedding

EFFORT = InversionEffort(words_per_band=1_500, repeated_words=8, points=64, draws_per_word=60, at_risk=2)
MECHANISMS = [
    ("multivariate", {}),
    ("gaussian", {}),
    ("mahalanobis", {"lam": 0.9}),
    ("vickrey", {}),
    ("rank-smoothing", {}),
    ("tem", {}),
    ("santext", {}),
    ("custext", {"k": 5}),
    ("line", {}),
    ("randomized-response", {}),
]


@pytest.mark.parametrize("epsilon", [0.8, 3.0])
@pytest.mark.parametrize(("name", "options"), MECHANISMS)
def test_no_attack_on_single_words_exceeds_the_bayes_bound_or_the_capacity(
    name: str, options: dict[str, Any], epsilon: float
) -> None:
    embedding = random_embedding(60, 3)
    mechanism = ChosenMechanism(name=name, options=options)(embedding, epsilon=epsilon)
    for prior in (by_rank(embedding), np.full(60, 1 / 60)):
        found = invert(mechanism, prior, seed=3, effort=EFFORT)
        assert found.bound is not None
        for attack in (found.bayes, found.nearest_word):
            assert attack.value - 3.0 * attack.standard_error <= found.bound.at_most
        assert found.bound.gap == pytest.approx(found.bound.at_most - found.best_drawn.value)
        factor = capacity(mechanism)
        assert factor is not None
        assert found.bayes.value - 3.0 * found.bayes.standard_error <= factor.high * prior.max()


def test_a_bound_for_a_smaller_epsilon_is_exceeded() -> None:
    embedding = random_embedding(60, 3)
    prior = by_rank(embedding)
    found = invert(Multivariate(embedding, epsilon=3.0), prior, seed=3, effort=EFFORT)
    wrong = proved_bound(Multivariate(embedding, epsilon=1.5), np.append(prior, 0.0), best=0.0)
    assert wrong is not None
    assert found.bayes.value - 3.0 * found.bayes.standard_error > wrong.at_most


def test_the_result_and_its_tables_show_both_and_are_read_again(tmp_path: Path) -> None:
    public = tmp_path / "public.txt"
    words = np.random.default_rng(0).integers(0, 80, (60, 30))
    embedding = random_embedding(80, 4)
    public.write_text("\n".join(" ".join(embedding.words[word] for word in line) for line in words))
    effort = InversionEffort.of(words=120, draws=20, points=64, places=200, directions=50)
    result = audit_inversion(embedding, epsilons=[1.0], public=public, effort=effort)
    found = result.results[0]
    assert found.text_bound is not None
    alone = found.attacker("word by word")
    assert alone is not None
    assert alone.word.first.low <= found.text_bound.at_most
    table = result.tables[0]
    assert [row[1] for row in table.rows] == ["drawn words", "known words of the text"]
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(result.to_dict()))
    assert read_result(saved) == result


def test_nothing_is_proved_of_a_mechanism_of_ones_own() -> None:
    embedding = random_embedding(80, 4)
    found = invert(
        SimulatedOnly(embedding, epsilon=1.0),
        by_rank(embedding),
        seed=0,
        effort=InversionEffort(words_per_band=20, points=8),
    )
    assert found.bound is None
