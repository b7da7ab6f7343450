"""Identifiers (names, numbers, addresses) replaced by keyed stand-ins of the same form, and put back.

A language model that is asked about "Anna Smith, 555-0142" needs something to call her. So identifiers that
are found in a text are replaced by realistic ones of the same form, drawn by a keyed function, and anybody
who holds the key and the text puts the real ones back. Words between identifiers are drawn as always, and so
is every identifier that is not found.

*What it discloses.* This is a relaxation, outside the guarantee and the non-interference claims: a reader
sees where identifiers stood, of which kind and form each was, and which are equal. The stand-in itself is a
function of the key and of the identifier, and says nothing more to who has no key.

*How stand-ins are drawn.* By SHAKE-256 of (key, kind, identifier, attempt). An attempt is passed over if it
is the identifier itself, or was an identifier or a stand-in earlier in the conversation, so that two
identifiers never share one. Numbers keep their form: a digit stays a digit, a letter a letter, and a number
that passes the check of card numbers still does. Names are drawn word by word, so that "Anna" alone stays
the same person as "Anna Smith".

Format-preserving encryption (FF1) would need no memory of the conversation, but it cannot tell a stand-in
in an answer from a word that the model wrote by itself, and would corrupt the latter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, count, pairwise
from threading import Lock
from typing import Any, NamedTuple

import regex

from deniable.errors import DeniableError
from deniable.noise.encoding import encode_parts
from deniable.words.never_release import BUILT_IN, NeverRelease, built_in_words

RELAXATION = (
    "identifiers that were found are replaced by keyed stand-ins: where they stood, their kind and form, and "
    "which of them are equal is released exactly, outside the guarantee; what was not found is drawn as words"
)

_GIVEN = """
Adam Alice Amelia Andrew Angela Arthur Barbara Benjamin Brenda Brian Caroline Catherine Charles Charlotte
Christine Christopher Daniel Deborah Dennis Diane Donald Dorothy Douglas Edward Eleanor Elizabeth Emily
Emma Eric Evelyn Frances Frederick George Gerald Gregory Hannah Harold Helen Henry Isabella Jacob James
Janet Jason Jeffrey Jennifer Jessica Joseph Joshua Julia Justin Karen Katherine Keith Kenneth Kevin Larry
Laura Linda Lisa Lucas Margaret Maria Martha Matthew Megan Melissa Michael Michelle Nancy Natalie Nathan
Nicholas Nicole Olivia Pamela Patricia Patrick Paul Peter Philip Rachel Raymond Rebecca Richard Robert
Roger Ronald Samantha Samuel Sandra Sarah Scott Sharon Stephanie Stephen Steven Susan Theresa Thomas
Timothy Victoria Vincent Virginia Walter William
"""
_SURNAMES = """
Adams Allen Anderson Bailey Bennett Brooks Campbell Carter Clark Coleman Collins Cooper Cox Davis Diaz
Edwards Evans Fisher Foster Garcia Gibson Gomez Gonzalez Graham Griffin Hamilton Harris Harrison Henderson
Hernandez Howard Hughes Jackson Jenkins Johnson Jones Jordan Kelly Kennedy Lewis Lopez Marshall Martin
Martinez Mcdonald Miller Mitchell Moore Morgan Morris Murphy Murray Myers Nelson Ortiz Owens Parker
Patterson Perez Perry Peterson Phillips Powell Ramirez Reynolds Richardson Rivera Roberts Robinson
Rodriguez Rogers Russell Sanchez Sanders Simmons Simpson Smith Stewart Sullivan Taylor Thompson Torres
Tucker Turner Walker Wallace Watson Williams Wilson Wright
"""
GIVEN, SURNAMES = _GIVEN.split(), _SURNAMES.split()
"""Frequent names of the US Census (public domain), all in the built-in list of names: where that list is held
back, no drawn word is one of them."""

_STREET = "Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Way|Court|Ct|Boulevard|Blvd|Square|Place"
# Nothing is tried twice: time grows with the length of a text and no faster, whatever is in it.
_SHAPES = {
    "email": r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++",
    "url": r"(?:https?://|www\.)[^\s<>\"]*[\w/]",
    "ip": r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])",
    "address": rf"(?<!\w)\d{{1,5}}[A-Za-z]?\s(?:\p{{Lu}}[\w'-]*\s){{1,3}}?(?:{_STREET})(?!\w)",
    # IBANs and the like, then phone, card and account numbers; a date is no identifier.
    "number": r"(?<!\w)[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){2,7}(?:\s?[A-Z0-9]{1,4})?(?!\w)"
    r"|(?<![\w.,])(?!\d{4}-\d\d-\d\d(?!\d))[+(]{0,2}\d(?:[-. ()]{0,2}\d){5,18}(?!\w)",
}
_ANY = regex.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in _SHAPES.items()))
_NAME = regex.compile(r"(?<![\w@.])\p{Lu}[\p{L}\p{M}]*+(?:[-'’](?!s\b)\p{L}[\p{L}\p{M}]++)*+(?![\w-])")
_PRESIDIO = {
    "PERSON": "name",
    "EMAIL_ADDRESS": "email",
    "URL": "url",
    "IP_ADDRESS": "ip",
    "DATE_TIME": None,  # words, as every place and nationality
    "LOCATION": None,
    "NRP": None,
}
_OPENS, _CLOSES = ("(", "[", " "), (".", ",", ";", ":", "!", "?", ")", "]", " ")
_SITES = ("example.com", "example.net", "example.org")  # reserved (RFC 2606): nobody receives mail there
_ATTEMPTS_WITH_FREQUENT_NAMES = 16


class Span(NamedTuple):
    """Where an identifier stands in a text, and its kind."""

    start: int
    end: int
    kind: str


Finder = Callable[[str], Iterable[Span]]


def find_by_shape(text: str) -> Iterator[Span]:
    """Yield e-mail, web and street addresses, numbers of six digits or more, and listed names with the
    capitalised words right after them."""
    for found in _ANY.finditer(text):
        yield Span(*found.span(), str(found.lastgroup))
    listed, end = NeverRelease.of("names"), -2
    for found in _NAME.finditer(text):
        follows = found.start() == end + 1 and text[end] == " "
        if (follows and found[0] != "I") or listed.holds(found[0]):
            end = found.end()
            yield Span(*found.span(), "name")


def find_by_presidio(language: str = "en") -> Finder:
    """Return a finder that asks Presidio, and looks at shapes as well.

    :raises DeniableError: if presidio-analyzer or its language model is not installed: none is downloaded.
    """
    try:
        import spacy.util
        from presidio_analyzer import AnalyzerEngine
    except ImportError as error:
        raise DeniableError("this needs Presidio's analyzer: pip install presidio-analyzer") from error
    model = f"{language}_core_web_lg"
    if not spacy.util.is_package(model):
        raise DeniableError(
            f"Presidio needs the spaCy model {model}: install it, or find identifiers by shape"
        )
    return with_presidio(AnalyzerEngine(), language)


def with_presidio(analyzer: Any, language: str = "en") -> Finder:
    """Return a finder that asks this ``AnalyzerEngine`` of Presidio, and looks at shapes as well."""

    lock = Lock()  # nobody says that its pipeline may be used by several threads

    def find(text: str) -> Iterator[Span]:
        yield from find_by_shape(text)
        with lock:
            found = analyzer.analyze(text=text, language=language)
        for each in found:
            kind = _PRESIDIO.get(each.entity_type, "number")
            if kind == "name":  # word by word
                for word in regex.finditer(r"\p{L}[\w'’-]*", text[each.start : each.end]):
                    yield Span(each.start + word.start(), each.start + word.end(), kind)
            elif kind is not None:
                yield Span(each.start, each.end, kind)

    return find


class StandIns:
    """The stand-ins of one conversation: replaces identifiers in its texts, in order, and puts them back.

    >>> stand_ins = StandIns(b"32 secret bytes of a conversation")
    >>> pieces, between = stand_ins.split("Call Anna Kowalska on 555-014-2277 today.")
    >>> pieces
    ['Call ', ' ', ' on ', ' today.']
    >>> stand_ins.restore(f"I shall call {between[0]}.")
    'I shall call Anna.'
    """

    def __init__(self, secret: bytes, find: Finder = find_by_shape) -> None:
        self._secret, self._find = secret, find
        self._of: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self.originals: dict[str, str] = {}
        """The identifiers by their stand-ins."""

    def split(self, text: str) -> tuple[list[str], list[str]]:
        """Return what stands before, between and after the identifiers of a text, and their stand-ins."""
        pieces, between, end = [], [], 0
        for span in sorted(set(self._find(text)), key=lambda span: (span.start, -span.end)):
            if span.start >= end:
                pieces.append(text[end : span.start])
                between.append(self._stand_in(span.kind, text[span.start : span.end]))
                end = span.end
        return [*pieces, text[end:]], between

    def replace(self, text: str) -> str:
        """Return a text with stand-ins and all other words as they are."""
        pieces, between = self.split(text)
        return "".join(chain.from_iterable(zip(pieces, [*between, ""], strict=True)))

    def join(self, pieces: Sequence[str], between: Sequence[str]) -> str:
        """Return a text of released pieces with the stand-ins between them."""
        parts = [part for both in zip(pieces, [*between, ""], strict=True) for part in both if part]
        joined = "".join(parts[:1])
        for before, part in pairwise(parts):
            joined += part if before.endswith(_OPENS) or part.startswith(_CLOSES) else f" {part}"
        return joined

    def restore(self, answer: str, start: int = 0) -> str:
        """Return an answer from ``start`` on, with the identifiers in place of their stand-ins."""
        if not self.originals:
            return answer[start:]
        found = "|".join(regex.escape(each) for each in sorted(self.originals, key=len, reverse=True))
        whole = rf"(?<!\w)(?:{found})(?!\w)"
        restored = regex.sub(whole, lambda match: self.originals[match[0]], answer, pos=start)
        return str(restored[start:])

    def held_back(self, answer: str) -> int:
        """Return how many characters at the end of an unfinished answer may be a part of a stand-in."""
        longest = min(len(answer), max(map(len, self.originals), default=0))
        ends = (answer[len(answer) - size :] for size in range(longest, 0, -1))
        return next((len(end) for end in ends if any(each.startswith(end) for each in self.originals)), 0)

    def _stand_in(self, kind: str, original: str) -> str:
        key = kind, folded = kind, original.casefold()
        if key not in self._of:
            self._taken.add(folded)
            self._of[key] = next(
                made for made in self._attempts(kind, original) if made.casefold() not in self._taken
            )
            self._taken.add(self._of[key].casefold())
        made = self._of[key].upper() if original.isupper() and len(original) > 1 else self._of[key]
        self.originals.setdefault(made, original)
        return made

    def _attempts(self, kind: str, original: str) -> Iterator[str]:
        for attempt in count():
            drawn = _Drawn(self._secret, kind, original.casefold(), attempt)
            yield _MAKERS[kind](drawn, original, attempt >= _ATTEMPTS_WITH_FREQUENT_NAMES)


class _Drawn:
    """Numbers drawn by a keyed function of an identifier."""

    def __init__(self, secret: bytes, kind: str, original: str, attempt: int) -> None:
        content = encode_parts([secret, kind, original, str(attempt)])
        self._stream = iter(hashlib.shake_256(content).digest(8 * (64 + 2 * len(original))))

    def below(self, most: int) -> int:
        return int.from_bytes(next(self._stream) for _ in range(8)) % most

    def one_of(self, values: Sequence[str]) -> str:
        return values[self.below(len(values))]


def _name(drawn: _Drawn, original: str, rare: bool) -> str:
    if len(original) == 1:
        return drawn.one_of("ABCDEFGHIJKLMNOPRSTUVW")
    return drawn.one_of(_rare_names() if rare else (GIVEN, SURNAMES)[drawn.below(2)])


@lru_cache(maxsize=1)
def _rare_names() -> list[str]:
    return [name.capitalize() for name in sorted(built_in_words(BUILT_IN["names-1"])) if len(name) > 3]


def _number(drawn: _Drawn, original: str, _rare: bool) -> str:
    first, made = True, []
    for sign in original:
        if sign.isdecimal():
            made.append(str(drawn.below(10)) if sign == "0" or not first else str(1 + drawn.below(9)))
            first = False
        elif sign.isalpha():
            letter = drawn.one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            made.append(letter if sign.isupper() else letter.lower())
        else:
            made.append(sign)
    if len(_digits(original)) >= 13 and _luhn(_digits(original)) == 0:
        place = max(i for i, sign in enumerate(made) if sign.isdecimal())
        made[place] = "0"
        made[place] = str(-_luhn(_digits("".join(made))) % 10)
    return "".join(made)


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdecimal()]


def _luhn(digits: list[int]) -> int:
    """Return what the check of card numbers adds up to, modulo 10: 0 if it is passed."""
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(digits[::-1])]
    return sum(doubled) % 10


def _email(drawn: _Drawn, _original: str, _rare: bool) -> str:
    return (
        f"{drawn.one_of(GIVEN)}.{drawn.one_of(SURNAMES)}{10 + drawn.below(90)}@{drawn.one_of(_SITES)}".lower()
    )


def _url(drawn: _Drawn, original: str, _rare: bool) -> str:
    scheme = next((each for each in ("https://", "http://") if original.startswith(each)), "")
    path = f"{drawn.one_of(GIVEN)}/{drawn.below(10**6):06}"
    return f"{scheme}www.{drawn.one_of(_SITES)}/{path}".lower()


def _ip(drawn: _Drawn, _original: str, _rare: bool) -> str:
    return f"10.{drawn.below(256)}.{drawn.below(256)}.{1 + drawn.below(254)}"


def _address(drawn: _Drawn, original: str, _rare: bool) -> str:
    number, *_, kind = original.split()
    return f"{_number(drawn, number, False)} {drawn.one_of(SURNAMES)} {kind}"


_MAKERS: dict[str, Callable[[_Drawn, str, bool], str]] = {
    "name": _name,
    "number": _number,
    "email": _email,
    "url": _url,
    "ip": _ip,
    "address": _address,
}
