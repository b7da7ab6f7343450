"""Words of a list go in as unknown words and never come out, under every mechanism and policy; mutants that
do half of it are found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from deniable import (
    Embedding,
    InvalidParameter,
    Keyed,
    MalformedCard,
    Multivariate,
    Privatizer,
    Release,
    UnknownWord,
)
from deniable.embeddings import store
from deniable.embeddings.derived import leave_out, restrict
from deniable.embeddings.subwords import Subwords
from deniable.mechanisms.catalogue import CATALOGUE, make_mechanism
from deniable.release.card import read_card
from deniable.release.policies import UnknownPolicy
from deniable.release.release import resolve_release
from deniable.words.cutter import Cutter, rules_for
from deniable.words.never_release import NeverRelease, built_in_digest

KEY = bytes(range(32))
LISTED = ["kowalczyk", "Aspirin"]
OUT = ["kowalczyk", "Kowalczyk", "kowalczyk's", "aspirin", "aspirin-like"]
WORDS = [*OUT, *(f"word{letter}" for letter in "abcdefghijklmno"), "'s"]
OPTIONS: dict[str, dict[str, object]] = {
    "santext-plus": {"sensitive": ["worda", "kowalczyk"]},
    "custext": {"k": 4},
}
TEXT = "Kowalczyk took aspirin worda KOWALCZYK's wordb aspirin-like strange"
STRANGE = "Stranger took nothing worda STRANGERs wordb nothinglike strange"
"""The same text with unknown words in the place of listed ones, each of which is one word; ``took`` is
unknown in both."""

ById = Callable[[str, str], str]
"""Releases a text under an id."""


def make_embedding() -> Embedding:
    """Return words close together, so that each often becomes another one, with vectors for spellings."""
    made = Embedding(WORDS, 0.2 * np.random.default_rng(1).standard_normal((len(WORDS), 3)), name="close")
    made.subwords = Subwords(
        np.random.default_rng(2).standard_normal((40, 3)).astype(np.float32), minn=2, maxn=3
    )
    return made


EMBEDDING = make_embedding()


def keyed(mechanism: str, **settings: Any) -> Privatizer:
    made = make_mechanism(mechanism, EMBEDDING, epsilon=3.0, options=OPTIONS.get(mechanism, {}))
    return Privatizer(made, randomness=Keyed(KEY), **settings)


def lets_out(release: ById, texts: int = 300) -> set[str]:
    """Return the listed words that come out of texts with every word of the vocabulary: some thousands of
    draws."""
    every = " ".join(WORDS)
    return {word.casefold() for number in range(texts) for word in release(every, str(number)).split()} & {
        w.casefold() for w in OUT
    }


def takes_as_unknown(release: ById, texts: int = 50) -> bool:
    """Return whether listed words are released as unknown words are, with the same key."""
    return all(release(TEXT, str(number)) == release(STRANGE, str(number)) for number in range(texts))


@pytest.mark.parametrize(
    ("words", "listed", "texts"),
    [
        (
            ["o'brien", "o", "brien", "al-smith", "al", "called"],
            ["o'brien", "smith"],
            {"O'Brien called Al-Smith, al called": "[redacted] called [redacted] al called"},
        ),
        (
            ["山田太郎", "山田", "太郎", "が", "の", "ひかる", "は", "を", "に"],
            ["山田太郎", "ひかり"],  # a listed form is not its dictionary form
            {"山田太郎が": "[redacted] が", "山田が": "山田 が", "ひかりが": "[redacted] が"},
        ),
        (["محمد", "محمّد", *"ابتثجحخدذرزسشصضطظعغفقكلمنهوي"], ["محمد"], {"محمد محمّد": "[redacted] [redacted]"}),
    ],
    ids=["parts", "no spaces", "marks"],
)
def test_a_listed_word_is_one_unknown_word_whatever_its_parts_and_marks(
    words: list[str], listed: list[str], texts: dict[str, str]
) -> None:
    mechanism = Multivariate(Embedding(words, np.eye(len(words))), epsilon=1000.0)
    private = Privatizer(mechanism, never_release=listed, unknown="redact")
    assert {text: private(text) for text in texts} == texts


def test_a_list_does_not_change_how_other_text_is_cut() -> None:
    words = [*(f"w{n}" for n in range(1000)), *"一二三四五六七八九"]
    embedding = Embedding(words, np.random.default_rng(0).standard_normal((len(words), 3)))
    less = leave_out(embedding, NeverRelease.of([f"w{n}" for n in range(200)]))
    assert (rules_for(less), Cutter(less).words("一二三 w5")) == (
        rules_for(embedding),
        Cutter(embedding).words("一二三 w5"),
    )


def test_the_letters_of_turkish_hide_no_listed_word() -> None:
    turkish = Embedding(["ısmail", "kılıç", "ibrahim", "word"], np.eye(4))
    private = Privatizer(
        Multivariate(turkish, epsilon=1.0), never_release=["ISMAIL KILIÇ İBRAHİM"], case="keep"
    )
    assert {private("JOHN") for _ in range(50)} == {"WORD"}


def test_accented_names_go_in_as_unknown_words_and_none_comes_out_of_the_built_in_embedding() -> None:
    """Without folding, "maría" stayed in more than half of the draws."""
    names = "María García, Jürgen Müller, José Hernández, Obama"
    out = Release(epsilon=14, never_release="names").make().many([names] * 60)
    listed = "maría garcía jürgen müller josé hernández obama"
    assert not {word for text in out for word in str(text).split()} & set(listed.split())
    redacted = Release(epsilon=6, never_release="names", unknown="redact").make()(names)
    assert redacted == " ".join(["[redacted]"] * 7)


@pytest.mark.parametrize("unknown", get_args(UnknownPolicy))
@pytest.mark.parametrize("mechanism", CATALOGUE)
def test_a_listed_word_never_comes_out_and_goes_in_as_an_unknown_one(
    mechanism: str, unknown: UnknownPolicy
) -> None:
    if mechanism == "santext-plus" and unknown == "subwords":
        pytest.skip("refused: it keeps words")
    settings: dict[str, Any] = {
        "unknown": unknown,
        "case": "keep",
        "punctuation": "keep",
        "keep_words": ["kowalczyk", "wordc"],
    }
    private = keyed(mechanism, never_release=LISTED, **settings)

    def release(text: str, name: str) -> str:
        return private(text, record_id=name)

    if unknown == "error":
        with pytest.raises(UnknownWord):
            release("worda aspirin", "1")
        known = " ".join(word for word in WORDS if word not in OUT)
        assert not {word for n in range(200) for word in release(known, str(n)).casefold().split()} & set(OUT)
        return
    assert lets_out(release) == set()
    assert lets_out(lambda text, name: keyed(mechanism, **settings)(text, record_id=name), 20), (
        "the test has power"
    )
    if unknown != "subwords":  # which treats every spelling in its own way
        assert takes_as_unknown(release)


def test_exclusion_on_one_side_only_is_found() -> None:
    whole = keyed("multivariate")

    def on_the_way_in(text: str, name: str) -> str:
        """Treat listed words as unknown, and draw from all words."""
        folded = NeverRelease.of(LISTED)
        return whole(
            " ".join("strange" if folded.holds(word) else word for word in text.split()), record_id=name
        )

    def on_the_way_out(text: str, name: str) -> str:
        """Draw for listed words as for others, and put another word in the place of what must not come
        out."""
        return " ".join(
            "worda" if NeverRelease.of(LISTED).holds(word) else word
            for word in whole(text, record_id=name).split()
        )

    assert lets_out(on_the_way_in)
    assert not lets_out(on_the_way_out)
    assert not takes_as_unknown(on_the_way_out)
    smaller = keyed("multivariate", never_release=LISTED)
    assert not lets_out(lambda text, name: smaller(text, record_id=name))
    assert takes_as_unknown(lambda text, name: smaller(text, record_id=name))


def test_kowalczyk_comes_out_of_the_built_in_embedding_without_a_list_and_never_with_one() -> None:
    texts = ["kowalczyk"] * 80
    assert Release(epsilon=5).make().many(texts).count("kowalczyk") >= 5
    for listed in ("names", ["Kowalczyk"]):
        assert Release(epsilon=5, never_release=listed).make().many(texts).count("kowalczyk") == 0


def test_the_built_in_embedding_without_names_is_the_one_that_is_calibrated_in_the_package() -> None:
    made = Release(epsilon=6, never_release="names").make()
    embedding = made.mechanism.embedding
    assert embedding.left_out is not None
    assert (embedding.left_out.count, len(embedding)) == (12_660, 37_340), "the guide states these numbers"
    assert embedding.fingerprint == "37149d0424db37ae2ee641b64c25311d"
    assert made.receipt().calibration is not None
    before = Release(epsilon=6, never_release="names-1").make()
    assert before.mechanism.embedding.fingerprint == "efa36a98f43ac310756e7e38bdefd8ce"
    assert before.receipt().calibration is not None, (
        "work that was begun with the first list finds the same epsilon again"
    )
    messages: list[str] = []
    resolve_release(max_unchanged=0.5, quantile=0.95, never_release="names", say=messages.append)
    assert "37,340 words" in messages[0]


def test_the_space_is_that_of_the_embedding_without_the_words() -> None:
    listed = NeverRelease.of(LISTED)
    smaller = leave_out(EMBEDDING, listed)
    assert list(smaller.words) == [word for word in WORDS if word not in OUT]
    assert smaller.fingerprint == restrict(EMBEDDING, exclude=OUT).fingerprint
    assert smaller.fingerprint != EMBEDDING.fingerprint
    assert smaller.left_out is not None
    assert (smaller.left_out.source, smaller.left_out.words, smaller.left_out.count) == (EMBEDDING, OUT, 5)
    assert leave_out(smaller, listed) is smaller
    both = leave_out(smaller, NeverRelease.of(["worda"]))
    assert both.fingerprint == leave_out(EMBEDDING, NeverRelease.of([*LISTED, "worda"])).fingerprint
    assert leave_out(EMBEDDING, NeverRelease()) is EMBEDDING


def test_words_that_the_vocabulary_does_not_hold_change_nothing_that_is_released() -> None:
    texts, ids = [TEXT] * 20, list(range(20))
    without, with_list = (keyed("multivariate", never_release=listed) for listed in (None, ["nowhere"]))
    assert without.many(texts, record_ids=ids) == with_list.many(texts, record_ids=ids)
    assert with_list.receipt().settings.embedding["never_release"]["words_left_out"] == 0


def test_a_protected_word_whose_stand_in_is_listed_goes_in_as_unknown() -> None:
    guarded = Embedding(["a", "b", "c", "d"], np.eye(4))
    guarded.protection = np.array([1, 1, 2, 3, 4])
    smaller = leave_out(guarded, NeverRelease.of(["b"]))
    assert smaller.words == ["a", "c", "d"]
    assert smaller.stands_in(np.array([0])) == smaller.unknown_id


def test_a_list_that_leaves_no_word_is_refused() -> None:
    with pytest.raises(InvalidParameter) as refused:
        Privatizer(Multivariate(EMBEDDING, epsilon=1.0), never_release=WORDS)
    assert refused.value.name == "never_release"


def test_a_mechanism_of_the_users_own_is_not_made_anew() -> None:
    class Own(Multivariate):
        pass

    with pytest.raises(InvalidParameter) as refused:
        Privatizer(Own(EMBEDDING, epsilon=1.0), never_release=["worda"])
    assert refused.value.name == "never_release"
    smaller = leave_out(EMBEDDING, NeverRelease.of(LISTED))
    assert not lets_out(lambda text, _: Privatizer(Own(smaller, epsilon=1.0))(text), 50)


def test_receipt_and_card_state_the_list_and_no_word_that_the_vocabulary_does_not_hold() -> None:
    private = keyed("multivariate", never_release=[*LISTED, "nobody-knows"])
    receipt = private.receipt()
    never = receipt.settings.embedding["never_release"]
    assert (never["words_left_out"], never["source"], never["source_fingerprint"]) == (
        5,
        "close",
        EMBEDDING.fingerprint,
    )
    assert never["digest"] in receipt.settings.guarantee["statement"]
    assert "never released: 5 words of the vocabulary" in receipt.summary()
    assert "knows" not in receipt.to_json() + private.card.to_json()
    assert private.card.to_dict()["embedding"]["never_release"]["words"] == tuple(sorted(OUT))
    assert "never_release" not in keyed("multivariate").card.to_dict()["embedding"]


@pytest.mark.parametrize("listed", [LISTED, "names", ["names", "aspirin"]])
def test_a_card_alone_gives_the_same_space(listed: Any, home: Path) -> None:
    words = [*WORDS, "maria", "smith-style"]
    store.save(Embedding(words, np.random.default_rng(1).standard_normal((len(words), 3))), "here")
    private = Release(epsilon=3, embedding="here", never_release=listed).make()
    private.card.write(home / "card.json")
    card = read_card(home / "card.json")
    assert card == private.card
    opened = card.open_embedding()
    assert opened.fingerprint == private.mechanism.embedding.fingerprint == card.fingerprint
    assert opened.words == private.mechanism.embedding.words
    assert card.without_words(Embedding.open("here")).fingerprint == card.fingerprint
    assert card.without_words(opened) is opened


def test_a_card_takes_out_the_words_that_it_lists_and_no_other_spelling_of_them(home: Path) -> None:
    """A card of a version that told words apart by their accents, and one of the first list under the name
    that it had."""
    words = ["café", "cafe", "maria", "maría", "word", "other"]
    store.save(Embedding(words, np.random.default_rng(1).standard_normal((len(words), 3))), "accents")
    private = Release(epsilon=3, embedding="accents", never_release=["names", "Café"]).make()
    assert private.mechanism.embedding.words == ["word", "other"]
    data = private.card.to_dict()
    whole = Embedding.open("accents")
    left = restrict(whole, exclude=["café", "maria"])
    never = {
        **data["embedding"]["never_release"],
        "words": ["café"],
        "lists": [{"name": "names", "digest": built_in_digest("names-1")}],
    }
    changed = {
        **data["embedding"],
        "never_release": never,
        "words": len(left),
        "fingerprint": left.fingerprint,
    }
    (home / "card.json").write_text(json.dumps({**data, "embedding": changed}), encoding="utf-8")
    assert read_card(home / "card.json").open_embedding().words == ["cafe", "maría", "word", "other"]


def test_a_card_with_another_list_than_here_is_refused(home: Path) -> None:
    store.save(EMBEDDING, "here")
    data = Release(epsilon=3, embedding="here", never_release=["names", "aspirin"]).make().card.to_dict()
    never = data["embedding"]["never_release"]
    for change, problem in (
        ({"lists": [{"name": "names", "digest": "0" * 32}]}, "another one here"),
        ({"lists": [{"name": "../names", "digest": "0" * 32}]}, "another one here"),
        ({"words": ["worda"]}, "another one"),
        ({"words": WORDS}, "nothing could come out"),
        ({"digest": "x"}, "32 hexadecimal digits"),
    ):
        path = home / "card.json"
        path.write_text(
            json.dumps({**data, "embedding": {**data["embedding"], "never_release": {**never, **change}}}),
            encoding="utf-8",
        )
        with pytest.raises(MalformedCard, match=problem):
            read_card(path).open_embedding()


def test_a_pinned_release_takes_its_list_along_and_names_the_whole_embedding(home: Path) -> None:
    store.save(EMBEDDING, "here")
    release = Release(epsilon=3, embedding="here", never_release=LISTED)
    assert release == Release(epsilon=3, embedding="here", never_release=["Aspirin", "KOWALCZYK"])
    assert release.describe() != Release(epsilon=3, embedding="here").describe()
    pinned = release.pin()
    assert pinned.fingerprint == EMBEDDING.fingerprint
    assert pinned.make().mechanism.embedding.fingerprint == release.make().mechanism.embedding.fingerprint
    assert pinned.make(embedding=release.open_embedding()).mechanism.embedding.left_out is not None
