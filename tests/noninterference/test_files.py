"""Files released from two private texts of the same public shape are the same to the byte: every format,
compression, engine and policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Keyed, Multivariate, Privatizer, Release
from deniable.purposes import reduce
from deniable.records import privatize_file
from deniable.records.formats.layout import released_name
from tests.noninterference.releasing_both import (
    ENGINES,
    KEY,
    LISTED_OR_UNKNOWN,
    check,
    make_private,
    one_place,
    same_names,
)
from tests.support.private_pairs import (
    NEVER_RELEASED,
    OUTPUTS,
    POLICIES,
    Pair,
    all_that_is_seen,
    embedding,
    pairs,
    spread_out,
    write_input,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


@pytest.mark.parametrize("output", OUTPUTS)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs(), policy=st.sampled_from(sorted(POLICIES)), engine=st.sampled_from(ENGINES))
def test_releases_of_the_same_shape_are_the_same(output: str, pair: Pair, policy: str, engine: str) -> None:
    check(pair, output, POLICIES[policy], engine)


Side = TypeVar("Side")


def seen_alike(sides: Sequence[Side], release: Callable[[Side, Path, Path], object]) -> dict[str, Any]:
    """Release each side from one place, and return what is seen of it, which must be the same for all."""
    seen = []
    for side in sides:
        with one_place() as place:
            out = place / "out"
            out.mkdir()
            release(side, place, out)
            seen.append(all_that_is_seen(out))
    same = all(each == seen[0] for each in seen)
    assert same
    return seen[0]


@pytest.mark.parametrize("output", ["csv.gz", "jsonl.zst", "parquet", "xlsx", "ods"])
@pytest.mark.parametrize("consistent", [False, True])
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs())
def test_several_columns_and_consistent_replacement_are_the_same(
    output: str, consistent: bool, pair: Pair
) -> None:
    def release(texts: list[str | None], place: Path, out: Path) -> None:
        source, target = place / f"in.{output}", out / released_name(f"out.{output}")
        write_input(source, texts, pair.notes)
        noise = Keyed(KEY, consistent=consistent)
        private = Privatizer(Multivariate(embedding(), epsilon=2.0), randomness=noise)
        privatize_file(private, source, target, columns=["text", "note"], record_id="id")

    seen_alike([pair.left, pair.right], release)


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs(), policy=st.sampled_from(sorted(POLICIES)))
def test_folders_of_the_same_shape_are_the_same_whatever_their_files_are_called(
    pair: Pair, policy: str
) -> None:
    def release(side: tuple[str, list[str | None]], place: Path, out: Path) -> None:
        called, texts = side
        source = place / "in"
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number:03}{called}.txt").write_text(text or "")
        privatize_file(
            make_private(POLICIES[policy], "one process"), source, out / "released", format="folder"
        )

    assert "released/0001.txt" in seen_alike([("", pair.left), ("kowalczyk", pair.right)], release)


def test_releases_in_a_built_in_space_are_the_same() -> None:
    def release(unknown: str, place: Path, out: Path) -> None:
        (place / "in.csv").write_text(
            f"id,text\n1,the {unknown} was lovely\n2,{unknown}\n3,awful {unknown}\n"
        )
        private = Release(epsilon=1.0, purpose="sentiment").make(randomness=Keyed(KEY))
        privatize_file(private, place / "in.csv", out / "out.csv", columns=["text"], record_id="id")

    seen = seen_alike(["zqxvvq", "kkowalczykk", "4711-00-815"], release)
    assert "out.csv" in seen
    with pytest.raises(AssertionError):  # words that the space knows are drawn by themselves
        seen_alike(["pleasant", "boring"], release)


def write_nested(path: Path, pair: Pair, texts: list[str | None]) -> Path:
    """Write the texts of a pair into objects and lists, each of them at four places."""
    rows = [
        {
            "id": i,
            "v": None if text is None else {"t": text, "note": note},
            "l": [{"t": text}, None, {"t": text}],
            "s": [text][: i % 3],
        }
        for i, (text, note) in enumerate(zip(["the fox", *texts], ["", *pair.notes], strict=True))
    ]
    if path.suffix == ".parquet":
        entry = pa.struct({"t": pa.string(), "note": pa.string()})
        schema = pa.schema({"id": pa.int64(), "v": entry, "l": pa.list_(entry), "s": pa.list_(pa.string())})
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=17)
    else:
        path.write_text(
            json.dumps(rows) if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
        )
    return path


@pytest.mark.parametrize("output", ["jsonl", "json", "parquet"])
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs(), policy=st.sampled_from(sorted(set(POLICIES) - {"record epsilon", "all at once"})))
def test_texts_inside_objects_and_lists_are_the_same(output: str, pair: Pair, policy: str) -> None:
    def release(texts: list[str | None], place: Path, out: Path) -> None:
        source, private = place / f"in.{output}", make_private(POLICIES[policy], "one process")
        write_nested(source, pair, texts)
        columns = ["v.t", "l[].t", "s[]"]
        privatize_file(private, source, out / source.name, columns=columns, record_id="id")

    seen_alike([pair.left, pair.right], release)


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["one process", "watch", "stream"])
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs())
def test_releases_on_a_mapped_space_are_the_same(
    output: str, engine: str, monkeypatch: pytest.MonkeyPatch, pair: Pair
) -> None:
    mapped = reduce(embedding(), 3)
    with monkeypatch.context() as patch:
        patch.setattr("tests.noninterference.releasing_both.embedding", lambda: mapped)
        assert make_private({}, engine).card.embedding.map is not None
        check(pair, output, {}, engine)


@pytest.mark.parametrize("unknown", ["perturb", "redact", "drop"])
@pytest.mark.parametrize(
    ("output", "engine"),
    [
        ("csv", "one process"),
        ("parquet", "workers"),
        ("jsonl.gz", "watch"),
        ("txt", "stream"),
        ("tsv", "seed"),
    ],
)
def test_listed_words_cannot_be_told_from_unknown_ones(output: str, engine: str, unknown: str) -> None:
    check(LISTED_OR_UNKNOWN, output, {"unknown": unknown, "never_release": NEVER_RELEASED}, engine)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("output", OUTPUTS)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs(most=60))
def test_releases_of_the_same_shape_are_the_same_whatever_is_chosen(
    output: str, engine: str, policy: str, pair: Pair
) -> None:
    check(pair, output, POLICIES[policy], engine)


@pytest.mark.parametrize(
    ("output", "engine"),
    [
        ("csv.gz", "one process"),
        ("parquet", "workers"),
        ("jsonl.zst", "watch"),
        ("txt", "seed"),
        ("xlsx", "workers"),
        ("ods", "watch"),
        ("json.gz", "stream"),
    ],
)
def test_long_words_among_many_records_do_not_show(output: str, engine: str) -> None:
    check(spread_out(600, long_words=3, length=100_000), output, {}, engine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output", "engine"),
    [
        *((output, ENGINES[i % len(ENGINES)]) for i, output in enumerate(OUTPUTS)),
        *(("csv.gz", e) for e in ENGINES),
        ("parquet", "watch"),
    ],
)
def test_a_word_of_a_megabyte_does_not_show(
    output: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    same_names(monkeypatch)
    check(spread_out(4_000, long_words=2, length=500_000), output, {}, engine)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_breaks_and_blanks_inside_a_text_do_not_show(header: bool, ends: str) -> None:
    """With no header the first line of the file may end inside a private cell."""
    private = make_private({}, "one process")
    columns, named = (["text"], "id") if header else (["2"], "1")

    def release(text: str, place: Path, out: Path) -> None:
        rows = [*(["id,text"] if header else []), f"1,{text}", "2,two"]
        (place / "in.csv").write_bytes("".join(row + ends for row in rows).encode())
        files = place / "in.csv", out / "out.csv"
        privatize_file(private, *files, columns=columns, record_id=named, header=header)

    cells = ["one\nzqx", "one\r\nzqx", "one\rzqx", "  one \t zqx ", "one\n\n\nzqx\n"]
    seen = seen_alike(["one zqx", *(f'"{cell}"' for cell in cells)], release)
    assert seen["out.csv"][1].count(ends.encode()) == 2 + header
