"""What is known of one column: what its values are, how many words they have, and which of them an embedding
knows."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

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


_SHOWN = (
    *("path", "kind", "values", "empty", "distinct", "most_repeated", "words", "longest", "unknown"),
    *("script", "language", "other_languages", "counts_up"),
)


@dataclass(eq=False, kw_only=True)
class ColumnProfile:
    """One column of a file, by its path, while its values come in and when all of them are there.

    No value is kept but as a digest.
    """

    path: str | None
    """None if it is the text of a file that has no columns."""
    values: int = 0
    """With the empty ones."""
    empty: int = 0
    words: int = 0
    longest: int = 0
    """The number of words of the longest text."""
    _seen: Counter[bytes] = field(default_factory=Counter, repr=False)
    """How often each value stands there, by its digest."""
    _looks: Counter[str] = field(default_factory=Counter, repr=False)
    _texts: int = field(default=0, repr=False)
    _long_texts: int = field(default=0, repr=False)
    _long: Counter[bytes] = field(default_factory=Counter, repr=False)
    """How often each long text stands there, by its digest."""
    _plain: Counter[bytes] = field(default_factory=Counter, repr=False)
    """How often each text stands there that is no number, date or the like."""
    _names: Counter[bytes] = field(default_factory=Counter, repr=False)
    """How often those stand there that are names of people, as far as a public list knows them."""
    _words_of_names: int = field(default=0, repr=False)
    _long_numbers: int = field(default=0, repr=False)
    _unknown_words: int = field(default=0, repr=False)
    _frequent: Counter[str] = field(default_factory=Counter, repr=False)
    """How often each word stands there."""
    _scripts: Counter[str] = field(default_factory=Counter, repr=False)
    _languages: Counter[str] = field(default_factory=Counter, repr=False)
    """How many texts are likely of which language."""
    _counting_up: bool = field(default=True, repr=False)
    _last: int | None = field(default=None, repr=False)
    """The value before, while they count up."""

    def add(self, value: Value, cutter: Cutter, unknown_id: int) -> None:
        """Take in one value."""
        self.values += 1
        if value is None or value == "":
            self.empty += 1
            return
        if isinstance(value, Leaf):
            self._looks[value.value] += 1
            self._counting_up = False
            return
        text = str(value)
        if self._counting_up:
            number = int(text) if _WHOLE.fullmatch(text) else None
            self._counting_up = number in ((0, 1) if self._last is None else (self._last + 1,))
            self._last = number
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if len(self._seen) < _MOST_SEEN:
            self._seen[digest] += 1
        if isinstance(value, datetime.date):
            self._looks["date"] += 1
            return
        self._long_numbers += len(text) >= _LONG_NUMBER and text.isdecimal()
        if isinstance(value, str):
            self._add_text(text, digest, cutter, unknown_id)
        else:
            self._looks["number"] += 1

    def _add_text(self, text: str, digest: bytes, cutter: Cutter, unknown_id: int) -> None:
        words, stripped = cutter.words(text), text.strip()
        look = next((look for look, pattern in LOOKS.items() if pattern.fullmatch(stripped)), None)
        look = look or ("e-mail" if _E_MAIL.search(stripped) else "text")
        self._looks[look] += 1
        self._texts += 1
        self._long_texts += len(words) >= _LONG
        if look in ("text", "e-mail") and len(words) >= _LONG and len(self._long) < _MOST_SEEN:
            self._long[digest] += 1
        self.words += len(words)
        self.longest = max(self.longest, len(words))
        self._unknown_words += sum(number == unknown_id for number in cutter.ids(words))
        self._frequent.update(word.casefold() for word in words)
        self._scripts += scripts_of(words)
        if (language := language_of_text(words)) is not None:
            self._languages[language] += 1
        if look == "text" and len(self._plain) < _MOST_SEEN:
            self._plain[digest] += 1
            if _names_in(words):
                self._names[digest] += 1
                self._words_of_names += len(words)

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return len(self._seen)

    @property
    def most_repeated(self) -> int:
        """How often the most frequent value stands there."""
        return max(self._seen.values(), default=0)

    @property
    def unknown(self) -> float:
        """The share of words that the embedding does not know."""
        return self._unknown_words / self.words if self.words else 0.0

    @property
    def script(self) -> str | None:
        """The script that most words are of."""
        return self._scripts.most_common(1)[0][0] if self._scripts else None

    @property
    def language(self) -> str | None:
        """A guess."""
        return language_of(self._frequent, self._scripts)

    @property
    def other_languages(self) -> dict[str, float]:
        """Other languages that texts of it are likely in, with their share of the texts."""
        return other_languages(self.language, self._languages)

    @property
    def counts_up(self) -> bool:
        """Whether the values are 0, 1, 2 and so on, or begin at 1: they say no more than the order of the
        records."""
        return self._counting_up and not self.empty

    @property
    def called_like_a_person(self) -> bool:
        """Whether its name is that of a person, or an e-mail address: where objects have people for keys."""
        if self.path is None:
            return False
        # nobs_ref is no person, though both are names
        words = re.split(r"[\s,-]+", self.path.rpartition(".")[2])
        return bool(_E_MAIL.search(self.path)) or _names_in(words) > 1

    @property
    def nested(self) -> bool:
        """Whether the column stands inside another."""
        return self.path is not None and ("." in self.path or "[]" in self.path)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {name: getattr(self, name) for name in _SHOWN}

    @cached_property
    def kind(self) -> Kind:
        """What it looks like; asked once all values are there."""
        filled = self.values - self.empty
        if not filled:
            return "empty"
        owns: tuple[Kind, ...] = ("e-mail", "phone", "date", "number", "identifier", "formula", "other")
        own = max(owns, key=lambda look: self._looks[look])
        all_differ = self.distinct >= 0.98 * filled
        called = "" if self.path is None or isinstance(self.path, Unnamed) else self.path
        name = _INSIDE_CAMEL_CASE.sub("_", called)
        few = self.distinct <= _FEW and self.distinct <= 0.5 * filled
        # By texts or by different ones: "none" may stand there often.
        names, plain = self._names, self._plain
        mostly_names = bool(names) and (
            names.total() >= 0.6 * plain.total() or len(names) >= 0.6 * len(plain)
        )
        # Single words that are few may be places, colours or makes as well: many are called Denver or Brown.
        people = mostly_names and (not few or self._words_of_names >= 1.5 * names.total())
        if len(self._long) >= _LONG_TO_BE_FREE and len(self._long) >= 0.5 * self._long.total():
            return "free text"  # also among numbers or dates
        if self._looks[own] > 0.5 * filled and not (self._looks["e-mail"] and own in ("date", "number")):
            if (own == "date" and _BIRTH.search(name)) or (own == "number" and _BIRTH_YEAR.search(name)):
                return "birth date"
            if own == "number" and self._looks["phone"] >= 0.3 * filled:
                return "phone"
            if own in ("number", "phone") and _PERSON_NUMBER.search(name):
                return "person"
            if len(self._plain) > 1 and ((people and len(self._names) > 1) or _PERSON.search(name)):
                return "person"  # most of them have none
            if own == "number" and _PHONE_NAME.search(name):
                return "phone"
            if own in ("number", "phone") and all_differ and _ID.search(name):
                return "identifier"
            if own == "number" and all_differ and self._long_numbers > 0.5 * filled:
                return "identifier"
            return "short text" if self._long and own in ("date", "number") else own
        if self._texts and (self._long_texts >= 0.3 * self._texts or self.words >= 5 * self._texts):
            return "free text"
        if self._looks["e-mail"]:
            return "e-mail"
        if _BIRTH_YEAR.search(name):
            return "birth date"
        if _PERSON.search(name) or people:
            return "person"
        if _ID.search(name) or (
            all_differ
            and filled > 1
            and self.words <= 1.5 * self._texts
            and self._unknown_words > 0.5 * self.words
        ):
            return "identifier"
        if self._looks["phone"] >= 0.3 * filled:
            return "phone"
        return "category" if few and not mostly_names and 1 not in self._long.values() else "short text"


def _names_in(words: list[str]) -> int:
    """Return how many names a person is called by, as far as the built-in list knows them, with or without
    initials, titles and particles; 0 if it is no person."""
    plain = [without_accents(fold(word)).rstrip(".") for word in words if len(word) > 1]
    names = [word for word in plain if not _BESIDE_NAMES.fullmatch(word)]
    known = built_in_words(BUILT_IN["names"]).issuperset(names)
    return len(names) if known and len(names) <= _LONGEST_NAME else 0


class Columns:
    """The columns of a file while its records come in; no word is unknown because it is never released."""

    def __init__(self, embedding: Embedding) -> None:
        self._cutter, self._unknown_id = Cutter(embedding.cut_by), embedding.cut_by.unknown_id
        self.profiles: dict[str | None, ColumnProfile] = {}
        self.more = False
        """Whether there are more columns than are looked into."""

    def add(self, path: str | None, value: Value) -> None:
        """Take in one field of a record."""
        column = self.profiles.get(path)
        if column is None:
            if len(self.profiles) == MOST_COLUMNS:
                self.more = True
                return
            column = self.profiles[path] = ColumnProfile(path=path)
        column.add(value, self._cutter, self._unknown_id)
