"""A smaller vocabulary: chosen words, without chosen words, the most frequent, or those that two embeddings share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.parameters import validated_count


@dataclass(frozen=True, kw_only=True)
class Restriction:
    """Which words of an embedding stay, and how many of the words asked for it does not have."""

    ids: Ids
    absent_from_keep: int
    absent_from_exclude: int


def restriction(
    embedding: Embedding,
    *,
    keep: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    first: int | None = None,
    common_with: Embedding | None = None,
) -> Restriction:
    """Return which words stay: those in ``keep``, not in ``exclude``, known to ``common_with``; of these the ``first``.

    Words stay in the order of ``embedding``, and are compared exactly as they are spelled.

    :raises InvalidParameter: if nothing is asked for, or ``first`` is not a whole number above 0.
    :raises MalformedEmbedding: if no word is left.
    """
    if keep is None and exclude is None and first is None and common_with is None:
        raise InvalidParameter("restriction", None, "say what to keep, exclude, or share with another embedding, or how many words")
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
    return Restriction(ids=ids, absent_from_keep=absent_from_keep, absent_from_exclude=absent_from_exclude)


def restricted(embedding: Embedding, ids: Ids) -> Embedding:
    """Return the embedding with the words of these ids only, in this order.

    ⊥ keeps its vector, even where that was the mean of all words: the words taken out are unknown from now on, and the
    mean of the wider vocabulary stands for them better than the mean of what is left. A word that was unknown before
    is treated just as before. (Any public vector keeps the guarantee; it is part of the fingerprint.)
    """
    smaller = Embedding([embedding.words[i] for i in ids], embedding.vectors[ids], unknown=embedding.unknown, name=embedding.name)
    smaller.unknown_origin = embedding.unknown_origin if embedding.unknown_origin != "mean" else f"mean of {embedding.name}"
    smaller.subwords = embedding.subwords
    if embedding.protection is not None:
        # A protected word whose stand-in is taken out goes in as ⊥: it must not become exposed again.
        places = np.full(len(embedding) + 1, len(smaller), dtype=np.int64)
        places[ids] = np.arange(len(smaller))
        smaller.protection = np.append(places[embedding.protection[ids]], len(smaller))
    return smaller


def restrict(
    embedding: Embedding,
    *,
    keep: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    first: int | None = None,
    common_with: Embedding | None = None,
) -> Embedding:
    """Return a smaller embedding: see ``restriction`` for what stays, ``restricted`` for what becomes of ⊥.

    Words asked for that the embedding does not have are passed over; ``restriction`` counts them.
    """
    chosen = restriction(embedding, keep=keep, exclude=exclude, first=first, common_with=common_with)
    return restricted(embedding, chosen.ids)


def _known_ids(embedding: Embedding, words: Iterable[str] | None) -> tuple[Ids, int]:
    ids = embedding.ids(set(words or ()))
    known = ids[ids != embedding.unknown_id]
    return known, len(ids) - len(known)
