"""What happens to unknown words, punctuation, case and listed words, what each choice discloses, and how it
is done.

The default discloses the number of words of a text and nothing else. Every other choice is made by name and
is written in the receipt. There is no choice that lets an unknown word through.

A policy makes a draft of a text: what will be drawn, what is released as it is, and how released words become
text again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import regex

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, UnknownWord
from deniable.neighbours import best_neighbours
from deniable.progress import check_interrupt
from deniable.release.writing import REDACTED, Shape, Writer, marks_of, shape_of
from deniable.words.cutter import Cutter

UnknownPolicy = Literal["perturb", "subwords", "redact", "drop", "error"]
PunctuationPolicy = Literal["drop", "keep"]
CasePolicy = Literal["drop", "keep"]

PUBLIC_PUNCTUATION = frozenset(".,;:!?\"'()[]{}-–—/&%«»¿¡。、")
"""The marks that punctuation='keep' may release. A closed list: no other character of the input can pass."""

_SPACES = regex.compile(r"\s+")
_SPACE = regex.compile(r"[ \t\r\n]")
CHARACTERS_AT_ONCE = 1 << 16
_WORDS_AT_ONCE = 1 << 12
_SPELLINGS_AT_ONCE = 1 << 14
REMEMBERED_SPELLINGS = 100_000


@dataclass(frozen=True, kw_only=True)
class TextPolicy:
    """How text is treated around the mechanism.

    ``unknown``: "perturb" treats every unknown word as ⊥ and perturbs it like any word; "subwords" (fastText
    embeddings) perturbs it as the known word its spelling is nearest to; "redact" writes a fixed token;
    "drop" leaves it out; "error" stops. ``punctuation`` and ``case``: "drop" or "keep". ``keep_words``: words
    of the vocabulary to release unchanged; a listed word that it does not hold is unknown all the same, and
    an entry that is cut into several words ("new york", "don't") is refused.
    """

    unknown: UnknownPolicy = "perturb"
    punctuation: PunctuationPolicy = "drop"
    case: CasePolicy = "drop"
    keep_words: Collection[str] = ()

    def __post_init__(self) -> None:
        for name, allowed in (
            ("unknown", UnknownPolicy),
            ("punctuation", PunctuationPolicy),
            ("case", CasePolicy),
        ):
            value = getattr(self, name)
            _one_of(name, value, get_args(allowed))
            # A grid of parameters gives strings of NumPy, which neither card nor receipt holds.
            object.__setattr__(self, name, str(value))
        words = list(self.keep_words) if isinstance(self.keep_words, Iterable) else [None]
        if isinstance(self.keep_words, str) or not all(isinstance(word, str) for word in words):
            raise InvalidParameter("keep_words", self.keep_words, "must be a collection of words")
        object.__setattr__(self, "keep_words", frozenset(words))

    @property
    def choices(self) -> dict[str, Any]:
        """The policies by name, without the list of words."""
        return {name: getattr(self, name) for name in POLICIES}

    @property
    def public(self) -> list[str]:
        """What of the input anyone can read off the output by design."""
        public = [
            "the number of words of each record (texts of equal length are compared)",
            "which records are missing (null) or empty",
        ]
        if self.unknown == "drop":
            public[0] = "the number of known words of each record"
        return public

    @property
    def relaxations(self) -> list[str]:
        """What the chosen policies disclose beyond the guarantee; empty for the default."""
        named = {
            "unknown='subwords'": "an unknown word is perturbed as the known word its spelling is nearest "
            "to; the bound holds between those known words, and unknown words are not all alike any more",
            "unknown='redact'": "the positions of unknown words are released exactly",
            "unknown='error'": "that there is an output says that every word was known",
            "unknown='drop'": "the number of words released is the number of known words, not of all words",
            "punctuation='keep'": "punctuation marks and their positions are released exactly",
            "case='keep'": "which words were capitalised or upper case is released exactly",
        }
        chosen = {f"{name}={value!r}" for name, value in self.choices.items()}
        found = [f"{choice}: {disclosed}" for choice, disclosed in named.items() if choice in chosen]
        if self.keep_words:
            found.append(
                f"keep_words: of {len(self.keep_words):,} listed words, those in the vocabulary are released "
                "exactly wherever they occur"
            )
        return found


POLICIES = tuple(each.name for each in fields(TextPolicy) if each.name != "keep_words")
"""The policies that are a choice of one value, by name."""


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidParameter(name, value, f"must be one of {', '.join(allowed)}")


@dataclass(slots=True)
class Draft:
    """One text after the policies and before the noise.

    ``drawn`` holds the ids that go through the mechanism, in order, and ``positions`` their places among all
    words of the text. ``fixed`` holds the words that are released unchanged, by their position among the
    released words; it is empty unless a policy says so. ``gaps`` (before each word, and one at the end) and
    ``shapes`` are None unless punctuation or case is kept.
    """

    words: int
    unknown: int
    drawn: list[int] = field(repr=False)
    positions: Sequence[int] = field(repr=False)
    writer: Writer = field(repr=False)
    fixed: dict[int, str] = field(default_factory=dict, repr=False)
    gaps: list[str] | None = field(default=None, repr=False)
    shapes: list[Shape] | None = field(default=None, repr=False)
    protected: int = 0

    @property
    def size(self) -> int:
        """About how many words this holds, with punctuation counted at five marks a word."""
        return len(self.drawn) + len(self.fixed) + (0 if self.gaps is None else sum(map(len, self.gaps)) // 5)

    def assemble(self, released: Sequence[str]) -> str:
        """Return the text to release, given one released word per drawn id."""
        words = list(released)
        if self.fixed:
            drawn = iter(released)
            words = [
                self.fixed[i] if i in self.fixed else next(drawn)
                for i in range(len(self.fixed) + len(released))
            ]
        return self.writer.write(words, self.gaps, self.shapes)


class Drafter:
    """Turns text into drafts by a policy and a public vocabulary."""

    def __init__(self, embedding: Embedding, policy: TextPolicy) -> None:
        self._policy = policy
        self._unknown = embedding.unknown_id
        self._cutter = Cutter(embedding, keep_case=policy.case == "keep")
        self._subwords = SubwordLookup(embedding) if policy.unknown == "subwords" else None
        self._vocabulary = embedding.words
        self._stands_in = None if embedding.protection is None else embedding.protection.tolist()
        self._kept = self._known_ids(policy.keep_words)
        self._plain = policy == TextPolicy()
        self._writer = Writer(embedding, marks_of(policy.unknown))

    def remember_nothing(self) -> None:
        """Keep nothing of unknown words from one call to the next."""
        if self._subwords is not None:
            self._subwords.remember_nothing()

    @property
    def kept_words(self) -> list[str]:
        """The words that are released as they are, as the vocabulary spells them."""
        return [self._vocabulary[word_id] for word_id in self._kept]

    def draft(self, text: str, *, record: int) -> Draft:
        """Return the draft of one text; ``record`` (from 1) is for error messages.

        :raises UnknownWord: if the policy is to stop at unknown words and there is one.
        """
        words, gaps = self._cut(text)
        ids = self._cutter.ids(words, folded=self._cutter.folds)
        unknown = ids.count(self._unknown)
        if self._plain:
            return self._finished(
                Draft(
                    words=len(words),
                    unknown=unknown,
                    drawn=ids,
                    positions=range(len(ids)),
                    writer=self._writer,
                )
            )
        if unknown and self._policy.unknown == "error":
            raise UnknownWord(record=record, position=ids.index(self._unknown) + 1)
        return self._finished(self._with_policies(words, gaps, ids, unknown))

    def _cut(self, text: str) -> tuple[list[str], list[str] | None]:
        """Return the words of a text, and if punctuation is kept what is before each of them and after the
        last."""
        keeps = self._policy.punctuation == "keep"
        words: list[str] = []
        gaps = [""]
        for part in _parts(text):
            if keeps:
                found, between = self._cutter.words_and_gaps(part)
                gaps[-1] += between[0]
                gaps += between[1:]
            else:
                found = self._cutter.words(part)
            words += found
        return words, gaps if keeps else None

    def _finished(self, draft: Draft) -> Draft:
        # After the policies: a protected word that goes in as ⊥ is not an unknown word to them.
        if self._stands_in is not None:
            mapped = [self._stands_in[word_id] for word_id in draft.drawn]
            draft.protected = sum(new != old for new, old in zip(mapped, draft.drawn, strict=True))
            draft.drawn = mapped
        return draft

    def _with_policies(self, words: list[str], gaps: list[str] | None, ids: list[int], unknown: int) -> Draft:
        policy = self._policy
        kept = [word_id in self._kept for word_id in ids]
        if self._subwords is not None and unknown:
            strangers = [i for i, word_id in enumerate(ids) if word_id == self._unknown]
            for i, word_id in zip(strangers, self._subwords.ids([words[i] for i in strangers]), strict=True):
                ids[i] = word_id
        positions: list[int] = []
        draft = Draft(words=len(words), unknown=unknown, drawn=[], positions=positions, writer=self._writer)
        kept_gaps, carried = [], ""
        shapes = []
        for i, (word, word_id) in enumerate(zip(words, ids, strict=True)):
            if i % _WORDS_AT_ONCE == 0:
                check_interrupt()
            carried += _public_marks(gaps[i]) if gaps is not None else ""
            position = len(draft.drawn) + len(draft.fixed)
            if kept[i]:
                draft.fixed[position] = self._vocabulary[word_id]
            elif word_id == self._unknown and policy.unknown == "redact":
                draft.fixed[position] = REDACTED
            elif word_id == self._unknown and policy.unknown == "drop":
                continue
            else:
                draft.drawn.append(word_id)
                positions.append(i)
            shapes.append(shape_of(word))
            # A second space would say that a word was dropped here.
            kept_gaps.append(_SPACES.sub(" ", carried))
            carried = ""
        if gaps is not None:
            draft.gaps = [*kept_gaps, _SPACES.sub(" ", carried + _public_marks(gaps[-1]))]
        if policy.case == "keep":
            draft.shapes = shapes
        return draft

    def _known_ids(self, listed: Iterable[str]) -> frozenset[int]:
        """Return the ids of the known words among the listed ones.

        :raises InvalidParameter: if an entry is not one word in a text: its parts, wherever they occur, are
            not what was listed.
        """
        words: list[str] = []
        for entry in listed:
            found = self._cutter.words(entry)
            if len(found) != 1:
                parts = f"is {len(found)} words in a text ({', '.join(found)})" if found else "holds no word"
                raise InvalidParameter(
                    "keep_words",
                    entry,
                    f"{parts}; list single words, each of which is released wherever it occurs",
                )
            words += found
        return frozenset(self._cutter.ids(words)) - {self._unknown}


class SubwordLookup:
    """Maps an unknown word to the known word nearest to the vector of its spelling (fastText embeddings)."""

    def __init__(self, embedding: Embedding) -> None:
        if embedding.subwords is None:
            raise InvalidParameter(
                "unknown",
                "subwords",
                f"the embedding {embedding.name!r} has no subword vectors (fastText .bin files do)",
            )
        self._subwords = embedding.subwords
        self._unknown = embedding.unknown_id
        self._cased = embedding.cased
        self._neighbours = best_neighbours(embedding)
        # Bounded: private text must not be able to grow the process without end.
        self._remembered: OrderedDict[str, int] = OrderedDict()
        self._most_remembered = REMEMBERED_SPELLINGS
        self._lock = threading.Lock()

    def remember_nothing(self) -> None:
        """Keep no spelling from one call to the next."""
        self._most_remembered = 0
        self._remember({})

    def ids(self, words: list[str]) -> list[int]:
        """Return a known id for each word; ⊥ where the spelling has no vector."""
        spellings = words if self._cased else [word.lower() for word in words]
        # One look per spelling: another thread may make this one forget it at any moment.
        found: dict[str, int | None] = {word: self._remembered.get(word) for word in spellings}
        unseen = [word for word, word_id in found.items() if word_id is None]
        for start in range(0, len(unseen), _SPELLINGS_AT_ONCE):
            check_interrupt()
            fresh = unseen[start : start + _SPELLINGS_AT_ONCE]
            vectors = self._subwords.vectors(fresh)
            nearest = self._neighbours.nearest(vectors).tolist()
            learnt = {
                word: near if vector.any() else self._unknown
                for word, vector, near in zip(fresh, vectors, nearest, strict=True)
            }
            found.update(learnt)
            self._remember(learnt)
        return [word_id for word in spellings if (word_id := found[word]) is not None]

    def _remember(self, learnt: dict[str, int]) -> None:
        with self._lock:
            self._remembered.update(learnt)
            while len(self._remembered) > self._most_remembered:
                self._remembered.popitem(last=False)


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts that end before a space, across which nothing is joined, so that work can be
    interrupted."""
    start = 0
    while space := _SPACE.search(text, start + CHARACTERS_AT_ONCE):
        yield text[start : space.start()]
        start = space.start()
        check_interrupt()
    yield text[start:]


def _public_marks(gap: str) -> str:
    """Return what may be released of the characters between two words: listed marks and single spaces."""
    return _SPACES.sub(" ", "".join(c if c in PUBLIC_PUNCTUATION else " " for c in gap))
