"""The attacker who learns wins where words follow from others that are not next to them, and gains nothing
where there is nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.made_text import (
    Attack,
    SharedNoise,
    follow_at_a_distance,
    opposite_pairs,
    opposites,
    prepare,
    shuffle,
)
from tests.support.strategies import random_embedding

from deniable import Multivariate
from deniable.audit import InversionEffort, audit_inversion
from deniable.audit.inversion.attackers import Attacker
from deniable.audit.inversion.results import IN_CONTEXT, LEARNT
from deniable.channel.draws import Draws
from deniable.errors import InvalidParameter, MissingExtra
from deniable.lab.inversion import learnt as learning
from deniable.lab.inversion.learnt import learn_from_shadow, learnt_attack
from deniable.mechanisms import RandomizedResponse

WORDS = 60
torch = pytest.importorskip("torch")


def quick() -> Any:
    """Settings for a vocabulary of which every word is met many times."""
    from deniable.lab.neural.candidate_ranker import RankerSettings

    return RankerSettings(rate=5e-3, dropout=0.0, decay=0.0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def distant() -> Attack:
    """A text whose words follow from others that are not next to them."""
    public = follow_at_a_distance(WORDS, 400, 20, seed=1)
    return prepare(
        random_embedding(WORDS, 3), public, follow_at_a_distance(WORDS, 60, 20, seed=2), epsilon=2.0
    )


def test_what_bigrams_cannot_see_is_learnt(distant: Attack) -> None:
    mechanism = Multivariate(distant.embedding, epsilon=2.0)
    learnt = learn_from_shadow(
        distant.in_context_of(30),
        mechanism,
        follow_at_a_distance(WORDS, 300, 20, seed=5),
        seed=4,
        settings=quick(),
    )
    alone, context, best = (
        distant.judge(mechanism, each) for each in (distant.alone, distant.in_context_of(30), learnt)
    )
    assert abs(context.word.first.value - alone.word.first.value) < 0.05
    assert best.word.first.value > context.word.first.value + 0.1
    assert best.word.first.low > context.word.first.high
    assert best.word.within_ten == context.word.within_ten, (
        "it ranks the ten best candidates anew, and finds no others"
    )


@pytest.mark.parametrize("released", [True, False], ids=["words in any order", "nothing is released"])
def test_nothing_is_learnt_where_there_is_nothing(released: bool) -> None:
    public, shadow, attacked = (
        follow_at_a_distance(WORDS, count, 20, seed=seed) for count, seed in ((300, 1), (250, 5), (60, 2))
    )
    embedding = random_embedding(WORDS, 3)
    if released:
        mechanism: Any = Multivariate(embedding, epsilon=2.0)
        public, shadow, attacked = (shuffle(texts, seed=9) for texts in (public, shadow, attacked))
        attack = prepare(embedding, public, attacked, epsilon=2.0)
    else:
        mechanism = RandomizedResponse(embedding, epsilon=1e-9)
        attack = prepare(embedding, public, attacked, epsilon=1e-9, mechanism="randomized-response")
    learnt = learn_from_shadow(attack.alone, mechanism, shadow, seed=4, settings=quick())
    base, best = (
        attack.judge(mechanism, each) for each in (attack.alone if released else attack.blind, learnt)
    )
    assert abs(best.word.first.value - base.word.first.value) < 0.03


def test_noise_that_is_shared_between_neighbours_is_learnt() -> None:
    embedding = opposites(300, 3)
    attack = prepare(
        embedding, opposite_pairs(300, 300, 20, seed=1), opposite_pairs(300, 80, 20, seed=2), epsilon=3.0
    )
    reached = {}
    for kind in (Multivariate, SharedNoise):
        mechanism = kind(embedding, epsilon=3.0)
        learnt = learn_from_shadow(
            attack.in_context_of(40),
            mechanism,
            opposite_pairs(300, 200, 20, seed=5),
            seed=4,
            settings=quick(),
        )
        reached[kind] = attack.judge(mechanism, learnt).word.first
    assert reached[SharedNoise].low > reached[Multivariate].high
    assert (
        reached[SharedNoise].low
        > attack.judge(SharedNoise(embedding, epsilon=3.0), attack.in_context_of(40)).word.first.value
    )


@pytest.mark.parametrize("leaks", [False, True], ids=["right", "a shadow whose documents are counted"])
def test_what_it_learns_from_is_as_new_to_its_bigrams_as_what_it_attacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaks: bool
) -> None:
    """Every document repeats four words of its own: bigrams that have read it name them again, and in others
    they are of no use."""
    from deniable.audit.inversion.text import Shadow, ShadowSample

    finish = ShadowSample.finish

    def leaking(sample: ShadowSample) -> Shadow | None:
        found = finish(sample)
        everything = sample._counts.smooth()
        assert found is not None
        assert everything is not None
        return replace(found, bigrams=everything)

    if leaks:
        monkeypatch.setattr(ShadowSample, "finish", leaking)

    public, random = tmp_path / "public.txt", np.random.default_rng(6)
    named: list[float] = []
    public.write_text(
        "\n".join(" ".join([f"w{i}" for i in random.integers(300, size=4)] * 5) for _ in range(150)),
        encoding="utf-8",
    )

    def watched(base: Any, mechanism: Any, shadow: Any, *, learning: Any, seed: int) -> Attacker:
        released = [Draws(mechanism, seed=1).of_each(ids) for ids in shadow]
        truth = np.concatenate(shadow)
        named.extend(float((each.read(released).words[:, 0] == truth).mean()) for each in (base, learning))
        return learn_from_shadow(base, mechanism, shadow, learning=learning, seed=seed)

    monkeypatch.setattr(learning, "learn_from_shadow", watched)
    effort = InversionEffort.of(10, points=16, draws=10, places=200, support=300, directions=60)
    found = audit_inversion(
        random_embedding(300, 3),
        epsilons=[3.0],
        public=public,
        further=[learnt_attack(600)],
        effort=effort,
    )
    attacked = found.results[0].attacker(IN_CONTEXT)
    assert attacked is not None
    read_before, new = named
    if leaks:
        assert abs(read_before - new) < 0.01
        return
    assert read_before > new + 0.08, "the one who reads the attacked text knows all of the public text"
    assert attacked.word.first.low < new < attacked.word.first.high


def test_a_ranker_begins_as_the_ranking_it_is_given_and_does_not_look_at_the_right_ones() -> None:
    from deniable.lab.neural.candidate_ranker import CandidateRanker, RankedText, RankerSettings, rank

    random = np.random.default_rng(0)
    chances = random.dirichlet(np.ones(4), size=250)
    text = RankedText(
        released=random.integers(9, size=250),
        words=np.stack([random.permutation(9)[:4] for _ in range(250)]),
        logs=np.log(chances),
        features=random.standard_normal((250, 4, 6)),
        right=random.integers(4, size=250),
    )
    model = CandidateRanker(torch.randn(11, 3), RankerSettings())
    assert rank(model, text, device=torch.device("cpu")) == pytest.approx(chances, abs=1e-5)
    assert [len(part.released) for part in text.parts(100)] == [100, 100, 50]


def test_the_audit_tries_it_when_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = tmp_path / "public.txt"
    documents = follow_at_a_distance(WORDS, 120, 20, seed=1)
    public.write_text(
        "\n".join(" ".join(f"w{i}" for i in document) for document in documents), encoding="utf-8"
    )
    effort = InversionEffort.of(10, points=16, draws=10, places=200, support=60, directions=60)
    found = audit_inversion(
        random_embedding(WORDS, 3),
        epsilons=[1.5],
        public=public,
        further=[learnt_attack(500)],
        effort=effort,
    )
    last = found.results[0].attackers[-1]
    assert last.name == LEARNT
    assert "Released public text" in last.knows
    with pytest.raises(InvalidParameter, match="further"):
        audit_inversion(random_embedding(WORDS, 3), epsilons=[1.5], further=[learnt_attack()])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="lab"):
        learnt_attack()
