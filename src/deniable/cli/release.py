"""``deniable release``: from a private file to a decision."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.options import FileOptions, MechanismOptions, with_groups

if TYPE_CHECKING:
    from deniable.decision.decision import Verdict
    from deniable.decision.roles import Role, Undecided

DO_NOT_RELEASE = 3
"""The exit code that says: nothing was released, and the page says why."""


@with_groups
def release(
    file: Path,
    *,
    output: Path | None = None,
    text: list[str] | None = None,
    drop: list[str] | None = None,
    keep: list[str] | None = None,
    keep_sheet: list[str] | None = None,
    drop_sheet: list[str] | None = None,
    label: list[str] | None = None,
    person: str | None = None,
    words: list[Path] | None = None,
    public: Path | None = None,
    risk: str | None = None,
    epsilon: float | None = None,
    never_release: list[str] | None = None,
    allow_names: bool = False,
    mechanism: MechanismOptions,
    reading: FileOptions,
    workers: int = 1,
    accept_changes: bool = False,
    no_input: bool = False,
    dry_run: bool = False,
    resume: bool = False,
    force: bool = False,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Take a private file to a decision: roles of columns, attacks, use, one release, one page.

    Writes OUTPUT/hand-over (what may leave) and OUTPUT/keep (the page and the receipt, private). Asks on a
    terminal what is missing. The exit code is 3 if nothing was released.

    :param file: The private file, in any format that `deniable privatize` reads.
    :param output -o: The folder to write to. By default: FILE-release.
    :param text COLUMN: A column whose words are replaced. May be repeated.
    :param drop COLUMN: A column that is left out. May be repeated.
    :param keep COLUMN: A column that is released as it is. May be repeated.
    :param keep_sheet NAME: Another sheet that is released as it is. May be repeated.
    :param drop_sheet NAME: Another sheet that is left out. May be repeated.
    :param label COLUMN: A kept column whose use is measured. By default, those that look like classes. May
        be repeated.
    :param person COLUMN: The column with the person of each record.
    :param words: A file of words to report separately, such as drugs. May be repeated.
    :param public: A public text that the attackers know, one document per line.
    :param risk low|medium|high|SHARE: The share of words that a reader of single words may name at most: 8,
        17 or 33 %, or a share such as 0.12. Default: low.
    :param epsilon -e: The privacy parameter, instead of --risk.
    :param never_release names|FILE: More words that never come out: files of words. Listed names never do.
    :param allow_names: Let names of people come out.
    :param accept_changes: Release with the verdict "release with changes" too.
    :param no_input: Ask nothing: stop with the list of what is missing.
    :param dry_run: Show the role of each column and the planned steps, and stop.
    :param resume: Continue a release that was cut off.
    :param force: Replace an output that exists.
    """
    from deniable.cli.terminal import print_json, warnings_shown
    from deniable.decision.flow import plan_file, release_file
    from deniable.errors import printable
    from deniable.progress import Progress

    output = output or Path(f"{file}-release")
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not no_input
    listed = [each if each == "names" else Path(each) for each in never_release or ()]
    if asks and not dry_run and risk is None and epsilon is None:
        risk = _ask_risk()
    given: dict[str, Any] = {
        "text": text or (),
        "drop": drop or (),
        "keep": keep or (),
        "keep_sheets": keep_sheet or (),
        "drop_sheets": drop_sheet or (),
        "labels": label or (),
        "risk": risk,
        "epsilon": epsilon,
        "never_release": [*(() if allow_names else ("names",)), *listed] or None,
        "reading": reading.reading(),
        "embedding": mechanism.space,
        "purpose": mechanism.purpose,
        "mechanism": mechanism.mechanism,
        "mechanism_options": mechanism.parse_options(),
    }
    if dry_run:
        print("\n".join(map(printable, plan_file(file, output, **given))))
        return
    with warnings_shown():
        decision = release_file(
            file,
            output,
            person=person,
            words=words or (),
            public=public,
            resume=resume,
            force=force,
            workers=workers,
            ask=_ask if asks else None,
            accept_changes=_confirm if asks and not accept_changes else accept_changes,
            progress=None if quiet or as_json else Progress,
            **given,
        )
    if as_json:
        found = decision.to_dict()  # without what quotes the text: that is in the folder keep
        print_json({name: found[name] for name in ("verdict", "released", "limit", "release", "columns")})
    else:
        print(f"{decision.verdict.answer.upper()}: {printable(decision.verdict.headline)}")
        for reason in decision.verdict.reasons:
            print(f"- {printable(reason)}")
        print(f"\nRead and sign: {decision.page}")
        if decision.released:
            print(f"Hand over: {decision.hand_over}")
        elif decision.verdict.may_release:
            print("Nothing was released. Settle these points, or accept them: --accept-changes")
    if not decision.released:
        raise typer.Exit(DO_NOT_RELEASE)


def _ask_risk() -> str:
    from deniable.measures.risk import LEVELS
    from deniable.report.wording import percent

    levels = ", ".join(f"{name} {percent(share)}" for name, share in LEVELS.items())
    said = f"How many of the words may a reader name ({levels}, or a share such as 0.12)?"
    return str(typer.prompt(said, default="low", err=True)).strip().lower()


def _confirm(verdict: Verdict) -> bool:
    from deniable.errors import printable

    for reason in verdict.reasons:
        typer.echo(f"- {printable(reason)}", err=True)
    return typer.confirm("Release all the same?", default=False, err=True)


def _ask(column: Undecided) -> Role:
    from deniable.errors import printable

    what = "is" if column.is_sheet else "looks like"
    said = f"{printable(column.name)} {what} {column.looks_like}: {' / '.join(column.roles)}"
    while True:
        answer = typer.prompt(said, default=column.suggestion, err=True).strip().lower()
        for role in column.roles:
            if answer and role.startswith(answer):
                return role
        typer.echo(f"Answer with one of {', '.join(column.roles)}.", err=True)
