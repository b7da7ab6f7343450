"""Files as Spark reads them: without a word of them in its reports, and in an order that does not depend on
private text.

Spark quotes a record that it cannot read in its error, and so in every log. It therefore reads all of them,
and marks those that it cannot read; ours is the error then, and it says which file. A CSV file is read with
its header as one more row, which is compared here, since Spark would quote that too.

How Spark packs files into tasks, and where it cuts them, depends on their size. So every record is numbered,
by the name of its file and its place in it, and the parts of the output are cut by these numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypedDict

from deniable.errors import ClusterError, RecordError, printable
from deniable.integrations.spark.executor import TALLY, Task, quoted
from deniable.release.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MALFORMED = "deniable malformed"
FILE, BLOCK, ROWS = "deniable file", "deniable block", "deniable rows"
PART, NUMBER = "deniable part", "deniable number"


class _CsvOptions(TypedDict):
    header: bool
    multiLine: bool
    escape: str


# A cell may hold line ends, so a file is not cut within.
_CSV: _CsvOptions = {"header": False, "multiLine": True, "escape": '"'}
_MARKING: dict[str, str] = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
_RECORDS_PER_PART = 1_000_000
_WORDS_PER_PART = 20_000_000

_Place = tuple[str, int]
"""The address of a file, and where in it Spark began to read."""


@dataclass(frozen=True, kw_only=True)
class Records:
    """The records of files: a frame of their ``columns``, of where they were read, and of those that cannot
    be read."""

    frame: DataFrame
    columns: tuple[str, ...]
    rows: FileRows

    @property
    def schema(self) -> StructType:
        """The columns of the records alone."""
        from pyspark.sql.types import StructType

        return StructType([self.frame.schema[name] for name in self.columns])

    def select(self, *columns: str) -> DataFrame:
        """Return these columns of the records."""
        rows = self.rows

        def clean(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return (batch.select(columns) for batch in rows.clean(batches))

        from pyspark.sql.types import StructType

        return self._with_places(columns).mapInArrow(
            clean, StructType([self.frame.schema[name] for name in columns])
        )

    def count(self, task: Task) -> Counted:
        """Return what releasing the records counts for the receipt, and how many were read where. Nothing is
        drawn."""
        rows = self.rows

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return rows.count(task, batches)

        counted = Counted()
        schema = f"`{FILE}` string, `{BLOCK}` long, `{ROWS}` long, {TALLY} string"
        for row in self._with_places(task.columns).mapInArrow(count, schema).collect():
            if row[TALLY] is not None:
                counted.tally.add(Tally.from_dict(json.loads(row[TALLY])))
            else:
                counted.places[row[FILE], row[BLOCK]] = row[ROWS]
        return counted

    def release(self, task: Task, counted: Counted, spark: SparkSession) -> DataFrame:
        """Return the records released, in their order and in parts of equally many."""
        from pyspark.sql.types import LongType, StructField, StructType

        parts = counted.parts
        numbering = Numbering(
            firsts=counted.firsts(),
            counts=counted.places,
            per_part=-(-counted.records // parts) or 1,
            keys=_keys_of_parts(spark, parts),
        )
        rows, columns = self.rows, self.columns

        def release(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return task.privatize(numbering.number(rows.clean(batches), columns))

        schema = StructType([*self.schema, StructField(PART, LongType()), StructField(NUMBER, LongType())])
        released = self._with_places(self.columns).mapInArrow(release, schema)
        return released.repartition(parts, f"`{PART}`").sortWithinPartitions(f"`{NUMBER}`").drop(PART, NUMBER)

    def _with_places(self, columns: Iterable[str]) -> DataFrame:
        marked = [MALFORMED] if MALFORMED in self.frame.columns else []
        return self.frame.select(*(quoted(name) for name in (*columns, FILE, BLOCK, *marked)))


@dataclass(kw_only=True)
class Counted:
    """How many records were read where, and what they count for the receipt."""

    places: dict[_Place, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(self.places.values())

    @property
    def parts(self) -> int:
        """How many parts the output has, by numbers that are public: those of records and of words."""
        return max(1, -(-self.records // _RECORDS_PER_PART), -(-self.tally.words // _WORDS_PER_PART))

    def firsts(self) -> dict[_Place, int]:
        """Return the number of the first record of each place, in the order of the files' names."""
        firsts, number = {}, 0
        for place in sorted(self.places):
            firsts[place] = number
            number += self.places[place]
        return firsts


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """What executors do with the rows of files. ``header`` is what stands in the first row of each, by
    column; None if they have none."""

    header: Mapping[str, str | None] | None = None

    def clean(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the records.

        :raises RecordError: if one cannot be read, or a file has another header; without a word of it.
        """
        last: str | None = None
        for batch in batches:
            if MALFORMED in batch.schema.names and batch.column(MALFORMED).null_count < len(batch):
                place = next(i for i, text in enumerate(batch.column(MALFORMED)) if text.is_valid)
                raise RecordError(
                    batch.column(FILE)[place].as_py(),
                    "a record of it cannot be read: it has another form than the others",
                )
            if self.header is not None:
                batch, last = self._without_headers(batch, last)
            yield batch

    def count(self, task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield how many records there are at each place, and one row with what releasing them counts for the
        receipt."""
        import pyarrow as pa

        counts: dict[_Place, int] = {}

        def counting() -> Iterator[pa.RecordBatch]:
            for batch in self.clean(batches):
                for place, rows in _runs(batch):
                    counts[place] = counts.get(place, 0) + rows
                yield batch

        (tally,) = task.count(counting())
        yield pa.RecordBatch.from_pydict(
            {
                FILE: pa.array([*(file for file, _ in counts), None], pa.string()),
                BLOCK: pa.array([*(block for _, block in counts), None], pa.int64()),
                ROWS: pa.array([*counts.values(), None], pa.int64()),
                TALLY: pa.array([*(None for _ in counts), *tally.column(TALLY).to_pylist()], pa.string()),
            }
        )

    def _without_headers(self, batch: pa.RecordBatch, last: str | None) -> tuple[pa.RecordBatch, str | None]:
        import numpy as np
        import pyarrow as pa

        titles = {name: title for name, title in (self.header or {}).items() if name in batch.schema.names}
        kept, start = np.ones(len(batch), dtype=np.bool_), 0
        for (file, _), rows in _runs(batch):
            if file != last:
                if any(batch.column(name)[start].as_py() != title for name, title in titles.items()):
                    raise RecordError(
                        file,
                        "its first row is not the header of the other files; every file must have the same "
                        "columns",
                    )
                kept[start] = False
            start, last = start + rows, file
        return batch.filter(pa.array(kept)), last


@dataclass(frozen=True, kw_only=True)
class Numbering:
    """The numbers of records, by the number of the first at each place; ``keys`` lead Spark to the parts of
    the output."""

    firsts: Mapping[_Place, int]
    counts: Mapping[_Place, int]
    per_part: int
    keys: Sequence[int]

    def number(self, batches: Iterator[pa.RecordBatch], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the columns of batches, with the number of each record and the part that it belongs to.

        :raises RecordError: if there are other records than were counted.
        """
        import numpy as np
        import pyarrow as pa

        seen: dict[_Place, int] = {}
        for batch in batches:
            numbers = []
            for place, rows in _runs(batch):
                before = seen.get(place, 0)
                seen[place] = before + rows
                if seen[place] > self.counts.get(place, 0):
                    raise RecordError(place[0], _CHANGED)
                numbers.append(np.arange(before, before + rows) + self.firsts[place])
            joined = np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)
            parts = np.array(self.keys, dtype=np.int64)[joined // self.per_part]
            released = batch.select(list(columns))
            yield pa.RecordBatch.from_arrays(
                [*released.columns, pa.array(parts), pa.array(joined)], [*released.schema.names, PART, NUMBER]
            )
        for place, rows in seen.items():
            if rows != self.counts[place]:
                raise RecordError(place[0], _CHANGED)


_CHANGED = "has other records than a moment ago; let it be complete before it is released"


def read_files(spark: SparkSession, source: str, kind: str) -> Records:
    """Return the records of a file or of the files of a folder.

    :raises ClusterError: if one of them is seen to be no record; without a word of it.
    """
    header = None
    if kind == "parquet":
        frame = spark.read.parquet(source, mergeSchema=True)
    elif kind == "jsonl":
        schema = spark.read.json(source, **_MARKING).schema
        if MALFORMED in schema.names:
            raise ClusterError(f"{printable(source)}: a line is not a JSON object")
        frame = spark.read.json(source, schema=schema.add(MALFORMED, "string"), **_MARKING)
    else:
        frame, header = _read_delimited(spark, source, "\t" if kind == "tsv" else ",")
    columns = tuple(name for name in frame.columns if name != MALFORMED)
    place = frame.metadataColumn("_metadata")
    frame = frame.select(
        *map(quoted, frame.columns), place["file_path"].alias(FILE), place["file_block_start"].alias(BLOCK)
    )
    return Records(frame=frame, columns=columns, rows=FileRows(header=header))


def _read_delimited(
    spark: SparkSession, source: str, separator: str
) -> tuple[DataFrame, dict[str, str | None]]:
    from pyspark.sql.types import StringType, StructField, StructType

    first = spark.read.csv(source, sep=separator, **_CSV, **_MARKING).limit(1).collect()
    titles: list[str | None] = list(first[0]) if first else []
    names = _as_names(titles)
    schema = StructType([StructField(name, StringType()) for name in (*names, MALFORMED)])
    frame = spark.read.csv(source, schema=schema, sep=separator, **_CSV, **_MARKING)
    return frame, dict(zip(names, titles, strict=True))


def _as_names(titles: Sequence[str | None]) -> list[str]:
    """Return the names of columns, which differ also where capitals do not count, as Spark makes them of a
    header."""
    lowered = [(title or "").lower() for title in titles]
    return [
        f"_c{i}" if not title else f"{title}{i}" if lowered.count(title.lower()) > 1 else title
        for i, title in enumerate(titles)
    ]


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[_Place, int]]:
    """Yield the places that the rows of a batch were read from, with how many rows in a row."""
    import numpy as np

    if not len(batch):
        return
    files, blocks = batch.column(FILE).dictionary_encode(), batch.column(BLOCK).to_numpy(zero_copy_only=False)
    changes = (np.diff(files.indices.to_numpy()) != 0) | (np.diff(blocks) != 0)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
    for start, end in pairwise(starts):
        yield (batch.column(FILE)[start].as_py(), int(blocks[start])), end - start


def _keys_of_parts(spark: SparkSession, parts: int) -> list[int]:
    """Return a number for each part that Spark's hash sends to the partition of the part's own number, so
    that parts come in order."""
    from pyspark.sql import functions

    tried = 64 + 32 * parts
    hashed = spark.range(tried).select(
        "id", functions.pmod(functions.hash("id"), functions.lit(parts)).alias("part")
    )
    found = {
        row["part"]: row["id"]
        for row in hashed.groupBy("part").agg(functions.min("id").alias("id")).collect()
    }
    if len(found) < parts:
        raise ClusterError(f"Spark's hash does not reach all of {parts:,} parts")
    return [found[part] for part in range(parts)]
