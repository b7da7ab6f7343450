"""Sending an embedding to the executors, where they share no disk."""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.embeddings.embedding import Embedding
from deniable.embeddings.store import DEFAULT
from deniable.integrations.spark.executor import archive_name
from deniable.neighbours import best_neighbours
from deniable.release.note import FILE_NAME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ship_embedding(spark: SparkSession, name: str | Path) -> None:
    """Send an installed embedding to every executor, once; ``privatize`` finds it there by its fingerprint.

    Its files lie unpacked in each executor's working folder and are memory-mapped by its Python processes.
    The default comes with the package and need not be sent.

    :raises EmbeddingNotFound: if it is not installed here.
    """
    if name == DEFAULT:
        return
    embedding = Embedding.open(name)
    name_there = archive_name(embedding.fingerprint)
    if any(name_there in archive for archive in spark.sparkContext.listArchives):
        return
    best_neighbours(
        embedding
    )  # writes the index beside the vectors, so that it is sent along and no executor has to build it
    folder = Path(tempfile.mkdtemp(prefix="deniable-"))
    atexit.register(
        shutil.rmtree, folder, ignore_errors=True
    )  # an executor that joins later asks for the file then
    packed = folder / f"{name_there}.tar"
    with tarfile.open(packed, "w") as archive:
        for file in sorted(Path(str(embedding.folder)).iterdir()):
            if (
                file.is_file() and file.name != FILE_NAME
            ):  # no executor needs a calibration, and those in folders are large
                archive.add(file, arcname=file.name)
    spark.sparkContext.addArchive(f"{packed}#{name_there}")
