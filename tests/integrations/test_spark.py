"""Data frames on a real cluster of this machine, started once for all tests."""

from __future__ import annotations

import json
import os
import signal
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deniable import (
    TEM,
    Embedding,
    EmbeddingNotFound,
    InvalidParameter,
    Keyed,
    KeyFileError,
    Mechanism,
    Multivariate,
    Privatizer,
    Vickrey,
)
from deniable.decoding.decoder import Decoder
from deniable.embeddings import store
from deniable.errors import UndecidedColumns
from deniable.integrations import spark
from deniable.integrations.spark import decoded, learn_decoder, privatized, ship_embedding
from deniable.noise.key_file import write_new_key
from deniable.purposes import install_shaped
from tests.support.keeping import keeping
from tests.support.made_purpose import made_embedding, public_texts
from tests.support.spark_place import RECORDS, Place

privatize, receipt = keeping(spark.privatize), keeping(spark.receipt)


def private_words(text: str | None) -> int:
    """Return how many words are drawn for a text."""
    return (
        0
        if text is None
        else max(Privatizer(Multivariate(Embedding.open("tiny"), epsilon=1)).count([text]).lengths)
    )


def kill_the_executor_once(batches: Iterator[Any], mark: Path) -> Iterator[Any]:
    """Pass batches on; the first process that has passed two of them kills the JVM it works for."""
    for number, batch in enumerate(batches):
        if number == 2:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                python_daemon = Path(f"/proc/{os.getppid()}/status").read_text()
                executor = next(
                    int(line.split()[1]) for line in python_daemon.split("\n") if line.startswith("PPid:")
                )
                os.kill(executor, signal.SIGKILL)
        yield batch


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="finds the executor in /proc")
def test_with_an_executor_killed_every_record_comes_once_and_as_on_one_machine(place: Place) -> None:
    mark = place.folder / "killed"
    place.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "4")
    released = privatize(place.frame, "text", epsilon=1, embedding="tiny", key_file=place.key, record_id="id")
    executors = place.spark.sparkContext._jsc.sc().statusTracker()
    before = {info.host() + str(info.port()) for info in executors.getExecutorInfos()}
    target = place.folder / "survived"
    released.mapInArrow(lambda batches: kill_the_executor_once(batches, mark), released.schema).write.parquet(
        str(target)
    )
    assert mark.exists()
    assert {info.host() + str(info.port()) for info in executors.getExecutorInfos()} != before
    rows = place.spark.read.parquet(str(target)).collect()
    assert len(rows) == RECORDS
    assert {row.id: row.text for row in rows} == place.one_machine()
    assert all(row.note == f"kept {row.id}" for row in rows)


def test_computed_again_a_keyed_frame_is_the_same_and_a_fresh_one_is_another_release(place: Place) -> None:
    keyed = privatize(
        place.frame, "text", epsilon=1, embedding="tiny", key_file=place.key, record_id="id"
    ).select("id", "text")
    assert {row.id: row.text for row in keyed.repartition(3).collect()} == place.one_machine()
    fresh = privatize(place.frame, "text", epsilon=1, embedding="tiny", fresh_noise=True).select("id", "text")
    one, two = ({row.id: row.text for row in fresh.collect()} for _ in range(2))
    assert one != two
    assert [one[i] is None for i in range(RECORDS)] == [text is None for text in place.texts]
    # Tasks and processes that started from the same state would repeat one another's noise on equal texts.
    same = place.spark.range(64).selectExpr("id", f"'{' '.join(['word1'] * 30)}' as text").repartition(8)
    assert (
        privatize(same, "text", epsilon=1e-3, embedding="tiny", fresh_noise=True)
        .select("text")
        .distinct()
        .count()
        == 64
    )


def test_the_expression_releases_as_one_machine_does(place: Place) -> None:
    released = place.frame.select(
        "id", privatized("text", "id", epsilon=1, embedding="tiny", key_file=place.key).alias("text")
    )
    assert {row.id: row.text for row in released.collect()} == place.one_machine()


@pytest.mark.parametrize(
    ("name", "options", "made"), [("vickrey", {"t": 0.4}, Vickrey), ("tem", {"beta": 0.01}, TEM)]
)
def test_other_mechanisms_release_as_on_one_machine_too(
    place: Place, name: str, options: dict[str, Any], made: Callable[..., Mechanism]
) -> None:
    drawing: dict[str, Any] = {"mechanism": name, "mechanism_options": options}
    released = privatize(
        place.frame, "text", epsilon=1, embedding="tiny", key_file=place.key, record_id="id", **drawing
    )
    expected = place.one_machine(mechanism=made(Embedding.open("tiny"), epsilon=1, **options))
    assert {row.id: row.text for row in released.collect()} == expected
    assert expected != place.one_machine()


def test_words_of_a_never_release_list_come_out_of_no_executor(place: Place) -> None:
    settings: dict[str, Any] = {"epsilon": 1, "embedding": "tiny", "key_file": place.key}
    barred = {f"word{i}" for i in range(0, 500, 2)}

    def words(released: Any) -> set[str]:
        return {word for row in released.collect() for word in (row.text or "").split()}

    assert len(words(privatize(place.frame, "text", record_id="id", **settings)) & barred) > 50
    settings["never_release"] = sorted(barred)
    for released in (
        privatize(place.frame, "text", record_id="id", **settings),
        place.frame.select(privatized("text", "id", **settings).alias("text")),
    ):
        found = words(released)
        assert len(found) > 50
        assert not found & barred


def test_every_column_of_a_frame_needs_a_role(place: Place) -> None:
    settings: dict[str, Any] = {"epsilon": 1, "embedding": "tiny", "fresh_noise": True}
    for refusing in (spark.privatize, spark.receipt):
        with pytest.raises(UndecidedColumns) as raised:
            refusing(place.frame, "text", keep=["id"], **settings)
        assert raised.value.columns == {"note": "no role"}
        with pytest.raises(InvalidParameter) as wrong:
            refusing(place.frame, "text", keep=["id"], drop=["note", "no-such"], **settings)
        assert wrong.value.name == "drop"
    released = spark.privatize(place.frame, "text", keep=["id"], drop=["note"], **settings)
    assert released.columns == ["id", "text"]
    assert {row.id for row in released.collect()} == set(range(RECORDS))
    made = spark.receipt(place.frame, "text", keep=["id"], drop=["note"], **settings)
    assert any("left out: the column note" in line for line in made.public)


def test_several_columns_get_noise_of_their_own(place: Place) -> None:
    text = " ".join(["word1"] * 30)
    frame = place.spark.createDataFrame([(1, text, text)], "id long, a string, b string")
    row = privatize(
        frame, "a", "b", epsilon=1e-3, embedding="tiny", key_file=place.key, record_id="id"
    ).collect()[0]
    assert row.a != row.b


def test_the_receipt_counts_what_is_released_and_says_what_is_not(place: Place) -> None:
    settings: dict[str, Any] = {"epsilon": 1, "embedding": "tiny", "key_file": place.key}
    made = receipt(place.frame, "text", record_id="id", **settings).to_dict()
    local = Privatizer(Multivariate(Embedding.open("tiny"), epsilon=1), randomness=Keyed.from_file(place.key))
    local.many(place.texts, record_ids=range(RECORDS), rows=[1] * RECORDS)
    expected = local.receipt().to_dict()
    for part in ("counts", "budget", "randomness", "guarantee", "embedding"):
        assert made[part] == expected[part]
    assert all(name in made["public"][-1] for name in ("released exactly as it is", "id", "note"))
    both = receipt(place.frame, "text", "note", epsilon=1, embedding="tiny", fresh_noise=True).to_dict()
    assert (both["counts"]["records"], both["counts"]["rows"]) == (2 * RECORDS, RECORDS)
    assert both["budget"]["longest_row"]["words"] >= both["budget"]["longest_record"]["words"]
    frame = place.frame
    named = frame.withColumn("who", frame.id % 7)
    users = receipt(named, "text", record_id="who", consistent=True, **settings).to_dict()["budget"][
        "longest_user"
    ]
    spent: Counter[int] = Counter()
    for record, text in enumerate(place.texts):
        spent[record % 7] += private_words(text)
    assert users == {
        "words": max(spent.values()),
        "epsilon": max(spent.values()),
        "exact": True,
        "users": len(spent),
    }
    assert "2 columns are privatized" in both["relaxations"][-1]


def test_files_that_keep_arriving_are_released_once_each(place: Place) -> None:
    arriving, target = place.folder / "arriving", place.folder / "streamed"
    arriving.mkdir()

    def run(first: int, last: int) -> None:
        rows = [{"id": i, "text": place.texts[i]} for i in range(first, last)]
        (arriving / f"{first}.json").write_text("\n".join(json.dumps(row) for row in rows))
        stream = place.spark.readStream.schema("id long, text string").json(str(arriving))
        released = privatize(stream, "text", epsilon=1, embedding="tiny", key_file=place.key, record_id="id")
        query = released.writeStream.option("checkpointLocation", str(place.folder / "checkpoint")).trigger(
            availableNow=True
        )
        query.start(str(target), format="parquet").awaitTermination()

    run(0, 20)
    run(20, 50)
    rows = place.spark.read.parquet(str(target)).collect()
    assert len(rows) == 50
    assert {row.id: row.text for row in rows} == place.one_machine(range(50), place.texts[:50])


def test_calibrations_are_not_sent_along(place: Place) -> None:
    folder = place.install("calibrated")
    (folder / "calibrations").mkdir()
    (folder / "calibrations" / "radii.npy").write_bytes(b"large")
    sent: list[str] = []
    context = SimpleNamespace(listArchives=[], addArchive=sent.append)
    ship_embedding(cast(Any, SimpleNamespace(sparkContext=context)), "calibrated")
    with tarfile.open(sent[0].partition("#")[0]) as archive:
        names = archive.getnames()
    assert "meta.json" in names
    assert not any("calibrations" in name for name in names)


def test_an_embedding_that_was_sent_is_used_where_the_disk_is_not_shared(place: Place) -> None:
    folder = place.install("sent")
    settings: dict[str, Any] = {"epsilon": 1e6, "embedding": "sent", "fresh_noise": True}
    released = privatize(place.frame, "text", **settings).select("text")
    ship_embedding(place.spark, "sent")
    folder.rename(place.folder / "moved away")
    assert all(row.text is None or row.text.startswith("word") for row in released.collect())
    with pytest.raises(EmbeddingNotFound):
        privatize(place.frame, "text", **settings)


def test_an_executor_without_the_embedding_or_the_key_says_so(place: Place) -> None:
    folder = place.install("gone")
    key = place.folder / "gone.key"
    write_new_key(key)
    frame = place.spark.createDataFrame([(1, "word1")], "id long, text string").coalesce(1)
    # Spark remembers the failure of a frame, so each is made of its own.
    without_key, without_both = (
        privatize(frame, "text", epsilon=epsilon, embedding="gone", key_file=key, record_id="id")
        for epsilon in (1, 2)
    )
    key.rename(place.folder / "another name")
    with pytest.raises(Exception, match=r"gone\.key: is not there.*every executor opens the key file itself"):
        without_key.collect()
    folder.rename(place.folder / "elsewhere")
    with pytest.raises(Exception, match=r"has no embedding at .*gone: put it on a disk .*ship_embedding"):
        without_both.collect()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["txet"]}, "text"),
        ({"columns": ["id"]}, "holds bigint, not text"),
        ({"columns": []}, "choose at least one column"),
        ({"key_file": None, "record_id": None}, "more than once"),
        ({"fresh_noise": True}, "not fresh"),
        ({"record_id": None}, "go together"),
        ({"record_id": "nothing"}, "no such column"),
        ({"record_id": "text"}, "itself released"),
        ({"epsilon": 0}, "greater than 0"),
        ({"mechanism": "vikrey"}, "must be one of"),
        ({"mechanism": "vickrey", "mechanism_options": {"k": 5}}, "is no option of the mechanism vickrey"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(
    place: Place, change: dict[str, Any], message: str
) -> None:
    settings = {
        "columns": ["text"],
        "epsilon": 1,
        "embedding": "tiny",
        "key_file": place.key,
        "record_id": "id",
        **change,
    }
    frame = place.spark.createDataFrame([(1, "a")], "id long, text string")
    with pytest.raises(InvalidParameter, match=message):
        privatize(frame, *settings.pop("columns"), **settings)


def test_a_stream_without_a_key_and_a_wrong_key_file_are_refused(place: Place) -> None:
    (place.folder / "empty").mkdir()
    stream = place.spark.readStream.schema("id long, text string").json(str(place.folder / "empty"))
    with pytest.raises(InvalidParameter, match="replays"):
        privatize(stream, "text", epsilon=1, embedding="tiny", fresh_noise=True)
    with pytest.raises(KeyFileError, match="is not there"):
        privatize(
            place.frame, "text", epsilon=1, embedding="tiny", key_file=place.folder / "none", record_id="id"
        )


def test_a_shaped_space_is_sent_released_noted_and_decoded_as_on_one_machine(place: Place) -> None:
    store.save(made_embedding(), "made")
    install_shaped("made", "shaped", [public_texts(classes=3)], dimension=3)
    folder = store.store_folder() / "shaped"
    texts = [" ".join(made_embedding().words[(7 * i + j * j) % 250] for j in range(12)) for i in range(80)]
    frame = place.spark.createDataFrame([*enumerate(texts)], "id long, text string").repartition(3)
    settings: dict[str, Any] = {"epsilon": 2, "embedding": "shaped", "key_file": place.key, "record_id": "id"}
    mechanism = Multivariate(Embedding.open("shaped"), epsilon=2)
    expected = place.one_machine(range(80), texts, mechanism=mechanism)
    assert expected != place.one_machine(
        range(80), texts, mechanism=Multivariate(Embedding.open("made"), epsilon=2)
    )
    card = Privatizer(mechanism, randomness=Keyed.from_file(place.key)).card
    noted = receipt(frame, "text", **settings).to_dict()
    assert card.embedding.map is not None
    assert noted["embedding"]["map"]["kind"] == card.embedding.map.kind == "shaped"
    assert noted["embedding"]["map"]["digest"] == card.embedding.map.digest
    released = privatize(frame, "text", **settings)
    state = learn_decoder(
        place.spark.createDataFrame([*expected.items()], "id long, text string"), "text", card, effort=60
    )
    wanted = released.select("id", "text", decoded("text", state).alias("read"))
    ship_embedding(place.spark, "shaped")
    folder.rename(place.folder / "shaped moved away")  # executors have what was sent, and no other
    rows = wanted.collect()
    assert {row.id: row.text for row in rows} == expected
    folder = (place.folder / "shaped moved away").rename(folder)
    decoder = Decoder.learn(card, [*expected.values()], effort=60, every_word=True)
    assert [read for _, read in sorted((row.id, row.read) for row in rows)] == decoder.decode(
        [*expected.values()]
    )
