"""What a job is recognised by, and what it says of itself.

A partial output may only be continued by the very job that began it, which its journal describes; a finished one is recognised by its
receipt. That holds what the privatizer says, and what the other columns disclose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, ResumeError
from deniable.records.formats.layout import Layout
from deniable.records.formats.reader import Reader
from deniable.records.formats.source import Source
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt, Tally
from deniable.version import __version__
from deniable.words.cutter import RULES

_VERSIONS = {"rules_for_words": "rules for words", "keyed_noise": "keyed noise"}
_DESCRIBING = ("mechanism", "guarantee", "epsilon_per_word", "epsilon_per_record", "embedding", "policy")


def identity_of(private: Privatizer, source: Source, layout: Layout) -> dict[str, Any]:
    """Return the input and every setting that the output depends on, as JSON-ready data without private text."""
    return {"deniable": __version__, **(source.identity() or {"input": source.name}), **_settings(private, layout)}


def settings_digest(private: Privatizer, layout: Layout) -> str:
    """Return a digest of every setting that the output depends on: with a key, equal digests and records give equal words."""
    settings = json.dumps(_settings(private, layout), sort_keys=True).encode()
    return hashlib.blake2b(settings, digest_size=16).hexdigest()


def _settings(private: Privatizer, layout: Layout) -> dict[str, Any]:
    settings, policy = private.settings, private.policy
    keep_words = "\n".join(sorted(policy.keep_words)).encode("utf-8", "surrogatepass")
    return {
        **layout.to_dict(),
        "rules_for_words": RULES,
        "mechanism": settings.mechanism_name,
        "epsilon": settings.ceiling,
        "record_epsilon": settings.record_epsilon,
        "parameters": repr(dict(settings.mechanism.guarantee.parameters)),
        "embedding": settings.mechanism.embedding.fingerprint,
        "unknown": policy.unknown,
        "punctuation": policy.punctuation,
        "case": policy.case,
        "keep_words": hashlib.blake2b(keep_words, digest_size=8).hexdigest(),
        "randomness": settings.randomness["source"],
        "keyed_noise": settings.randomness.get("version"),
        "key": settings.randomness.get("key"),
        "consistent": settings.randomness.get("consistent"),
    }


def check_identity(begun: Mapping[str, Any], now: Mapping[str, Any], partial: Path) -> None:
    """Do nothing if both are the same job.

    :raises ResumeError: if not, with every setting that differs.
    """
    if begun.get("randomness") == "keyed":
        begun = {**begun, "keyed_noise": begun.get("keyed_noise", 1)}  # what jobs were begun with before they said so
    differing = [key for key in {**begun, **now} if begun.get(key) != now.get(key)]
    if versions := [f"{_VERSIONS[key]} {begun.get(key)}, now {now.get(key)}" for key in _VERSIONS if key in differing]:
        problem = f"was begun by another version of deniable, which cuts text or draws noise otherwise ({'; '.join(versions)})"
        way_out = "finish it with that version, or delete it with its journal, or start over with --force: all is drawn anew then"
        raise ResumeError(partial, f"{problem}; {way_out}")
    if differing:
        settings = "; ".join(f"{key} was {begun.get(key)!r} and is {now.get(key)!r}" for key in differing)
        raise ResumeError(partial, f"belongs to another job: {settings}. Use the same settings, or start over with --force")


def receipt_of(promised: Receipt, reader: Reader, layout: Layout, tally: Tally) -> Receipt:
    """Return the receipt for the records counted in the tally, given one that was made before any record was read."""
    public = promised.public
    if reader.untouched:
        public = (*public, f"released exactly as it is: {reader.untouched}")
    relaxations = relaxations_of(promised.relaxations, layout.columns)
    if len(layout.columns) <= 1 and not tally.knows_rows:  # begun by a version that did not count rows
        tally = tally.every_text_is_a_row()
    return replace(promised.with_tally(tally), public=public, relaxations=tuple(relaxations))


def relaxations_of(relaxations: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return what is disclosed beyond the guarantee, with what releasing several columns of a record adds to it."""
    found = list(relaxations)
    if len(columns) > 1:
        found.append(
            f"{len(columns)} columns are privatized: what is spent on a row adds up over its cells (in the budget: longest_row; a record "
            "there is one cell)"
        )
    return found


def check_finished(private: Privatizer, receipt: Path, target: Path) -> None:
    """Do nothing if a finished output was made with these settings, by its receipt.

    :raises ResumeError: if there is no receipt, by which anybody's file could be taken for a release, or if it says otherwise, with
        every setting that differs.
    """
    try:
        made = json.loads(receipt.read_text(encoding="utf-8"))
        then = {key: made[key] for key in _DESCRIBING}
        noise = dict(made.get("randomness", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problem = f"exists, and no receipt ({receipt.name}) says that it was released; name another output, or start over with --force"
        raise ResumeError(target, problem) from None
    described = private.settings.to_dict()
    differing = [key for key in _DESCRIBING if then[key] != described[key]]
    if any(noise.get(key) != described["randomness"].get(key) for key in ("key", "consistent")):
        differing.append("key")
    elif noise.get("source") == "keyed" and noise.get("version", 1) != described["randomness"].get("version"):
        differing.append("version of keyed noise")
    if differing:
        problem = f"is finished, with other settings ({', '.join(differing)}); name another output, or start over with --force"
        raise ResumeError(target, problem)


def check_budget(record_epsilon: float | None, columns: Sequence[str]) -> None:
    """Do nothing if a budget per record means what it says.

    :raises InvalidParameter: if it would be spent once per column.
    """
    if record_epsilon is not None and len(columns) > 1:
        problem = f"would be spent {len(columns)} times, once per column; name one column, or use epsilon"
        raise InvalidParameter("record_epsilon", record_epsilon, problem)
