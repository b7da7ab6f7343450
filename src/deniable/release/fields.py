"""What a field of a ``Release`` is, as one table: the command line, scikit-learn, Spark and the service are
generated from it.

``Release`` declares the name, type and default of a field; this table adds its help, its option of the
command line, and who may see or set it. What each entry point takes from it:

>>> from deniable.release.fields import FIELDS
>>> [field.name for field in FIELDS.values() if field.by_client]  # the body of a request
['unknown', 'punctuation', 'case', 'keep_words', 'epsilon', 'risk', 'record_epsilon', 'embedding', \
'mechanism', 'never_release']
>>> unknown = FIELDS["unknown"]
>>> unknown.flags, unknown.metavar, unknown.default  # an option of the command line
(('--unknown',), 'perturb|subwords|redact|drop|error', 'perturb')
>>> unknown.values  # what a closed choice allows
('perturb', 'subwords', 'redact', 'drop', 'error')
>>> [field.name for field in FIELDS.values() if not field.flags]  # no option of the command line
['fingerprint', 'consistent', 'key']
>>> {field.name: field.default for field in FIELDS.values() if not field.keyed}["embedding"]  # scikit-learn
'default'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from deniable.release.release import Release

_ANNOTATIONS = get_type_hints(Release, localns={"Iterable": Iterable})
_DEFAULTS = {each.name: each.default for each in dataclasses.fields(Release)}


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a release.

    ``flags`` are its option of the command line, empty if it has none; ``typed`` is the type of the option's
    value, ``metavar`` how help shows it, and ``repeats`` whether the option may be given several times.
    ``on_card`` fields are public and written on the card. ``by_client`` fields may be part of a request to
    the service. ``keyed`` fields mean something only where every text has an id.
    """

    name: str
    help: str
    flags: tuple[str, ...]
    typed: type
    metavar: str | None
    repeats: bool
    on_card: bool
    by_client: bool
    keyed: bool

    @property
    def annotation(self) -> Any:
        """Its type in Python."""
        return _ANNOTATIONS[self.name]

    @property
    def default(self) -> Any:
        """Its value if it is left out."""
        return _DEFAULTS[self.name]

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a closed choice allows; empty for any other field."""
        return _allowed(self.name)


def _allowed(name: str) -> tuple[str, ...]:
    annotation = _ANNOTATIONS[name]
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _field(
    name: str,
    help: str,  # noqa: A002 - the word of command lines
    *flags: str,
    typed: type = str,
    metavar: str | None = None,
    repeats: bool = False,
    on_card: bool = True,
    by_client: bool = False,
    keyed: bool = False,
) -> Field:
    return Field(
        name=name,
        help=help,
        flags=flags,
        typed=typed,
        metavar=metavar or "|".join(_allowed(name)) or None,
        repeats=repeats,
        on_card=on_card,
        by_client=by_client,
        keyed=keyed,
    )


_FIELDS = (
    _field("unknown", "What to do with words the embedding does not know.", "--unknown", by_client=True),
    _field("punctuation", "Whether to release punctuation marks.", "--punctuation", by_client=True),
    _field("case", "Whether to release which words were capitalised.", "--case", by_client=True),
    _field(
        "keep_words",
        "A public file of words, one per line, that are released as they are if the embedding knows them.",
        "--keep-words",
        typed=Path,
        by_client=True,
    ),
    _field("epsilon", "The privacy parameter, per word.", "--epsilon", "-e", typed=float, by_client=True),
    _field(
        "risk",
        "Choose ε by what can be named instead of --epsilon: the share of the words of English text that a "
        "reader of single released words names at most, such as 0.08. low is 8 %, medium 17 %, high 33 %; "
        "guessing blindly names 5.6 %.",
        "--risk",
        metavar="low|medium|high|SHARE",
        by_client=True,
    ),
    _field(
        "record_epsilon",
        "The most to spend on a record, divided equally among its words. Together with --epsilon, a word "
        "gets at most --epsilon.",
        "--record-epsilon",
        typed=float,
        by_client=True,
    ),
    _field("embedding", "The name of an installed embedding.", "--embedding", by_client=True),
    _field("fingerprint", "The embedding that is meant, by its content.", keyed=True),
    _field(
        "mechanism",
        "How words are drawn; `deniable mechanisms` lists them.",
        "--mechanism",
        "-m",
        metavar="NAME",
        by_client=True,
    ),
    _field(
        "mechanism_options",
        "An option of the mechanism, such as t=0.5. May be repeated.",
        "--mechanism-option",
        "-O",
        metavar="NAME=VALUE",
        repeats=True,
    ),
    _field(
        "never_release",
        "A public list of words that never come out: names for the built-in one of common given names and "
        "surnames (names-1 for its first version), or a file with one or more words a line. They are taken "
        "out of the vocabulary; names that are not listed can come out. May be repeated.",
        "--never-release",
        metavar="names|FILE",
        repeats=True,
        by_client=True,
    ),
    _field(
        "key_file",
        "Draw the noise from the secret key in this file: releasing the same records again then spends "
        "nothing more.",
        "--key-file",
        typed=Path,
        on_card=False,
        keyed=True,
    ),
    _field("consistent", "Draw a word of a user once, wherever the user wrote it.", keyed=True),
    _field("key", "The key that is meant, by its public name.", on_card=False, keyed=True),
)

FIELDS: Mapping[str, Field] = {each.name: each for each in _FIELDS}
"""Every field of a release by its name, in their order."""
