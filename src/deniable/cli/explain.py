"""``deniable explain WORD``: the words it may become, how often it stays, and its neighbours; or a table of
several words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.channel.explanation import (
    Explanation,
    Neighbour,
    NeighbourMoves,
    Outcome,
    explain_word,
    explain_words,
)
from deniable.cli.options import VocabularyOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json
from deniable.interfaces import Mechanism
from deniable.report.wording import percent_fixed

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.release.note import Factor

_PROTECTS_NOBODY = 10.0
_METHODS = {"exact": "summed exactly", "rays": "{:,} directions", "simulation": "{:,} simulated draws"}


@with_groups
def explain(
    word: list[str] | None = None,
    *,
    words: list[Path] | None = None,
    epsilon: float,
    mechanism: VocabularyOptions,
    draws: int = 1000,
    top: int = 10,
    as_json: bool = False,
) -> None:
    """Show what WORD may become at this ε, how often it stays, and how far its neighbours are.

    Several words are shown as a table, those that stay most often first. For one word of a reduced or shaped
    embedding, it also shows which neighbours came nearer and which moved away.

    :param word: The words to explain.
    :param words: A file of words to explain, one per line, such as names. May be repeated.
    :param draws --effort: How many directions to follow, or draws to make.
    :param top: How many words to show.
    """
    from deniable.words.public_text import read_word_list

    if not word and not words:
        raise typer.BadParameter("name one or more words, or a file of them with --words")
    listed = [each for path in words or () for each in read_word_list(path, name="words")]
    made = mechanism.choose()(mechanism.open(), epsilon=epsilon)
    if word is not None and len(word) == 1 and not words:
        explanation = explain_word(made, word[0], draws=draws, top=top)
        if as_json:
            factor = _capacity(made)
            known = None if factor is None else {"value": factor.value, "at_most": factor.at_most}
            print_json(explanation.to_dict() | {"capacity": known})
        else:
            _show(explanation, made)
        return
    explanations = explain_words(made, [*(word or ()), *listed], draws=draws, top=top)
    if as_json:
        print_json([each.to_dict() for each in explanations])
    else:
        _show_several(explanations)


def _show_several(explanations: Sequence[Explanation]) -> None:
    console, any_of_them = open_console(), explanations[0]
    method = _METHODS[any_of_them.method].format(any_of_them.draws)
    console.print(
        f"ε = {any_of_them.epsilon:g} on {any_of_them.embedding}, {any_of_them.mechanism}, {method} for each "
        "word\n"
    )
    rows = []
    for each in sorted(
        explanations,
        key=lambda one: -1.0 if one.unchanged is None else one.unchanged.probability,
        reverse=True,
    ):
        others = ", ".join(
            outcome.word for outcome in each.outcomes if outcome.word != each.word or not each.known
        )
        stays = "unknown: ⊥" if each.unchanged is None else _share(each.unchanged, 1)
        rows.append([each.word, stays, f"{each.distinct:,}", others])
    console.print(
        make_table(["word", "stays itself", "distinct", "else becomes most often"], rows, left=(0, 3))
    )
    console.print(f"\ndistinct: the number of distinct words that came out in {any_of_them.draws:,} draws")


def _odds_in_words(neighbours: Sequence[Neighbour]) -> str:
    """Return what the bound against the nearest word means as odds."""
    said = "no output changes the odds between the word and the neighbour by more than this factor"
    nearest = min((near.bound for near in neighbours), default=math.inf)
    if not math.isfinite(nearest):
        return said
    if nearest > _PROTECTS_NOBODY:
        return (
            f"{said}. Against the nearest word that is e^{nearest:.1f}: odds of 1 to 1 may become "
            f"{math.exp(min(nearest, 700.0)):,.2g} to 1, so by itself this bound protects nobody"
        )
    return f"{said}. Against the nearest word odds of 1 to 1 become at most {math.exp(nearest):,.3g} to 1"


def _capacity(mechanism: Mechanism) -> Factor | None:
    """Return what a calibration knows of the capacity; None if it was not calibrated."""
    from deniable.release.note import quote_calibration  # loads msgspec

    quote = quote_calibration(mechanism)
    return None if quote is None else quote.capacity


def _show(explanation: Explanation, made: Mechanism) -> None:
    console = open_console()
    kind = f"“{explanation.word}”"
    if not explanation.known:
        kind += " is unknown to the embedding, so it is treated as ⊥, like every unknown word. ⊥"
    method = _METHODS[explanation.method].format(explanation.draws)
    console.print(
        f"{kind} at ε = {explanation.epsilon:g} on {explanation.embedding}, {explanation.mechanism}, {method}"
    )
    if explanation.goes_in_as is not None:
        console.print(
            f"it is protected: it goes in as “{explanation.goes_in_as}”, and what comes out, and bounds, are "
            "those of that word"
        )
    stays = explanation.unchanged
    if stays is not None:
        console.print(f"stays itself in {_share(stays, 1)} of all cases (N_w)")
    console.print(
        f"{explanation.distinct:,} distinct words came out in {explanation.draws:,} draws (the paper counts "
        "S_w in 1,000)\n"
    )
    widest = max(outcome.probability for outcome in explanation.outcomes)
    rows = []
    for row in range(max(len(explanation.outcomes), len(explanation.neighbours))):
        left, right = ["", "", ""], ["", "", ""]
        if row < len(explanation.outcomes):
            outcome = explanation.outcomes[row]
            left = [outcome.word, _share(outcome, 2), "█" * max(1, round(12 * outcome.probability / widest))]
        if row < len(explanation.neighbours):
            near = explanation.neighbours[row]
            right = [
                near.word,
                f"{near.distance:.2f}",
                f"e^{near.bound:.1f}" if math.isfinite(near.bound) else "none",
            ]
        rows.append([*left, *right])
    console.print(
        make_table(["becomes", "probability", "", "neighbour", "distance", "bound"], rows, left=(0, 2, 3))
    )
    console.print(f"\nbound: {_odds_in_words(explanation.neighbours)}")
    if (factor := _capacity(made)) is not None:
        from deniable.release.proved import capacity_in_words

        console.print(f"capacity: {capacity_in_words(factor.at_most)}")
    if explanation.moves is not None:
        _show_moves(console, explanation.moves)


def _show_moves(console: Console, moves: NeighbourMoves) -> None:
    if moves.source is None:
        short = moves.source_fingerprint[:12]
        console.print(
            f"\nWhat the map did to its neighbours is not known: the embedding it was made from ({short}) is "
            "not on this machine."
        )
        return
    for said, found in (("came nearer than in", moves.nearer), ("went away since", moves.away)):
        rows = [[move.word, f"{move.before:,}", f"{move.now:,}"] for move in found]
        console.print(f"\n{said} {moves.source}:" + ("" if rows else " none of the nearest"))
        if rows:
            console.print(make_table(["neighbour", "place before", "place now"], rows))


def _share(outcome: Outcome, digits: int) -> str:
    error = f" ± {percent_fixed(outcome.standard_error, digits)}" if outcome.standard_error else ""
    tiny = 0.0 < outcome.probability < 0.5 * 10.0 ** -(digits + 2)
    return (f"{outcome.probability:.1e}" if tiny else percent_fixed(outcome.probability, digits)) + error
