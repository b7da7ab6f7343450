"""Two private texts of the same public shape, released with the same key, cannot be told apart by anything that leaves the data holder.

Every format, compression, engine and policy is asked, and the service over HTTP; Spark in
``tests/integrations/test_spark_noninterference.py``. What is printed is compared too. The bar of progress is not: it counts bytes of the
input on the data holder's own terminal, or for the sender of a job, and is not part of a release.
"""

from __future__ import annotations

import io
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Embedding, Keyed, Multivariate, Privatizer, Receipt, UnknownWord
from deniable.compression import ENDINGS, repack
from deniable.errors import RecordError
from deniable.keyed.key_file import write_new_key
from deniable.purpose import reduce
from deniable.randomness import InsecureSeededRandomness
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.layout import Layout, make_layout
from deniable.records.formats.opening import open_source
from deniable.records.formats.parquet_files import partial as arrow_partial
from deniable.records.formats.parquet_files.footer import read_footer
from deniable.records.formats.source import FileSource
from deniable.records.jobs import releasing
from deniable.records.jobs.job import Job
from deniable.records.watching.watch import Watch, WatchSettings
from deniable.service.batching import _Lane
from deniable.service.job_folder import JobFolder, State, StateFile
from deniable.service.jobs import JobStore
from deniable.service.releases import Releases
from deniable.service.rules import Prepared
from deniable.service.settings import Limits as ServiceLimits
from deniable.service.settings import Release as ServiceRelease
from deniable.text.card import Card
from tests.cli.privatize_command import make_command
from tests.service.running import Client, make_settings, running
from tests.support.private_pairs import (
    NEVER_RELEASED,
    OUTPUTS,
    POLICIES,
    WHOLE,
    Pair,
    all_that_is_seen,
    check_shape,
    embedding,
    pairs,
    spread_out,
    strange,
    write_input,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")

KEY = bytes(range(32))
ENGINES = ("one process", "workers", "watch", "stream", "seed")
Side = dict[str, Any]


def make_private(policy: dict[str, Any], engine: str) -> Privatizer:
    noise = InsecureSeededRandomness(insecure_seed=5) if engine == "seed" else Keyed(KEY)
    return Privatizer(Multivariate(embedding(), epsilon=2.0), randomness=noise, **policy)


def layout_for(path: Path, *, keyed: bool) -> Layout:
    text = ".txt" in path.name
    return make_layout(
        path,
        format=None,
        columns=() if text else ("text",),
        delimiter=None,
        header=True,
        encoding="utf-8",
        record_id=None if text or not keyed else "id",
    )


class Sink(io.BytesIO):
    """Standard output, and how much was written to it at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def write(self, data: Any) -> int:
        self.sizes.append(len(data))
        return super().write(data)


def release(texts: list[str | None], notes: list[str], output: str, policy: dict[str, Any], engine: str) -> Side:
    """Release texts, and return everything that can be seen of it."""
    private, said = make_private(policy, engine), list[str]()
    with TemporaryDirectory() as place:
        inbox, out = Path(place, "in"), Path(place, "out")
        inbox.mkdir()
        out.mkdir()
        source = write_input(inbox / f"records.{output}", texts, notes)
        os.utime(source, (1_700_000_000, 1_700_000_000))
        seen: Side = {}
        keyed = engine != "seed"
        if engine == "watch":
            about = WatchSettings(settle=0)
            watch = Watch(private, inbox, out, lambda path: layout_for(path, keyed=True), settings=about, say=said.append)
            watch.look()
            assert watch.failed == 0, said
            watch.close()
        elif engine == "stream" and output not in WHOLE:
            with open_source(source) as opened:
                sink = Sink()
                made = privatize_stream(private, opened, sink, layout_for(source, keyed=True))
            seen["stream"] = (sink.getvalue(), sink.sizes, {**made.to_dict(), "created": None})
        else:
            layout = layout_for(source, keyed=keyed)
            privatize_file(
                private,
                source,
                out / f"records.{output}",
                columns=layout.columns,
                record_id=layout.record_id,
                workers=2 if engine == "workers" else 1,
            )
        return {**seen, "said": said, **all_that_is_seen(out)}


def check(pair: Pair, output: str, policy: dict[str, Any], engine: str) -> None:
    """Do nothing if the two sides of a pair cannot be told apart."""
    check_shape(pair, policy)
    left, right = (release(texts, pair.notes, output, policy, engine) for texts in (pair.left, pair.right))
    assert "stream" in left or f"records.{output}.card.json" in left
    assert left.keys() == right.keys()
    for name in left:
        # Compared before the assertion: pytest would spend minutes on showing how megabytes differ.
        same = left[name] == right[name]
        assert same, f"{name} tells two texts apart"


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is cut is cut often, so that small releases have many places to differ in."""
    monkeypatch.setattr(releasing, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr(arrow_partial, "ROWS_PER_ROW_GROUP", 9)
    monkeypatch.setattr(arrow_partial, "BYTES_PER_ROW_GROUP", 4_000)
    monkeypatch.setattr("deniable.text.privatizer._WORDS_AT_ONCE", 20)
    monkeypatch.setattr("deniable.text.privatizer._TEXTS_AT_ONCE", 11)
    monkeypatch.setattr("deniable.records.files._BYTES_AT_ONCE", 100)
    monkeypatch.setattr("deniable.compression._BYTES_AT_ONCE", 200)
    same_names(monkeypatch)


def same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the records of plain text alike: they have no names of their own, and are named after the digest of the file."""
    monkeypatch.setattr(FileSource, "digest", lambda _: "0" * 32)


@pytest.mark.parametrize("output", OUTPUTS)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs(), policy=st.sampled_from(sorted(POLICIES)), engine=st.sampled_from(ENGINES))
def test_releases_of_the_same_shape_are_the_same(output: str, pair: Pair, policy: str, engine: str) -> None:
    check(pair, output, POLICIES[policy], engine)


@pytest.mark.parametrize("output", ["csv.gz", "jsonl.zst", "parquet", "xlsx", "ods"])
@pytest.mark.parametrize("consistent", [False, True])
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs())
def test_several_columns_and_consistent_replacement_are_the_same(output: str, consistent: bool, pair: Pair) -> None:
    seen = []
    for texts in (pair.left, pair.right):
        with TemporaryDirectory() as place:
            source, out = Path(place, f"in.{output}"), Path(place, "out")
            out.mkdir()
            write_input(source, texts, pair.notes)
            private = Privatizer(Multivariate(embedding(), epsilon=2.0), randomness=Keyed(KEY, consistent=consistent))
            privatize_file(private, source, out / f"out.{output}", columns=["text", "note"], record_id="id")
            seen.append(all_that_is_seen(out))
    same = seen[0] == seen[1]
    assert same


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs(), policy=st.sampled_from(sorted(POLICIES)))
def test_folders_of_the_same_shape_are_the_same_whatever_their_files_are_called(pair: Pair, policy: str) -> None:
    seen = []
    for side, texts in enumerate((pair.left, pair.right)):
        with TemporaryDirectory() as place:
            source, out = Path(place, "in"), Path(place, "out")
            source.mkdir()
            out.mkdir()
            for number, text in enumerate(texts):
                (source / f"{number:03}{'kowalczyk' * side}.txt").write_text(text or "")
            privatize_file(make_private(POLICIES[policy], "one process"), source, out / "released", format="folder")
            seen.append(all_that_is_seen(out))
    same = seen[0] == seen[1]
    assert same
    assert "released/0001.txt" in seen[0]


def write_nested(path: Path, pair: Pair, texts: list[str | None]) -> Path:
    """Write the texts of a pair into objects and lists, each of them at four places."""
    rows = [
        {"id": i, "v": None if text is None else {"t": text, "note": note}, "l": [{"t": text}, None, {"t": text}], "s": [text][: i % 3]}
        for i, (text, note) in enumerate(zip(["the fox", *texts], ["", *pair.notes], strict=True))
    ]
    if path.suffix == ".parquet":
        entry = pa.struct({"t": pa.string(), "note": pa.string()})
        schema = pa.schema({"id": pa.int64(), "v": entry, "l": pa.list_(entry), "s": pa.list_(pa.string())})
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=17)
    else:
        path.write_text(json.dumps(rows) if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("output", ["jsonl", "json", "parquet"])
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs(), policy=st.sampled_from(sorted(set(POLICIES) - {"record epsilon", "all at once"})))
def test_texts_inside_objects_and_lists_are_the_same(output: str, pair: Pair, policy: str) -> None:
    seen = []
    for texts in (pair.left, pair.right):
        with TemporaryDirectory() as place:
            out = Path(place, "out")
            out.mkdir()
            source = write_nested(Path(place, f"in.{output}"), pair, texts)
            private = make_private(POLICIES[policy], "one process")
            privatize_file(private, source, out / f"out.{output}", columns=["v.t", "l[].t", "s[]"], record_id="id")
            seen.append(all_that_is_seen(out))
    same = seen[0] == seen[1]
    assert same


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["one process", "watch", "stream"])
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs())
def test_releases_on_a_mapped_space_are_the_same(output: str, engine: str, monkeypatch: pytest.MonkeyPatch, pair: Pair) -> None:
    mapped = reduce(embedding(), 3)
    with monkeypatch.context() as patch:
        patch.setattr("tests.test_noninterference.embedding", lambda: mapped)
        assert make_private({}, engine).card.linear_map is not None
        check(pair, output, {}, engine)


LISTED_OR_UNKNOWN = Pair(
    ["the Brown word of brown", "FOX", None, "quick fox's fox-brown", *["the brown fox"] * 40],
    ["the Стола word of nobody", "ＸＹ", None, "quick zorb's zorb-zorb", *["the zorblatt quux"] * 40],
    [f"note {i}" for i in range(44)],
)
"""Listed words on the left, and words that nobody knows on the right."""


@pytest.mark.parametrize("unknown", ["perturb", "redact", "drop"])
@pytest.mark.parametrize(
    ("output", "engine"), [("csv", "one process"), ("parquet", "workers"), ("jsonl.gz", "watch"), ("txt", "stream"), ("tsv", "seed")]
)
def test_listed_words_cannot_be_told_from_unknown_ones(output: str, engine: str, unknown: str) -> None:
    check(LISTED_OR_UNKNOWN, output, {"unknown": unknown, "never_release": NEVER_RELEASED}, engine)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("output", OUTPUTS)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs(most=60))
def test_releases_of_the_same_shape_are_the_same_whatever_is_chosen(output: str, engine: str, policy: str, pair: Pair) -> None:
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
    [*((output, ENGINES[i % len(ENGINES)]) for i, output in enumerate(OUTPUTS)), *(("csv.gz", e) for e in ENGINES), ("parquet", "watch")],
)
def test_a_word_of_a_megabyte_does_not_show(output: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    same_names(monkeypatch)
    check(spread_out(4_000, long_words=2, length=500_000), output, {}, engine)


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
        given = ["--embedding", "tiny", "-e", "2", "-c", "text", "--record-id", "id", "--key-file", "../key"]
        printed = [
            command.deniable("privatize", "in/records.csv", *given, "-o", "out/one.csv.gz"),
            command.deniable("privatize", "in/records.csv", *given, "--workers", "2", "-o", "out/two.csv.xz", "--json"),
            command.deniable("privatize", "in/records.csv", *given, "--card", "out/three.card.json"),
            command.deniable("privatize", "in/records.csv", *given, "--unknown", "error"),
            command.deniable("privatize", *given, "--format", "csv", data=(place / "in" / "records.csv").read_bytes()),
        ]
        status, out, err = command.deniable("watch", "in", "--out", "out", *given, "--once", "--settle", "0")
        printed.append((status, out, b"\n".join(line[19:] for line in err.splitlines())))
        assert [one[0] for one in printed] == [0, 0, 0, 1, 0, 0], printed
        seen.append((without_times(printed), all_that_is_seen(place / "out")))
        place.rename(tmp_path / f"was {len(seen)}")
    assert seen[0][0] == seen[1][0]
    same = seen[0][1] == seen[1][1]
    assert same


def without_times(printed: Sequence[tuple[int, bytes, bytes]]) -> list[list[Any]]:
    return [[status, *([line for line in said.splitlines() if b'"created"' not in line] for said in both)] for status, *both in printed]


ANY_TWO = (["the fox", None, ""], [f"of the {strange('Cyrillic', 3_000)}. Fox!", "word " * 90, "nobody knows", "5512-AB"])


def cards_of_any_two_texts(output: str, policy: dict[str, Any], engine: str) -> list[Any]:
    """Return the cards of two releases that have nothing in common but how they were made."""
    made = [release(list(texts), ["n"] * len(texts), output, policy, engine) for texts in ANY_TWO]
    return [seen[f"records.{output}.card.json"] for seen in made]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "error"])
@pytest.mark.parametrize(("output", "engine"), [("csv", "one process"), ("txt.gz", "workers"), ("jsonl", "watch"), ("parquet", "seed")])
def test_the_card_is_the_same_for_any_two_texts(output: str, engine: str, policy: str) -> None:
    first, second = cards_of_any_two_texts(output, POLICIES[policy], engine)
    assert first == second
    assert json.loads(first[1])["card"] == 1


def test_a_card_that_counts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = Job._finish

    def counted(job: Job, receipt: Receipt, card: Card, *others: Any) -> Receipt:
        return finish(job, receipt, replace(card, parameters={"words": receipt.tally.words}), *others)

    monkeypatch.setattr(Job, "_finish", counted)
    first, second = cards_of_any_two_texts("csv", {}, "one process")
    assert first != second


@pytest.mark.parametrize("wrong", ["word", "cells", "encoding"])
def test_a_stream_that_stops_at_an_error_holds_all_records_before_it(wrong: str, tmp_path: Path) -> None:
    """However they were put together in batches: how many there are would tell how long they were."""
    released = set()
    for length in (1, 30_000):
        texts = [*(f"the fox {'※' * length}" for _ in range(12)), "the fox", "the"]
        path = write_input(tmp_path / "records.csv", texts, ["n"] * 14)
        added = {"word": b"14,nobody,n", "cells": b"14,one cell too few", "encoding": b"14,\xff,n"}[wrong]
        path.write_bytes(path.read_bytes() + added + b"\n15,the,fox\n")
        sink = Sink()
        with open_source(path) as opened, pytest.raises((RecordError, UnknownWord)):
            privatize_stream(make_private({"unknown": "error"}, "stream"), opened, sink, layout_for(path, keyed=True))
        released.add(sink.getvalue())
        assert sink.getvalue().count(b"\n") == 15
    assert len(released) == 1


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("output", [output for output in OUTPUTS if output.startswith(("csv.", "parquet"))])
def test_without_a_key_the_layout_is_a_function_of_what_is_released(output: str, workers: int, tmp_path: Path) -> None:
    private = Privatizer(Multivariate(embedding(), epsilon=2.0))
    pair = spread_out(150, long_words=3, length=60_000)
    source = write_input(tmp_path / f"in.{output}", pair.right, pair.notes)
    target, again = tmp_path / f"out.{output}", tmp_path / "again"
    privatize_file(private, source, target, columns=["text"], workers=workers)
    if output == "parquet":
        file = pq.ParquetFile(target)
        batch = file.read().combine_chunks().to_batches()[0]
        packed = arrow_partial.pack_stream([batch], file.schema_arrow)
        (tmp_path / "packed").write_bytes(packed)
        with target.open("rb") as made:
            footer = read_footer(made)
        arrow_partial.streams_to_parquet(tmp_path / "packed", [len(packed)], footer, again, private=["text"])
        assert file.num_row_groups > 10
    else:
        repack(target, again, ENDINGS[target.suffix])
    assert again.read_bytes() == target.read_bytes()


TAKE = _Lane._take
HTTP_POLICIES = {name: policy for name, policy in POLICIES.items() if name not in ("error", "never release")}
"""A list of words that never come out is the operator's, and no client's choice."""


def answers_over_http(client: Client, texts: list[str | None], policy: dict[str, Any]) -> list[Any]:
    """Return all that the service sends for texts: status, headers and bytes of every reply, cut into chunks as they came.

    And what it counts meanwhile, but for how long things take.
    """
    before = counted(client)
    ids = [f"r{i}" for i in range(len(texts))]
    choice = {**policy, **({"keep_words": ",".join(policy["keep_words"])} if "keep_words" in policy else {})}
    lines = [json.dumps({"text": text, "id": one}).encode() for text, one in zip(texts, ids, strict=True)]
    rows = b"".join(json.dumps({"id": one, "text": text}).encode() + b"\n" for text, one in zip(texts, ids, strict=True))
    whole = client.post("/privatize", texts=texts, ids=ids, words=True, **policy)
    one = client.post("/privatize", text=texts[0] or "", id="r0", **policy)
    streamed = chunks_of(client, f"/privatize/stream?{urlencode(choice)}", b"\n".join(lines))
    file = client.upload(rows, name="rows.jsonl", column="text", record_id="id", wait=25, **choice)
    assert (whole.status, one.status, file.status) == (200, 200, 200), (whole.body, one.body, file.body)
    job = file.headers["location"]
    seen: list[Any] = [whole, one, streamed, file, client.get(job), client.get(f"{job}/card"), client.ask("DELETE", job)]
    private = {"date", "etag", "last-modified", "location"}  # when it was, and a random name
    kept: list[Any] = [each if isinstance(each, list) else {**vars(each), "headers": without(each.headers, private)} for each in seen]
    told = json.loads(kept[4].pop("body"))
    after = counted(client, total=sum(before.values()) + len(seen))
    more = {name: value - before.get(name, 0.0) for name, value in after.items()}
    return [*kept, without(told, {"id", "deleted_at"}), json.loads(kept[5].pop("body")), more]


def counted(client: Client, total: float | None = None) -> dict[str, float]:
    """Return what the service counts of all but this. A request is counted once its reply is out: ``total`` is waited for."""
    until = time.monotonic() + 20
    while True:
        lines = [line.rsplit(" ", 1) for line in client.get("/metrics").body.decode().splitlines() if not line.startswith("#")]
        found = {name: float(value) for name, value in lines if "_total" in name and "/metrics" not in name}
        if total is None or sum(found.values()) >= total or time.monotonic() > until:
            return found


def without(values: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def chunks_of(client: Client, path: str, body: bytes) -> list[bytes]:
    """Return the reply of a stream as it was cut into chunks of HTTP."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=60) as opened:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        opened.sendall(head.encode() + body)
        seen = b""
        while not seen.endswith(b"0\r\n\r\n"):
            part = opened.recv(1 << 16)
            assert part, seen[-200:]
            seen += part
    return [line for line in seen.split(b"\r\n") if not line.startswith(b"date:")]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A service that draws from a key, over the small embedding of these tests; with a parameter, one with a list of words."""
    monkeypatch.setattr(Embedding, "open", lambda *_: embedding())
    write_new_key(tmp_path / "key")
    (tmp_path / "never.txt").write_text("\n".join(NEVER_RELEASED), encoding="utf-8")
    never = (str(tmp_path / "never.txt"),) if getattr(request, "param", False) else ()
    release = ServiceRelease(epsilon=2.0, key_file=str(tmp_path / "key"), client_keep_words=True, never_release=never)
    with running(make_settings(tmp_path, release=release, limits=ServiceLimits(request_bytes=1 << 26))) as client:
        yield client


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pair=pairs(), policy=st.sampled_from(sorted(HTTP_POLICIES)))
def test_replies_over_http_are_the_same_for_texts_of_the_same_shape(served: Client, pair: Pair, policy: str) -> None:
    check_shape(pair, HTTP_POLICIES[policy])
    left, right = (answers_over_http(served, texts, HTTP_POLICIES[policy]) for texts in (pair.left, pair.right))
    for first, second in zip(left, right, strict=True):
        same = first == second
        assert same, "a reply tells two texts apart"


@pytest.mark.parametrize("served", [True], indirect=True)
@pytest.mark.parametrize("policy", [{}, {"unknown": "redact"}, {"unknown": "drop", "keep_words": ["the", "fox"]}])
def test_replies_over_http_do_not_tell_listed_words_from_unknown_ones(served: Client, policy: dict[str, Any]) -> None:
    sides = LISTED_OR_UNKNOWN.left[:4], LISTED_OR_UNKNOWN.right[:4]
    left, right = (answers_over_http(served, texts, policy) for texts in sides)
    assert left == right


def test_long_words_do_not_show_over_http(served: Client) -> None:
    pair = spread_out(200, long_words=3, length=60_000)
    left, right = (answers_over_http(served, texts, {}) for texts in (pair.left, pair.right))
    same = left == right
    assert same


async def lines_as_they_arrived(self: Releases, request: Any, prepared: Prepared) -> AsyncIterator[bytes]:
    async for lines in self._groups(request):
        read = [json.loads(line) for _, line in lines]
        released = await self._release(prepared, [one["text"] for one in read], [one["id"] for one in read])
        yield b"".join(json.dumps({"text": text}).encode() + b"\n" for text in released)


def end_with_the_size(self: JobStore, job: JobFolder, state: State, error: str | None = None) -> None:
    job.note(StateFile(state=state, error=error, done=job.input(job.asked).stat().st_size, ended=1.0))


def take_and_count_searches(self: _Lane) -> list[Any]:
    taken = TAKE(self)
    if taken and self._shared is not None:
        self._shared(1)
    return taken


HTTP_MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "how many searches were made": (_Lane, "_take", take_and_count_searches),
    "lines that are sent as they arrived": (Releases, "_lines", lines_as_they_arrived),
    "the size of the input of a job that is done": (JobStore, "_end", end_with_the_size),
}


@pytest.mark.parametrize("mutant", HTTP_MUTANTS)
def test_replies_that_depend_on_private_length_are_noticed(served: Client, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*HTTP_MUTANTS[mutant])
    pair = spread_out(150, long_words=3, length=60_000)
    left, right = (answers_over_http(served, texts, {}) for texts in (pair.left, pair.right))
    same = left == right
    assert not same


# Mutants: what this package once did, or might do, and what must be noticed.


def packed_as_it_came(packed: Path, finished: Path, kind: str) -> None:
    finished.write_bytes(packed.read_bytes())


def one_row_group_a_batch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in batches)


def drawn_by_batches(private: Privatizer, batches: Any) -> Any:
    return releasing._in_this_process(private, batches, up_to_errors=False)


def written_by_batches(sink: Any, waiting: bytearray, *, all_of_it: bool) -> None:
    sink.write(bytes(waiting))
    waiting.clear()


MUTANTS: dict[str, tuple[str, Callable[..., Any], str, str]] = {
    "members of gzip that end with batches": ("deniable.records.jobs.job.repack", packed_as_it_came, "csv.gz", "one process"),
    "members of bzip2 that end with batches": ("deniable.records.jobs.job.repack", packed_as_it_came, "csv.bz2", "watch"),
    "members of xz that end with batches": ("deniable.records.jobs.job.repack", packed_as_it_came, "jsonl.xz", "workers"),
    "members of Zstandard that end with batches": ("deniable.records.jobs.job.repack", packed_as_it_came, "txt.zst", "one process"),
    "row groups that end with batches": (
        "deniable.records.formats.parquet_files.partial.row_groups",
        one_row_group_a_batch,
        "parquet",
        "workers",
    ),
    "draws that end with batches": ("deniable.records.jobs.releasing._as_one_stream", drawn_by_batches, "csv", "seed"),
    "writes that end with batches": ("deniable.records.files._write", written_by_batches, "csv", "stream"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_batches_cut_by_private_length_are_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, replacement, output, engine = MUTANTS[mutant]
    monkeypatch.setattr(name, replacement)
    with pytest.raises(AssertionError, match="tells two texts apart"):
        check(spread_out(150, long_words=3, length=60_000), output, {}, engine)


def test_a_dictionary_of_released_texts_does_not_tell_where_batches_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = []
    for length in (1, 50_000):
        texts = [f"the {strange('Latin', length if i % 10 == 3 else 1)} {'fox' if i % 3 else 'word'}" for i in range(60)]
        notes = pa.DictionaryArray.from_arrays(pa.array([i % 2 for i in range(60)], pa.int8()), pa.array(["a", "b", "in no row"]))
        table = pa.table({"id": range(60), "text": pa.array(texts).dictionary_encode(), "kind": notes})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=23)
        target = tmp_path / f"out{length}.parquet"
        privatize_file(make_private({}, "one process"), tmp_path / "in.parquet", target, columns=["text"], record_id="id")
        made.append(target.read_bytes())
        assert pq.read_table(target)["kind"].chunk(0).dictionary.to_pylist() == ["a", "b", "in no row"]
    same = made[0] == made[1]
    assert same
