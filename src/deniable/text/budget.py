"""How much may be spent on a word, judged from public facts before any text is read.

``resolve_recipe`` finds the ε at which a stored calibration promises that words change often enough. ``warning_of`` says when an ε or a
budget is so large that a release would hardly change anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from deniable.channel.explanation import share_unchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism, Randomness
from deniable.report.wording import most_words
from deniable.text.note import largest_epsilon, stored_quote
from deniable.text.privatizer import Privatizer
from deniable.text.recipe import Recipe

HARDLY_ANY = 0.005
"""If the median word is released unchanged less often than this, hardly anything of the meaning is left."""

TOO_MANY = 0.75
"""If more than this share of the words is released unchanged, a release hardly changes anything."""

_NEXT_TO_NOTHING = 1e-9
"""An ε at which words are released unchanged only if the mechanism keeps some at any ε."""


@dataclass(frozen=True, kw_only=True)
class ResolvedRecipe:
    """A recipe whose ε is settled. ``messages`` say which ε a calibration gave, and what that does to the text."""

    recipe: Recipe
    messages: tuple[str, ...] = ()
    embedding: Embedding | None = field(default=None, repr=False)

    def make(self, *, randomness: Randomness | None = None) -> Privatizer:
        """Return a new privatizer, as ``Recipe.make`` does; an embedding that was opened to find ε is not opened again."""
        return self.recipe.make(embedding=self.embedding, randomness=randomness)


def resolve_recipe(*, max_unchanged: float | None = None, quantile: float = 1.0, **settings: Any) -> ResolvedRecipe:
    """Return the recipe of these settings, with ε chosen by the stored calibration if ``max_unchanged`` is given in its place.

    It is then the largest calibrated ε at which at least a share ``quantile`` of the words is released unchanged in at most a share
    ``max_unchanged`` of draws. All other settings are checked before the embedding is opened.

    :raises InvalidParameter: if a setting is not allowed, ε is given as well, or the embedding was not calibrated for the mechanism.
    :raises TargetsNotMet: if no calibrated ε does.
    """
    if max_unchanged is None:
        return ResolvedRecipe(recipe=Recipe(**settings))
    if settings.get("epsilon") is not None:
        raise InvalidParameter("max_unchanged", max_unchanged, "chooses epsilon; give one of the two")
    recipe = Recipe(**{**settings, "epsilon": 1.0})
    embedding = Embedding.open(recipe.embedding)
    mechanism = recipe.make_mechanism(embedding)
    epsilon = largest_epsilon(mechanism, max_unchanged, quantile)
    messages = [f"ε = {epsilon:g}: N_w, how often a word stays itself, is at most {max_unchanged:g} for {most_words(quantile)}"]
    if _is_forced_by_few_words(mechanism, epsilon, max_unchanged):
        messages.append(
            f"ε = {epsilon:g}: a few isolated words, whose N_w is large at any useful ε, force this small value, at which little of the "
            "text is left; ask for fewer words with --quantile, such as 0.95, or protect those words: deniable calibrate --protect"
        )
    return ResolvedRecipe(recipe=replace(recipe, epsilon=epsilon), messages=tuple(messages), embedding=embedding)


def _is_forced_by_few_words(mechanism: Mechanism, epsilon: float, max_unchanged: float) -> bool:
    """Return whether ε destroys the text although the median word is far below the target, as a target for every word may demand."""
    note = stored_quote(mechanism)
    if note is None:
        return False
    median = next(row["unchanged"]["median"] for row in note["table"] if row["epsilon"] == epsilon)
    small = epsilon == note["table"][0]["epsilon"] or median < HARDLY_ANY
    return bool(small and median < max_unchanged / 10)


def warning_of(private: Privatizer) -> str | None:
    """Return a warning if most words would be released unchanged, by the mechanism or by what may be spent on a word; else None."""
    mechanism, budget = private.mechanism, private.record_epsilon
    name = mechanism.embedding.name
    if budget is None or private.settings.ceiling is not None:
        share = share_unchanged(mechanism)
        if share <= TOO_MANY:
            return None
        return (
            f"at ε = {mechanism.epsilon:g} about {share:.0%} of the words of {name} are released as they are; choose a smaller ε "
            "(`deniable explain WORD --epsilon E` shows what it does)"
        )
    if share_unchanged(mechanism, epsilon=_NEXT_TO_NOTHING) > TOO_MANY:
        kept = f"whatever the budget, most words of {name} are released as they are by this mechanism"
        return f"{kept} (`deniable explain WORD` shows what it does)"
    words = _longest_record_that_hardly_changes(mechanism, budget)
    if not words:
        return None
    few = "one word" if words == 1 else f"up to about {words:,} words"
    return (
        f"a budget of {budget:g} per record is too large for records of {few}: most words of {name} are released as they are in them; "
        "--epsilon beside --record-epsilon sets the most that a word gets"
    )


def _longest_record_that_hardly_changes(mechanism: Mechanism, budget: float) -> int:
    """Return the most words a record may have for its share of the budget to change hardly anything; 0 if none does."""

    def hardly(words: int) -> bool:
        return share_unchanged(mechanism, epsilon=budget / words) > TOO_MANY

    if not hardly(1):
        return 0
    most, enough = 1, 2
    while budget / enough > _NEXT_TO_NOTHING and hardly(enough):
        most, enough = enough, 2 * enough
    while enough - most > 1:
        middle = (most + enough) // 2
        most, enough = (middle, enough) if hardly(middle) else (most, middle)
    return most
