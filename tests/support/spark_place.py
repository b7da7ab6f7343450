"""A session on the cluster, and what lies on the disk that its executors see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Keyed, Mechanism, Multivariate, Privatizer
from deniable.embeddings import store
from deniable.noise.key_file import write_new_key

RECORDS = 240
PARTITIONS = 6
WORDS = [f"word{i}" for i in range(500)]


class Place:
    """The session, and what is on the disk that its executors see."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.key = folder / "release.key"
        write_new_key(self.key)

    def install(self, name: str) -> Path:
        """Store an embedding of its own under the name, unless it is there, and return its folder."""
        folder = store.store_folder() / name
        if folder.exists():
            return folder
        seed = sum(name.encode())
        store.save(
            Embedding(WORDS, np.random.default_rng(seed).normal(size=(len(WORDS), 6)), name=name), name
        )
        return folder

    @property
    def texts(self) -> list[str | None]:
        return [None if i % 17 == 0 else f"Word{i}, unheard-of{i} word{i + 1}!" for i in range(RECORDS)]

    @property
    def frame(self) -> Any:
        rows = list(zip(range(RECORDS), self.texts, [f"kept {i}" for i in range(RECORDS)], strict=True))
        return self.spark.createDataFrame(rows, "id long, text string, note string").repartition(PARTITIONS)

    def one_machine(
        self,
        ids: Any = range(RECORDS),
        texts: Any = None,
        *,
        epsilon: float = 1.0,
        mechanism: Mechanism | None = None,
    ) -> dict[int, str | None]:
        """Return what one process releases under the key."""
        mechanism = Multivariate(Embedding.open("tiny"), epsilon=epsilon) if mechanism is None else mechanism
        private = Privatizer(mechanism, randomness=Keyed.from_file(self.key))
        return dict(
            zip(
                ids,
                private.many(self.texts if texts is None else texts, record_ids=[(i, "text") for i in ids]),
                strict=True,
            )
        )
