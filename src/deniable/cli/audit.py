"""``deniable audit``: attack your own release before somebody else does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import FileOptions, VocabularyOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress, save_json

if TYPE_CHECKING:
    from deniable.audit.inversion.attackers import FurtherAttacker
    from deniable.audit.results import AuditResult, Table
    from deniable.progress import Report

app = typer.Typer(
    help="Attack your own release: what can an adversary still learn?",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Epsilons = Annotated[
    list[float], typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")
]


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The seed of an audit, and what becomes of its result.

    :param seed: The seed of the audit's own draws; releases never use it.
    :param save: Where to write the result as JSON, for `deniable audit report`.
    """

    seed: int = 0
    save: Path | None = None
    report: Path | None = None
    as_json: bool = False
    quiet: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse a file that cannot be written before the work begins.

        :raises RecordError: if a path is a folder or its folder is not there.
        """
        from deniable.atomic import check_place

        for path in (self.save, self.report):
            if path is not None:
                check_place(path)

    def progress(self, label: str, *, unit: str) -> AbstractContextManager[Report | None]:
        """Show progress unless it is not wanted: lend what an audit reports to."""
        return progress(label, unit=unit, quiet=self.quiet)

    def finish(self, result: AuditResult) -> None:
        """Print the result, and write it where it was asked for."""
        if self.save is not None:
            save_json(self.save, result.to_dict())
        if self.report is not None:
            from deniable.audit.page import audit_page

            audit_page([result]).write(self.report)
        if self.as_json:
            print_json(result.to_dict())
        else:
            _show(result)


def _show(result: AuditResult) -> None:
    """Print the finding in a sentence, then the tables."""
    from deniable.audit.bound import BoundResult

    open_console().print(result.sentence)
    _show_tables(result.tables)
    if note := result.not_proven if isinstance(result, BoundResult) else result.no_bound:
        open_console().print(f"\n{note}")


def _show_tables(found: Iterable[Table]) -> None:
    console = open_console()
    for table in found:
        console.print()
        console.print(
            make_table(table.columns, table.rows, title=table.caption, left=range(table.text_columns))
        )


@app.command()
@with_groups
def bound(
    *,
    epsilon: float,
    mechanism: VocabularyOptions,
    draws: int = 100_000,
    own_draws: int = 10_000,
    audit: AuditOptions,
) -> None:
    """Try to refute the bound that the mechanism promises, as a black box. Exit code 1 if it is refuted.

    :param draws: Draws per word in the small spaces.
    :param own_draws: Draws per word on the embedding itself.
    """
    from deniable.audit.bound import audit_bound

    chosen, opened = mechanism.choose(), mechanism.open()
    with audit.progress("attacking", unit="spaces") as report:
        result = audit_bound(
            opened, chosen, epsilon=epsilon, draws=draws, own_draws=own_draws, seed=audit.seed, report=report
        )
    audit.finish(result)
    if result.refuted:
        raise typer.Exit(1)


@dataclass(frozen=True, kw_only=True)
class AttackedTextFiles:
    """What attackers have read, and what they attack; the names are those of ``audit_inversion``.

    :param public: A public text file, one document a line: attackers then know which words follow one
        another, and attack text.
    :param text: A text file to release in memory and attack, one document a line. Default: one document in
        ten of --public, which the attackers then do not read.
    :param words: A file of words to report apart, one a line, such as names or drugs. Needs --public. May
        be repeated.
    """

    public: Path | None = None
    text: Path | None = None
    words: list[Path] | None = None


@dataclass(frozen=True, kw_only=True)
class EffortOptions:
    """How much is simulated.

    :param words_per_band: How many words to attack in each frequency band; the rest of the work grows with
        it.
    :param effort: What the attackers learn of the channel, in per cent of what is usual: more makes them a
        little stronger, and takes longer.
    :param places: With --public: attack documents with about this many words together.
    :param support: With --public: how many words the attackers think of, the most frequent ones.
    """

    words_per_band: int = 150
    effort: int = 100
    places: int = 2_000
    support: int = 20_000


@app.command()
@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    frequencies: Path | None = None,
    corpus: Path | None = None,
    acceptable: float = 0.2,
    effort: EffortOptions,
    audit: AuditOptions,
) -> None:
    """Let attackers guess the words: how often is the guess right, and for which words most often?

    Without --public, --frequencies or --corpus they take word frequencies from the embedding's order (Zipf's
    law). With --public they also read released words in their context, and the kind of a word is guessed
    beside the word itself. More attackers: deniable lab inversion.

    :param frequencies: A file with a word and its count on each line.
    :param corpus: A text to count the words in, one document per line.
    :param acceptable: The share of words that may be named, for the advice in the result.
    """
    run_inversion(epsilon, mechanism, files, frequencies, corpus, acceptable, effort, audit, further=())


def run_inversion(
    epsilon: list[float],
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    frequencies: Path | None,
    corpus: Path | None,
    acceptable: float,
    effort: EffortOptions,
    audit: AuditOptions,
    *,
    further: Sequence[FurtherAttacker],
) -> None:
    """Audit with the attackers of the package and ``further`` ones."""
    from deniable.audit.inversion.audit import audit_inversion
    from deniable.audit.inversion.drawn_words import InversionEffort
    from deniable.parameters import validated_count

    sizes = vars(effort).copy()
    percent = validated_count(sizes.pop("effort"), "--effort")
    sizes |= {"points": max(1, percent * 128 // 100), "draws": percent, "directions": 3 * percent}
    chosen, opened = mechanism.choose(), mechanism.open()
    with audit.progress("guessing", unit="steps") as report:
        result = audit_inversion(
            opened,
            chosen,
            epsilons=epsilon,
            frequencies=frequencies,
            corpus=corpus,
            acceptable=acceptable,
            effort=InversionEffort.of(sizes.pop("words_per_band"), **sizes),
            public=files.public,
            text=files.text,
            words=files.words or (),
            further=further,
            seed=audit.seed,
            report=report,
        )
    audit.finish(result)


@app.command()
@with_groups
def release(
    file: Path,
    *,
    column: list[str] | None = None,
    card: Path | None = None,
    epsilon: float | None = None,
    mechanism: VocabularyOptions,
    person: str | None = None,
    words: list[Path] | None = None,
    public: Path | None = None,
    reading: FileOptions,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Attack a private file as it is released: its words, the kinds of words, the words of lists, and whose
    text is whose.

    The attackers read draws made for this and deleted. They know the mechanism, the word frequencies of this
    file, and which words follow one another in the release, or in --public. Also for persons, with --person.

    :param file: The private file, in any format that `deniable privatize` reads.
    :param column -c: A column of private text. By default, those of the card. May be repeated.
    :param card: The card of the release.
    :param epsilon -e: Without a card: the ε per word; the other options say what else is planned.
    :param person COLUMN: The column with the person of each record.
    :param words: A file of words to report separately, such as drugs. May be repeated.
    :param public: A public text that the attackers know, one document per line.
    """
    from deniable.decision.attack import attack_file
    from deniable.decision.page import attack_tables
    from deniable.release.card import read_card
    from deniable.release.release import Release

    if (card is None) == (epsilon is None):
        raise typer.BadParameter("give --card, or --epsilon for a release that is planned")
    if card is not None:
        known = read_card(card)
    else:
        options = {"mechanism": mechanism.mechanism, "mechanism_options": mechanism.parse_options() or None}
        listed = [each if each == "names" else Path(each) for each in mechanism.never_release or ()]
        chosen: dict[str, Any] = {**options, "never_release": listed or None}
        known = Release(epsilon=epsilon, embedding=mechanism.space, **chosen).make().card
    with progress("rehearsing attacks", unit="steps", quiet=quiet or as_json) as report:
        found = attack_file(
            file,
            known,
            columns=column or (),
            person=person,
            words=words or (),
            public=public,
            report=report,
            reading=reading.reading(),
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show_tables(attack_tables(found))


@app.command()
@with_groups
def report(results: list[Path], *, output: Path) -> None:
    """Put the results of audits on one page for people: what was tried, what was learned, which ε would be
    acceptable.

    :param results: Results that audits wrote with --save.
    :param output -o: Where to write the page (HTML).
    """
    from deniable.atomic import check_place
    from deniable.audit.page import audit_page
    from deniable.audit.results import read_result

    check_place(output)
    audit_page([read_result(path) for path in results]).write(output)
    typer.echo(str(output))
