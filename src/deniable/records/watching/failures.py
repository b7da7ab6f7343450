"""Which files of a watched folder could not be released, why, and when each of them may be read again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from time import monotonic

_SHORTEST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0
_TIMES_ITS_COST = 10

State = tuple[int, int]
"""The size of a file and its time of last change."""


@dataclass
class _Failure:
    state: State
    reason: str | None = None
    pause: float = 0.0
    due: float = 0.0


class Failures:
    """The files that failed and were not released since. A file that changed is a new one: it is due, and its
    reason is news.

    What is in the way of a file may go away without any change of the file, so it is tried again and again:
    after a second at first, then after twice as long each time, up to a minute, or up to ten times as long as
    the attempt took. So a file that can never be released costs the others at most about a tenth of the time
    in the long run.
    """

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}

    def __len__(self) -> int:
        """Return how many files failed and were not released since."""
        return len(self._failures)

    def is_due(self, name: str, state: State) -> bool:
        """Return whether the file may be read now."""
        failure = self._failures.get(name)
        return failure is None or failure.state != state or monotonic() >= failure.due

    def is_news(self, name: str, state: State, reason: str) -> bool:
        """Enter why the file failed, and return whether the last failure was another one."""
        failure = self._entry_of(name, state)
        before, failure.reason = failure.reason, reason
        return before != reason

    def postpone(self, name: str, state: State, *, took: float) -> None:
        """Let the file rest after an attempt that read it and ``took`` this many seconds."""
        failure = self._entry_of(name, state)
        first = min(max(took, _SHORTEST_SECONDS), _LONGEST_SECONDS)
        failure.pause = min(max(2 * failure.pause, first), max(_TIMES_ITS_COST * took, _LONGEST_SECONDS))
        failure.due = monotonic() + failure.pause

    def forget(self, name: str) -> None:
        """Take the file out: it is released, or nothing is to be done about it."""
        self._failures.pop(name, None)

    def forget_all_but(self, names: Collection[str]) -> None:
        """Take out the files that are not there any more."""
        for name in self._failures.keys() - set(names):
            del self._failures[name]

    def _entry_of(self, name: str, state: State) -> _Failure:
        failure = self._failures.get(name)
        if failure is None or failure.state != state:
            failure = self._failures[name] = _Failure(state)
        return failure
