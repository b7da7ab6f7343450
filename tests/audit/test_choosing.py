"""What attackers choose on shadow text keeps each as strong as the one before it, and lets it fall back where
context says nothing.

Each choice is also tried the other way: an attacker that trusts in full where it must not is the weaker one,
so these tests can fail.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Multivariate
from deniable.arrays import Ids
from deniable.audit.inversion.attackers import Attacker, choose_trust
from deniable.audit.inversion.attackers import in_context as read_in_context
from deniable.audit.inversion.drawn_words import InversionEffort
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, NEAREST_WORD
from deniable.audit.inversion.text import Shadow
from deniable.audit.inversion.text_attack import TextAttack, release_text
from deniable.channel import rows
from deniable.decoding.priors import first_shares
from deniable.lab.inversion.language_model import ByLanguageModel, Weights, language_model_attack
from deniable.lab.inversion.learnt import learnt_attack
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.audit.made_text import Attack, follow_at_a_distance, follow_one_another, prepare, shuffle
from tests.lab.made_model import WORDS, MadeModel
from tests.support.strategies import random_embedding

EPSILON = 2.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))


def in_context(attack: Attack, trust: float) -> Attacker:
    return read_in_context(attack.decoder(trust=trust))


def by_model(attack: Attack, weights: Weights | None = None) -> ByLanguageModel:
    prior = first_shares(attack.channel, attack.model)
    return ByLanguageModel(
        attack.in_context, attack.alone, attack.channel, prior, attack.model, MadeModel(), weights=weights
    )


def chosen_trust(attack: Attack, documents: list[Ids]) -> float:
    shadow = Shadow(documents=documents, bigrams=attack.model)
    return choose_trust(
        attack.decoder(), shadow.release(Multivariate(attack.embedding, epsilon=EPSILON), seed=8, words=1_000)
    )


def test_bigrams_that_mislead_are_not_trusted_at_all() -> None:
    """The public text has an order, and the shadow, as the text that is attacked, has none."""
    public = follow_one_another(WORDS, 300, 20, seed=1)
    attacked, shadow = (
        shuffle(follow_one_another(WORDS, 50, 20, seed=seed), seed=seed + 9) for seed in (2, 3)
    )
    attack = prepare(random_embedding(WORDS, 3), public, attacked, epsilon=EPSILON)
    trust = chosen_trust(attack, shadow)
    assert trust == 0.0
    mechanism = Multivariate(attack.embedding, epsilon=EPSILON)
    alone, context, trusting = (
        attack.judge(mechanism, each) for each in (attack.alone, in_context(attack, trust), attack.in_context)
    )
    assert (context.word, context.kind) == (alone.word, alone.kind), (
        "it is the attacker who reads word by word"
    )
    assert trusting.word.first.high < alone.word.first.low, "and would have lost by trust"


def test_a_model_counts_where_it_knows_how_texts_go_on_and_not_where_it_is_wrong() -> None:
    embedding = random_embedding(WORDS, 3)
    mechanism = Multivariate(embedding, epsilon=EPSILON)
    ordered = [
        follow_at_a_distance(WORDS, count, 20, seed=seed) for count, seed in ((300, 1), (30, 2), (30, 3))
    ]
    attack = prepare(embedding, ordered[0], ordered[1], epsilon=EPSILON)
    shadow = Shadow(documents=ordered[2], bigrams=attack.model).release(mechanism, seed=8)
    weights = by_model(attack).choose_weights(shadow)
    assert weights.search >= 0.5
    context, better = (
        attack.judge(mechanism, each) for each in (attack.in_context, by_model(attack, weights).attacker)
    )
    assert better.word.first.low > context.word.first.high
    public, attacked, documents = (shuffle(each, seed=9) for each in ordered)
    attack = prepare(embedding, public, attacked, epsilon=EPSILON)
    shadow = Shadow(documents=documents, bigrams=attack.model).release(mechanism, seed=8)
    weights = by_model(attack).choose_weights(shadow)
    context, same, trusting = (
        attack.judge(mechanism, each)
        for each in (
            attack.in_context,
            by_model(attack, weights).attacker,
            by_model(attack, Weights(0.8, 0.95)).attacker,
        )
    )
    assert weights.search == 0.0
    assert same.word.first == context.word.first
    assert trusting.word.first.value < context.word.first.value


@pytest.mark.parametrize("ordered", [True, False])
def test_the_audit_chooses_so_and_no_attacker_falls_behind_the_one_before_it(
    tmp_path: Path, ordered: bool
) -> None:
    documents = [follow_at_a_distance(WORDS, count, 20, seed=seed) for count, seed in ((150, 1), (30, 2))]
    if not ordered:
        documents = [shuffle(each, seed=9) for each in documents]
    paths = [tmp_path / "public.txt", tmp_path / "own.txt"]
    for path, some in zip(paths, documents, strict=True):
        path.write_text("\n".join(" ".join(f"w{i}" for i in document) for document in some), encoding="utf-8")
    embedding, chosen = random_embedding(WORDS, 3), ChosenMechanism(name="multivariate")
    effort = InversionEffort(places=600, support=WORDS, directions=200)
    attack = TextAttack.prepare(
        embedding, paths[0], paths[1], effort=effort, seed=0, further=[language_model_attack(MadeModel())]
    )
    made = chosen(embedding, epsilon=EPSILON)
    found = attack.attack(made, attack.channel(made, chosen, seed=0), seed=0)
    assert [each.name for each in found] == [BLIND, NEAREST_WORD, ALONE, IN_CONTEXT, LANGUAGE_MODEL]
    found = tuple(each for each in found if each.name != NEAREST_WORD)  # who knows nothing of the mechanism
    shares = [each.word.first.value for each in found]
    assert (np.diff(shares) > -0.01).all(), "each is as strong as the one before, but for a few words"
    if ordered:
        assert found[3].word.first.low > found[1].word.first.high
    else:
        assert abs(shares[3] - shares[1]) < 0.02


def test_the_channel_of_attackers_who_do_not_learn_has_the_released_words_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(rows, "FEWEST_INPUTS", 10)
    paths = [tmp_path / "public.txt", tmp_path / "own.txt"]
    for path, count in zip(paths, (4, 1), strict=True):
        documents = follow_one_another(WORDS, count, 5, seed=count)
        path.write_text(
            "\n".join(" ".join(f"w{i}" for i in document) for document in documents), encoding="utf-8"
        )
    embedding, chosen = random_embedding(WORDS, 3), ChosenMechanism(name="multivariate")
    made = chosen(embedding, epsilon=20.0)
    for learnt in (False, True):
        effort = InversionEffort(places=5, support=WORDS, directions=20)
        further = [learnt_attack(500)] if learnt else []
        attack = TextAttack.prepare(embedding, paths[0], paths[1], effort=effort, seed=3, further=further)
        channel = attack.channel(made, chosen, seed=3)
        assert (channel.asked is None) == learnt
        assert channel.knows(np.concatenate(release_text(made, attack.truth.text, seed=7))).all()
        assert attack.attack(made, channel, seed=3) if not learnt else True
