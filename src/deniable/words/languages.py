"""The spelling that text is brought into, and what a vocabulary asks of the cutter beyond the plain rules,
told by the words that it holds.

The plain rules (``RULES``) cut English and most languages with spaces. A vocabulary may ask for more, and the
vocabulary alone: what the text is written in changes nothing, so that text is cut by a fixed public function
of the embedding.

- *Elisions*: it holds "l'" and "d'", and as frequent words (before "the", "of" and "and", which rules English
  ones out). Then every elided form that it holds is a word before the next one: "l'homme" is "l'" and
  "homme", not the letter "l".
- *Scripts without spaces*: one word in a hundred is written in Chinese characters or kana, Thai, Lao, Khmer
  or Burmese. Then runs of this script are cut into words by the vocabulary (``unspaced``). Where one word in
  a hundred holds hiragana, the text is Japanese, and forms of verbs and adjectives that the vocabulary does
  not hold go in as their dictionary form.
- *Arabic marks*: one word in a hundred is written in Arabic letters, and hardly any of those has vowel marks.
  Then these marks, and the stroke that only lengthens words, are dropped from text.
- *Spelling*: one word in a hundred is spelled in another form than text is brought into (``normalise``), as
  in a file whose accents are characters of their own. Then words are looked up by that form.

Whatever of these a vocabulary asks for, its words are looked up by their normal form. Of two words that
coincide in it, text means the one that is spelled in that form, else the first. The other one goes in for no
text; it is still a word that can come out, which the theorem allows: it compares inputs, and all outputs.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

from deniable.words.east_asian import CHINESE, JAPANESE, inflected_forms
from deniable.words.unspaced import SCRIPTS, Unspaced, with_hyphens

LANGUAGE_RULES = 4
"""The number of these rules, where a vocabulary asks for any: one more whenever some text is cut otherwise
than before."""

_ELIDED = """
    c' d' j' l' m' n' s' t' qu' jusqu' lorsqu' puisqu' quoiqu' quelqu' presqu' entr'
    un' dell' all' dall' nell' sull' coll' quest' quell' gl' v' tutt' sant' bell' mezz' senz' anch' dov' com' cos' nessun' qualcun'
"""  # noqa: E501
ELIDED = frozenset(_ELIDED.split())
"""Words of French, Italian and Catalan that lose their end before a vowel."""

_MARKERS = ("l'", "d'")
_ENGLISH = ("the", "of", "and")
_ONE_IN = 100
_ARABIC_MARKS = frozenset("\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0670")
_WITHOUT_ARABIC_MARKS = str.maketrans(dict.fromkeys(_ARABIC_MARKS))
_FEW_WITH_MARKS = 20
_CLASSES = {**SCRIPTS, "Hiragana": r"\p{Hiragana}", "Arabic": r"\p{Arabic}"}
_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("`\u00b4\u2018\u2019\u201b\u02bc\uff07", "'"),
        "\u2010": "-",
        "\u2011": "-",
        "\u00ad": None,
    }
)
_SPECIAL = frozenset(map(chr, _CHARACTERS))
# Python's NFKC takes time quadratic in the length of a run of combining marks: 100,000 of them, 20 seconds.
# The two half-width characters are no marks, but NFKC makes marks of them; they are the only ones.
_MOST_MARKS = 30
_PILED_MARKS = regex.compile(r"([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]++")


GOLDEN_TABLES = "e93c3b5e9c233b65"
"""The Unicode tables of the ``regex`` library under which the golden releases were made.

Another version of the ``regex`` library may know more characters as letters. A text that holds such a
character is then cut otherwise, and in a keyed release all its words after that place are drawn again. So
keyed releases name the tables in their receipt, and every card names them, where they are not these, and no
job goes on under other tables than it was begun with."""

_TABLES = (r"\w", r"\s", r"\p{L}", r"\p{N}", r"\p{M}")
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, kw_only=True, eq=False)
class LanguageRules:
    """What one vocabulary asks for. ``spellings`` has the id of every word by the spelling that text has it
    in.

    ``elided`` are the elided forms that it holds. ``unspaced`` cuts runs of its scripts without spaces.
    ``in_words`` says all of it.
    """

    spellings: Mapping[str, int]
    elided: frozenset[str]
    unspaced: Unspaced | None
    drops_arabic_marks: bool
    in_words: tuple[str, ...]

    def prepare(self, normalised: str) -> str:
        """Return a normalised text as it is cut."""
        prepared = normalised.translate(_WITHOUT_ARABIC_MARKS) if self.drops_arabic_marks else normalised
        return prepared if self.unspaced is None else with_hyphens(prepared)


class Spelling(NamedTuple):
    """How the words of a vocabulary are spelled. ``respelled`` has ids by the spelling that text has, where
    words are spelled otherwise; ``coinciding`` counts the words whose spelling in text is that of another
    word: they can come out, but go in for no text."""

    respelled: Mapping[str, int]
    coinciding: int


def find_language_rules(
    words: Sequence[str], index: Mapping[str, int], *, cased: bool
) -> LanguageRules | None:
    """Return what a vocabulary asks for; None if it is cut by the plain rules."""
    counts = _count_scripts(words)
    scripts = [script for script in SCRIPTS if _is_share(counts[script], words)]
    few_marks = counts["Arabic marks"] * _FEW_WITH_MARKS < counts["Arabic"]
    drops_marks = _is_share(counts["Arabic"], words) and few_marks
    spelling = find_spelling(words, index, cased=cased, drops_arabic_marks=drops_marks)
    elided = _elided_in(index, spelling.respelled)
    respelled = sum(_LETTER_OR_DIGIT.search(word) is not None for word in spelling.respelled)
    if not (elided or scripts or drops_marks or _is_share(respelled, words)):
        return None
    spellings = {**spelling.respelled, **index} if spelling.respelled else index
    japanese = _is_share(counts["Hiragana"], words)
    inflected = inflected_forms(spellings) if japanese else {}
    listed = JAPANESE if japanese else CHINESE
    unspaced = None
    if scripts:
        unspaced = Unspaced(spellings, scripts, listed=listed, inflected=inflected, cased=cased)
    said = {
        f"{len(elided)} elided forms, such as l', are words of their own": elided,
        f"text in {' and '.join(scripts)} writing is cut into words by the vocabulary": scripts,
        f"{len(inflected):,} forms of Japanese words go in as their dictionary form": inflected,
        "vowel marks and lengthening strokes are dropped from Arabic text": drops_marks,
        f"words that text spells otherwise than they come out (NFKC): {len(spelling.respelled):,}": (
            spelling.respelled
        ),
    }
    return LanguageRules(
        spellings={**inflected, **spellings} if inflected else spellings,
        elided=elided,
        unspaced=unspaced,
        drops_arabic_marks=drops_marks,
        in_words=tuple(sentence for sentence, holds in said.items() if holds),
    )


def describe_cutting(words: Sequence[str], index: Mapping[str, int], *, cased: bool) -> tuple[str, ...]:
    """Return how text is cut for a vocabulary beyond the plain rules, and which of its words no text can
    mean; mostly nothing."""
    rules = find_language_rules(words, index, cased=cased)
    drops_marks = rules is not None and rules.drops_arabic_marks
    spelling = find_spelling(words, index, cased=cased, drops_arabic_marks=drops_marks)
    said = list(() if rules is None else rules.in_words)
    if spelling.coinciding:
        what = "words that are spelled like another one in the form that text is read in (NFKC)"
        said.append(f"{what}: {spelling.coinciding:,}")
    if rules is None and spelling.respelled:
        what = "words that no text means, being spelled in another form than text is read in (NFKC)"
        said.append(f"{what}: {len(spelling.respelled):,}")
    return tuple(said)


def find_spelling(
    words: Sequence[str], index: Mapping[str, int], *, cased: bool, drops_arabic_marks: bool = False
) -> Spelling:
    """Return which words of a vocabulary text spells otherwise than the vocabulary does."""
    respelled: dict[str, int] = {}
    coinciding = 0
    for word in words:
        if is_normal(word) and not (drops_arabic_marks and not _ARABIC_MARKS.isdisjoint(word)):
            continue
        spelled = normalise(word)
        spelled = spelled.translate(_WITHOUT_ARABIC_MARKS) if drops_arabic_marks else spelled
        spelled = spelled if cased else spelled.lower()
        if spelled in (word, ""):
            continue
        if spelled in index or respelled.setdefault(spelled, index[word]) != index[word]:
            coinciding += 1
    return Spelling(respelled=respelled, coinciding=coinciding)


def normalise(text: str) -> str:
    """Return the text in Unicode form NFKC with one kind of apostrophe and hyphen; never slow, whatever the
    text."""
    if text.isascii():
        return text.replace("`", "'")
    return unicodedata.normalize("NFKC", _PILED_MARKS.sub(r"\1", text.translate(_CHARACTERS)))


def is_normal(word: str) -> bool:
    """Return whether a word is surely spelled as ``normalise`` spells it; much faster than to try."""
    if word.isascii():
        return "`" not in word
    return len(word) <= _MOST_MARKS and _SPECIAL.isdisjoint(word) and unicodedata.is_normalized("NFKC", word)


def without_arabic_marks(text: str) -> str:
    """Return the text without vowel marks and lengthening strokes of Arabic, which people write or leave
    out."""
    return text.translate(_WITHOUT_ARABIC_MARKS)


def _elided_in(index: Mapping[str, int], respelled: Mapping[str, int]) -> frozenset[str]:
    found = {word: index.get(word, respelled.get(word)) for word in (*ELIDED, *_ENGLISH)}
    ranks = {word: rank for word, rank in found.items() if rank is not None}
    if any(marker not in ranks for marker in _MARKERS):
        return frozenset()
    last = max(ranks[marker] for marker in _MARKERS)
    if any(ranks.get(word, last) < last for word in _ENGLISH):
        return frozenset()
    return frozenset(ranks.keys() & ELIDED)


def _count_scripts(words: Sequence[str]) -> Counter[str]:
    """Return how many words hold a character of each script, and of each of the other classes."""
    counts: Counter[str] = Counter()
    others = [word for word in words if not word.isascii()]
    characters = set("".join(others))
    for name, pattern in {**_CLASSES, "Arabic marks": "".join(_ARABIC_MARKS)}.items():
        held = set(filter(regex.compile(f"[{pattern}]").match, characters))
        counts[name] = sum(not held.isdisjoint(word) for word in others) if held else 0
    return counts


def _is_share(count: int, words: Sequence[str]) -> bool:
    return count > 0 and count * _ONE_IN >= len(words)


@cache
def unicode_tables() -> str:
    """Return a name of the tables: a digest of which characters are letters, digits, marks, blanks and parts
    of words."""
    every = "".join(chr(code) for code in range(0x110000) if code not in _SURROGATES)
    digest = hashlib.blake2b(digest_size=8)
    for each in _TABLES:
        digest.update("".join(regex.findall(f"{each}+", every)).encode() + b"\n")
    return digest.hexdigest()


def other_tables() -> dict[str, str]:
    """Return the tables in use, for cards, receipts and journals; nothing where they are those of the golden
    releases."""
    return {} if unicode_tables() == GOLDEN_TABLES else {"unicode_tables": unicode_tables()}
