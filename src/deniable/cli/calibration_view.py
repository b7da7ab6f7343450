"""What ``deniable calibrate`` prints for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from deniable.calibration.choice import Choice
    from deniable.calibration.looked_at import LookedAt
    from deniable.calibration.result import CalibrationResult, EpsilonRow, WordRow


def show(result: CalibrationResult) -> None:
    """Print the chosen ε, the table and the words that change least."""
    from rich.console import Console

    console, calibration = Console(highlight=False, markup=False), result.calibration
    console.print(f"{calibration.embedding.name}, {_mechanism(result)}: {result.looked_at}; {_method(result)}")
    if result.choice is not None:
        _show_choice(console, result.choice, result.looked_at, exact=calibration.method == "exact")
    console.print()
    console.print(_table(result.table))
    if result.choice is not None:
        if count := len(result.choice.failing):
            console.print(f"\n{count:,} of {result.looked_at.them} miss the targets at this ε; they lie far from their neighbours:")
        console.print(_words(result.exposed or result.worst_words))
    if result.protected is not None:
        made = result.protected
        console.print(
            f"\n{made.name}: {made.words_mapped:,} words go in as others ({made.by}); {made.exposed_words_left:,} words "
            f"miss the targets now, the worst N_w is {made.largest_unchanged:.3f}"
        )
    if result.sampled_words is not None:
        some = "" if result.sampled_words == result.looked_at.count else f"{result.sampled_words:,} words drawn at random from "
        console.print(f"\ndistinct words and H₁: {some}{result.looked_at.them}")
    if result.figures is not None:
        console.print(f"\nfigures: {', '.join(str(path) for path in result.figures)}")
    if result.page is not None:
        console.print(f"\nreport: {result.page}")


def _show_choice(console: Console, choice: Choice, looked_at: LookedAt, *, exact: bool) -> None:
    from deniable.report.wording import percent_up, words

    targets = choice.targets
    asked = [f"N_w ≤ {targets.max_unchanged:g}"] if targets.max_unchanged is not None else []
    asked += [f"≥ {targets.min_distinct:,} distinct words"] if targets.min_distinct is not None else []
    verb = "meets" if choice.meets_targets else "MISSES"
    console.print(f"ε = {choice.epsilon:g} {verb} {' and '.join(asked)} for {looked_at.share(targets.quantile)}")
    sure = "exact" if exact else "95 % confidence for an ε fixed beforehand"
    none = "no word" if looked_at.all else f"none of {looked_at.them}"
    console.print(f"{none} stays itself in more than {percent_up(float(choice.upper.max()))} of draws ({sure})")
    if looked_at.all:
        return
    console.print(f"the other {words(looked_at.vocabulary - looked_at.count)} were not looked at, and may stay themselves in all draws")
    if choice.missing is not None:
        share = percent_up(choice.missing.at_most)
        console.print(f"of the whole vocabulary at most {share} miss the targets ({choice.missing.provided}, by the random sample)")


def _mechanism(result: CalibrationResult) -> str:
    mechanism, embedding = result.calibration.mechanism, result.calibration.embedding
    options = ", ".join(f"{name} = {value}" for name, value in mechanism.identity(embedding)["parameters"].items())
    return f"{mechanism.name} ({options})" if options else mechanism.name


def _method(result: CalibrationResult) -> str:
    method, draws = result.calibration.method, result.calibration.draws
    if method == "exact":
        return f"exact sums at {len(result.table)} values of ε" if len(result.table) > 1 else "exact sums"
    return f"{draws:,} rays each" if method == "rays" else f"{draws:,} draws for each word and ε"


def _table(rows: Sequence[EpsilonRow]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    with_support = any(row.support for row in rows)
    for name in ("ε", "N_w mean", "median", "95 %", "worst", "> 0.5", *(("distinct mean", "worst", "H₁ bits") if with_support else ())):
        table.add_column(name, justify="right")
    for row in rows:
        stays = row.unchanged
        cells = [
            f"{row.epsilon:.4g}",
            *(f"{value:.3f}" for value in (stays.mean, stays.median, stays.most, stays.worst)),
            f"{row.words_above_half:,}",
        ]
        if row.support is not None:
            distinct = row.support.distinct
            cells += [f"{distinct.mean:.0f}", f"{distinct.worst:.0f}", f"{row.support.mean_entropies[1]:.1f}"]
        table.add_row(*cells)
    return table


def _words(words: Sequence[WordRow]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    marks = any(word.protected for word in words)
    for name in ("word", "N_w", "±", "nearest at", "norm", *(("protected",) if marks else ())):
        table.add_column(name, justify="left" if name in ("word", "protected") else "right")
    for word in words[:12]:
        near = "-" if word.nearest_neighbour_at is None else f"{word.nearest_neighbour_at:.2f}"
        cells = [word.word, f"{word.unchanged:.3f}", f"{word.standard_error:.3f}", near, f"{word.norm:.2f}"]
        table.add_row(*cells, *([("yes" if word.protected else "no")] if marks else []))
    return table
