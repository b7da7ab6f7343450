"""``deniable watch``: new files in one folder, released files in another."""

from __future__ import annotations

import signal
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.building import check_keyed, privatizer_for, words_in
from deniable.cli.mechanism import Name, Options, parsed


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder in which new files appear.")],
    out: Annotated[Path, typer.Option("--out", help="The folder for the released files, under the same names.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")] = None,
    record_epsilon: Annotated[float | None, typer.Option(help="Instead of --epsilon: a budget per record, divided by its words.")] = None,
    column: Annotated[list[str] | None, typer.Option("--column", "-c", help="A column that holds private text. May be repeated.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the cells of CSV, such as ';' or tab.")] = None,
    header: Annotated[bool, typer.Option("--header/--no-header", help="Without a header, columns are numbers from 1.")] = True,
    encoding: Annotated[str, typer.Option(help="The encoding of the input. Output is UTF-8 always.")] = "utf-8",
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    mechanism: Name = "multivariate",
    mechanism_option: Options = None,
    unknown: Annotated[
        str, typer.Option(metavar="perturb|subwords|redact|drop|error", help="What to do with words the embedding does not know.")
    ] = "perturb",
    punctuation: Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release punctuation marks.")] = "drop",
    case: Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release which words were capitalised.")] = "drop",
    keep_words: Annotated[Path | None, typer.Option(help="A file of words, one a line, to release as they are.")] = None,
    key_file: Annotated[
        Path | None, typer.Option(help="Draw by the secret key in this file: releasing the same records again spends nothing more.")
    ] = None,
    record_id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="With --key-file: the column that names each record; without it, its number.")
    ] = None,
    consistent_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --key-file: a word of the user that this column names always becomes the same word."),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads for the search; all processors this process may use without it.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that share the work, with one thread each unless --threads says more.")] = 1,
    once: Annotated[bool, typer.Option("--once", help="Release what is there and stop, for cron; exit code 1 if a file failed.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks at the folder.")] = 2.0,
    settle: Annotated[float, typer.Option(help="Seconds that a file must not have changed before it is taken for complete.")] = 5.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what failed or was skipped.")] = False,
) -> None:
    """Release every file that appears in a folder into another one: once, whole, and when it has stopped changing."""
    if [epsilon, record_epsilon].count(None) != 1:
        raise typer.BadParameter("give one of --epsilon (per word) and --record-epsilon (per record)")
    check_keyed(key_file, record_id, consistent_by)
    if not every > 0:
        raise typer.BadParameter("--every must be more than 0 seconds")
    from deniable.keyed import Keyed
    from deniable.neighbours.threads import set_threads
    from deniable.progress import Progress
    from deniable.records.layout import Layout, make_layout
    from deniable.records.watch import Settings, Watch

    set_threads(threads)
    named_by = consistent_by if record_id is None else record_id
    columns = tuple(column or ())

    def layout_of(path: Path) -> Layout:
        return make_layout(path, format=None, columns=columns, delimiter=delimiter, header=header, encoding=encoding, record_id=named_by)

    def say(line: str) -> None:
        if not quiet or not line.startswith("released"):
            print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}", file=sys.stderr, flush=True)

    private = privatizer_for(
        embedding,
        (mechanism, parsed(mechanism, mechanism_option)),
        epsilon=epsilon,
        record_epsilon=record_epsilon,
        randomness=None if key_file is None else Keyed.from_file(key_file, consistent=consistent_by is not None),
        unknown=unknown,
        punctuation=punctuation,
        case=case,
        keep_words=words_in(keep_words),
    )
    settings = Settings(settle=settle, workers=workers, progress=None if quiet or not sys.stderr.isatty() else Progress)
    watching = Watch(private, folder, out, layout_of, settings=settings, say=say)
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
        say("stopped; what was begun is continued by the same command")
        raise typer.Exit(130)
    if watching.failed:
        raise typer.Exit(1)
