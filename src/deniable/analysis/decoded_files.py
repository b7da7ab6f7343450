"""Released files decoded: the likeliest words in place of the released ones, or candidates with their probabilities."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from deniable.analysis.receiving import SUPPORT, Received, receive
from deniable.atomic import check_apart, check_place, whole_file
from deniable.channel.making import DIRECTIONS
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.records.labelled import ReadingOptions
from deniable.records.rewriting import read_texts, rewrite_file
from deniable.text.card import Card

_TEXTS_AT_ONCE = 1_000


@dataclass(frozen=True, kw_only=True)
class DecodedFile:
    """What was decoded: how many records, how many of their words are others now, and by what."""

    records: int
    changed: int
    received: Received


def decode_file(
    path: Path | str,
    target: Path | str,
    card: Card,
    *,
    column: str | None = None,
    top: int | None = None,
    embedding: Embedding | str | Path | None = None,
    public: Path | None = None,
    support: int = SUPPORT,
    directions: int = DIRECTIONS,
    force: bool = False,
    channel_report: Report | None = None,
    report: Report | None = None,
    **reading: Unpack[ReadingOptions],
) -> DecodedFile:
    """Decode the released texts of a file into another file of the same format, in which everything else stays.

    With ``top`` the target is a CSV file instead: for each released word that many candidates, each with its probability. With ``public``
    words are read in their context. The other parameters are those of ``receive`` and of ``privatize_file``.

    :raises InvalidParameter: if a column is not there, or a value is not allowed.
    :raises NotThisRelease: if the text was not released as the card says.
    :raises RecordError: if a file cannot be read, or the target is there and is not to be replaced.
    """
    source, goal = Path(path), Path(target)
    check_place(goal)
    check_apart(str(source), goal)
    if goal.exists() and not force:
        raise RecordError(goal, "exists already; replace it with --force")
    if top is not None:
        top = validated_count(top, "top")
    received = receive(
        card,
        read_texts(source, column=column, **reading),
        embedding=embedding,
        public=public,
        support=support,
        directions=directions,
        report=channel_report,
    )
    if top is not None:
        records, changed = _write_candidates(source, goal, received, top, column=column, report=report, **reading)
    else:
        records, changed = _write_likeliest(source, goal, received, column=column, report=report, **reading)
    return DecodedFile(records=records, changed=changed, received=received)


def _write_likeliest(
    source: Path, target: Path, received: Received, *, column: str | None, report: Report | None, **reading: Unpack[ReadingOptions]
) -> tuple[int, int]:
    decoder, changed = received.decoder, 0

    def change(texts: list[str | None]) -> list[str | None]:
        nonlocal changed
        decoded = decoder.many(texts)
        for text, other in zip(texts, decoded, strict=True):
            changed += sum(before != after for before, after in zip((text or "").lower().split(), (other or "").split(), strict=False))
        return decoded

    records = rewrite_file(source, target, change, column=column, force=True, report=report, **reading)
    return records, changed


def _write_candidates(
    source: Path,
    target: Path,
    received: Received,
    top: int,
    *,
    column: str | None,
    report: Report | None,
    **reading: Unpack[ReadingOptions],
) -> tuple[int, int]:
    """Write a row for each candidate: which record and place, the released word, the candidate, its probability."""
    decoder, total = received.decoder, received.counts.records
    records = changed = 0
    with whole_file(target) as file:
        waiting: list[str | None] = []

        def write() -> None:
            nonlocal records, changed
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            for words in decoder.candidates(waiting, top=top):
                records += 1
                for place, (released, candidates) in enumerate(words, 1):
                    changed += bool(candidates) and candidates[0].word != released
                    rows.writerows([records, place, released, each.word, f"{each.probability:.6g}"] for each in candidates)
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
    return records, changed
