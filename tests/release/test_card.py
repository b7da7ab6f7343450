"""A card holds what decoding needs and nothing of the text; a wrong one is told apart."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from deniable import Embedding, InvalidParameter, Keyed, MalformedCard, Multivariate, Privatizer
from deniable.embeddings import store
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import CATALOGUE, chosen_as, identity_of, make_mechanism
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.release import card as module
from deniable.release.card import Card, card_from, read_card
from tests.support.strategies import random_embedding

EMBEDDING = random_embedding(30, 3)
OPTIONS: dict[str, dict[str, object]] = {
    "vickrey": {"t": 0.5, "noise": "mahalanobis", "lam": 0.3},
    "rank-smoothing": {"c": 0.1, "over": "gaussian"},
    "santext-plus": {"sensitive": EMBEDDING.words[:3], "p": 0.3},
    "tem": {"beta": 0.01},
    "custext": {"k": 4},
    "mahalanobis": {"lam": 0.4},
}

Change = Callable[[dict[str, Any]], object]


class Own(Multivariate):
    """A mechanism that is in no catalogue."""


def written(mechanism: Mechanism, folder: Path, **settings: Any) -> Card:
    """Return the card of a release, written and read."""
    private = Privatizer(mechanism, **settings)
    private.card.write(folder / "out.csv.card.json")
    card = read_card(folder / "out.csv.card.json")
    assert card == private.card
    return card


def edited(folder: Path, change: Change, *, name: str = "multivariate") -> Path:
    """Return the file of a card in which something was changed by hand."""
    made = make_mechanism(name, EMBEDDING, epsilon=2.0, options=OPTIONS.get(name))
    data = Privatizer(made).card.to_dict()
    change(data)
    path = folder / "x.card.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def refused(why: str, call: Callable[[], object]) -> MalformedCard:
    """Return by which error a card is refused: one line that says why."""
    with pytest.raises(MalformedCard, match=why) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mechanism_is_named_so_that_it_can_be_made_again(name: str, tmp_path: Path) -> None:
    made = make_mechanism(name, EMBEDDING, epsilon=2.5, options=OPTIONS.get(name, {}))
    chosen = chosen_as(made)
    assert chosen is not None
    assert chosen.name == name
    again = written(made, tmp_path).make_mechanism(EMBEDDING)
    assert identity_of(again) == identity_of(made)
    assert again.epsilon == 2.5


def test_the_sensitive_words_of_santext_plus_are_found_again_in_a_vocabulary_with_upper_case(
    tmp_path: Path,
) -> None:
    words = ["john", "John", "JOHN", "don't", "U.S.", "a", "b"]
    embedding = Embedding(words, np.random.default_rng(3).normal(size=(len(words), 3)))
    listed = {"sensitive": ["John", "u.s.", "nowhere"]}
    made = make_mechanism("santext-plus", embedding, epsilon=1.0, options=listed)
    card = written(made, tmp_path)
    assert card.mechanism is not None
    assert "nowhere" not in card.to_json(), "it has no effect and is nobody's business"
    assert identity_of(card.make_mechanism(embedding)) == identity_of(made)


def test_a_mechanism_of_the_users_own_is_not_named(tmp_path: Path) -> None:
    card = written(Own(EMBEDDING, epsilon=1.0), tmp_path)
    assert (card.mechanism, card.kind) == (None, "Own")
    assert any(sentence.startswith("Own is ") for sentence in card.in_words)
    refused("own", lambda: card.make_mechanism(EMBEDDING))


def test_a_card_is_the_same_whatever_was_released() -> None:
    cards = set()
    for texts in (["one two three", "unknown"], ["x " * 500, None, ""], []):
        private = Privatizer(Multivariate(EMBEDDING, epsilon=2.0), keep_words=[EMBEDDING.words[1]])
        private.many(texts)
        cards.add(private.card.to_json())
    assert len(cards) == 1


def test_a_card_shows_neither_a_key_nor_a_seed_nor_what_is_drawn_from_them() -> None:
    mechanism = Multivariate(EMBEDDING, epsilon=2.0)
    sources = (Keyed.new(), Keyed.new(), None, InsecureSeededRandomness(insecure_seed=77_123))
    assert len({Privatizer(mechanism, randomness=source).card.to_json() for source in sources}) == 1
    assert Privatizer(mechanism, randomness=Keyed.new(consistent=True)).card.consistent


def test_the_policies_stand_on_the_card(tmp_path: Path) -> None:
    kept = EMBEDDING.words[4]
    policies = {"unknown": "redact", "punctuation": "keep", "case": "keep"}
    card = written(
        Multivariate(EMBEDDING, epsilon=2.0), tmp_path, **policies, keep_words=[kept.upper(), "nobody"]
    )
    assert (card.unknown, card.policy.punctuation, card.policy.case) == ("redact", "keep", "keep")
    assert card.keep_words == (kept,), "as the vocabulary spells it; what it does not hold is not published"
    assert EMBEDDING.words[card.kept_ids(EMBEDDING).item()] == kept
    assert (card.embedding.words, card.embedding.dimension, card.embedding.protected_words) == (30, 3, 0)


def test_the_epsilon_of_a_word_can_be_told_by_the_number_of_drawn_words(tmp_path: Path) -> None:
    mechanism = Multivariate(EMBEDDING, epsilon=3.0)
    fixed = written(mechanism, tmp_path)
    assert [fixed.epsilon_of_a_word(drawn) for drawn in (0, 1, 100)] == [3.0, 3.0, 3.0]
    assert any("ε = 3." in sentence for sentence in fixed.in_words)
    budgeted = written(mechanism, tmp_path, record_epsilon=12.0)
    assert [budgeted.epsilon_of_a_word(drawn) for drawn in (0, 1, 4, 24)] == [3.0, 3.0, 3.0, 0.5]
    assert any("the smaller of 3 and 12 divided by" in sentence for sentence in budgeted.in_words)
    kept = written(mechanism, tmp_path, record_epsilon=12.0, keep_words=[EMBEDDING.words[0]])
    assert any("may have been kept or drawn" in sentence for sentence in kept.in_words)


@pytest.mark.parametrize("policy", ["perturb", "redact", "drop"])
def test_the_epsilon_that_the_card_tells_is_the_one_that_was_drawn_with(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[float] = []
    perturb = Multivariate.perturb

    def noted(self: Multivariate, ids: Any, randomness: Any, *, epsilon: Any = None) -> Any:
        used.extend(np.broadcast_to(epsilon, len(ids)).tolist())
        return perturb(self, ids, randomness, epsilon=epsilon)

    monkeypatch.setattr(Multivariate, "perturb", noted)
    private = Privatizer(Multivariate(EMBEDDING, epsilon=3.0), record_epsilon=7.0, unknown=policy)
    first, second = EMBEDDING.words[:2]
    released = private(f"{first} {second} nobody {first} nobody2")
    drawn = sum(word != "[redacted]" for word in released.split())
    assert used == [private.card.epsilon_of_a_word(drawn)] * drawn


def test_half_a_character_in_the_name_of_a_column_is_written_out(tmp_path: Path) -> None:
    whole = Privatizer(Multivariate(EMBEDDING, epsilon=2.0)).card
    whole.for_columns(["te\udcffxt", "größe"]).write(tmp_path / "c")
    card = read_card(tmp_path / "c")
    assert card.columns == ("te\\udcffxt", "größe")
    assert [card.lists(name) for name in ("te\udcffxt", "größe", "age")] == [True, True, False]
    assert replace(card, columns=()).lists("age"), "a card without columns says nothing of them"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(EMBEDDING, "mine")
    return tmp_path


@pytest.fixture
def card(home: Path) -> Card:
    """The card of a release with the stored embedding."""
    return Privatizer(Multivariate(Embedding.open("mine"), epsilon=2.0)).card


TWICE_AS_LONG = Embedding(EMBEDDING.words, np.asarray(EMBEDDING.vectors) * 2.0)


def test_another_embedding_than_that_of_the_card_is_refused(card: Card) -> None:
    assert card.open_embedding().fingerprint == card.fingerprint
    late = card.fingerprint[:-1] + ("0" if card.fingerprint[-1] != "0" else "1")
    alike = replace(card, embedding=replace(card.embedding, fingerprint=late))
    error = refused("another one", alike.open_embedding)
    assert card.fingerprint in error.problem, "those that begin alike are shown whole"
    store.remove("mine")
    store.save(TWICE_AS_LONG, "mine")
    for name in (None, "default"):
        error = refused("another one", lambda name=name: card.open_embedding(name))  # type: ignore[misc]
        assert card.fingerprint[:12] in error.problem
        assert card.fingerprint not in error.problem
    store.remove("mine")
    refused("deniable embeddings add", card.open_embedding)


def test_the_embedding_is_found_by_its_content_under_any_name(card: Card) -> None:
    store.save(TWICE_AS_LONG, "another")
    store.remove("mine")
    store.save(EMBEDDING, "theirs")
    (store.store_folder() / "damaged").mkdir()
    assert card.open_embedding().name == "theirs"
    assert card.open_embedding(store.store_folder() / "theirs").name == "theirs"


def test_a_protected_embedding_is_another_one_and_is_asked_for_in_words(home: Path) -> None:
    protection = np.arange(31)
    protection[2] = 5
    plain = Embedding.open("mine")
    protected = Embedding.from_checked(
        plain.words, plain.vectors, plain.unknown, name="guarded", protection=protection
    )
    store.save(protected, "guarded")
    card = Privatizer(Multivariate(Embedding.open("guarded"), epsilon=2.0)).card
    assert card.embedding.protected_words == 1
    assert card.open_embedding().name == "guarded"
    store.remove("guarded")
    refused("Ask the data holder for its folder", card.open_embedding)


def test_the_name_on_a_card_is_never_taken_for_a_path(home: Path, tmp_path: Path) -> None:
    def at_a_path(data: dict[str, Any]) -> None:
        data["embedding"] |= {"name": str(store.store_folder() / "mine"), "fingerprint": "0" * 32}

    refused("no embedding here", read_card(edited(tmp_path, at_a_path)).open_embedding)


def top(**values: Any) -> Change:
    return lambda data: data.update(values)


def part(of: str, /, **values: Any) -> Change:
    return lambda data: data[of].update(values)


WRONG: dict[str, tuple[Change, str]] = {
    "a later format": (top(card=2), "format 2"),
    "a format that is no number": (top(card="1"), r"\$\.card"),
    "ε below 0": (top(epsilon_per_word=-1), "epsilon_per_word"),
    "another ε in numbers than in words": (top(epsilon_per_word=900.0), "ε = 900"),
    "ε of 0": (top(epsilon_per_record=0), "epsilon_per_record"),
    "ε as text": (top(epsilon_per_word="6"), r"\$\.epsilon_per_word"),
    "ε that is no number": (top(epsilon_per_word=float("nan")), "malformed"),
    "ε without end": (top(epsilon_per_word=float("inf")), "malformed"),
    "ε as true": (top(epsilon_per_word=True), r"\$\.epsilon_per_word"),
    "no ε": (lambda data: data.pop("epsilon_per_word"), "epsilon_per_word"),
    "no policy": (top(policy=None), r"\$\.policy"),
    "an unknown policy": (part("policy", unknown="pass"), r"\$\.policy\.unknown"),
    "no embedding": (top(embedding={}), r"\$\.embedding"),
    "another fingerprint": (part("embedding", fingerprint="../x"), "fingerprint"),
    "an unknown mechanism": (part("mechanism", name="magic"), "multivariate"),
    "another mechanism than its kind": (part("mechanism", name="santext"), "santext.*edited"),
    "another kind than its mechanism": (top(kind="Gaussian\n"), r"Multivariate, .* 'Gaussian\\n'"),
    "an unknown option": (part("mechanism", options={"t": 0.5}), "t = "),
    "a misspelled name": (top(colums=["text"]), "colums"),
    "columns as text": (top(columns="text"), r"\$\.columns"),
    "other rules for words": (top(rules_for_words=1), "rules"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_card_that_was_edited_wrongly_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    change, why = WRONG[name]
    error = refused(why, lambda: read_card(edited(tmp_path, change)))
    assert error.source == str(tmp_path / "x.card.json")


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("santext-plus", {"sensitive": "/etc/hostname"}, "sensitive = 'str'"),
        ("santext-plus", {}, "sensitive = None"),
        ("vickrey", {"t": "0.5"}, "t = 'str'"),
        ("custext", {"k": 4.5}, "k = 'float'"),
        ("vickrey", {"noise": ["mahalanobis"]}, "noise = 'list'"),
    ],
)
def test_options_on_a_card_are_values_and_name_no_files(
    name: str, options: dict[str, object], why: str, tmp_path: Path
) -> None:
    refused(why, lambda: read_card(edited(tmp_path, part("mechanism", options=options), name=name)))


def test_values_that_no_mechanism_takes_and_words_that_are_not_the_same_are_refused_when_it_is_made(
    tmp_path: Path,
) -> None:
    beyond = read_card(edited(tmp_path, part("mechanism", options={"t": 7.0}), name="vickrey"))
    refused("t = 7", lambda: beyond.make_mechanism(EMBEDDING))
    fewer = read_card(
        edited(tmp_path, lambda data: data["mechanism"]["options"]["sensitive"].pop(), name="santext-plus")
    )
    refused("another one here", lambda: fewer.make_mechanism(EMBEDDING))


def test_what_is_no_card_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, deep = tmp_path / "x.card.json", b"[" * 100_000
    for content in (
        b"\x00\xff",
        b"",
        b"[]",
        b"{}",
        deep,
        b'{"card": 1}',
        b'{"card": 1, "x": ' + deep,
        b'"\xff"',
    ):
        path.write_bytes(content)
        refused("no card", lambda: read_card(path))
    refused("No such file", lambda: read_card(tmp_path / "absent"))
    os.mkfifo(tmp_path / "pipe")
    refused("regular", lambda: read_card(tmp_path / "pipe"))
    monkeypatch.setattr(module, "LONGEST", 1_000)
    path.write_bytes(b" " * 1_001)
    refused("larger", lambda: read_card(path))


def test_a_card_is_taken_as_it_is_by_its_path_and_as_data(tmp_path: Path) -> None:
    card = written(Multivariate(EMBEDDING, epsilon=2.0), tmp_path)
    path, data = tmp_path / "out.csv.card.json", card.to_dict()
    assert card_from(card) is card
    assert card_from(path) == card_from(str(path)) == card_from(data) == card
    changed = [data | {"epsilon_per_word": -1}, data | {"more": 1}]
    for wrong in ({}, *changed, {"card": {1j}}, {"card": float("nan")}):
        error = refused("card", lambda wrong=wrong: card_from(wrong))  # type: ignore[misc]
        assert error.source == "given as data"
    for nothing in (None, 3, b"card"):
        with pytest.raises(InvalidParameter) as none:
            card_from(nothing)  # type: ignore[arg-type]
        assert none.value.name == "card"
