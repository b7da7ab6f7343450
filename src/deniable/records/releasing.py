"""Batches of records released one after the other, in this process or by several that share the embedding.

Workers are forked, so they share the mapped index, the vocabulary and everything else that was loaded, and a
key never travels. Each draws from a source of its own (see ``randomness``), or, with a key, the very noise
that one process would draw. The process that forked them reads and writes; a few batches are on their way at
any time, and reading waits until the oldest of them is back. Batches come back in order, whoever finished
first.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

from deniable.errors import DeniableError, InvalidParameter, UnknownWord, WorkerLost
from deniable.neighbours import best_neighbours
from deniable.neighbours.threads import MOST_THREADS, set_threads, threads_with_reason
from deniable.noise.encoding import RecordId
from deniable.parameters import validated_count
from deniable.records.formats.reader import Batch, release_texts
from deniable.release.privatizer import Privatizer
from deniable.release.tally import Tally

_BATCHES_PER_WORKER = 2
_SECONDS_BETWEEN_LOOKS = 0.2

_private: Privatizer | None = None  # of a worker


class Released(NamedTuple):
    """The texts of a batch released, what was counted, and how long it took."""

    texts: list[str | None]
    tally: Tally
    seconds: float

    def __repr__(self) -> str:
        """Return the size; never content."""
        return f"<Released: {len(self.texts)} texts>"


ReleaseBatches = Callable[[Iterator[Batch]], Iterator[tuple[Batch, Released]]]


def check_workers(private: Privatizer, workers: int) -> int:
    """Return the number of worker processes if that many can be had.

    :raises InvalidParameter: if it is not a whole number from 1 to 1,024, or they cannot share the work.
    """
    count = validated_count(workers, "workers")
    if count > MOST_THREADS:
        raise InvalidParameter("workers", count, f"must be a whole number from 1 to {MOST_THREADS:,}")
    if count > 1 and private.settings.seeded:
        raise InvalidParameter(
            "workers", count, "with a seed, workers would repeat one another's noise; use one"
        )
    if count > 1 and not hasattr(os, "fork"):
        raise InvalidParameter("workers", count, "this system cannot fork processes; use one")
    return count


@contextmanager
def releasing(
    private: Privatizer,
    *,
    workers: int,
    not_for_workers: Sequence[int] = (),
    by_batch: bool = False,
    up_to_errors: bool = False,
) -> Iterator[ReleaseBatches]:
    """Lend a function that releases batches in order, by this process or by that many workers.

    ``by_batch`` says that no batch may wait for the next one, although the words that a seed draws then
    depend on where batches end. ``up_to_errors`` says that the records before an unknown word are released.
    Workers close the descriptors in ``not_for_workers``: a lock that they inherited would outlive a killed
    parent.

    :raises WorkerLost: if a worker dies.
    :raises UnknownWord: with the number of the record in the file, if the policy is to stop at unknown words.
    """
    if workers == 1:
        as_one = private.settings.seeded and not by_batch
        yield (
            lambda batches: (
                _as_one_stream(private, batches)
                if as_one
                else _in_this_process(private, batches, up_to_errors=up_to_errors)
            )
        )
        return
    best_neighbours(private.mechanism.embedding)  # prepared once, before there is more than one process
    threads, reason = threads_with_reason()
    per_worker = threads if "chosen" in reason or reason == "DENIABLE_THREADS" else 1
    pool = ProcessPoolExecutor(
        workers,
        mp_context=get_context("fork"),
        initializer=_begin,
        initargs=(private, os.getpid(), per_worker, not_for_workers),
    )
    try:
        yield lambda batches: _by_workers(pool, batches, at_once=_BATCHES_PER_WORKER * workers)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _in_this_process(
    private: Privatizer, batches: Iterator[Batch], *, up_to_errors: bool
) -> Iterator[tuple[Batch, Released]]:
    private.take_tally()
    for batch in batches:
        try:
            released = _release_timed(private, batch.texts, batch.names, batch.counts)
        except UnknownWord as error:
            found = batch.in_file(error)
        else:
            yield batch, released
            continue
        # How many records a stream gets before the error must not depend on where batches end.
        if up_to_errors and len(before := batch.before(found.record)):
            yield before, _release_timed(private, before.texts, before.names, before.counts)
        raise found


def _as_one_stream(private: Privatizer, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Released]]:
    # With a seed the words depend on which of them are drawn together. Batches end where private text is
    # long, streams do not.
    private.take_tally()
    waiting: deque[Batch] = deque()
    counts: deque[int] = deque()
    done, started = 0, time.monotonic()

    def texts() -> Iterator[str | None]:
        for batch in batches:
            waiting.append(batch)
            counts.extend(batch.counts)
            yield from batch.texts
            batch.texts.clear()  # private, and not needed any more

    def first_of_waiting(released: list[str | None]) -> tuple[Batch, Released]:
        nonlocal done, started
        seconds, started = time.monotonic() - started, time.monotonic()
        done += len(released)
        return waiting.popleft(), Released(released, private.take_tally(), seconds)

    released: list[str | None] = []
    try:
        for text in private.stream(texts(), rows=iter(counts.popleft, None)):
            released.append(text)
            while waiting and len(released) >= (wanted := sum(waiting[0].counts)):
                yield first_of_waiting(released[:wanted])
                released = released[wanted:]
        while waiting:
            yield first_of_waiting([])
    except UnknownWord as error:
        for batch in waiting:
            if error.record <= done + sum(batch.counts):
                raise batch.in_file(
                    UnknownWord(record=error.record - done, position=error.position)
                ) from None
            done += sum(batch.counts)
        raise


def _by_workers(
    pool: ProcessPoolExecutor, batches: Iterator[Batch], *, at_once: int
) -> Iterator[tuple[Batch, Released]]:
    waiting: deque[tuple[Batch, Future[Any]]] = deque()
    try:
        for batch in batches:
            waiting.append((batch, pool.submit(_release, batch.texts, batch.names, batch.counts)))
            if len(waiting) >= at_once:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())
    except BrokenProcessPool:
        problem = (
            "a worker process died (killed, or out of memory); what is on record is safe, and "
            "resume=True continues from there"
        )
        raise WorkerLost(problem) from None


def _result(batch: Batch, future: Future[Any]) -> tuple[Batch, Released]:
    result = future.result()
    if isinstance(result, Released):
        return batch, result
    kind, *details = result
    if kind == "unknown word":
        record, position = details
        raise batch.in_file(UnknownWord(record=record, position=position))
    raise WorkerLost(f"a worker process stopped: {details[0]}")


def _begin(private: Privatizer, parent: int, threads: int, not_for_workers: Sequence[int]) -> None:
    global _private
    for descriptor in not_for_workers:
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has the journal
    # The handler of the command raises, and a worker that waits for work swallows that: the pool would wait
    # for ever for it to end.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_threads(threads)
    private.take_tally()
    _private = private
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone: a killed parent cannot tell its workers."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _release(texts: list[str | None], names: list[RecordId] | None, counts: list[int]) -> Any:
    assert _private is not None  # noqa: S101
    # What is wrong goes back as plain data: the errors of this package carry more than their message.
    try:
        return _release_timed(_private, texts, names, counts)
    except UnknownWord as error:
        return "unknown word", error.record, error.position
    except DeniableError as error:
        return "error", str(error)


def _release_timed(
    private: Privatizer, texts: list[str | None], names: list[RecordId] | None, counts: list[int]
) -> Released:
    started = time.monotonic()
    released = release_texts(private, texts, names, counts)
    return Released(released, private.take_tally(), time.monotonic() - started)
