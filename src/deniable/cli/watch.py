"""``deniable watch``: new files in one folder, released files in another."""

from __future__ import annotations

import signal
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import cast

import typer

from deniable.cli.options import (
    BudgetOptions,
    CellOptions,
    ReleaseOptions,
    RoleOptions,
    WorkOptions,
    warn_of_the_epsilon,
    with_groups,
)
from deniable.cli.terminal import say


@with_groups
def watch(
    folder: Path,
    *,
    out: Path,
    budget: BudgetOptions,
    columns: RoleOptions,
    cells: CellOptions,
    release: ReleaseOptions,
    work: WorkOptions,
    once: bool = False,
    every: float = 2.0,
    settle: float = 5.0,
    same_content: str = "skip",
    quiet: bool = False,
) -> None:
    """Release every file that appears in a folder into another one: once, whole, and when it has stopped
    changing.

    Every column of the files needs a role: --column, --drop or --keep. A file with another column is refused.

    :param folder: The folder in which new files appear.
    :param out: The folder for the released files, under the same names.
    :param once: Release the files that are there and stop, for cron. The exit code is 1 if a file failed.
    :param every: Seconds between two looks at the folder.
    :param settle: A file counts as complete when it has not changed for this many seconds.
    :param same_content skip|release: Without a key: what to do with a file whose content was already
        released under another name.
    :param quiet -q: Show only what failed or was skipped.
    """
    if not every > 0:
        raise typer.BadParameter("--every must be more than 0 seconds")
    work.prepare()
    from deniable.progress import Progress
    from deniable.records.formats.layout import Layout, make_layout
    from deniable.records.watch import SameContent, Watch

    roles = columns.roles()

    def layout_of(path: Path) -> Layout:
        options = {"record_id": release.naming_column, "person": release.person, **vars(cells)}
        return make_layout(path, roles=roles, **options)

    def warn(line: str) -> None:
        say(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}")

    def tell(line: str) -> None:
        if not quiet:
            warn(line)

    private = release.resolve(budget, tell).make()
    warn_of_the_epsilon(private)
    shown = None if quiet or not sys.stderr.isatty() else Progress
    watching = Watch(
        private,
        folder,
        out,
        layout_of,
        settle=settle,
        same_content=cast(SameContent, same_content),
        workers=work.workers,
        progress=shown,
        say=tell,
        warn=warn,
    )
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
