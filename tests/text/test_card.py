"""A card holds what decoding needs and nothing of the text; a wrong one is told apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.errors import MalformedCard
from deniable.mechanisms.catalogue import CATALOGUE, chosen_as, identity_of, make_mechanism
from deniable.text.card import Card, read_card
from tests.support.strategies import random_embedding

EMBEDDING = random_embedding(30, 3)
OPTIONS: dict[str, dict[str, object]] = {
    "vickrey": {"t": 0.5, "noise": "mahalanobis", "lam": 0.3},
    "rank-smoothing": {"c": 0.1, "over": "gaussian"},
    "tem": {"beta": 0.01},
    "custext": {"k": 4},
    "mahalanobis": {"lam": 0.4},
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mechanism_is_named_so_that_it_can_be_made_again(name: str, tmp_path: Path) -> None:
    options: dict[str, object] = {"sensitive": EMBEDDING.words[:3]} if name == "santext-plus" else OPTIONS.get(name, {})
    made = make_mechanism(name, EMBEDDING, epsilon=2.5, options=options)
    chosen = chosen_as(made)
    assert chosen is not None
    assert chosen.name == name
    if name == "santext-plus":
        assert "sensitive" not in chosen.options  # a list of words has to be given again
        return
    path = tmp_path / "out.csv.card.json"
    path.write_text(Card.of(Privatizer(made).settings).to_json(), encoding="utf-8")
    again = read_card(path).make_mechanism(EMBEDDING)
    assert identity_of(again) == identity_of(made)
    assert again.epsilon == 2.5


def test_a_mechanism_of_the_users_own_is_not_named() -> None:
    class Own(Multivariate):
        pass

    card = Card.of(Privatizer(Own(EMBEDDING, epsilon=1.0)).settings)
    assert card.mechanism is None
    assert card.kind == "Own"


def test_a_card_is_the_same_whatever_was_released() -> None:
    cards = []
    for texts in (["one two three", "unknown"], ["x " * 500, None, ""]):
        private = Privatizer(Multivariate(EMBEDDING, epsilon=2.0), keep_words=[EMBEDDING.words[1]])
        private.many(texts)
        cards.append(Card.of(private.settings).to_json())
    assert cards[0] == cards[1]


def test_a_card_shows_neither_a_key_nor_its_name() -> None:
    key = Keyed.new()
    card = Card.of(Privatizer(Multivariate(EMBEDDING, epsilon=2.0), randomness=key).settings).to_json()
    assert key.fingerprint not in card


def test_another_embedding_than_that_of_the_card_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.embeddings import store

    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(EMBEDDING, "mine")
    card = Card.of(Privatizer(Multivariate(Embedding.open("mine"), epsilon=2.0)).settings)
    assert card.open_embedding().fingerprint == card.fingerprint
    store.remove("mine")
    store.save(Embedding(EMBEDDING.words, np.asarray(EMBEDDING.vectors) * 2.0), "mine")
    with pytest.raises(MalformedCard, match="another one"):
        card.open_embedding()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"card": 2}, "format 2"),
        ({"epsilon_per_word": -1}, "greater than 0"),
        ({"epsilon_per_word": "6"}, "greater than 0"),
        ({"policy": None}, "no card"),
        ({"embedding": {}}, "no card"),
    ],
)
def test_what_is_no_card_is_refused_in_one_line(change: dict[str, object], why: str, tmp_path: Path) -> None:
    data = Card.of(Privatizer(Multivariate(EMBEDDING, epsilon=2.0)).settings).to_dict() | change
    path = tmp_path / "x.card.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedCard, match=why):
        read_card(path)
    path.write_bytes(b"\x00\xff")
    with pytest.raises(MalformedCard, match="no card"):
        read_card(path)
    with pytest.raises(MalformedCard, match="No such file"):
        read_card(tmp_path / "absent")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"epsilon_per_word": float("inf")}, "finite number greater than 0"),
        ({"epsilon_per_word": 10**400}, "OverflowError"),
        ({"epsilon_per_record": float("nan")}, "finite number greater than 0"),
        ({"epsilon_per_word": True}, "finite number greater than 0"),
        ({"mechanism": {"name": "santext-plus", "options": {"sensitive": "/etc/passwd"}}}, "holds no list of words"),
    ],
)
def test_a_card_that_cannot_be_is_refused(change: dict[str, object], says: str, tmp_path: Path) -> None:
    card = Card.of(Privatizer(Multivariate(EMBEDDING, epsilon=2.0)).settings).to_dict()
    (tmp_path / "card").write_text(json.dumps(card | change))
    with pytest.raises(MalformedCard, match=says):
        read_card(tmp_path / "card")
