"""Keys, and the files that keep them: one secret key each, readable by their owner only.

A key file is two lines of text: what it is, and the key in hexadecimal digits. The first line keeps a file of
something else, such as a certificate, from being used as a key by mistake.
"""

from __future__ import annotations

import os
from pathlib import Path

from deniable.atomic import open_plain_file, open_to_others
from deniable.errors import KeyFileError
from deniable.noise.randomness import KEY_BYTES, fresh_key

_FIRST_LINE = "deniable key 1"
_LONGEST_FILE = 4_096


def write_new_key(path: Path) -> bytes:
    """Make a key, write it to a file that was not there before, with mode 0600, and return it."""
    key = fresh_key()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise KeyFileError(
            path,
            "exists already, and a key is never overwritten: what was released with it could not be repeated",
        ) from None
    except OSError as error:
        raise KeyFileError(path, f"cannot be made: {error.strerror}") from error
    try:
        with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123
            os.fchmod(descriptor, 0o600)
            file.write(f"{_FIRST_LINE}\n{key.hex()}\n")
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise KeyFileError(path, f"cannot be written: {error.strerror}") from error
    return key


def read_key(path: Path) -> bytes:
    """Return the key of a key file."""
    try:
        file = open_plain_file(path)
    except FileNotFoundError:
        raise KeyFileError(path, "is not there; make it with `deniable key new FILE`") from None
    except OSError as error:
        raise KeyFileError(path, f"{error.strerror}") from None
    with file:
        about = os.fstat(file.fileno())
        if about.st_uid not in (os.geteuid(), 0):
            raise KeyFileError(
                path,
                "belongs to another user, who knows the key then; make your own with `deniable key new FILE`",
            )
        if open_to_others(about):
            raise KeyFileError(
                path,
                f"others than its owner have access to it (mode {about.st_mode & 0o777:04o}); if the key is "
                "still secret: chmod 600 FILE",
            )
        try:
            content = file.read(_LONGEST_FILE)
        except OSError as error:
            raise KeyFileError(path, f"cannot be read: {error.strerror}") from None
    first, _, rest = content.partition(b"\n")
    if first.strip() != _FIRST_LINE.encode():
        raise KeyFileError(path, "is not a key file of deniable; make one with `deniable key new FILE`")
    try:
        key = bytes.fromhex(rest.decode("ascii").strip())
    except ValueError:  # also what cannot be decoded; its message could show the key
        raise KeyFileError(path, "is damaged: its second line is not made of hexadecimal digits") from None
    if len(key) != KEY_BYTES:
        raise KeyFileError(path, f"holds a key of {len(key)} bytes; a key has {KEY_BYTES}")
    return key
