"""``deniable watch``: new files in one folder, released files in another."""

from __future__ import annotations

import signal
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, cast

import typer

from deniable.cli.mechanism import Name, Options
from deniable.cli.options import (
    Case,
    Columns,
    ConsistentBy,
    Delimiter,
    EmbeddingName,
    Encoding,
    Epsilon,
    Header,
    KeepWords,
    KeyFile,
    MaxUnchanged,
    Punctuation,
    Quantile,
    RecordEpsilon,
    RecordIdColumn,
    Threads,
    Unknown,
    Workers,
)
from deniable.cli.release import check_budget_options, check_keyed, recipe_for, warn_if_hardly_anything_changes


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder in which new files appear.")],
    out: Annotated[Path, typer.Option("--out", help="The folder for the released files, under the same names.")],
    epsilon: Epsilon = None,
    record_epsilon: RecordEpsilon = None,
    max_unchanged: MaxUnchanged = None,
    quantile: Quantile = 1.0,
    column: Columns = None,
    delimiter: Delimiter = None,
    header: Header = True,
    encoding: Encoding = "utf-8",
    embedding: EmbeddingName = "default",
    mechanism: Name = "multivariate",
    mechanism_option: Options = None,
    unknown: Unknown = "perturb",
    punctuation: Punctuation = "drop",
    case: Case = "drop",
    keep_words: KeepWords = None,
    key_file: KeyFile = None,
    record_id: RecordIdColumn = None,
    consistent_by: ConsistentBy = None,
    threads: Threads = None,
    workers: Workers = 1,
    once: Annotated[
        bool, typer.Option("--once", help="Release the files that are there and stop, for cron. The exit code is 1 if a file failed.")
    ] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks at the folder.")] = 2.0,
    settle: Annotated[float, typer.Option(help="A file counts as complete when it has not changed for this many seconds.")] = 5.0,
    same_content: Annotated[
        str,
        typer.Option(
            metavar="skip|release", help="Without a key: what to do with a file whose content was already released under another name."
        ),
    ] = "skip",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only what failed or was skipped.")] = False,
) -> None:
    """Release every file that appears in a folder into another one: once, whole, and when it has stopped changing."""
    check_budget_options(epsilon, record_epsilon, max_unchanged)
    check_keyed(key_file, record_id, consistent_by)
    if not every > 0:
        raise typer.BadParameter("--every must be more than 0 seconds")
    from deniable.neighbours.threads import set_threads
    from deniable.progress import Progress
    from deniable.records.formats.layout import Layout, make_layout
    from deniable.records.watching.watch import SameContent, Watch, WatchSettings

    set_threads(threads)
    named_by = consistent_by if record_id is None else record_id
    columns = tuple(column or ())

    def layout_of(path: Path) -> Layout:
        return make_layout(path, format=None, columns=columns, delimiter=delimiter, header=header, encoding=encoding, record_id=named_by)

    def warn(line: str) -> None:
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}", file=sys.stderr, flush=True)

    def say(line: str) -> None:
        if not quiet:
            warn(line)

    private = recipe_for(
        max_unchanged=max_unchanged,
        quantile=quantile,
        epsilon=epsilon,
        record_epsilon=record_epsilon,
        embedding=embedding,
        mechanism=mechanism,
        mechanism_option=mechanism_option,
        unknown=unknown,
        punctuation=punctuation,
        case=case,
        keep_words=keep_words,
        key_file=key_file,
        consistent_by=consistent_by,
        say=say,
    ).make()
    warn_if_hardly_anything_changes(private)
    shown = None if quiet or not sys.stderr.isatty() else Progress
    settings = WatchSettings(settle=settle, same_content=cast(SameContent, same_content), workers=workers, progress=shown)
    watching = Watch(private, folder, out, layout_of, settings=settings, say=say, warn=warn)
    stopped = threading.Event()

    def stop(*_: object) -> None:
        # A KeyboardInterrupt that happens to be raised in a callback is dropped by Python; the event is not.
        stopped.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        watching.look()
        while not once and not stopped.is_set():
            time.sleep(every)
            watching.look()
    except KeyboardInterrupt:
        stopped.set()
    finally:
        signal.signal(signal.SIGINT, before)
        watching.close()
    if stopped.is_set():
        warn("stopped; what was begun is continued by the same command")
        raise typer.Exit(130)
    if watching.failed:
        raise typer.Exit(1)
