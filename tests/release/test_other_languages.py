"""Releases in languages that ask for more than the plain rules: what comes out, and that a receiver counts
the words that were released."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Embedding, Keyed, MalformedCard, Multivariate, Privatizer
from deniable.embeddings import store
from deniable.release.card import parse_card
from deniable.words.cutter import RULES, Cutter
from deniable.words.languages import LANGUAGE_RULES
from deniable.words.released import ReleasedWords
from tests.support.made_languages import TEXTS, VOCABULARIES, made_embedding

KEY = bytes(range(32))


def make_private(embedding: Embedding, epsilon: float = 1.0, **policy: Any) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=epsilon), randomness=Keyed(KEY), **policy)


@pytest.mark.parametrize(
    ("language", "text", "released"),
    [
        ("french", "L’homme, c'est l'eau !", "l' homme c' est l' eau"),
        ("japanese", "東京タワーが好き。Tシャツ", "東京 タワー が 好き tシャツ"),
        ("japanese", "猫が魚を食べた", "猫 が 魚 を 食べる た"),
        ("chinese", "北京大学生喜欢医生", "北京大学 生 喜欢 医生"),
        ("thai", "ฉันรักแมวที่โรงพยาบาล น้ำ", "ฉัน รัก แมว ที่ โรงพยาบาล น้ำ"),
        ("arabic", "ذَهَبَ في البيـــت", "ذهب في البيت"),
        ("decomposed", "über the café", "u\u0308ber the cafe\u0301"),
    ],
)
def test_with_hardly_any_noise_words_come_back_between_spaces(
    language: str, text: str, released: str
) -> None:
    assert make_private(made_embedding(language), epsilon=1e6)(text, record_id=1) == released


@pytest.mark.parametrize(
    "policy",
    [{}, {"punctuation": "keep"}, {"case": "keep"}, {"punctuation": "keep", "case": "keep"}],
    ids=str,
)
@pytest.mark.parametrize("language", VOCABULARIES)
def test_a_receiver_reads_the_words_that_were_released(language: str, policy: dict[str, Any]) -> None:
    embedding = made_embedding(language)
    private, drawn = make_private(embedding, **policy), 0
    reader, cutter = ReleasedWords(embedding), Cutter(embedding)
    texts = TEXTS[language] * 60
    released = private.many(texts, record_ids=range(len(texts)))
    for text, out, ids in zip(texts, released, reader.ids(released), strict=True):
        assert len(ids) == len(cutter.words(text)), (text, out)
        assert embedding.unknown_id not in ids
        drawn += len(ids)
    assert reader.count(released).words == drawn == private.receipt().to_dict()["counts"]["words"]


@pytest.mark.parametrize("language", ["japanese", "chinese", "thai"])
def test_what_is_released_is_cut_into_the_same_words_again(language: str) -> None:
    embedding = made_embedding(language)
    released = make_private(embedding).many(TEXTS[language] * 60, record_ids=range(60 * len(TEXTS[language])))
    cutter, reader = Cutter(embedding), ReleasedWords(embedding)
    for text, ids in zip(released, reader.ids(released), strict=True):
        assert reader.cutter.ids(cutter.words(text or "")) == ids.tolist()


CLITICS = {
    "french": ["l'", "d'", "s'", "homme", "eau", "'s", "n't", "'ll"],
    "japanese": ["猫", "魚", "が", "'s", "n't", "'ll"],
    "thai": ["แมว", "หมอ", "'s", "n't"],
}


@pytest.mark.parametrize("policy", [{}, {"punctuation": "keep"}], ids=str)
@pytest.mark.parametrize("language", CLITICS)
def test_clitics_of_a_vocabulary_with_rules_are_released_as_words_that_are_read_again(
    language: str, policy: dict[str, Any]
) -> None:
    words = CLITICS[language]
    embedding = Embedding(words, np.random.default_rng(7).standard_normal((len(words), 4)))
    texts = [f"{one} {other}" for one in words for other in words]
    released = make_private(embedding, epsilon=1e6, **policy).many(texts, record_ids=range(len(texts)))
    assert released == texts
    cutter, reader = Cutter(embedding), ReleasedWords(embedding)
    expected = [[embedding.index[word] for word in text.split()] for text in texts]
    assert [ids.tolist() for ids in reader.ids(released)] == expected
    assert [reader.cutter.ids(cutter.words(text or "")) for text in released] == expected


def test_clitics_are_joined_as_ever_where_text_is_cut_plainly() -> None:
    embedding = Embedding(CLITICS["japanese"], np.random.default_rng(7).standard_normal((6, 4)))
    embedding.cut_plainly()
    assert make_private(embedding, epsilon=1e6)("猫 's", record_id=1) == "猫's"
    assert make_private(embedding, epsilon=1e6, punctuation="keep")("猫 's", record_id=1) == "猫's"


def test_texts_that_differ_in_unknown_words_alone_give_the_same_words() -> None:
    one, other = "猫が龘を食べた。マイクロソフト", "猫が鱻を食べた! 「ドイツ」"
    private = make_private(made_embedding("japanese"))
    assert private(one, record_id=1) == private(other, record_id=1)


def test_keyed_noise_names_the_rules_where_they_are_not_the_plain_ones() -> None:
    languages, plain = made_embedding("french"), made_embedding("french")
    plain.cut_plainly()
    text = " ".join(["homme", "eau", "chien", "vu"] * 10)  # cut alike by both
    assert Cutter(languages).words(text) == Cutter(plain).words(text)
    assert make_private(languages)(text, record_id=1) != make_private(plain)(text, record_id=1)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Embedding], dict[str, Any]]:
    """Stores an embedding and returns the card of a release with it."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))

    def card(embedding: Embedding) -> dict[str, Any]:
        store.save(embedding, "stored")
        return Privatizer(Multivariate(Embedding.open("stored"), epsilon=1.0)).card.to_dict()

    return card


def test_the_card_names_the_rules_and_cards_of_before_are_read_by_theirs(
    stored: Callable[[Embedding], dict[str, Any]],
) -> None:
    said = stored(made_embedding("japanese"))
    assert said["rules_for_words"] == LANGUAGE_RULES
    for rules, words in ((LANGUAGE_RULES, ["東京", "タワー"]), (RULES, ["東京タワー"])):
        opened = parse_card(json.dumps(said | {"rules_for_words": rules}).encode(), "card").open_embedding()
        assert Cutter(opened).words("東京タワー") == words


def test_a_card_that_names_rules_which_the_embedding_does_not_ask_for_is_refused(
    stored: Callable[[Embedding], dict[str, Any]],
) -> None:
    said = stored(Embedding(["the", "fox"], np.eye(2)))
    assert said["rules_for_words"] == RULES
    card = parse_card(json.dumps(said | {"rules_for_words": LANGUAGE_RULES}).encode(), "card")
    with pytest.raises(MalformedCard, match="rules"):
        card.open_embedding()


def test_what_is_said_of_the_words_is_noted_when_an_embedding_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    file = tmp_path / "words.vec"
    words = VOCABULARIES["decomposed"]
    lines = [f"{len(words)} 2", *(f"{word} {i} 1" for i, word in enumerate(words))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    added = store.add(file, "made")
    assert added.cutting is not None
    assert [line.rpartition(": ")[2] for line in added.cutting] == ["3", "1"]
    assert list(Embedding.open("made").words) == words  # as they are in the file, and so its fingerprint
    assert store.save(Embedding(["the", "fox"], np.eye(2)), "plain").cutting is None
