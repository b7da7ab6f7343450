"""A smaller vocabulary: chosen words, without chosen words, the most frequent, or those that two embeddings
share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings import store
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.leaving_out import keep_rows
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.parameters import validated_count


class ChosenWords(NamedTuple):
    """Which words of an embedding stay, and how many of the words that were named it does not have."""

    ids: Ids
    absent_from_keep: int
    absent_from_exclude: int


@dataclass(frozen=True, kw_only=True)
class RestrictedFacts(store.InstalledFacts):
    """What is known about a restricted embedding, and how many of the words that were named the first one
    does not have."""

    absent_from_keep: int
    absent_from_exclude: int


class Restriction(TypedDict, total=False):
    """Which words to keep: those in ``keep``, not in ``exclude``; of these the ``first``. At least one of
    them has to be given."""

    keep: Iterable[str] | None
    exclude: Iterable[str] | None
    first: int | None


def choose_words(
    embedding: Embedding, *, common_with: Embedding | None = None, **which: Unpack[Restriction]
) -> ChosenWords:
    """Return which words stay: those of the restriction that ``common_with`` knows too, which is a
    restriction of its own.

    Words stay in the order of ``embedding``, and are compared exactly as they are spelled.

    :raises InvalidParameter: if nothing is asked for, or ``first`` is not a whole number above 0.
    :raises MalformedEmbedding: if no word is left.
    """
    keep, exclude, first = which.get("keep"), which.get("exclude"), which.get("first")
    if keep is None and exclude is None and first is None and common_with is None:
        raise InvalidParameter(
            "restriction",
            None,
            "say what to keep, exclude, or share with another embedding, or how many words",
        )
    first = None if first is None else validated_count(first, "first")
    kept, absent_from_keep = _known_ids(embedding, keep)
    excluded, absent_from_exclude = _known_ids(embedding, exclude)
    stays = np.ones(len(embedding), dtype=bool) if keep is None else np.zeros(len(embedding), dtype=bool)
    stays[kept] = True
    stays[excluded] = False
    if common_with is not None:
        stays &= common_with.ids(embedding.words) != common_with.unknown_id
    ids = np.flatnonzero(stays)[:first]
    if not ids.size:
        raise MalformedEmbedding(embedding.name, "no word is left after this restriction")
    return ChosenWords(ids=ids, absent_from_keep=absent_from_keep, absent_from_exclude=absent_from_exclude)


def restrict(
    embedding: Embedding, *, common_with: Embedding | None = None, **which: Unpack[Restriction]
) -> Embedding:
    """Return a smaller embedding, with the words that ``choose_words`` chooses. Words it does not have are
    passed over.

    ⊥ keeps its vector, even where that was the mean of all words: the words taken out are unknown from now
    on, and the mean of the wider vocabulary stands for them better than the mean of what is left. A word that
    was unknown before is treated just as before. (Any public vector keeps the guarantee; it is part of the
    fingerprint.)

    :raises InvalidParameter: if nothing is asked for, or ``first`` is not a whole number above 0.
    :raises MalformedEmbedding: if no word is left.
    """
    return keep_rows(embedding, choose_words(embedding, common_with=common_with, **which).ids)


def install_restricted(
    name: str, new_name: str, *, common_with: str | None = None, **which: Unpack[Restriction]
) -> RestrictedFacts:
    """Install a part of an embedding under a new name; ``common_with`` is the name of another embedding.

    :raises EmbeddingExists: if the new name is taken.
    :raises EmbeddingNotFound: if there is no embedding of one of the other names.
    :raises InvalidParameter: if a name is not allowed, nothing is asked for, or ``first`` is not a whole
        number above 0.
    :raises MalformedEmbedding: if no word is left.
    """
    store.free_place(new_name)
    embedding = Embedding.open(name)
    other = None if common_with is None else Embedding.open(common_with)
    chosen = choose_words(embedding, common_with=other, **which)
    source = f"restricted from {name} ({embedding.fingerprint})"
    licence = store.licence_of(embedding.fingerprint, name)
    saved = store.save(keep_rows(embedding, chosen.ids), new_name, source=source, licence=licence)
    # Not by asdict, which would turn what facts hold into dictionaries too.
    return RestrictedFacts(
        **vars(saved),
        absent_from_keep=chosen.absent_from_keep,
        absent_from_exclude=chosen.absent_from_exclude,
    )


def _known_ids(embedding: Embedding, words: Iterable[str] | None) -> tuple[Ids, int]:
    ids = embedding.ids(set(words or ()))
    known = ids[ids != embedding.unknown_id]
    return known, len(ids) - len(known)
