from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate, Privatizer
from deniable.embeddings import store
from tests.support.spark_cluster import cluster, require_java, session
from tests.support.spark_place import Place

WORDS = [f"word{i}" for i in range(500)] + ["the", "soup", "was", "cold", "best", "bread", "village"]
HARDLY_ANY = 1e6
"""An ε at which every known word comes back as itself."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an embedding named after the test's folder, so that no process takes it for another test's."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def name(home: Path) -> str:
    name = f"tiny-{home.parent.name}"[:90]
    store.save(Embedding(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 6)), name=name), name)
    return name


@pytest.fixture
def private(name: str) -> Privatizer:
    return Privatizer(Multivariate(Embedding.open(name), epsilon=HARDLY_ANY))


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    require_java()
    folder = tmp_path_factory.mktemp("spark")
    with cluster(folder) as address, session(address, folder) as spark:
        yield Place(spark, folder)


@pytest.fixture
def place(running: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The cluster, with its store of embeddings as the store of this process."""
    monkeypatch.setenv("DENIABLE_HOME", str(running.folder / "home"))
    running.install("tiny")
    return running
