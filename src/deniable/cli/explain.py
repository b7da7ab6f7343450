"""``deniable explain WORD``: the words it may become, how often it stays, and its neighbours."""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from deniable.channel.explanation import Explanation, Outcome, explain_word
from deniable.cli.mechanism import Name, Options, parse_options

_METHODS = {"exact": "summed exactly", "rays": "{:,} directions", "simulation": "{:,} simulated draws"}


def explain(
    word: Annotated[str, typer.Argument(help="The word to explain.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")],
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    mechanism: Name = "multivariate",
    mechanism_option: Options = None,
    draws: Annotated[int, typer.Option("--draws", "--rays", help="How many directions to follow, or draws to make.")] = 1000,
    top: Annotated[int, typer.Option(help="How many words to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show what WORD may become at this ε, how often it stays, and how far its neighbours are."""
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.chosen import ChosenMechanism

    chosen = ChosenMechanism(name=mechanism, options=parse_options(mechanism, mechanism_option))
    explanation = explain_word(chosen(Embedding.open(embedding), epsilon=epsilon), word, draws=draws, top=top)
    if as_json:
        print(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(explanation)


def _show(explanation: Explanation) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    kind = f"“{explanation.word}”"
    if not explanation.known:
        kind += " is unknown to the embedding, so it is treated as ⊥, like every unknown word. ⊥"
    method = _METHODS[explanation.method].format(explanation.draws)
    console.print(f"{kind} at ε = {explanation.epsilon:g} on {explanation.embedding}, {explanation.mechanism}, {method}")
    stays = explanation.unchanged
    if stays is not None:
        console.print(f"stays itself in {_share(stays, 1)} of all cases (N_w)")
    console.print(f"{explanation.distinct:,} distinct words came out in {explanation.draws:,} draws (the paper counts S_w in 1,000)\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("becomes")
    table.add_column("probability", justify="right")
    table.add_column("")
    table.add_column("neighbour")
    table.add_column("distance", justify="right")
    table.add_column("bound", justify="right")
    widest = max(outcome.probability for outcome in explanation.outcomes)
    for row in range(max(len(explanation.outcomes), len(explanation.neighbours))):
        left, right = ["", "", ""], ["", "", ""]
        if row < len(explanation.outcomes):
            outcome = explanation.outcomes[row]
            left = [outcome.word, _share(outcome, 2), "█" * max(1, round(12 * outcome.probability / widest))]
        if row < len(explanation.neighbours):
            near = explanation.neighbours[row]
            right = [near.word, f"{near.distance:.2f}", f"{near.bound:.1f}" if math.isfinite(near.bound) else "none"]
        table.add_row(*left, *right)
    console.print(table)
    console.print("\nbound: the logarithm of a likelihood ratio against the neighbour never exceeds it")


def _share(outcome: Outcome, digits: int) -> str:
    error = f" ± {outcome.standard_error:.{digits}%}" if outcome.standard_error else ""
    tiny = 0.0 < outcome.probability < 0.5 * 10.0 ** -(digits + 2)
    return f"{outcome.probability:.1e}{error}" if tiny else f"{outcome.probability:.{digits}%}{error}"
