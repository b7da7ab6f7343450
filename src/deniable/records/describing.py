"""What identifies a job, what its receipt says beside the counts, and whether its budget means what it says.

Receipts name the files that they are about, so that the release of an input that was released before is
noticed. Digests are those that keyed jobs name records by: BLAKE2b with 16 bytes, as ``b2sum -l 128`` prints
them; of a folder, that of the digests of its files. They stand in receipts only, which are private: anybody
who guesses an input could check the guess by its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.atomic import read_plain_file
from deniable.errors import InvalidParameter, MalformedReceipt, RecordError, ResumeError, printable
from deniable.records.formats.layout import Layout
from deniable.records.formats.reader import Reader
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import ENDING, LONGEST_RECEIPT, Receipt
from deniable.release.tally import Tally

_VERSIONS = {
    "rules_for_words": "rules for words",
    "keyed_noise": "keyed noise",
    "unicode_tables": "Unicode tables of regex",
}
_DESCRIBING = ("mechanism", "guarantee", "epsilon_per_word", "epsilon_per_record", "embedding", "policy")
_MOST_RECEIPTS = 1_000
_OR_START_OVER = "name another output, or start over with force=True"


def settings_of(private: Privatizer, layout: Layout) -> dict[str, Any]:
    """Return every setting that the output depends on, as JSON-ready data without private text."""
    return {**layout.to_dict(), **private.settings.identity()}


def digest_of(described: Mapping[str, Any]) -> str:
    """Return a digest of JSON-ready data."""
    return hashlib.blake2b(json.dumps(described, sort_keys=True).encode(), digest_size=16).hexdigest()


def settings_digest(private: Privatizer, layout: Layout) -> str:
    """Return a digest of every setting that the output depends on: with a key, equal digests and records give
    equal words."""
    return digest_of(settings_of(private, layout))


def check_identity(begun: Mapping[str, Any], now: Mapping[str, Any], partial: Path) -> None:
    """Check that a job that was begun is the one to continue."""
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

    Without a receipt, anybody's file could be taken for a release.

    :raises ResumeError: if it is not, with every setting that differs as far as the receipt tells.
    """
    try:
        content = read_plain_file(receipt, longest=LONGEST_RECEIPT, what="receipt", error=MalformedReceipt)
        finished = json.loads(content)
        then = {key: finished[key] for key in _DESCRIBING}
        noise = dict(finished.get("randomness", {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # also MalformedReceipt
        problem = f"exists, and no receipt ({receipt.name}) says that it was released"
        raise ResumeError(target, f"{problem}; {_OR_START_OVER}") from None
    now = private.settings.to_dict()
    drawn_by = now["randomness"]
    differing = [key for key in _DESCRIBING if then[key] != now[key]]
    if any(noise.get(key) != drawn_by.get(key) for key in ("key", "consistent")):
        differing.append("key")
    elif noise.get("source") == "keyed" and noise.get("version", 1) != drawn_by.get("version"):
        differing.append("version of keyed noise")
    problem = ""
    if differing:
        problem = f"with other settings ({', '.join(differing)})"
    elif finished.get("job") != job:
        problem = "by another job: the input lay elsewhere, or other columns were named, other words kept, or"
        problem += " the file was read otherwise"
    if problem:
        raise ResumeError(target, f"is finished, {problem}; {_OR_START_OVER}")


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
    summed, what, more = "", "", ""
    if len(columns) > 1:
        summed = f"{len(columns)} columns are privatized: what is spent on a row adds up over its cells"
        what = "cell"
    elif lists and columns:
        summed = "a column holds lists of texts: what is spent on a row adds up over its elements"
        what, more = "element", ", and how many elements a list has is released"
    elif several and columns:
        summed = "a record has the column by its very name and by its path"
        summed, what = f"{summed}: what is spent on a row adds up over both", "text"
    if not summed:
        return list(relaxations)
    return [*relaxations, f"{summed} (in the budget: longest_row; a record there is one {what}){more}"]


def check_budget(record_epsilon: float | None, columns: Sequence[str], *, lists: bool = False) -> None:
    """Check that a budget per record means what it says; ``lists`` says whether a column may hold several
    texts of a record."""
    problem = None
    if lists:
        problem = "would be spent once per element: a column holds lists of texts"
        problem += "; use epsilon, or put each text into a record of its own"
    elif len(columns) > 1:
        problem = f"would be spent {len(columns)} times, once per column; name one column, or use epsilon"
    if record_epsilon is not None and problem is not None:
        raise InvalidParameter("record_epsilon", record_epsilon, problem)


def released_before(digest: str, private: Privatizer, folders: Iterable[Path]) -> list[str]:
    """Return that the input with this digest was released before, if a receipt in one of these folders says
    so.

    With the same key and settings the same words come out, and nothing is spent again.
    """
    from deniable.release.receipt_page import read_receipt_file  # loads msgspec

    settings = private.settings
    now = (
        settings.randomness.get("key"),
        settings.mechanism_name,
        settings.mechanism.embedding.fingerprint,
        settings.ceiling,
        settings.record_epsilon,
    )
    for folder in dict.fromkeys(each.resolve() for each in folders):
        for path in sorted(folder.glob(f"*{ENDING}"))[:_MOST_RECEIPTS]:
            try:
                receipt = read_receipt_file(path)
            except (MalformedReceipt, RecordError, OSError):
                continue
            before, key = (receipt.files or {}).get("input"), receipt.randomness.key
            then = (
                key,
                receipt.mechanism,
                receipt.embedding.fingerprint,
                receipt.epsilon_per_word,
                receipt.epsilon_per_record,
            )
            if before is None or before.digest != digest or (key is not None and then == now):
                continue
            return [
                f"{printable(before.name)} was released before ({printable(path.name)}, "
                f"{printable(receipt.created)}): each release spends its budget again, and choosing among "
                "releases voids the guarantee. With a key (--key-file) the same words come out again"
            ]
    return []
