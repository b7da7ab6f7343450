"""What runs on the executors: one privatizer per Python process, and the work of one task."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.embeddings.store import DEFAULT
from deniable.errors import EmbeddingError, InvalidParameter, KeyFileError
from deniable.neighbours.threads import set_threads
from deniable.noise.encoding import RecordId
from deniable.records.formats.naming import name_text
from deniable.release.columns import map_column
from deniable.release.privatizer import Privatizer
from deniable.release.release import Release
from deniable.release.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

TALLY = "tally"


def archive_name(fingerprint: str) -> str:
    """Return the name under which an embedding that was sent lies among an executor's files."""
    return f"deniable-{fingerprint}"


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
            for column in self.columns:
                place = batch.schema.get_field_index(column)
                released = map_column(
                    batch.column(place), self._many(private, batch, column)
                ).combine_chunks()
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

    def _many(
        self, private: Privatizer, batch: pa.RecordBatch, column: str
    ) -> Callable[[list[str | None]], list[str | None]]:
        if self.record_id is None:
            return private.many
        names = name_records(
            batch.column(self.record_id).to_pylist(), column, consistent=self.release.consistent
        )
        return lambda texts: private.many(texts, record_ids=names)


def name_records(ids: Iterable[Any], column: str, *, consistent: bool) -> list[RecordId]:
    """Return what names the texts of a column to a key, as ``deniable privatize --record-id`` names them.

    :raises InvalidParameter: if a record has no id.
    """
    names: list[RecordId] = []
    for given in ids:
        if given is None or given == "":
            raise InvalidParameter("record_id", given, "a record has no id; every record needs one")
        names.append(name_text(given, column, consistent=consistent))
    return names


def privatizer_here(release: Release) -> Privatizer:
    """Return this process's privatizer, with the embedding that was sent here or lies on a disk that all
    executors see.

    :raises EmbeddingError: if there is none.
    :raises KeyFileError: if the key file cannot be read here, or holds another key than the driver's.
    """
    take_only_own_threads()
    try:
        return replace(
            release, embedding=embedding_here(release.embedding, release.fingerprint)
        ).shared_privatizer()
    except KeyFileError as error:
        problem = (
            f"{error.problem} (on executor {socket.gethostname()}; every executor opens the key file itself)"
        )
        raise KeyFileError(error.path, problem) from None


def take_only_own_threads() -> None:
    """Use as many threads as this task has processors: the others of the machine belong to other tasks."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is not None:
        set_threads(task.cpus())


def embedding_here(embedding: str | Path | None, fingerprint: str | None) -> str | Path:
    """Return where the driver's embedding lies on this executor: where it was sent, or on a disk that all
    executors see.

    :raises EmbeddingError: if it is in neither place.
    """
    if embedding in (None, DEFAULT):
        return DEFAULT
    from pyspark import SparkFiles

    shipped = Path(SparkFiles.get(archive_name(fingerprint or "")))
    for folder in (shipped, Path(str(embedding))):
        if (folder / "meta.json").is_file():
            return folder
    raise EmbeddingError(
        f"executor {socket.gethostname()} has no embedding at {embedding}: put it on a disk that every "
        "executor sees, "
        "or send it to them: deniable.integrations.spark.ship_embedding(spark, NAME)"
    )


def quoted(name: str) -> str:
    """Return a column's name so that Spark takes dots in it for dots."""
    return "`" + name.replace("`", "``") + "`"
