"""What vocabularies ask of the cutter, told by their words: elisions, Arabic marks, spelling. Runs without
spaces: ``test_unspaced``."""

from __future__ import annotations

import hashlib

import pytest

from deniable import Embedding
from deniable.words.cutter import RULES, Cutter, rules_for
from deniable.words.languages import (
    LANGUAGE_RULES,
    describe_cutting,
    find_language_rules,
    is_normal,
    normalise,
)
from tests.support.made_languages import TEXTS, VOCABULARIES, made_embedding


def rules_of(words: list[str]) -> object:
    return find_language_rules(words, {word: place for place, word in enumerate(words)}, cased=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l'homme", ["l'", "homme"]),
        ("L’HOMME", ["l'", "homme"]),
        ("l' homme", ["l'", "homme"]),
        ("l’«homme»", ["l'", "homme"]),
        ("d'eau", ["d'", "eau"]),
        ("qu'il", ["qu'", "il"]),
        ("jusqu'à", ["jusqu'", "à"]),
        ("aujourd'hui", ["aujourd'hui"]),
        ("qu'aujourd'hui", ["qu'", "aujourd'hui"]),
        ("l'avant-garde", ["l'", "avant-garde"]),
        ("chien-l'homme", ["chien", "l'", "homme"]),
        ("d'l'eau", ["d'", "l'", "eau"]),
        ("c'était l'été", ["c'", "était", "l'", "été"]),
        ("s'il", ["s", "il"]),  # the vocabulary does not hold "s'"
        ("el'homme", ["el", "homme"]),
        ("l'2000", ["l'", "2000"]),
        ("l'a@b.com", ["l'a@b.com"]),
        ("d'555-12-3456", ["d'", "555-12-3456"]),
    ],
)
def test_elided_forms_are_words_where_the_vocabulary_holds_them(text: str, words: list[str]) -> None:
    assert Cutter(made_embedding("french")).words(text) == words


def test_elided_forms_keep_their_case_where_it_is_kept() -> None:
    words, gaps = Cutter(made_embedding("french"), keep_case=True).words_and_gaps("L’Homme, l'Eau!")
    assert (words, gaps) == (["L'", "Homme", "l'", "Eau"], ["", "", ", ", "", "!"])


@pytest.mark.parametrize(
    "english",
    [
        ["the", "of", "and", "l'", "d'", "homme"],
        ["l'", "the", "d'"],
        sorted(["l'", "d'", "and", "the", "of", "'s", "homme"]),
        ["l'", "homme"],
        ["the", "fox", "'s", "n't"],
    ],
    ids=["frequent words first", "one of them late", "by the alphabet", "one form alone", "none"],
)
def test_an_english_vocabulary_that_holds_elided_forms_is_cut_as_ever(english: list[str]) -> None:
    assert rules_of(english) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("كُتُب", ["كتب"]),
        ("البيـــت", ["البيت"]),
        ("\ufef2\ufe8e\ufee3 ماء", ["يام", "ماء"]),
        ("ذَهَبَ في", ["ذهب", "في"]),
    ],
)
def test_arabic_marks_and_strokes_are_dropped(text: str, words: list[str]) -> None:
    assert Cutter(made_embedding("arabic")).words(text) == words


def test_a_vocabulary_with_vowel_marks_keeps_those_of_the_text() -> None:
    words = ["كَتَبَ", "كتب", "في", "ماء"]
    assert rules_of(words) is None
    embedding = Embedding(words, [[1.0], [2.0], [3.0], [4.0]])
    assert Cutter(embedding).words("كَتَبَ") == ["كَتَبَ"]


def test_words_are_looked_up_in_the_form_of_text() -> None:
    embedding = made_embedding("decomposed")
    assert Cutter(embedding).ids(Cutter(embedding).words("Café cafe\u0301 über the naïve")) == [
        0,
        0,
        1,
        2,
        embedding.unknown_id,
    ]


def test_of_two_words_that_coincide_the_one_spelled_as_text_is_goes_in() -> None:
    embedding = made_embedding("decomposed")
    assert Cutter(embedding).ids(Cutter(embedding).words("first \ufb01rst")) == [embedding.index["first"]] * 2
    both = Embedding(["the", "\ufb01n", "f\u0131n", "\uff46in"], [[1.0], [2.0], [3.0], [4.0]])
    assert Cutter(both).ids(Cutter(both).words("fin")) == [1]


def test_a_word_in_a_hundred_makes_a_language_and_fewer_do_not() -> None:
    english = [f"word{number}" for number in range(199)]
    for other in ("東京", "โรง", "cafe\u0301"):
        assert rules_of([*english[:99], other]) is not None
        assert rules_of([*english, other]) is None


def test_rules_are_numbered_by_the_vocabulary() -> None:
    assert rules_for(Embedding.open()) == RULES
    assert {rules_for(made_embedding(language)) for language in VOCABULARIES} == {LANGUAGE_RULES}
    plain = made_embedding("japanese")
    plain.cut_plainly()
    assert rules_for(plain) == RULES
    assert Cutter(plain).words("東京タワーに行った") == ["東京タワーに行った"]


def test_what_is_said_of_a_vocabulary() -> None:
    said = {
        name: describe_cutting(words, {word: i for i, word in enumerate(words)}, cased=False)
        for name, words in VOCABULARIES.items()
    }
    assert said["french"] == ("6 elided forms, such as l', are words of their own",)
    assert said["chinese"] == ("text in Chinese and Japanese writing is cut into words by the vocabulary",)
    assert said["arabic"] == ("vowel marks and lengthening strokes are dropped from Arabic text",)
    respelled, coinciding = said["decomposed"]
    assert respelled == "words that text spells otherwise than they come out (NFKC): 3"
    assert coinciding.endswith("(NFKC): 1")
    english = [*(f"word{number}" for number in range(400)), "\u00bd", "\ufb01rst", "first"]
    coinciding, unread = describe_cutting(english, {word: i for i, word in enumerate(english)}, cased=False)
    assert (coinciding[-3:], unread[-3:]) == (": 1", ": 1")
    assert describe_cutting(["the", "fox"], {"the": 0, "fox": 1}, cased=False) == ()


@pytest.mark.parametrize(
    "word",
    [
        *"fox l' l\u2019 ` café cafe\u0301 \ufb01n 東京 e\u2011mail so\u00adft".split(),
        "a" + "\u0301" * 60,
    ],
)
def test_a_word_that_is_called_normal_is_spelled_as_text_is(word: str) -> None:
    assert not is_normal(word) or normalise(word) == word
    assert is_normal(word) or normalise(word) != word or len(word) > 30


def test_whoever_changes_how_languages_are_cut_counts_their_rules_up() -> None:
    cut = "\n".join(
        word
        for language, texts in TEXTS.items()
        for text in texts
        for word in Cutter(made_embedding(language)).words(text)
    )
    digest = hashlib.blake2b(cut.encode(), digest_size=8).hexdigest()
    assert (LANGUAGE_RULES, digest) == (4, "eb7c9f32c84e6d15"), "keyed releases change: LANGUAGE_RULES + 1"
