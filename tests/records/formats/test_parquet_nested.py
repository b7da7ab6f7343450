"""Texts in structs and lists of Parquet: released by their path, and all around them stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records.reading import read_texts, rewrite_file
from tests.support.keeping import keep_all as privatize_file

VISIT = pa.struct({"note": pa.string(), "day": pa.timestamp("ns", tz="UTC"), "price": pa.decimal128(8, 2)})
BESIDE = {
    "date": pa.array([2**31 - 1, None], pa.int32()).cast(pa.date32()),  # in no calendar of Python
    "stamp": pa.array([2**62 + 1, -1], pa.int64()).cast(pa.timestamp("ns")),
    "time": pa.array([1, 2], pa.int64()).cast(pa.time64("ns")),
    "lasts": pa.array([3, -(2**62)], pa.int64()).cast(pa.duration("ns")),
    "extended": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16), None], pa.binary(16))),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
}
ROWS: list[dict[str, Any]] = [
    {"visit": {"note": "the, quick", "day": 1}, "visits": [{"note": "fox!"}, None, {"note": None}], "notes": ["a,", None]},  # noqa: E501
    {"visit": None, "visits": [], "notes": []},
    {"visit": {"note": None, "day": 2}, "visits": None, "notes": None},
    {"visit": {"note": ""}, "visits": [{"note": "word1, word2"}, {"note": "word3"}], "notes": ["word4."]},
] * 9  # fmt: skip


def written(path: Path, *, large: bool = False) -> Path:
    lists = pa.large_list if large else pa.list_
    schema = pa.schema(
        {
            "id": pa.int64(),
            "visit": VISIT,
            "visits": lists(VISIT),
            "notes": lists(pa.string()),
            "deep": lists(lists(pa.string())),
        }
    )
    rows = [{**row, "id": number, "deep": [["fox."], []]} for number, row in enumerate(ROWS)]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=7)
    return path


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_texts_in_structs_and_lists_are_released_and_all_else_stays(
    embedding: Embedding, tmp_path: Path, large: bool, workers: int
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6), unknown="drop")
    source, target = written(tmp_path / "in.parquet", large=large), tmp_path / "out.parquet"
    columns = ["visit.note", "visits[].note", "notes", "deep[][]"]
    receipt = privatize_file(private, source, target, columns=columns, workers=workers)
    before, after = pq.read_table(source), pq.read_table(target)
    assert after.schema == before.schema
    released = {
        "the, quick": "the quick",
        "fox!": "fox",
        "word1, word2": "word1 word2",
        "a,": "",
        "word4.": "word4",
        "fox.": "fox",
    }

    def expected(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: expected(each) for key, each in value.items()}
        return (
            [expected(each) for each in value]
            if isinstance(value, list)
            else released.get(value, value)
            if isinstance(value, str)
            else value
        )

    assert after.to_pylist() == [expected(row) for row in before.to_pylist()]
    assert receipt is not None
    assert (
        "every value of the column id and all of visit but visit.note and all of visits but visits[].note"
        in receipt.public[-1]
    )


def test_a_list_of_texts_is_the_same_column_by_either_name_and_as_in_json(
    embedding: Embedding, tmp_path: Path
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    pq.write_table(pa.table({"id": [1], "l": [["the quick", "the quick"]]}), tmp_path / "in.parquet")
    (tmp_path / "in.jsonl").write_text('{"id": 1, "l": ["the quick", "the quick"]}\n')
    privatize_file(private, tmp_path / "in.jsonl", tmp_path / "out.jsonl", columns=["l[]"], record_id="id")
    seen = [list(read_texts(tmp_path / "out.jsonl", column="l[]"))]
    for name in ("l", "l[]"):
        privatize_file(
            private,
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            columns=[name],
            record_id="id",
            force=True,
        )
        seen.append(list(read_texts(tmp_path / "out.parquet", column=name)))
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] != seen[0][1]


def test_the_very_name_wins_and_what_its_path_leads_to_is_private_as_well(
    private: Privatizer, tmp_path: Path
) -> None:
    table = pa.table({"v.n": ["the."], "v": [{"n": "fox.", "m": 1}]})
    pq.write_table(table, tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["v.n"])
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"v.n": "the", "v": {"n": "fox", "m": 1}}]
    pq.write_table(table.select(["v.n"]), tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["v.n"], force=True)
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"v.n": "the"}]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("visit", "not text; name what is text in it, as in visit.note or visits[].note"),
        ("visits", "not text; name what is text in it"),
        ("visit.day", "holds timestamp[ns, tz=UTC], not text"),
        ("visit.noet", "leads nowhere in struct<"),
        ("visits.note", "leads nowhere in list<"),
        ("visit[].note", "leads nowhere in struct<"),
        ("vist.note", "no such column (it has the columns id, visit, visits, notes, deep)"),
    ],
)
def test_a_path_that_leads_to_no_text_is_refused(
    private: Privatizer, tmp_path: Path, column: str, said: str
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        privatize_file(private, written(tmp_path / "in.parquet"), tmp_path / "out.parquet", columns=[column])
    assert said in str(refused.value)
    assert not (tmp_path / "out.parquet").exists()


def test_the_same_texts_cannot_be_named_twice(private: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="a column is named twice"):
        privatize_file(
            private, written(tmp_path / "in.parquet"), tmp_path / "out.parquet", columns=["notes", "notes[]"]
        )


def test_a_budget_per_record_is_refused_for_lists(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), record_epsilon=5.0)
    with pytest.raises(InvalidParameter, match="once per element"):
        privatize_file(private, written(tmp_path / "in.parquet"), tmp_path / "out.parquet", columns=["notes"])


def test_what_is_hidden_under_a_null_is_not_read_and_does_not_come_out(
    private: Privatizer, tmp_path: Path
) -> None:
    hidden = pa.StructArray.from_arrays(
        [pa.array(["qzx", "fox."])], names=["n"], mask=pa.array([True, False])
    )
    pq.write_table(pa.table({"v": hidden}), tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["v.n"])
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"v": None}, {"v": {"n": "fox"}}]


def test_nested_texts_are_rewritten_by_their_receiver(tmp_path: Path) -> None:
    rewrite_file(
        written(tmp_path / "in.parquet"),
        tmp_path / "out.parquet",
        lambda texts: ["x"] * len(texts),
        column="visits[].note",
    )
    assert pq.read_table(tmp_path / "out.parquet")["visits"][3].as_py()[1]["note"] == "x"


def test_a_record_budget_is_never_spent_on_the_name_and_on_the_path(
    embedding: Embedding, tmp_path: Path
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), record_epsilon=5.0)
    table = pa.table({"a.b": ["the", None, "fox"], "a": [{"b": None}, {"b": "the"}, {"b": "fox"}]})
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(
        RecordError, match=r"record 3: has 2 texts, and record_epsilon would be spent on each"
    ):
        privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["a.b"])
    assert not (tmp_path / "out.parquet").exists()


def test_values_of_every_kind_beside_a_nested_text_stay_what_they_are(
    private: Privatizer, tmp_path: Path
) -> None:
    def table(text: str) -> pa.Table:
        struct = pa.StructArray.from_arrays([pa.array([text, None]), *BESIDE.values()], ["note", *BESIDE])
        listed = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), struct)
        return pa.table({"v": struct, "l": listed})

    pq.write_table(table("fox."), tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["v.note", "l[].note"])
    assert pq.read_table(tmp_path / "out.parquet").equals(table("fox"))


@pytest.mark.parametrize("required", [False, True])
def test_a_field_that_is_never_null_may_stand_in_a_struct_that_is(
    private: Privatizer, tmp_path: Path, required: bool
) -> None:
    inner = pa.struct(
        [
            pa.field("note", pa.string(), nullable=False),
            pa.field("k", pa.int64(), nullable=False),
            pa.field("m", pa.int8()),
        ]
    )
    kind = pa.struct([pa.field("in", inner, nullable=not required)])
    rows = [{"in": {"note": "fox.", "k": 1, "m": None}}, None, {"in": {"note": "the", "k": 2, "m": 3}}]
    pq.write_table(pa.table({"v": pa.array(rows, kind)}), tmp_path / "in.parquet")
    privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["v.in.note"])
    after = pq.read_table(tmp_path / "out.parquet")
    assert after.schema == pq.read_schema(tmp_path / "in.parquet")
    assert after["v"].to_pylist() == [{"in": {"note": "fox", "k": 1, "m": None}}, None, rows[2]]
