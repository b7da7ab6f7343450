"""Frames that differ in private words alone are released alike, in every library."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pyarrow
import pytest

import deniable
from tests.noninterference.releasing_both import make_private
from tests.support.private_pairs import spread_out

PAIR = spread_out(60, long_words=3, length=20_000)


@pytest.mark.parametrize("engine", ["seed", "one process"])
@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_frame_shows_nothing_of_unknown_words(make: Any, engine: str) -> None:
    released = []
    for texts in (PAIR.left, PAIR.right):
        private = make_private({}, engine)
        frame = make({"text": texts, "title": texts[::-1], "note": PAIR.notes})
        ids = None if engine == "seed" else [str(i) for i in range(len(texts))]
        table = pyarrow.table(deniable.privatize(frame, ["text", "title"], private, record_ids=ids))
        released.append((table.schema, table.to_pydict(), private.card.to_json()))
    assert released[0] == released[1]
