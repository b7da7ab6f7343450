"""``--person``: the receipt adds up what each person spends, without a key, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, InvalidParameter, Keyed, Multivariate, Privatizer
from tests.support.commands import Command

ROWS = [("ann", "the quick fox"), ("bob", "the"), ("ann", "fox fox"), ("cid", "the fox")]


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("who,note\n" + "".join(f"{who},{note}\n" for who, note in ROWS))
    rows = [json.dumps({"who": who, "note": note}) for who, note in ROWS]
    (tmp_path / "in.jsonl").write_text("\n".join(rows))


def made(**settings: object) -> Privatizer:
    return Privatizer(Multivariate(Embedding(["a", "b", "c"], np.eye(3)), epsilon=3), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", ["--drop who", "--keep who", "--drop who --workers 2"])
@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_the_receipt_says_the_largest_and_the_median_person(
    options: str, name: str, command: Command, tmp_path: Path
) -> None:
    status, _, said = command.run(
        name, "-c note", options, "--person who --epsilon 100 --receipt-page page.html", f"-o out-{name}"
    )
    assert status == 0, said
    budget = json.loads((tmp_path / f"out-{name}.receipt.json").read_text())["budget"]
    assert budget["longest_user"] == {"words": 5, "epsilon": 500.0, "exact": True, "users": 3}
    assert budget["median_user"] == {"words": 2, "epsilon": 200.0}
    assert ("ann" in (tmp_path / f"out-{name}").read_text()) == ("--keep" in options)
    page = (tmp_path / "page.html").read_text()
    assert "median person" in page
    assert "person with most words, of 3" in page


@pytest.mark.parametrize(
    "given",
    [
        "gap.csv -c note --drop who",
        "plain.txt",
        "in.csv -c who --keep note",
        "in.csv -c note --drop who --key-file k",
    ],
)
def test_people_are_refused_with_a_key_in_plain_text_and_where_one_is_missing(
    given: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "gap.csv").write_text("who,note\nann,the\n,fox\n")
    (tmp_path / "plain.txt").write_text("the fox\n")
    assert command.run(given, "--person who -o out.csv")[0] in (1, 2)
    assert not (tmp_path / "out.csv").exists()


def test_naming_people_changes_no_released_word_and_a_missing_text_spends_nothing() -> None:
    texts = ["a b c", None, "c", "b b"]
    plain, named = (made(randomness=InsecureSeededRandomness(insecure_seed=1)) for _ in range(2))
    assert plain.many(texts) == named.many(texts, people=["ann", "bob", "ann", "bob"])
    assert named.receipt().budget["longest_user"] == {"words": 4, "epsilon": 12, "exact": True, "users": 2}
    assert named.receipt().budget["median_user"] == {"words": 2, "epsilon": 6}
    assert "median_user" not in plain.receipt().budget
    with pytest.raises(InvalidParameter) as with_a_key:
        made(randomness=Keyed(b"k" * 32)).many(["a"], record_ids=[1], people=["ann"])
    with pytest.raises(InvalidParameter) as too_few:
        made().many(["a", "b"], people=["ann"])
    assert with_a_key.value.name == too_few.value.name == "people"
