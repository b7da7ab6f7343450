"""``deniable receipt``: the receipt of a release as a page to print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deniable.text.receipt import Receipt

ReceiptPage = Annotated[
    Path | None, typer.Option(help="Where to write the receipt as a page to print (HTML). Keep the page as you keep the receipt.")
]


def receipt(
    file: Annotated[Path, typer.Argument(help="The receipt of a release: OUTPUT.receipt.json.", metavar="RECEIPT")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page (HTML).")],
    force: Annotated[bool, typer.Option("--force", help="Replace a page that exists.")] = False,
) -> None:
    """Write the receipt of a release as a page to print: what was released, how, what was spent, what is not promised.

    The page holds what the receipt holds, so it stays with whoever holds the private text.
    """
    from deniable.text.receipt_file import read_receipt_file
    from deniable.text.receipt_page import write_receipt_page

    found = read_receipt_file(file)
    check_page(output, str(file), force=force)
    write_receipt_page(found, output)
    print(f"{output}: keep it and do not hand it over, its counts come from the private text")


def check_page(page: Path, source: str, *written: Path | None, force: bool) -> None:
    """Do nothing if the page can be written there, which is neither the source nor another file that is written.

    :raises RecordError: otherwise.
    """
    from deniable.atomic import check_apart
    from deniable.errors import RecordError
    from deniable.report.place import check_place

    check_place(page)
    check_apart(source, page)
    if any(other is not None and other.resolve() == page.resolve() for other in written):
        raise RecordError(page, "would be written twice; name another file")
    if page.exists() and not force:
        raise RecordError(page, "exists already; replace it with --force")


def write_page(page: Path, made: Receipt | None, noted: Path) -> None:
    """Write the page of a release that was just made, or that was finished before and ``noted`` in its receipt."""
    from deniable.text.receipt_file import decode_receipt, read_receipt_file
    from deniable.text.receipt_page import write_receipt_page

    write_receipt_page(read_receipt_file(noted) if made is None else decode_receipt(made.to_json(), noted), page)
