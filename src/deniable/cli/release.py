"""``deniable release``: from a private file to a decision."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import (
    AsJson,
    FileOptions,
    MechanismOptions,
    Quiet,
    Workers,
    number_option,
    with_groups,
)

if TYPE_CHECKING:
    from deniable.decision.roles import Role, Undecided

DO_NOT_RELEASE = 3
"""The exit code that says: nothing was released, and the page says why."""


@with_groups
def release(
    *,
    file: Annotated[
        Path, typer.Argument(help="The private file, in any format that `deniable privatize` reads.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to write to. By default: FILE-release."),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option("--text", metavar="COLUMN", help="A column whose words are replaced. May be repeated."),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column that is left out. May be repeated.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that is released as it is. May be repeated."),
    ] = None,
    keep_sheet: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another sheet that is released as it is. May be repeated."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A kept column whose use is measured. By default, those that look like classes. May be "
            "repeated.",
        ),
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that says whose a record is.")
    ] = None,
    words: Annotated[
        list[Path] | None,
        typer.Option(help="A file of words to report apart, such as drugs. May be repeated."),
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="A public text that attackers have read, one document a line.")
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="low|medium|high|SHARE",
            help="The share of words that a reader of single words may name at most: 8, 17 or 33 %, or a "
            "share "
            "such as 0.12. Default: low.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None, number_option("--epsilon", "-e", help="The privacy parameter, instead of --risk.")
    ] = None,
    never_release: Annotated[
        list[str] | None,
        typer.Option(
            metavar="names|FILE", help="More words that never come out: files of words. Names never come out."
        ),
    ] = None,
    allow_names: Annotated[bool, typer.Option("--allow-names", help="Let names of people come out.")] = False,
    mechanism: MechanismOptions,
    reading: FileOptions,
    workers: Workers = 1,
    no_input: Annotated[
        bool, typer.Option("--no-input", help="Ask nothing: stop with the list of what is missing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would become of each column, and stop.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a release that was cut off.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take a private file to a decision: roles of columns, attacks, use, one release, one page.

    Writes OUTPUT/hand-over (what may leave) and OUTPUT/keep (the page and the receipt, private). Asks on a
    terminal what is missing. The exit code is 3 if the verdict is not to release; nothing is drawn then.
    """
    from deniable.cli.terminal import print_json
    from deniable.decision.flow import plan_file, release_file
    from deniable.errors import printable
    from deniable.progress import Progress

    lists = [
        *(() if allow_names else ("names",)),
        *(each if each == "names" else Path(each) for each in never_release or ()),
    ]
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not no_input
    settings: dict[str, Any] = {
        "embedding": mechanism.embedding,
        "mechanism": mechanism.mechanism,
        "mechanism_options": mechanism.parse_options(),
    }
    if dry_run:
        named = {"text": text or (), "drop": drop or (), "keep": keep or ()}
        print(plan_file(file, **named, reading=reading.reading(), embedding=mechanism.embedding))
        return
    decision = release_file(
        file,
        output or Path(f"{file}-release"),
        text=text or (),
        drop=drop or (),
        keep=keep or (),
        keep_sheets=keep_sheet or (),
        labels=label or (),
        person=person,
        words=words or (),
        public=public,
        risk=risk,
        epsilon=epsilon,
        never_release=lists or None,
        resume=resume,
        force=force,
        workers=workers,
        ask=_ask if asks else None,
        progress=None if quiet or as_json else Progress,
        reading=reading.reading(),
        **settings,
    )
    if as_json:
        print_json(decision.to_dict())
    else:
        print(f"{decision.verdict.answer.upper()}: {printable(decision.verdict.headline)}")
        for reason in decision.verdict.reasons:
            print(f"- {printable(reason)}")
        print(f"\nRead and sign: {decision.page}")
        if decision.verdict.may_release:
            print(f"Hand over: {decision.hand_over}")
    if not decision.verdict.may_release:
        raise typer.Exit(DO_NOT_RELEASE)


def _ask(column: Undecided) -> Role:
    from deniable.decision.roles import ROLES
    from deniable.errors import printable

    said = f"{printable(column.column)} looks like {column.looks_like}: {' / '.join(ROLES)}"
    while True:
        answer = typer.prompt(said, default=column.suggestion, err=True).strip().lower()
        for role in ROLES:
            if answer and role.startswith(answer):
                return role
        typer.echo(f"Answer with one of {', '.join(ROLES)}.", err=True)
