"""The proved numbers of one release, in words for people: capacity, Bayes bound and accounting
(``deniable.measures``).

They follow from the card, which is public, and from how many words a text has. The card is enough to compute
them later, so that a release takes no time for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from deniable.arrays import Ids
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.measures.accounting import DELTA, WORDS, Spent, account
from deniable.measures.bayes_bound import bayes_bound
from deniable.measures.capacity import capacity
from deniable.measures.estimate import Estimate
from deniable.measures.risk import english_words
from deniable.mechanisms.base import method_of
from deniable.release.card import Card
from deniable.release.policies import UnknownPolicy
from deniable.report.wording import percent, percent_up, words

DRAWS = 4_000
"""Fewer than measures take by themselves: the upper ends are a little higher, and a page takes seconds."""

_MOST_SUMS = 1 << 28
_PROTECTS_NOBODY = 10.0
_GUESS = 1_000
_NONE = np.array([], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class ProvedNumbers:
    """What is proved of a release; None where a number is not known. ``unproved`` says why there are none."""

    capacity: Estimate | None
    bayes_bound: Estimate | None
    accounting: tuple[Spent, ...]
    unproved: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready data."""
        return {
            "capacity": None if self.capacity is None else _ends(self.capacity),
            "bayes_bound": None
            if self.bayes_bound is None
            else _ends(self.bayes_bound) | {"blind": self.bayes_bound.blind},
            "accounting": [row.to_dict() for row in self.accounting],
            "in_words": self.in_words(),
        }

    def in_words(self) -> list[str]:
        """Return a sentence or two for each number, and which of them protect nobody by themselves."""
        said = [self.unproved] if self.unproved else []
        if self.capacity is not None:
            said.append(capacity_in_words(self.capacity.high))
        if self.bayes_bound is not None:
            said.append(bayes_in_words(self.bayes_bound))
        if self.accounting:
            said.append(accounting_in_words(self.accounting))
        return said


def capacity_in_words(at_most: float) -> str:
    """Return what a capacity promises, by the example of a guess."""
    alone = "A single isolated word can be recognised far more often."
    if at_most >= _GUESS:
        return (
            f"Seeing its released form raises a reader's chance to guess a word at most {at_most:,.0f}-fold, "
            "on average over words and draws. This is so large that it protects nobody by itself: a guess "
            f"that is right 1 time in {_GUESS:,} before may always be right afterwards. {alone}"
        )
    return (
        f"Suppose a reader's best guess at a word is right 1 time in {_GUESS:,} before its released form is "
        f"seen. Afterwards it is right at most 1 time in {max(1, int(_GUESS / at_most)):,}, on average over "
        f"words and draws ({at_most:,.1f}-fold). {alone}"
    )


def bayes_in_words(found: Estimate) -> str:
    """Return what a Bayes bound promises, beside blind guessing."""
    return (
        f"A reader of single released words names at most {percent_up(found.high)} of them, with any method; "
        f"without the release it is {percent(found.blind)}. This holds for "
        f"{found.statement.partition(';')[0]}. Readers who use the context may name more, and so may readers "
        "of rare words."
    )


def accounting_in_words(rows: tuple[Spent, ...]) -> str:
    """Return what the smallest of the rows promises, and whether it protects anybody by itself."""
    first = min(rows, key=lambda row: row.pure if row.epsilon is None else row.epsilon)
    if first.epsilon is None or first.epsilon == np.inf:
        return "Nothing is proved of texts that differ in words."
    odds = (
        "" if first.epsilon > _PROTECTS_NOBODY else f" (e^{first.epsilon:.3g} = {np.exp(first.epsilon):,.3g})"
    )
    said = (
        f"Take two texts that differ in {words(first.words)}, at the {first.distance} distance. The release "
        "changes the odds between them "
        f"at most e^{first.epsilon:.3g}-fold{odds}, except with probability δ = {first.delta:g}."
    )
    if first.epsilon > _PROTECTS_NOBODY:
        return f"{said} This is so large that it protects nobody by itself."
    if any(row.epsilon is None or row.epsilon > _PROTECTS_NOBODY for row in rows):
        return f"{said} Where ε′ is above {_PROTECTS_NOBODY:g}, the number protects nobody by itself."
    return said


def proved_numbers(
    mechanism: Mechanism,
    *,
    unknown: UnknownPolicy = "perturb",
    kept: Ids = _NONE,
    words_of_a_text: int = 0,
    delta: float = DELTA,
) -> ProvedNumbers:
    """Return the numbers of a mechanism between the policies around it.

    ``kept`` are the ids of words that come out unchanged. The accounting is for texts that differ in 1, 5 and
    20 words, and in ``words_of_a_text`` if that is not 0.

    :raises InvalidParameter: if δ is not between 0 and 1.
    """
    size = len(mechanism.embedding)
    rows = account(mechanism, words=[*WORDS, *([words_of_a_text] if words_of_a_text else [])], delta=delta)
    quick = method_of(mechanism) != "exact" or size * size <= _MOST_SUMS
    factor = capacity(mechanism, unknown=unknown, kept=kept, draws=DRAWS) if quick else None
    named = _named(mechanism, unknown, kept) if quick and unknown != "subwords" else None
    return ProvedNumbers(capacity=factor, bayes_bound=named, accounting=tuple(rows))


def numbers_of_card(card: Card, *, words_of_a_text: int = 0, delta: float = DELTA) -> ProvedNumbers:
    """Return the numbers of a release by its card, at the largest ε that a word can have got.

    :raises MalformedCard: if the card names no mechanism, or its embedding is not here.
    :raises InvalidParameter: if δ is not between 0 and 1.
    """
    embedding = card.open_embedding()
    largest = msgspec.structs.replace(card, epsilon=card.epsilon_of_a_word(1))  # F rises with ε
    mechanism = largest.make_mechanism(embedding)
    if card.consistent:
        return ProvedNumbers(
            capacity=None,
            bayes_bound=None,
            accounting=(),
            unproved="Equal words of a user share one draw. The numbers of independent draws do not hold, so "
            "none are given.",
        )
    return proved_numbers(
        mechanism,
        unknown=card.unknown,
        kept=card.kept_ids(embedding),
        words_of_a_text=words_of_a_text,
        delta=delta,
    )


def _named(mechanism: Mechanism, unknown: UnknownPolicy, kept: Ids) -> Estimate | None:
    embedding = mechanism.embedding
    try:
        english = english_words(embedding)
    except InvalidParameter:
        return None  # not the words of English
    shares = english.shares.copy()
    if unknown == "error":
        shares[embedding.unknown_id] = 0.0
    revealed = np.append(kept, embedding.unknown_id) if unknown in ("redact", "drop") else kept
    return bayes_bound(mechanism, replace(english, shares=shares, revealed=revealed), draws=DRAWS)


def _ends(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "at_most": found.high, "statement": found.statement}
