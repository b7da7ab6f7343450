"""Files that appear under their name only when they are complete: written beside it, brought to the disk,
then renamed.

Where a file may go is checked here too, so that long work can ask before it starts; and files are locked
here, by locks that end with the process that holds them, however it ends.

What may not be written, read or locked raises ``OSError``; the checks, which are made for people who named a
file, raise ``RecordError``.

Anybody who opens the name finds all of the new content or all of the old, also after a crash. A file is
written as a draft: a hidden file beside it under a name of its own, so several processes may write the same
file at once, and the last one wins. A process that is killed leaves its draft behind; the next one to write
that file sweeps it away once it is too old to be anybody's.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from deniable.errors import RecordError

_ABANDONED_SECONDS = 3600
_SECONDS_BETWEEN_TRIES = 0.05
_NAME_BYTES = 4
_IS_A_LINK = "is a link, and nothing is written through links; remove it"
# Some network file systems cannot sync a folder, and a folder that may only be written to cannot be opened.
_CANNOT_SYNC = (errno.EACCES, errno.EINVAL, errno.ENOTSUP)


def beside(path: Path, ending: str) -> Path:
    """Return the path with more at the end of its name."""
    return path.with_name(path.name + ending)


def check_place(path: Path, advice: str = "name another file") -> None:
    """Check that a file can be written there. Long work asks before it starts."""
    if path.is_dir():
        raise RecordError(path, "is a folder; name a file")
    if not path.parent.is_dir():
        raise RecordError(path, f"the folder {path.parent} is not there; make it first")
    check_regular(path, advice)


def open_plain_file(path: Path) -> IO[bytes]:
    """Open a plain file, or a link to one, for reading: a pipe under its name must not keep us waiting."""
    return os.fdopen(_open_regular(path, os.O_RDONLY), "rb")


def read_plain_file(
    path: Path, *, longest: int, what: str, error: Callable[[Path, str], Exception], pipe: bool = False
) -> bytes:
    """Return the content of a plain file of at most ``longest`` bytes, or raise what ``error`` makes of the
    path and the problem.

    ``what`` it should be is said of a file that is longer. With ``pipe`` it may be a pipe, too, which is
    waited for.
    """
    try:
        with path.open("rb") if pipe else open_plain_file(path) as file:
            # The size first: what is refused need not be read.
            content = file.read(longest + 1) if os.fstat(file.fileno()).st_size <= longest else None
    except OSError as problem:
        raise error(path, problem.strerror or "cannot be read") from problem
    if content is None or len(content) > longest:
        raise error(path, f"is larger than any {what} is")
    return content


def check_regular(path: Path, advice: str) -> None:
    """Check that a file of that name may be replaced: it is a regular one, or there is none."""
    if path.exists() and not path.is_file():
        raise RecordError(path, f"is not a regular file; {advice}")


def check_new(*paths: Path, force: bool = False) -> None:
    """Check that no file of these names is there, or that it may be replaced (``force``)."""
    for path in paths:
        if path.exists() and not force:
            raise RecordError(path, "exists already; replace it with force=True")


def check_apart(source: str, *paths: Path) -> None:
    """Check that the files that are written are neither the input nor one another."""
    seen: set[Path] = set()
    for path in paths:
        if not path.parent.is_dir():
            raise RecordError(path, f"the folder {path.parent} is not there; make it first")
        if path.resolve() in seen:
            raise RecordError(path, "would be written twice; name another file")
        if path.resolve() == Path(source).resolve() or (
            path.exists() and Path(source).exists() and path.samefile(source)
        ):
            raise RecordError(path, "is the input itself; name another file")
        seen.add(path.resolve())


def put(path: Path, content: bytes) -> None:
    """Write a file so that its name holds all of the content or what was there before."""
    check_place(path)
    with whole_file(path.resolve()) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Give a file to write and read, which takes its name if the block ends without an error, else vanishes.

    A ``private`` file is readable by its owner only.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "is a device or a pipe, and not a file", str(path))
    discard_drafts(path, older_than=_ABANDONED_SECONDS)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(_NAME_BYTES)}.tmp")
    try:
        with _new_file(draft, path, mode=0o600 if private else 0o666) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a small file, readable by its owner only, whole or not at all."""
    with whole_file(path, private=True) as file:
        file.write(text.encode())


def open_to_others(about: os.stat_result) -> bool:
    """Return whether others than its owner have access to a file that is to be secret.

    One of root that a group of this process may read, and nobody else, is not: Kubernetes mounts secrets so,
    with mode 0440.
    """
    group = about.st_gid in (os.getegid(), *os.getgroups())
    mounted = about.st_uid == 0 and group and stat.S_IMODE(about.st_mode) == stat.S_IRUSR | stat.S_IRGRP
    return bool(about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)) and not mounted


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor: never through a link, and without waiting for the other
    end of a pipe.

    A new file is readable by its owner only, unless ``mode`` says otherwise.
    """
    return _open_regular(path, flags | os.O_NOFOLLOW, mode)


def open_for_writing(path: Path, mode: str) -> IO[bytes]:
    """Open a regular file for writing, in a mode of ``open``; never through a link."""
    try:
        return cast(
            IO[bytes], open(path, mode, opener=lambda name, flags: open_regular(Path(name), flags, 0o666))
        )
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, _IS_A_LINK, str(path)) from None
        raise


def make_folder(folder: Path) -> None:
    """Make a folder for files of our own, and the one it lies in, where missing; neither may be a link."""
    for each in (folder.parent, folder):
        if each.is_symlink():
            raise OSError(errno.ELOOP, _IS_A_LINK, str(each))
        each.mkdir(parents=True, exist_ok=True)


def keep_private(descriptor: int) -> bool:
    """Make an open file readable by its owner only; return False if it is somebody else's."""
    try:
        os.fchmod(descriptor, 0o600)
    except PermissionError:  # also where a file system has no such modes
        return os.fstat(descriptor).st_uid == os.geteuid()
    return True


def publish(finished: Path, target: Path) -> None:
    """Give a finished file, or a folder of files, its final name, and the permissions that new ones have."""
    # Setting the mask is the only way to read it; for that moment it is the strictest one.
    mask = os.umask(0o077)
    os.umask(mask)
    folder = finished.is_dir() and not finished.is_symlink()
    for path in finished.iterdir() if folder else (finished,):
        descriptor = open_regular(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
            os.fchmod(descriptor, 0o666 & ~mask)
        finally:
            os.close(descriptor)
    if folder:
        finished.chmod(0o777 & ~mask)
    finished.replace(target)
    sync_folder(target.parent)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def discard_drafts(path: Path, *, older_than: float = 0.0) -> None:
    """Remove the drafts of a file that nobody has touched for this many seconds."""
    is_draft = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _NAME_BYTES}}}\.tmp").fullmatch
    with suppress(OSError):
        for draft in path.parent.iterdir():
            if is_draft(draft.name) and time.time() - draft.stat().st_mtime >= older_than:
                draft.unlink()


def sync_file(path: Path) -> None:
    """Wait until the file's content is on disk."""
    _sync(path, os.O_RDWR)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk, where the file system can tell."""
    try:
        _sync(path, os.O_RDONLY)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def _open_regular(path: Path, flags: int, mode: int = 0o600) -> int:
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return descriptor


def _new_file(draft: Path, path: Path, *, mode: int) -> IO[bytes]:
    try:
        return open(draft, "xb+", opener=lambda name, flags: os.open(name, flags, mode))
    except OSError as error:  # about the name that its user knows
        raise OSError(error.errno, error.strerror, str(path)) from error


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(file: IO[bytes] | int, *, wait: bool) -> bool:
    """Lock an open file until it is closed; return whether it is locked: without ``wait`` it may not be."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock_within(file: IO[bytes] | int, seconds: float) -> bool:
    """Lock an open file or descriptor until it is closed; return whether it could be locked in that time.

    For locks that are only held by a process that is there: the workers of one that was killed hold its locks
    until they notice.
    """
    until = time.monotonic() + seconds
    while not lock(file, wait=False):
        if time.monotonic() >= until:
            return False
        time.sleep(_SECONDS_BETWEEN_TRIES)
    return True
