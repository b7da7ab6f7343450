from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.records.ledger import Ledger, LedgerEntry
from tests.records.watched_folders import Folders


@pytest.fixture
def folders(private: Privatizer, tmp_path: Path) -> Folders:
    return Folders(private, tmp_path)


@pytest.fixture
def keyed(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=0.5), randomness=Keyed(bytes(32)))


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Make the watch die at one of the three moments at which the ledger is written."""

    def arrange(moment: int) -> None:
        record, count = Ledger.record, 0

        def killed(ledger: Ledger, entry: LedgerEntry) -> None:
            nonlocal count
            count += 1
            if count == moment:
                raise KeyboardInterrupt
            record(ledger, entry)

        monkeypatch.setattr(Ledger, "record", killed)

    yield arrange
    monkeypatch.undo()
