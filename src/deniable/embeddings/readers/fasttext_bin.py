"""The words, vectors and subword vectors of a fastText .bin model, as gensim reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Vectors
from deniable.embeddings.subwords import Subwords
from deniable.errors import MalformedEmbedding, MissingExtra


def read_fasttext_bin(path: Path) -> tuple[list[str], Vectors, Subwords | None]:
    """Return words, their vectors, and the subword vectors if the model was trained with any. All of it is in memory.

    :raises MissingExtra: if gensim is not installed.
    :raises MalformedEmbedding: if gensim cannot read the file: damaged, cut off, or a quantised .ftz model.
    """
    try:
        from gensim.models.fasttext import load_facebook_vectors
    except ImportError as error:
        raise MissingExtra("reading fastText binary files", "train") from error
    try:
        loaded = load_facebook_vectors(str(path))
    except FileNotFoundError:
        raise
    except Exception as error:  # gensim states no errors: a damaged file shows as assertion, struct, value or memory errors
        problem = f"gensim cannot read this fastText model ({type(error).__name__}: {error}): damaged, cut off, or quantised (.ftz)"
        raise MalformedEmbedding(path, problem) from error
    return list(loaded.index_to_key), np.asarray(loaded.vectors, dtype=np.float32), subwords_of(loaded)


def subwords_of(loaded: Any) -> Subwords | None:
    """Return the subword vectors of gensim's ``FastTextKeyedVectors``; None if it was trained without (``maxn`` 0)."""
    table = np.asarray(loaded.vectors_ngrams, dtype=np.float32)
    if loaded.bucket == 0 or loaded.max_n == 0 or not table.size:
        return None
    return Subwords(table, minn=max(1, int(loaded.min_n)), maxn=int(loaded.max_n))
