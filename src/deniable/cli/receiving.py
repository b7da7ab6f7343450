"""``deniable decode`` and ``deniable frequencies``: what a receiver can read from released text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.options import FileOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress, say, warnings_shown
from deniable.report.wording import percent_fixed, percent_signed

if TYPE_CHECKING:
    from deniable.decoding.files import LearningOptions
    from deniable.decoding.word_use import WordUseFindings
    from deniable.release.card import Card

_UNCHANGED = 0.99
"""Decoding is useless where a larger share of words comes out unchanged."""


@dataclass(frozen=True, kw_only=True)
class ReceivingOptions:
    """How text was released, by its card or in words, and what is used to decode it.

    :param column -c: The column that holds released text. Default: that of the card, if it lists one alone.
        Plain text has none.
    :param card: The card of the release. Default: RELEASED.card.json, beside the released text.
    :param epsilon -e: Without a card: the ε per word of the release.
    :param embedding: The name or the folder of the embedding, if it is not found here by the fingerprint on
        the card.
    :param mechanism -m NAME: Without a card: the mechanism, such as santext or vickrey:t=0.5 (else
        multivariate).
    :param public: A public text file, one document a line: words are then read in their context, as such
        text has them.
    :param prior rank|uniform|FILE: Word frequencies assumed before the release is read: by rank in the
        embedding, uniform, or from a file with a word and its count on each line.
    :param words: Number of possible input words: the most frequent ones.
    :param effort: For the channel: at most how many points are drawn around each word, or directions
        followed, or draws made.
    :param check: Refuse text that this mechanism cannot have released at this ε, and a column that the card
        does not list.
    """

    column: list[str] | None = None  # of a single value the last would be taken, and nothing said of others
    card: Path | None = None
    epsilon: float | None = None
    embedding: str | None = None
    mechanism: str | None = None
    public: Path | None = None
    prior: str = "rank"
    words: int = 20_000
    effort: int = 1000
    check: bool = True
    device: str = "cpu"

    def options(self) -> LearningOptions:
        """Return the options of ``Decoder.learn``.

        :raises InvalidParameter: if no word may have gone in.
        """
        from deniable.parameters import validated_count

        return {
            "embedding": self.embedding,
            "public": self.public,
            "prior": self.prior,
            "support": validated_count(self.words, "--words"),
            "effort": self.effort,
            "check": self.check,
        }

    def open_card(self, released: Path) -> Card:
        """Return the card of ``--card``, of the other options, or beside the released text.

        :raises BadParameter: if there is none.
        :raises MalformedCard: if it is no card.
        """
        from deniable.atomic import beside
        from deniable.mechanisms.catalogue import parse_mechanism
        from deniable.release.card import ENDING, read_card
        from deniable.release.release import Release

        if self.card is not None and self.epsilon is not None:
            raise typer.BadParameter("give one of --card and --epsilon: a card says which ε it was")
        if self.epsilon is not None:
            chosen = parse_mechanism(self.mechanism or "multivariate")
            how: dict[str, Any] = {"mechanism": chosen.name, "mechanism_options": chosen.options or None}
            return Release(epsilon=self.epsilon, embedding=self.embedding or "default", **how).make().card
        if self.mechanism is not None:
            problem = "--mechanism goes with --epsilon, for a release without a card"
            raise typer.BadParameter(f"{problem}: a card says which mechanism it was")
        path = beside(released, ENDING) if self.card is None else self.card
        if self.card is None and not path.exists():
            advice = "name it with --card, or give --epsilon and what else was used"
            raise typer.BadParameter(f"there is no card beside the text ({path}): {advice}")
        return read_card(path)

    def choose_column(self, card: Card, released: Path, reading: FileOptions) -> str | None:
        """Return the column to decode: the given one, or the only one on the card; None for plain text.

        :raises BadParameter: if several are given.
        :raises InvalidParameter: if it is not on the card and is to be checked, or the card lists several and
            none is given.
        """
        from deniable.errors import InvalidParameter
        from deniable.records.formats.columns import names_as_text
        from deniable.records.formats.layout import WITH_COLUMNS, format_of

        given, listed = self.column or [], f"the card lists {names_as_text(card.columns)}"
        if len(given) > 1:
            problem = "one column is read at a time, so run the command again for another"
            raise typer.BadParameter(f"give --column once: {problem}")
        if given:
            if self.check and not card.lists(given[0]):
                problem = f"was not released: {listed}, and all others hold what they held before"
                advice = "Name one that it lists; if the column was renamed since, --no-check reads it"
                raise InvalidParameter("--column", given[0], f"{problem}. {advice}")
            return given[0]
        if not card.columns or (reading.format or format_of(released)) not in WITH_COLUMNS:
            return None
        if len(card.columns) > 1:
            raise InvalidParameter("--column", None, f"say which one to read: {listed}")
        return card.columns[0]


@with_groups
def decode(
    released: Path,
    *,
    output: Path,
    receiving: ReceivingOptions,
    top: int | None = None,
    reading: FileOptions,
    force: bool = False,
    quiet: bool = False,
) -> None:
    """Estimate the words behind released text, from its card alone.

    It is an estimate, not the original: at a private ε most single words are wrong, and sums over many texts
    are right. It costs no privacy: anybody who has the release can do it.

    :param released: Released text, in any format that `deniable privatize` writes; may be compressed.
    :param output -o: Where to write the decoded text; with --top, a CSV file of candidates.
    :param top: Write this many candidates for each released word, with probabilities, instead of text.
    """
    from deniable.decoding.files import decode_file

    card = receiving.open_card(released)
    chosen = receiving.choose_column(card, released, reading)
    unit = "bytes" if top is None else "records"
    with (
        warnings_shown(),
        progress("making the channel", unit="words", quiet=quiet) as channel_report,
        progress("decoding", unit=unit, quiet=quiet) as report,
    ):
        decoder = decode_file(
            released,
            output,
            card,
            column=chosen,
            top=top,
            force=force,
            channel_report=channel_report,
            report=report,
            **receiving.options(),
            **reading.reading(),
        )
    _say_if_unchanged(decoder.unchanged, card.kind, card.epsilon)
    counts = decoder.counts
    where = "in context" if receiving.public is not None else "each by itself"
    were = "was" if counts.words == 1 else "were"
    typer.echo(f"{_read(counts.words, counts.records)} {were} decoded, {where}.")
    typer.echo(f"An estimate, not the original: {output}")


@with_groups
def frequencies(
    released: Path,
    *,
    by: str | None = None,
    receiving: ReceivingOptions,
    most: int = 2_000,
    reading: FileOptions,
    output: Path | None = None,
    report: Path | None = None,
    as_json: bool = False,
    force: bool = False,
    quiet: bool = False,
) -> None:
    """Estimate how often words are used behind released text, with 95 % intervals, for all records and by
    group.

    Words are decoded by the card of the release. Words without a usable estimate are marked.

    :param released: Released text, in any format that `deniable privatize` writes; may be compressed.
    :param by: A column of groups: each is estimated, and compared with all other records.
    :param most: How many words to estimate; never more than the release holds.
    :param output -o: Where to write all words with their intervals (CSV).
    """
    from deniable.atomic import check_new, check_place
    from deniable.decoding.word_use import measure_word_use
    from deniable.errors import InvalidParameter

    for path in (output, report):
        if path is not None:
            check_place(path)
            check_new(path, force=force)
    card = receiving.open_card(released)
    chosen = receiving.choose_column(card, released, reading)
    with warnings_shown(), progress("making the channel", unit="words", quiet=quiet) as channel_report:
        try:
            found = measure_word_use(
                released,
                card,
                column=chosen,
                by=by,
                most=most,
                report=channel_report,
                **receiving.options(),
                **reading.reading(),
            )
        except InvalidParameter as error:
            if error.name != "by":
                raise
            raise InvalidParameter("--by", by, error.problem) from None
    _say_if_unchanged(found.unchanged, found.mechanism, found.epsilon)
    if output is not None:
        found.write_csv(output)
    if report is not None:
        from deniable.decoding.word_use_page import word_use_page

        word_use_page(found).write(report)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, output, report)


def _read(words: int, records: int) -> str:
    """Return how much released text was read, in words."""
    from deniable.records.formats.columns import number_of

    return f"{number_of(words, 'released word')} of {number_of(records, 'record')}"


def _say_if_unchanged(unchanged: float, mechanism: str, epsilon: float) -> None:
    """Warn that there is nothing to decode: at such an ε every text looks released."""
    if unchanged > _UNCHANGED:
        share = (
            f"{mechanism} at ε = {epsilon:g} lets {percent_fixed(unchanged, 1)} of the words out unchanged"
        )
        say(f"note: {share}. Either the release is nearly the original, or it was released with another ε")


def _show(found: WordUseFindings, output: Path | None, report: Path | None) -> None:
    from deniable.records.formats.columns import number_of

    console, everything = open_console(), found.everything
    how = f"{found.mechanism} at ε = {found.epsilon:g} on {found.embedding}"
    console.print(f"{_read(everything.words, everything.records)}, {how}")
    known = everything.known
    console.print(f"it says something of {len(known):,} of {number_of(len(everything.uses), 'word')}")
    if known:
        rows = [
            [use.word, *(percent_fixed(share, 2) for share in (use.share_low, use.share, use.share_high))]
            for use in known[:15]
        ]
        console.print(make_table(["word", "at least", "share", "at most"], rows, left=(0,)))
    if everything.needed:
        console.print(everything.needed)
    if found.by is not None:
        console.print(f"\n{found.comparison}")
        rows = [
            [
                each.group,
                each.word,
                percent_signed(each.difference),
                f"{percent_signed(each.low)} to {percent_signed(each.high)}",
            ]
            for each in found.differences[:15]
        ]
        if rows:
            console.print(make_table(["group", "word", "difference", "interval"], rows, left=(0, 1)))
    for what, path in (("All words: ", output), ("A page: ", report)):
        if path is not None:
            console.print(f"{what}{path}")
