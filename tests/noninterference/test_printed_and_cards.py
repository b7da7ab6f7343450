"""What is printed beside a release, and the card that goes with it, tell no two private texts apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from deniable import Receipt
from deniable.records.job import Job
from deniable.release.card import Card
from tests.noninterference.releasing_both import release
from tests.support.commands import make_command
from tests.support.private_pairs import (
    POLICIES,
    all_that_is_seen,
    spread_out,
    strange,
    write_input,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


def test_what_is_printed_and_the_exit_code_are_the_same(tmp_path: Path) -> None:
    pair = spread_out(60, long_words=2, length=90_000)
    seen = []
    for side in (pair.left, pair.right):
        place = tmp_path / "place"  # one after the other under the same name, which is printed
        place.mkdir()
        (place / "out").mkdir()
        (place / "in").mkdir()
        command = make_command(tmp_path / "home", place)
        command.deniable("key", "new", "../key") if not (tmp_path / "key").exists() else None
        write_input(place / "in" / "records.csv", side, pair.notes)
        given = ["--embedding", "tiny", "-e", "2", "-c", "text", "--keep", "id", "--keep", "note"]
        given += ["--record-id", "id", "--key-file", "../key"]
        printed = [
            command.deniable("privatize", "in/records.csv", *given, "-o", "out/one.csv.gz"),
            command.deniable(
                "privatize", "in/records.csv", *given, "--workers", "2", "-o", "out/two.csv.xz", "--json"
            ),
            command.deniable("privatize", "in/records.csv", *given, "--card", "out/three.card.json"),
            command.deniable("privatize", "in/records.csv", *given, "--unknown", "error"),
            command.deniable(
                "privatize", *given, "--format", "csv", data=(place / "in" / "records.csv").read_bytes()
            ),
        ]
        status, out, err = command.deniable("watch", "in", "--out", "out", *given, "--once", "--settle", "0")
        printed.append((status, out, b"\n".join(line[19:] for line in err.splitlines())))
        assert [one[0] for one in printed] == [0, 0, 0, 1, 0, 0], printed
        seen.append((without_times(printed), all_that_is_seen(place / "out")))
        place.rename(tmp_path / f"was {len(seen)}")
    assert seen[0][0] == seen[1][0]
    same = seen[0][1] == seen[1][1]
    assert same


OF_RECEIPTS = (b'"created"', b'"digest"', b'"bytes"')
"""What a receipt, which is private, says of the time, and of the input as a file."""


def without_times(printed: Sequence[tuple[int, bytes, bytes]]) -> list[list[Any]]:
    return [
        [
            status,
            *(
                [line for line in said.splitlines() if not any(each in line for each in OF_RECEIPTS)]
                for said in both
            ),
        ]
        for status, *both in printed
    ]


ANY_TWO = (
    ["the fox", None, ""],
    [f"of the {strange('Cyrillic', 3_000)}. Fox!", "word " * 90, "nobody knows", "5512-AB"],
)


def cards_of_any_two_texts(output: str, policy: dict[str, Any], engine: str) -> list[Any]:
    """Return the cards of two releases that have nothing in common but how they were made."""
    made = [release(list(texts), ["n"] * len(texts), output, policy, engine) for texts in ANY_TWO]
    return [seen[f"records.{output}.card.json"] for seen in made]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "error"])
@pytest.mark.parametrize(
    ("output", "engine"),
    [("csv", "one process"), ("txt.gz", "workers"), ("jsonl", "watch"), ("parquet", "seed")],
)
def test_the_card_is_the_same_for_any_two_texts(output: str, engine: str, policy: str) -> None:
    first, second = cards_of_any_two_texts(output, POLICIES[policy], engine)
    assert first == second
    assert json.loads(first[1])["card"] == 1


def test_a_card_that_counts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = Job._finish

    def counted(job: Job, receipt: Receipt, card: Card, *others: Any) -> Receipt:
        return finish(job, receipt, replace(card, columns=(str(receipt.tally.words),)), *others)

    monkeypatch.setattr(Job, "_finish", counted)
    first, second = cards_of_any_two_texts("csv", {}, "one process")
    assert first != second
