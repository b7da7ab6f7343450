"""What all audits share on the command line: groups of options, what is checked first, and how a result is written and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import AsJson, Device, FileOptions, PageFile, Quiet, VocabularyOptions
from deniable.cli.terminal import make_table, open_console, print_json, save_json

if TYPE_CHECKING:
    from deniable.audit.results import AuditResult
    from deniable.embeddings.embedding import Embedding
    from deniable.lab.decoded import Decoding
    from deniable.mechanisms.catalogue import ChosenMechanism
    from deniable.progress import Report
    from deniable.records.labelled import LabelledTexts

Epsilons = Annotated[list[float], typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")]


@dataclass(frozen=True, kw_only=True)
class AttackedTextOptions:
    """The texts that an audit releases and attacks, how they are read, and how they are released."""

    text_column: Annotated[str, typer.Option("--text-column", "--column", "-c", help="The column that holds the text.")] = "text"
    file: FileOptions
    mechanism: VocabularyOptions

    def open(
        self, data: Path, epsilons: Sequence[float], *, person_column: str, extra: str = "utility"
    ) -> tuple[LabelledTexts, Embedding, ChosenMechanism]:
        """Return the texts, and what they are to be released with; what takes no time is checked first.

        ``extra`` is the extra that brings what the audit needs.

        :raises MissingExtra: if scikit-learn is not installed.
        :raises InvalidParameter: if an option is not allowed.
        :raises EmbeddingNotFound: if the embedding is not installed.
        :raises RecordError: if the texts cannot be read.
        """
        from deniable.learning.scores import sklearn
        from deniable.parameters import validated_epsilon
        from deniable.records.labelled import read_labelled

        sklearn("svm", extra=extra)
        chosen = self.mechanism.choose()
        for epsilon in epsilons:
            validated_epsilon(epsilon)
        embedding = self.mechanism.open()
        texts = read_labelled(data, person_column=person_column, text_column=self.text_column, **self.file.reading())
        return texts, embedding, chosen


@dataclass(frozen=True, kw_only=True)
class DecodedOptions:
    """Whether attackers also decode what they read, and how."""

    decode: Annotated[bool, typer.Option(help="Attack released text decoded too, as an informed attacker would; takes longer.")] = True
    public: Annotated[
        Path | None, typer.Option(help="For decoding: a public text file, one document a line, to read words in their context.")
    ] = None
    support: Annotated[int, typer.Option(help="For decoding: how many words may have gone in, the most frequent ones.")] = 20_000
    directions: Annotated[
        int,
        typer.Option(
            help="For decoding: at most how many points are drawn around each of these words, or directions followed, or draws made."
        ),
    ] = 300

    def decoding(self) -> Decoding | None:
        """Return how to decode; None if it is not wanted.

        :raises BadParameter: if there is a public text and nothing is decoded.
        :raises InvalidParameter: if a number is not allowed.
        """
        from deniable.lab.decoded import Decoding

        if self.public is not None and not self.decode:
            raise typer.BadParameter("--public is for decoding; leave out --no-decode or --public")
        return Decoding(support=self.support, directions=self.directions, public=self.public) if self.decode else None


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The seed of an audit, and what becomes of its result."""

    seed: Annotated[int, typer.Option(help="The seed of the audit's own draws; releases never use it.")] = 0
    save: Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON, for `deniable audit report`.")] = None
    report: PageFile = None
    as_json: AsJson = False
    quiet: Quiet = False
    device: Device = "cpu"

    def __post_init__(self) -> None:
        """Refuse a file that cannot be written before the work begins.

        :raises RecordError: if a path is a folder or its folder is not there.
        """
        from deniable.atomic import check_place

        for path in (self.save, self.report):
            if path is not None:
                check_place(path)

    @contextmanager
    def progress(self, label: str, *, unit: str) -> Iterator[Report | None]:
        """Show progress unless it is not wanted: lend what an audit tells it."""
        from deniable.progress import Progress

        with Progress(label, unit=unit) as progress:
            yield None if self.quiet else progress.report

    def finish(self, result: AuditResult) -> None:
        """Print the result, and write it where it was asked for."""
        if self.save is not None:
            save_json(self.save, result.to_dict())
        if self.report is not None:
            from deniable.audit.report.audit_page import audit_page

            audit_page([result]).write(self.report)
        if self.as_json:
            print_json(result.to_dict())
        else:
            _show(result)


def _show(result: AuditResult) -> None:
    """Print the finding in a sentence, then the tables."""
    from deniable.audit.bound.attempt import BoundResult
    from deniable.audit.catalogue import finding, tables

    console = open_console()
    console.print(finding(result))
    for table in tables(result):
        console.print()
        console.print(make_table(table.columns, table.rows, title=table.caption, left=range(table.text_columns)))
    if isinstance(result, BoundResult):
        console.print()
        console.print(result.not_proven)
