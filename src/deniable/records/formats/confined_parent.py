"""Untrusted files are parsed in a process of their own, with limits on memory and time.

Libraries reserve what a crafted file claims, or end the process. ``confined_child`` runs in that process;
neither
it nor the parsers that it loads import this package, so that the process starts in a tenth of a second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from deniable.errors import RecordError, printable
from deniable.records.formats.confined_child import END, PIECE, REFUSED
from deniable.records.formats.source import FileSource

MOST_MEMORY = 1 << 30
"""Bytes that parsing any file may take."""


class ParserFailed(RecordError):
    """A parser took too much memory or time, or ended without a word."""


_SECONDS, _BYTES_PER_SECOND = 120, 100_000
_CHILD = Path(__file__).with_name("confined_child.py")


def parse_confined(source: FileSource, script: Path, advice: str, **arguments: object) -> Iterator[bytes]:
    """Yield what a parser makes of a file, in a process that may take 1 GiB of memory, and processor time by
    the size of the file.

    ``script`` holds the parser (see ``confined_child``), and ``arguments`` go to it. ``advice`` says what to
    do if it fails. The process ends with this iterator, and when nobody reads what it sends.

    :raises RecordError: if the parser refuses the file, in a sentence that does not quote it.
    :raises ParserFailed: if it takes too much memory or time, or the file ends it.
    """
    size, descriptor = source.size or 0, source.file.fileno()
    asked = {
        "script": str(script),
        "path": sys.path,
        "descriptor": descriptor,
        "end": size,
        "memory": MOST_MEMORY,
        "seconds": _SECONDS + size // _BYTES_PER_SECOND,
        "arguments": arguments,
    }
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", str(_CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what a library says when it fails could quote the file
        pass_fds=(descriptor,),
        env={**os.environ, **_QUIET_AND_SMALL},
        process_group=0,  # Ctrl-C is for the process that has the journal
    )
    sent, failed = cast(BinaryIO, process.stdout), ParserFailed(source.name, f"{_FAILED}; {advice}")
    try:
        cast(BinaryIO, process.stdin).write(json.dumps(asked).encode())
        cast(BinaryIO, process.stdin).close()
        while len(head := sent.read(9)) == 9:
            content = sent.read(int.from_bytes(head[1:], "little"))
            if head[:1] == END:
                return
            if head[:1] == REFUSED:
                raise RecordError(source.name, printable(content.decode()))
            if head[:1] == PIECE:
                yield content
        raise failed
    except BrokenPipeError:
        raise failed from None
    finally:
        process.kill()
        process.wait()
        sent.close()


_QUIET_AND_SMALL = {
    "RUST_BACKTRACE": "0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
}
_FAILED = (
    f"cannot be parsed in {MOST_MEMORY >> 30} GiB of memory: the file is damaged, too large, or made "
    "to fill the memory"
)
