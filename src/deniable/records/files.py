"""A file of records into a file of released records, or a stream into a stream, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from deniable.errors import DeniableError, InvalidParameter
from deniable.progress import Progress
from deniable.records.deciding import open_decided
from deniable.records.describing import receipt_of
from deniable.records.formats.layout import FOLDER, WHOLE, Layout, Roles, make_layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.source import Source
from deniable.records.job import Job
from deniable.records.releasing import releasing
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import Receipt
from deniable.release.release import Release
from deniable.release.tally import Tally

_BYTES_AT_ONCE = 1 << 16


def privatize_file(
    private: Privatizer | Release,
    source: Path | str,
    target: Path | str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    keep_sheets: Sequence[str] = (),
    drop_sheets: Sequence[str] = (),
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
    encoding: str = "utf-8",
    record_id: str | None = None,
    person: str | None = None,
    sheet: str | None = None,
    workers: int = 1,
    receipt: Path | None = None,
    resume: bool = False,
    force: bool = False,
    progress: type[Progress] | None = None,
) -> Receipt | None:
    """Release a file of records into another file and return the receipt; receipt and card are written beside
    the target.

    ``columns`` name what to privatize, ``drop`` what to leave out, and ``keep`` what to release as it is. A
    column that has none of these roles is refused if it looks like people, contacts, identifiers, dates of
    birth or free text, judged by the first 10,000 records; other sheets of a workbook need
    ``keep_sheets`` or ``drop_sheets``.
    ``record_id`` names the column of ids of a keyed release; without it a record is named by its number and a
    digest of the file. Without a key, ``person`` names the column that says whose a record is, so that the
    receipt adds up what each person spends. ``sheet`` is that of a spreadsheet, by default its first.
    ``workers`` processes share the work. ``resume`` continues work that was cut off, or begins it; None is
    returned when it was finished before. ``force`` replaces what is there. ``progress=Progress`` shows a bar.
    Formats and compression are told from the names unless ``format`` says otherwise. A privatizer should not
    be used elsewhere meanwhile; its own counts start from zero.

    :raises InvalidParameter: if a setting is not allowed or a column is not there.
    :raises UndecidedColumns: if something would be released as it is that nobody named.
    :raises ResumeError: if a partial output is in the way or belongs to another job.
    :raises RecordError: if the input cannot be read or the output cannot be written; nothing is under the
        target's name then.
    :raises OSError: if a file cannot be opened.
    """
    path = Path(source)
    layout = make_layout(
        path,
        format=format,
        roles=Roles.of(text=columns, drop=drop, keep=keep, keep_sheets=keep_sheets, drop_sheets=drop_sheets),
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        record_id=record_id,
        person=person,
        sheet=sheet,
    )
    made = private.make() if isinstance(private, Release) else private
    with open_source(path) as records:
        return Job(
            made,
            records,
            layout,
            Path(target),
            workers=workers,
            receipt=receipt,
            resume=resume,
            force=force,
            progress=progress,
            warn=lambda said: warnings.warn(said, stacklevel=2),
        ).run()


def privatize_stream(
    private: Privatizer,
    source: Source,
    sink: BinaryIO,
    layout: Layout,
    *,
    warn: Callable[[str], None] | None = None,
) -> Receipt:
    """Release every record of the source into the sink and return the receipt.

    What has arrived is released at once when the producer is slow. When it is fast, the sink is given equal
    parts, so that its reader cannot see how long the private texts are. A sink that was closed by its reader
    ends the work without an error. The privatizer's own counts start from zero. What does not come from a
    file is not looked at before: every column of it needs a role.

    :raises UndecidedColumns: if something would be released as it is that nobody named; records before it are
        released.
    :raises RecordError: if a record cannot be read; those before it are released.
    :raises UnknownWord: if the policy is to stop at unknown words; the records before that are released.
    :raises InvalidParameter: if the layout does not fit the source.
    """
    if layout.format in WHOLE or layout.format == FOLDER:
        raise InvalidParameter(
            "format", layout.format, "cannot be written to a stream; name an output file (-o)"
        )
    private.take_tally()
    promised = private.receipt_for(Tally())  # a calibration that cannot be read is noticed before any release
    tally = Tally()
    reader, warnings = open_decided(private, source, layout)
    for warning in warnings if warn is not None else ():
        warn(warning)  # type: ignore[misc]
    # Also with a seed: a reader that waits for an answer must not wait for more text.
    by_arrival = source.identity is None
    try:
        waiting = bytearray(reader.head())
        if by_arrival:
            _write(sink, waiting, all_of_it=True)
        try:
            batches = reader.batches(
                up_to_errors=True,
                one_text=private.record_epsilon is not None,
                as_one=private.settings.seeded and not by_arrival,
            )
            with closing(releasing(private, batches, up_to_errors=True)) as drawn:
                for batch, released in drawn:
                    reader.took(released.seconds)
                    tally.add(released.tally)
                    source.check_unchanged()
                    waiting += reader.write(batch.payloads, released.texts)
                    _write(sink, waiting, all_of_it=batch.pause)
        except DeniableError:
            _write(sink, waiting, all_of_it=True)
            raise
        waiting += reader.tail()
        _write(sink, waiting, all_of_it=True)
    except BrokenPipeError:
        pass
    return receipt_of(promised, reader, layout, tally)


def _write(sink: BinaryIO, waiting: bytearray, *, all_of_it: bool) -> None:
    """Write what is waiting, or as much of it as makes parts of the same size, and take it out."""
    while len(waiting) >= _BYTES_AT_ONCE or (all_of_it and waiting):
        part = bytes(waiting[:_BYTES_AT_ONCE])
        del waiting[:_BYTES_AT_ONCE]
        sink.write(part)
        sink.flush()
