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


class Own(Multivariate):
    """A mechanism that is in no catalogue."""


def written(mechanism: Mechanism, folder: Path, **settings: Any) -> Card:
    """Return the card of a release, written and read."""
    private = Privatizer(mechanism, **settings)
    private.card.write(folder / "out.csv.card.json")
    card = read_card(folder / "out.csv.card.json")
    assert card == private.card
    return card


def edited(folder: Path, change: Callable[[dict[str, Any]], object], *, name: str = "multivariate") -> Path:
    """Return the file of a card in which something was changed by hand."""
    made = make_mechanism(name, EMBEDDING, epsilon=2.0, options=OPTIONS.get(name))
    data = Privatizer(made).card.to_dict()
    change(data)
    path = folder / "x.card.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


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
    made = make_mechanism(
        "santext-plus", embedding, epsilon=1.0, options={"sensitive": ["John", "u.s.", "nowhere"]}
    )
    card = written(made, tmp_path)
    assert card.mechanism is not None
    assert "nowhere" not in card.to_json(), (
        "what the embedding does not know has no effect and is nobody's business"
    )
    assert identity_of(card.make_mechanism(embedding)) == identity_of(made)


def test_a_mechanism_of_the_users_own_is_not_named(tmp_path: Path) -> None:
    card = written(Own(EMBEDDING, epsilon=1.0), tmp_path)
    assert card.mechanism is None
    assert card.kind == "Own"
    assert any("Own is a mechanism of the data holder's own" in sentence for sentence in card.in_words)
    with pytest.raises(MalformedCard, match="of the data holder's own"):
        card.make_mechanism(EMBEDDING)


def test_a_card_is_the_same_whatever_was_released() -> None:
    cards = []
    for texts in (["one two three", "unknown"], ["x " * 500, None, ""], []):
        private = Privatizer(Multivariate(EMBEDDING, epsilon=2.0), keep_words=[EMBEDDING.words[1]])
        private.many(texts)
        cards.append(private.card.to_json())
    assert cards[0] == cards[1] == cards[2]


def test_a_card_shows_neither_a_key_nor_a_seed_nor_what_is_drawn_from_them() -> None:
    mechanism = Multivariate(EMBEDDING, epsilon=2.0)
    cards = {
        Privatizer(mechanism, randomness=source).card.to_json() for source in (Keyed.new(), Keyed.new(), None)
    }
    cards.add(Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=77_123)).card.to_json())
    assert len(cards) == 1
    assert Privatizer(mechanism, randomness=Keyed.new(consistent=True)).card.consistent


def test_the_policies_stand_on_the_card(tmp_path: Path) -> None:
    kept = EMBEDDING.words[4]
    policies: dict[str, Any] = {
        "unknown": "redact",
        "punctuation": "keep",
        "case": "keep",
        "keep_words": [kept, "nobody"],
    }
    card = written(Multivariate(EMBEDDING, epsilon=2.0), tmp_path, **policies)
    assert (card.unknown, card.policy.punctuation, card.policy.case) == ("redact", "keep", "keep")
    assert card.keep_words == (kept,), (
        "a listed word that the vocabulary does not hold is not kept, and not published"
    )
    assert (card.embedding.words, card.embedding.dimension, card.embedding.protected_words) == (30, 3, 0)


def test_a_list_of_words_to_keep_stands_on_the_card_as_the_vocabulary_spells_it() -> None:
    embedding = Embedding(["fox", "soup", "tea"], np.eye(3))
    assert Privatizer(Multivariate(embedding, epsilon=1.0), keep_words=["FOX", "Tea"]).card.keep_words == (
        "fox",
        "tea",
    )


def test_the_epsilon_of_a_word_can_be_told_by_the_number_of_drawn_words(tmp_path: Path) -> None:
    mechanism = Multivariate(EMBEDDING, epsilon=3.0)
    fixed = written(mechanism, tmp_path)
    assert [fixed.epsilon_of_a_word(drawn) for drawn in (0, 1, 100)] == [3.0, 3.0, 3.0]
    assert "Every word that was drawn was drawn at ε = 3." in fixed.in_words
    budgeted = written(mechanism, tmp_path, record_epsilon=12.0)
    assert [budgeted.epsilon_of_a_word(drawn) for drawn in (0, 1, 4, 24)] == [3.0, 3.0, 3.0, 0.5]
    assert any(
        "the smaller of 3 and 12 divided by the number of words" in sentence for sentence in budgeted.in_words
    )
    kept = written(mechanism, tmp_path, record_epsilon=12.0, keep_words=[EMBEDDING.words[0]])
    assert any("each of which may have been kept or drawn" in sentence for sentence in kept.in_words)


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
    Privatizer(Multivariate(EMBEDDING, epsilon=2.0)).card.for_columns(["te\udcffxt", "größe"]).write(
        tmp_path / "c"
    )
    card = read_card(tmp_path / "c")
    assert card.columns == ("te\\udcffxt", "größe")
    assert [card.lists(name) for name in ("te\udcffxt", "größe", "age")] == [True, True, False]
    assert replace(card, columns=()).lists("age"), "a card without columns says nothing of them"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(EMBEDDING, "mine")
    return tmp_path


def test_another_embedding_than_that_of_the_card_is_refused(home: Path) -> None:
    card = Privatizer(Multivariate(Embedding.open("mine"), epsilon=2.0)).card
    assert card.open_embedding().fingerprint == card.fingerprint
    store.remove("mine")
    store.save(Embedding(EMBEDDING.words, np.asarray(EMBEDDING.vectors) * 2.0), "mine")
    with pytest.raises(
        MalformedCard, match=rf"another one \(fingerprint [0-9a-f]{{12}}\) .* \({card.fingerprint[:12]}\)"
    ):
        card.open_embedding()
    with pytest.raises(MalformedCard, match="another one"):
        card.open_embedding("default")
    store.remove("mine")
    with pytest.raises(MalformedCard, match="add the same file with `deniable embeddings add`"):
        card.open_embedding()


def test_fingerprints_that_begin_alike_are_shown_whole(home: Path) -> None:
    card = Privatizer(Multivariate(Embedding.open("mine"), epsilon=2.0)).card
    late = card.fingerprint[:-1] + ("0" if card.fingerprint[-1] != "0" else "1")
    with pytest.raises(
        MalformedCard, match=rf"\(fingerprint {card.fingerprint}\) than the text was released with \({late}\)"
    ):
        replace(card, embedding=replace(card.embedding, fingerprint=late)).open_embedding()


def test_the_embedding_is_found_by_its_content_under_any_name(home: Path) -> None:
    card = Privatizer(Multivariate(Embedding.open("mine"), epsilon=2.0)).card
    store.save(Embedding(EMBEDDING.words, np.asarray(EMBEDDING.vectors) * 2.0), "another")
    store.remove("mine")
    store.save(EMBEDDING, "theirs")
    (store.store_folder() / "damaged").mkdir()
    assert card.open_embedding().name == "theirs"
    path = store.store_folder() / "theirs"
    assert card.open_embedding(path).name == "theirs"


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
    with pytest.raises(
        MalformedCard, match=r"whose exposed words go in as others\. Ask the data holder for its folder"
    ):
        card.open_embedding()


def test_the_name_on_a_card_is_never_taken_for_a_path(home: Path, tmp_path: Path) -> None:
    def at_a_path(data: dict[str, Any]) -> None:
        data["embedding"]["name"] = str(store.store_folder() / "mine")
        data["embedding"]["fingerprint"] = "0" * 32

    with pytest.raises(MalformedCard, match="no embedding here has the fingerprint"):
        read_card(edited(tmp_path, at_a_path)).open_embedding()


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a later format": (lambda data: data.update(card=2), "format 2 is not known"),
    "a format that is no number": (lambda data: data.update(card="1"), r"no card .*\$\.card"),
    "ε below 0": (lambda data: data.update(epsilon_per_word=-1), "greater than 0"),
    "another ε in numbers than in words": (
        lambda data: data.update(epsilon_per_word=900.0),
        "say ε = 900 and its sentences do not",
    ),
    "ε of 0": (lambda data: data.update(epsilon_per_record=0), "greater than 0"),
    "ε as text": (lambda data: data.update(epsilon_per_word="6"), r"\$\.epsilon_per_word"),
    "ε that is no number": (lambda data: data.update(epsilon_per_word=float("nan")), "malformed"),
    "ε without end": (lambda data: data.update(epsilon_per_word=float("inf")), "malformed"),
    "ε as true": (lambda data: data.update(epsilon_per_word=True), r"\$\.epsilon_per_word"),
    "no ε": (lambda data: data.pop("epsilon_per_word"), "epsilon_per_word"),
    "no policy": (lambda data: data.update(policy=None), r"\$\.policy"),
    "an unknown policy": (lambda data: data["policy"].update(unknown="pass"), r"\$\.policy\.unknown"),
    "no embedding": (lambda data: data.update(embedding={}), r"\$\.embedding"),
    "another fingerprint": (
        lambda data: data["embedding"].update(fingerprint="../x"),
        "32 hexadecimal digits",
    ),
    "an unknown mechanism": (
        lambda data: data["mechanism"].update(name="magic"),
        "must be one of: multivariate",
    ),
    "another mechanism than its kind": (
        lambda data: data["mechanism"].update(name="santext"),
        "its mechanism is santext, whose kind is SanText, and its kind says 'Multivariate': it was edited",
    ),
    "another kind than its mechanism": (
        lambda data: data.update(kind="Gaussian\n"),
        r"whose kind is Multivariate, .* 'Gaussian\\n'",
    ),
    "an unknown option": (
        lambda data: data["mechanism"].update(options={"t": 0.5}),
        "is no option of the mechanism multivariate",
    ),
    "a misspelled name": (lambda data: data.update(colums=["text"]), "colums"),
    "columns as text": (lambda data: data.update(columns="text"), r"\$\.columns"),
    "other rules for words": (lambda data: data.update(rules_for_words=1), "cut into words by rules"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_card_that_was_edited_wrongly_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    change, why = WRONG[name]
    with pytest.raises(MalformedCard, match=why) as raised:
        read_card(edited(tmp_path, change))
    assert "\n" not in str(raised.value)
    assert str(tmp_path / "x.card.json") in str(raised.value)


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("santext-plus", {"sensitive": "/etc/hostname"}, "sensitive = 'str': is no value"),
        ("santext-plus", {}, "must be given"),
        ("vickrey", {"t": "0.5"}, "t = 'str': is no value"),
        ("custext", {"k": 4.5}, "k = 'float': is no value"),
        ("vickrey", {"noise": ["mahalanobis"]}, "noise = 'list': is no value"),
    ],
)
def test_options_on_a_card_are_values_and_name_no_files(
    name: str, options: dict[str, object], why: str, tmp_path: Path
) -> None:
    with pytest.raises(MalformedCard, match=why):
        read_card(edited(tmp_path, lambda data: data["mechanism"].update(options=options), name=name))


def test_values_that_no_mechanism_takes_and_words_that_are_not_the_same_are_refused_when_it_is_made(
    tmp_path: Path,
) -> None:
    beyond = read_card(
        edited(tmp_path, lambda data: data["mechanism"].update(options={"t": 7.0}), name="vickrey")
    )
    with pytest.raises(MalformedCard, match=r"x.card.json: no mechanism can be made of it: t = "):
        beyond.make_mechanism(EMBEDDING)
    fewer = read_card(
        edited(tmp_path, lambda data: data["mechanism"]["options"]["sensitive"].pop(), name="santext-plus")
    )
    with pytest.raises(MalformedCard, match="another one here"):
        fewer.make_mechanism(EMBEDDING)


def test_what_is_no_card_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.card.json"
    for content in (
        b"\x00\xff",
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"card": 1}',
        b'{"card": 1, "x": ' + b"[" * 100_000,
        b'"\xff"',
    ):
        path.write_bytes(content)
        with pytest.raises(MalformedCard, match="no card"):
            read_card(path)
    with pytest.raises(MalformedCard, match="No such file"):
        read_card(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MalformedCard, match="not a regular file"):
        read_card(tmp_path / "pipe")
    monkeypatch.setattr("deniable.release.card._LONGEST", 1_000)
    path.write_bytes(b" " * 1_001)
    with pytest.raises(MalformedCard, match="larger than any card"):
        read_card(path)


def test_a_card_is_taken_as_it_is_by_its_path_and_as_data(tmp_path: Path) -> None:
    card = written(Multivariate(EMBEDDING, epsilon=2.0), tmp_path)
    path = tmp_path / "out.csv.card.json"
    assert card_from(card) is card
    assert card_from(path) == card_from(str(path)) == card_from(card.to_dict()) == card
    for wrong in (
        {},
        {**card.to_dict(), "epsilon_per_word": -1},
        {**card.to_dict(), "more": 1},
        {"card": {1j}},
        {"card": float("nan")},
    ):
        with pytest.raises(MalformedCard, match=r"^card given as data: ") as refused:
            card_from(wrong)
        assert "\n" not in str(refused.value)
    for nothing in (None, 3, b"card"):
        with pytest.raises(InvalidParameter, match="must be the card of the release"):
            card_from(nothing)  # type: ignore[arg-type]
