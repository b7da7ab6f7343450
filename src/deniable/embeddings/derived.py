"""Embeddings made from another one: some of its words, all but those of a list, or a linear map of it.

Words of a public list that are never to be released are taken out of the vocabulary itself, which is what
makes it certain: no search can find them, no policy can look them up, and all that is computed for an
embedding (its index, channels, calibrations, keyed noise) is that of the smaller one, which has a fingerprint
of its own. Text is still cut by the whole vocabulary, so that such a word is one word in a text, and an
unknown one. Which words are left out is public and does not depend on any text, so every promise holds as it
is over the smaller vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding, LeftOut
from deniable.embeddings.subwords import Subwords
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.parameters import validated_count
from deniable.words.never_release import NeverRelease

if TYPE_CHECKING:
    from deniable.embeddings.linear_map import LinearMap  # it loads msgspec, which a release does not need


def leave_out(embedding: Embedding, listed: NeverRelease) -> Embedding:
    """Return the embedding without the listed words; itself if it was made by the same list, or the list is
    empty.

    ⊥ keeps its vector, so that an unknown word is treated as it would be without a list.

    :raises InvalidParameter: if no word is left.
    """
    if not listed:
        return embedding
    source = embedding
    if embedding.left_out is not None:
        source, listed = embedding.left_out.source, listed | embedding.left_out.listed
        if listed == embedding.left_out.listed:
            return embedding
    kept: Ids = np.flatnonzero([not listed.holds(word) for word in source.words])
    if not len(kept):
        problem = f"lists all {len(source):,} words of the embedding {source.name!r}: nothing could come out"
        raise InvalidParameter("never_release", f"{len(listed):,} words", problem)
    smaller = copy(source) if len(kept) == len(source) else keep_rows(source, kept)
    left_out = LeftOut(listed=listed, source=source, kept=kept)
    if left_out.count:
        without = f"{left_out.count}-words" if listed.words else "-and-".join(listed.called)
        smaller.name = f"{source.name}-without-{without}"
    smaller.left_out = left_out
    smaller.__dict__.pop("language_rules", None)  # a copy has those of the whole vocabulary
    return smaller


def keep_rows(embedding: Embedding, ids: Ids) -> Embedding:
    """Return the embedding of the words with these ids alone, which rise; ⊥, subwords and the linear map stay
    as they are."""
    words, vectors = [embedding.words[i] for i in ids], embedding.vectors[ids]
    smaller = Embedding(words, vectors, unknown=embedding.unknown, name=embedding.name)
    of_all = embedding.unknown_origin == "mean"
    smaller.unknown_origin = f"mean of {embedding.name}" if of_all else embedding.unknown_origin
    smaller.subwords, smaller.linear_map = embedding.subwords, embedding.linear_map
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
    """Return a smaller embedding: with the words in ``keep`` that are not in ``exclude`` and that
    ``common_with`` has too, of these the ``first``. At least one of them has to be given.

    Words stay in the order of ``embedding``, and are compared exactly as they are spelled; those that it does
    not have are passed over. ⊥ keeps its vector, even where that was the mean of all words: the mean of the
    wider vocabulary stands for unknown words better than the mean of what is left. (Any public vector keeps
    the guarantee; it is part of the fingerprint.)

    :raises InvalidParameter: if nothing is asked for, or ``first`` is not a whole number above 0.
    :raises MalformedEmbedding: if no word is left.
    """
    if keep is None and exclude is None and first is None and common_with is None:
        problem = "say what to keep, exclude, or share with another embedding, or how many words"
        raise InvalidParameter("restriction", None, problem)
    first = None if first is None else validated_count(first, "first")
    stays = np.full(len(embedding) + 1, keep is None)
    stays[embedding.ids(keep or ())] = True
    stays[embedding.ids(exclude or ())] = False
    stays = stays[:-1]
    if common_with is not None:
        stays &= common_with.ids(embedding.words) != common_with.unknown_id
    ids = np.flatnonzero(stays)[:first]
    if not ids.size:
        raise MalformedEmbedding(embedding.name, "no word is left after this restriction")
    return keep_rows(embedding, ids)


def map_embedding(embedding: Embedding, linear_map: LinearMap, *, name: str | None = None) -> Embedding:
    """Return the embedding with every vector mapped: those of the words, of ⊥, and of the parts of words.

    :raises InvalidParameter: if words of it are protected, or the map is for another number of coordinates.
    :raises MalformedEmbedding: if a mapped vector is absurdly long.
    """
    check_mappable(embedding)
    mapped = Embedding(
        embedding.words,
        linear_map.apply(embedding.vectors),
        unknown=linear_map.apply(embedding.unknown[np.newaxis])[0],
        name=name or embedding.name,
    )
    mapped.unknown_origin = f"{embedding.unknown_origin}, mapped"
    if embedding.subwords is not None:
        # The vector of an unknown word is a mean of these rows, whose map is the mean of their maps.
        parts = embedding.subwords
        mapped.subwords = Subwords(linear_map.apply(parts.table), minn=parts.minn, maxn=parts.maxn)
    mapped.linear_map = linear_map
    return mapped


def check_mappable(embedding: Embedding) -> None:
    """Check that the embedding can be mapped.

    :raises InvalidParameter: if words of it are protected: which ones are exposed depends on the metric; or
        if it is mapped already: a space says what one map kept, and what two kept is said by neither.
    """
    if embedding.linear_map is not None:
        kind, source = embedding.linear_map.origin.kind, embedding.linear_map.origin.source
        problem = f"is {kind} already; map the embedding that it was made from, {source}, in one step"
        raise InvalidParameter("embedding", embedding.name, problem)
    if embedding.protection is not None:
        advice = "map the embedding that it was made from, and protect the result: other words are exposed"
        raise InvalidParameter("embedding", embedding.name, f"is protected; {advice}")


def is_mapped_from(embedding: Embedding, source: Embedding) -> bool:
    """Return whether the vectors of an embedding, all of them or those of some words, are those of a source
    under its stated map."""
    linear_map = embedding.linear_map
    if linear_map is None or source.dimension != linear_map.axes.shape[1]:
        return False
    ids = source.ids(embedding.words)
    if (ids == source.unknown_id).any():
        return False
    mapped = linear_map.apply(source.rows(np.append(ids, source.unknown_id)))
    return np.array_equal(mapped[:-1], embedding.vectors) and np.array_equal(mapped[-1], embedding.unknown)
