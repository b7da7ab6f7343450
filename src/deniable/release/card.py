"""The card of a release: all that is public about it and that a receiver needs to decode it.

A card says how text was released: the mechanism with its options, ε, the embedding, the policies, the
columns. Nothing in it is counted from the text, and nothing comes from a key, so it is the same for any text
that is released in this way and may be handed over with it. The receipt counts, and may not. A list of words
that a release was given (``keep_words``, the sensitive words of SanText+) is on the card, as far as the
vocabulary holds it: without it nobody could decode.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import msgspec
import numpy as np

from deniable.arrays import Ids
from deniable.atomic import read_plain_file, whole_file
from deniable.embeddings.derived import leave_out
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import BUILT_IN, DEFAULT, find_by_fingerprint, known_names
from deniable.errors import InvalidParameter, MalformedCard
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism, check_option_types, chosen_as, entry_of
from deniable.parameters import validated_epsilon
from deniable.release.policies import CasePolicy, Drafter, PunctuationPolicy, UnknownPolicy
from deniable.release.receipt import ReleaseSettings, risk_described
from deniable.release.writing import REDACTED
from deniable.version import __version__
from deniable.words.cutter import RULES, rules_for
from deniable.words.languages import GOLDEN_TABLES, LANGUAGE_RULES, other_tables, unicode_tables
from deniable.words.never_release import NeverRelease, built_in_digest, built_in_list, fold

ENDING = ".card.json"
"""What the name of a card has after the name of the output."""

FORMAT = 1

LONGEST = 64 << 20

Part = TypeVar("Part", bound=msgspec.Struct)
_DIGEST = re.compile("[0-9a-f]{32}")


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    def __post_init__(self) -> None:
        for name in {"fingerprint", "source_fingerprint", "digest"}.intersection(self.__struct_fields__):
            if not _DIGEST.fullmatch(digest := getattr(self, name)):
                raise InvalidParameter(name, digest[:50], "must be 32 hexadecimal digits")


class NamedMechanism(_Part, frozen=True, kw_only=True):
    """A mechanism of the catalogue; ``parameters`` are what it depends on beside its options."""

    name: str
    options: dict[str, float | int | str | list[str]]
    parameters: dict[str, float | int | str | bool]

    @property
    def chosen(self) -> ChosenMechanism:
        """What makes the mechanism over an embedding."""
        return ChosenMechanism(name=self.name, options=self.options)


class NamedMap(_Part, frozen=True, kw_only=True):
    """A public map of the vectors of another embedding, and what the space was made for."""

    kind: Literal["reduced", "shaped"]
    source_fingerprint: str
    digest: str
    purposes: tuple[str, ...]


class NamedList(_Part, frozen=True, kw_only=True):
    """A list of words that comes with deniable; ``digest`` tells its content."""

    name: str
    digest: str


class NamedNeverRelease(_Part, frozen=True, kw_only=True):
    """Which words were taken out of the vocabulary: those of built-in ``lists``, and ``words`` of it beside
    them.

    ``source_fingerprint`` is of the embedding that they were taken out of, and ``digest`` of the whole list.
    """

    lists: tuple[NamedList, ...]
    words: tuple[str, ...]
    digest: str
    source_fingerprint: str


class NamedEmbedding(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """Which embedding it was: its name where it was released, and its fingerprint."""

    name: str
    fingerprint: str
    words: Annotated[int, msgspec.Meta(ge=1)]
    dimension: Annotated[int, msgspec.Meta(ge=1)]
    protected_words: Annotated[int, msgspec.Meta(ge=0)]
    map: NamedMap | None = None
    never_release: NamedNeverRelease | None = None


class Policies(_Part, frozen=True, kw_only=True):
    """What became of unknown words, punctuation, case and listed words."""

    unknown: UnknownPolicy
    punctuation: PunctuationPolicy
    case: CasePolicy
    keep_words: tuple[str, ...]


class _Format(msgspec.Struct, frozen=True):
    card: int


class Card(
    _Part,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    dict=True,
    rename={
        "format": "card",
        "version": "deniable",
        "epsilon": "epsilon_per_word",
        "record_epsilon": "epsilon_per_record",
        "rules": "rules_for_words",
    },
):
    """How text was released: the file of a card, in its order. ``mechanism`` is None for a mechanism of the
    user's own, which a card cannot name; ``kind`` is its class.

    No word got more than ``epsilon``, and no record more than ``record_epsilon`` if there is one: see
    ``epsilon_of_a_word``. ``rules`` is the version of the rules by which text is cut into words. ``columns``
    hold the released text; plain text has none. ``in_words`` is what a person who receives the release has to
    know. ``risk`` is the share of words named that ε was chosen by, if it was. ``unicode_tables`` cut
    the text, where they are not the usual ones.
    """

    format: int
    version: str
    columns: tuple[str, ...]
    mechanism: NamedMechanism | None
    kind: str
    epsilon: float
    record_epsilon: float | None
    embedding: NamedEmbedding
    policy: Policies
    rules: int
    consistent: bool
    in_words: tuple[str, ...]
    risk: Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)] | None = None
    unicode_tables: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")] | None = None

    def __post_init__(self) -> None:
        validated_epsilon(self.epsilon, "epsilon_per_word")
        if self.record_epsilon is not None:
            validated_epsilon(self.record_epsilon, "epsilon_per_record")
        if self.mechanism is not None:
            check_option_types(entry_of(self.mechanism.name), self.mechanism.options)
        if self.rules not in (RULES, LANGUAGE_RULES):
            problem = (
                f"text is cut into words by rules {RULES} or {LANGUAGE_RULES} here; use the version that "
                f"released it ({self.version[:20]!r})"
            )
            raise InvalidParameter("rules_for_words", self.rules, problem)

    @classmethod
    def of(cls, settings: ReleaseSettings, columns: Sequence[str] = ()) -> Self:
        """Return the card of releases with these settings, of these columns if there are any."""
        policy, embedding = settings.policy, settings.mechanism.embedding
        kept = sorted(Drafter(embedding, policy).kept_words) if policy.keep_words else ()
        source = embedding if embedding.left_out is None else embedding.left_out.source
        mechanism = None
        if (chosen := chosen_as(settings.mechanism)) is not None:
            known = settings.promised.parameters
            parameters = {name: value for name, value in known.items() if name not in chosen.options}
            mechanism = NamedMechanism(name=chosen.name, options=dict(chosen.options), parameters=parameters)
        card = cls(
            format=FORMAT,
            version=__version__,
            columns=tuple(map(_writable, columns)),
            mechanism=mechanism,
            kind=settings.mechanism_name,
            epsilon=settings.word_epsilon,
            record_epsilon=settings.record_epsilon,
            embedding=NamedEmbedding(
                name=_writable(source.name),
                fingerprint=embedding.fingerprint,
                words=len(embedding),
                dimension=embedding.dimension,
                protected_words=len(embedding.protected),
                map=_named_map(embedding),
                never_release=_named_words(embedding),
            ),
            policy=Policies(**policy.choices, keep_words=tuple(kept)),
            rules=rules_for(embedding),
            consistent=bool(settings.randomness.get("consistent")),
            in_words=(),
            risk=settings.risk,
            **other_tables(),
        )
        return msgspec.structs.replace(card, in_words=tuple(card._sentences()))

    @property
    def source(self) -> str:
        """The file that the card was read from."""
        return str(vars(self).get("source", "of this release"))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the embedding."""
        return self.embedding.fingerprint

    @property
    def unknown(self) -> UnknownPolicy:
        """What became of unknown words."""
        return self.policy.unknown

    @property
    def keep_words(self) -> tuple[str, ...]:
        """The words of the vocabulary that were released as they are."""
        return self.policy.keep_words

    def kept_ids(self, embedding: Embedding) -> Ids:
        """Return the ids of the words that were released as they are."""
        ids = embedding.ids(self.keep_words)
        return np.unique(ids[ids != embedding.unknown_id])

    def for_columns(self, columns: Sequence[str]) -> Self:
        """Return the card of a release of these columns."""
        return msgspec.structs.replace(self, columns=tuple(map(_writable, columns)))

    def lists(self, column: str) -> bool:
        """Return whether text of this column may have been released with this card; one without columns says
        nothing."""
        return not self.columns or _writable(column) in self.columns

    def epsilon_of_a_word(self, drawn: int) -> float:
        """Return the ε of every word of a record in which this many words were drawn.

        These are all released words except ``[redacted]`` and those of ``keep_words``. A word on that list
        may have been kept or drawn, so with a list and a budget per record the number is known within bounds
        only.
        """
        return (
            self.epsilon
            if self.record_epsilon is None
            else min(self.epsilon, self.record_epsilon / max(drawn, 1))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON-ready data."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def _sentences(self) -> list[str]:
        said = [
            "This card is public. Nothing in it was counted from the private text.",
            self._epsilon_in_words(),
            *([] if self.risk is None else [risk_described(self.risk)["statement"] + "."]),
            self._embedding_in_words(),
            *self._map_in_words(),
            *self._never_in_words(),
        ]
        if self.mechanism is None:
            said.append(
                f"{self.kind} is a mechanism of the data holder's own. Ask them for it: without it nothing "
                "can be decoded."
            )
        if self.unknown == "redact":
            said.append(f"Words that the embedding does not know were released as {REDACTED}.")
        if self.keep_words:
            said.append(
                "The words under keep_words were released as they are. They may also have been drawn in "
                "place of other words."
            )
        if self.consistent:
            said.append("A word of a user was drawn once and released wherever this user wrote it.")
        return said

    def _epsilon_in_words(self) -> str:
        if self.record_epsilon is None:
            return f"Every word that was drawn was drawn at ε = {self.epsilon:g}."
        least = "" if self.record_epsilon <= self.epsilon else f"the smaller of {self.epsilon:g} and "
        counted = {"redact": f"all released words but {REDACTED}"}.get(self.unknown, "all released words")
        bounds = (
            ", but for words under keep_words, each of which may have been kept or drawn"
            if self.keep_words
            else ""
        )
        return (
            f"ε of a word is {least}{self.record_epsilon:g} divided by the number of words drawn in its "
            f"record: {counted}{bounds}."
        )

    def _embedding_in_words(self) -> str:
        left = "" if self.embedding.never_release is None else "left without the listed ones, "
        dimensions = "dimension" if self.embedding.dimension == 1 else "dimensions"
        size = f"{self.embedding.words:,} words {left}in {self.embedding.dimension:,} {dimensions}"
        if self.embedding.name in BUILT_IN:
            which = "" if self.embedding.name == DEFAULT else f" {self.embedding.name!r}"
            return f"To decode the text you need deniable with its built-in embedding{which} ({size})."
        if self.embedding.protected_words or self.embedding.map is not None:
            why = (
                "whose exposed words go in as others"
                if self.embedding.protected_words
                else "whose vectors are a map of others"
            )
            return (
                f"To decode the text you need the embedding {self.embedding.name!r} ({size}), {why}. "
                "Ask the data holder for its folder: adding the original vectors gives another embedding."
            )
        return (
            f"To decode the text you need the embedding {self.embedding.name!r} ({size}): add the same "
            "file with `deniable embeddings add`, under any name. It is recognised by its fingerprint."
        )

    def _map_in_words(self) -> list[str]:
        if self.embedding.map is None:
            return []
        said = (
            "The space was mapped, by a public map of public vectors. Where the mechanism goes by distances "
            "between vectors, these, and ε with them, are those of the mapped space."
        )
        return [said, *(f"Made to survive: {purpose}." for purpose in self.embedding.map.purposes)]

    def _never_in_words(self) -> list[str]:
        if self.embedding.never_release is None:
            return []
        lists = [f"the list {each.name!r} of deniable" for each in self.embedding.never_release.lists]
        words = ["the words under never_release"] if self.embedding.never_release.words else []
        named = " and ".join([*lists, *words]) or "no word of it"
        return [
            f"Words of a public list went in as unknown words and never came out: {named}. They are taken "
            "out of the vocabulary when the "
            "embedding is opened by this card, so that nothing more is needed to decode the text."
        ]

    def to_json(self) -> str:
        """Return the card as indented JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def write(self, path: Path) -> None:
        """Write the card, whole or not at all, with the permissions of a new file: it is to be handed
        over."""
        with whole_file(path) as file:
            file.write(self.to_json().encode())

    def open_embedding(self, name_or_path: str | Path | None = None) -> Embedding:
        """Return the embedding of the release: the one that is named, or any here with its fingerprint.

        :raises EmbeddingNotFound: if what is named is not here.
        :raises MalformedCard: if none here is the one that the text was released with.
        """
        if name_or_path is None:
            name_or_path = find_by_fingerprint(self.whole_fingerprint, first=self.embedding.name)
            if name_or_path is None and self.embedding.name in known_names():
                name_or_path = self.embedding.name
            if name_or_path is None:
                problem = (
                    f"no embedding here has the fingerprint {self.whole_fingerprint}. "
                    f"{self._embedding_in_words()}"
                )
                raise MalformedCard(self.source, problem)
        embedding = self.without_words(Embedding.open(name_or_path))
        here, released = embedding.fingerprint, self.fingerprint
        if here != released:
            shown = 12 if here[:12] != released[:12] else len(released)
            raise MalformedCard(
                self.source,
                f"the embedding {embedding.name!r} here is another one (fingerprint {here[:shown]}) than the "
                "text was "
                f"released with ({released[:shown]}): nothing that is decoded with it would be right",
            )
        return self.cut_as_released(embedding)

    def cut_as_released(self, embedding: Embedding) -> Embedding:
        """Return the embedding as one that cuts text by the rules of this release; the given one is not
        changed.

        :raises MalformedCard: if its words ask for other rules.
        """
        if self.rules == RULES and embedding.language_rules is not None:
            # An earlier version may have cut plainly what is cut by the rules of a language now.
            embedding = copy(embedding)
            embedding.cut_plainly()
        if rules_for(embedding) != self.rules:
            problem = (
                f"text for {embedding.name!r} is cut by rules {rules_for(embedding)}, not "
                f"{self.rules} as the card says"
            )
            raise MalformedCard(self.source, problem)
        return embedding

    def warn_of_other_tables(self) -> None:
        """Warn if text is cut by other Unicode tables here than it was when it was released."""
        released, here = self.unicode_tables or GOLDEN_TABLES, unicode_tables()
        if released != here:
            warnings.warn(
                f"the text was released with other Unicode tables ({released}) than those of the regex "
                f"library here ({here}): words with rare characters may be cut and read wrongly",
                stacklevel=3,
            )

    @property
    def whole_fingerprint(self) -> str:
        """The fingerprint of the embedding with the words that were taken out of it."""
        return (
            self.fingerprint
            if self.embedding.never_release is None
            else self.embedding.never_release.source_fingerprint
        )

    def without_words(self, embedding: Embedding) -> Embedding:
        """Return the embedding without the words that this release left out.

        :raises MalformedCard: if a built-in list is another one here, or no word would be left.
        """
        named = self.embedding.never_release
        if named is None or embedding.fingerprint == self.fingerprint:
            return embedding
        lists = []
        for each in named.lists:
            if (known := built_in_list(each.digest)) is None:
                problem = (
                    f"the list {each.name[:50]!r} is another one here; use the version that released "
                    f"it ({self.version[:20]!r})"
                )
                raise MalformedCard(self.source, problem)
            lists.append(known)
        listed = NeverRelease(words=frozenset(map(fold, named.words)), lists=tuple(lists), exact=True)
        try:
            return leave_out(embedding, listed)
        except InvalidParameter as error:
            raise MalformedCard(self.source, str(error)) from error

    def make_mechanism(self, embedding: Embedding) -> Mechanism:
        """Return the mechanism that the text was released with.

        :raises MalformedCard: if the card names none, or it would be another one here.
        """
        if self.mechanism is None:
            raise MalformedCard(
                self.source,
                f"{self.kind!r} is a mechanism of the data holder's own, which a card cannot name",
            )
        try:
            made = self.mechanism.chosen(embedding, epsilon=self.epsilon)
        except InvalidParameter as error:
            raise MalformedCard(self.source, f"no mechanism can be made of it: {error}") from error
        parameters = made.guarantee.parameters
        differing = [
            name for name, value in self.mechanism.parameters.items() if parameters.get(name) != value
        ]
        if differing:
            raise MalformedCard(
                self.source,
                f"the mechanism that it names is another one here ({', '.join(map(repr, differing))})",
            )
        return made


def read_card(path: Path) -> Card:
    """Return the card in a file.

    :raises MalformedCard: if it cannot be read or used here.
    """
    content = read_plain_file(path, longest=LONGEST, what="card", error=MalformedCard)
    return parse_card(content, str(path))


GivenCard = Card | str | Path | Mapping[str, Any]
"""A card, the path of its file, or the data of its JSON."""


def card_from(card: GivenCard | None) -> Card:
    """Return the card that was given: itself, by the path of its file, or as the data of its JSON.

    :raises MalformedCard: if it cannot be read or used here.
    :raises InvalidParameter: if it is none of these, or none was given.
    """
    if isinstance(card, Card):
        return card
    if isinstance(card, str | Path):
        return read_card(Path(card))
    if not isinstance(card, Mapping):
        problem = "must be the card of the release: its path, a Card, or the data of its JSON"
        raise InvalidParameter("card", None if card is None else type(card).__name__, problem)
    try:
        content = msgspec.json.encode(dict(card))
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedCard("given as data", "holds what no JSON can hold") from error
    return parse_card(content, "given as data")


def parse_card(content: bytes, source: str) -> Card:
    """Return the card that this JSON is; ``source`` is where it comes from, for messages.

    :raises MalformedCard: if it is no card, was written by a later version, or contradicts itself.
    """
    try:
        written = msgspec.json.decode(content, type=_Format).card
        if written != FORMAT:
            raise MalformedCard(
                source,
                f"format {written} is not known here, only {FORMAT}; use the version of deniable that wrote "
                "it",
            )
        card = msgspec.json.decode(content, type=Card)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"is no card of a release ({error}); the card lies beside the output, as OUTPUT{ENDING}"
        raise MalformedCard(source, problem) from error
    vars(card)["source"] = source
    _check_not_edited(card)
    return card


def _check_not_edited(card: Card) -> None:
    named, advice = card.mechanism, "it was edited, so ask for the card of the release"
    if named is not None and card.kind != (kind := entry_of(named.name).kind):
        problem = f"its mechanism is {named.name}, whose kind is {kind}, and its kind says {card.kind[:50]!r}"
        raise MalformedCard(card.source, f"{problem}: {advice}")
    # Another version may say it in other words.
    if card.version == __version__ and card.in_words and card._epsilon_in_words() not in card.in_words:
        problem = f"its numbers say ε = {card.epsilon:g} and its sentences do not: {advice}"
        raise MalformedCard(card.source, problem)


def _named_map(embedding: Embedding) -> NamedMap | None:
    if embedding.linear_map is None:
        return None
    origin = embedding.linear_map.origin
    return NamedMap(
        kind=origin.kind,
        source_fingerprint=origin.source_fingerprint,
        digest=embedding.linear_map.digest,
        purposes=tuple(_writable(each.purpose) for each in origin.public),
    )


def _named_words(embedding: Embedding) -> NamedNeverRelease | None:
    if (left_out := embedding.left_out) is None:
        return None
    listed = left_out.listed
    return NamedNeverRelease(
        lists=tuple(
            NamedList(name=name, digest=built_in_digest(each))
            for name, each in zip(listed.called, listed.lists, strict=True)
        ),
        words=left_out.words_of_no_list,
        digest=listed.digest,
        source_fingerprint=left_out.source.fingerprint,
    )


def _writable(name: str) -> str:
    """Write out half a character, as a broken name may hold, which UTF-8 cannot."""
    return name.encode("utf-8", "backslashreplace").decode()
