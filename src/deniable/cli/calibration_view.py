"""What ``deniable calibrate`` prints for people."""

from __future__ import annotations

from typing import Any


def show(answer: dict[str, Any]) -> None:
    """Print the chosen ε, the table and the words that change least."""
    from rich.console import Console

    from deniable.report.wording import most_words

    console = Console(highlight=False, markup=False)
    console.print(f"{answer['embedding']}, {_mechanism(answer)}: {answer['words']:,} words, {_how(answer)}")
    if "epsilon" in answer:
        targets = answer["targets"]
        asked = [f"N_w ≤ {targets['max_unchanged']:g}"] if targets["max_unchanged"] is not None else []
        asked += [f"≥ {targets['min_distinct']:,} distinct words"] if targets["min_distinct"] is not None else []
        verb = "meets" if answer["meets_the_targets"] else "MISSES"
        console.print(f"ε = {answer['epsilon']:g} {verb} {' and '.join(asked)} for {most_words(targets['quantile'])}")
        sure = "exact" if answer["method"] == "exact" else "95 % confidence, all words"
        console.print(f"no word stays itself more often than {answer['largest_unchanged_with_95%_confidence']:.1%} ({sure})")
    console.print()
    console.print(_table(answer["table"]))
    if answer.get("exposed_words"):
        console.print(f"\n{answer['exposed_words']:,} exposed words miss the targets at this ε; they lie far from their neighbours:")
    if "worst_words" in answer:
        console.print(_words(answer["exposed"] or answer["worst_words"]))
    if "protected" in answer:
        made = answer["protected"]
        console.print(
            f"\n{made['name']}: {made['words_mapped']:,} words go in as others ({made['by']}); {made['exposed_words_left']:,} words "
            f"miss the targets now, the worst N_w is {made['largest_unchanged']:.3f}"
        )
    if "words_walked" in answer:
        console.print(f"\ndistinct words and H₁: {answer['words_walked']:,} words drawn at random")
    if "figures" in answer:
        console.print(f"\nfigures: {answer['figures']}")
    if "report" in answer:
        console.print(f"\nreport: {answer['report']}")


def _mechanism(answer: dict[str, Any]) -> str:
    options = ", ".join(f"{name} = {value}" for name, value in answer["parameters"].items())
    return f"{answer['mechanism']} ({options})" if options else str(answer["mechanism"])


def _how(answer: dict[str, Any]) -> str:
    if answer["method"] == "exact":
        return f"exact sums at {len(answer['table'])} values of ε" if len(answer["table"]) > 1 else "exact sums"
    return f"{answer['rays']:,} rays each" if answer["method"] == "rays" else f"{answer['rays']:,} draws for each word and ε"


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    walked = any("distinct" in row for row in rows)
    for name in ("ε", "N_w mean", "median", "95 %", "worst", "> 0.5", *(("distinct mean", "worst", "H₁ bits") if walked else ())):
        table.add_column(name, justify="right")
    for row in rows:
        stays = row["unchanged"]
        cells = [
            f"{row['epsilon']:.4g}",
            *(f"{stays[key]:.3f}" for key in ("mean", "median", "95%", "worst")),
            f"{row['words_above_half']:,}",
        ]
        if "distinct" in row:
            cells += [f"{row['distinct']['mean']:.0f}", f"{row['distinct']['worst']:.0f}", f"{row['mean_entropies_bits']['H1']:.1f}"]
        table.add_row(*cells)
    return table


def _words(words: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    marks = any(word["protected"] for word in words)
    for name in ("word", "N_w", "±", "nearest at", "norm", *(("protected",) if marks else ())):
        table.add_column(name, justify="left" if name in ("word", "protected") else "right")
    for word in words[:12]:
        near = "-" if word["nearest_neighbour_at"] is None else f"{word['nearest_neighbour_at']:.2f}"
        cells = [word["word"], f"{word['unchanged']:.3f}", f"{word['standard_error']:.3f}", near, f"{word['norm']:.2f}"]
        table.add_row(*cells, *([("yes" if word["protected"] else "no")] if marks else []))
    return table
