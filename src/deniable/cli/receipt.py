"""``deniable receipt``: the receipt of a release as a page to print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.options import with_groups
from deniable.cli.terminal import print_json
from deniable.errors import printable

if TYPE_CHECKING:
    from deniable.release.proved import ProvedNumbers
    from deniable.release.receipt import Receipt
    from deniable.release.receipt_page import ReceiptFile


@with_groups
def receipt(
    file: Path,
    *,
    output: Path | None = None,
    card: Path | None = None,
    delta: float = 1e-6,
    no_numbers: bool = False,
    as_json: bool = False,
    force: bool = False,
) -> None:
    """Write the receipt of a release as a page to print: what was released, how, what was spent, what is
    proved, what is not promised.

    Without --output it prints what is proved in numbers. The page holds what the receipt holds, so it stays
    with the person who holds the private text.

    :param file RECEIPT: The receipt of a release: OUTPUT.receipt.json.
    :param output -o: Where to write the page (HTML).
    :param card: The card of the release. Default: the card beside the receipt.
    :param delta: The δ of the numbers for texts that differ in several words.
    :param no_numbers: Leave out what is proved in numbers, which takes seconds.
    :param as_json --json: Print the receipt as JSON, with what is proved in numbers.
    :param force: Replace a page that exists.
    """
    from deniable.release.receipt_page import read_receipt_file, write_receipt_page

    if output is None and no_numbers and not as_json:
        raise typer.BadParameter("--no-numbers needs an --output or --json")
    found = read_receipt_file(file)
    if output is not None:
        check_page(output, str(file), force=force)
    numbers = None if no_numbers else _numbers(found, file, card, delta)
    if as_json:
        print_json(json.loads(file.read_bytes()) | ({} if numbers is None else {"proved": numbers.to_dict()}))
    elif output is None and numbers is not None:
        print("\n".join(numbers.in_words()))
    if output is not None:
        write_receipt_page(found, output, numbers)
        said = f"{output}: keep it and do not hand it over, its counts come from the private text"
        print(said, file=sys.stderr if as_json else sys.stdout)


def _numbers(found: ReceiptFile, file: Path, card: Path | None, delta: float) -> ProvedNumbers | None:
    from deniable.release.card import ENDING as CARD
    from deniable.release.card import read_card
    from deniable.release.receipt import ENDING
    from deniable.release.receipt_page import numbers_of_release

    beside = file.with_name(file.name.removesuffix(ENDING) + CARD)
    if card is None and not beside.exists():
        print(
            f"{printable(str(beside))}: no card lies there, so nothing is proved in numbers; name it with "
            "--card",
            file=sys.stderr,
        )
        return None
    return numbers_of_release(read_card(card or beside), found, delta=delta)


def check_page(page: Path, source: str, *written: Path | None, force: bool) -> None:
    """Check that the page can be written there, which is neither the source nor another file that is
    written.

    :raises RecordError: otherwise.
    """
    from deniable.atomic import check_apart, check_new, check_place
    from deniable.errors import RecordError

    check_place(page)
    check_apart(source, page)
    if any(other is not None and other.resolve() == page.resolve() for other in written):
        raise RecordError(page, "would be written twice; name another file")
    check_new(page, force=force)


def write_page(page: Path, receipt: Receipt | None, noted: Path) -> None:
    """Write the page of a release that was just made, or that was finished before and ``noted`` in its
    receipt."""
    from deniable.release.receipt_page import decode_receipt, read_receipt_file, write_receipt_page

    write_receipt_page(
        read_receipt_file(noted) if receipt is None else decode_receipt(receipt.to_json(), noted), page
    )
