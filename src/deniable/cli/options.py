"""Options: a command is a plain function with types, and its docstring says what its options are for.

    def explain(word: list[str], *, epsilon: float, top: int = 10) -> None:
        Show what WORD may become at this ε.

        :param word: The words to explain.
        :param top -n COUNT: How many words to show.

Parameters before ``*`` are arguments, all others are options. After the name of a parameter stand its flags,
if they are not the usual ones, and how help shows its value. What is not described is described by the table
of the fields of a ``Release``. Options that several commands share stand in groups: a group is a frozen
dataclass with a docstring of the same form, and a command that asks for one gets its values as one object.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from deniable.cli.terminal import say, warn
from deniable.release.fields import FIELDS

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.catalogue import ChosenMechanism
    from deniable.records.formats.layout import ReadingOptions, Roles
    from deniable.release.privatizer import Privatizer
    from deniable.release.release import Release
    from deniable.words.never_release import NeverRelease

Described = tuple[list[str], str | None, str | None]
"""The flags of an option, how help shows its value, and what it is for."""

_PARAMETER = re.compile(r"\n+:param (?=\w)")
_SECTIONS = {
    "RoleOptions": "Input",
    "FileOptions": "Input",
    "CellOptions": "Input",
    "BudgetOptions": "Privacy",
    "MechanismOptions": "Privacy",
    "OutputOptions": "Output",
    "WorkOptions": "Performance",
}
"""Under which title help shows the options of a group."""


class Sectioned(TyperCommand):
    """A command whose help shows its options in sections."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the sections, then what belongs to none."""
        sections: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Arguments", *dict.fromkeys(_SECTIONS.values()), "Options")
        }
        for parameter in self.get_params(ctx):
            if (shown := parameter.get_help_record(ctx)) is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[getattr(parameter, "rich_help_panel", None) or kind].append(shown)
        for title, options in sections.items():
            if options:
                with formatter.section(title):
                    formatter.write_dl(options)


def number(text: str) -> float:
    """Return the number that was written; refuse anything else, a decimal comma by its name."""
    try:
        return float(text)
    except ValueError:
        comma = re.fullmatch(r"[+-]?\d+,\d+", text.strip())
        advice = f"; write {text.replace(',', '.')}" if comma else ", such as 6 or 0.5"
        raise typer.BadParameter(f"{text!r} is not a number{advice}") from None


def use_device(device: str) -> str:
    """Let this process draw and search on a device."""
    if device != "cpu":
        from deniable.gpu.devices import usable_device
        from deniable.neighbours import set_device

        set_device(str(usable_device(device)))
    return device


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as Typer takes it: with options made of its types and its docstring, and those of a
    group in the place of each parameter that is one.

    :raises ValueError: if two options have the same name.
    """
    doc, described = _read_docstring(command)
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    given = inspect.signature(command).parameters
    parameters: list[inspect.Parameter] = []
    for name, parameter in given.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            kind = typer.Argument if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else typer.Option
            parameters.append(_parameter(name, hints[name], parameter.default, described.get(name), kind))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        single = {name: values[name] for name in values.keys() & (given.keys() - groups.keys())}
        command(**single, **{name: _build(group, values) for name, group in groups.items()})

    run.__doc__ = doc
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _read_docstring(documented: Any) -> tuple[str, dict[str, Described]]:
    """Return what a docstring says before its parameters, and what it says of each of them."""
    text, *entries = _PARAMETER.split(inspect.cleandoc(documented.__doc__ or ""))
    described: dict[str, Described] = {}
    for entry in entries:
        head, about = re.split(r":\s", entry, maxsplit=1)
        name, *more = head.split()
        flags = [word for word in more if word.startswith("-")]
        shown = [word for word in more if not word.startswith("-")]
        described[name] = flags, (shown[0] if shown else None), " ".join(about.split())
    return text, described


def _parameter(
    name: str,
    hint: Any,
    default: Any,
    described: Described | None,
    kind: Callable[..., Any],
    section: str | None = None,
) -> inspect.Parameter:
    if get_origin(hint) is not Annotated:
        field = FIELDS.get(name)
        if described is None and field is not None:
            described = list(field.flags), field.metavar, field.help
        flags, metavar, about = described or SHARED.get(name, ([], None, None))
        types = (hint, *get_args(hint), *(part for each in get_args(hint) for part in get_args(each)))
        more: dict[str, Any] = {"parser": number, "metavar": "NUMBER"} if float in types else {}
        if metavar is not None:
            more["metavar"] = metavar
        if section is not None:
            more["rich_help_panel"] = section
        if name == "device":
            more["callback"] = use_device
        long = f"--{name.replace('_', '-')}"
        if kind is typer.Option and not any(flag.startswith("--") for flag in flags):
            # Typer adds the way to switch it off to a flag that is named by nobody.
            flags = [f"{long}/--no-{long[2:]}" if default is True else long, *flags]
        hint = Annotated[hint, kind(*flags, help=about, **more)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=hint)


def _options_of(group: Any) -> list[inspect.Parameter]:
    section = next((title for each in group.__mro__ if (title := _SECTIONS.get(each.__name__))), None)
    hints = get_type_hints(group, include_extras=True)
    described: dict[str, Described] = {}
    for each in reversed(group.__mro__[:-1]):
        described |= _read_docstring(each)[1]
    options: list[inspect.Parameter] = []
    for field in fields(group):
        hint = hints[field.name]
        if is_dataclass(hint):
            options += _options_of(hint)
            continue
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        about = described.get(field.name)
        options.append(_parameter(field.name, hint, default, about, typer.Option, section))
    return options


def _build(group: Any, given: Mapping[str, Any]) -> Any:
    hints = get_type_hints(group).items()
    return group(**{name: _build(hint, given) if is_dataclass(hint) else given[name] for name, hint in hints})


def _shared() -> None:
    """Options that many commands have.

    :param threads: How many threads search for the nearest word. By default, as many as this process may use
        processors.
    :param workers: How many processes share the work. Each uses one thread, unless --threads says more.
    :param device: Where noise is drawn and words are searched for: cpu, or cuda for an NVIDIA GPU.
    :param report: Where to write the result as a page for people (HTML).
    :param as_json --json: Print JSON for machines.
    :param quiet -q: Do not show progress.
    :param force: Replace what is there.
    """


SHARED = _read_docstring(_shared)[1]
Epsilons = Annotated[
    list[float] | None,
    typer.Option("--epsilon", "-e", help="A value of ε. May be repeated.", parser=number, metavar="NUMBER"),
]
DataFile = Annotated[
    Path,
    typer.Argument(help="CSV, TSV, JSON, JSON Lines, Parquet or a spreadsheet with one text per record."),
]


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """What of this machine is used."""

    threads: int | None = None
    workers: int = 1
    device: str = "cpu"

    def prepare(self) -> None:
        """Set the number of threads; refuse several processes on one GPU."""
        from deniable.neighbours.threads import set_threads

        if self.workers != 1 and self.device != "cpu":
            raise typer.BadParameter("give one of --workers and --device: a GPU serves one process")
        set_threads(self.threads)


def changed(*groups: Any) -> list[str]:
    """Return the options of groups that are not as they are by default, as they are typed."""
    given = [each for group in groups for each in fields(group) if getattr(group, each.name) != each.default]
    return [f"--{'no-' if each.default is True else ''}{each.name.replace('_', '-')}" for each in given]


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """How much may be spent: on a word, on a record, or on both.

    :param max_unchanged: Choose ε by the stored calibration instead of --epsilon: at most this share of
        draws may return the word unchanged.
    :param quantile: With --max-unchanged: the share of words for which this must hold; 1 means every word,
        even the most isolated.
    """

    epsilon: float | None = None
    record_epsilon: float | None = None
    risk: str | None = None
    max_unchanged: float | None = None
    quantile: float = 1.0


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """What becomes of the columns of a file.

    :param column -c: A column of private text, or a path: visit.note, visits[].note. May be repeated.
    :param drop COLUMN: A column, or a path, that is left out of the output. May be repeated.
    :param keep COLUMN: A column, or a path, that is released as it is. Columns that look like people,
        contacts, identifiers, dates of birth or free text are refused unless one of these three options
        names them. May be repeated.
    :param keep_sheet NAME: Another sheet of the workbook that is released as it is. May be repeated.
    :param drop_sheet NAME: Another sheet of the workbook that is left out. May be repeated.
    """

    column: list[str] | None = None
    drop: list[str] | None = None
    keep: list[str] | None = None
    keep_sheet: list[str] | None = None
    drop_sheet: list[str] | None = None

    def roles(self) -> Roles:
        """Return the roles of the columns."""
        from deniable.records.formats.layout import Roles

        sheets = {"keep_sheets": self.keep_sheet, "drop_sheets": self.drop_sheet}
        return Roles.of(text=self.column, drop=self.drop, keep=self.keep, **sheets)


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """How text and cells stand in a file.

    :param delimiter: The character between the cells of CSV, such as ';' or tab.
    :param header: Whether the first row holds the column names. Without a header, columns are numbered from
        1.
    :param encoding: The encoding of the input. The output is always UTF-8.
    :param sheet NAME: The sheet of a spreadsheet. By default, the first one.
    """

    delimiter: str | None = None
    header: bool = True
    encoding: str = "utf-8"
    sheet: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file of records is read where its name does not say.

    :param format text|csv|tsv|jsonl|json|parquet|xlsx|ods|folder: The file format, if the file name does
        not show it.
    """

    format: str | None = None
    cells: CellOptions

    def reading(self) -> ReadingOptions:
        """Return the options by the names that functions which read records have for them."""
        return {"format": self.format, **vars(self.cells)}  # type: ignore[typeddict-item]


@dataclass(frozen=True, kw_only=True)
class MechanismOptions:
    """Which mechanism, over which embedding."""

    embedding: str = "default"
    purpose: str | None = None
    mechanism: str = "multivariate"
    mechanism_options: list[str] | None = None

    @property
    def space(self) -> str:
        """The name of the embedding: the one that is named, or the built-in one of a purpose."""
        if self.purpose is None:
            return self.embedding
        from deniable.embeddings.places import space_of

        return space_of(self.purpose, self.embedding)

    def parse_options(self) -> dict[str, object]:
        """Return the options of the mechanism as values."""
        from deniable.mechanisms.catalogue import parse_options

        return parse_options(self.mechanism, self.mechanism_options or (), parameter="--mechanism-option")

    def choose(self) -> ChosenMechanism:
        """Return the mechanism; nothing is loaded for it."""
        from deniable.mechanisms.catalogue import ChosenMechanism

        return ChosenMechanism(name=self.mechanism, options=self.parse_options())

    def open(self) -> Embedding:
        """Return the embedding."""
        return open_without(self.space, None)

    def arguments(self) -> dict[str, Any]:
        """Return the embedding and the mechanism, by the names that functions which take both have for
        them."""
        return {"embedding": self.space, "mechanism": self.choose()}


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions(MechanismOptions):
    """Which mechanism, over which embedding, without which words."""

    never_release: list[str] | None = None

    def read_listed(self) -> NeverRelease | None:
        """Return the words that never come out; None if no list is named."""
        from deniable.words.never_release import NeverRelease

        return NeverRelease.read(self.never_release) if self.never_release else None

    def open(self) -> Embedding:
        """Return the embedding without the words that never come out, and say how many of them it had."""
        return open_without(self.space, self.read_listed())

    def arguments(self) -> dict[str, Any]:
        """Return the embedding without the words that never come out, and the mechanism."""
        return {"embedding": self.open(), "mechanism": self.choose()}


def open_without(name: str, listed: NeverRelease | None) -> Embedding:
    """Return the embedding without the listed words, and say on standard error how many of them it had."""
    from deniable.embeddings.derived import leave_out
    from deniable.embeddings.embedding import Embedding

    opened = Embedding.open(name)
    if listed is not None:
        opened = leave_out(opened, listed)
    if opened.left_out is not None:
        say(f"deniable: never released: {opened.left_out.in_words()}")
    return opened


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(VocabularyOptions):
    """How text is released: everything of a `Release` but the budget.

    :param record_id COLUMN: With --key-file: the column that identifies each record. Without it, a record
        is identified by its number in the file and the content of the whole file.
    :param consistent_by COLUMN: With --key-file: the column that identifies users. The same word of the
        same user always becomes the same word.
    :param person COLUMN: Without a key: the column that says whose a record is. The receipt then adds up
        what each person spends. The column is dropped or kept like any other.
    """

    unknown: str = "perturb"
    punctuation: str = "drop"
    case: str = "drop"
    keep_words: Path | None = None
    key_file: Path | None = None
    record_id: str | None = None
    consistent_by: str | None = None
    person: str | None = None

    @property
    def naming_column(self) -> str | None:
        """The column whose cells a keyed release names records by."""
        if self.record_id is not None and self.consistent_by is not None:
            raise typer.BadParameter("give one of --record-id and --consistent-by")
        return self.consistent_by if self.record_id is None else self.record_id

    def resolve(self, budget: BudgetOptions, notify: Callable[[str], None]) -> Release:
        """Return the release of the options, and ``notify`` which ε a calibration gave if it was asked."""
        from deniable.release.release import resolve_release
        from deniable.words.public_text import read_word_list

        own = {name: value for name, value in vars(self).items() if name in FIELDS}
        own["mechanism_options"] = self.parse_options() if self.mechanism_options else None
        own["keep_words"] = read_word_list(self.keep_words, name="keep_words") if self.keep_words else ()
        own["never_release"] = self.read_listed()
        own["consistent"] = self.consistent_by is not None
        return resolve_release(**own, **vars(budget), say=lambda message: notify(f"deniable: {message}"))


def warn_of_the_epsilon(private: Privatizer) -> None:
    """Warn if most words would be released as they are, or hardly anything of them could be read; no option
    silences this."""
    from deniable.measures.risk import warning_of

    if (warning := warning_of(private.mechanism, record_epsilon=private.record_epsilon)) is not None:
        warn(warning)
