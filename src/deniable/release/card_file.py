"""What stands in the file of a card, with the types it must have: a card may come from anybody, and may be
hand-edited."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from deniable.atomic import read_plain_file
from deniable.errors import InvalidParameter, MalformedCard
from deniable.mechanisms.catalogue import check_option_types, entry_of
from deniable.parameters import validated_epsilon
from deniable.release.policies import CasePolicy, PunctuationPolicy, UnknownPolicy
from deniable.words.cutter import RULES
from deniable.words.languages import LANGUAGE_RULES

ENDING = ".card.json"
"""What the name of a card has after the name of the output."""

FORMAT = 1

_LONGEST = 64 << 20
_FINGERPRINT = re.compile("[0-9a-f]{32}")


class NamedMechanism(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mechanism of the catalogue; ``parameters`` are what it depends on beside its options."""

    name: str
    options: dict[str, float | int | str | list[str]]
    parameters: dict[str, float | int | str | bool]


class NamedMap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That its vectors are a public map of those of another embedding, and what the space was made for: what
    survives by design."""

    kind: Literal["reduced", "shaped"]
    source_fingerprint: str
    digest: str
    purposes: tuple[str, ...]


class NamedList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list of words that comes with deniable; ``digest`` tells its content."""

    name: str
    digest: str


class NamedNeverRelease(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words were taken out of the vocabulary: those of built-in ``lists``, and ``words`` of it beside
    them.

    ``source_fingerprint`` tells the embedding that they were taken out of, and ``digest`` the whole list,
    with words that are not in it.
    """

    lists: tuple[NamedList, ...]
    words: tuple[str, ...]
    digest: str
    source_fingerprint: str


class NamedEmbedding(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"embedding": "name", "vocabulary": "words", "protected": "protected_words", "linear_map": "map"},
):
    """Which embedding it was, by the names that a ``Card`` has; the file has shorter ones."""

    embedding: str
    fingerprint: str
    vocabulary: Annotated[int, msgspec.Meta(ge=1)]
    dimension: Annotated[int, msgspec.Meta(ge=1)]
    protected: Annotated[int, msgspec.Meta(ge=0)]
    linear_map: NamedMap | None = None
    never_release: NamedNeverRelease | None = None


class Policies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What became of unknown words, punctuation, case and listed words."""

    unknown: UnknownPolicy
    punctuation: PunctuationPolicy
    case: CasePolicy
    keep_words: list[str]


class CardFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of the file, in its order."""

    card: int
    deniable: str
    columns: list[str]
    mechanism: NamedMechanism | None
    kind: str
    epsilon_per_word: float
    epsilon_per_record: float | None
    embedding: NamedEmbedding
    policy: Policies
    rules_for_words: int
    consistent: bool
    in_words: list[str]
    risk: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] | msgspec.UnsetType = msgspec.UNSET


class _Format(msgspec.Struct, frozen=True):
    card: int


def read_card_file(path: Path) -> CardFile:
    """Return what a card's file says, if all of it can be.

    :raises MalformedCard: if it cannot be read, is no card, was written by a later version, or says something
        that cannot be.
    """
    return decode_card(read_plain_file(path, longest=_LONGEST, what="card", error=MalformedCard), path)


def decode_card(content: bytes, source: str | Path) -> CardFile:
    """Return what the JSON of a card says, if all of it can be; ``source`` is where it comes from, for
    messages.

    :raises MalformedCard: if it is no card, was written by a later version, or says something that cannot be.
    """
    try:
        written = msgspec.json.decode(content, type=_Format).card
        if written != FORMAT:
            raise MalformedCard(
                source,
                f"format {written} is not known here, only {FORMAT}; use the version of deniable that wrote "
                "it",
            )
        card = msgspec.json.decode(content, type=CardFile)
        _check(card)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidParameter) as error:
        problem = f"is no card of a release ({error}); the card lies beside the output, as OUTPUT{ENDING}"
        raise MalformedCard(source, problem) from error
    return card


def _check(card: CardFile) -> None:
    """Do nothing if what a card says can be.

    :raises InvalidParameter: otherwise.
    """
    validated_epsilon(card.epsilon_per_word, "epsilon_per_word")
    if card.epsilon_per_record is not None:
        validated_epsilon(card.epsilon_per_record, "epsilon_per_record")
    if card.mechanism is not None:
        check_option_types(entry_of(card.mechanism.name), card.mechanism.options)
    if not _FINGERPRINT.fullmatch(card.embedding.fingerprint):
        raise InvalidParameter(
            "fingerprint", card.embedding.fingerprint[:50], "must be 32 hexadecimal digits"
        )
    if (made := card.embedding.linear_map) is not None:
        for digest in (made.source_fingerprint, made.digest):
            if not _FINGERPRINT.fullmatch(digest):
                raise InvalidParameter("map", digest[:50], "must be 32 hexadecimal digits")
    if (never := card.embedding.never_release) is not None:
        for digest in (never.source_fingerprint, never.digest, *(each.digest for each in never.lists)):
            if not _FINGERPRINT.fullmatch(digest):
                raise InvalidParameter("never_release", digest[:50], "must be 32 hexadecimal digits")
    if card.rules_for_words not in (RULES, LANGUAGE_RULES):
        problem = (
            f"text is cut into words by rules {RULES} or {LANGUAGE_RULES} here; use the version that "
            f"released it ({card.deniable[:20]!r})"
        )
        raise InvalidParameter("rules_for_words", card.rules_for_words, problem)
