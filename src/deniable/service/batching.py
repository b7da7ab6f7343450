"""Short requests that come at the same time share one search, and a long one takes turns with all others.

The search is fastest for thousands of words at once, and a request has twenty. While one batch is searched
the next one gathers; nobody waits for others when nothing is being searched. Words are drawn each by itself,
so a text gets the same distribution of words in any company, and with a key the very same words. So a long
request can be cut between its texts: a batch holds one piece of each request, and what is left of a request
is dropped when nobody waits for it any more, also inside a text. A long text has to be drawn in one turn;
such texts have a thread of their own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from deniable.errors import UnknownWord
from deniable.progress import interrupted_by
from deniable.service.messages import RecordName, Refused
from deniable.service.rules import Prepared

_PIECE = 1 << 14
_BATCH = 1 << 16

Texts = Sequence[str | None]
Names = Sequence[RecordName] | None
Answer = list[str | None] | Exception


@dataclass(kw_only=True, eq=False)
class Waiting:
    """A request that waits for the search. ``ends`` are where its pieces end that are still to be taken."""

    prepared: Prepared
    texts: Texts = field(repr=False)
    names: Names = field(repr=False)
    answer: asyncio.Future[list[str | None]]
    ends: deque[int]
    released: list[str | None] = field(default_factory=list, repr=False)
    begun: bool = False

    def take(self, answer: Answer) -> None:
        """Take the answer for one piece."""
        if self.answer.done():
            return
        if isinstance(answer, UnknownWord):  # counted from the first text of its piece
            answer = UnknownWord(record=len(self.released) + answer.record, position=answer.position)
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
            return
        self.released += answer
        if len(self.released) == len(self.texts):
            self.answer.set_result(self.released)


Batch = list[tuple[Waiting, slice]]
"""Requests, each with the piece of its texts that is searched now."""


class Batcher:
    """Releases texts, those of several requests together. ``together=False`` takes them one by one, to
    measure against.

    ``shared`` is told how many requests began in a search that they share.
    """

    def __init__(self, *, together: bool = True, shared: Callable[[int], None] | None = None) -> None:
        self._together, self.shared = together, shared
        # One queue and one thread for short texts, and one for long ones.
        self._queues: list[deque[Waiting]] = [deque(), deque()]
        self._arrived = [asyncio.Event() for _ in self._queues]
        self._searches = [
            ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("search", "search-long")
        ]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to serve, in the running event loop."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._serve(lane)) for lane in range(len(self._queues))]

    async def stop(self) -> None:
        """Finish what waits, and end."""
        while any(self._queues):
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()
        for search in self._searches:
            await asyncio.to_thread(search.shutdown)

    async def release(
        self, prepared: Prepared, texts: Texts, names: Names, *, seconds: float | None = None
    ) -> list[str | None]:
        """Return the texts with every word replaced, in order; all names must differ where they have to."""
        answer: asyncio.Future[list[str | None]] = asyncio.get_running_loop().create_future()
        one = Waiting(prepared=prepared, texts=texts, names=names, answer=answer, ends=_ends(texts))
        lane = int(any(_size(text) > _PIECE for text in texts))
        self._queues[lane].append(one)
        self._arrived[lane].set()
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            problem = "the service is busy; try again in a moment"
            problem = "the release took too long; send less at once" if one.begun else problem
            raise Refused(503, problem, retry=5) from None

    async def _serve(self, lane: int) -> None:
        queue, arrived, loop = self._queues[lane], self._arrived[lane], asyncio.get_running_loop()
        while True:
            await arrived.wait()
            if batch := self.take(queue):
                answers = await loop.run_in_executor(self._searches[lane], self.search, batch)
                for (one, _), answer in zip(batch, answers, strict=True):
                    one.take(answer)
            if not queue:
                arrived.clear()

    def take(self, queue: deque[Waiting]) -> Batch:
        """Return what is searched next: a piece of the request whose turn it is, and one of each other with
        the same settings that fits."""
        batch: Batch = []
        passed: list[Waiting] = []
        begun: list[Waiting] = []
        size = new = 0
        while queue:
            one = queue.popleft()
            if one.answer.done():  # nobody waits for it any more: it took too long, or whoever asked is gone
                continue
            piece = slice(len(one.released), one.ends[0])
            more = sum(map(_size, one.texts[piece]))
            fits = self._together and size + more <= _BATCH
            if batch and not (fits and one.prepared is batch[0][0].prepared):
                passed.append(one)
                continue
            batch.append((one, piece))
            size += more
            new += not one.begun
            one.begun = True
            one.ends.popleft()
            begun += [one] if one.ends else []
        queue.extend([*passed, *begun])
        if self.shared is not None and len(batch) > 1:
            self.shared(new)
        return batch

    def search(self, batch: Batch) -> list[Answer]:
        """Return the answer for each piece, in the thread of the search."""

        def check() -> None:
            if all(one.answer.done() for one, _ in batch):
                raise Refused(503, "nobody waits for it any more")

        prepared = batch[0][0].prepared
        pieces = [(one.texts[piece], one.names and one.names[piece]) for one, piece in batch]
        with interrupted_by(check):
            if len(batch) > 1:
                texts = [text for part, _ in pieces for text in part]
                names = [name for _, part in pieces for name in part or ()]
                released = _release(prepared, texts, None if batch[0][0].names is None else names)
                if not isinstance(released, Exception):
                    rest = iter(released)
                    return [[next(rest) for _ in part] for part, _ in pieces]
            # An error is of one of them, or of two that share an id: each is tried by itself.
            return [_release(prepared, *piece) for piece in pieces]


def _size(text: str | None) -> int:
    return 1 if text is None else 1 + len(text)


def _ends(texts: Texts) -> deque[int]:
    """Return where the pieces of a request end: between texts, so that each is small or one text."""
    ends: deque[int] = deque()
    size = 0
    for place, text in enumerate(texts):
        if size and size + _size(text) > _PIECE:
            ends.append(place)
            size = 0
        size += _size(text)
    ends.append(len(texts))
    return ends


def _release(prepared: Prepared, texts: Texts, names: Names) -> Answer:
    try:
        released = prepared.private.many(texts, record_ids=names)
        prepared.private.take_tally()  # a service keeps no counts of what went through it
    except Exception as error:
        return error
    return released
