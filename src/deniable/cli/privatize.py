"""``deniable privatize``: a filter for lines, and a converter for files of records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.building import check_budget_options, check_keyed, privatizer_for, words_in
from deniable.cli.mechanism import Name, Options, parsed
from deniable.cli.options import (
    Case,
    Columns,
    ConsistentBy,
    Delimiter,
    EmbeddingName,
    Encoding,
    Epsilon,
    Format,
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
from deniable.cli.released import with_receipt
from deniable.cli.spark_engine import check_ends, check_engine, privatize_with_spark
from deniable.cli.standard_output import quiet_ends, standard_output

if TYPE_CHECKING:
    from deniable.interfaces import Randomness
    from deniable.keyed import Keyed
    from deniable.records.formats.layout import Layout
    from deniable.text.privatizer import Privatizer
    from deniable.text.receipt import Receipt


def privatize(
    file: Annotated[str | None, typer.Argument(help="The file to privatize; standard input without it, or with -.")] = None,
    epsilon: Epsilon = None,
    record_epsilon: RecordEpsilon = None,
    max_unchanged: MaxUnchanged = None,
    quantile: Quantile = 1.0,
    target: Annotated[str | None, typer.Option("--output", "-o", help="Where to write; standard output without it.")] = None,
    column: Columns = None,
    format_: Format = None,
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
    receipt: Annotated[Path | None, typer.Option(help="Where to write the receipt; OUTPUT.receipt.json without it.")] = None,
    threads: Threads = None,
    workers: Workers = 1,
    engine: Annotated[str, typer.Option(metavar="local|spark", help="What does the work; Spark takes folders of files too.")] = "local",
    master: Annotated[str | None, typer.Option(help="With --engine spark: the master, such as spark://host:7077 or yarn.")] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the receipt as JSON: to standard error, as the last thing, if the text goes to standard output."
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no summary; warnings, and what is relaxed, are said all the same.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists, and drop a partial one.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue work that was cut off; nothing is drawn twice.")] = False,
    insecure_seed: Annotated[int | None, typer.Option(help="For tests only: whoever knows the seed can undo the noise.")] = None,
) -> None:
    """Replace every word of a text, or of the named columns of a file, by a word drawn around it."""
    check_budget_options(epsilon, record_epsilon, max_unchanged)
    source, output = _path(file), _path(target)
    if resume and (output is None or source is None or insecure_seed is not None):
        raise typer.BadParameter("--resume needs a FILE and an --output, and excludes --insecure-seed")
    check_keyed(key_file, record_id, consistent_by, insecure_seed)
    if workers != 1 and output is None:
        raise typer.BadParameter("--workers needs an --output")
    here_only: dict[str, bool] = {"--resume": resume, "--insecure-seed": insecure_seed is not None, "--no-header": not header}
    here_only |= {"--threads": threads is not None, "--workers": workers != 1, "--delimiter": delimiter is not None}
    here_only |= {"--encoding": encoding != "utf-8"}
    check_engine(engine, master, here_only)
    with quiet_ends():
        drawing = (mechanism, parsed(mechanism, mechanism_option))
        policies: dict[str, Any] = {"unknown": unknown, "punctuation": punctuation, "case": case, "keep_words": words_in(keep_words)}

        def privatizer(randomness: Randomness | Keyed | None) -> Privatizer:
            return privatizer_for(
                embedding,
                drawing,
                epsilon=epsilon,
                record_epsilon=record_epsilon,
                max_unchanged=max_unchanged,
                quantile=quantile,
                say=lambda line: _say(line, quiet=quiet),
                randomness=randomness,
                **policies,
            )

        if engine == "spark":
            privatize_with_spark(
                *check_ends(file, target),
                columns=column or [],
                format=format_,
                master=master,
                record_id=record_id or consistent_by,
                consistent=consistent_by is not None,
                key_file=key_file,
                epsilon=privatizer(None).mechanism.epsilon,
                record_epsilon=record_epsilon,
                embedding=embedding,
                mechanism=drawing[0],
                mechanism_options=drawing[1],
                receipt=receipt,
                force=force,
                as_json=as_json,
                quiet=quiet,
                **policies,
            )
            return
        from deniable.neighbours.threads import set_threads
        from deniable.records.formats.layout import make_layout

        set_threads(threads)
        columns = tuple(column or ())
        named_by = consistent_by if record_id is None else record_id
        layout = make_layout(
            source, format=format_, columns=columns, delimiter=delimiter, header=header, encoding=encoding, record_id=named_by
        )
        private = privatizer(_randomness(insecure_seed, key_file, consistent=consistent_by is not None))
        if output is None:
            _say_what_is_relaxed(private, layout)  # with an output, the receipt beside it says it
            _to_standard_output(private, source, layout, receipt, as_json=as_json, force=force)
        else:
            _to_file(private, source, layout, output, receipt, workers=workers, as_json=as_json, quiet=quiet, force=force, resume=resume)


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
) -> None:
    from deniable.progress import Progress
    from deniable.records.files import open_source, run_job

    shown = None if quiet else Progress
    with open_source(source) as records:
        made = run_job(private, records, layout, output, workers=workers, receipt=receipt, resume=resume, force=force, progress=shown)
    if made is None:
        _say(f"{output} is finished already; nothing was drawn", quiet=quiet)
    elif as_json:
        print(made.to_json(), end="")
    else:
        _say(with_receipt(output, made, receipt), quiet=quiet)


def _to_standard_output(
    private: Privatizer, source: Path | None, layout: Layout, receipt: Path | None, *, as_json: bool, force: bool
) -> None:
    from deniable.atomic import write_whole
    from deniable.errors import RecordError
    from deniable.records.files import open_source
    from deniable.records.jobs.targets import check_apart, check_receipt
    from deniable.records.stream import privatize_stream

    if receipt is not None and receipt.exists() and not force:
        raise RecordError(receipt, "exists already; replace it with --force")
    with open_source(source) as records, standard_output() as sink:
        if receipt is not None:
            check_apart(records.name, check_receipt(receipt))
        made: Receipt = privatize_stream(private, records, sink, layout)
    if receipt is not None:
        write_whole(receipt, made.to_json())
    if as_json:
        print(made.to_json(), end="", file=sys.stderr)


def _randomness(insecure_seed: int | None, key_file: Path | None, *, consistent: bool) -> Randomness | Keyed | None:
    if key_file is not None:
        from deniable.keyed import Keyed

        return Keyed.from_file(key_file, consistent=consistent)
    if insecure_seed is None:
        return None
    from deniable.randomness import InsecureSeededRandomness

    randomness = InsecureSeededRandomness(insecure_seed=insecure_seed)
    print("deniable: INSECURE: the noise comes from a seed; whoever knows it can undo the noise", file=sys.stderr)
    return randomness


def _say_what_is_relaxed(private: Privatizer, layout: Layout) -> None:
    from deniable.records.jobs.receipts import relaxations_of

    for relaxation in relaxations_of(private, layout):
        if not relaxation.startswith("insecure_seed"):  # said already, louder
            print(f"deniable: relaxed: {relaxation}", file=sys.stderr)


def _path(given: str | None) -> Path | None:
    return None if given is None or given == "-" else Path(given)


def _say(text: str, *, quiet: bool) -> None:
    if not quiet:
        print(text, file=sys.stderr)
