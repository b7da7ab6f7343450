"""Text of scripts that put no spaces between words, cut by the words of a vocabulary: the path of least cost
through it.

Every way to cut a run of such text has a cost, the sum over its words. A word of the vocabulary costs the
logarithm of its rank (most files have the frequent words first) and a little for being one more word; an
unknown word costs as much as the rarest word, and more the longer it is. The cheapest way is taken: a fixed
function of the run and the vocabulary, found in one pass (Viterbi), in time proportional to the length of the
run times the number of lengths that words with one first character have (words of more than 40 characters are
found only where a run is nothing else).

Unknown words: up to two Chinese characters or three hiragana, and any length of katakana or of another
script. Letters of scripts with spaces, and digits, are kept together as the plain rules have them
(``Tokeniser``), unless the vocabulary holds a word of both ("Tシャツ"). Addresses are one word (``addresses``),
and the sign that lengthens a kana is a hyphen among digits: "090ー1234ー5678". No word begins with a combining
mark. All costs are whole numbers, so that every machine cuts alike.
"""  # noqa: E501

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import regex

from deniable.progress import check_interrupt
from deniable.words.addresses import Addresses, Spans
from deniable.words.east_asian import NUMERALS

SCRIPTS = {
    "Chinese and Japanese": r"\p{Han}\p{Hiragana}\p{Katakana}ー",
    "Thai": r"\p{Thai}",
    "Lao": r"\p{Lao}",
    "Khmer": r"\p{Khmer}",
    "Burmese": r"\p{Myanmar}",
}
"""The scripts without spaces, as character classes."""

_HAN, _HIRAGANA, _KATAKANA, _OTHER, _SPACED = range(5)
_KINDS = ((r"\p{Han}", _HAN), (r"\p{Hiragana}", _HIRAGANA), (r"[\p{Katakana}ー]", _KATAKANA))
_MARK = regex.compile(r"\p{M}")
# The lengthening sign lengthens a kana, and after a digit there is none.
_LENGTHENING_AS_HYPHEN = regex.compile(r"(?<=\p{N}[^\w\s]*)ー++(?=[^\w\s]*+\p{N})")
_RUN = regex.compile(r"[\w--\p{M}]\w*+", regex.V1)

# In thousandths of a natural logarithm. Measured on gold text: see docs/research/languages.md.
_ONE_MORE_WORD = 1_000
_LISTED_RANK = 50
_INFLECTED = 1_000
_NUMERAL = 5_000
_FURTHER = 1_000
_FEWEST_WORDS = 1_000
_LONGEST_WORD = 40
_LONGEST_UNKNOWN = {_HAN: 2, _HIRAGANA: 3}
_NEVER = 1 << 60
CHARACTERS_AT_ONCE = 1 << 12


class Piece(NamedTuple):
    """A part of a text: where it starts and ends, and whether it is a word; otherwise it has to be cut by the
    plain rules."""

    start: int
    stop: int
    is_word: bool


class Unspaced:
    """Cuts text of scripts without spaces by a vocabulary, given as the rank of every spelling."""

    def __init__(
        self,
        spellings: Mapping[str, int],
        scripts: Iterable[str],
        *,
        listed: frozenset[str] = frozenset(),
        inflected: Mapping[str, int] | None = None,
        cased: bool = False,
    ) -> None:
        """Prepare the vocabulary; words that are ``listed`` or ``inflected``, as those of ``east_asian``,
        need not be in it."""
        letters = rf"[[{''.join(SCRIPTS[script] for script in scripts)}]&&[\p{{L}}\p{{N}}]]"
        other = rf"[\w--{letters}--\p{{M}}]"
        self._letter = regex.compile(letters, regex.V1)
        self._addresses = Addresses(letters)
        self._spaced = regex.compile(rf"{other}[\w--{letters}]*+", regex.V1)
        self._last_spaced = regex.compile(rf"(?<![\w--{letters}]){other}[\w--{letters}]*+\Z", regex.V1)
        # A part of an address or a number: marks join it to more of the kind outside the run.
        self._joined_before = regex.compile(rf"(?<={other}[^\w\s]+){other}[\w--{letters}]*+", regex.V1)
        self._joined_after = regex.compile(rf"{other}[\w--{letters}]*+(?=[^\w\s]++{other})", regex.V1)
        self._cased = cased
        self._ranks = spellings
        self._listed = listed
        self._inflected = inflected or {}
        self._unknown = _cost_of(max(len(spellings), _FEWEST_WORDS))
        self._listed_cost = min(_cost_of(_LISTED_RANK), self._unknown)
        self._kinds: dict[str, int] = {}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for words in (spellings, listed, self._inflected):
            for word in words:
                if len(word) <= _LONGEST_WORD and self._letter.search(word):
                    lengths[word[0]].add(len(word))
        self._lengths = {first: tuple(sorted(found)) for first, found in lengths.items()}

    def pieces(self, text: str, chunks: Spans) -> Iterator[Piece]:
        """Yield the parts of a text in order: words of runs without spaces, and all that the plain rules have
        to cut.

        ``chunks`` yields what the plain rules cut text into first: a chunk that is an address is one word,
        whatever letters it holds.
        """
        end = 0
        if not self._letter.search(text):
            yield Piece(0, len(text), is_word=False)
            return
        for start, stop in self._addresses.spans(text, chunks):
            yield from self._pieces_between(text, end, start)
            yield Piece(start, stop, is_word=True)
            end = stop
        yield from self._pieces_between(text, end, len(text))

    def _pieces_between(self, text: str, end: int, last: int) -> Iterator[Piece]:
        for match in _RUN.finditer(text, end, last):
            found = self._trimmed(text, *match.span())
            if found is not None:
                start, stop = found
                yield Piece(end, start, is_word=False)
                yield from self._cut(text, start, stop)
                end = stop
        yield Piece(end, last, is_word=False)

    def _trimmed(self, text: str, start: int, stop: int) -> tuple[int, int] | None:
        """Return the part of a run that is cut here: without letters at its ends that belong to what stands
        outside."""
        if not self._letter.search(text, start, stop):
            return None
        if before := self._joined_before.match(text, start):
            start = before.end()
        last = self._last_spaced.search(text, start, stop)
        if last and self._joined_after.match(text, last.start()):
            stop = last.start()
        return start, stop

    def _cut(self, text: str, start: int, stop: int) -> Iterator[Piece]:
        run = text[start:stop]
        if not self._cased and len(folded := run.lower()) == len(run):
            run = folded
        if run in self._ranks:
            yield Piece(start, stop, is_word=True)
            return
        kinds = self._kinds_of(run)
        begin = 0
        for end in self._ends(run, kinds):
            is_word = any(kind != _SPACED for kind in kinds[begin:end])
            yield Piece(start + begin, start + end, is_word)
            begin = end

    def _ends(self, run: str, kinds: list[int]) -> list[int]:
        """Return where the words of a run end, by the cheapest path."""
        size, further = len(run), self._unknown // 2
        best, back = [0] + [_NEVER] * size, [0] * (size + 1)
        numerals = {match.start(): match.end() for match in NUMERALS.finditer(run)}
        spaced = {match.start(): match.end() for match in self._spaced.finditer(run)}
        may_end = [True] * (size + 1)
        for mark in _MARK.finditer(run):
            may_end[mark.start()] = False
        # Of the cheapest path that ends in an unknown word of a kind without a longest one.
        long_cost, long_start = _NEVER, 0
        for here in range(size):
            if here % CHARACTERS_AT_ONCE == 0:
                check_interrupt()
            kind, so_far = kinds[here], best[here] + _ONE_MORE_WORD
            edges = []
            if kind in (_KATAKANA, _OTHER):
                goes_on = long_cost + _FURTHER if here and kinds[here - 1] == kind else _NEVER
                fresh = so_far + self._unknown
                long_cost, long_start = (fresh, here) if fresh <= goes_on else (goes_on, long_start)
                if may_end[here + 1] and long_cost < best[here + 1]:
                    best[here + 1], back[here + 1] = long_cost, long_start
            if so_far >= _NEVER:
                continue
            for length in self._lengths.get(run[here], ()):
                if here + length > size:
                    break
                if may_end[here + length] and (cost := self._cost(run[here : here + length])) is not None:
                    edges.append((here + length, cost))
            if here in numerals:
                edges.append((numerals[here], _NUMERAL))
            if here in spaced:
                cost = self._cost(run[here : spaced[here]])
                edges.append((spaced[here], self._unknown if cost is None else cost))
            edges += self._unknown_edges(kinds, may_end, here, further)
            for there, cost in edges:
                if so_far + cost < best[there]:
                    best[there], back[there] = so_far + cost, here
        ends, there = [], size
        while there:
            ends.append(there)
            there = back[there]
        return ends[::-1]

    def _unknown_edges(
        self, kinds: list[int], may_end: list[bool], here: int, further: int
    ) -> Iterator[tuple[int, int]]:
        """Yield where an unknown word of a kind with a longest one can end, and its cost; combining marks
        cost nothing."""
        kind, length, there = kinds[here], 0, here
        while length < _LONGEST_UNKNOWN.get(kind, 0) and there < len(kinds) and kinds[there] == kind:
            there += 1
            while not may_end[there]:
                there += 1
            yield there, self._unknown + length * further
            length += 1

    def _cost(self, word: str) -> int | None:
        if (rank := self._ranks.get(word)) is not None:
            return _cost_of(rank)
        if word in self._listed:
            return self._listed_cost
        if (rank := self._inflected.get(word)) is not None:
            return _cost_of(rank) + _INFLECTED
        return None

    def _kinds_of(self, run: str) -> list[int]:
        """Return the kind of every character; a combining mark has that of the character before it."""
        kinds: list[int] = []
        for character in run:
            if (kind := self._kinds.get(character)) is None:
                kind = self._kinds[character] = self._find_kind(character)
            kinds.append(kinds[-1] if kind < 0 and kinds else abs(kind))
        return kinds

    def _find_kind(self, character: str) -> int:
        if _MARK.match(character):
            return -_SPACED
        if not self._letter.match(character):
            return _SPACED
        return next((kind for pattern, kind in _KINDS if regex.match(pattern, character)), _OTHER)


def _cost_of(rank: int) -> int:
    return round(1_000 * math.log(rank + 1))


def with_hyphens(normalised: str) -> str:
    """Return the text with hyphens for lengthening signs between digits, as they are typed in telephone
    numbers: 090ー1234ー5678."""
    if "ー" not in normalised:
        return normalised
    return _LENGTHENING_AS_HYPHEN.sub(lambda found: "-" * len(found.group()), normalised)
