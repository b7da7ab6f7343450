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
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import count_bigrams
from deniable.measures.bayes_bound import Words, bayes_bound, bound_in_context
from deniable.measures.capacity import capacity
from deniable.measures.estimate import Estimate
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import by_rank
from tests.audit.test_inversion import SimulatedOnly
from tests.measures.test_bayes_bound import by_grid, small
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
    few = tmp_path / "few.txt"
    few.write_text("\n".join(embedding.words[:9]))
    result = audit_inversion(embedding, epsilons=[1.0], public=public, words=[few], effort=effort)
    found = result.results[0]
    assert found.text_bounds is not None
    alone = found.attacker("word by word")
    assert alone is not None
    groups = {f"words of the text: {each.group}": each.word for each in alone.groups if each.places}
    judged = {
        "known words of the text": alone.word,
        "kinds": alone.kind,
        "list few": alone.lists[0].word,
        **groups,
    }
    assert set(found.text_bounds) == {*judged, "in context"}
    for name, bound in found.text_bounds.items():
        assert 0.0 < bound.value <= bound.at_most <= 1.0
        if (success := judged.get(name)) is not None:
            assert success.first.low <= bound.at_most
            assert bound.gap <= bound.at_most - success.first.value + 1e-12
    table = result.tables[0]
    assert [row[1] for row in table.rows] == ["drawn words", *found.text_bounds]
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


@pytest.mark.parametrize("name", ["multivariate", "gaussian", "vickrey"])
def test_no_reader_in_context_exceeds_the_bound_in_context(name: str) -> None:
    embedding, chance = random_embedding(40, 3), np.random.default_rng(5)
    seen = [np.argsort(chance.random(40))[:8] for _ in range(40)]  # few words follow each
    model = count_bigrams(
        [np.concatenate([[word, next_word] for next_word in seen[word]]) for word in range(40)] * 3, 41
    )
    assert model is not None
    alone = model.alone.copy()
    alone[-1] = 0.0
    texts = []
    for _ in range(250):  # texts that the model says, from left to right
        text = [int(chance.choice(41, p=alone / alone.sum()))]
        while len(text) < 8:
            following = model.between(text[-1], None)
            following[-1] = 0.0
            text.append(int(chance.choice(41, p=following / following.sum())))
        texts.append(np.array(text))
    mechanism = ChosenMechanism(name=name)(embedding, epsilon=5.0)
    channel = make_channel(embedding, ChosenMechanism(name=name), epsilon=5.0, directions=2_000)
    draws = Draws(mechanism, seed=4)
    released = [draws.of_each(text) for text in texts]
    decoder = ContextDecoder(channel, model, np.append(alone[:-1], 0.0) / alone.sum(), candidates=40)
    ids = np.concatenate(texts)
    right = decoder.read(released).ranks(ids) == 0

    def bound(epsilon: float) -> Estimate:
        places = []
        for text in texts:
            for place in range(len(text)):
                ends = (
                    int(text[place - 1]) if place else None,
                    int(text[place + 1]) if place + 1 < len(text) else None,
                )
                places.append(model.between(*ends) * np.append(np.ones(40), 0.0))
        made = ChosenMechanism(name=name)(embedding, epsilon=epsilon)
        found = bound_in_context(made, places, in_words="words of the model")
        assert found is not None
        return found

    error = 3.0 * right.std() / np.sqrt(len(right))
    assert right.mean() - error <= bound(5.0).high
    assert right.mean() - error > bound(0.1).high  # that of another release
    found = bayes_bound(mechanism, Words(shares=np.bincount(ids, minlength=41).astype(float), in_words=""))
    assert found is not None
    assert found.low < bound(5.0).high  # context tells more


def test_a_bound_in_context_is_the_integral_over_the_noisy_point() -> None:
    mechanism = Multivariate(small(), epsilon=1.5)
    shares = np.append(1.0 / np.arange(1, 13), 0.0)
    found = bound_in_context(mechanism, [shares] * 4_000, in_words="one place")
    assert found is not None
    assert found.low - 0.003 < by_grid(mechanism, shares / shares.sum()) < found.high + 0.003
    assert found.blind == pytest.approx(shares[0] / shares.sum())
    assert bound_in_context(SimulatedOnly(small(), epsilon=1.0), [shares], in_words="") is None
