"""JSON arrays, and texts inside objects and lists by their path."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer, compression
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.columns import EVERY, parse_path
from deniable.records.formats.layout import Roles, make_layout
from deniable.records.formats.opening import open_source
from deniable.records.reading import labelled_records, rewrite_file


def written(path: Path, records: list[Any], *, indent: int | None = None) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        path.write_text(json.dumps(records, indent=indent))
    return path


def read(path: Path) -> list[Any]:
    text = path.read_text()
    return (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else list(json.loads(text))
    )


VISITS = [
    {
        "id": 1,
        "visit": {"note": "the, quick", "room": 7},
        "visits": [{"note": "fox!", "day": 1}, {"note": None}, {"day": 3}],
    },
    {"id": 2, "visit": None, "visits": []},
    {"id": 3, "visits": None},
    {"id": 4, "visit": {}, "visits": [{"note": "word1 word2"}]},
]


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_texts_in_objects_and_lists_are_released_and_all_else_stays(
    private: Privatizer, tmp_path: Path, ending: str
) -> None:
    source = written(tmp_path / f"in{ending}", VISITS)
    receipt = privatize_file(
        private, source, tmp_path / f"out{ending}", columns=["visit.note", "visits[].note"]
    )
    expected = json.loads(json.dumps(VISITS).replace("the, quick", "the quick").replace("fox!", "fox"))
    assert read(tmp_path / f"out{ending}") == expected
    assert receipt is not None
    assert (receipt.tally.records, receipt.tally.missing) == (4, 1)


@pytest.mark.parametrize(
    ("record", "column", "expected"),
    [
        ({"notes": ["a, fox", None]}, "notes[]", {"notes": ["fox", None]}),
        ({"a": [["fox."], []]}, "a[][]", {"a": [["fox"], []]}),
        ({"visit.note": "fox.", "visit": {"note": 5}}, None, None),
        ({"visit.note": "fox."}, "visit.note", {"visit.note": "fox"}),
        (
            {"visit.note": "fox.", "visit": {"note": "the."}},
            "visit.note",
            {"visit.note": "fox", "visit": {"note": "the"}},
        ),
        ({"notes[]": "fox."}, "notes[]", {"notes[]": "fox"}),
        ({"a.": "fox."}, "a.", {"a.": "fox"}),
    ],
)
def test_the_very_name_and_the_path_are_both_private(
    embedding: Embedding, tmp_path: Path, record: Any, column: str | None, expected: Any
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1e6), unknown="drop")
    source = written(tmp_path / "in.jsonl", [record])
    if expected is None:
        with pytest.raises(RecordError, match=r"line 1: the value of visit\.note is not text or null"):
            privatize_file(private, source, tmp_path / "out.jsonl", columns=["visit.note"])
        return
    privatize_file(private, source, tmp_path / "out.jsonl", columns=[str(column)])
    assert read(tmp_path / "out.jsonl") == [expected]


@pytest.mark.parametrize(
    ("record", "column", "said"),
    [
        ({"visit": "qzx"}, "visit.note", "the value of visit is not an object or null"),
        (
            {"visit": [{"note": "qzx"}]},
            "visit.note",
            "the value of visit is not an object or null; a list is named with []",
        ),
        ({"visit": {"note": "qzx"}}, "visit[].note", "the value of visit is not a list or null"),
        ({"notes": ["qzx"]}, "notes", "it is a list: name its texts, as notes[]"),
        (
            {"visits": [{"note": {"qzx": 1}}]},
            "visits[].note",
            "the value of visits[].note is not text or null",
        ),
        (
            {"visits": [{"note": "a"}, "qzx"]},
            "visits[].note",
            "the value of visits[] is not an object or null",
        ),
    ],
)
def test_what_does_not_fit_the_path_is_refused_with_the_record(
    private: Privatizer, tmp_path: Path, record: Any, column: str, said: str
) -> None:
    for ending, where in ((".jsonl", "line 2"), (".json", "record 2")):
        fits = {
            "visit.note": {"visit": {"note": "a"}},
            "visit[].note": {"visit": [{"note": "a"}]},
            "notes": {"notes": "a"},
        }
        source = written(tmp_path / f"in{ending}", [fits.get(column, {"visits": [{"note": "a"}]}), record])
        with pytest.raises(RecordError) as refused:
            privatize_file(private, source, tmp_path / f"out{ending}", columns=[column])
        assert said in str(refused.value)
        assert where in str(refused.value)
        assert "qzx" not in str(refused.value)
        assert not (tmp_path / f"out{ending}").exists()


def test_a_key_that_stands_twice_in_an_object_on_the_way_is_refused(
    private: Privatizer, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text('{"visit": {"note": "qzx", "note": "fox"}}\n')
    with pytest.raises(RecordError, match="a key stands twice in visit"):
        privatize_file(private, tmp_path / "in.jsonl", tmp_path / "out.jsonl", columns=["visit.note"])


def test_a_misspelt_path_releases_nothing(private: Privatizer, tmp_path: Path) -> None:
    source = written(tmp_path / "in.json", VISITS)
    with pytest.raises(InvalidParameter, match="none of the first 4 records"):
        privatize_file(private, source, tmp_path / "out.json", columns=["visits[].noet"])
    assert not (tmp_path / "out.json").exists()


def test_other_values_keep_their_bytes_beside_a_nested_text(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"v": {"n": 1.10, "note": "the, fox", "x": [1,  2]}, "w": [1,  2], "big": 1E400}\n'
    )
    privatize_file(private, tmp_path / "in.jsonl", tmp_path / "out.jsonl", columns=["v.note"])
    assert (
        tmp_path / "out.jsonl"
    ).read_text() == '{"v":{"n":1.10,"note":"the fox","x":[1,2]},"w":[1,  2],"big":1E400}\n'


def test_a_long_record_is_released_as_short_ones_are(private: Privatizer, tmp_path: Path) -> None:
    text = "the fox " * 10_000
    source = written(tmp_path / "in.jsonl", [{"id": 1, "text": text, "v": {"note": text}}])
    privatize_file(private, source, tmp_path / "out.jsonl", columns=["text", "v.note"], drop=["id"])
    assert read(tmp_path / "out.jsonl") == [{"text": text.strip(), "v": {"note": text.strip()}}]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("a", ()), ("a.b", ("a", "b")), ("a[].b", ("a", EVERY, "b")), ("a[]", ("a", EVERY)), ("a[][]", ("a", EVERY, EVERY)),  # noqa: E501
        ("a..b", ()), (".a", ()), ("a.", ()), ("[]", ()), ("a[0].b", ("a[0]", "b")), ("", ()),
    ],
)  # fmt: skip
def test_paths_are_parsed(name: str, steps: tuple[str | None, ...]) -> None:
    path = parse_path(name)
    assert (path.name, path.steps) == (name, steps)
    assert path.up_to(len(steps)) == (name if steps else "")


def test_equal_words_at_different_places_of_a_record_get_different_noise(
    embedding: Embedding, tmp_path: Path
) -> None:
    text = "the quick brown fox word1 word2 word3 word4"
    record = {"id": 1, "v.n": text, "v": {"n": text}, "l": [text, text], "m": [{"n": text}, {"n": text}]}
    source = written(tmp_path / "in.jsonl", [record])
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    for naming in ({}, {"record_id": "id"}):
        privatize_file(
            private,
            source,
            tmp_path / "out.jsonl",
            columns=["v.n", "l[]", "m[].n"],
            force=True,
            **naming,  # type: ignore[arg-type]
        )
        out = read(tmp_path / "out.jsonl")[0]
        texts = [out["v.n"], out["v"]["n"], *out["l"], *(each["n"] for each in out["m"])]
        assert len(set(texts)) == 6


def test_a_record_is_named_by_an_id_inside_an_object(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), randomness=Keyed(bytes(32)))
    nested = written(tmp_path / "a.jsonl", [{"p": {"id": 7}, "t": "the quick brown fox"}])
    flat = written(tmp_path / "b.jsonl", [{"id": "7", "t": "the quick brown fox"}])
    for path, target, name in ((nested, "a.out.jsonl", "p.id"), (flat, "b.out.jsonl", "id")):
        privatize_file(private, path, tmp_path / target, columns=["t"], record_id=name, keep=[name])
    assert read(tmp_path / "a.out.jsonl")[0]["t"] == read(tmp_path / "b.out.jsonl")[0]["t"]
    nobody = written(tmp_path / "c.jsonl", [{"p": {}, "t": "the"}])
    with pytest.raises(RecordError, match="has no id"):
        privatize_file(private, nobody, tmp_path / "c.out.jsonl", columns=["t"], record_id="p.id")


def test_a_budget_per_record_is_refused_for_lists(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), record_epsilon=5.0)
    source = written(tmp_path / "in.jsonl", [{"l": ["fox", "the"]}])
    with pytest.raises(InvalidParameter, match="once per element"):
        privatize_file(private, source, tmp_path / "out.jsonl", columns=["l[]"])
    layout = make_layout(source, roles=Roles(text=("l[]",)))
    with open_source(source) as opened, pytest.raises(InvalidParameter, match="once per element"):
        privatize_stream(private, opened, io.BytesIO(), layout)


def test_what_is_spent_on_lists_is_counted_by_record(embedding: Embedding, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=2.0))
    source = written(tmp_path / "in.json", [{"l": ["fox the", "the"]}, {"l": ["fox"]}])
    receipt = privatize_file(private, source, tmp_path / "out.json", columns=["l[]"])
    assert receipt is not None
    assert receipt.to_dict()["budget"]["longest_row"]["words"] == 3
    assert any("adds up over its elements" in line for line in receipt.relaxations)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 18])
def test_an_array_is_read_a_piece_at_a_time_and_written_a_line_a_record(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, chunk: int
) -> None:
    monkeypatch.setattr(compression, "BYTES_AT_ONCE", chunk)
    monkeypatch.setattr("deniable.records.formats.reader._RECORDS_AT_ONCE", 3)
    records = [{"t": f"word{i}", "x": ['}"]\\', {"[": "é\n\u2028"}], "n": i} for i in range(8)]
    source = written(tmp_path / "in.json", records, indent=indent)
    privatize_file(private, source, tmp_path / "out.json", columns=["t"])
    assert read(tmp_path / "out.json") == records
    lines = (tmp_path / "out.json").read_text().split("\n")
    assert (lines[0], lines[-2], lines[-1]) == ("[", "]", "")
    privatize_file(private, tmp_path / "out.json", tmp_path / "again.json", columns=["t"])
    if indent is None:
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "out.json").read_bytes()


def test_an_empty_array_stays_one(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(" [ ] \n")
    privatize_file(private, tmp_path / "in.json", tmp_path / "out.json", columns=["t"])
    assert read(tmp_path / "out.json") == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no JSON array"),
        ('{"t": "qzx"}\n{"t": "qzx"}', "say --format jsonl"),
        ('"qzx"', "is not an array of objects"),
        ('[{"t": "a"}, "qzx"]', "record 2: not a JSON object"),
        ('[{"t": "a"}, null]', "record 2: not a JSON object"),
        ('[{"t": "a"}, {"t": qzx}]', "record 2: not a JSON object"),
        ('[{"t": "a"}, {"t": "qzx"]', "record 2: not a JSON object"),
        ('[{"t": "a"}, {"t": "qzx"', "the array has no end"),
        ('[{"t": "a"},]', "record 2: not a JSON object"),
        ('[,{"t": "a"}]', "record 1: not a JSON object"),
        ('[{"t": "a"} {"t": "qzx"}]', "record 1: is not followed by a comma"),
        ('[{"t": "a"}', "the array has no end"),
        ('[{"t": "a"}] qzx', "something stands after the end of the array"),
        ('[{"t": "a", "t": "qzx"}]', "a key stands twice in the object"),
    ],
)
def test_what_is_no_array_of_objects_is_refused_in_one_line(
    private: Privatizer, tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "in.json").write_text(content)
    with pytest.raises(RecordError) as refused:
        privatize_file(private, tmp_path / "in.json", tmp_path / "out.json", columns=["t"])
    assert said in str(refused.value)
    assert "qzx" not in str(refused.value)
    assert not (tmp_path / "out.json").exists()


def test_an_object_that_is_too_long_is_refused(
    private: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.records.formats.json_records.LONGEST_RECORD", 100)
    source = written(tmp_path / "in.json", [{"t": "a"}, {"t": "a" * 101}])
    with pytest.raises(RecordError, match="record 2: longer than 100 characters"):
        privatize_file(private, source, tmp_path / "out.json", columns=["t"])


def test_a_stream_holds_all_objects_before_an_error_and_no_end(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('[{"t": "the."}, {"t": "fox."}, 5]')
    layout = make_layout(tmp_path / "in.json", roles=Roles(text=("t",)))
    sink = io.BytesIO()
    with open_source(tmp_path / "in.json") as opened, pytest.raises(RecordError, match="record 3"):
        privatize_stream(private, opened, sink, layout)
    assert sink.getvalue() == b'[\n{"t":"the"},\n{"t":"fox"}'
    (tmp_path / "in.json").write_text('[{"t": "the."}, {"t": "fox."}]')
    sink = io.BytesIO()
    with open_source(tmp_path / "in.json") as opened:
        privatize_stream(private, opened, sink, layout)
    assert sink.getvalue() == b'[\n{"t":"the"},\n{"t":"fox"}\n]\n'


@pytest.mark.parametrize("packed", [False, True])
def test_released_arrays_are_read_and_rewritten_by_their_receiver(tmp_path: Path, packed: bool) -> None:
    content = json.dumps([{"t": "the", "l": 1}, {"t": "fox", "l": 2}]).encode()
    source = tmp_path / ("in.json.gz" if packed else "in.json")
    source.write_bytes(gzip.compress(content) if packed else content)
    assert list(labelled_records(source, label_column="l", text_column="t")) == [("1", "the"), ("2", "fox")]
    rewrite_file(source, tmp_path / "out.json", lambda texts: [f"{text}!" for text in texts], column="t")
    assert read(tmp_path / "out.json") == [{"t": "the!", "l": 1}, {"t": "fox!", "l": 2}]


def test_json_lines_under_the_name_of_json_are_read_when_it_is_said(
    private: Privatizer, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text('{"t": "fox."}\n')
    privatize_file(private, tmp_path / "in.json", tmp_path / "out.json", columns=["t"], format="jsonl")
    assert (tmp_path / "out.json").read_text() == '{"t":"fox"}\n'


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_a_record_budget_is_never_spent_on_the_name_and_on_the_path(
    embedding: Embedding, tmp_path: Path, ending: str
) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=1.0), record_epsilon=5.0)
    one, both = {"a.b": "the quick", "a": {"b": None}}, {"a.b": "the fox", "a": {"b": "the fox"}}
    source = written(tmp_path / f"in{ending}", [one, both])
    with pytest.raises(
        RecordError, match=r"record 2: has 2 texts, and record_epsilon would be spent on each"
    ):
        privatize_file(private, source, tmp_path / f"out{ending}", columns=["a.b"])
    assert not (tmp_path / f"out{ending}").exists()
    sink, layout = (io.BytesIO(), make_layout(source, roles=Roles(text=("a.b",))))
    with open_source(source) as records, pytest.raises(RecordError, match="record 2: has 2 texts"):
        privatize_stream(private, records, sink, layout)
    assert sink.getvalue().count(b'"a.b"') == 1, "the record before it is released"
    assert (
        privatize_file(
            private, written(tmp_path / f"one{ending}", [one]), tmp_path / f"alone{ending}", columns=["a.b"]
        )
        is not None
    )


def test_the_receipt_says_that_a_name_and_its_path_add_up(private: Privatizer, tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [{"a.b": "the quick", "a": {"b": "fox"}}])
    receipt = privatize_file(private, source, tmp_path / "out.jsonl", columns=["a.b"])
    assert receipt is not None
    assert any("by its very name and by its path" in each for each in receipt.relaxations)
    assert (receipt.budget["longest_row"] or {})["words"] == 3


@pytest.mark.parametrize(
    "other", [{"a": {"b.c": "qzx"}}, {"a.b": {"c": "qzx"}}, {"a": {"b": {"c": "fox"}, "b.c": "qzx"}}]
)
def test_keys_that_spell_a_part_of_the_path_are_refused(
    private: Privatizer, tmp_path: Path, other: Any
) -> None:
    source = written(tmp_path / "in.jsonl", [{"a": {"b": {"c": "fox"}}}, other])
    with pytest.raises(RecordError, match=r"line 2: a key is called as a part of the path a\.b\.c"):
        privatize_file(private, source, tmp_path / "out.jsonl", columns=["a.b.c"])
    flat = written(tmp_path / "flat.jsonl", [{"a.b": 5, "a.b.c": "fox."}])
    privatize_file(private, flat, tmp_path / "flat.out.jsonl", columns=["a.b.c"])
    assert read(tmp_path / "flat.out.jsonl") == [{"a.b": 5, "a.b.c": "fox"}]
