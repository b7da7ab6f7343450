"""What is said on the terminal about an output that was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.text.receipt import Receipt


def with_receipt(output: str | Path, made: Receipt, receipt: Path | None) -> str:
    """Return the summary of a release with where its receipt lies: two files were written, and one of them must stay."""
    from deniable.records.jobs.targets import beside

    noted = beside(Path(output), ".receipt.json") if receipt is None else receipt
    return f"{output}\n{made.summary()}\nreceipt: {noted}; keep it and do not hand it over, its counts come from the private text"
