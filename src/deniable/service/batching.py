"""Short requests that come at the same time share one search.

The search is fastest for thousands of words at once, and a request has twenty. While one batch is searched the next one gathers; nobody
waits for others when nothing is being searched. Words are drawn each by itself, so a text gets the same distribution of words in any
company, and with a key the very same words.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from deniable.service.messages import RecordName
from deniable.service.rules import Prepared

_MOST_TEXTS = 4_096
_MOST_CHARACTERS = 1 << 20

Texts = Sequence[str | None]
Names = Sequence[RecordName] | None


@dataclass(kw_only=True, eq=False)
class _Waiting:
    """A request that waits for the search."""

    prepared: Prepared
    texts: Texts = field(repr=False)
    names: Names = field(repr=False)
    answer: asyncio.Future[list[str | None]]

    @property
    def characters(self) -> int:
        return sum(len(text) for text in self.texts if text is not None)


class Batcher:
    """Releases texts in one thread, those of several requests together. ``together=False`` takes them one by one, to measure against."""

    def __init__(self, *, together: bool = True, counted: Callable[[], None] | None = None) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._search = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._task: asyncio.Task[None] | None = None
        self._together = together
        self._counted = counted

    def start(self) -> None:
        """Begin to serve, in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def stop(self) -> None:
        """Finish what waits, and end."""
        while self._waiting:
            await asyncio.sleep(0.01)
        if self._task is not None:
            self._task.cancel()
        await asyncio.to_thread(self._search.shutdown)

    async def release(self, prepared: Prepared, texts: Texts, names: Names) -> list[str | None]:
        """Return the texts with every word replaced, in order.

        :raises DeniableError: if they cannot be released; others in the same batch are.
        """
        answer: asyncio.Future[list[str | None]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(prepared=prepared, texts=texts, names=names, answer=answer))
        self._arrived.set()
        return await answer

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            batch = self._take()
            if batch:
                answers = await loop.run_in_executor(self._search, _release_together, batch)
                if self._counted is not None:
                    self._counted()
                for one, answer in zip(batch, answers, strict=True):
                    _give(one, answer)
            if not self._waiting:
                self._arrived.clear()

    def _take(self) -> list[_Waiting]:
        """Return what is searched next: the oldest request, and others with the same settings that came meanwhile."""
        batch: list[_Waiting] = []
        passed: deque[_Waiting] = deque()
        texts = characters = 0
        while self._waiting:
            one = self._waiting.popleft()
            if one.answer.cancelled():  # whoever asked is gone
                continue
            fits = not batch or (
                self._together
                and one.prepared is batch[0].prepared
                and texts + len(one.texts) <= _MOST_TEXTS
                and characters + one.characters <= _MOST_CHARACTERS
            )
            if not fits:
                passed.append(one)
                continue
            batch.append(one)
            texts, characters = texts + len(one.texts), characters + one.characters
        self._waiting.extend(passed)
        return batch


def _give(one: _Waiting, answer: list[str | None] | Exception) -> None:
    if one.answer.done():
        return
    if isinstance(answer, Exception):
        one.answer.set_exception(answer)
    else:
        one.answer.set_result(answer)


def _release_together(batch: list[_Waiting]) -> list[list[str | None] | Exception]:
    if len(batch) > 1:
        try:
            return _release_as_one(batch)
        except Exception:  # noqa: S110 - of one of them, or of two that share an id: each is tried by itself, and gets its error
            pass
    return [_release_alone(one) for one in batch]


def _release_as_one(batch: list[_Waiting]) -> list[list[str | None] | Exception]:
    texts = [text for one in batch for text in one.texts]
    names = None if batch[0].names is None else [name for one in batch for name in one.names or ()]
    private = batch[0].prepared.private
    released = private.many(texts, record_ids=names)
    private.take_tally()  # a service keeps no counts of what went through it
    answers: list[list[str | None] | Exception] = []
    start = 0
    for one in batch:
        answers.append(released[start : start + len(one.texts)])
        start += len(one.texts)
    return answers


def _release_alone(one: _Waiting) -> list[str | None] | Exception:
    try:
        released = one.prepared.private.many(one.texts, record_ids=one.names)
        one.prepared.private.take_tally()
    except Exception as error:
        return error
    return released
