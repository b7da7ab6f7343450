from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.records.ledger import Ledger, LedgerEntry
from tests.records.watched_folders import Folders

DieAt = Callable[..., None]


@pytest.fixture
def folders(private: Privatizer, tmp_path: Path) -> Folders:
    return Folders(private, tmp_path)


@pytest.fixture
def keyed(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes(32)))


@pytest.fixture
def die_at(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> DieAt:
    """Look with a watch that dies at one of the three moments at which the ledger is written."""

    def look(moment: int, private: Privatizer, **options: Any) -> None:
        record, moments = Ledger.record, iter(range(1, moment + 1))

        def killed(ledger: Ledger, entry: LedgerEntry) -> None:
            if next(moments) == moment:
                raise KeyboardInterrupt
            record(ledger, entry)

        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "record", killed)
            with pytest.raises(KeyboardInterrupt):
                folders.look(private, **options)

    return look
