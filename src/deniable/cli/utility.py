"""``deniable utility``: what ε costs a classifier on your own labelled texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.options import DataFile, Epsilons, FileOptions, VocabularyOptions, changed, with_groups
from deniable.cli.terminal import print_json, progress
from deniable.errors import InvalidParameter, printable

if TYPE_CHECKING:
    from deniable.release.card import Card


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """How much is learnt and measured; the names are those of ``measure_utility``.

    :param runs: How many times to repeat everything, with fresh noise and another split.
    :param held_out: The share of every class that is kept for testing and not learnt from.
    :param texts: Use at most this many texts, drawn at random: for a quick look.
    :param acceptable_loss: How much accuracy you can afford to lose, for the advice in the result.
    :param decode: Read released text decoded too, or leave that out, which is faster.
    :param support --words: For decoding: how many words may have gone in, the most frequent ones.
    :param directions --effort: For decoding: at most how many points are drawn around each word,
        or directions followed, or draws made.
    """

    runs: int = 3
    held_out: float = 0.25
    texts: int | None = None
    acceptable_loss: float = 0.02
    decode: bool = True
    support: int = 20_000
    directions: int = 1_000


@with_groups
def utility(
    data: DataFile,
    *,
    text: str | None = None,
    label: str,
    card: Path | None = None,
    epsilon: Epsilons = None,
    reading: FileOptions,
    mechanism: VocabularyOptions,
    learning: LearningOptions,
    report: Path | None = None,
    figures: Path | None = None,
    as_json: bool = False,
    quiet: bool = False,
    device: str = "cpu",  # noqa: ARG001 - reading it sets it
) -> None:
    """Measure what ε costs on your own labelled texts: train on released and on original text, test both,
    draw the curve.

    The result holds for a recipient who trains and tests on released text only, as released or decoded,
    whichever is better on validation texts. Decoding first computes the channel of the released words.
    Without --epsilon, the values are those at which an average word stays unchanged in 5, 25, 50, 75, 95 and
    99 % of the draws. Nothing of the releases is kept.

    :param text --text --column -c: The column that holds the text. By default, that of the card.
    :param label: The column that holds the class: text, whole numbers, or true and false.
    :param card: The card of a release: measure its mechanism at its ε, instead of the options for these.
    :param report: Where to write the page. Default: DATA-utility.html in the current folder.
    :param figures: A folder for the curve (PNG, SVG) and the table (Markdown).
    :param as_json --json: Print JSON for machines; a page is written only with --report.
    """
    from deniable.atomic import check_place
    from deniable.parameters import validated_count
    from deniable.release.card import read_card
    from deniable.utility import measure_utility

    known = None if card is None else read_card(card)
    if known is not None and (epsilon or changed(mechanism)):
        raise typer.BadParameter("give --card, or --epsilon and what else is planned")
    columns = known.columns if text is None and known is not None else [text]
    if len(columns) != 1 or columns[0] is None:
        raise typer.BadParameter("name one column of text with --text")
    chosen = mechanism.arguments() if known is None else _as_released(known)
    validated_count(learning.support, "--words")
    if report is None and not as_json:
        report = Path(f"{data.name.partition('.')[0]}-utility.html")
    if report is not None:
        check_place(report)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with (
        progress("preparing to decode", unit="words", quiet=quiet) as preparing,
        progress("releasing and learning", unit="releases", quiet=quiet) as releasing,
    ):
        found = measure_utility(
            data,
            text_column=columns[0],
            label_column=label,
            **{"epsilons": epsilon or (), **chosen},
            channel_report=preparing,
            report=releasing,
            **vars(learning),
            **reading.reading(),
        )
    if report is not None or figures is not None:
        from deniable.utility.page import utility_page, write_utility_figures

        if report is not None:
            utility_page(found).write(report)
        if figures is not None:
            write_utility_figures(found, figures)
    if as_json:
        print_json(found.to_dict())
        return
    print(printable(found.table(), keep_lines=True), end="")
    if report is not None:
        typer.echo(f"The curve and what it means: {report}")


def _as_released(card: Card) -> dict[str, Any]:
    """Return what a card says of the words that are measured.

    :raises InvalidParameter: if the release did more than draw each word at one ε.
    """
    more = {
        "a mechanism of the data holder's own": card.mechanism is None,
        "a budget per record": card.record_epsilon is not None,
        f"the policy {card.unknown!r} for unknown words": card.unknown != "perturb",
        "kept words": bool(card.keep_words),
        "consistent replacement": card.consistent,
    }
    if card.mechanism is None or any(more.values()):
        listed = ", ".join(what for what, there in more.items() if there)
        raise InvalidParameter("--card", card.source, f"is of a release with {listed}, which is not measured")
    return {
        "embedding": card.open_embedding(),
        "mechanism": card.mechanism.chosen,
        "epsilons": [card.epsilon],
    }
