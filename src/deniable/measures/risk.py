"""Risk levels: an ε by what a reader can name, and not by its number.

A level is the share of the words of English text that a reader of single released words names at most
(``bayes_bound``), at the counts that come with the package. They are public, so that ε says nothing of the
private text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.bayes_bound import Words, largest_epsilon
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.cutter import Lookup
from deniable.words.frequency import in_english

LEVELS = {"low": 0.08, "medium": 0.17, "high": 0.33}
"""The shares that the names of levels stand for; blind guessing names 5.6 %."""

_NONE = np.array([], dtype=np.int64)

IN_ENGLISH = "words as frequent as in English books (Google Books 2010 to 2019)"

_KNOWN = {
    ("f31d550f41e396e0d08280c537bbcb44", 0.08): 2.41,
    ("f31d550f41e396e0d08280c537bbcb44", 0.17): 4.59,
    ("f31d550f41e396e0d08280c537bbcb44", 0.33): 6.4,
    ("37149d0424db37ae2ee641b64c25311d", 0.08): 2.25,
    ("37149d0424db37ae2ee641b64c25311d", 0.17): 4.5,
    ("37149d0424db37ae2ee641b64c25311d", 0.33): 6.35,
    ("efa36a98f43ac310756e7e38bdefd8ce", 0.08): 2.34,
    ("efa36a98f43ac310756e7e38bdefd8ce", 0.17): 4.52,
    ("efa36a98f43ac310756e7e38bdefd8ce", 0.33): 6.35,
}
"""The ε of the levels for the built-in embedding, whole and without either list of names, and the paper's
mechanism: found by ``largest_epsilon``."""

_found: dict[tuple[object, ...], float] = {}
_MOST_FOUND = 256


def epsilon_of_risk(
    made: ChosenMechanism, embedding: Embedding, level: object, *, revealed: Ids = _NONE
) -> float:
    """Return the largest ε at which no reader of single words names more than a share of the words of English
    text.

    ``revealed`` words come out as themselves and count as named.

    :raises InvalidParameter: if the level is neither a name nor a share, the embedding is not English, or the
        bound is not known.
    :raises TargetsNotMet: if blind guessing names more.
    """
    at_most = share_of(level)
    whole = embedding if embedding.left_out is None else embedding.left_out.source
    built_in = whole.folder is None and made.is_papers and not len(revealed)
    if built_in and (known := _KNOWN.get((embedding.fingerprint, at_most))) is not None:
        return known
    if whole.is_received:
        whole.check_content()  # what a folder says of itself decides nothing
    asked = (embedding.fingerprint, str(made.identity(embedding)), at_most, revealed.tobytes())
    if asked not in _found:
        words = replace(english_words(embedding), revealed=revealed)
        found, _ = largest_epsilon(made, embedding, words, at_most)
        if len(_found) >= _MOST_FOUND:
            _found.clear()
        _found[asked] = found
        return found
    return _found[asked]


def share_of(level: object) -> float:
    """Return the share that a level stands for: low, medium, high, or a share itself.

    :raises InvalidParameter: if it is none of these.
    """
    try:
        share = LEVELS[level] if isinstance(level, str) and level in LEVELS else float(cast("float", level))
    except (TypeError, ValueError):
        share = -1.0
    if isinstance(level, bool) or not 0.0 < share < 1.0:
        raise InvalidParameter(
            "risk", level, f"must be {', '.join(LEVELS)}, or a share between 0 and 1 such as 0.08"
        )
    return share


def english_words(embedding: Embedding) -> Words:
    """Return the words of an embedding as frequent as they are in English.

    :raises InvalidParameter: if the embedding knows less than half of the words of English text.
    """
    shares = in_english(embedding)
    if shares is None:
        problem = (
            "does not hold the words of English text, the only language whose counts come with the "
            "package: give epsilon"
        )
        raise InvalidParameter("embedding", embedding.name, problem)
    return Words(shares=shares, in_words=IN_ENGLISH)


def english_group(embedding: Embedding, listed: Sequence[str]) -> Words:
    """Return the words of a list, such as names or diagnoses, as frequent among one another as in English; a
    reader is told that the word is one of them.

    Words that the embedding does not know are left out: they all go in as one symbol, and nobody tells them
    apart.

    :raises InvalidParameter: if the embedding does not hold the words of English text, or none of the list.
    """
    ids = np.setdiff1d(Lookup(embedding).ids(list(listed)), embedding.unknown_id)
    if not len(ids):
        raise InvalidParameter("words", f"{len(listed):,} words", "holds no word of the embedding")
    shares = np.zeros(len(embedding) + 1)
    shares[ids] = np.maximum(english_words(embedding).shares[ids], np.finfo(np.float64).tiny)
    alike = IN_ENGLISH.removeprefix("words as frequent ")
    return Words(
        shares=shares, in_words=f"{len(ids):,} words of a list, as frequent among one another {alike}"
    )
