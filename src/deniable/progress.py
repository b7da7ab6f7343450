"""Progress of long work: a bar with rate and time left on a terminal, plain lines when piped.

Long work also asks, even inside one text, whether it has to end: the program that started it says so with
``interrupted_by``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self, TextIO

Report = Callable[[int, int], None]
"""Told how much is done, of how much."""

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_DRAWS = 0.1

_interrupt: ContextVar[Callable[[], None] | None] = ContextVar("interrupt", default=None)


@contextmanager
def interrupted_by(check: Callable[[], None]) -> Iterator[None]:
    """Have all work of this thread call ``check`` again and again. What it raises ends the work."""
    before = _interrupt.set(check)
    try:
        yield
    finally:
        _interrupt.reset(before)


def check_interrupt() -> None:
    """End the work by an error if the program that started it wants that; see ``interrupted_by``."""
    check = _interrupt.get()
    if check is not None:
        check()


class Progress:
    """Shows how far work is, how fast it goes and how long it will take, on standard error.

    >>> with Progress("reading", unit="words") as progress:
    ...     progress.report(4, 10)

    Work that goes through its units several times has a bar, a rate and a time left for each pass. What the
    first report of a pass counts was done before, by an earlier run: it counts for the bar, not for the rate.
    ``done`` at the start says how much that is, where the first report comes later.
    """

    def __init__(
        self,
        label: str,
        *,
        total: int | None = None,
        done: int | None = None,
        unit: str = "records",
        stream: TextIO | None = None,
    ) -> None:
        self._label = label
        self._unit = unit
        self._total = total
        self._before = done
        self._stream = sys.stderr if stream is None else stream
        self._bar: _Bar | None = None
        self._reached: int | None = None
        self._started = self._shown = 0.0

    def __enter__(self) -> Self:
        """Begin the first pass if it is said where; otherwise the first report begins it."""
        if self._before is not None:
            self._begin(self._before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar down, if there is one."""
        self.close()

    def close(self) -> None:
        """Take the bar down; the next report begins a pass. Two bars would overwrite each other."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._reached = None, None

    def report(self, done: int, total: int | None = None) -> None:
        """Say how many units are done, of how many; fewer than before begin the next pass."""
        self._total = total if total is not None else self._total
        if self._reached is None or done < self._reached:
            self.close()
            self._begin(done)
        self._reached, now = done, time.monotonic()
        if now - self._shown >= (_SECONDS_BETWEEN_LINES if self._bar is None else _SECONDS_BETWEEN_DRAWS):
            self._shown = now
            if self._bar is not None:
                self._bar.draw(done, self._total, self._pace(done, now))
            else:
                line = f"{self._label}: {self._position(done)}, {self._pace(done, now)}"
                print(line, file=self._stream, flush=True)
        if self._total is not None and done >= self._total:
            self.close()

    def _begin(self, done: int) -> None:
        self._before = self._reached = done
        self._started = self._shown = time.monotonic()
        if self._stream.isatty():
            self._bar = _Bar(self._label, self._unit, self._stream)

    def _position(self, done: int) -> str:
        if not self._total:
            return f"{done:,} {self._unit}"
        return f"{done:,} of {self._total:,} {self._unit} ({done / self._total:.0%})"

    def _pace(self, done: int, now: float) -> str:
        rate = (done - (self._before or 0)) / max(now - self._started, 1e-9)
        text = f"{rate:,.0f} {self._unit}/s"
        if self._total and rate > 0:
            text += f", {_duration((self._total - done) / rate)} left"
        return text


def part_of(report: Report, place: int, count: int) -> Report:
    """Return a report of one of ``count`` equal parts of the work; further parts count as the last."""
    place = min(place, count - 1)

    def report_part(done: int, total: int) -> None:
        if done or not place:  # where a part begins the one before it has ended
            report(place * total + done, count * total)

    return report_part


class Steps:
    """Progress by steps that are counted one by one, of a number that is not passed."""

    def __init__(self, report: Report | None, total: int) -> None:
        """Begin; without a report nothing is told."""
        self._report, self._total, self._done = report, total, 0

    def done(self) -> None:
        """Count one more step."""
        self._done = min(self._done + 1, self._total)
        if self._report is not None:
            self._report(self._done, self._total)


class _Bar:
    """A rich progress bar, imported only when there is a terminal to draw on."""

    def __init__(self, label: str, unit: str, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._rich = RichProgress(
            TextColumn("{task.description}", markup=False),  # it may be the name of a file
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.completed:,.0f} " + unit),
            TextColumn("{task.fields[pace]}"),
            console=Console(file=stream),
            transient=True,
        )
        self._task = self._rich.add_task(label, total=None, pace="")
        self._rich.start()

    def draw(self, done: int, total: int | None, pace: str) -> None:
        self._rich.update(self._task, completed=done, total=total, pace=pace)

    def close(self) -> None:
        self._rich.stop()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
