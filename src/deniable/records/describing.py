"""What identifies a job, what its receipt says beside the counts, and whether its budget means what it says.

Receipts name the files that they are about, so that the release of an input that was released before is
noticed. Digests are those that keyed jobs name records by: BLAKE2b with 16 bytes, as ``b2sum -l 128`` prints
them; of a folder, that of the digests of its files. They stand in receipts only, which are private: anybody
who guesses an input could check the guess by its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.atomic import read_plain_file
from deniable.errors import InvalidParameter, MalformedReceipt, RecordError, ResumeError, printable
from deniable.records.formats.folder import FolderSource
from deniable.records.formats.layout import Layout
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import FileSource, Source
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import ENDING, LONGEST_RECEIPT, Receipt
from deniable.release.tally import Tally
from deniable.version import __version__

_VERSIONS = {
    "rules_for_words": "rules for words",
    "keyed_noise": "keyed noise",
    "unicode_tables": "Unicode tables of regex",
}
_DESCRIBING = ("mechanism", "guarantee", "epsilon_per_word", "epsilon_per_record", "embedding", "policy")
_OR_START_OVER = "name another output, or start over with force=True"


def identity_of(private: Privatizer, source: Source, layout: Layout) -> dict[str, Any]:
    """Return the input and every setting that the output depends on, as JSON-ready data without private
    text."""
    identity = source.identity or {"input": source.name}
    return {"deniable": __version__, **identity, **_settings(private, layout)}


def settings_digest(private: Privatizer, layout: Layout) -> str:
    """Return a digest of every setting that the output depends on: with a key, equal digests and records give
    equal words."""
    return _digest(_settings(private, layout))


def job_digest(private: Privatizer, source: Source, layout: Layout) -> str:
    """Return a digest of where the input lies and of all settings, for the receipt: another job must not take
    its output for its own. What is in the input is no part of it, not even its size."""
    return _digest({"input": (source.identity or {}).get("input")} | _settings(private, layout))


def _digest(described: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(described, sort_keys=True).encode(), digest_size=16).hexdigest()


def _settings(private: Privatizer, layout: Layout) -> dict[str, Any]:
    return {**layout.to_dict(), **private.settings.identity()}


def check_identity(begun: Mapping[str, Any], now: Mapping[str, Any], partial: Path) -> None:
    """Check that a job that was begun is the one to continue.

    :raises ResumeError: if not, with every setting that differs.
    """
    if begun.get("randomness") == "keyed":  # older jobs do not say the version
        begun = {**begun, "keyed_noise": begun.get("keyed_noise", 1)}
    differing = [key for key in {**begun, **now} if begun.get(key) != now.get(key)]
    versions = [key for key in _VERSIONS if key in differing]
    if versions:
        listed = "; ".join(f"{_VERSIONS[key]} {begun.get(key)}, now {now.get(key)}" for key in versions)
        raise ResumeError(
            partial,
            "was begun by another version of deniable, which cuts text or draws noise otherwise "
            f"({listed}); finish it with that version, or delete it with its journal, or start over with "
            "force=True: all is drawn again then",
        )
    if differing:
        listed = "; ".join(f"{key} was {begun.get(key)!r} and is {now.get(key)!r}" for key in differing)
        problem = f"belongs to another job: {listed}. Use the same settings, or start over with force=True"
        raise ResumeError(partial, problem)


def check_finished(private: Privatizer, job: str, receipt: Path, target: Path) -> None:
    """Check by its receipt that a finished output is that of the job with this digest.

    :raises ResumeError: if there is no receipt, by which anybody's file could be taken for a release, or if
        it says otherwise, with every setting that differs as far as it tells.
    """
    try:
        content = read_plain_file(receipt, longest=LONGEST_RECEIPT, what="receipt", error=MalformedReceipt)
        finished = json.loads(content)
        then = {key: finished[key] for key in _DESCRIBING}
        noise = dict(finished.get("randomness", {}))
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # MalformedReceipt is a ValueError
        problem = f"exists, and no receipt ({receipt.name}) says that it was released"
        raise ResumeError(target, f"{problem}; {_OR_START_OVER}") from None
    now = private.settings.to_dict()
    differing = [key for key in _DESCRIBING if then[key] != now[key]]
    if any(noise.get(key) != now["randomness"].get(key) for key in ("key", "consistent")):
        differing.append("key")
    elif noise.get("source") == "keyed" and noise.get("version", 1) != now["randomness"].get("version"):
        differing.append("version of keyed noise")
    if differing:
        raise ResumeError(
            target, f"is finished, with other settings ({', '.join(differing)}); {_OR_START_OVER}"
        )
    if finished.get("job") != job:
        another = "the input lay elsewhere, or other columns were named, other words kept, or the"
        another += " file was read otherwise"
        raise ResumeError(target, f"is finished, by another job: {another}; {_OR_START_OVER}")


def receipt_of(
    promised: Receipt, reader: Reader, layout: Layout, tally: Tally, generators: Sequence[str] = ()
) -> Receipt:
    """Return the receipt for the records counted in the tally, given one that was made before any record was
    read.

    ``generators`` are what drew the words, if the work was done in several runs: the last of them promises
    for itself alone.
    """
    untouched = [f"released exactly as it is: {reader.untouched}"] if reader.untouched else []
    several = tally.knows_rows and tally.rows < tally.records
    relaxations = relaxations_of(
        promised.relaxations, layout.roles.text, lists=reader.has_lists, several=several
    )
    if len(layout.roles.text) <= 1 and not reader.has_lists and not tally.knows_rows:
        tally = tally.every_text_is_a_row()  # begun by a version that did not count rows
    generator = {"generator": "; then ".join(generators)} if generators else {}
    return replace(
        promised.with_tally(tally),
        public=(*promised.public, *untouched, *layout.roles.left_out()),
        relaxations=tuple(relaxations),
        randomness={**promised.randomness, **generator},
    )


def relaxations_of(
    relaxations: Sequence[str], columns: Sequence[str], *, lists: bool = False, several: bool = False
) -> list[str]:
    """Return what is disclosed beyond the guarantee, with what releasing several columns of a record, or
    lists in it, adds to it.

    ``several`` says that records had more than one text, also if they have no lists: one name can be that of
    a key and a path.
    """
    budget = "(in the budget: longest_row; a record there is one {})"
    if len(columns) > 1:
        summed = f"{len(columns)} columns are privatized: what is spent on a row adds up over its cells"
        return [*relaxations, f"{summed} {budget.format('cell')}"]
    if lists and columns:
        summed = "a column holds lists of texts: what is spent on a row adds up over its elements"
        return [
            *relaxations,
            f"{summed} {budget.format('element')}, and how many elements a list has is released",
        ]
    if several and columns:
        summed = "a record has the column by its very name and by its path"
        return [*relaxations, f"{summed}: what is spent on a row adds up over both {budget.format('text')}"]
    return list(relaxations)


def check_budget(record_epsilon: float | None, columns: Sequence[str], *, lists: bool = False) -> None:
    """Check that a budget per record means what it says; ``lists`` says whether a column may hold several
    texts of a record.

    :raises InvalidParameter: if it would be spent once per column, or per element of a list.
    """
    if record_epsilon is None:
        return
    if lists:
        problem = "would be spent once per element: a column holds lists of texts"
        raise InvalidParameter(
            "record_epsilon",
            record_epsilon,
            f"{problem}; use epsilon, or put each text into a record of its own",
        )
    if len(columns) > 1:
        problem = f"would be spent {len(columns)} times, once per column; name one column, or use epsilon"
        raise InvalidParameter("record_epsilon", record_epsilon, problem)


if TYPE_CHECKING:
    from deniable.release.receipt_page import ReceiptFile

_MOST_RECEIPTS = 1_000


def released_before(digest: str, private: Privatizer, folders: Iterable[Path]) -> list[str]:
    """Return that the input with this digest was released before, if a receipt in one of these folders says
    so.

    With the same key and settings the same words come out, and nothing is spent again.
    """
    from deniable.release.receipt_page import read_receipt_file  # loads msgspec

    for path in _receipts(folders):
        try:
            receipt = read_receipt_file(path)
        except (MalformedReceipt, RecordError, OSError):
            continue
        known = (receipt.files or {}).get("input")
        if known is None or known.digest != digest or _is_repeated(receipt, private):
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
        return described(target.name, source.size, source.digest())
    finally:
        source.close()


def described(name: str, size: int | None, digest: str | None) -> dict[str, Any]:
    """Return what a receipt says of a file."""
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
