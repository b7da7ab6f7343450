"""Releases of both sides of a pair of private texts, and everything that can be seen of them."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from deniable import Keyed, Multivariate, Privatizer
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.records import privatize_file, privatize_stream
from deniable.records.formats.layout import Layout, Roles, make_layout, released_name
from deniable.records.formats.opening import open_source
from deniable.records.formats.source import FileSource
from deniable.records.watch import Watch
from tests.support.private_pairs import (
    WHOLE,
    Pair,
    all_that_is_seen,
    check_shape,
    embedding,
    write_input,
)

KEY = bytes(range(32))
ENGINES = ("one process", "workers", "watch", "stream", "seed")
Side = dict[str, Any]


def make_private(policy: dict[str, Any], engine: str) -> Privatizer:
    noise = InsecureSeededRandomness(insecure_seed=5) if engine == "seed" else Keyed(KEY)
    return Privatizer(Multivariate(embedding(), epsilon=2.0), randomness=noise, **policy)


def layout_for(path: Path, *, keyed: bool) -> Layout:
    text = ".txt" in path.name
    return make_layout(
        path,
        roles=Roles() if text else Roles(text=("text",), keep=("id", "note")),
        record_id=None if text or not keyed else "id",
    )


class Sink(io.BytesIO):
    """Standard output, and how much was written to it at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def write(self, data: Any) -> int:
        self.sizes.append(len(data))
        return super().write(data)


@contextmanager
def one_place() -> Iterator[Path]:
    """Lend an empty folder, the same one for both sides: receipts tell where the input lies."""
    place = Path(gettempdir(), f"deniable-noninterference-{os.getpid()}")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place)


def release(
    texts: list[str | None], notes: list[str], output: str, policy: dict[str, Any], engine: str
) -> Side:
    """Release texts, and return everything that can be seen of it."""
    private, said = make_private(policy, engine), list[str]()
    with one_place() as place:
        inbox, out = Path(place, "in"), Path(place, "out")
        inbox.mkdir()
        out.mkdir()
        source = write_input(inbox / f"records.{output}", texts, notes)
        os.utime(source, (1_700_000_000, 1_700_000_000))
        seen: Side = {}
        keyed = engine != "seed"
        if engine == "watch":
            watch = Watch(
                private,
                inbox,
                out,
                lambda path: layout_for(path, keyed=True),
                settle=0,
                say=said.append,
            )
            watch.look()
            assert watch.failed == 0, said
            watch.close()
        elif engine == "stream" and output not in WHOLE:
            with open_source(source) as opened:
                sink = Sink()
                made = privatize_stream(private, opened, sink, layout_for(source, keyed=True))
            seen["stream"] = (sink.getvalue(), sink.sizes, {**made.to_dict(), "created": None})
        else:
            layout = layout_for(source, keyed=keyed)
            privatize_file(
                private,
                source,
                out / released_name(f"records.{output}"),
                columns=layout.roles.text,
                record_id=layout.record_id,
                workers=2 if engine == "workers" else 1,
            )
        return {**seen, "said": said, **all_that_is_seen(out)}


def check(pair: Pair, output: str, policy: dict[str, Any], engine: str) -> None:
    """Do nothing if the two sides of a pair cannot be told apart."""
    check_shape(pair, policy)
    left, right = (release(texts, pair.notes, output, policy, engine) for texts in (pair.left, pair.right))
    assert "stream" in left or f"{released_name(f'records.{output}')}.card.json" in left
    assert left.keys() == right.keys()
    for name in left:
        # Compared before the assertion: pytest would spend minutes on showing how megabytes differ.
        same = left[name] == right[name]
        assert same, f"{name} tells two texts apart"


def same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the records of plain text alike: they have no names of their own, and are named after the digest
    of the file."""
    monkeypatch.setattr(FileSource, "digest", lambda _: "0" * 32)


LISTED_OR_UNKNOWN = Pair(
    ["the Brown word of brown", "FOX", None, "quick fox's fox-brown", *["the brown fox"] * 40],
    ["the Стола word of nobody", "ＸＹ", None, "quick zorb's zorb-zorb", *["the zorblatt quux"] * 40],
    [f"note {i}" for i in range(44)],
)
"""Listed words on the left, and words that nobody knows on the right."""
