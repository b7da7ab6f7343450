"""Scripts without spaces, cut by the words of a vocabulary."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from deniable import Embedding
from deniable.words.cutter import Cutter
from tests.support.made_languages import VOCABULARIES, made_embedding

JAPANESE, CHINESE, THAI = (made_embedding(language) for language in ("japanese", "chinese", "thai"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京タワーが好き", ["東京", "タワー", "が", "好き"]),
        ("東京都", ["東京都"]),
        ("東京都に行く。", ["東京都", "に", "行く"]),
        ("猫を食べました", ["猫", "を", "食べ", "まし", "た"]),
        ("京都へ行った", ["京都", "へ", "行っ", "た"]),
        ("ﾀﾜｰ", ["タワー"]),
        ("マイクロソフトの猫", ["マイクロソフト", "の", "猫"]),
        ("猫 が\n好き", ["猫", "が", "好き"]),
        ("Tシャツが好き", ["tシャツ", "が", "好き"]),
        ("「Tシャツ」", ["tシャツ"]),
        ("iPhone6が好き", ["iphone6", "が", "好き"]),
        ("電話は03-1234-5678です", ["電話", "は", "03-1234-5678", "です"]),
        ("価格は3.5です", ["価格", "は", "3.5", "です"]),
        ("anna@example.jpに行く", ["anna@example.jp", "に", "行く"]),
        ("第二十が好き", ["第二十", "が", "好き"]),
        ("猫!?(魚)", ["猫", "魚"]),
        ("well-known 猫's", ["well", "known", "猫", "s"]),
        ("_猫_", ["猫"]),
        ("か\u3099", ["が"]),
    ],
)
def test_japanese(text: str, words: list[str]) -> None:
    assert Cutter(JAPANESE).words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京猫@example.com", ["東京猫@example.com"]),
        ("東京.猫@example.com", ["東京.猫@example.com"]),
        ("taro東京＠example.com", ["taro東京@example.com"]),
        ("taro@東京.com", ["taro@東京.com"]),
        ("taro@t東京.jp", ["taro@t東京.jp"]),
        ("taro@example.東京", ["taro@example.東京"]),
        (
            "猫は東京猫@example.jpです",
            ["猫は東京猫@example.jp", "です"],
        ),  # where the address begins, nothing says
        ("猫、東京@example.jp、魚", ["猫", "東京@example.jp", "魚"]),
        ("3、猫。4、東京@example.jp", ["3", "猫", "4", "東京@example.jp"]),
        ("https://example.com/東京/猫魚", ["https://example.com/東京/猫魚"]),
        (
            "https://example.jp/annaが好き",
            ["https://example.jp/annaが好き"],
        ),  # the path may go on in any letters
        ("http://annaが好き", ["http://annaが好き"]),
        ("https://example.jpが好き", ["https://example.jp", "が", "好き"]),
        ("「https://example.jp/東京」が好き", ["https://example.jp/東京", "が", "好き"]),
        ("猫https://example.jp/東京。猫が好き", ["猫https://example.jp/東京", "猫", "が", "好き"]),
        ("example.jp/東京?q=猫", ["example.jp/東京?q=猫"]),
        ("www.東京.jp", ["www.東京.jp"]),
        ("_www.東京.jp", ["www.東京.jp"]),
        ("東京猫.com", ["東京猫.com"]),
        ("東京猫.comが好き", ["東京猫.com", "が", "好き"]),
        ("東京.example.com", ["東京.example.com"]),
        ("猫はexample.com", ["猫", "は", "example.com"]),
        ("猫はexample.comが好き", ["猫", "は", "example.com", "が", "好き"]),
        ("０９０ー１２３４ー５６７８", ["090-1234-5678"]),
        ("猫は090ー1234-5678です", ["猫", "は", "090-1234-5678", "です"]),
        ("猫は090ーー1234ｰ5678です", ["猫", "は", "090--1234-5678", "です"]),
        ("０９０ー（１２３４）ー５６７８", ["090-(1234)-5678"]),
        ("タワー1ー猫", ["タワー", "1", "ー", "猫"]),
        ("コーヒー2", ["コーヒー", "2"]),
        ("猫090----1234-5678", ["猫", "090----1234-5678"]),
        ("090----1234-5678猫", ["090----1234-5678", "猫"]),
        ("猫090-----1234猫", ["猫", "090-----1234", "猫"]),
    ],
)
def test_addresses_and_numbers_are_one_word_whatever_letters_they_hold(text: str, words: list[str]) -> None:
    assert Cutter(JAPANESE).words(text) == words


@pytest.mark.parametrize("embedding", [CHINESE, THAI], ids=["chinese", "thai"])
@pytest.mark.parametrize(
    "address", ["北京แมว@example.com", "https://example.com/北京/แมว", "090ー1234ー5678"]
)
def test_addresses_and_numbers_are_one_word_in_other_scripts(embedding: Embedding, address: str) -> None:
    assert Cutter(embedding).words(address) == [address.replace("ー", "-")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("北京大学的学生喜欢中国医生。", ["北京大学", "的", "学生", "喜欢", "中国", "医生"]),
        ("病人去医院", ["病人", "去", "医院"]),
        ("2011年", ["2011", "年"]),
        ("19世纪", ["19世纪"]),
        ("去19世纪", ["去", "19世纪"]),
        ("一百二十学生", ["一百二十", "学生"]),
    ],
)
def test_chinese(text: str, words: list[str]) -> None:
    assert Cutter(CHINESE).words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ฉันรักแมวที่โรงพยาบาล", ["ฉัน", "รัก", "แมว", "ที่", "โรงพยาบาล"]),
        ("หมอกินข้าว", ["หมอ", "กิน", "ข้าว"]),
        ("ตากลม", ["ตา", "กลม"]),
        ("ฉันXYZรัก", ["ฉัน", "xyz", "รัก"]),
    ],
)
def test_thai(text: str, words: list[str]) -> None:
    assert Cutter(THAI).words(text) == words


def test_no_word_begins_with_a_combining_mark() -> None:
    for word in Cutter(THAI).words("กี่ฉันน้ำปู่่่ย่าที่ไม่รู้จัก"):
        assert not regex.match(r"\p{M}", word)


def test_forms_of_verbs_and_adjectives_go_in_as_the_word_itself() -> None:
    ids = Cutter(JAPANESE).ids(Cutter(JAPANESE).words("寒かった 行って 食べた"))
    assert [JAPANESE.words[i] for i in ids] == ["寒い", "た", "行く", "て", "食べる", "た"]


def test_forms_that_no_vocabulary_holds_stay_unknown() -> None:
    assert Cutter(CHINESE).ids(["的", "行っ"]) == [CHINESE.unknown_id] * 2


def test_text_in_another_language_than_the_vocabulary_is_cut_plainly() -> None:
    assert Cutter(made_embedding("french")).words("東京タワーが好き") == ["東京タワーが好き"]
    assert (
        Cutter(JAPANESE).words("Don't e-mail anna@example.com: 555-12-3456")
        == "don t e mail anna@example.com 555-12-3456".split()
    )


@pytest.mark.parametrize("language", ["japanese", "chinese", "thai"])
def test_every_word_of_the_vocabulary_by_itself_is_one_word(language: str) -> None:
    # Thai "น้ำ" among them, which NFKC spells otherwise.
    cutter = Cutter(made_embedding(language))
    assert [cutter.ids(cutter.words(word)) for word in VOCABULARIES[language]] == [
        [i] for i in range(len(VOCABULARIES[language]))
    ]


MIXED = st.lists(
    st.sampled_from(
        [
            *VOCABULARIES["japanese"],
            *VOCABULARIES["thai"],
            *"龘鱻アか่ี1aB.-@'_ \u3099、",
            *"Tシ http:// .com / 1ー2 第一 \u0301".split(),
        ]
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize("embedding", [JAPANESE, CHINESE, THAI], ids=["japanese", "chinese", "thai"])
@given(text=MIXED | st.text(max_size=40))
def test_words_and_gaps_make_the_text_and_no_letter_is_lost(embedding: object, text: str) -> None:
    cutter = Cutter(embedding)  # type: ignore[arg-type]
    words, gaps = cutter.words_and_gaps(text)
    assert words == cutter.words(text)
    assert not regex.search(r"[\p{L}\p{N}]", "".join(gaps))
    assert all(regex.search(r"[\p{L}\p{N}]", word) for word in words)
    kept = Cutter(embedding, keep_case=True)  # type: ignore[arg-type]
    if text.lower().upper().lower() == text.lower() and len(text.lower()) == len(text):
        assert len(kept.words(text)) == len(words)


LONG = {
    "words": "東京タワーが好き" * 25_000,
    "unknown": "龘" * 200_000,
    "katakana": "ア" * 200_000,
    "hiragana": "あ" * 200_000,
    "numerals": "一" * 200_000,
    "letters between": "a東" * 100_000,
    "letters before": "a" * 200_000 + "東",
    "letters after": "東" + "a" * 200_000 + ".a",
    "thai": "ที่" * 70_000,
    "unknown thai": "กี่่่" * 40_000,
    "marks after": "東.a" * 60_000,
    "marks before": "a.東" * 60_000,
    "combining marks": "東\u0301" * 60_000,
    "ordinals": "第" * 200_000,
    "lengthened numbers": "1ー" * 100_000 + "東",
    "lengthened marks": "1" + "-ー" * 100_000 + "東",
    "lengthening": "ー" * 200_000 + "1",
    "repeated marks": "東" + "-" * 200_000 + "1東",
    "repeated marks after": "東1" + "-" * 200_000,
    "hosts": "東.com" * 40_000,
    "labels": "東." * 100_000,
    "at signs": "東@" * 100_000,
    "addresses": "東@a.jp、" * 30_000,
    "domains": "a.jp東" * 40_000 + "@",
    "ends of addresses": "://東" + "、" * 200_000,
    "paths": "東/a.b" * 40_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_runs_take_time_in_proportion(text: str) -> None:
    for embedding in (JAPANESE, THAI):
        assert Cutter(embedding).words(text)  # quadratic time would be minutes or hours
