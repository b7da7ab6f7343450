"""A file of records into a file of released records, in one call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.progress import Progress
from deniable.records.formats.layout import Layout, make_layout
from deniable.records.formats.source import FileSource, Source, StreamSource
from deniable.records.jobs.job import Job
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt


def privatize_file(
    private: Privatizer,
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
    otherwise. The privatizer should not be used elsewhere meanwhile; its own counts start from zero.

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
    with open_source(path) as opened:
        return run_job(private, opened, layout, target, workers=workers, receipt=receipt, resume=resume, force=force, progress=progress)


@contextmanager
def open_source(path: Path | None) -> Iterator[Source]:
    """Open a file, or standard input when there is no path; a pipe under a path is read like standard input.

    :raises OSError: if it cannot be opened.
    """
    if path is None:
        yield StreamSource(sys.stdin.fileno(), "standard input")
    elif path.exists() and not path.is_file() and not path.is_dir():
        with path.open("rb", buffering=0) as pipe:
            yield StreamSource(pipe.fileno(), str(path))
    else:
        source = FileSource(path)
        try:
            yield source
        finally:
            source.close()


def run_job(
    private: Privatizer,
    source: Source,
    layout: Layout,
    target: Path | str,
    *,
    workers: int = 1,
    receipt: Path | None = None,
    resume: bool = False,
    force: bool = False,
    progress: type[Progress] | None = None,
    before_publishing: Callable[[], None] | None = None,
) -> Receipt | None:
    """Do what ``privatize_file`` does, for any source; a stream cannot be resumed.

    ``before_publishing`` is called when all is done but that the output gets its name; if it raises, the work can be continued.
    """
    job = Job(private, source, layout, Path(target), receipt, workers=workers)
    return job.run(resume=resume, force=force, progress=progress, before_publishing=before_publishing)
