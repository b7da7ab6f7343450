"""What runs on the executors, one privatizer per Python process, and the embedding that is sent to them."""

from __future__ import annotations

import atexit
import json
import shutil
import socket
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import BUILT_IN, DEFAULT
from deniable.errors import EmbeddingError, KeyFileError
from deniable.neighbours import best_neighbours
from deniable.neighbours.threads import set_threads
from deniable.records.formats.naming import name_column
from deniable.release.columns import map_column
from deniable.release.note import FILE_NAME
from deniable.release.privatizer import Privatizer
from deniable.release.release import Release
from deniable.release.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

TALLY = "tally"
_ARCHIVE = "deniable-"
"""How the name of an embedding that was sent begins among an executor's files."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a task is told: the settings, the columns of private text, and the column that names the
    records."""

    release: Release
    columns: tuple[str, ...]
    record_id: str | None = None

    def privatize(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches with every word of the columns replaced."""
        private = privatizer_here(self.release)
        for batch in batches:
            ids = None if self.record_id is None else batch.column(self.record_id).to_pylist()
            for column in self.columns:
                place = batch.schema.get_field_index(column)
                consistent = self.release.consistent
                names = None if ids is None else name_column(ids, column, consistent=consistent)
                many = partial(private.many, record_ids=names)
                released = map_column(batch.column(place), many).combine_chunks()
                batch = batch.set_column(place, batch.schema.field(place), released)
            yield batch

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row: what releasing the batches counts for the receipt. Nothing is drawn."""
        import pyarrow as pa

        private = privatizer_here(self.release)
        tally = Tally()
        for batch in batches:
            columns = [batch.column(column).to_pylist() for column in self.columns]
            names = None
            if self.release.consistent and self.record_id is not None:
                names = [name for name in batch.column(self.record_id).to_pylist() for _ in columns]
            texts = [text for row in zip(*columns, strict=True) for text in row]
            tally.add(private.count(texts, record_ids=names, rows=[len(columns)] * len(batch)))
        yield pa.RecordBatch.from_pydict({TALLY: [json.dumps(tally.to_dict())]})


def privatizer_here(release: Release) -> Privatizer:
    """Return this process's privatizer, with the embedding that was sent here or lies on a disk that all
    executors see.
    """
    take_only_own_threads()
    try:
        embedding = embedding_here(release.embedding, release.fingerprint)
        return replace(release, embedding=embedding).shared_privatizer()
    except KeyFileError as error:
        where = f"(on executor {socket.gethostname()}; every executor opens the key file itself)"
        raise KeyFileError(error.source, f"{error.problem} {where}") from None


def take_only_own_threads() -> None:
    """Use as many threads as this task has processors: the others of the machine belong to other tasks."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is not None:
        set_threads(task.cpus())


def embedding_here(embedding: str | Path | None, fingerprint: str | None) -> str | Path:
    """Return where the driver's embedding lies on this executor: where it was sent, or on a disk that all
    executors see.
    """
    if embedding is None or embedding in BUILT_IN:
        return embedding or DEFAULT
    from pyspark import SparkFiles

    shipped = Path(SparkFiles.get(f"{_ARCHIVE}{fingerprint or ''}"))
    for folder in (shipped, Path(str(embedding))):
        if (folder / "meta.json").is_file():
            return folder
    raise EmbeddingError(
        f"executor {socket.gethostname()} has no embedding at {embedding}: put it on a disk that every "
        "executor sees, or send it to them: deniable.integrations.spark.ship_embedding(spark, NAME)"
    )


def ship_embedding(spark: SparkSession, name: str | Path) -> None:
    """Send an installed embedding to every executor, once; ``privatize`` finds it there by its fingerprint.

    Its files lie unpacked in each executor's working folder and are memory-mapped by its Python processes.
    Built-in ones come with the package and need not be sent.
    """
    if name in BUILT_IN:
        return
    embedding = Embedding.open(name)
    name_there = f"{_ARCHIVE}{embedding.fingerprint}"
    if any(name_there in archive for archive in spark.sparkContext.listArchives):
        return
    best_neighbours(embedding)  # writes the index beside the vectors, so that no executor has to build it
    folder = Path(tempfile.mkdtemp(prefix="deniable-"))
    atexit.register(
        shutil.rmtree, folder, ignore_errors=True
    )  # an executor that joins later asks for it then
    packed = folder / f"{name_there}.tar"
    with tarfile.open(packed, "w") as archive:
        for file in sorted(Path(str(embedding.folder)).iterdir()):
            # No executor needs a calibration, and those in folders are large.
            if file.is_file() and file.name != FILE_NAME:
                archive.add(file, arcname=file.name)
    spark.sparkContext.addArchive(f"{packed}#{name_there}")


def collect_tally(counted: DataFrame) -> Tally:
    """Return the sum of the tallies that tasks yielded."""
    tally = Tally()
    for row in counted.collect():
        tally.add(Tally.from_dict(json.loads(row[TALLY])))
    return tally


def quoted(name: str) -> str:
    """Return a column's name so that Spark takes dots in it for dots."""
    return "`" + name.replace("`", "``") + "`"
