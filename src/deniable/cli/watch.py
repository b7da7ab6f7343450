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

from deniable.cli.options import (
    BudgetOptions,
    CellOptions,
    Device,
    ReleaseOptions,
    RoleOptions,
    Threads,
    Workers,
    warn_of_the_epsilon,
    with_groups,
)


@with_groups
def watch(
    *,
    folder: Annotated[Path, typer.Argument(help="The folder in which new files appear.")],
    out: Annotated[
        Path, typer.Option("--out", help="The folder for the released files, under the same names.")
    ],
    budget: BudgetOptions,
    columns: RoleOptions,
    cells: CellOptions,
    release: ReleaseOptions,
    threads: Threads = None,
    workers: Workers = 1,
    device: Device = "cpu",
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="Release the files that are there and stop, for cron. The exit code is 1 if a file failed.",
        ),
    ] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks at the folder.")] = 2.0,
    settle: Annotated[
        float, typer.Option(help="A file counts as complete when it has not changed for this many seconds.")
    ] = 5.0,
    same_content: Annotated[
        str,
        typer.Option(
            metavar="skip|release",
            help="Without a key: what to do with a file whose content was already released under another "
            "name.",
        ),
    ] = "skip",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show only what failed or was skipped.")
    ] = False,
) -> None:
    """Release every file that appears in a folder into another one: once, whole, and when it has stopped
    changing.

    Every column of the files needs a role: --column, --drop or --keep. A file with another column is refused.
    """
    if not every > 0:
        raise typer.BadParameter("--every must be more than 0 seconds")
    if workers != 1 and device != "cpu":
        raise typer.BadParameter("give one of --workers and --device: a GPU serves one process")
    from deniable.neighbours.threads import set_threads
    from deniable.progress import Progress
    from deniable.records.formats.layout import Layout, make_layout
    from deniable.records.watching.watch import SameContent, Watch, WatchSettings

    set_threads(threads)
    roles = columns.roles()

    def layout_of(path: Path) -> Layout:
        return make_layout(
            path,
            format=None,
            roles=roles,
            record_id=release.naming_column,
            person=release.person,
            **vars(cells),
        )

    def warn(line: str) -> None:
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}", file=sys.stderr, flush=True)

    def say(line: str) -> None:
        if not quiet:
            warn(line)

    private = release.resolve(budget, say).make()
    warn_of_the_epsilon(private)
    shown = None if quiet or not sys.stderr.isatty() else Progress
    settings = WatchSettings(
        settle=settle, same_content=cast(SameContent, same_content), workers=workers, progress=shown
    )
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
