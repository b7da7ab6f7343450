"""``deniable explain WORD``: the words it may become, how often it stays, and its neighbours."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from deniable.explanation import Explanation, explain_word


def explain(
    word: Annotated[str, typer.Argument(help="The word to explain.")],
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")],
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    draws: Annotated[int, typer.Option("--draws", "--rays", help="How many directions to follow.")] = 1000,
    top: Annotated[int, typer.Option(help="How many words to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show what WORD may become at this ε, how often it stays, and how far its neighbours are."""
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.multivariate import Multivariate

    explanation = explain_word(Multivariate(Embedding.open(embedding), epsilon=epsilon), word, draws=draws, top=top)
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
    console.print(f"{kind} at ε = {explanation.epsilon:g} on {explanation.embedding}, {explanation.draws:,} directions")
    stays = explanation.unchanged
    if stays is not None:
        console.print(f"stays itself in {stays.probability:.1%} ± {stays.standard_error:.1%} of all cases (N_w)")
    console.print(f"{explanation.distinct:,} distinct words came out in one draw per direction (the paper counts S_w in 1,000 draws)\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("becomes")
    table.add_column("probability", justify="right")
    table.add_column("")
    table.add_column("neighbour")
    table.add_column("distance", justify="right")
    table.add_column("ε·d", justify="right")
    widest = max(outcome.probability for outcome in explanation.outcomes)
    for row in range(max(len(explanation.outcomes), len(explanation.neighbours))):
        left, right = ["", "", ""], ["", "", ""]
        if row < len(explanation.outcomes):
            outcome = explanation.outcomes[row]
            share = f"{outcome.probability:.2%} ± {outcome.standard_error:.2%}"
            left = [outcome.word, share, "█" * max(1, round(12 * outcome.probability / widest))]
        if row < len(explanation.neighbours):
            near = explanation.neighbours[row]
            right = [near.word, f"{near.distance:.2f}", f"{near.bound:.1f}"]
        table.add_row(*left, *right)
    console.print(table)
