"""Released files decoded: the likeliest words in place of the released ones, or candidates with their
probabilities."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Unpack

from deniable.analysis.receiving import Received, ReleasedFileOptions, receive, split_options
from deniable.atomic import check_apart, check_place, whole_file
from deniable.errors import RecordError
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.records.labelled import ReadingOptions
from deniable.records.rewriting import check_rewritten, read_texts, rewrite_file
from deniable.release.card import Card

_TEXTS_AT_ONCE = 1_000


def decode_file(
    path: Path | str,
    target: Path | str,
    card: Card,
    *,
    column: str | None = None,
    top: int | None = None,
    force: bool = False,
    channel_report: Report | None = None,
    report: Report | None = None,
    **options: Unpack[ReleasedFileOptions],
) -> Received:
    """Decode the released texts of a file into another file of the same format, in which everything else
    stays; return by what.

    With ``top`` the target is a CSV file instead: for each released word that many candidates, each with its
    probability. The options are ``embedding``, ``public``, ``support`` and ``directions`` of ``receive``, and
    ``format``, ``delimiter``, ``header`` and ``encoding`` of ``privatize_file``. With ``public`` words are
    read in their context.

    :raises InvalidParameter: if a column is not there, or a value is not allowed.
    :raises NotThisRelease: if the text was not released as the card says.
    :raises RecordError: if a file cannot be read, or the target is there and is not to be replaced.
    """
    source, goal = Path(path), Path(target)
    decoding, reading = split_options(options)
    if top is None:
        check_rewritten(source, goal, column=column, force=force, **reading)
    else:
        top = validated_count(top, "top")
        check_place(goal)
        check_apart(str(source), goal)
        if goal.exists() and not force:
            raise RecordError(goal, "exists already; replace it with force=True")
    received = receive(card, read_texts(source, column=column, **reading), report=channel_report, **decoding)
    if top is not None:
        _write_candidates(source, goal, received, top, column=column, report=report, **reading)
    else:
        rewrite_file(source, goal, received.decoder.many, column=column, force=True, report=report, **reading)
    return received


def _write_candidates(
    source: Path,
    target: Path,
    received: Received,
    top: int,
    *,
    column: str | None,
    report: Report | None,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Write a row for each candidate: which record and place, the released word, the candidate, its
    probability."""
    decoder, total = received.decoder, received.counts.records
    records = 0
    with whole_file(target) as file:
        waiting: list[str | None] = []

        def write() -> None:
            nonlocal records
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            for words in decoder.candidates(waiting, top=top):
                records += 1
                for place, (released, candidates) in enumerate(words, 1):
                    rows.writerows(
                        [records, place, released, each.word, f"{each.probability:.6g}"]
                        for each in candidates
                    )
            file.write(text.getvalue().encode())
            waiting.clear()
            if report is not None:
                report(records, total)

        file.write(b"record,place,released,candidate,probability\n")
        for released in read_texts(source, column=column, **reading):
            waiting.append(released)
            if len(waiting) == _TEXTS_AT_ONCE:
                write()
        write()
