"""Files that describe something, as they are fuzzed: cards, ledgers, journals, receipts, saved results, lists
of words and of counts."""

from __future__ import annotations

import functools
import json
import random
import tempfile
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from deniable import Embedding, Multivariate, Privatizer, SecureRandomness
from tests.fuzz.target import PRIVATE, WORDS, Files, Target, vectors

_EXPERIMENTS = Path(__file__).parents[2] / "docs" / "research"


@functools.cache
def listed_embedding() -> Embedding:
    return Embedding([word for word in WORDS if word != "<unk>"], vectors(len(WORDS) - 1), name="listed")


def _private() -> Privatizer:
    return Privatizer(Multivariate(listed_embedding(), epsilon=3.0), keep_words=["king"])


def card_files() -> list[Files]:
    from deniable.mechanisms.catalogue import make_mechanism
    from deniable.release.card import Card

    found = [Card.of(_private().settings)]
    chosen: dict[str, dict[str, object]] = {
        "vickrey": {"t": 0.5, "noise": "mahalanobis"},
        "custext": {"k": 4},
        "line": {"lists": 3},
        "rank-smoothing": {"c": 0.1},
        "santext-plus": {"sensitive": ["king"]},
    }
    for name, options in chosen.items():
        made = make_mechanism(name, listed_embedding(), epsilon=2.5, options=options)
        found.append(Card.of(Privatizer(made, record_epsilon=9.0).settings, ["text"]))
    return [{"card": card.to_json().encode()} for card in found]


def read_card_file(folder: Path, _source: random.Random) -> None:
    from deniable.release.card import read_card

    card = read_card(folder / "card")
    json.dumps(card.to_dict(), allow_nan=False)
    assert card.epsilon_of_a_word(3) > 0
    card.make_mechanism(listed_embedding()).perturb(np.arange(3), SecureRandomness())


@functools.cache
def ledger_files() -> list[Files]:
    from deniable.records.ledger import Ledger, LedgerEntry

    with tempfile.TemporaryDirectory() as place:
        with closing(Ledger(Path(place) / "ledger")) as ledger:
            ledger.record(
                LedgerEntry(name="a.csv", size=10, time=1, digest="d" * 32, settings="s", begun=True)
            )
            ledger.record(LedgerEntry(name="a.csv", size=10, time=1, digest="d" * 32, settings="s", words=7))
            ledger.record(
                LedgerEntry(
                    name="b.csv", size=10, time=2, digest="d" * 32, settings="s", words=7, same_as="a.csv"
                )
            )
        return [{"ledger": (Path(place) / "ledger").read_bytes()}]


def read_ledger(folder: Path, _source: random.Random) -> None:
    from deniable.records.ledger import Ledger

    with closing(Ledger(folder / "ledger")) as ledger:
        for entry in [*ledger.about_content("d" * 32), ledger.find("a.csv")]:
            if entry is not None:
                assert entry.same_file((folder / "ledger").stat()) is False
                ledger.record(entry)


@functools.cache
def journal_files() -> list[Files]:
    from deniable.records.journal import Journal, Partial

    private = _private()
    private.many(["the king", f"a {PRIVATE} is here", None])
    with tempfile.TemporaryDirectory() as place:
        journal, partial = Journal(Path(place) / "journal"), Partial(Path(place) / "partial")
        journal.begin({"input": "in.csv", "columns": ["text"]}, replaces=False)
        for records in (2, 3):
            partial.append(b"the queen\n")
            journal.checkpoint(
                records=records, length=partial.length, crc=partial.crc, tally=private.take_tally()
            )
        journal.add(complete=True)
        journal.add(sealed=True)
        journal.close()
        partial.close()
        return [{name: (Path(place) / name).read_bytes() for name in ("journal", "partial")}]


def resum_journal(files: Files, source: random.Random) -> Files:
    """Return the files with checksums that fit the lines, half of the time."""
    if source.random() < 0.5 or "journal" not in files:
        return files
    lines = [line.partition(b" ")[2] for line in files["journal"].split(b"\n")[:-1]]
    return files | {"journal": b"".join(b"%08x %s\n" % (zlib.crc32(line), line) for line in lines)}


def read_journal(folder: Path, _source: random.Random) -> None:
    from deniable.records.journal import Journal, Partial

    journal = Journal(folder / "journal")
    try:
        json.dumps([journal.job, journal.replaces, journal.records])
        _private().receipt_for(journal.tally).summary()
        Partial.reopen(folder / "partial", length=journal.length, crc=journal.crc).close()
    finally:
        journal.close()


def receipt_files() -> list[Files]:
    private = _private()
    private.many(["the king", f"a {PRIVATE} is here"])
    return [{"receipt": replace(private.receipt(), job="0" * 32).to_json().encode()}]


def read_receipt(folder: Path, _source: random.Random) -> None:
    from deniable.records.describing import check_finished

    check_finished(_private(), "0" * 32, folder / "receipt", folder / "out.csv")


def read_shown_receipt(folder: Path, _source: random.Random) -> None:
    from deniable.release.receipt_page import read_receipt_file, receipt_page

    receipt_page(read_receipt_file(folder / "receipt")).html()


@functools.cache
def result_files() -> list[Files]:
    from tests.audit.test_audit_report import EVERY

    return [{"result": json.dumps(result.to_dict()).encode()} for result in EVERY]


def read_saved_result(folder: Path, _source: random.Random) -> None:
    from deniable.audit.results import read_result

    read_result(folder / "result").to_dict()


@functools.cache
def comparison_files() -> list[Files]:
    saved = json.loads((_EXPERIMENTS / "comparison-sst2-default.json").read_bytes())
    return [{"result": json.dumps(saved | {"rows": saved["rows"][:2]}).encode()}]


def read_saved_comparison(folder: Path, _source: random.Random) -> None:
    from deniable.lab.comparison.results import read_comparison

    read_comparison(folder / "result").front(lambda row: row.received)


def count_files() -> list[Files]:
    rows = [f"{word}\t{count}" for count, word in enumerate(WORDS, 1)]
    return [{"counts": "\n".join(rows).encode()}, {"counts": "\n".join(rows).replace("\t", " ").encode()}]


def read_counts(folder: Path, _source: random.Random) -> None:
    from deniable.decoding.priors import from_table

    assert abs(from_table(listed_embedding(), folder / "counts").sum() - 1.0) < 1e-6


DESCRIBED: dict[str, Target] = {
    "card": Target(seeds=card_files, read=read_card_file),
    "ledger": Target(seeds=ledger_files, read=read_ledger),
    "journal": Target(seeds=journal_files, read=read_journal, repair=resum_journal),
    "receipt": Target(seeds=receipt_files, read=read_receipt),
    "shown receipt": Target(seeds=receipt_files, read=read_shown_receipt),
    "result": Target(seeds=result_files, read=read_saved_result),
    "comparison": Target(seeds=comparison_files, read=read_saved_comparison),
    "counts": Target(seeds=count_files, read=read_counts),
}
