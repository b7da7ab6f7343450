"""Warnings about an ε at which nearly all words stay, or nearly nothing can be read: from public facts,
before any text is read."""

from __future__ import annotations

import numpy as np

from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound, behind
from deniable.mechanisms.catalogue import chosen_as
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import STARTING_EPSILON
from deniable.report.wording import percent
from deniable.words.frequency import in_english, shares_of_all

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
    """Return which share of ``sample`` words, drawn at random from the vocabulary, is released unchanged in
    one draw each.

    ``epsilon`` is that of the mechanism unless another is given.
    """
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
    """Return the most words a record may have for its share of the budget to change hardly anything; 0 if
    none does."""

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
    """Return a warning if a reader of single words gains next to nothing over guessing blind; None if not, or
    if it is not known.

    ``epsilon`` is that of the mechanism, or the budget of a record: what a record of one word gets.
    """
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
