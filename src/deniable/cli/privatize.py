"""``deniable privatize``: a filter for lines, and a converter for files of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import typer

from deniable.cli.options import (
    BudgetOptions,
    FileOptions,
    ReleaseOptions,
    RoleOptions,
    WorkOptions,
    changed,
    warn_of_the_epsilon,
    with_groups,
)
from deniable.cli.receipt import check_page, write_page
from deniable.cli.terminal import escape_json, say, warn
from deniable.errors import printable

if TYPE_CHECKING:
    from deniable.interfaces import Randomness
    from deniable.records.formats.layout import Layout
    from deniable.release.privatizer import Privatizer
    from deniable.release.receipt import Receipt
    from deniable.release.tally import Tally

_ENGINES = ("local", "spark")
_BESIDE = (".receipt.json", ".card.json", ".partial", ".journal", ".finishing")
_NOT_ON_SPARK = ("--resume", "--keep-sheet", "--person")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where a release goes, and what is shown of it.

    :param target --output -o: Where to write. Without it, the text goes to standard output.
    :param receipt: Where to write the receipt. By default: OUTPUT.receipt.json.
    :param receipt_page: Where to write the receipt as a page to print (HTML). Keep the page as you keep the
        receipt.
    :param card: Where to write the card if the text goes to standard output. An output has
        OUTPUT.card.json.
    :param as_json --json: Print the receipt as JSON. If the text goes to standard output, it is printed
        last on standard error.
    :param quiet -q: Show no progress and no summary. Warnings and relaxed guarantees are still shown.
    :param force: Replace an output that exists, and drop a partial one.
    :param resume: Continue work that was cut off; nothing is drawn twice.
    """

    target: str | None = None
    receipt: Path | None = None
    receipt_page: Path | None = None
    card: Path | None = None
    as_json: bool = False
    quiet: bool = False
    force: bool = False
    resume: bool = False

    @property
    def path(self) -> Path | None:
        """The output; None for standard output."""
        return _path(self.target)

    def say(self, text: str) -> None:
        """Print to standard error, unless nothing is wanted there."""
        if not self.quiet:
            say(text)

    def show(self, receipt: Receipt) -> None:
        """Print the receipt, or a summary of the release with where its card and receipt lie: one goes with
        it, and the other must stay."""
        from deniable.atomic import beside
        from deniable.release.card import ENDING

        if self.as_json:
            print(escape_json(receipt.to_json()), end="")
            return
        target = str(self.target)
        noted = self.receipt or beside(Path(target), ".receipt.json")
        card = f"{target.rstrip('/')}{ENDING}"
        self.say(
            f"{target}\n{receipt.summary()}\n"
            f"card: {card}; hand it over with the output, it says how to decode it and holds no counts\n"
            f"receipt: {noted}; keep it and do not hand it over, its counts come from the private text"
        )


@with_groups
def privatize(
    file: str | None = None,
    *,
    budget: BudgetOptions,
    out: OutputOptions,
    columns: RoleOptions,
    reading: FileOptions,
    release: ReleaseOptions,
    work: WorkOptions,
    engine: str = "local",
    master: str | None = None,
    insecure_seed: int | None = None,
) -> None:
    """Replace every word of a text, or of the named columns of a file, by a word drawn around it.

    :param file: The file to privatize. Without it, or with -, standard input is read.
    :param engine local|spark: What does the work. Spark also takes folders of files.
    :param master: With --engine spark: the master, such as spark://host:7077 or yarn.
    :param insecure_seed: For tests only: anybody who knows the seed can undo the noise.
    """
    source, output = _path(file), out.path
    if out.resume and (output is None or source is None or insecure_seed is not None):
        raise typer.BadParameter("--resume needs a FILE and an --output, and excludes --insecure-seed")
    if out.card is not None and output is not None:
        problem = "the card of an --output lies beside it, as OUTPUT.card.json"
        raise typer.BadParameter(f"--card is for standard output: {problem}")
    if work.workers != 1 and output is None:
        raise typer.BadParameter("--workers needs an --output")
    if engine not in _ENGINES:
        raise typer.BadParameter(f"--engine must be one of {', '.join(_ENGINES)}")
    if engine == "local" and master is not None:
        raise typer.BadParameter("--master needs --engine spark")
    if engine == "spark":
        given = [option for option in changed(out, columns, release) if option in _NOT_ON_SPARK]
        given += [*changed(work, reading.cells), *(["--insecure-seed"] if insecure_seed is not None else [])]
        if given:
            raise typer.BadParameter(f"{', '.join(given)}: not with --engine spark")
        if file is None or out.target is None:
            raise typer.BadParameter("--engine spark needs a FILE or folder and an --output")
    work.prepare()
    with _exit_quietly():
        from deniable.records.formats.layout import make_layout

        if out.receipt_page is not None:
            written = (output, out.receipt, out.card, *(Path(f"{output}{ending}") for ending in _BESIDE))
            check_page(out.receipt_page, file or "-", *written, force=out.force or out.resume)
        roles, record_id = columns.roles(), release.naming_column
        if engine == "local":
            person = release.person
            layout = make_layout(source, roles=roles, record_id=record_id, person=person, **reading.reading())
        resolved = release.resolve(budget, out.say)
        private = resolved.make(randomness=_seeded(insecure_seed))
        warn_of_the_epsilon(private)
        receipt: Receipt | None
        if engine == "spark":
            from deniable.integrations.spark import privatize_files

            receipt = privatize_files(
                str(file),
                str(out.target),
                columns=roles.text,
                drop=roles.drop,
                keep=roles.keep,
                release=resolved,
                format=reading.format,
                master=master,
                record_id=record_id,
                receipt_path=out.receipt,
                force=out.force,
            )
            out.show(receipt)
        else:
            release_to = _to_standard_output if output is None else _to_file
            receipt = release_to(private, source, layout, out, work)
        if out.receipt_page is not None:
            write_page(out.receipt_page, receipt, out.receipt or Path(f"{output}.receipt.json"))


def _to_file(
    private: Privatizer, source: Path | None, layout: Layout, out: OutputOptions, work: WorkOptions
) -> Receipt | None:
    from deniable.atomic import beside
    from deniable.neighbours.selection import SLOWER, why_not_native
    from deniable.progress import Progress
    from deniable.records.formats.opening import open_source
    from deniable.records.job import Job

    output = Path(str(out.target))
    if why_not_native():
        why = f"the same words are found {SLOWER}; `deniable doctor` says why"
        out.say(f"deniable: the native search is not in use: {why}")
    try:
        with open_source(source) as records:
            receipt = Job(
                private,
                records,
                layout,
                output,
                workers=work.workers,
                receipt=out.receipt,
                resume=out.resume,
                force=out.force,
                progress=None if out.quiet else Progress,
                warn=warn,
            ).run()
    except KeyboardInterrupt:
        if not beside(output, ".partial").exists():
            out.say("Stopped. Nothing was released yet, and nothing is kept.")
        elif source is not None and not private.settings.seeded:
            out.say("Stopped. What is done is kept: the same command with --resume goes on.")
        raise
    if receipt is None:
        out.say(f"{output} is finished already; nothing was drawn")
    else:
        _warn_by_counts(private, source, receipt.tally)
        out.show(receipt)
    return receipt


def _to_standard_output(
    private: Privatizer, source: Path | None, layout: Layout, out: OutputOptions, _: WorkOptions
) -> Receipt:
    from deniable.atomic import check_apart, check_new, check_regular, write_whole
    from deniable.records.files import privatize_stream
    from deniable.records.formats.opening import open_source

    _say_what_is_relaxed(private, layout)  # with an output, the receipt beside it says it
    noted = {what: path for what, path in (("receipt", out.receipt), ("card", out.card)) if path is not None}
    check_new(*noted.values(), force=out.force)
    with open_source(source) as records, _standard_output() as sink:
        for what, path in noted.items():
            check_regular(path, f"name another file for the {what}")
        check_apart(records.name, *noted.values())
        receipt = privatize_stream(private, records, sink, layout, warn=warn)
    _warn_by_counts(private, source, receipt.tally)
    if out.receipt is not None:
        write_whole(out.receipt, receipt.to_json())
    if out.card is not None:
        private.card.for_columns(layout.roles.text).write(out.card)
    if out.as_json:
        print(escape_json(receipt.to_json()), end="", file=sys.stderr)
    return receipt


def _seeded(insecure_seed: int | None) -> Randomness | None:
    if insecure_seed is None:
        return None
    from deniable.noise.randomness import InsecureSeededRandomness

    randomness = InsecureSeededRandomness(insecure_seed=insecure_seed)
    say("deniable: INSECURE: the noise comes from a seed; whoever knows it can undo the noise")
    return randomness


def _warn_by_counts(private: Privatizer, source: Path | None, tally: Tally) -> None:
    """Say on standard error if more than a fifth of the words were unknown, once a stream is released; a file
    is looked at before."""
    from deniable.records.deciding import counted_warning

    warning = counted_warning(tally.words, tally.unknown_words, private.mechanism.embedding)
    if warning is not None and (source is None or not (source.is_file() or source.is_dir())):
        warn(warning)


def _say_what_is_relaxed(private: Privatizer, layout: Layout) -> None:
    from deniable.records.describing import relaxations_of
    from deniable.records.formats.columns import leads_into_lists

    lists = layout.format in ("json", "jsonl") and leads_into_lists(layout.roles.text)
    for relaxation in relaxations_of(private.settings.relaxations, layout.roles.text, lists=lists):
        if not relaxation.startswith("insecure_seed"):  # said already, louder
            say(f"deniable: relaxed: {printable(relaxation)}")


def _path(given: str | None) -> Path | None:
    return None if given is None or given == "-" else Path(given)


@contextmanager
def _exit_quietly() -> Iterator[None]:
    """End without a word when the reader of the output goes away (0) or the user presses Ctrl-C (130)."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        drop_output()
        raise typer.Exit(130) from None
    except BrokenPipeError:
        drop_output()
        raise typer.Exit(0) from None


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Lend standard output, buffered whatever the environment says; that its reader went away is no error."""
    with open(sys.stdout.fileno(), "wb", closefd=False) as sink:
        try:
            yield sink
            sink.flush()
        except BrokenPipeError:
            drop_output()
        except BaseException:
            drop_output()
            raise


def drop_output() -> None:
    """Write what is still buffered to nowhere."""
    # What is still buffered would raise again when it is flushed at the end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
