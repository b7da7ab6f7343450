"""What is known of one column: what its values are, how many words they have, and which of them an embedding
knows."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from deniable.embeddings.embedding import Embedding
from deniable.records.formats.columns import Leaf, Unnamed, Value
from deniable.records.languages import language_of, language_of_text, other_languages, scripts_of
from deniable.words.cutter import Cutter
from deniable.words.never_release import BUILT_IN, built_in_words, fold, without_accents

Kind = Literal[
    "empty",
    "number",
    "date",
    "birth date",
    "e-mail",
    "phone",
    "person",
    "identifier",
    "category",
    "free text",
    "short text",
    "formula",
    "other",
]

MOST_COLUMNS = 1_000
"""How many columns are looked into."""

_MOST_SEEN = 200_000
_FEW = 30
_LONGEST_NAME = 4
_BESIDE_NAMES = re.compile(
    r"dr|mr|mrs|ms|miss|prof|professor|med|phd|md|sir|jr|sr|ii|iii|herr|frau|hr|fr|mme|mlle|madame|monsieur|sra|senora?"
    r"|dott|signora?|don|dona|von|van|der|den|de|la|le|du|del|di|da|dos|bin|ibn|al|el|zu|af"
)
"""Titles and particles that stand beside names, without accents."""

_LONG = 4
"""From this many words on a text is long."""

_LONG_TO_BE_FREE = 5
"""So many different long texts, most of which stand there once, are free text, whatever else the column
holds."""

_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_LONG_NUMBER = 15
"""So many digits are no amount: they name a card, an account or a post."""

# Possessive or bounded, so that a long value or name is looked at in linear time.
_NUMBER = re.compile(r"[-+]?[.,]*+\d[\d.,]*+(?:[eE][-+]?\d+)?%?")
_MONTH = (
    r"(?:jan|ene|gen|f[eé]b|fev|f[eé]v|m[aä]r|apr|abr|avr|ma[iyg]|jui?n|giu|jui?l|lug|a[uo][gû]|sep|set|o[ckut]t|out|nov|d[eéi][czs])"
    r"[^\W\d_]{0,7}\.?"
)
_TIME = (
    r"(?:[T ,]{1,2}(?:\d{4}(?:\d\d)?|\d\d?(?:[:.h]\d\d(?:[:.]\d\d(?:[.,]\d{1,9})?)?)?)"
    r"(?: ?(?i:[ap]\.?m\.?|uhr))?(?: ?(?:Z|UTC|GMT|[A-Z]{2,4}T|[+-]\d\d:?\d\d))?)"
)
_DATE = re.compile(
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{2,4}"
    rf"|(?i:\d\d?\.?(?: de )?[ -]?{_MONTH},?(?: de )?[ -]?\d{{2,4}}|{_MONTH} \d\d?,? \d{{4}})){_TIME}?"
)
_E_MAIL = re.compile(r"[^@\s]@[^@\s]+\.[^@\s]")
_PHONE = re.compile(r"\+?[\d ()/.-]{7,20}")
_PHONE_NAME = re.compile(
    r"(?i)(?:^|[^a-z])(?:tel|(?:tele)?phone|telefon|tel[eé]fono|mobile?|cell|fax|handy)[._\s-]?(?:no|nr|num|number|nummer)?(?:$|[^a-z])"
)
_IP = re.compile(r"(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}", re.ASCII)
LOOKS = {"identifier": _IP, "date": _DATE, "number": _NUMBER, "phone": _PHONE}
"""What a whole value may look like, in the order in which this is asked."""
_INSIDE_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PERSON = re.compile(
    r"(?i)(?:^|[._\s\[\]-])(?:user|author|patient|customer|client|person|employee|member|name|surname|nurse|doctor"
    r"|nachname|vorname|pr[eé]nom|nom|apellidos?|nombre|paciente|cognome|nome)(?:$|[._\s\[\]-]|name|id)"
    r"|(?:^|[\W_])(?:имя|фамилия|отчество|фио|пациент|клиент|όνομα|επώνυμο|ім'я|прізвище)(?:$|[\W_])"
    r"|姓名|氏名|名前|患者|이름|성명|الاسم|שם"
)
_PERSON_NUMBER = re.compile(
    r"(?i)(?:^|[._\s\[\]-])(?:user|author|patient|customer|client|person|employee|member|student|subject)[._\s-]?(?:id|key|number|num|no|nr)?$"
)
_BORN = (
    r"birth|geb(?:oren|urt)|naissance|nacimiento|fecha.?nac|nascita|nascimento|urodz|narozen|syntym|f[oö]dsel|fødsel|doğum|рожд|生年|出生|생년"
    r"|(?:^|[^a-z])(?:[dy]ob|geb|born)(?:$|[^a-z])"
)
_BIRTH = re.compile(rf"(?i){_BORN}")
_BIRTH_YEAR = re.compile(
    r"(?i)birth.?(?:year|date|day)|(?:year|date|day).?of.?birth|geb(?:urts|oren)?.?(?:jahr|datum|tag|year)"
    r"|(?:ann[eé]e|a[nñ]o|anno).{0,40}(?:naiss|naci|nasc)|год.{0,40}рожд|(?:^|[^a-z])(?:[dy]ob|born|geboren)$"
)
_ID = re.compile(r"(?i)(?:^|[._\s\[\]-])(?:id|key|uuid|guid|number|no|nr|ssn|mrn|iban)$")


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """One column of a file, by its path."""

    path: str | None
    """None if it is the text of a file that has no columns."""
    kind: Kind
    values: int
    """With the empty ones."""
    empty: int
    distinct: int
    """How many different values there are."""
    most_repeated: int
    """How often the most frequent value stands there."""
    words: int
    longest: int
    """The number of words of the longest text."""
    unknown: float
    """The share of words that the embedding does not know."""
    script: str | None
    language: str | None
    """A guess."""
    other_languages: dict[str, float]
    """Other languages that texts of it are likely in, with their share of the texts."""
    counts_up: bool
    """Whether the values are 0, 1, 2 and so on, or begin at 1: they say no more than the order of the
    records."""

    @property
    def called_like_a_person(self) -> bool:
        """Whether its name is that of a person, or an e-mail address: where objects have people for keys."""
        if self.path is None:
            return False
        words = re.split(
            r"[\s,-]+", self.path.rpartition(".")[2]
        )  # nobs_ref is no person, though both are names
        return bool(_E_MAIL.search(self.path)) or _names_in(words) > 1

    @property
    def nested(self) -> bool:
        """Whether the column stands inside another."""
        return self.path is not None and ("." in self.path or "[]" in self.path)


@dataclass(kw_only=True)
class Gathering:
    """A column while its values come in. No value is kept but as a digest."""

    path: str | None
    values: int = 0
    counts_up: bool = True
    last: int | None = None
    """The value before, while they count up."""
    seen: Counter[bytes] = field(default_factory=Counter)
    """How often each value stands there, by its digest."""
    empty: int = 0
    looks: Counter[str] = field(default_factory=Counter)
    long: Counter[bytes] = field(default_factory=Counter)
    """How often each long text stands there, by its digest."""
    lengths: Counter[int] = field(default_factory=Counter)
    """How many texts have how many words."""
    words: int = 0
    frequent: Counter[str] = field(default_factory=Counter)
    """How often each word stands there."""
    unknown: int = 0
    scripts: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    """How many texts are likely of which language."""
    plain: Counter[bytes] = field(default_factory=Counter)
    """How often each text stands there that is no number, date or the like."""
    names: Counter[bytes] = field(default_factory=Counter)
    """How often those stand there that are names of people, as far as a public list knows them."""
    words_of_names: int = 0
    long_numbers: int = 0

    @property
    def texts(self) -> int:
        """How many values are texts."""
        return self.lengths.total()

    @property
    def longest(self) -> int:
        """The number of words of the longest text."""
        return max(self.lengths, default=0)

    def add(self, value: Value, cutter: Cutter, unknown_id: int) -> None:
        """Take in one value."""
        self.values += 1
        if value is None or value == "":
            self.empty += 1
            return
        if isinstance(value, Leaf):
            self.looks[value.value] += 1
            self.counts_up = False
            return
        text = str(value)
        self._count_up(text)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if len(self.seen) < _MOST_SEEN:
            self.seen[digest] += 1
        if isinstance(value, bool | int | float):
            self.looks["number"] += 1
            self.long_numbers += _is_long_number(text)
            return
        if isinstance(value, datetime.date):
            self.looks["date"] += 1
            return
        look, words = _look_of(text.strip()), cutter.words(text)
        self.looks[look] += 1
        if look in ("text", "e-mail") and len(words) >= _LONG and len(self.long) < _MOST_SEEN:
            self.long[digest] += 1
        self.words += len(words)
        self.lengths[len(words)] += 1
        self.unknown += sum(number == unknown_id for number in cutter.ids(words))
        self.frequent.update(word.casefold() for word in words)
        self.scripts += scripts_of(words)
        if (language := language_of_text(words)) is not None:
            self.languages[language] += 1
        self.long_numbers += _is_long_number(text)
        if look == "text" and len(self.plain) < _MOST_SEEN:
            self.plain[digest] += 1
            if _names_in(words):
                self.names[digest] += 1
                self.words_of_names += len(words)

    def _count_up(self, text: str) -> None:
        if not self.counts_up:
            return
        number = int(text) if _WHOLE.fullmatch(text) else None
        self.counts_up = number is not None and number in ((0, 1) if self.last is None else (self.last + 1,))
        self.last = number

    def profile(self) -> ColumnProfile:
        """Return what is known of the column."""
        language = language_of(self.frequent, self.scripts)
        return ColumnProfile(
            path=self.path,
            kind=self._kind(),
            values=self.values,
            empty=self.empty,
            distinct=len(self.seen),
            most_repeated=max(self.seen.values(), default=0),
            words=self.words,
            longest=self.longest,
            unknown=self.unknown / self.words if self.words else 0.0,
            script=self.scripts.most_common(1)[0][0] if self.scripts else None,
            language=language,
            other_languages=other_languages(language, self.languages),
            counts_up=self.counts_up and not self.empty,
        )

    def _kind(self) -> Kind:
        filled = self.values - self.empty
        if not filled:
            return "empty"
        own = max(
            ("e-mail", "phone", "date", "number", "identifier", "formula", "other"),
            key=lambda look: self.looks[look],
        )
        all_differ = len(self.seen) >= 0.98 * filled
        called = "" if self.path is None or isinstance(self.path, Unnamed) else self.path
        name = _INSIDE_CAMEL_CASE.sub("_", called)
        few = len(self.seen) <= _FEW and len(self.seen) <= 0.5 * filled
        mostly_names = self._are_mostly_names()
        # Single words that are few may be places, colours or makes as well: many are called Denver or Brown.
        people = mostly_names and (not few or self.words_of_names >= 1.5 * self.names.total())
        if len(self.long) >= _LONG_TO_BE_FREE and len(self.long) >= 0.5 * self.long.total():
            return "free text"  # also among numbers or dates
        if self.looks[own] > 0.5 * filled and not (self.looks["e-mail"] and own in ("date", "number")):
            if (own == "date" and _BIRTH.search(name)) or (own == "number" and _BIRTH_YEAR.search(name)):
                return "birth date"
            if own == "number" and self.looks["phone"] >= 0.3 * filled:
                return "phone"
            if own in ("number", "phone") and _PERSON_NUMBER.search(name):
                return "person"
            if len(self.plain) > 1 and ((people and len(self.names) > 1) or _PERSON.search(name)):
                return "person"  # most of them have none
            if own == "number" and _PHONE_NAME.search(name):
                return "phone"
            if own in ("number", "phone") and all_differ and _ID.search(name):
                return "identifier"
            if own == "number" and all_differ and self.long_numbers > 0.5 * filled:
                return "identifier"
            return "short text" if self.long and own in ("date", "number") else own  # type: ignore[return-value]
        long = sum(count for words, count in self.lengths.items() if words >= _LONG)
        if self.texts and (long >= 0.3 * self.texts or self.words >= 5 * self.texts):
            return "free text"
        if self.looks["e-mail"]:
            return "e-mail"
        if _BIRTH_YEAR.search(name):
            return "birth date"
        if _PERSON.search(name) or people:
            return "person"
        if _ID.search(name) or (
            all_differ and filled > 1 and self.words <= 1.5 * self.texts and self.unknown > 0.5 * self.words
        ):
            return "identifier"
        if self.looks["phone"] >= 0.3 * filled:
            return "phone"
        return "category" if few and not mostly_names and 1 not in self.long.values() else "short text"

    def _are_mostly_names(self) -> bool:
        """Return whether most texts, or most of the different ones, are names: "none" may stand there
        often."""
        return bool(self.names) and (
            self.names.total() >= 0.6 * self.plain.total() or len(self.names) >= 0.6 * len(self.plain)
        )


def _is_long_number(text: str) -> bool:
    return len(text) >= _LONG_NUMBER and text.isdecimal()


def _names_in(words: list[str]) -> int:
    """Return how many names a person is called by, as far as the built-in list knows them, with or without
    initials, titles and particles; 0 if it is no person."""
    plain = [without_accents(fold(word)).rstrip(".") for word in words if len(word) > 1]
    names = [word for word in plain if not _BESIDE_NAMES.fullmatch(word)]
    known = built_in_words(BUILT_IN["names"]).issuperset(names)
    return len(names) if known and len(names) <= _LONGEST_NAME else 0


def _look_of(text: str) -> str:
    for look, pattern in LOOKS.items():
        if pattern.fullmatch(text):
            return look
    return "e-mail" if _E_MAIL.search(text) else "text"


class Columns:
    """The columns of a file while its records come in."""

    def __init__(self, embedding: Embedding) -> None:
        self._cutter, self._unknown_id = Cutter(embedding), embedding.unknown_id
        self._found: dict[str | None, Gathering] = {}
        self.more = False
        """Whether there are more columns than are looked into."""

    def add(self, path: str | None, value: Value) -> None:
        """Take in one field of a record."""
        column = self._found.get(path)
        if column is None and len(self._found) < MOST_COLUMNS:
            column = self._found[path] = Gathering(path=path)
        if column is None:
            self.more = True
        else:
            column.add(value, self._cutter, self._unknown_id)

    def profiles(self) -> list[ColumnProfile]:
        """Return what is known of each column, in the order in which they came."""
        return [column.profile() for column in self._found.values()]
