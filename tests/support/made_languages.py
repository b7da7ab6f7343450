"""Made-up embeddings of a few words in languages that ask for more than the plain rules."""

from __future__ import annotations

import numpy as np

from deniable import Embedding

_FRENCH = "l' d' de la homme eau qu' c' j' jusqu' aujourd'hui il est vu à chien avant-garde l d on the"
_JAPANESE = (
    "の は が を に て た です 猫 東京 タワー 食べる 好き 行く 京都 東 都 魚 tシャツ コーヒー 寒い 東京都"
)
_CHINESE = "中国 北京 大学 喜欢 医生 病人 医院 北京大学 学生 生 去 19世纪"
_THAI = "ฉัน รัก แมว หมอ โรงพยาบาล ไป ที่ กิน ข้าว น้ำ โรง ตา กลม ตาก ลม"
_ARABIC = "كتب طبيب مستشفى في البيت ماء ذهب"

VOCABULARIES = {
    "french": _FRENCH.split(),
    "japanese": _JAPANESE.split(),
    "chinese": _CHINESE.split(),
    "thai": _THAI.split(),
    "arabic": _ARABIC.split(),
    "decomposed": ["cafe\u0301", "u\u0308ber", "the", "e\u2011mail", "first", "\ufb01rst", "naive"],
}

TEXTS = {
    "french": [
        "L’homme d'eau, c'est l'avant-garde.",
        "Qu'il est vu jusqu'à aujourd'hui ! Zorblatt l’a vu",
        "l' homme",
    ],
    "japanese": [
        "東京タワーに行って、Tシャツを見た。",
        "猫が魚を食べた 03-1234-5678です",
        "寒かったコーヒーの龘",
        "東京猫@example.jpです ０９０ー１２３４ー５６７８",
    ],
    "chinese": ["北京大学的学生喜欢中国医生。", "病人去医院,2011年", "19世纪"],
    "thai": ["ฉันรักแมวที่โรงพยาบาล", "หมอไปกินข้าว Zorblatt", "น้ำ"],
    "arabic": ["ذَهَبَ الطبيب في البيـــت", "كُتُب ماء"],
    "decomposed": ["Café über the e-mail naïve", "first ﬁrst"],
}
"""Texts in each, with unknown words, marks and other scripts among them."""


def made_embedding(language: str) -> Embedding:
    """Return the embedding of a language; at a huge ε every known word comes back as itself."""
    words = VOCABULARIES[language]
    return Embedding(words, np.random.default_rng(7).standard_normal((len(words), 4)), name=language)
