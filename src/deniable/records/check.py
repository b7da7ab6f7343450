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
from deniable.records.deciding import JUDGED, WARNED, look_at, refused_columns, unknown_in, why_refused
from deniable.records.formats.columns import WHOLE_LINE, Unnamed, likely_delimiter
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, Layout, released_name
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.reader import Reader
from deniable.records.profile import MOST_COLUMNS, ColumnProfile
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
    undecided: dict[str, str]
    """The columns that a release refuses unless they are named, and why."""
    sheets: list[str]
    """The other sheets of a workbook."""

    @property
    def look_first(self) -> bool:
        """Whether something should be looked at before the file is released."""
        return any(finding.level == "look" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data; it is private, as the file is."""
        columns = [column.to_dict() for column in self.columns]
        findings = [asdict(finding) for finding in self.findings]
        return {**vars(self), "columns": columns, "findings": findings, "look_first": self.look_first}


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

    ``options`` are those that the file is read with, for the suggested command. ``report`` receives how far
    the reading is.

    :raises RecordError: if the file cannot be read.
    :raises InvalidParameter: if it has no such sheet, or ``most`` is no number of records.
    :raises OSError: if it cannot be opened.
    """
    most = validated_count(most, "records")
    with open_source(path) as source:
        reader = open_reader(source, layout, looks=True)
        look = look_at(reader, embedding, most=most, report=report)
    if look.error is not None:
        raise look.error
    named = [column for column in look.columns if not isinstance(column.path, Unnamed)]
    free = [column.path for column in named if column.kind == "free text" or column.path is WHOLE_LINE]
    private = [path for path in free if path is not None]
    others = [f"the sheet {printable(name)}" for name in reader.others]
    others += ["the file's own metadata"] if reader.has_notes(private) else []
    others += [f"every column after the first {MOST_COLUMNS:,}"] if look.more_columns else []
    dropped, kept = list[str](), list[str]()
    for column in look.columns:
        if column.path is not None and column.path not in free:
            drops = why_refused(column) and not isinstance(column.path, Unnamed)
            (dropped if drops else kept).append(column.path)
    misread = _misread(reader, [column.path for column in named], unnamed=len(look.columns) - len(named))
    findings = [Finding(level="look", says=misread)] if misread else []
    command = ""
    if not misread:
        findings = _findings(look.columns, free, embedding, others)
        # The built-in list is of names in Latin letters.
        names = any(column.script == "Latin" for column in look.columns if column.path in free)
        command = _command(path, layout, private, dropped, options, names=names) if look.records else ""
    return FileCheck(
        file=str(path),
        format=layout.format,
        embedding=embedding.name,
        records=look.records,
        complete=look.complete,
        columns=look.columns,
        findings=findings,
        private=free,
        dropped=dropped,
        public=[*kept, *others],
        command=command,
        undecided=refused_columns(reader, look),
        sheets=list(reader.others),
    )


def _misread(reader: Reader, header: list[str | None], *, unnamed: int) -> str | None:
    """Return why the columns are likely not those of the file: another delimiter, or a first row that is no
    header."""
    names, layout = [name for name in header if name is not None], reader.layout
    if layout.format in ("csv", "tsv") and layout.header:
        option = likely_delimiter(names, layout.delimiter)
        if option is not None:
            start = "the first row looks as if the delimiter were another one"
            return f"{start}: check again with --delimiter {option}"
    if not unnamed or layout.format in SPREADSHEETS:
        return None
    return (
        f"rows have up to {unnamed:,} more cells than the first row: a release stops there. Is the "
        "header another row, or a quote missing?"
    )


def _command(
    path: Path,
    layout: Layout,
    private: list[str],
    dropped: list[str],
    options: tuple[str, ...],
    *,
    names: bool,
) -> str:
    if not private and layout.format not in ("text", FOLDER):
        return ""
    roles = [part for name in private for part in ("--column", name)]
    roles += [part for name in dropped for part in ("--drop", name)]
    never = ["--never-release", "names"] if names else []
    file = f"./{path}" if str(path).startswith("-") else str(path)  # it would be read as an option
    target = f"private-{released_name(path.resolve().name)}"
    ends = ["--epsilon", f"{STARTING_EPSILON:g}", "--output", target]
    return shlex.join(["deniable", "privatize", file, *options, *roles, *never, *ends])


def _findings(
    columns: list[ColumnProfile], free: list[str | None], embedding: Embedding, others: list[str]
) -> list[Finding]:
    looks, notes = list[str](), list[str]()
    if not columns:
        looks.append("no record was found in it")
    elif not free and any(column.kind == "free text" for column in columns):
        problem = "the columns that look like free text have no name: the header is another row"
        looks.append(f"{problem}; take out the rows above it")
    elif not free:
        looks.append("no column looks like free text: if one is, name it with --column")
    for column in columns:
        called, why = _called(column), why_refused(column)
        if column.path in free:
            if unknown := unknown_in(column, f"in {called}", embedding):
                looks.append(unknown)
            if column.other_languages:
                shares = [f"{percent(share)} {name}" for name, share in column.other_languages.items()]
                mixed = f"not all texts in {called} are {column.language}: about {', '.join(shares)}"
                looks.append(f"{mixed}; see the guide on other languages")
            spent = f"at ε = {STARTING_EPSILON:g} per word it spends {STARTING_EPSILON * column.longest:g}"
            notes.append(f"the longest text in {called} has {column.longest:,} words: {spent}")
        elif isinstance(column.path, Unnamed):
            how = "name it there, or take out rows above the header"
            looks.append(f"{column.path} has no name in the header, which stops a release; {how}")
        elif why is not None:
            how = "--keep would release it unchanged, --column would replace its words"
            looks.append(f"{called} looks like {why}: the command drops it; {how}")
        elif column.kind in WARNED:
            how = "and would be released unchanged; drop it with --drop"
            looks.append(f"{called} holds {WARNED[column.kind]}, {how}")
        if column.kind == "person" and column.most_repeated > 1:
            option = f"--consistent-by {shlex.quote(column.path or '')}"
            notes.append(
                f"one value of {called} occurs in {column.most_repeated:,} records: the budgets of a person "
                f"add up; with a key, {option} replaces equal words of a person by the same word"
            )
    if nested := sum(column.nested and column.path in free for column in columns):
        how = "only texts that are named by their path are replaced"
        notes.append(f"{nested} of the free texts are inside objects or lists: {how}")
    for other in others:
        how = "would be released unchanged; check it too"
        if other.startswith("the sheet "):
            how = "stops a release: check it with --sheet, then name it with --keep-sheet or --drop-sheet"
        looks.append(f"{other} {how}")
    return [
        *(Finding(level="look", says=each) for each in looks),
        *(Finding(level="note", says=each) for each in notes),
    ]


def _called(column: ColumnProfile) -> str:
    if column.path is None:
        return "the text"
    return f"the column {printable(column.path)}" if column.path else "the column without a name"
