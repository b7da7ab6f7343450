"""Released files decoded into another file, or into candidates with their probabilities."""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path
from typing import TypedDict, Unpack, cast

from deniable.atomic import check_apart, check_new, check_place, whole_file
from deniable.decoding.decoder import Decoder
from deniable.embeddings.embedding import Embedding
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.records.formats.layout import ReadingOptions
from deniable.records.reading import check_rewritten, read_texts, rewrite_file
from deniable.release.card import Card

_TEXTS_AT_ONCE = 1_000


class LearningOptions(TypedDict, total=False):
    """By what a release is decoded, as ``Decoder.learn`` takes it."""

    embedding: Embedding | str | Path | None
    public: Path | None
    prior: str | Path
    support: int
    effort: int
    check: bool


class DecodingOptions(LearningOptions, ReadingOptions, total=False):
    """By what a released file is decoded, and how it is read where its name does not say."""


def split_options(options: DecodingOptions) -> tuple[LearningOptions, ReadingOptions]:
    """Return the options of ``Decoder.learn``, and those of the functions that read files."""
    learning = {name: value for name, value in options.items() if name in LearningOptions.__annotations__}
    reading = {name: value for name, value in options.items() if name not in learning}
    return cast("LearningOptions", learning), cast("ReadingOptions", reading)


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
    **options: Unpack[DecodingOptions],
) -> Decoder:
    """Decode the released texts of a file into another file of the same format, in which everything else
    stays; return by what.

    With ``top`` the target is a CSV file instead: for each released word that many candidates, each with its
    probability. The options are ``embedding``, ``public``, ``prior``, ``support``, ``effort`` and
    ``check`` of ``Decoder.learn``, and ``format``, ``delimiter``, ``header``, ``encoding`` and ``sheet`` of
    ``privatize_file``. With ``public`` words are read in their context.

    :raises InvalidParameter: if a column is not there, or a value is not allowed.
    :raises NotThisRelease: if the text was not released as the card says.
    :raises RecordError: if a file cannot be read, or the target is there and is not to be replaced.
    """
    source, goal = Path(path), Path(target)
    learning, reading = split_options(options)
    if top is None:
        check_rewritten(source, goal, column=column, force=force, **reading)
    else:
        top = validated_count(top, "top")
        check_place(goal)
        check_apart(str(source), goal)
        check_new(goal, force=force)
    texts = read_texts(source, column=column, **reading)
    decoder = Decoder.learn(card, texts, report=channel_report, **learning)
    if top is not None:
        _write_candidates(source, goal, decoder, top, column=column, report=report, **reading)
    else:
        rewrite_file(source, goal, decoder.decode, column=column, force=True, report=report, **reading)
    return decoder


def _write_candidates(
    source: Path,
    target: Path,
    decoder: Decoder,
    top: int,
    *,
    column: str | None,
    report: Report | None,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Write a row for each candidate: which record and place, the released word, the candidate, its
    probability."""
    record = 0
    with whole_file(target) as file:
        file.write(b"record,place,released,candidate,probability\n")
        released = read_texts(source, column=column, **reading)
        while texts := list(islice(released, _TEXTS_AT_ONCE)):
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            for words in decoder.candidates_in(texts, top=top):
                record += 1
                for place, (word, candidates) in enumerate(words, 1):
                    rows.writerows(
                        [record, place, word, each.word, f"{each.probability:.6g}"] for each in candidates
                    )
            file.write(text.getvalue().encode())
            if report is not None:
                report(record, decoder.counts.records)
