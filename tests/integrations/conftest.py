from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable import Embedding, Multivariate, Privatizer
from tests.support.made_store import home, name
from tests.support.spark_cluster import cluster, require_java, session
from tests.support.spark_place import Place

__all__ = ["home", "name", "place", "private", "running"]

HARDLY_ANY = 1e6
"""An ε at which every known word comes back as itself."""


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
