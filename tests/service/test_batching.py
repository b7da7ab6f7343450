"""Requests take turns: a long one keeps nobody out, and what nobody waits for is not searched."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from deniable.noise.key_file import write_new_key
from deniable.progress import check_interrupt
from deniable.service.batching import Batcher
from deniable.service.messages import Refused
from deniable.service.rules import Prepared
from tests.service.running import allowed, make_settings, running

LONG = ["fox " * 1_000] * 40  # ten pieces of four texts


class Searching:
    """Stands for a privatizer: writes down what is searched, each time after it is told to go on."""

    def __init__(self) -> None:
        self.searched: list[list[str | None]] = []
        self.go_on = threading.Semaphore(0)

    def many(
        self, texts: Sequence[str | None], *, record_ids: Sequence[str | int] | None
    ) -> list[str | None]:
        assert record_ids is None
        self.searched.append(list(texts))
        assert self.go_on.acquire(timeout=600)
        return list(texts)

    def take_tally(self) -> None:
        pass


async def begun(searching: Searching, searches: int = 1) -> None:
    async with asyncio.timeout(600):
        while len(searching.searched) < searches:
            await asyncio.sleep(0.005)


def prepared(searching: Searching) -> Prepared:
    return cast(Prepared, SimpleNamespace(private=searching))


def test_a_short_request_waits_for_one_piece_of_a_long_one() -> None:
    async def ask() -> None:
        batcher, searching = Batcher(), Searching()
        batcher.start()
        made = prepared(searching)
        long = asyncio.create_task(batcher.release(made, LONG, None))
        await begun(searching)
        short = asyncio.create_task(batcher.release(made, ["doctor"], None))
        await asyncio.sleep(0.05)
        searching.go_on.release(2)
        assert await asyncio.wait_for(short, 600) == ["doctor"]
        assert not long.done()
        searching.go_on.release(100)
        assert await asyncio.wait_for(long, 600) == LONG
        assert [len(texts) for texts in searching.searched[:2]] == [4, 5]
        await batcher.stop()

    asyncio.run(ask())


@pytest.mark.parametrize("how", ["cancelled", "too late"])
def test_what_nobody_waits_for_is_not_searched(how: str) -> None:
    async def ask() -> None:
        batcher, searching = Batcher(), Searching()
        batcher.start()
        made = prepared(searching)
        long = asyncio.create_task(
            batcher.release(made, LONG, None, seconds=None if how == "cancelled" else 0.5)
        )
        await begun(searching)
        with pytest.raises(Refused) as late:  # it was never searched: others were
            await batcher.release(made, ["fox"], None, seconds=0.1)
        assert "busy" in late.value.message
        if how == "cancelled":
            long.cancel()
            with pytest.raises(asyncio.CancelledError):
                await long
        else:
            with pytest.raises(Refused) as late:
                await long
            assert "too long" in late.value.message
        searching.go_on.release(100)
        assert await batcher.release(made, ["doctor"], None, seconds=600) == ["doctor"]
        assert searching.searched == [LONG[:4], ["doctor"]]
        await batcher.stop()

    asyncio.run(ask())


class Endless:
    """Stands for a privatizer that is given one text without an end, and asks before every word whether to go
    on."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def many(self, _texts: Sequence[str | None], *, record_ids: object) -> list[str | None]:
        assert record_ids is None
        self.begun.set()
        try:
            while True:
                check_interrupt()
                time.sleep(0.001)
        finally:
            self.ended.set()


@pytest.mark.parametrize("size", [1, 100_000], ids=["short", "long"])
def test_a_text_that_nobody_waits_for_is_given_up(size: int) -> None:
    async def ask() -> None:
        batcher, endless, free = Batcher(), Endless(), Searching()
        batcher.start()
        made = cast(Prepared, SimpleNamespace(private=endless))
        with pytest.raises(Refused):
            await batcher.release(made, ["x" * size], None, seconds=0.2)
        assert await asyncio.to_thread(endless.ended.wait, 600)
        free.go_on.release()
        assert await batcher.release(prepared(free), ["y" * size], None, seconds=600) == ["y" * size]
        await batcher.stop()

    asyncio.run(ask())


def test_a_text_is_not_given_up_while_somebody_waits_for_another_one_in_its_batch() -> None:
    async def ask() -> None:
        batcher, endless, held = Batcher(), Endless(), Searching()
        batcher.start()
        first = asyncio.create_task(
            batcher.release(prepared(held), ["fox"], None)
        )  # the others gather meanwhile
        await begun(held)
        made = cast(Prepared, SimpleNamespace(private=endless))
        both = [asyncio.create_task(batcher.release(made, [text], None)) for text in ("one", "two")]
        await asyncio.sleep(0)
        held.go_on.release()
        await first
        assert await asyncio.to_thread(endless.begun.wait, 600)
        both[0].cancel()
        assert not await asyncio.to_thread(endless.ended.wait, 0.2)
        both[1].cancel()
        assert await asyncio.to_thread(endless.ended.wait, 600)
        await batcher.stop()

    asyncio.run(ask())


def test_a_text_that_cannot_be_cut_keeps_no_short_one_out() -> None:
    async def ask() -> None:
        batcher, held, free = Batcher(), Searching(), Searching()
        batcher.start()
        long = asyncio.create_task(batcher.release(prepared(held), ["fox " * 50_000], None))
        await begun(held)
        free.go_on.release()
        assert await batcher.release(prepared(free), ["doctor"], None, seconds=600) == ["doctor"]
        held.go_on.release()
        assert len(await asyncio.wait_for(long, 600)) == 1
        await batcher.stop()

    asyncio.run(ask())


def test_a_request_of_many_pieces_is_answered_as_one(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    texts = ["the fox", None, *["fox " * 3_000] * 4, "", "a doctor"]
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as opened:
        ids = [*range(len(texts))]
        whole = opened.post("/privatize", texts=texts, ids=ids).json()["texts"]
        alone = [
            opened.post("/privatize", text=text or "", id=name).json()["text"]
            for text, name in zip(texts, ids, strict=True)
        ]
        assert whole == [None if text is None else one for text, one in zip(texts, alone, strict=True)]
        refused = opened.post("/privatize", texts=texts, ids=[*ids[:-1], 0])
        assert (refused.status, "two texts" in refused.error) == (422, True), (
            "the two stand in different pieces"
        )
        unknown = opened.post(
            "/privatize", texts=[*texts, "a zorblattsecret"], ids=[*ids, 99], unknown="error"
        )
        assert unknown.error.startswith("record 9, word 2: unknown")
        assert opened.post("/privatize", texts=[], ids=[]).json()["texts"] == []
