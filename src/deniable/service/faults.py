"""What may be known of an error afterwards: its kind and the lines it came through, never its text, which may
quote what was asked."""

from __future__ import annotations

import logging
import traceback

log = logging.getLogger("deniable.service")

_MOST_PLACES = 6


def log_without_text(error: BaseException) -> None:
    """Log the kind of an exception and the lines it came through, also of the one that caused it."""
    log.error("%s at %s", type(error).__name__, _places(error))
    if error.__cause__ is not None:
        log.error("%s at %s was the cause", type(error.__cause__).__name__, _places(error.__cause__))


def _places(error: BaseException) -> str:
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return " < ".join(reversed(places[-_MOST_PLACES:]))
