"""A file before its release: what its columns are, what to look at first, and the command that would release
it."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from deniable.embeddings.embedding import Embedding
from deniable.errors import printable
from deniable.parameters import STARTING_EPSILON, validated_count
from deniable.progress import Report
from deniable.records.checking.deciding import JUDGED, WARNED, look_at, other_sheets, why_refused
from deniable.records.checking.fields import WHOLE_LINE, Unnamed
from deniable.records.checking.profile import MOST_COLUMNS, ColumnProfile
from deniable.records.checking.unknown import MANY, say_unknown, scripts_of_embedding
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, Layout, likely_delimiter, released_name
from deniable.records.formats.opening import open_source
from deniable.records.formats.paths import parse_path
from deniable.records.formats.source import FileSource, Source
from deniable.report.wording import percent


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One sentence about a file: a note, or something to look at before the release."""

    level: Literal["note", "look"]
    says: str


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """What was found in a file. ``complete`` says whether all of its records were looked at."""

    file: str
    format: str
    embedding: str
    records: int
    """How many records were looked at."""
    complete: bool
    columns: list[ColumnProfile]
    findings: list[Finding]
    private: list[str | None]
    """The columns that the command would release in other words; None for the text of a file that has
    none."""
    dropped: list[str]
    """The columns that it would leave out."""
    public: list[str]
    """What it would release as it is."""
    command: str

    @property
    def look_first(self) -> bool:
        """Whether something should be looked at before the file is released."""
        return any(finding.level == "look" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data; it is private, as the file is."""
        return {**asdict(self), "look_first": self.look_first}


def check_file(
    path: Path,
    layout: Layout,
    embedding: Embedding,
    *,
    options: tuple[str, ...] = (),
    most: int = JUDGED,
    report: Report | None = None,
) -> FileCheck:
    """Look at the first ``most`` records of a file, and judge what a release of it would do.

    ``options`` are those that the file is read with, for the suggested command. ``report`` is told how far
    the reading is.

    :raises RecordError: if the file cannot be read.
    :raises InvalidParameter: if it has no such sheet, or ``most`` is no number of records.
    :raises OSError: if it cannot be opened.
    """
    most = validated_count(most, "records")
    with open_source(path) as source:
        looked = look_at(source, layout, embedding, most=most, report=report)
        if looked.error is not None:
            raise looked.error
        profiles = looked.columns
        named = [column for column in profiles if not isinstance(column.path, Unnamed)]
        free = [column.path for column in named if column.kind == "free text" or column.path is WHOLE_LINE]
        others = [f"the sheet {printable(name)}" for name in other_sheets(source, layout)]
        others += ["the file's own metadata"] if _has_metadata(source, layout, free) else []
    others += [f"every column after the first {MOST_COLUMNS:,}"] if looked.more_columns else []
    misread = _misread(layout, [column.path for column in named], unnamed=len(profiles) - len(named))
    dropped = [
        column.path
        for column in named
        if column.path is not None and column.path not in free and why_refused(column)
    ]
    kept = [
        column.path for column in profiles if column.path is not None and column.path not in (*free, *dropped)
    ]
    return FileCheck(
        file=str(path),
        format=layout.format,
        embedding=embedding.name,
        records=looked.records,
        complete=looked.complete,
        columns=profiles,
        findings=[Finding(level="look", says=misread)]
        if misread
        else _findings(profiles, free, embedding, others),
        private=free,
        dropped=dropped,
        public=[*kept, *others],
        command=""
        if misread or not looked.records
        else _command(
            path,
            layout,
            free,
            dropped,
            options,
            names=any(column.script == "Latin" for column in profiles if column.path in free),
        ),
    )


def _misread(layout: Layout, header: list[str | None], *, unnamed: int) -> str | None:
    """Return why the columns are likely not those of the file: another delimiter, or a first row that is no
    header."""
    names = [name for name in header if name is not None]
    if (
        layout.format in ("csv", "tsv")
        and layout.header
        and (option := likely_delimiter(names, layout.delimiter))
    ):
        return (
            "the first row looks as if another mark stood between its cells: look again with "
            f"--delimiter {option}"
        )
    if not unnamed or layout.format in SPREADSHEETS:
        return None
    return (
        f"rows have up to {unnamed:,} more cells than the first row: a release stops there. Is the "
        "header another row, or a quote missing?"
    )


def _has_metadata(source: Source, layout: Layout, free: list[str | None]) -> bool:
    """Return whether a Parquet file carries notes of its own, which a release copies."""
    if layout.format != "parquet" or not isinstance(source, FileSource):
        return False
    from deniable.records.formats.parquet_files.reader import has_own_metadata
    from deniable.records.formats.parquet_files.rows import ParquetRows

    schema = ParquetRows(source).schema
    private = {name for name in free if name is not None} | {
        parse_path(name).steps[:1] for name in free if name is not None
    }
    return has_own_metadata(
        schema, [place for place, name in enumerate(schema.names) if name in private or (name,) in private]
    )


def _command(
    path: Path,
    layout: Layout,
    free: list[str | None],
    dropped: list[str],
    options: tuple[str, ...],
    *,
    names: bool,
) -> str:
    named = [part for name in free if name is not None for part in ("--column", name)]
    named += [part for name in dropped for part in ("--drop", name)]
    target = f"private-{released_name(path.resolve().name)}"
    never = ["--never-release", "names"] if names else []  # the built-in list is of names in Latin letters
    named_file = f"./{path}" if str(path).startswith("-") else str(path)  # it would be read as an option
    said = [
        "deniable",
        "privatize",
        named_file,
        *options,
        *named,
        *never,
        "--epsilon",
        f"{STARTING_EPSILON:g}",
        "--output",
        target,
    ]
    return shlex.join(said) if free or layout.format in ("text", FOLDER) else ""


def _findings(
    columns: list[ColumnProfile], free: list[str | None], embedding: Embedding, others: list[str]
) -> list[Finding]:
    found: list[Finding] = []

    def look(says: str) -> None:
        found.append(Finding(level="look", says=says))

    def note(says: str) -> None:
        found.append(Finding(level="note", says=says))

    if not columns:
        look("no record was found in it")
    elif not free and any(column.kind == "free text" for column in columns):
        look(
            "the columns that look like free text have no name: the header is another row; take out the rows "
            "above it"
        )
    elif not free:
        look("no column looks like free text: if one is, name it with --column")
    scripts = scripts_of_embedding(embedding)
    for column in columns:
        where = f"in {_called(column)}"
        if column.path in free:
            if column.unknown > MANY:
                script = column.script if column.script not in scripts else None
                look(say_unknown(column.unknown, where, embedding, script))
            if column.other_languages:
                listed = ", ".join(
                    f"{percent(share)} {language}" for language, share in column.other_languages.items()
                )
                look(
                    f"not all texts {where} are {column.language}: about {listed}; see the guide on other "
                    "languages"
                )
            spent = STARTING_EPSILON * column.longest
            note(
                f"the longest text {where} has {column.longest:,} words: ε = {STARTING_EPSILON:g} a word "
                f"adds up to {spent:g} there"
            )
        elif isinstance(column.path, Unnamed):
            look(
                f"{column.path} has no name in the header, which stops a release; name it there, or take out "
                "rows above the header"
            )
        elif (why := why_refused(column)) is not None:
            look(
                f"{_called(column)} looks like {why}: the command leaves it out; --keep releases it as it "
                "is, --column in other words"
            )
        elif column.kind in WARNED:
            look(
                f"{_called(column)} holds {WARNED[column.kind]}, and would be released as it is; leave it "
                "out with --drop"
            )
        if column.kind == "person" and column.most_repeated > 1:
            how = (
                f"with a key, --consistent-by {shlex.quote(column.path or '')} releases a word of a "
                "person as the same word everywhere"
            )
            note(
                f"one value of {_called(column)} stands in {column.most_repeated:,} records: what is spent "
                f"on a person adds up; {how}"
            )
    nested = [column for column in columns if column.nested and column.path in free]
    if nested:
        note(
            f"{len(nested)} of the free texts stand inside objects or lists: only what is named by its path "
            "is released in other words"
        )
    for other in others:
        if other.startswith("the sheet "):
            look(
                f"{other} stops a release: look into it with --sheet, then keep it with --keep-sheet or "
                "delete it from a copy"
            )
        else:
            look(f"{other} would be released as it is; look into it too")
    return found


def _called(column: ColumnProfile) -> str:
    if column.path is None:
        return "the text"
    return f"the column {printable(column.path)}" if column.path else "the column without a name"
