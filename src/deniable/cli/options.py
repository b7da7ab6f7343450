"""The options that several commands share, in groups: a command asks for a group and gets its values as one
object.

A group is a frozen dataclass whose fields are options of Typer, or other groups. ``with_groups`` shows Typer
their options in the place of the group.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.catalogue import ChosenMechanism
    from deniable.records.formats.layout import Roles
    from deniable.records.labelled import ReadingOptions
    from deniable.release.privatizer import Privatizer
    from deniable.release.release import Release
    from deniable.words.never_release import NeverRelease

Group = TypeVar("Group")


def number(text: str) -> float:
    """Return the number that was written.

    :raises BadParameter: if it is none; a decimal comma is named.
    """
    try:
        return float(text)
    except ValueError:
        advice = (
            f"; write {text.replace(',', '.')}"
            if re.fullmatch(r"[+-]?\d+,\d+", text.strip())
            else ", such as 6 or 0.5"
        )
        raise typer.BadParameter(f"{text!r} is not a number{advice}") from None


def number_option(*names: str, help: str) -> Any:  # noqa: A002 - the word Typer has
    """Return an option that is a number, with advice for a decimal comma."""
    return typer.Option(*names, help=help, parser=number, metavar="NUMBER")


Epsilon = Annotated[float, number_option("--epsilon", "-e", help="The privacy parameter, per word.")]
Epsilons = Annotated[
    list[float] | None, number_option("--epsilon", "-e", help="A value of ε. May be repeated.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="How many threads search for the nearest word. By default, as many as this process may use "
        "processors."
    ),
]


def use_device(device: str) -> str:
    """Let this process draw and search on a device.

    :raises MissingExtra: if PyTorch is not installed.
    :raises InvalidParameter: if PyTorch has no such device here.
    """
    if device != "cpu":
        from deniable.gpu.devices import usable_device
        from deniable.neighbours import set_device

        set_device(str(usable_device(device)))
    return device


Device = Annotated[
    str,
    typer.Option(
        callback=use_device,
        help="Where noise is drawn and words are searched for: cpu, or cuda for an NVIDIA GPU.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(help="How many processes share the work. Each uses one thread, unless --threads says more."),
]
PageFile = Annotated[
    Path | None, typer.Option("--report", help="Where to write the result as a page for people (HTML).")
]
DataFile = Annotated[
    Path,
    typer.Argument(help="CSV, TSV, JSON, JSON Lines, Parquet or a spreadsheet with one text per record."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        help="Draw the noise from the secret key in this file: releasing the same records again then spends "
        "nothing more."
    ),
]
NeverReleased = Annotated[
    list[str] | None,
    typer.Option(
        "--never-release",
        metavar="names|FILE",
        help="A public list of words that never come out: names for the built-in one of common given names "
        "and surnames (names-1 for its "
        "first version), or a file with one or more words a line. They are taken out of the vocabulary; "
        "names that are not listed can come "
        "out. May be repeated.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as Typer takes it: with the options of a group in the place of each parameter that
    is one.

    :raises ValueError: if two options have the same name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if _is_group(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name]))
    single = inspect.signature(command).parameters.keys() - groups.keys()

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(
            **{name: given[name] for name in single},
            **{name: _build(group, given) for name, group in groups.items()},
        )

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _is_group(hint: Any) -> bool:
    return is_dataclass(hint)


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    found: list[inspect.Parameter] = []
    for field in fields(group):
        if _is_group(hints[field.name]):
            found += _options_of(hints[field.name])
        else:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            found.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
                )
            )
    return found


def _build(group: type[Group], given: Mapping[str, Any]) -> Group:
    hints = get_type_hints(group)
    values = {name: _build(hint, given) if _is_group(hint) else given[name] for name, hint in hints.items()}
    return group(**values)


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """How much may be spent: on a word, on a record, or on both."""

    epsilon: Annotated[
        float | None, number_option("--epsilon", "-e", help="The privacy parameter, per word.")
    ] = None
    record_epsilon: Annotated[
        float | None,
        number_option(
            help="The most to spend on a record, divided equally among its words. Together with --epsilon, a "
            "word gets at most --epsilon."
        ),
    ] = None
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="low|medium|high|SHARE",
            help="Choose ε by what can be named instead of --epsilon: the share of the words of English text "
            "that a reader of single "
            "released words names at most, such as 0.08. low is 8 %, medium 17 %, high 33 %; guessing "
            "blindly names 5.6 %.",
        ),
    ] = None
    max_unchanged: Annotated[
        float | None,
        number_option(
            help="Choose ε by the stored calibration instead of --epsilon: at most this share of draws may "
            "return the word unchanged."
        ),
    ] = None
    quantile: Annotated[
        float,
        typer.Option(
            help="With --max-unchanged: the share of words for which this must hold; 1 means every word, "
            "even the most isolated."
        ),
    ] = 1.0

    def __post_init__(self) -> None:
        """Check that the options say in one way how much may be spent on a word.

        :raises BadParameter: if they say nothing, or say it twice.
        """
        given = [each for each in (self.epsilon, self.risk, self.max_unchanged) if each is not None]
        if len(given) > 1:
            problem = (
                "give one of --epsilon (per word), --risk (by what can be named) and --max-unchanged "
                "(per word, by calibration)"
            )
            raise typer.BadParameter(problem)
        if not given and self.record_epsilon is None:
            problem = (
                "give --risk (low, medium or high) or --epsilon (per word), or --record-epsilon (per "
                "record), or both"
            )
            raise typer.BadParameter(problem)


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """What becomes of the columns of a file."""

    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            help="A column of private text, or a path: visit.note, visits[].note. May be repeated.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column, or a path, that is left out of the output. May be repeated."
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column, or a path, that is released as it is. Columns that look like people, contacts, "
            "identifiers, dates of birth or "
            "free text are refused unless one of these three options names them. May be repeated.",
        ),
    ] = None
    keep_sheet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Another sheet of the workbook that is released as it is. May be repeated."
        ),
    ] = None

    def roles(self) -> Roles:
        """Return the roles of the columns.

        :raises InvalidParameter: if a column has two.
        """
        from deniable.records.formats.layout import Roles

        return Roles.of(text=self.column, drop=self.drop, keep=self.keep, keep_sheets=self.keep_sheet)


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """How text and cells stand in a file."""

    delimiter: Annotated[
        str | None, typer.Option(help="The character between the cells of CSV, such as ';' or tab.")
    ] = None
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Whether the first row holds the column names. Without a header, columns are numbered from "
            "1.",
        ),
    ] = True
    encoding: Annotated[str, typer.Option(help="The encoding of the input. The output is always UTF-8.")] = (
        "utf-8"
    )
    sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The sheet of a spreadsheet. By default, the first one."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file of records is read where its name does not say."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="text|csv|tsv|jsonl|json|parquet|xlsx|ods|folder",
            help="The file format, if the file name does not show it.",
        ),
    ] = None
    cells: CellOptions

    def reading(self) -> ReadingOptions:
        """Return the options by the names that functions which read records have for them."""
        cell = self.cells
        return {
            "format": self.format,
            "delimiter": cell.delimiter,
            "header": cell.header,
            "encoding": cell.encoding,
            "sheet": cell.sheet,
        }


class MechanismArguments(TypedDict):
    """Which mechanism over which embedding, or the name of one, as functions take it."""

    embedding: Embedding | str
    mechanism: ChosenMechanism


@dataclass(frozen=True, kw_only=True)
class MechanismOptions:
    """Which mechanism, over which embedding."""

    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default"
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism", "-m", metavar="NAME", help="How words are drawn; `deniable mechanisms` lists them."
        ),
    ] = "multivariate"
    mechanism_option: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanism-option",
            "-O",
            metavar="NAME=VALUE",
            help="An option of the mechanism, such as t=0.5. May be repeated.",
        ),
    ] = None

    def parse_options(self) -> dict[str, object]:
        """Return the options of the mechanism as values.

        :raises InvalidParameter: if there is no mechanism or no option of that name, or an option is missing
            or no such value.
        """
        from deniable.mechanisms.catalogue import parse_options

        return parse_options(self.mechanism, self.mechanism_option or (), parameter="--mechanism-option")

    def choose(self) -> ChosenMechanism:
        """Return the mechanism; nothing is loaded for it.

        :raises InvalidParameter: as ``parse_options`` does.
        """
        from deniable.mechanisms.catalogue import ChosenMechanism

        return ChosenMechanism(name=self.mechanism, options=self.parse_options())

    def arguments(self) -> MechanismArguments:
        """Return the name of the embedding and the mechanism, by the names that functions which open both
        have for them.

        :raises InvalidParameter: as ``parse_options`` does.
        """
        return {"embedding": self.embedding, "mechanism": self.choose()}

    def open(self) -> Embedding:
        """Return the embedding.

        :raises EmbeddingNotFound: if it is not installed.
        """
        from deniable.embeddings.embedding import Embedding

        return Embedding.open(self.embedding)


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions(MechanismOptions):
    """Which mechanism, over which embedding, without which words."""

    never_release: NeverReleased = None

    def read_listed(self) -> NeverRelease | None:
        """Return the words that never come out; None if no list is named.

        :raises InvalidParameter: if a list cannot be read.
        """
        if not self.never_release:
            return None
        from deniable.words.never_release import NeverRelease

        return NeverRelease.read(self.never_release)

    def open(self) -> Embedding:
        """Return the embedding without the words that never come out, and say how many of them it had.

        :raises EmbeddingNotFound: if it is not installed.
        :raises InvalidParameter: if a list cannot be read, or leaves no word.
        """
        listed = self.read_listed()
        return super().open() if listed is None else open_without(self.embedding, listed)

    def arguments(self) -> MechanismArguments:
        """Return the embedding without the words that never come out, and the mechanism.

        :raises InvalidParameter: as ``open`` and ``parse_options`` do.
        """
        return {"embedding": self.open(), "mechanism": self.choose()}


def open_without(name: str, listed: NeverRelease) -> Embedding:
    """Return the embedding without the listed words, and say on standard error how many of them it had.

    :raises EmbeddingNotFound: if it is not installed.
    :raises InvalidParameter: if no word is left.
    """
    from deniable.embeddings.derived import leave_out
    from deniable.embeddings.embedding import Embedding

    opened = leave_out(Embedding.open(name), listed)
    if opened.left_out is not None:
        print(f"deniable: never released: {opened.left_out.in_words()}", file=sys.stderr)
    return opened


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(VocabularyOptions):
    """How text is released: everything of a `Release` but the budget."""

    unknown: Annotated[
        str,
        typer.Option(
            metavar="perturb|subwords|redact|drop|error",
            help="What to do with words the embedding does not know.",
        ),
    ] = "perturb"
    punctuation: Annotated[
        str, typer.Option(metavar="drop|keep", help="Whether to release punctuation marks.")
    ] = "drop"
    case: Annotated[
        str, typer.Option(metavar="drop|keep", help="Whether to release which words were capitalised.")
    ] = "drop"
    keep_words: Annotated[
        Path | None,
        typer.Option(
            help="A public file of words, one per line, that are released as they are if the embedding knows "
            "them."
        ),
    ] = None
    key_file: KeyFile = None
    record_id: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --key-file: the column that identifies each record. Without it, a record is "
            "identified by its number in the file "
            "and the content of the whole file.",
        ),
    ] = None
    consistent_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --key-file: the column that identifies users. The same word of the same user always "
            "becomes the same word.",
        ),
    ] = None

    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Without a key: the column that says whose a record is. The receipt then adds up what each "
            "person spends. The column is "
            "dropped or kept like any other.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Check that the options of a keyed release go together.

        :raises BadParameter: if not.
        """
        if self.key_file is None and self.naming_column is not None:
            raise typer.BadParameter(
                "--record-id and --consistent-by need a --key-file; make one: deniable key new FILE"
            )
        if self.key_file is not None and self.person is not None:
            raise typer.BadParameter(
                "--person is for releases without a key; --consistent-by adds up what each user spends"
            )
        if self.record_id is not None and self.consistent_by is not None:
            raise typer.BadParameter("give one of --record-id and --consistent-by")

    @property
    def naming_column(self) -> str | None:
        """The column whose cells a keyed release names records by."""
        return self.consistent_by if self.record_id is None else self.record_id

    def resolve(self, budget: BudgetOptions, say: Callable[[str], None]) -> Release:
        """Return the release of the options, and say which ε a calibration gave if it was asked.

        :raises InvalidParameter: if an option is not allowed, or the file of words cannot be read.
        :raises TargetsNotMet: if no calibrated ε keeps to ``--max-unchanged``.
        """
        from deniable.release.release import resolve_release
        from deniable.words.public_text import read_word_list

        return resolve_release(
            **vars(budget),
            say=lambda message: say(f"deniable: {message}"),
            embedding=self.embedding,
            mechanism=self.mechanism,
            mechanism_options=self.parse_options() if self.mechanism_option else None,
            unknown=self.unknown,
            punctuation=self.punctuation,
            case=self.case,
            keep_words=frozenset()
            if self.keep_words is None
            else read_word_list(self.keep_words, name="keep_words"),
            never_release=self.read_listed(),
            key_file=self.key_file,
            consistent=self.consistent_by is not None,
        )


def warn_of_the_epsilon(private: Privatizer) -> None:
    """Say on standard error if most words would be released as they are, or hardly anything of them could be
    read.

    No option silences it: who asks for less to read does not ask for less privacy.
    """
    from deniable.measures.warning import warning_of

    if (warning := warning_of(private.mechanism, record_epsilon=private.record_epsilon)) is not None:
        print(f"deniable: warning: {warning}", file=sys.stderr)
