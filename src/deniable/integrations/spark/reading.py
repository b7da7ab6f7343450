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
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from deniable.errors import ClusterError, RecordError, printable
from deniable.integrations.spark.tasks import TALLY, Task, quoted
from deniable.release.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MALFORMED = "deniable malformed"
FILE, BLOCK, ROWS = "deniable file", "deniable block", "deniable rows"
PART, NUMBER = "deniable part", "deniable number"


_MARKING: dict[str, str] = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
# A cell may hold line ends, so a file is not cut within.
_CSV: dict[str, Any] = {"header": False, "multiLine": True, "escape": '"', **_MARKING}
RECORDS_PER_PART = 1_000_000
_WORDS_PER_PART = 20_000_000

_CHANGED = "has other records than a moment ago; let it be complete before it is released"

_Place = tuple[str, int]
"""The address of a file, and where in it Spark began to read."""
Header = Mapping[str, str | None] | None
"""The first row of each file, by column; None if files have none."""


@dataclass(frozen=True, kw_only=True)
class Records:
    """The records of files: a frame of their ``columns``, of where they were read, and of those that cannot
    be read."""

    frame: DataFrame
    columns: tuple[str, ...]
    header: Header

    def schema(self, *columns: str) -> StructType:
        """Return the types of these columns."""
        from pyspark.sql.types import StructType

        return StructType([self.frame.schema[name] for name in columns])

    def select(self, *columns: str) -> DataFrame:
        """Return these columns of the records."""
        header = self.header

        def clean(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return (batch.select(columns) for batch in clean_records(header, batches))

        return self._with_places(columns).mapInArrow(clean, self.schema(*columns))

    def count(self, task: Task) -> tuple[dict[_Place, int], Tally]:
        """Return how many records were read where, and what releasing them counts for the receipt. Nothing is
        drawn."""
        places: dict[_Place, int] = {}
        tally = Tally()
        schema = f"`{FILE}` string, `{BLOCK}` long, `{ROWS}` long, {TALLY} string"
        counting = partial(count_records, self.header, task)
        for row in self._with_places(task.columns).mapInArrow(counting, schema).collect():
            if row[TALLY] is None:
                places[row[FILE], row[BLOCK]] = row[ROWS]
            else:
                tally.add(Tally.from_dict(json.loads(row[TALLY])))
        return places, tally

    def release(
        self, task: Task, places: Mapping[_Place, int], tally: Tally, spark: SparkSession
    ) -> DataFrame:
        """Return the records released, in their order and in parts of equally many: how many parts there are
        depends on public numbers, those of records and of words."""
        from pyspark.sql.types import LongType, StructField, StructType

        records, header, columns = sum(places.values()), self.header, self.columns
        parts = max(1, -(-records // RECORDS_PER_PART), -(-tally.words // _WORDS_PER_PART))
        keys, per_part = _keys_of_parts(spark, parts), -(-records // parts) or 1
        ordered = sorted(places)
        firsts = dict(zip(ordered, accumulate((places[each] for each in ordered), initial=0), strict=False))

        def release(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            cleaned = clean_records(header, batches)
            return task.privatize(number_records(cleaned, columns, firsts, places, per_part, keys))

        numbers = [StructField(PART, LongType()), StructField(NUMBER, LongType())]
        schema = StructType([*self.schema(*columns), *numbers])
        released = self._with_places(columns).mapInArrow(release, schema)
        return released.repartition(parts, f"`{PART}`").sortWithinPartitions(f"`{NUMBER}`").drop(PART, NUMBER)

    def _with_places(self, columns: Iterable[str]) -> DataFrame:
        marked = [MALFORMED] if MALFORMED in self.frame.columns else []
        return self.frame.select(*map(quoted, (*columns, FILE, BLOCK, *marked)))


def clean_records(header: Header, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records, without the headers of files."""
    import numpy as np
    import pyarrow as pa

    last: str | None = None
    for batch in batches:
        if MALFORMED in batch.schema.names and batch.column(MALFORMED).null_count < len(batch):
            place = next(i for i, text in enumerate(batch.column(MALFORMED)) if text.is_valid)
            problem = "a record of it cannot be read: it has another form than the others"
            raise RecordError(batch.column(FILE)[place].as_py(), problem)
        if header is not None:
            titles = {name: title for name, title in header.items() if name in batch.schema.names}
            kept, start = np.ones(len(batch), dtype=np.bool_), 0
            for (file, _), rows in _runs(batch):
                if file != last:
                    if any(batch.column(name)[start].as_py() != title for name, title in titles.items()):
                        problem = "its first row is not the header of the other files"
                        raise RecordError(file, f"{problem}; every file must have the same columns")
                    kept[start] = False
                start, last = start + rows, file
            batch = batch.filter(pa.array(kept))
        yield batch


def count_records(header: Header, task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield how many records there are at each place, and one row with what releasing them counts for the
    receipt."""
    import pyarrow as pa

    counts: dict[_Place, int] = {}

    def counting() -> Iterator[pa.RecordBatch]:
        for batch in clean_records(header, batches):
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


def number_records(
    batches: Iterator[pa.RecordBatch],
    columns: Sequence[str],
    firsts: Mapping[_Place, int],
    counts: Mapping[_Place, int],
    per_part: int,
    keys: Sequence[int],
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of batches, with the number of each record and the key of the part that it belongs
    to.
    """
    import numpy as np
    import pyarrow as pa

    seen: dict[_Place, int] = {}
    for batch in batches:
        numbers = [np.empty(0, dtype=np.int64)]
        for place, rows in _runs(batch):
            before = seen.get(place, 0)
            seen[place] = before + rows
            if seen[place] > counts.get(place, 0):
                raise RecordError(place[0], _CHANGED)
            numbers.append(np.arange(before, before + rows) + firsts[place])
        joined = np.concatenate(numbers)
        parts = np.array(keys, dtype=np.int64)[joined // per_part]
        released = batch.select(list(columns))
        arrays = [*released.columns, pa.array(parts), pa.array(joined)]
        yield pa.RecordBatch.from_arrays(arrays, [*released.schema.names, PART, NUMBER])
    for place, rows in seen.items():
        if rows != counts[place]:
            raise RecordError(place[0], _CHANGED)


def read_files(spark: SparkSession, source: str, kind: str) -> Records:
    """Return the records of a file or of the files of a folder."""
    header: Header = None
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
    read_at = place["file_path"].alias(FILE), place["file_block_start"].alias(BLOCK)
    return Records(frame=frame.select(*map(quoted, frame.columns), *read_at), columns=columns, header=header)


def _read_delimited(spark: SparkSession, source: str, separator: str) -> tuple[DataFrame, Header]:
    from pyspark.sql.types import StringType, StructField, StructType

    first = spark.read.csv(source, sep=separator, **_CSV).limit(1).collect()
    titles: list[str | None] = list(first[0]) if first else []
    # Names that differ also where capitals do not count, as Spark makes them of a header.
    lowered = [(title or "").lower() for title in titles]
    names = [
        f"_c{i}" if not title else f"{title}{i}" if lowered.count(title.lower()) > 1 else title
        for i, title in enumerate(titles)
    ]
    schema = StructType([StructField(name, StringType()) for name in (*names, MALFORMED)])
    frame = spark.read.csv(source, schema=schema, sep=separator, **_CSV)
    return frame, dict(zip(names, titles, strict=True))


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

    part = functions.pmod(functions.hash("id"), functions.lit(parts)).alias("part")
    hashed = spark.range(64 + 32 * parts).select("id", part)
    rows = hashed.groupBy("part").agg(functions.min("id").alias("id")).collect()
    keys = {row["part"]: row["id"] for row in rows}
    if len(keys) < parts:
        raise ClusterError(f"Spark's hash does not reach all of {parts:,} parts")
    return [keys[part] for part in range(parts)]
