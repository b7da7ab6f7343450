"""``deniable audit report``: all audits of a release on one page."""

from __future__ import annotations

from pathlib import Path

import typer

from deniable.cli.options import with_groups


@with_groups
def report(
    results: list[Path],
    *,
    output: Path,
) -> None:
    """Put the results of audits on one page for people: what was tried, what was learned, which ε would be
    acceptable.

    :param results: Results that audits wrote with --save.
    :param output -o: Where to write the page (HTML).
    """
    from deniable.atomic import check_place
    from deniable.audit.page import audit_page
    from deniable.audit.results import read_result

    check_place(output)
    audit_page([read_result(path) for path in results]).write(output)
    typer.echo(str(output))
