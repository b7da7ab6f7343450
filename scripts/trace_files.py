"""Which of our files a command goes through: every file in which a function ran, in the order in which its
first did, with the number of its functions that ran.

    python scripts/trace_files.py privatize reviews.csv --column text --epsilon 6 -o released.csv

The command runs as usual; the list goes to standard error when it ends. What a file does while it is imported
does not count, so a file that is only imported is not listed. Comprehensions and lambdas count for their file
and not as functions of their own. Worker processes are not followed.
"""

from __future__ import annotations

import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import deniable

_SOURCE = Path(deniable.__file__).parent


class Trace:
    """Remembers the files of the package in which a function was called, in order, with their functions."""

    def __init__(self) -> None:
        self.files: dict[str, set[CodeType]] = {}
        self._prefix = f"{_SOURCE}/"

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call."""
        code, name = frame.f_code, frame.f_code.co_filename
        if event != "call" or not name.startswith(self._prefix) or code in self.files.get(name, ()):
            return
        # The bodies of modules and classes are not optimised code; those of functions are.
        if code.co_flags & CO_OPTIMIZED and not self._is_importing(frame):
            functions = self.files.setdefault(name, set())
            if not code.co_name.startswith("<"):
                functions.add(code)

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(self._prefix):
                return True
            frame = frame.f_back
        return False


def main() -> None:
    """Run the command and list the files."""
    from deniable.cli.app import main as command

    trace = Trace()
    sys.argv[0] = "deniable"
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        command()
    finally:
        sys.setprofile(None)
        for path, functions in trace.files.items():
            name = Path(path).relative_to(_SOURCE.parent).as_posix()
            print(f"{name} {len(functions)}", file=sys.stderr)
        total = sum(map(len, trace.files.values()))
        print(f"{len(trace.files)} files, {total} functions", file=sys.stderr)


if __name__ == "__main__":
    main()
