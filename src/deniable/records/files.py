"""A file of records into a file of released records, or a stream into a stream, in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from deniable.errors import InvalidParameter
from deniable.progress import Progress
from deniable.records.formats.layout import Layout, make_layout
from deniable.records.formats.opening import naming_for, open_reader, open_source
from deniable.records.formats.reader import BatchSize
from deniable.records.formats.source import Source
from deniable.records.jobs.identity import check_budget, receipt_of
from deniable.records.jobs.job import run_job
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt, Tally
from deniable.text.recipe import Recipe


def privatize_file(
    private: Privatizer | Recipe,
    source: Path | str,
    target: Path | str,
    *,
    columns: Sequence[str] = (),
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
    encoding: str = "utf-8",
    record_id: str | None = None,
    workers: int = 1,
    receipt: Path | None = None,
    resume: bool = False,
    force: bool = False,
    progress: type[Progress] | None = None,
) -> Receipt | None:
    """Release a file of records into another file and return the receipt, which is also written beside the target.

    ``columns`` name what to privatize; everything else passes as it is. ``record_id`` names the column of ids of a keyed release;
    without it a record is named by its number and a digest of the file. ``workers`` processes share the work. ``resume``
    continues work that was cut off, or begins it; None is returned when it was finished before. ``force`` replaces what is
    there. ``progress=Progress`` shows a bar. Formats and compression are told from the names unless ``format`` says
    otherwise. A privatizer should not be used elsewhere meanwhile; its own counts start from zero.

    :raises InvalidParameter: if a setting is not allowed or a column is not there.
    :raises ResumeError: if a partial output is in the way or belongs to another job.
    :raises RecordError: if the input cannot be read or the output cannot be written; nothing is under the target's name then.
    :raises OSError: if a file cannot be opened.
    """
    path = Path(source)
    if isinstance(columns, str):
        raise InvalidParameter("columns", columns, "must be a list of names")
    layout = make_layout(
        path, format=format, columns=tuple(columns), delimiter=delimiter, header=header, encoding=encoding, record_id=record_id
    )
    made = private.make() if isinstance(private, Recipe) else private
    with open_source(path) as records:
        return run_job(made, records, layout, target, workers=workers, receipt=receipt, resume=resume, force=force, progress=progress)


def privatize_stream(private: Privatizer, source: Source, sink: BinaryIO, layout: Layout) -> Receipt:
    """Release every record of the source into the sink and return the receipt.

    What has arrived is released at once when the producer is slow, and in large batches when it is fast. A sink that
    was closed by its reader ends the work without an error. The privatizer's own counts start from zero.

    :raises RecordError: if the source cannot be read; the batches before that are released.
    :raises InvalidParameter: if the layout does not fit the source.
    """
    if layout.format == "parquet":
        raise InvalidParameter("format", "parquet", "cannot be written to a stream; name an output file (-o)")
    check_budget(private.record_epsilon, layout.columns)
    private.take_tally()
    promised = private.receipt_for(Tally())  # a calibration that cannot be read is said before anything is released
    tally, size = Tally(), BatchSize(fixed=private.keyed is not None)
    reader = open_reader(source, layout, naming_for(private, source, layout))
    try:
        sink.write(b"".join(reader.head()))
        sink.flush()
        for batch in reader.batches(size):
            started = time.monotonic()
            data = batch.release(private)
            size.took(time.monotonic() - started)
            tally.add(private.take_tally())
            sink.write(data)
            sink.flush()
    except BrokenPipeError:
        pass
    return receipt_of(promised, reader, layout, tally)
