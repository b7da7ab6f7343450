"""The warning that a release will hardly change anything; it is made from public facts, before any text is read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.text.privatizer import Privatizer

TOO_MANY = 0.75
"""If more than this share of the words stays, a release hardly changes anything."""

_NEXT_TO_NOTHING = 1e-9
"""An ε at which words only stay if the mechanism keeps some at any."""


def warn_if_hardly_anything_changes(private: Privatizer) -> None:
    """Say on standard error if so much may be spent on a word that most words would be released as they are.

    No option silences it: who asks for less to read does not ask for less privacy.
    """
    from deniable.channel.explanation import share_unchanged

    name = private.mechanism.embedding.name
    if private.receipt().ceiling is None:
        if share_unchanged(private.mechanism, epsilon=_NEXT_TO_NOTHING) > TOO_MANY:
            print(
                f"deniable: warning: whatever the budget, most words of {name} are released as they are by this mechanism "
                "(`deniable explain WORD` shows what it does)",
                file=sys.stderr,
            )
        elif words := _records_that_hardly_change(private):
            few = "one word" if words == 1 else f"up to about {words:,} words"
            print(
                f"deniable: warning: a budget of {private.record_epsilon:g} per record is so much for records of {few} that most words of "
                f"{name} are released as they are in them; --epsilon beside --record-epsilon sets the most that a word gets",
                file=sys.stderr,
            )
    elif (share := share_unchanged(private.mechanism)) > TOO_MANY:
        print(
            f"deniable: warning: at ε = {private.mechanism.epsilon:g} about {share:.0%} of the words of {name} "
            "are released as they are; choose a smaller ε (`deniable explain WORD --epsilon E` shows what it does)",
            file=sys.stderr,
        )


def _records_that_hardly_change(private: Privatizer) -> int:
    """Return the most words a record may have for its share of the budget to change hardly anything; 0 if none does."""
    from deniable.channel.explanation import share_unchanged

    budget = private.record_epsilon or 0.0

    def hardly(words: int) -> bool:
        return share_unchanged(private.mechanism, epsilon=budget / words) > TOO_MANY

    if not hardly(1):
        return 0
    most, enough = 1, 2
    while budget / enough > _NEXT_TO_NOTHING and hardly(enough):
        most, enough = enough, 2 * enough
    while enough - most > 1:
        middle = (most + enough) // 2
        most, enough = (middle, enough) if hardly(middle) else (most, middle)
    return most
