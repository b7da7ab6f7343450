"""The fields of a ``Release`` as one table: the command line, scikit-learn and Spark are generated from it.

``Release`` declares the name, type and default of a field; this table adds its help, its option of the
command line, and who may set it.

>>> from deniable.release.fields import FIELDS
>>> FIELDS["unknown"].flags, FIELDS["unknown"].metavar, FIELDS["unknown"].default
(('--unknown',), 'perturb|subwords|redact|drop|error', 'perturb')
>>> [field.name for field in FIELDS.values() if not field.flags]
['fingerprint', 'consistent', 'key']
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from deniable.release.release import Release

_ANNOTATIONS = get_type_hints(Release, localns={"Iterable": Iterable})
_DEFAULTS = {each.name: each.default for each in dataclasses.fields(Release)}


@dataclass(frozen=True)
class Field:
    """A field of a release.

    ``flags`` are its option of the command line, and ``metavar`` how help shows its value. ``by_client``
    fields may be part of a request to the service. ``keyed`` fields need an id for every text.
    """

    name: str
    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    _: KW_ONLY
    by_client: bool = False
    keyed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "metavar", self.metavar or "|".join(self.values) or None)

    @property
    def default(self) -> Any:
        """Its value if it is left out."""
        return _DEFAULTS[self.name]

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a closed choice allows; empty for any other field."""
        annotation = _ANNOTATIONS[self.name]
        return get_args(annotation) if get_origin(annotation) is Literal else ()


_RISK = (
    "Choose ε by what can be named instead of --epsilon: the share of the words of English text that a "
    "reader of single released words names at most, such as 0.08. low is 8 %, medium 17 %, high 33 %; "
    "guessing without the release names 5.6 %."
)
_PURPOSE = (
    "Release in the built-in space of a purpose instead of an --embedding: sentiment keeps praise and blame, "
    "topic what news is about, and little else. general is the default embedding."
)
_RECORD_EPSILON = (
    "The most to spend on a record, divided equally among its words. Together with --epsilon, a word gets at "
    "most --epsilon."
)
_KEEP_WORDS = (
    "A public file of words, one per line, that are released as they are if the embedding knows them."
)
_NEVER_RELEASE = (
    "A public list of words that never come out: names for the built-in one of common given names and "
    "surnames (names-1 for its first version), or a file with one or more words a line. They are taken out "
    "of the vocabulary; names that are not listed can come out. May be repeated."
)
_KEY_FILE = (
    "Draw the noise from the secret key in this file: releasing the same records again then spends nothing "
    "more."
)
_UNKNOWN = "What to do with words the embedding does not know."
_MECHANISM = "How words are drawn; `deniable mechanisms` lists them."
_OPTION = "An option of the mechanism, such as t=0.5. May be repeated."

_FIELDS = (
    Field("unknown", _UNKNOWN, ("--unknown",), by_client=True),
    Field("punctuation", "Whether to release punctuation marks.", ("--punctuation",), by_client=True),
    Field("case", "Whether to release which words were capitalised.", ("--case",), by_client=True),
    Field("keep_words", _KEEP_WORDS, ("--keep-words",), by_client=True),
    Field("epsilon", "The privacy parameter, per word.", ("--epsilon", "-e"), by_client=True),
    Field("risk", _RISK, ("--risk",), "low|medium|high|SHARE", by_client=True),
    Field("record_epsilon", _RECORD_EPSILON, ("--record-epsilon",), by_client=True),
    Field("embedding", "The name of an installed embedding.", ("--embedding",), by_client=True),
    Field("purpose", _PURPOSE, ("--for",), "general|sentiment|topic", by_client=True),
    Field("fingerprint", "The embedding that is meant, by its content.", keyed=True),
    Field("mechanism", _MECHANISM, ("--mechanism", "-m"), "NAME", by_client=True),
    Field("mechanism_options", _OPTION, ("--mechanism-option", "-O"), "NAME=VALUE"),
    Field("never_release", _NEVER_RELEASE, ("--never-release",), "names|FILE", by_client=True),
    Field("key_file", _KEY_FILE, ("--key-file",), keyed=True),
    Field("consistent", "Draw a word of a user once, wherever the user wrote it.", keyed=True),
    Field("key", "The key that is meant, by its public name.", keyed=True),
)

FIELDS: Mapping[str, Field] = {each.name: each for each in _FIELDS}
"""Every field of a release by its name, in their order."""
