"""``deniable privatize``: a filter for lines, and a converter for files of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TypedDict

import typer

from deniable.cli.options import (
    BudgetOptions,
    Device,
    FileOptions,
    ReleaseOptions,
    RoleOptions,
    Threads,
    Workers,
    warn_of_the_epsilon,
    with_groups,
)
from deniable.cli.receipt import ReceiptPage, check_page, write_page
from deniable.cli.terminal import escape_json
from deniable.errors import printable

if TYPE_CHECKING:
    from deniable.interfaces import Randomness
    from deniable.records.formats.layout import Layout
    from deniable.release.privatizer import Privatizer
    from deniable.release.receipt import Receipt
    from deniable.release.release import Release

_ENGINES = ("local", "spark")
_BESIDE = (".receipt.json", ".card.json", ".partial", ".journal", ".finishing")


@with_groups
def privatize(
    *,
    file: Annotated[
        str | None,
        typer.Argument(help="The file to privatize. Without it, or with -, standard input is read."),
    ] = None,
    budget: BudgetOptions,
    target: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where to write. Without it, the text goes to standard output."),
    ] = None,
    columns: RoleOptions,
    reading: FileOptions,
    release: ReleaseOptions,
    receipt: Annotated[
        Path | None, typer.Option(help="Where to write the receipt. By default: OUTPUT.receipt.json.")
    ] = None,
    receipt_page: ReceiptPage = None,
    card: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the card if the text goes to standard output. An output has "
            "OUTPUT.card.json."
        ),
    ] = None,
    threads: Threads = None,
    workers: Workers = 1,
    device: Device = "cpu",
    engine: Annotated[
        str,
        typer.Option(metavar="local|spark", help="What does the work. Spark also takes folders of files."),
    ] = "local",
    master: Annotated[
        str | None, typer.Option(help="With --engine spark: the master, such as spark://host:7077 or yarn.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the receipt as JSON. If the text goes to standard output, it is printed last on "
            "standard error.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Show no progress and no summary. Warnings and relaxed guarantees are still shown.",
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an output that exists, and drop a partial one.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue work that was cut off; nothing is drawn twice.")
    ] = False,
    insecure_seed: Annotated[
        int | None, typer.Option(help="For tests only: whoever knows the seed can undo the noise.")
    ] = None,
) -> None:
    """Replace every word of a text, or of the named columns of a file, by a word drawn around it."""
    source, output = _path(file), _path(target)
    if resume and (output is None or source is None or insecure_seed is not None):
        raise typer.BadParameter("--resume needs a FILE and an --output, and excludes --insecure-seed")
    if release.key_file is not None and insecure_seed is not None:
        raise typer.BadParameter("give one of --key-file and --insecure-seed")
    if card is not None and target is not None and target != "-":
        raise typer.BadParameter(
            "--card is for standard output: the card of an --output lies beside it, as OUTPUT.card.json"
        )
    if workers != 1 and device != "cpu":
        raise typer.BadParameter("give one of --workers and --device: a GPU serves one process")
    if workers != 1 and output is None:
        raise typer.BadParameter("--workers needs an --output")
    cells = reading.cells
    here_only: dict[str, bool] = {
        "--resume": resume,
        "--insecure-seed": insecure_seed is not None,
        "--no-header": not cells.header,
    }
    here_only |= {"--person": release.person is not None}
    here_only |= {"--threads": threads is not None, "--workers": workers != 1, "--device": device != "cpu"}
    here_only |= {
        "--keep-sheet": bool(columns.keep_sheet),
        "--delimiter": cells.delimiter is not None,
        "--encoding": cells.encoding != "utf-8",
        "--sheet": cells.sheet is not None,
    }
    _check_engine(engine, master, here_only)
    if engine == "spark" and (file is None or target is None):
        raise typer.BadParameter("--engine spark needs a FILE or folder and an --output")
    with _exit_quietly():
        from deniable.neighbours.threads import set_threads
        from deniable.records.formats.layout import make_layout

        written = (output, receipt, card, *(Path(f"{output}{ending}") for ending in _BESIDE))
        if receipt_page is not None:
            check_page(receipt_page, file or "-", *written, force=force or resume)
        roles, named_by = columns.roles(), release.naming_column
        if engine == "local":
            set_threads(threads)
            layout = make_layout(
                source, roles=roles, record_id=named_by, person=release.person, **reading.reading()
            )
        resolved = release.resolve(budget, lambda line: _say(line, quiet=quiet))
        private = resolved.make(randomness=_seeded(insecure_seed))
        warn_of_the_epsilon(private)
        if engine == "local" and source is not None:
            _warn_of_unknown_words(private, source, layout)
        made: Receipt | None
        if engine == "spark":
            where = SparkArguments(
                columns=roles.text,
                drop=roles.drop,
                keep=roles.keep,
                format=reading.format,
                master=master,
                record_id=named_by,
                force=force,
            )
            made = _with_spark(
                resolved, str(file), str(target), receipt, where=where, as_json=as_json, quiet=quiet
            )
        elif output is None:
            _say_what_is_relaxed(private, layout)  # with an output, the receipt beside it says it
            made = _to_standard_output(private, source, layout, receipt, card, as_json=as_json, force=force)
        else:
            made = _to_file(
                private,
                source,
                layout,
                output,
                receipt,
                workers=workers,
                as_json=as_json,
                quiet=quiet,
                force=force,
                resume=resume,
            )
        if receipt_page is not None:
            write_page(receipt_page, made, receipt or Path(f"{output}.receipt.json"))


def _to_file(
    private: Privatizer,
    source: Path | None,
    layout: Layout,
    output: Path,
    receipt: Path | None,
    *,
    workers: int,
    as_json: bool,
    quiet: bool,
    force: bool,
    resume: bool,
) -> Receipt | None:
    from deniable.atomic import beside
    from deniable.neighbours.selection import SLOWER, why_not_native
    from deniable.progress import Progress
    from deniable.records.formats.opening import open_source
    from deniable.records.jobs.job import run_job

    if why_not_native():
        _say(
            f"deniable: the native search is not in use: the same words are found {SLOWER}; `deniable "
            "doctor` says why",
            quiet=quiet,
        )
    shown = None if quiet else Progress
    try:
        with open_source(source) as records:
            made = run_job(
                private,
                records,
                layout,
                output,
                workers=workers,
                receipt=receipt,
                resume=resume,
                force=force,
                progress=shown,
                warn=_warn,
            )
    except KeyboardInterrupt:
        if not beside(output, ".partial").exists():
            _say("Stopped. Nothing was released yet, and nothing is kept.", quiet=quiet)
        elif source is not None and not private.settings.seeded:
            _say("Stopped. What is done is kept: the same command with --resume goes on.", quiet=quiet)
        raise
    if made is None:
        _say(f"{output} is finished already; nothing was drawn", quiet=quiet)
    else:
        _warn_by_counts(private, source, made)
        _show(made, output, receipt, as_json=as_json, quiet=quiet)
    return made


def _to_standard_output(
    private: Privatizer,
    source: Path | None,
    layout: Layout,
    receipt: Path | None,
    card: Path | None,
    *,
    as_json: bool,
    force: bool,
) -> Receipt:
    from deniable.atomic import check_apart, check_regular, write_whole
    from deniable.errors import RecordError
    from deniable.records.files import privatize_stream
    from deniable.records.formats.opening import open_source

    noted = {"receipt": receipt, "card": card}
    for path in noted.values():
        if path is not None and path.exists() and not force:
            raise RecordError(path, "exists already; replace it with --force")
    with open_source(source) as records, _standard_output() as sink:
        for what, path in noted.items():
            if path is not None:
                check_regular(path, f"name another file for the {what}")
        check_apart(records.name, *(path for path in noted.values() if path is not None))
        made = privatize_stream(private, records, sink, layout, warn=_warn)
    _warn_by_counts(private, source, made)
    if receipt is not None:
        write_whole(receipt, made.to_json())
    if card is not None:
        private.card.for_columns(layout.columns).write(card)
    if as_json:
        print(escape_json(made.to_json()), end="", file=sys.stderr)
    return made


class SparkArguments(TypedDict):
    """What Spark is told of the files, by the names that ``privatize_files`` has for it."""

    columns: tuple[str, ...]
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    format: str | None
    master: str | None
    record_id: str | None
    force: bool


def _with_spark(
    release: Release,
    source: str,
    output: str,
    receipt: Path | None,
    *,
    where: SparkArguments,
    as_json: bool,
    quiet: bool,
) -> Receipt:
    from deniable.integrations.spark import privatize_files

    made = privatize_files(source, output, release=release, receipt_path=receipt, **where)
    _show(made, output, receipt, as_json=as_json, quiet=quiet)
    return made


def _show(made: Receipt, output: str | Path, receipt: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Print the receipt, or a summary of the release with where its card and receipt lie: one goes with it,
    and the other must stay."""
    from deniable.atomic import beside
    from deniable.release.card import ENDING

    if as_json:
        print(escape_json(made.to_json()), end="")
        return
    noted = beside(Path(output), ".receipt.json") if receipt is None else receipt
    kept = f"receipt: {noted}; keep it and do not hand it over, its counts come from the private text"
    given = (
        f"card: {str(output).rstrip('/')}{ENDING}; hand it over with the output, it says how to decode "
        "it and holds no counts"
    )
    _say(f"{output}\n{made.summary()}\n{given}\n{kept}", quiet=quiet)


def _check_engine(engine: str, master: str | None, here_only: dict[str, bool]) -> None:
    """Do nothing if the engine is known and every option fits it; ``here_only`` says which options were given
    that Spark cannot heed."""
    if engine not in _ENGINES:
        raise typer.BadParameter(f"--engine must be one of {', '.join(_ENGINES)}")
    if engine == "local" and master is not None:
        raise typer.BadParameter("--master needs --engine spark")
    given = [name for name, was_given in here_only.items() if was_given]
    if engine == "spark" and given:
        raise typer.BadParameter(f"{', '.join(given)}: not with --engine spark")


def _seeded(insecure_seed: int | None) -> Randomness | None:
    if insecure_seed is None:
        return None
    from deniable.noise.randomness import InsecureSeededRandomness

    randomness = InsecureSeededRandomness(insecure_seed=insecure_seed)
    print(
        "deniable: INSECURE: the noise comes from a seed; whoever knows it can undo the noise",
        file=sys.stderr,
    )
    return randomness


def _warn_of_unknown_words(private: Privatizer, source: Path, layout: Layout) -> None:
    """Say on standard error if more than a fifth of the words of a column are unknown; a pipe is not read
    twice for it."""
    from deniable.records.checking.unknown import unknown_warnings

    if source.is_file() or source.is_dir():
        for warning in unknown_warnings(source, layout, private.mechanism.embedding):
            _warn(warning)


def _warn_by_counts(private: Privatizer, source: Path | None, made: Receipt) -> None:
    """Say the same of what came from standard input, or from a pipe, once it is released."""
    from deniable.records.checking.unknown import counted_warning

    warning = counted_warning(made.tally.words, made.tally.unknown_words, private.mechanism.embedding)
    if warning is not None and (source is None or not (source.is_file() or source.is_dir())):
        _warn(warning)


def _say_what_is_relaxed(private: Privatizer, layout: Layout) -> None:
    from deniable.records.formats.fields import leads_into_lists
    from deniable.records.jobs.describing import relaxations_of

    lists = layout.format in ("json", "jsonl") and leads_into_lists(layout.columns)
    for relaxation in relaxations_of(private.settings.relaxations, layout.columns, lists=lists):
        if not relaxation.startswith("insecure_seed"):  # said already, louder
            print(f"deniable: relaxed: {printable(relaxation)}", file=sys.stderr)


def _path(given: str | None) -> Path | None:
    return None if given is None or given == "-" else Path(given)


def _warn(said: str) -> None:
    print(f"deniable: warning: {printable(said)}", file=sys.stderr)


def _say(text: str, *, quiet: bool) -> None:
    if not quiet:
        print(text, file=sys.stderr)


@contextmanager
def _exit_quietly() -> Iterator[None]:
    """End without a word when the reader of the output goes away (0) or the user presses Ctrl-C (130)."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        _drop_output()
        raise typer.Exit(130) from None
    except BrokenPipeError:
        _drop_output()
        raise typer.Exit(0) from None


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Lend standard output, buffered whatever the environment says; that its reader went away is no error."""
    with open(sys.stdout.fileno(), "wb", closefd=False) as sink:
        try:
            yield sink
            sink.flush()
        except BrokenPipeError:
            _drop_output()
        except BaseException:
            _drop_output()
            raise


def _drop_output() -> None:
    # What is still buffered would raise again when it is flushed at the end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
