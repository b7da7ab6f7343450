"""Scripts by the characters of a text, and a likely language by its script and its most frequent words. A
guess, and said to be one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import regex

_SCRIPTS = (
    "Latin",
    "Cyrillic",
    "Greek",
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Thai",
    "Hangul",
    "Hiragana",
    "Katakana",
    "Han",
)
_SCRIPT = regex.compile("|".join(rf"(?P<{script}>\p{{{script}}}+)" for script in _SCRIPTS))
_BY_SCRIPT = {
    "Greek": "Greek",
    "Arabic": "Arabic",
    "Hebrew": "Hebrew",
    "Devanagari": "Hindi",
    "Thai": "Thai",
    "Hangul": "Korean",
    "Hiragana": "Japanese",
    "Katakana": "Japanese",
    "Han": "Chinese",
}
_FREQUENT = {
    "English": "the of and to in is was that for it with as his on be at by had not are but from have they "
    "you which were this",
    "German": "der die und den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an "
    "werden aus er hat dass sie nach",
    "French": "le de la et les des du en un une est que pour qui dans par sur pas au ce il avec sont elle "
    "nous vous mais très",
    "Spanish": "de la que el en y los se del las un por con una su para es al lo como más pero sus le ya "
    "este fue muy",
    "Italian": "di che la il un per non una sono è con si del da come le dei nel più alla anche della gli ma "
    "ho molto",
    "Portuguese": "de que o a e do da em um para com não uma os no se na por mais as dos como mas foi ao ele "
    "das muito",
    "Dutch": "de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij uit nog "
    "naar heeft ik",
    "Polish": "w na z do się nie to że jest od po przez jak dla za ale co tak przy oraz już są jego był było "
    "bardzo",
    "Swedish": "och att det som en på är av för med den till inte har de ett om var jag så men vi kan från "
    "mycket",
    "Russian": "и в не на что он с как это по но из за то же от все бы у так его для мы я вы был очень",
    "Ukrainian": "і в не на що він з як це по але із за то ж від всі б у так його для ми я ви був дуже є",
}
_WORDS = {language: frozenset(words.split()) for language, words in _FREQUENT.items()}
_LANGUAGES = {
    word: [language for language in _WORDS if word in _WORDS[language]]
    for word in frozenset().union(*_WORDS.values())
}
_FEWEST_WORDS, _LEAST_SHARE = 20, 0.06
_LEAST_SHARE_OF_TEXTS, _FEWEST_TEXTS = 0.03, 3


def script_of(word: str) -> str | None:
    """Return the script that most letters of a word are of; None if they are of none that is known here."""
    counts: Counter[str] = Counter()
    for found in _SCRIPT.finditer(word):
        counts[found.lastgroup or ""] += len(found[0])
    return counts.most_common(1)[0][0] if counts else None


def scripts_of(words: Iterable[str]) -> Counter[str]:
    """Return how many of the words are of which script."""
    return Counter(script for word in words if (script := script_of(word)) is not None)


def language_of(words: Counter[str], scripts: Counter[str]) -> str | None:
    """Return the likely language of text by how often its words occur and which scripts they are of; None if
    it cannot be told."""
    if not scripts:
        return None
    script = scripts.most_common(1)[0][0]
    if scripts["Hiragana"] + scripts["Katakana"] > 0.1 * sum(scripts.values()):
        return "Japanese"
    if script in _BY_SCRIPT:
        return _BY_SCRIPT[script]
    total = sum(words.values())
    shares = {
        language: sum(words[word] for word in frequent) / max(1, total)
        for language, frequent in _WORDS.items()
    }
    best = max(shares, key=lambda language: shares[language])
    return best if total >= _FEWEST_WORDS and shares[best] >= _LEAST_SHARE else None


def language_of_text(words: Iterable[str]) -> str | None:
    """Return the language of one text in Latin or Cyrillic letters, if more of its words are frequent there
    than in any other."""
    hits = Counter(language for word in words for language in _LANGUAGES.get(word.casefold(), ()))
    (best, most), (_, second) = [*hits.most_common(2), ("", 0), ("", 0)][:2]
    return best if most >= 2 and most > second else None


def other_languages(main: str | None, texts: Counter[str]) -> dict[str, float]:
    """Return the languages beside the main one that a fair share of the texts of a column are in, with that
    share."""
    told = texts.total()
    enough = max(_LEAST_SHARE_OF_TEXTS * told, _FEWEST_TEXTS)
    return {
        each: count / told
        for each, count in texts.most_common()
        if main is not None and count >= enough and each != main
    }
