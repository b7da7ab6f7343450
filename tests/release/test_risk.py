"""Levels of risk give ε by public facts alone, and cards and receipts say so."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer, Release, TargetsNotMet
from deniable.embeddings import store
from deniable.embeddings.derived import leave_out
from deniable.measures.bayes_bound import bayes_bound
from deniable.measures.risk import LEVELS, english_group, english_words, epsilon_of_risk, share_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.card import card_from
from deniable.words.never_release import NeverRelease
from tests.support.commands import invoke


@pytest.mark.parametrize(
    ("level", "without_names"), [*((level, False) for level in LEVELS), ("medium", True)]
)
def test_the_levels_of_the_built_in_embedding_are_what_the_bound_says(
    level: str, without_names: bool
) -> None:
    embedding = Embedding.open()
    if without_names:
        embedding = leave_out(embedding, NeverRelease.of("names"))
    epsilon = epsilon_of_risk(ChosenMechanism(), embedding, level)
    found = bayes_bound(
        Multivariate(embedding, epsilon=epsilon), english_words(embedding), draws=1_500, seed=99
    )
    assert found is not None
    assert found.low <= LEVELS[level]
    assert 0.85 * LEVELS[level] < found.high


def test_a_release_takes_a_level_in_place_of_epsilon() -> None:
    release = Release(risk="low")
    assert release.epsilon is not None
    assert release == replace(release)
    assert pickle.loads(pickle.dumps(release)) == release
    assert Release(risk=0.08).epsilon == release.epsilon < (Release(risk="medium").epsilon or 0.0)
    assert "risk" not in Release(epsilon=6).describe()
    with pytest.raises(InvalidParameter, match="one of the two"):
        Release(risk="low", epsilon=6)
    for wrong in ("lowest", 0.0, 1.0, True, "nan"):
        with pytest.raises(InvalidParameter, match="risk"):
            Release(risk=wrong)
    with pytest.raises(InvalidParameter, match="give epsilon"):
        Release(risk="low", mechanism=Multivariate.__mro__[1])
    assert share_of("0.25") == 0.25


def test_the_card_and_the_receipt_say_which_level() -> None:
    private = Release(risk="medium").make()
    private("a public sentence")
    receipt, card = private.receipt().to_dict(), private.card
    assert receipt["risk"]["named_at_most"] == card.to_dict()["risk"] == card.risk == 0.17
    assert "17 %" in private.receipt().summary()
    assert card_from(card.to_dict()) == card
    plain = Privatizer(Multivariate(Embedding.open(), epsilon=6))
    assert "risk" not in plain.card.to_dict()
    assert "risk" not in plain.receipt().to_dict()


def test_released_words_count_as_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    built_in, few = Embedding.open(), 1_500
    store.save(Embedding(list(built_in.words[:few]), built_in.vectors[:few]), "few")
    plain, redacted = (
        Release(risk=0.2, embedding="few", unknown=unknown).epsilon for unknown in ("perturb", "redact")
    )
    assert plain is not None
    assert redacted is not None
    assert redacted < plain
    with pytest.raises(TargetsNotMet):
        Release(risk="low", embedding="few", keep_words=built_in.words[:100])


def test_a_vocabulary_that_is_not_english_needs_epsilon() -> None:
    with pytest.raises(InvalidParameter, match="English"):
        epsilon_of_risk(ChosenMechanism(), Embedding(["eins", "zwei"], np.eye(2)), "low")


def test_the_command_takes_a_level(tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.txt"
    text.write_text("a public sentence\n")
    both = invoke("privatize", text, "--risk low --epsilon 6").exception
    assert isinstance(both, InvalidParameter)
    assert (both.name, both.exit_code) == ("risk", 2)
    done = invoke("privatize", text, "--risk low -o", out, "--quiet")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out.txt.receipt.json").read_text())["risk"]["named_at_most"] == 0.08
    assert json.loads((tmp_path / "out.txt.card.json").read_text())["risk"] == 0.08


def test_a_list_is_judged_among_its_own_words_and_chooses_epsilon_by_the_command(tmp_path: Path) -> None:
    embedding = Embedding.open()
    listed = ["diabetes", "asthma", "cancer", "influenza", "qzxv"]
    group = english_group(embedding, listed)
    assert np.count_nonzero(group.shares) == 4  # nobody tells unknown words apart
    with pytest.raises(InvalidParameter):
        english_group(embedding, listed[4:])
    (tmp_path / "diagnoses.txt").write_text("\n".join(listed[:4]))
    command = ("calibrate --named-at-most 0.8 --json --words", tmp_path / "diagnoses.txt")
    ended = invoke(*command)
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    bound = bayes_bound(Multivariate(embedding, epsilon=found["epsilon"]), group, seed=99)
    assert bound is not None
    assert bound.blind == pytest.approx(found["bayes_bound"]["blind"])
    assert bound.low <= found["bayes_bound"]["high"] <= 0.8
    assert invoke(*command, "--sample 9").exit_code == 2
