"""Whether what leaves beside the privatized texts was named by a person.

A file is judged by its first records: a column without a role that looks like people, contacts, identifiers,
dates of birth or free text is refused. So is a column that those records do not hold. A stream, and a folder
that nobody looks at, are not judged: there every column needs a role by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, RecordError, UndecidedColumns, printable
from deniable.progress import Report
from deniable.records.checking.fields import Unnamed, read_fields
from deniable.records.checking.profile import ColumnProfile, Columns
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, TO_SEE_THE_NAMES, Layout, meant_columns
from deniable.records.formats.paths import Leaf, is_inside, parse_path
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import FileSource, Source

JUDGED = 10_000
"""By how many records the columns of a file are judged."""

REFUSED = {
    "e-mail": "e-mail addresses",
    "phone": "phone numbers",
    "person": "names or ids of people",
    "identifier": "identifiers",
    "birth date": "dates of birth",
    "free text": "free text",
}
"""What a column may look like that is not released unless it is named."""

WARNED = {
    "short text": "short texts",
    "other": "something that is not looked into (bytes, times, maps, deep values)",
}
"""What a column may look like that is released with a warning."""

NO_NAME = "no name in the header"


def why_refused(column: ColumnProfile) -> str | None:
    """Return what a column looks like that must be named before it is released; None if it need not be."""
    if isinstance(column.path, Unnamed):
        return NO_NAME
    return None if column.counts_up else REFUSED.get(column.kind)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What the first records of a file hold in its columns without a role. ``complete`` says that there are
    no more records."""

    columns: list[ColumnProfile]
    named: frozenset[str]
    """The columns with a role that were found."""
    records: int
    complete: bool
    more_columns: bool
    """Whether there are more columns than are looked into."""
    error: RecordError | None = None
    """What is wrong with the record after those."""


def look_at(
    source: Source, layout: Layout, embedding: Embedding, *, most: int = JUDGED, report: Report | None = None
) -> Looked:
    """Look at the first ``most`` records of a file; ``report`` is told how far the reading is.

    A record that cannot be read ends the look.
    """
    columns, named, records, complete, error = Columns(embedding), set[str](), 0, True, None
    try:
        for fields in read_fields(source, layout, most=most + 1):
            if records == most:
                complete = False
                break
            records += 1
            for path, value in fields:
                if value is Leaf.NAMED:
                    named.add(path or "")
                else:
                    columns.add(path, value)
            if report is not None and source.size is not None:
                report(source.position(), source.size)
    except RecordError as raised:
        complete, error = False, raised
    return Looked(
        columns=columns.profiles(),
        named=frozenset(named),
        records=records,
        complete=complete,
        more_columns=columns.more,
        error=error,
    )


def decide(
    source: Source, layout: Layout, reader: Reader, embedding: Embedding, *, by_name: bool = False
) -> list[str]:
    """Let the reader of a source give out what was named, and what a look at the source finds harmless;
    return what to warn of.

    With ``by_name``, and where the source is a stream, every column needs a role.

    :raises UndecidedColumns: if a column is neither.
    :raises InvalidParameter: if a column that was named is not there.
    :raises RecordError: if a record cannot be read.
    """
    if layout.format == "text" or layout.format == FOLDER:
        return []
    if layout.format in SPREADSHEETS:
        _decide_sheets(source, layout)
    if by_name or not isinstance(source, FileSource):
        judged = " Here every column needs a role: records are not looked at before they are released."
        reader.let_pass((), judged)
        if layout.format in SPREADSHEETS:
            _decide_cells(source, layout, set(), judged)
        return []
    source = source.again()
    embedding = embedding if embedding.left_out is None else embedding.left_out.source
    looked = look_at(source, layout, embedding, most=JUDGED)
    as_json = layout.format in ("json", "jsonl")
    if (
        looked.error is not None and not looked.records and not as_json
    ):  # whose reader says it better, and before it releases anything
        raise looked.error
    judged = f" Judged by {'its' if looked.complete else 'the first'} {looked.records:,} records."
    _check_named(layout, looked, source.name)
    ragged = layout.format in ("csv", "tsv")  # more cells than the header has stop the release
    refused = {
        str(column.path): why
        for column in looked.columns
        if (why := why_refused(column)) and not (ragged and why == NO_NAME)
    }
    if not looked.complete and looked.error is None:
        refused |= {
            str(column.path): f"empty in the first {JUDGED:,} records"
            for column in looked.columns
            if column.kind == "empty"
        }
    if layout.format in SPREADSHEETS:
        refused |= _hidden(reader, looked)
    if refused:
        raise UndecidedColumns(source.name, refused, judged=judged)
    if not looked.complete or looked.more_columns:
        passing = {str(column.path) for column in looked.columns if column.kind != "empty" or looked.complete}
        reader.let_pass(passing, judged)
        if layout.format in SPREADSHEETS:
            _decide_cells(source, layout, passing, judged)
    return _warnings(looked) if looked.error is None else []


def _warnings(looked: Looked) -> list[str]:
    seen = [
        f"{printable(column.path) or '(no name)'} ({WARNED[column.kind]})"
        for column in looked.columns
        if column.kind in WARNED
    ]
    said = (
        [f"released as it is, and not named: {', '.join(seen)}; --drop leaves a column out"] if seen else []
    )
    if looked.columns and not looked.complete:
        said.append(f"columns without a role were judged by the first {looked.records:,} records")
    return said


def _check_named(layout: Layout, looked: Looked, source: str) -> None:
    """Check that columns which are kept or left out are there: with a slip in its name, another column would
    be released.

    :raises InvalidParameter: if one is not.
    """
    if layout.format in SPREADSHEETS or not looked.records:
        return
    others, roles = {str(column.path) for column in looked.columns}, layout.roles
    if layout.format in ("json", "jsonl") and looked.complete:
        for name in roles.text:
            if (
                name not in looked.named
                and not name.endswith("[]")
                and not any(is_inside(name, other) for other in roles.named)
            ):
                from deniable.records.formats.jsonlines import unseen

                keys = {parse_path(path).steps[:1] or (path,) for path in others}
                raise unseen(name, {str(key) for (key,) in keys}, looked.records, source)
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        for name in names:
            if name in looked.named or any(is_inside(name, other) for other in roles.named):
                continue
            meant = meant_columns([name], others)
            if looked.complete or meant:
                raise InvalidParameter(
                    role, name, f"{printable(source)} has no such column; {meant or TO_SEE_THE_NAMES}"
                )


def _decide_sheets(source: Source, layout: Layout) -> None:
    """Check that the other sheets of a workbook are named.

    :raises UndecidedColumns: if one is not.
    :raises InvalidParameter: if one was named that is not there.
    """
    others = other_sheets(source, layout)
    for name in layout.roles.keep_sheets:
        if name not in others:
            raise InvalidParameter(
                "keep_sheets", name, f"{printable(source.name)} has no other sheet of that name"
            )
    if undecided := [name for name in others if name not in layout.roles.keep_sheets]:
        advice = " A sheet is kept by --keep-sheet; to leave it out, delete it from a copy of the file."
        raise UndecidedColumns(
            source.name, {f"the sheet {name}": "another sheet" for name in undecided}, judged=advice
        )


def other_sheets(source: Source, layout: Layout) -> list[str]:
    """Return the names of the sheets of a workbook that are not the one to release; of other files none.

    :raises InvalidParameter: if there is no such sheet.
    :raises RecordError: if the file is no workbook.
    """
    if layout.format not in SPREADSHEETS or not isinstance(source, FileSource):
        return []
    from deniable.records.formats.spreadsheets.workbook import Workbook

    return [each.name for each in Workbook(source, layout.sheet).others]


def _hidden(reader: Reader, looked: Looked) -> dict[str, str]:
    """Return the columns without a role that hold what nobody sees who opens the workbook."""
    from deniable.records.formats.spreadsheets.reader import SpreadsheetReader

    if not isinstance(reader, SpreadsheetReader):
        return {}
    hidden, columns = reader.hidden_titles(), [str(column.path) for column in looked.columns]
    return {
        name: "hidden" if name in hidden else "has hidden rows"
        for name in columns
        if name in hidden or reader.sheet.hidden_rows
    }


def _decide_cells(source: Source, layout: Layout, passing: set[str], judged: str) -> None:
    """Look through all rows of a sheet for cells of a column that has no role and is not among these.

    :raises UndecidedColumns: if there are any.
    """
    found: dict[str, str] = {}
    for fields in read_fields(source, layout, most=None):
        for path, value in fields:
            if value is not None and value is not Leaf.NAMED and str(path) not in passing:
                found[str(path)] = NO_NAME if isinstance(path, Unnamed) else "no role"
    if found:
        raise UndecidedColumns(source.name, found, judged=judged)
