"""What an ε means, from public facts alone: risk levels, and warnings.

A level is the share of the words of English text that a reader of single released words names at most
(``bayes_bound``), at the counts that come with the package. They are public, so that ε says nothing of the
private text. Warnings are about an ε at which nearly all words stay, or nearly nothing can be read; they are
made before any text is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound, behind, largest_epsilon
from deniable.mechanisms.catalogue import ChosenMechanism, chosen_as
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import STARTING_EPSILON
from deniable.report.wording import percent
from deniable.words.cutter import Cutter
from deniable.words.frequency import in_english, shares_of_all

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
    ("e52c0d1310c263fe7d45b8f4da85a3bb", 0.08): 0.17,
    ("e52c0d1310c263fe7d45b8f4da85a3bb", 0.17): 0.968,
    ("e52c0d1310c263fe7d45b8f4da85a3bb", 0.33): 5.83,
    ("e2c0f5d9abd6dd84c1df70ffaec98f7a", 0.08): 0.161,
    ("e2c0f5d9abd6dd84c1df70ffaec98f7a", 0.17): 0.91,
    ("e2c0f5d9abd6dd84c1df70ffaec98f7a", 0.33): 5.48,
    ("d8ca15e7648e5266d82e5730e38ae087", 0.08): 0.161,
    ("d8ca15e7648e5266d82e5730e38ae087", 0.17): 0.907,
    ("d8ca15e7648e5266d82e5730e38ae087", 0.33): 5.51,
    ("1ea85afba0fe2e018796e52c6c0d669d", 0.08): 0.219,
    ("1ea85afba0fe2e018796e52c6c0d669d", 0.17): 0.467,
    ("1ea85afba0fe2e018796e52c6c0d669d", 0.33): 0.91,
    ("ec3de12b8540048328e7a3b927ba5063", 0.08): 0.213,
    ("ec3de12b8540048328e7a3b927ba5063", 0.17): 0.465,
    ("ec3de12b8540048328e7a3b927ba5063", 0.33): 0.89,
    ("af6f7619ad23b415ca0d8b385da612c7", 0.08): 0.209,
    ("af6f7619ad23b415ca0d8b385da612c7", 0.17): 0.457,
    ("af6f7619ad23b415ca0d8b385da612c7", 0.33): 0.896,
}
"""The ε of the levels for the built-in embeddings (default, for-sentiment, for-topic), whole and without
either list of names, and the paper's mechanism: found by ``largest_epsilon``."""

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
    """Return the words of a list as frequent among one another as in English; a reader knows that the word
    is one of them. Unknown words are left out: they all go in as one.

    :raises InvalidParameter: if the embedding does not hold the words of English text, or none of the list.
    """
    ids = np.setdiff1d(Cutter(embedding).ids(list(listed)), embedding.unknown_id)
    if not len(ids):
        raise InvalidParameter("words", f"{len(listed):,} words", "holds no word of the embedding")
    shares = np.zeros(len(embedding) + 1)
    shares[ids] = np.maximum(english_words(embedding).shares[ids], np.finfo(np.float64).tiny)
    alike = IN_ENGLISH.removeprefix("words as frequent ")
    return Words(
        shares=shares, in_words=f"{len(ids):,} words of a list, as frequent among one another {alike}"
    )


_TOO_MANY = 0.75
"""If more than this share of the words is released unchanged, a release hardly changes anything."""

_NEXT_TO_NOTHING = 1e-9
"""An ε at which words are released unchanged only if the mechanism keeps some at any ε."""

_MANY_ENOUGH = 0.05
"""If more than this share of the words is released unchanged, a reader gains something."""

_TOO_LITTLE = 0.01
"""If a reader of single words gains less than this share of the words over blind guessing, hardly anything of
a text is left."""

_WORDS_LOOKED_AT, _WORDS_SUMMED = 4_000, 100
_DRAWS = 1_000


def share_unchanged(mechanism: Mechanism, *, epsilon: float | None = None, sample: int = 256) -> float:
    """Return which share of ``sample`` random words of the vocabulary is released unchanged."""
    ids = np.random.default_rng().integers(0, len(mechanism.embedding), sample)
    spent = np.full(sample, mechanism.epsilon if epsilon is None else epsilon)
    return float(
        (
            mechanism.perturb(mechanism.embedding.stands_in(ids), SecureRandomness(), epsilon=spent) == ids
        ).mean()
    )


def warning_of(mechanism: Mechanism, *, record_epsilon: float | None = None) -> str | None:
    """Return a warning if most words would be released unchanged, or hardly anything of them could be read;
    else None.

    It is a function of public facts, and is made before any text is read.

    ``record_epsilon`` is a budget per record, divided by its words; the mechanism's ε stays the most that a
    word gets.
    """
    name, budget = mechanism.embedding.name, record_epsilon
    if budget is None or budget > mechanism.epsilon:
        share = share_unchanged(mechanism)
        if share <= _TOO_MANY:
            return None if share > _MANY_ENOUGH else _warning_of_too_little(mechanism)
        return (
            f"at ε = {mechanism.epsilon:g} about {percent(share)} of the words of {name} are released as "
            "they are; choose a smaller ε "
            "(`deniable explain WORD --epsilon E` shows what it does)"
        )
    if share_unchanged(mechanism, epsilon=_NEXT_TO_NOTHING) > _TOO_MANY:
        kept = f"whatever the budget, most words of {name} are released as they are by this mechanism"
        return f"{kept} (`deniable explain WORD` shows what it does)"
    words = _longest_record_that_hardly_changes(mechanism, budget)
    if not words:
        return _warning_of_too_little(mechanism, epsilon=budget)
    few = "one word" if words == 1 else f"up to about {words:,} words"
    return (
        f"a budget of {budget:g} per record is too large for records of {few}: most words of {name} are "
        "released as they are in them; "
        "--epsilon beside --record-epsilon sets the most that a word gets"
    )


def _longest_record_that_hardly_changes(mechanism: Mechanism, budget: float) -> int:
    """Return the most words of a record whose share of the budget changes hardly anything; 0 if none."""

    def hardly(words: int) -> bool:
        return share_unchanged(mechanism, epsilon=budget / words) > _TOO_MANY

    if not hardly(1):
        return 0
    most, enough = 1, 2
    while budget / enough > _NEXT_TO_NOTHING and hardly(enough):
        most, enough = enough, 2 * enough
    while enough - most > 1:
        middle = (most + enough) // 2
        most, enough = (middle, enough) if hardly(middle) else (most, middle)
    return most


def _warning_of_too_little(mechanism: Mechanism, *, epsilon: float | None = None) -> str | None:
    """Return a warning if a reader of single words gains next to nothing over a blind guess; None if not
    known."""
    made = mechanism
    if epsilon is not None:
        chosen = chosen_as(mechanism)
        if chosen is None:
            return None
        made = chosen(mechanism.embedding, epsilon=epsilon)
    embedding = mechanism.embedding
    shares = in_english(embedding)
    shares = shares_of_all(embedding) if shares is None else shares
    looked_at = min(len(shares), _WORDS_LOOKED_AT if behind(made) is not None else _WORDS_SUMMED)
    frequent = np.where(shares >= np.partition(shares, -looked_at)[-looked_at], shares, 0.0)
    found = bayes_bound(made, Words(shares=frequent, in_words="the most frequent words"), draws=_DRAWS)
    if found is None or found.value - found.blind >= _TOO_LITTLE:
        return None
    gain = 100.0 * (found.value - found.blind)
    at = (
        f"ε = {made.epsilon:g}"
        if epsilon is None
        else f"a budget of {epsilon:g} per record, even for a record of one word,"
    )
    return (
        f"{at} leaves hardly anything of the text: who reads its words one by one names at most about "
        f"{gain:.1f} more of 100 words than by "
        "guessing blind. This ε is per unit of distance, not that of other kinds of differential privacy; "
        "with the built-in embedding, "
        f"start at {STARTING_EPSILON:g}"
    )
