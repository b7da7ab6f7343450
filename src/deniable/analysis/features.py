"""What is expected behind released texts, as features whose columns are in a fixed order: words by their ids,
⊥ last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.decoding.decoder import LEAST_COUNT, UNKNOWN, Decoder
from deniable.parameters import validated_share

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def count_words(decoder: Decoder, texts: Sequence[str | None], *, least: float = LEAST_COUNT) -> csr_matrix:
    """Return how often each word is expected in each text, float64, one column for each word of
    ``counted_words``.

    :raises InvalidParameter: if ``least``, below which counts are left out, is no number from 0 to 1.
    """
    from scipy.sparse import csr_matrix

    counts = decoder.expected_counts(texts, least=validated_share(least, "least"))
    # The rows of a channel lie in the order in which they are made fastest.
    columns = np.empty(counts.shape[1], dtype=np.int32)
    columns[np.argsort(decoder.channel.inputs)] = np.arange(counts.shape[1], dtype=np.int32)
    # Solvers of scikit-learn take small indices only.
    starts = counts.indptr.astype(np.int32) if counts.nnz <= np.iinfo(np.int32).max else counts.indptr
    matrix = csr_matrix((counts.data, columns[counts.indices], starts), shape=counts.shape)
    matrix.sort_indices()
    return matrix


def counted_words(decoder: Decoder) -> list[str]:
    """Return the words that may have gone in, by their ids; ``[unknown]`` for ⊥, which is last."""
    embedding = decoder.channel.embedding
    return [
        UNKNOWN if i == embedding.unknown_id else embedding.words[i]
        for i in np.sort(decoder.channel.inputs).tolist()
    ]


def list_words(
    decoder: Decoder, texts: Sequence[str | None], *, least: float = LEAST_COUNT
) -> Iterator[dict[str, float] | None]:
    """Yield for each text the words that are expected in it and how often, the most frequent first; None for
    None."""
    counts, words = count_words(decoder, texts, least=least), counted_words(decoder)
    for text, start, end in zip(texts, counts.indptr[:-1], counts.indptr[1:], strict=True):
        found, columns = counts.data[start:end], counts.indices[start:end]
        order = np.argsort(-found, kind="stable")
        listed = {
            words[column]: count
            for column, count in zip(columns[order].tolist(), found[order].tolist(), strict=True)
        }
        yield None if text is None else listed
