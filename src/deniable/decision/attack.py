"""Attack a release that was made, or is planned: its private file and its card are enough.

The private texts are the truth, and the attackers read rehearsal draws that are made as the card says. They
need no public text: which words follow one another they learn from the release itself, and better from a
public text if one is given.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from deniable.decision.rehearsal import Rehearsal, rehearse
from deniable.errors import MalformedCard
from deniable.progress import Report
from deniable.records.formats.columns import OTHER_DELIMITERS, likely_delimiter
from deniable.records.formats.layout import Layout, Roles, make_layout
from deniable.records.formats.lines import Lines
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.reading import labelled_records
from deniable.release.card import Card
from deniable.release.privatizer import Privatizer
from deniable.words.never_release import NeverRelease

MOST_RECORDS = 50_000
"""How many records are rehearsed, from the first on."""


def attack_file(
    source: Path | str,
    card: Card,
    *,
    columns: Sequence[str] = (),
    person: str | None = None,
    words: Sequence[Path | str] = (),
    public: Path | str | None = None,
    report: Report | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Rehearsal:
    """Return what attackers learn from draws of a private file that are made as its card says.

    ``columns`` are those of the card by default. ``person`` says whose a record is, ``words`` are files of
    words to report apart, ``public`` a public text that attackers have read, one document a line.

    :raises InvalidParameter: if a column is not there.
    :raises MalformedCard: if the card names no mechanism, or its embedding is not here.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if it holds no word.
    """
    path, how = Path(source), reading_of(Path(source), reading)
    opened = card.open_embedding()
    if card.mechanism is None:
        raise MalformedCard(card.source, "the mechanism is the data holder's own, which a card cannot name")
    layout = layout_of(path, Roles.of(text=columns or card.columns), how)
    texts, people = private_texts(path, layout, person, how)
    return rehearse(
        Privatizer(card.make_mechanism(opened), unknown=card.unknown, keep_words=card.keep_words),
        card.mechanism.chosen,
        texts,
        lists=word_lists(words),
        held_back=None if opened.left_out is None else opened.left_out.listed,
        people=people,
        public=None if public is None else Path(public),
        report=report,
    )


def reading_of(path: Path, reading: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how a file is read; the header of a CSV file says what separates its cells, unless an option
    does."""
    how = dict(reading or {})
    layout = layout_of(path, Roles(), how)
    if layout.format == "csv" and layout.header and how.get("delimiter") is None and path.is_file():
        with open_source(path) as source:
            first = next(iter(Lines(source, layout.encoding)), "")
        option = likely_delimiter(next(csv.reader([first]), []), layout.delimiter)
        marks = {shown: mark for mark, shown in OTHER_DELIMITERS.items()}
        how |= {} if option is None else {"delimiter": marks[option]}
    return how


def layout_of(path: Path, roles: Roles, how: dict[str, Any]) -> Layout:
    """Return the layout of a private file."""
    given = {"format": None, "delimiter": None, "header": True, "encoding": "utf-8", "sheet": None} | how
    return make_layout(path, roles=roles, **given)


def private_texts(
    path: Path, layout: Layout, person: str | None, how: dict[str, Any]
) -> tuple[list[str], list[str] | None]:
    """Return the texts of the first records, and whose each is if a column of one text says so."""
    if person is not None and len(layout.roles.text) == 1:
        column = layout.roles.text[0]
        records = labelled_records(path, label_column=person, text_column=column, called="person", **how)
        pairs = list(islice(records, MOST_RECORDS))
        return [text for _, text in pairs], [name for name, _ in pairs]
    texts: list[str] = []
    with open_source(path) as source:
        for batch in open_reader(source, layout, None).batches():
            texts += [text or "" for text in batch.texts]
            if len(texts) >= MOST_RECORDS:
                break
    return texts[:MOST_RECORDS], None


def word_lists(words: Sequence[Path | str]) -> dict[str, NeverRelease]:
    """Return the lists of words that are reported apart: names, and those of the files."""
    lists = {"names": NeverRelease.of("names")}
    for path in words:
        lists[Path(path).name] = NeverRelease.of([Path(path)])
    return lists
