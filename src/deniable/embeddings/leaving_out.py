"""An embedding without the words of a public list that are never to be released.

The words are taken out of the vocabulary itself, which is what makes it certain: no search can find them, no
policy can look them up, and all that is computed for an embedding (its index, channels, calibrations, keyed
noise) is that of the smaller one, which has a fingerprint of its own. Text is still cut by the whole
vocabulary, so that such a word is one word in a text, and an unknown one. Which words are left out is public
and does not depend on any text, so every promise holds as it stands over the smaller vocabulary.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding, LeftOut
from deniable.errors import InvalidParameter
from deniable.words.never_release import NeverRelease


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
    kept = np.array(
        [place for place, word in enumerate(source.words) if not listed.holds(word)], dtype=np.int64
    )
    if not len(kept):
        problem = (
            f"lists every one of the {len(source):,} words of the embedding {source.name!r}: nothing "
            "could be released"
        )
        raise InvalidParameter("never_release", f"{len(listed):,} words", problem)
    smaller = copy(source) if len(kept) == len(source) else keep_rows(source, kept)
    left_out = LeftOut(listed=listed, source=source, kept=kept)
    if left_out.count:
        smaller.name = f"{source.name}-without-{f'{left_out.count}-words' if listed.words else '-and-'.join(listed.called)}"  # noqa: E501
    smaller.left_out = left_out
    smaller.__dict__.pop("language_rules", None)  # a copy has those of the whole vocabulary
    return smaller


def keep_rows(embedding: Embedding, ids: Ids) -> Embedding:
    """Return the embedding of the words with these ids alone, which rise; ⊥, subwords and the linear map stay
    as they are."""
    smaller = Embedding(
        [embedding.words[i] for i in ids],
        embedding.vectors[ids],
        unknown=embedding.unknown,
        name=embedding.name,
    )
    smaller.unknown_origin = (
        embedding.unknown_origin if embedding.unknown_origin != "mean" else f"mean of {embedding.name}"
    )
    smaller.subwords, smaller.linear_map = embedding.subwords, embedding.linear_map
    if embedding.protection is not None:
        # A protected word whose stand-in is taken out goes in as ⊥: it must not become exposed again.
        places = np.full(len(embedding) + 1, len(smaller), dtype=np.int64)
        places[ids] = np.arange(len(smaller))
        smaller.protection = np.append(places[embedding.protection[ids]], len(smaller))
    return smaller
