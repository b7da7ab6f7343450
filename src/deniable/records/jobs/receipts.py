"""The receipt of a file or stream of records: what the privatizer says, and what the other columns disclose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from deniable.errors import InvalidParameter, ResumeError
from deniable.records.formats.layout import Layout
from deniable.records.formats.reader import Reader
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt
from deniable.text.tally import Tally

_TELLING = ("mechanism", "guarantee", "epsilon_per_word", "epsilon_per_record", "embedding", "policy")


def receipt_of(private: Privatizer, reader: Reader, layout: Layout, tally: Tally) -> Receipt:
    """Return the receipt for the records counted in the tally."""
    receipt = private.receipt_for(tally)
    public = list(receipt.public)
    if reader.untouched:
        public.append(f"released exactly as it is: {reader.untouched}")
    return replace(receipt, public=tuple(public), relaxations=tuple(relaxations_of(private, layout)))


def relaxations_of(private: Privatizer, layout: Layout) -> list[str]:
    """Return what is disclosed beyond the guarantee, known before any record is read."""
    relaxations = list(private.receipt().relaxations)
    if len(layout.columns) > 1:
        relaxations.append(
            f"{len(layout.columns)} columns are privatized: counts and budget are per cell, "
            "and what is spent on a row adds up over its cells"
        )
    return relaxations


def check_finished(private: Privatizer, receipt: Path, target: Path) -> None:
    """Do nothing if a finished output was made with these settings, by its receipt.

    :raises ResumeError: if there is no receipt, by which anybody's file could be taken for a release, or if it says otherwise, with
        every setting that differs.
    """
    try:
        made = json.loads(receipt.read_text(encoding="utf-8"))
        then = {key: made[key] for key in _TELLING}
    except (OSError, ValueError, KeyError, TypeError):
        problem = f"exists, and no receipt ({receipt.name}) says that it was released; name another output, or start over with --force"
        raise ResumeError(target, problem) from None
    described = private.receipt().to_dict()
    differing = [key for key in _TELLING if then[key] != described[key]]
    if any(made.get("randomness", {}).get(key) != described["randomness"].get(key) for key in ("key", "consistent")):
        differing.append("key")
    if differing:
        problem = f"is finished, with other settings ({', '.join(differing)}); name another output, or start over with --force"
        raise ResumeError(target, problem)


def check_budget(private: Privatizer, layout: Layout) -> None:
    """Do nothing if the budget means what it says.

    :raises InvalidParameter: if a budget per record would be spent once per column.
    """
    if private.record_epsilon is not None and len(layout.columns) > 1:
        problem = f"would be spent {len(layout.columns)} times, once per column; name one column, or use epsilon"
        raise InvalidParameter("record_epsilon", private.record_epsilon, problem)
