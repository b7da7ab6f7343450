"""What is spent on a row, and on a user, adds up over its texts: exactly while there are few users, and never
too little."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import Embedding, InsecureSeededRandomness, InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.records import privatize_file
from deniable.records.describing import receipt_of
from deniable.records.formats.layout import Layout, Roles
from deniable.records.journal import Journal
from deniable.release import tally as tallies
from deniable.release.tally import Tally, UserCounts

ROWS = 40


def private(embedding: Embedding, *, consistent: bool = False) -> Privatizer:
    return Privatizer(
        Multivariate(embedding, epsilon=3), randomness=Keyed.new(consistent=True) if consistent else None
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two columns of private text: a row has four words in one cell and i % 3 in the other; three users take
    turns."""
    lines = [f"user{i % 3},the fox it do,{' '.join(['the'] * (i % 3))}" for i in range(ROWS)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["who,one,two", *lines]) + "\n")
    return file


@pytest.mark.parametrize(("workers", "seed"), [(1, None), (2, None), (1, 1)])
def test_two_columns_of_a_row_add_up(
    table: Path, embedding: Embedding, workers: int, seed: int | None
) -> None:
    noise = None if seed is None else InsecureSeededRandomness(insecure_seed=seed)
    release = Privatizer(Multivariate(embedding, epsilon=3), randomness=noise)
    made = privatize_file(release, table, table.with_name("out.csv"), columns=["one", "two"], workers=workers)
    assert made is not None
    receipt = made.to_dict()
    assert (receipt["counts"]["rows"], receipt["counts"]["records"]) == (ROWS, 2 * ROWS)
    assert receipt["budget"]["longest_row"] == {"words": 6, "epsilon": 18}
    assert receipt["budget"]["median_row"] == {"words": 5, "epsilon": 15}
    assert receipt["budget"]["longest_record"] == {"words": 4, "epsilon": 12}
    summary = made.summary()
    assert summary.startswith(f"{ROWS} rows, {2 * ROWS} texts, ")
    assert "budget: median row Σε = 15, longest row Σε = 18 (its texts in all columns together)" in summary
    assert any("adds up over its cells" in relaxation for relaxation in receipt["relaxations"])


def test_one_column_has_records_that_are_rows(table: Path, embedding: Embedding) -> None:
    made = privatize_file(private(embedding), table, table.with_name("out.csv"), columns=["one"])
    assert made is not None
    receipt = made.to_dict()
    assert receipt["counts"]["rows"] == receipt["counts"]["records"] == ROWS
    assert (
        receipt["budget"]["longest_row"] == receipt["budget"]["longest_record"] == {"words": 4, "epsilon": 12}
    )
    assert f"{ROWS} records" in made.summary()


def test_the_rows_of_a_user_add_up_where_a_column_names_users(table: Path, embedding: Embedding) -> None:
    made = privatize_file(
        private(embedding, consistent=True),
        table,
        table.with_name("out.csv"),
        columns=["one", "two"],
        record_id="who",
    )
    assert made is not None
    # User 0 has 14 rows of 4 words, user 1 has 13 of 5, user 2 has 13 of 6.
    assert made.to_dict()["budget"]["longest_user"] == {
        "words": 78,
        "epsilon": 234,
        "exact": True,
        "users": 3,
    }
    assert "budget of a user: Σε of at most 234, for 78 words (the largest of 3 users)" in made.summary()
    unnamed = privatize_file(
        private(embedding), table, table.with_name("unnamed.csv"), columns=["one", "two"]
    )
    assert unnamed is not None
    assert unnamed.to_dict()["budget"]["longest_user"] is None
    assert any(
        "of other people with several rows nothing is known" in caveat
        for caveat in unnamed.to_dict()["caveats"]
    )


def test_rows_are_what_the_caller_says_they_are(embedding: Embedding) -> None:
    release = private(embedding)
    release.many(["the fox", None, "it", "do the fox", None], rows=[2, 0, 2, 1])
    receipt = release.receipt()
    assert (receipt.tally.rows, receipt.tally.row_lengths) == (3, Counter({2: 1, 4: 1}))
    assert receipt.budget["longest_row"] == {"words": 4, "epsilon": 12}
    streamed = private(embedding)
    many = ["the fox", None, "it", "do the fox", None] * 2_000  # rows go on where blocks end
    assert len(list(streamed.stream(many, rows=[2, 0, 2, 1] * 2_000))) == len(many)
    assert (streamed.receipt().tally.rows, streamed.receipt().tally.row_lengths) == (
        6_000,
        Counter({2: 2_000, 4: 2_000}),
    )
    release.many(["the fox"])  # of which nobody said whose row it is in
    assert release.receipt().budget["longest_row"] is None
    assert release.receipt().summary().startswith("6 texts, ")
    for wrong in ([1], [3, -1], [2, 1]):
        with pytest.raises(InvalidParameter, match="rows"):
            release.many(["the", "fox"], rows=wrong)
    same = private(embedding).count(["the fox", None, "it", "do the fox", None], rows=[2, 0, 2, 1])
    assert same == receipt.tally


def test_a_journal_of_an_earlier_version_is_read(embedding: Embedding, table: Path) -> None:
    old = {"records": 3, "missing": 1, "words": 9, "unknown_words": 0, "lengths": {"4": 1, "5": 1}}
    tally = Tally.from_dict(old)
    assert not tally.knows_rows
    promised = private(embedding).receipt()
    layout = Layout(format="csv", roles=Roles.of(text=("one",)))
    reader = type("Silent", (), {"untouched": None, "has_lists": False})()
    assert receipt_of(promised, reader, layout, tally).budget["longest_row"] == {"words": 5, "epsilon": 15}
    layout = Layout(format="csv", roles=Roles.of(text=("one", "two")))
    assert receipt_of(promised, reader, layout, tally).budget["longest_row"] is None
    newer = Tally.from_dict(json.loads(json.dumps(tally.to_dict())))
    newer.add(private(embedding).count(["the", "fox"], rows=[2]))
    assert not newer.knows_rows  # some of its texts are of rows that nobody counted
    users = private(embedding, consistent=True)
    tally.add(users.count(["the fox"], record_ids=["anna"]))
    assert users.receipt_for(tally).budget["longest_user"] is None  # nobody knows whose the others were


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=200),
    st.integers(1, 8),
    st.integers(0, 200),
)
def test_no_user_has_more_than_is_said(texts: list[tuple[int, int]], most: int, cut: int) -> None:
    truth: Counter[int] = Counter()
    before, after = UserCounts(), UserCounts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallies, "MOST_USERS", most)
        for place, (user, words) in enumerate(texts):
            truth[user] += words
            (before if place < cut else after).count(str(user).encode(), words)
        before.add(UserCounts.from_dict(json.loads(json.dumps(after.to_dict()))))
        assert len(before.counts) <= 2 * most
    largest = max(truth.values(), default=0)
    assert largest <= before.largest <= largest + sum(truth.values()) / most
    if len(truth) <= most:
        assert before.exact
        assert before.largest == largest


def test_rows_and_users_of_an_interrupted_job_are_not_forgotten(tmp_path: Path, embedding: Embedding) -> None:
    release, whole = private(embedding, consistent=True), Tally()
    journal = Journal(tmp_path / "journal")
    journal.begin({}, replaces=False)
    for place in range(3):
        part = release.count(["the fox", "it"], record_ids=["anna", f"user {place}"], rows=[2])
        whole.add(part)
        journal.checkpoint(records=place + 1, length=place + 1, crc=0, tally=part)
    journal.close()
    again = Journal(tmp_path / "journal")
    again.close()
    assert again.tally == whole
    assert (again.tally.rows, again.tally.users.largest, len(again.tally.users.counts)) == (3, 6, 4)
    assert "anna" not in (tmp_path / "journal").read_text()
