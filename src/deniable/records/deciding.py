"""Whether what leaves beside the privatized texts was named by a person.

A file is judged by its first records: a column without a role that looks like people, contacts, identifiers,
dates of birth or free text is refused. So is a column that those records do not hold. A stream, and a folder
that nobody looks at, are not judged: there every column needs a role by name.

The same look finds private texts of which many words are unknown to the embedding. What is said of them is
for the owner of the file alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, RecordError, UndecidedColumns, printable
from deniable.progress import Report
from deniable.records.describing import check_budget
from deniable.records.formats.columns import (
    TO_SEE_THE_NAMES,
    WHOLE_LINE,
    Leaf,
    Unnamed,
    column_of,
    fields_of,
    is_inside,
    meant_columns,
)
from deniable.records.formats.layout import FOLDER, SPREADSHEETS, Layout
from deniable.records.formats.lines import LONGEST_RECORD
from deniable.records.formats.opening import naming_for, open_reader
from deniable.records.formats.reader import NO_NAME, Reader, Row
from deniable.records.formats.source import Source
from deniable.records.languages import scripts_of
from deniable.records.profile import ColumnProfile, Columns, Kind
from deniable.release.privatizer import Privatizer
from deniable.report.wording import percent

JUDGED = 10_000
"""By how many records the columns of a file are judged."""

MANY_UNKNOWN = 0.2
"""The share of unknown words from which on a release warns."""

_JUDGED_FOR_UNKNOWN, _FEWEST_UNKNOWN = 500, 5
_WORDS_OF_AN_EMBEDDING, _LEAST_SHARE = 20_000, 0.05
_ROW = 128
"""About what a row that is held takes, however short it is."""

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


def why_refused(column: ColumnProfile) -> str | None:
    """Return what a column looks like that must be named before it is released; None if it need not be."""
    if isinstance(column.path, Unnamed):
        return NO_NAME
    if column.called_like_a_person:
        return "a person, by its name"
    return None if column.counts_up else REFUSED.get(column.kind)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What the first records of a file hold. ``complete`` says that there are no more records."""

    columns: list[ColumnProfile]
    """Those without a role."""
    private: list[ColumnProfile]
    """The texts to be released, by the very first records."""
    named: set[str]
    """The columns with a role that are there."""
    records: int
    complete: bool
    more_columns: bool
    """Whether there are more columns than are looked into."""
    error: RecordError | None
    """What is wrong with the record after those."""
    rows: list[Row] | None = field(repr=False)
    """What was read, to be released without being read again; None if it is too much to be held."""
    left: Iterator[Row] = field(repr=False)


def look_at(reader: Reader, embedding: Embedding, *, most: int, report: Report | None = None) -> Look:
    """Look at the first ``most`` records; ``report`` receives how far the reading is.

    A record that cannot be read ends the look.
    """
    columns, private = Columns(embedding), Columns(embedding)
    named, rows, left = set[str](), list[Row](), reader.rows_left()
    records, weight, complete, error = 0, 0, True, None
    try:
        for row in left:
            if records == most:
                complete = False
                rows.append(row)
                break
            records += row.fields != ()  # an empty line of JSON is no record
            for path, value in row.fields:
                if value is Leaf.NAMED:
                    named.add(path or "")
                else:
                    columns.add(path, value)
            if records <= _JUDGED_FOR_UNKNOWN:
                for place, text in zip(row.places or (), row.texts, strict=False):
                    private.add(column_of(place) if reader.layout.roles.text else WHOLE_LINE, text)
            weight += row.weight + _ROW
            if weight <= LONGEST_RECORD and not reader.looks:
                rows.append(row._replace(fields=()))
            else:
                rows.clear()  # they are read again
            if report is not None and reader.source.size is not None:
                report(reader.source.position(), reader.source.size)
    except RecordError as raised:
        complete, error, left = False, raised, _fail(raised)
    return Look(
        columns=list(columns.profiles.values()),
        private=list(private.profiles.values()),
        named=named,
        records=records,
        complete=complete,
        more_columns=columns.more,
        error=error,
        rows=rows if weight <= LONGEST_RECORD else None,
        left=left,
    )


def _fail(error: RecordError) -> Iterator[Row]:
    raise error
    yield


def open_decided(
    private: Privatizer, source: Source, layout: Layout, *, by_name: bool = False
) -> tuple[Reader, list[str]]:
    """Return the reader of a source, which lets pass what was named and what a look at the source finds
    harmless, with sentences to warn of.

    With ``by_name``, and where the source is a stream, every column needs a role.

    :raises UndecidedColumns: if a column is neither.
    :raises InvalidParameter: if a column that was named is not there, or the budget does not fit the columns.
    :raises RecordError: if the first record cannot be read.
    """
    check_budget(private.record_epsilon, layout.roles.text)
    reader = open_reader(source, layout, naming_for(private, source, layout))
    has_columns, embedding = layout.format not in ("text", FOLDER), private.mechanism.embedding
    if reader.has_lists:
        check_budget(private.record_epsilon, layout.roles.text, lists=True)
    if layout.format in SPREADSHEETS:
        _check_sheets(reader)
    if by_name or source.identity is None:
        if has_columns:
            how = " Here every column needs a role: records are not looked at before they are released."
            _let_pass(reader, set(), how)
        return reader, []
    look = look_at(reader, embedding, most=JUDGED if has_columns else _JUDGED_FOR_UNKNOWN)
    if look.error is not None and not look.records:
        raise look.error
    judged = f" Judged by {'its' if look.complete else 'the first'} {look.records:,} records."
    if has_columns:
        _check_named(reader, look)
        if refused := refused_columns(reader, look):
            raise UndecidedColumns(source.name, refused, judged=judged)
    held = None if look.more_columns else look.rows  # rows that are held were looked into, not others
    if held is not None:
        reader.give_back(held, look.left)
    else:
        source = source.again()
        reader = open_reader(source, layout, naming_for(private, source, layout))
    if has_columns and (held is None or not look.complete):
        passing = {str(each.path) for each in look.columns if each.kind != "empty" or look.complete}
        _let_pass(reader, passing, judged)
    warnings = unknown_warnings(look.private, embedding)
    if look.error is None and has_columns:
        kinds = [(str(column.path), column.kind) for column in look.columns]
        warnings += _warnings(kinds, None if look.complete else look.records)
    if reader.has_notes(layout.roles.text):
        warnings.append("the file's own metadata is released as it is; to leave it out, write the file again")
    return reader, warnings


def _let_pass(reader: Reader, passing: set[str], judged: str) -> None:
    reader.let_pass(passing, judged)
    if reader.layout.format in SPREADSHEETS:  # all rows are looked through before the first is released
        whole = open_reader(reader.source.again(), reader.layout, looks=True)
        whole.let_pass(passing, judged)
        for _ in whole.rows_left():
            pass


def refused_columns(reader: Reader, look: Look) -> dict[str, str]:
    """Return the columns without a role that need one, and why."""
    refused = {}
    for column in look.columns:
        why = why_refused(column)
        if not look.complete and look.error is None and column.kind == "empty":
            why = f"empty in the first {JUDGED:,} records"
        if reader.hidden_rows:
            why = "has hidden rows"
        if str(column.path) in reader.hidden:
            why = "hidden"
        if why is not None:
            refused[str(column.path)] = why
    return refused


def _warnings(columns: Iterable[tuple[str, Kind]], judged: int | None) -> list[str]:
    """Return what to warn of where these columns are released; ``judged`` is by how many of the records, if
    not by all."""
    kinds = list(columns)
    listed = [f"{printable(name) or '(no name)'} ({WARNED[kind]})" for name, kind in kinds if kind in WARNED]
    how = "--drop leaves a column out"
    warnings = [f"released as it is, and not named: {', '.join(listed)}; {how}"] if listed else []
    if kinds and judged is not None:
        warnings.append(f"columns without a role were judged by the first {judged:,} records")
    return warnings


def judge_table(
    columns: Iterable[tuple[str, Iterable[Any]]], embedding: Embedding, *, rows: int
) -> list[str]:
    """Judge the columns without a role of a table of so many rows by their first ``JUDGED`` values, which are
    given; return sentences to warn of.

    :raises UndecidedColumns: if one needs a role, or has no value there.
    """
    refused, passing = dict[str, str](), list[tuple[str, Kind]]()
    for name, values in columns:
        inside = Columns(embedding)
        for value in values:
            for path, inner in fields_of(name, value):
                inside.add(path, inner)
        profiles = list(inside.profiles.values())
        why = next(filter(None, map(why_refused, profiles)), None)
        if why is None and inside.more:
            why = "more parts than are looked into"
        if why is None and rows > JUDGED and any(each.path != name for each in profiles):
            why = f"objects or lists in more than {JUDGED:,} rows"
        if why is None and rows > JUDGED and all(each.kind == "empty" for each in profiles):
            why = f"empty in the first {JUDGED:,} records"
        if why is not None:
            refused[name] = why
        passing += [(name, each.kind) for each in profiles if each.kind in WARNED or not each.nested]
    if refused:
        judged = f" Judged by {'its' if rows <= JUDGED else 'the first'} {min(rows, JUDGED):,} rows."
        raise UndecidedColumns("the table", refused, judged=judged)
    return _warnings(passing, None if rows <= JUDGED else JUDGED)


def _check_named(reader: Reader, look: Look) -> None:
    """Check that columns which are kept or left out are there: with a slip in its name, another column would
    be released."""
    if reader.layout.format in SPREADSHEETS or not look.records:
        return
    others, roles = {str(column.path) for column in look.columns}, reader.layout.roles
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        for name in names:
            if name in look.named or any(is_inside(name, other) for other in roles.named):
                continue
            meant = meant_columns([name], others)
            if look.complete or meant:
                problem = f"{printable(reader.name)} has no such column; {meant or TO_SEE_THE_NAMES}"
                raise InvalidParameter(role, name, problem)


def _check_sheets(reader: Reader) -> None:
    """Check that every other sheet of a workbook has one role."""
    roles, named = reader.layout.roles, set[str]()
    for role, names in (("keep_sheets", roles.keep_sheets), ("drop_sheets", roles.drop_sheets)):
        for name in names:
            if name not in reader.others:
                problem = f"{printable(reader.name)} has no other sheet of that name"
                raise InvalidParameter(role, name, problem)
            if name in named:
                raise InvalidParameter(role, name, "the sheet is both kept and left out; choose one")
            named.add(name)
    if undecided := {f"the sheet {name}": "another sheet" for name in reader.others if name not in named}:
        advice = " A sheet is kept by --keep-sheet, and left out by --drop-sheet."
        raise UndecidedColumns(reader.name, undecided, judged=advice)


def unknown_in(column: ColumnProfile, where: str, embedding: Embedding) -> str | None:
    """Return a sentence about a column of whose words many are unknown, else None."""
    if column.unknown <= MANY_UNKNOWN:
        return None
    counts = scripts_of(embedding.words[:_WORDS_OF_AN_EMBEDDING])
    known = {script for script, count in counts.items() if count >= _LEAST_SHARE * counts.total()}
    return _say_unknown(column.unknown, where, embedding, None if column.script in known else column.script)


def unknown_warnings(columns: Iterable[ColumnProfile], embedding: Embedding) -> list[str]:
    """Return a sentence for each private column of whose words many are unknown."""
    warnings = []
    for column in columns:
        where = "of the text" if column.path is None else f"in the column {printable(column.path)}"
        if column.unknown * column.words >= _FEWEST_UNKNOWN:
            warnings.append(unknown_in(column, where, embedding))
    return [each for each in warnings if each is not None]


def counted_warning(words: int, unknown: int, embedding: Embedding) -> str | None:
    """Return the same sentence about a release that was counted; None if there is nothing to say."""
    if unknown < _FEWEST_UNKNOWN or unknown <= MANY_UNKNOWN * words:
        return None
    listed = "" if embedding.left_out is None else ", those that are never released among them,"
    return _say_unknown(unknown / words, f"of the text{listed}", embedding, None)


def _say_unknown(share: float, where: str, embedding: Embedding, script: str | None) -> str:
    why = "" if script is None else f" (most of them are {script}, and its words are not)"
    return (
        f"{percent(share)} of the words {where} are unknown to the embedding {embedding.name!r}{why}: they "
        "are all released as if they were one and the same word. Another embedding may know them: see "
        "`deniable embeddings` and the guide on other languages"
    )
