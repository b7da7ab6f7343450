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
from deniable.service.messages import RecordName
from deniable.service.rules import Prepared

_PIECE = 1 << 14
_BATCH = 1 << 16

Texts = Sequence[str | None]
Names = Sequence[RecordName] | None


class NotInTime(Exception):
    """A release that took too long; ``begun`` says whether its own length is the reason, and not only others
    before it."""

    def __init__(self, *, begun: bool) -> None:
        super().__init__("begun" if begun else "not begun")
        self.begun = begun


@dataclass(kw_only=True, eq=False)
class _Waiting:
    """A request that waits for the search; ``ends`` are where its pieces end that are still to be
    searched."""

    prepared: Prepared
    texts: Texts = field(repr=False)
    names: Names = field(repr=False)
    answer: asyncio.Future[list[str | None]]
    ends: deque[int]
    released: list[str | None] = field(default_factory=list, repr=False)
    begun: bool = False

    @property
    def dropped(self) -> bool:
        """Whether nobody waits for it any more: it took too long, or whoever asked is gone."""
        return self.answer.done()

    def next_piece(self) -> _Piece:
        start, end = len(self.released), self.ends[0]
        names = None if self.names is None else self.names[start:end]
        return _Piece(request=self, prepared=self.prepared, texts=self.texts[start:end], names=names)


@dataclass(kw_only=True, eq=False)
class _Piece:
    """Some texts of a request, searched at once."""

    request: _Waiting
    prepared: Prepared
    texts: Texts = field(repr=False)
    names: Names = field(repr=False)

    @property
    def size(self) -> int:
        return sum(map(_size, self.texts))


class _Lane:
    """Releases texts in one thread, those of several requests together."""

    def __init__(self, name: str, *, together: bool, shared: Callable[[int], None] | None) -> None:
        self.waiting: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._search = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._task: asyncio.Task[None] | None = None
        self._together = together
        self._shared = shared

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def stop(self) -> None:
        while self.waiting:
            await asyncio.sleep(0.01)
        if self._task is not None:
            self._task.cancel()
        await asyncio.to_thread(self._search.shutdown)

    def add(self, one: _Waiting) -> None:
        self.waiting.append(one)
        self._arrived.set()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            batch = self._take()
            if batch:
                answers = await loop.run_in_executor(self._search, _release_together, batch)
                for piece, answer in zip(batch, answers, strict=True):
                    _give(piece.request, answer)
            if not self.waiting:
                self._arrived.clear()

    def _take(self) -> list[_Piece]:
        """Return what is searched next: a piece of the request whose turn it is, and one of each other with
        the same settings that fits."""
        batch: list[_Piece] = []
        passed: list[_Waiting] = []
        begun: list[_Waiting] = []
        size = new = 0
        while self.waiting:
            one = self.waiting.popleft()
            if one.dropped:
                continue
            piece = one.next_piece()
            if batch and not (
                self._together and one.prepared is batch[0].prepared and size + piece.size <= _BATCH
            ):
                passed.append(one)
                continue
            batch.append(piece)
            size += piece.size
            new += not one.begun
            one.begun = True
            one.ends.popleft()
            begun += [one] if one.ends else []
        self.waiting.extend([*passed, *begun])
        if self._shared is not None and len(batch) > 1:
            self._shared(new)
        return batch


class Batcher:
    """Releases texts, those of several requests together. ``together=False`` takes them one by one, to
    measure against.

    ``shared`` is told how many requests began in a search that they share.
    """

    def __init__(self, *, together: bool = True, shared: Callable[[int], None] | None = None) -> None:
        self._short = _Lane("search", together=together, shared=shared)
        self._long = _Lane("search-long", together=together, shared=shared)

    def start(self) -> None:
        """Begin to serve, in the running event loop."""
        self._short.start()
        self._long.start()

    async def stop(self) -> None:
        """Finish what waits, and end."""
        await self._short.stop()
        await self._long.stop()

    async def release(
        self, prepared: Prepared, texts: Texts, names: Names, *, seconds: float | None = None
    ) -> list[str | None]:
        """Return the texts with every word replaced, in order; all names must differ where they have to.

        :raises DeniableError: if they cannot be released; others in the same batch are.
        :raises NotInTime: if they are not released within ``seconds``.
        """
        answer: asyncio.Future[list[str | None]] = asyncio.get_running_loop().create_future()
        one = _Waiting(prepared=prepared, texts=texts, names=names, answer=answer, ends=_ends(texts))
        lane = self._long if any(_size(text) > _PIECE for text in texts) else self._short
        lane.add(one)
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise NotInTime(begun=one.begun) from None


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


def _give(one: _Waiting, answer: list[str | None] | Exception) -> None:
    if one.answer.done():
        return
    if isinstance(answer, UnknownWord):  # counted from the first text of its piece
        one.answer.set_exception(
            UnknownWord(record=len(one.released) + answer.record, position=answer.position)
        )
    elif isinstance(answer, Exception):
        one.answer.set_exception(answer)
    else:
        one.released += answer
        if len(one.released) == len(one.texts):
            one.answer.set_result(one.released)


class _Dropped(Exception):
    """Nobody waits for the texts any more."""


def _release_together(batch: list[_Piece]) -> list[list[str | None] | Exception]:
    def check() -> None:
        if all(piece.request.dropped for piece in batch):
            raise _Dropped

    with interrupted_by(check):
        return _released(batch)


def _released(batch: list[_Piece]) -> list[list[str | None] | Exception]:
    if len(batch) > 1:
        try:
            return _release_as_one(batch)
        except Exception:  # noqa: S110 - of one of them, or of two that share an id: each is tried by itself, and gets its error
            pass
    return [_release_alone(one) for one in batch]


def _release_as_one(batch: list[_Piece]) -> list[list[str | None] | Exception]:
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


def _release_alone(one: _Piece) -> list[str | None] | Exception:
    try:
        released = one.prepared.private.many(one.texts, record_ids=one.names)
        one.prepared.private.take_tally()
    except Exception as error:
        return error
    return released
