"""Batches of records released one after the other, in this process or by several that share the embedding.

Workers are forked, so they share the mapped index, the vocabulary and everything else that was loaded, and a
key never travels. Each draws from a source of its own (see ``randomness``), or, with a key, the very noise
that one process would draw. The process that forked them reads and writes; a few batches are on their way at
any time, and reading waits until the oldest of them is back. Batches come back in order, no matter which
finished first.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

from deniable.errors import DeniableError, InvalidParameter, UnknownWord, WorkerLost
from deniable.neighbours import best_neighbours
from deniable.neighbours.threads import MOST_THREADS, set_threads, threads_with_reason
from deniable.noise.encoding import RecordId
from deniable.parameters import validated_count
from deniable.records.formats.reader import Batch
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


def check_workers(private: Privatizer, workers: int) -> int:
    """Return the number of worker processes if that many can be had."""
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


def releasing(
    private: Privatizer,
    batches: Iterator[Batch],
    *,
    workers: int = 1,
    not_for_workers: Sequence[int] = (),
    up_to_errors: bool = False,
) -> Generator[tuple[Batch, Released]]:
    """Yield the batches with their released texts, in order, by this process or by that many workers.

    ``up_to_errors`` says that the records before an unknown word are released. Workers close the descriptors
    in ``not_for_workers``: a lock that they inherited would outlive a killed parent. They end with this
    iterator.
    """
    if workers == 1:
        yield from _in_this_process(private, batches, up_to_errors=up_to_errors)
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
        yield from _by_workers(pool, batches, at_once=_BATCHES_PER_WORKER * workers)
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
            released = release_batch(private, batch.texts, batch.names, batch.counts)
        except UnknownWord as error:
            found = batch.in_file(error)
        else:
            yield batch, released
            continue
        # How many records a stream gets before the error must not depend on where batches end.
        if up_to_errors and len(before := batch.before(found.record)):
            yield before, release_batch(private, before.texts, before.names, before.counts)
        raise found


def _by_workers(
    pool: ProcessPoolExecutor, batches: Iterator[Batch], *, at_once: int
) -> Iterator[tuple[Batch, Released]]:
    waiting: deque[tuple[Batch, Future[Any]]] = deque()

    def oldest() -> tuple[Batch, Released]:
        batch, future = waiting.popleft()
        result = future.result()
        if isinstance(result, Released):
            return batch, result
        if isinstance(result, str):
            raise WorkerLost(f"a worker process stopped: {result}")
        record, position = result
        raise batch.in_file(UnknownWord(record=record, position=position))

    try:
        for batch in batches:
            waiting.append((batch, pool.submit(_release, batch.texts, batch.names, batch.counts)))
            if len(waiting) >= at_once:
                yield oldest()
        while waiting:
            yield oldest()
    except BrokenProcessPool:
        problem = "a worker process died (killed, or out of memory); what is on record is safe"
        raise WorkerLost(f"{problem}, and resume=True continues from there") from None


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
        return release_batch(_private, texts, names, counts)
    except UnknownWord as error:
        return error.record, error.position
    except DeniableError as error:
        return str(error)


def release_batch(
    private: Privatizer, texts: list[str | None], names: list[RecordId] | None, counts: list[int]
) -> Released:
    """Return the texts privatized; ``counts`` says how many texts each record has. Without a key names say
    whose the texts are."""
    started = time.monotonic()
    whose = {"people" if private.keyed is None else "record_ids": names}
    released = private.many(texts, rows=counts, **whose)
    return Released(released, private.take_tally(), time.monotonic() - started)
