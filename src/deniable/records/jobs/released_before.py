"""Receipts name the files that they are about, so that the release of an input that was released before is
noticed.

Digests are those that keyed jobs name records by: BLAKE2b with 16 bytes, as ``b2sum -l 128`` prints them; of
a folder, that of the digests of its files. They stand in receipts only, which are private: whoever guesses an
input could check the guess by its digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import MalformedReceipt, RecordError, printable
from deniable.records.formats.folder import FolderSource
from deniable.records.formats.source import FileSource, Source
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import ENDING

if TYPE_CHECKING:
    from deniable.release.receipt_page import ReceiptFile

_MOST_RECEIPTS = 1_000


class InputFile:
    """The input of a job as it is when the job begins; None of it is known of a stream."""

    def __init__(self, source: Source) -> None:
        """Take the digest; the source is read on its own."""
        self._source = source.again() if isinstance(source, FileSource) else source
        self.digest = self._source.digest()

    def described(self) -> dict[str, Any]:
        """Return the name, size and digest of the input, if it is still what it was.

        :raises RecordError: if it changed.
        """
        self._source.check_unchanged()
        return _described(Path(self._source.name).name, self._source.size, self.digest)

    def warnings(self, private: Privatizer, folders: Iterable[Path]) -> list[str]:
        """Return that the input was released before, if a receipt in one of these folders says so.

        With the same key and settings the same words come out, and nothing is spent again.
        """
        from deniable.release.receipt_page import read_receipt_file  # loads msgspec

        for path in _receipts(folders):
            try:
                receipt = read_receipt_file(path)
            except (MalformedReceipt, RecordError, OSError):
                continue
            known = (receipt.files or {}).get("input")
            if known is None or known.digest != self.digest or _is_repeated(receipt, private):
                continue
            return [
                f"{printable(known.name)} was released before ({printable(path.name)}, "
                f"{printable(receipt.created)}): each release spends its budget again, and choosing among "
                "releases voids the guarantee. With a key (--key-file) the same words come out again"
            ]
        return []


def describe_output(written: Path, target: Path) -> dict[str, Any]:
    """Return the name, size and digest of what is published as ``target``."""
    source = FolderSource(written) if written.is_dir() else FileSource(written)
    try:
        return _described(target.name, source.size, source.digest())
    finally:
        source.close()


def _described(name: str, size: int | None, digest: str | None) -> dict[str, Any]:
    return {"name": name, "bytes": size, "digest": digest}


def _receipts(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(each.resolve() for each in folders):
        yield from sorted(folder.glob(f"*{ENDING}"))[:_MOST_RECEIPTS]


def _is_repeated(receipt: ReceiptFile, private: Privatizer) -> bool:
    settings = private.settings
    now = (
        settings.randomness.get("key"),
        settings.mechanism_name,
        settings.mechanism.embedding.fingerprint,
        settings.ceiling,
        settings.record_epsilon,
    )
    return receipt.randomness.key is not None and now == (
        receipt.randomness.key,
        receipt.mechanism,
        receipt.embedding.fingerprint,
        receipt.epsilon_per_word,
        receipt.epsilon_per_record,
    )
