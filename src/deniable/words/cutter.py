"""Text into words as a release cuts it: the one function that releases, audits, tasks and comparisons share.

What is cut depends on the public vocabulary (which compounds it holds, and whether it is cased) and on the
policy for case, and on nothing else. Anybody who cuts text in another way measures something that no release
does. ``Cutter.ids`` is the public map π of the proof, from words to ids: every word that the vocabulary does
not hold becomes ⊥.

*How it is cut.* Text is brought to Unicode form NFKC with one kind of apostrophe and cut into
chunks by a pattern of the ``regex`` library (its character classes know combining marks; the standard
library's do not). A chunk that the vocabulary holds is a word ("u.s.", "o'clock", "e-mail"). Any other chunk
is split at hyphens and the like, then before clitics the vocabulary holds ("do|n't", "john|'s"), then at full
stops and apostrophes. What holds neither a letter nor a digit (punctuation, emoji, symbols) is no word.

Nothing is split between the first and the last piece of a chunk that hold digits, whatever marks and letters
stand there: "ssn:555-12-3456" is "ssn" and one unknown word, not three known numbers, and "12-AB-34" is one
as well. Short letters that the same mark joins to a number belong to it ("AB/1234/56", "A-12-B", "B-MW-1234";
see ``_code_in``), but a word and a number alone are a compound like any other ("f-16", "covid-19",
"24-hour"). Neither is an e-mail address or a web address split. White space and the marks < > " always
separate, and a bare host is one word only as far as .com, .net, .org, .edu or .gov, or with a port:
"end.Start" looks like one too.

Vocabularies of some languages ask for more: elided forms, scripts without spaces. What, the vocabulary alone
decides (``languages``).

Chosen by measurement: docs/tokenising.md, docs/research/languages.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Protocol

import regex

from deniable.progress import check_interrupt
from deniable.words.addresses import ADDRESS, PATH, TOP_DOMAINS
from deniable.words.languages import LANGUAGE_RULES, LanguageRules, normalise

RULES = 2
"""The number of these rules: one more whenever some text is cut otherwise than before, since keyed noise
depends on where words stand.

A vocabulary that asks for more is cut by ``LANGUAGE_RULES``: see ``rules_for``."""

_OF_CODES = frozenset("-/.:")
_SHORT = 3
_LONGEST_CODE = 200
_SHORT_TEXT = 1 << 17
_PIECES_AT_ONCE = 1 << 12
_LETTERS_OF_A_PHONE = regex.compile(r"(?<=-\p{N}{3})-\p{L}{4,7}(?![\w-])")

CLITICS = frozenset({"'s", "n't", "'re", "'ve", "'ll", "'d", "'m"})
"""Parts of words that English writes without a space before them and embeddings hold as words of their
own."""

_WORD = r"[\p{L}\p{N}]\w*+"
_AFTER_A_DIGIT = r"(?<=\p{N}\p{M}{0,30})"
_JOINING = r"[-.,:/&'@+!\#$%*=?^{|}~]"  # all that may stand before the @ of an e-mail address
_JOINED = (
    rf"(?:://(?=[^\s<>\"])|{PATH})[^\s<>\"]*+"
    rf"|{_JOINING}{_WORD}"
    rf"|[-+]++@{_WORD}"
    # Whatever joins digits, with letters among them or without: (555)123-4567, 12–AB–34.
    rf"|{_AFTER_A_DIGIT}(?:[^\w\s<>\"]++[\p{{L}}\p{{N}}]\w{{0,23}}+){{0,2}}?[^\w\s<>\"]++(?=\p{{N}}){_WORD}"
)
_CHUNK = regex.compile(
    r"[wW]{3}\.[^\s<>\"]++"
    # 's or '90s on its own, not the quoted '555-1234'
    rf"|(?<!\S)'[\p{{L}}\p{{N}}]{{1,3}}+(?![\w']|{_JOINED})"
    rf"|{_WORD}(?:(?!\s)(?:{_JOINED}))*+"  # mostly a space follows, and no more need be tried
    r"(?:(?<=\.\p{L})\.)?+",  # the last full stop belongs to u.s. and p.m.
)
# Numbers that \w lacks are marks and words at once: see ``Chunks``.
_MARK_NUMBER = r"[\p{N}&&\W]"
_ANY_MARK_NUMBER = regex.compile(_MARK_NUMBER, regex.V1)
_MARKS = regex.compile(r"[^\w\s<>\"]++")
_CHUNK_AMONG_MARKS = regex.compile(rf"{_MARK_NUMBER}(?:(?:{_JOINING}|[-+]++@){_MARK_NUMBER})*+", regex.V1)
_GOES_ON = regex.compile(rf"\w|://[^\s<>\"]|(?:{_JOINING}|[-+]++@)[\p{{L}}\p{{N}}]")
_LETTER = regex.compile(r"\p{L}")
_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
_DIGIT = regex.compile(r"\p{N}")
_PIECE = regex.compile(r"(?:[^\W_]|\p{N})++")
_NUMBER = regex.compile(r"(?<![^\W_]|\p{N})[^\W\p{N}_]*+\p{N}(?:[^\W_]|\p{N})*+")
_DOMAIN = rf"{TOP_DOMAINS}(?![\p{{L}}\p{{M}}\p{{N}}])"
# Possessive throughout: the library takes quadratic time to back out of the shorter [\w.-]*\.
_HOST = rf"(?<![\w.-])(?:[\w-]*+(?:\.(?!{_DOMAIN})[\w-]*+)*+\.{_DOMAIN})++"
_WHOLE = rf"{_HOST}(*SKIP)(*FAIL)"
# \w lacks numbers of Unicode's kind No, such as ❶: split at one, it would stand in a gap, and gaps can be
# released as they are.
_COMPOUND = regex.compile(rf"{_WHOLE}|[^\w\p{{N}}.']|_")
_CLITIC = regex.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))$", regex.IGNORECASE)
_INNER = regex.compile(rf"{_WHOLE}|[.']")


class Chunks:
    """Finds the chunks of a text by a pattern, in time proportional to its length.

    The pattern alone is quadratic on numbers that ``\\w`` lacks (Unicode's kind No, such as ❶). After each of
    them it reads the marks that follow, to see whether they join it to another number; these numbers are such
    marks themselves, and each begins a chunk. But what it finds depends only on what follows the last of
    these marks. So once a chunk has ended at such a number, every chunk up to the end of the marks is found
    without looking again.
    """

    def __init__(self, pattern: regex.Pattern[str]) -> None:
        self._pattern = pattern

    def texts(self, text: str) -> list[str]:
        """Return the chunks of a text."""
        if len(text) <= _SHORT_TEXT and (text.isascii() or not _ANY_MARK_NUMBER.search(text)):
            return self._pattern.findall(text)
        return [text[start:stop] for start, stop in self.spans(text, 0, len(text))]

    def spans(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield where each chunk between two places of a text starts and ends."""
        here: int | None = start
        while here is not None:
            begin, here = here, None
            for count, match in enumerate(self._pattern.finditer(text, begin, stop)):
                if count % _PIECES_AT_ONCE == 0:
                    check_interrupt()
                yield match.span()
                if _ANY_MARK_NUMBER.match(text, match.end() - 1) and (
                    marks := _MARKS.match(text, match.end(), stop)
                ):
                    here = yield from self._among_marks(text, *marks.span(), stop)
                    break

    @staticmethod
    def _among_marks(text: str, start: int, end: int, stop: int) -> Generator[tuple[int, int], None, int]:
        """Yield the chunks among marks that join no numbers; return where the pattern has to go on."""
        for count, match in enumerate(_CHUNK_AMONG_MARKS.finditer(text, start, end)):
            if count % _PIECES_AT_ONCE == 0:
                check_interrupt()
            if _GOES_ON.match(text, match.end(), stop):
                return match.start()
            yield match.span()
        return end


class Tokeniser:
    """Cuts normalised text into words by a public vocabulary, given in lower case or, if ``cased``, as it is.

    ``languages`` is what the vocabulary asks for beyond the plain rules.
    """

    def __init__(
        self, known: Container[str], *, cased: bool = False, languages: LanguageRules | None = None
    ) -> None:
        self._known = known
        self._cased = cased
        self._unspaced = None if languages is None else languages.unspaced
        self._elision: regex.Pattern[str] | None = None
        chunk = _CHUNK
        if languages is not None and languages.elided:
            forms = "|".join(sorted((form[:-1] for form in languages.elided), key=len, reverse=True))
            self._elision = regex.compile(rf"(?:{forms})'(?=\w)", regex.IGNORECASE)
            # Alone too, as released words stand: "l' homme".
            chunk = regex.compile(rf"(?<![\w'])(?i:{forms})'(?!\w)|{_CHUNK.pattern}")
        self._chunks = Chunks(chunk)

    def words(self, normalised: str) -> list[str]:
        """Return the words of a normalised text, in the case they have there."""
        if self._unspaced is not None:
            return [normalised[start:stop] for start, stop in self.spans(normalised)]
        words: list[str] = []
        known = self._known
        for chunk in self._chunks.texts(normalised):
            if chunk in known:
                words.append(chunk)
            else:
                words.extend(self._parts(chunk))
        return words

    def spans(self, normalised: str) -> Iterator[tuple[int, int]]:
        """Yield where each word of ``words`` starts and ends."""
        if self._unspaced is None:
            yield from self._spans_between(normalised, 0, len(normalised))
            return
        for piece in self._unspaced.pieces(normalised, self._chunks.spans):
            if piece.is_word:
                yield piece.start, piece.stop
            else:
                yield from self._spans_between(normalised, piece.start, piece.stop)

    def _spans_between(self, normalised: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        for begin, end in self._chunks.spans(normalised, start, stop):
            chunk, position = normalised[begin:end], 0
            for word in [chunk] if chunk in self._known else self._parts(chunk):
                start = chunk.index(word, position)
                position = start + len(word)
                yield begin + start, begin + position

    def _parts(self, chunk: str) -> Iterator[str]:
        if (
            self._elision is not None
            and (elided := self._elision.match(chunk))
            and not (self._holds(chunk) or ADDRESS.search(chunk))
        ):
            yield elided.group()
            chunk = chunk[elided.end() :]
        if self._holds(chunk) or ADDRESS.search(chunk) or not _LETTER.search(chunk):
            yield chunk
        elif _DIGIT.search(chunk) and (code := _code_in(chunk)):
            yield from self._split(chunk[: code.start])
            yield chunk[code]
            yield from self._split(chunk[code.stop :])
        else:
            yield from self._split(chunk)

    def _split(self, chunk: str) -> Iterator[str]:
        for count, part in enumerate(_COMPOUND.split(chunk)):
            if count % _PIECES_AT_ONCE == 0:
                check_interrupt()
            if self._elision is not None and not self._holds(part) and (elided := self._elision.match(part)):
                yield elided.group()
                part = part[elided.end() :]
            clitic = None if self._holds(part) else _CLITIC.search(part)
            ending = clitic.group() if clitic and self._holds(clitic.group()) else ""
            stem = part.removesuffix(ending)
            if self._holds(stem):
                pieces = [stem]
            elif stem.endswith(".") and self._holds(stem[:-1]):
                pieces = [stem[:-1]]
            else:
                pieces = _INNER.split(stem)
            yield from filter(_LETTER_OR_DIGIT.search, pieces)
            if ending:
                yield ending

    def _holds(self, word: str) -> bool:
        return word.lower() in self._known or (self._cased and word in self._known)


def _code_in(chunk: str) -> slice | None:
    """Return where a chunk with a digit holds a number or a code that is one word; None where it is cut like
    any compound.

    It is all that stands from the first piece with a digit to the last one. If one and the same mark (a
    hyphen, slash, full stop or colon) joins all of it, the pieces before belong to it, as far as that mark
    goes, if none has more than three letters; so do those after it. With a single number they make a code
    only if both is so and there are two of them, one before the number: "A-12-B" and "B-MW-1234", but not
    "f-16" or "10-yr-old". The letters of a telephone number belong to it too: "1-800-FLOWERS".
    """
    if len(chunk) > _LONGEST_CODE:
        return _from_number_to_number(chunk)
    pieces = list(_PIECE.finditer(chunk))
    numbers = [place for place, piece in enumerate(pieces) if _DIGIT.search(piece.group())]
    marks = [chunk[one.end() : other.start()] for one, other in pairwise(pieces)]
    first, last = numbers[0], numbers[-1]
    inside = set(marks[first:last] if first < last else marks[first - 1 : first])
    mark = inside.pop() if len(inside) == 1 else ""
    if mark in _OF_CODES:
        low, high = first, last
        while low > 0 and marks[low - 1] == mark:
            low -= 1
        while high < len(marks) and marks[high] == mark:
            high += 1
        before, after = (
            all(len(piece.group()) <= _SHORT for piece in side)
            for side in (pieces[low:first], pieces[last + 1 : high + 1])
        )
        if first < last or (before and after and high - low > 1):
            first, last = low if before else first, high if after else last
    if first == last:
        return None
    letters = _LETTERS_OF_A_PHONE.match(chunk, pieces[last].end())
    return slice(pieces[first].start(), letters.end() if letters else pieces[last].end())


def _from_number_to_number(chunk: str) -> slice | None:
    """Return where the first piece with a digit begins and the last one ends, if there are two; in constant
    memory."""
    numbers = _NUMBER.finditer(chunk)
    first = next(numbers)
    last = deque(numbers, maxlen=1)
    return slice(first.start(), last[0].end()) if last else None


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case when there is no vocabulary yet: compounds are split, clitics
    kept."""
    return Tokeniser(CLITICS).words(normalise(text).lower())


class Vocabulary(Protocol):
    """What the cutter has to know of an embedding: its words, and whether their case counts."""

    @property
    def words(self) -> Sequence[str]:
        """The words, by their ids."""
        ...

    @property
    def index(self) -> Mapping[str, int]:
        """The id of every word."""
        ...

    @property
    def cased(self) -> bool:
        """Whether some words are not in lower case."""
        ...

    @property
    def unknown_id(self) -> int:
        """The id of ⊥, the unknown word."""
        ...

    @property
    def language_rules(self) -> LanguageRules | None:
        """What its words ask for beyond the plain rules."""
        ...

    @property
    def cut_by(self) -> Vocabulary:
        """The vocabulary that text is cut by: itself, or the whole one where words that are never released
        were taken out of it."""
        ...


def rules_for(vocabulary: Vocabulary) -> int:
    """Return the number of the rules by which text is cut for this vocabulary."""
    return RULES if vocabulary.language_rules is None else LANGUAGE_RULES


def _spellings(vocabulary: Vocabulary) -> Mapping[str, int]:
    return vocabulary.index if vocabulary.language_rules is None else vocabulary.language_rules.spellings


class Cutter:
    """Cuts texts into words as a release with this vocabulary does, and finds their ids.

    Words that were taken out of the vocabulary are cut as if they were still in it, so that each is one
    unknown word, whatever its parts. An uncased vocabulary folds text to lower case before it is cut, unless
    ``keep_case`` says that a policy releases the case of words.

    An uncased vocabulary is looked up in lower case; a cased one by the exact spelling, then in lower case. A
    vocabulary that asks for more than the plain rules is looked up by the spelling that text has
    (``LanguageRules``).
    """

    def __init__(self, vocabulary: Vocabulary, *, keep_case: bool = False) -> None:
        whole = vocabulary.cut_by
        self._languages = whole.language_rules
        self._tokeniser = Tokeniser(_spellings(whole), cased=whole.cased, languages=self._languages)
        self.folds = not whole.cased and not keep_case
        self._index, self._cased = _spellings(vocabulary), vocabulary.cased
        self._unknown = vocabulary.unknown_id

    def words(self, text: str) -> list[str]:
        """Return the words of a text, in lower case if the cutter ``folds``."""
        return self._tokeniser.words(self._prepared(text))

    def words_and_gaps(self, text: str) -> tuple[list[str], list[str]]:
        """Return the words of a text, and what stands before each of them and after the last."""
        prepared = self._prepared(text)
        words, gaps, end = [], [], 0
        for start, stop in self._tokeniser.spans(prepared):
            gaps.append(prepared[end:start])
            words.append(prepared[start:stop])
            end = stop
        return words, [*gaps, prepared[end:]]

    def _prepared(self, text: str) -> str:
        normalised = normalise(text)
        if self._languages is not None:
            normalised = self._languages.prepare(normalised)
        return normalised.lower() if self.folds else normalised

    def ids(self, words: list[str], *, folded: bool = False) -> list[int]:
        """Return the id of each word; ⊥ where it is unknown. ``folded`` says that all of them are in lower
        case already."""
        get, unknown = self._index.get, self._unknown
        if folded:
            return list(map(get, words, repeat(unknown)))
        if not self._cased:
            return [get(word.lower(), unknown) for word in words]
        return [get(word, get(word.lower(), unknown)) for word in words]

    def id(self, word: str) -> int:
        """Return the id of one word, as ``ids`` does; ⊥ if it is unknown."""
        lower = self._index.get(word.lower(), self._unknown)
        return self._index.get(word, lower) if self._cased else lower
