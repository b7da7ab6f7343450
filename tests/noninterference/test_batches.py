"""Texts go through in batches cut by private length; where they end shows nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Multivariate, Privatizer, UnknownWord
from deniable.arrays import Floats, Ids
from deniable.compression import ENDINGS, repack
from deniable.errors import RecordError
from deniable.interfaces import Randomness
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats import parquet_partial as arrow_partial
from deniable.records.formats.opening import open_source
from deniable.records.formats.parquet import read_parquet
from deniable.records.formats.reader import Batch, Reader
from deniable.records.formats.source import FileSource
from deniable.release.policies import Draft
from tests.noninterference.releasing_both import Sink, check, layout_for, make_private
from tests.support.private_pairs import (
    OUTPUTS,
    embedding,
    spread_out,
    strange,
    write_input,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


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
            privatize_stream(
                make_private({"unknown": "error"}, "stream"), opened, sink, layout_for(path, keyed=True)
            )
        released.add(sink.getvalue())
        assert sink.getvalue().count(b"\n") == 15
    assert len(released) == 1


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("output", [output for output in OUTPUTS if output.startswith(("csv.", "parquet"))])
def test_without_a_key_the_layout_is_a_function_of_what_is_released(
    output: str, workers: int, tmp_path: Path
) -> None:
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
        with closing(FileSource(target)) as made:
            compression = read_parquet(made)[0]["compression"]
        arrow_partial.streams_to_parquet(
            tmp_path / "packed", [len(packed)], compression, again, private=["text"]
        )
        assert file.num_row_groups > 10
    else:
        repack(target, again, ENDINGS[target.suffix])
    assert again.read_bytes() == target.read_bytes()


# Mutants: what this package once did, or might do, and what must be noticed.


def packed_as_it_came(packed: Path, finished: Path, kind: str) -> None:
    finished.write_bytes(packed.read_bytes())


def one_row_group_a_batch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in batches)


_BATCHES = Reader.batches


def drawn_by_batches(reader: Reader, **asked: bool) -> Iterator[Batch]:
    return _BATCHES(reader, **{**asked, "as_one": False})


def written_by_batches(sink: Any, waiting: bytearray, *, all_of_it: bool) -> None:
    sink.write(bytes(waiting))
    waiting.clear()


MUTANTS: dict[str, tuple[str, Callable[..., Any], str, str]] = {
    "members of gzip that end with batches": (
        "deniable.records.job.repack",
        packed_as_it_came,
        "csv.gz",
        "one process",
    ),
    "members of bzip2 that end with batches": (
        "deniable.records.job.repack",
        packed_as_it_came,
        "csv.bz2",
        "watch",
    ),
    "members of xz that end with batches": (
        "deniable.records.job.repack",
        packed_as_it_came,
        "jsonl.xz",
        "workers",
    ),
    "members of Zstandard that end with batches": (
        "deniable.records.job.repack",
        packed_as_it_came,
        "txt.zst",
        "one process",
    ),
    "row groups that end with batches": (
        "deniable.records.formats.parquet_partial.row_groups",
        one_row_group_a_batch,
        "parquet",
        "workers",
    ),
    "draws that end with batches": (
        "deniable.records.formats.reader.Reader.batches",
        drawn_by_batches,
        "csv",
        "seed",
    ),
    "writes that end with batches": ("deniable.records.files._write", written_by_batches, "csv", "stream"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_batches_cut_by_private_length_are_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, replacement, output, engine = MUTANTS[mutant]
    monkeypatch.setattr(name, replacement)
    with pytest.raises(AssertionError, match="tells two texts apart"):
        check(spread_out(150, long_words=3, length=60_000), output, {}, engine)


class Counting(Multivariate):
    """Notes how many words are drawn together."""

    drawn: ClassVar[list[int]] = []

    def perturb(self, ids: Ids, randomness: Randomness, *, epsilon: Floats | None = None) -> Ids:
        self.drawn.append(len(ids))
        return super().perturb(ids, randomness, epsilon=epsilon)


def drawn_together(word: str) -> list[int]:
    """Return how many words are drawn at once where every word is this one, of texts of known lengths."""
    Counting.drawn.clear()
    Privatizer(Counting(embedding(), epsilon=2.0)).many([" ".join([word] * (i % 5)) for i in range(60)])
    return [*Counting.drawn]


def test_words_are_drawn_together_whether_or_not_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = embedding().words[0]
    assert drawn_together("zorblatt") == drawn_together(known)
    assert len(drawn_together(known)) > 2
    monkeypatch.setattr(Draft, "size", property(lambda draft: len(draft.drawn) + draft.unknown))
    assert drawn_together("zorblatt") != drawn_together(known)


def test_a_dictionary_of_released_texts_does_not_tell_where_batches_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = []
    for length in (1, 50_000):
        texts = [
            f"the {strange('Latin', length if i % 10 == 3 else 1)} {'fox' if i % 3 else 'word'}"
            for i in range(60)
        ]
        notes = pa.DictionaryArray.from_arrays(
            pa.array([i % 2 for i in range(60)], pa.int8()), pa.array(["a", "b", "in no row"])
        )
        table = pa.table({"id": range(60), "text": pa.array(texts).dictionary_encode(), "kind": notes})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=23)
        target = tmp_path / f"out{length}.parquet"
        privatize_file(
            make_private({}, "one process"), tmp_path / "in.parquet", target, columns=["text"], record_id="id"
        )
        made.append(target.read_bytes())
        assert pq.read_table(target)["kind"].chunk(0).dictionary.to_pylist() == ["a", "b"]
    same = made[0] == made[1]
    assert same
