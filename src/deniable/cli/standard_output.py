"""Standard output of a filter: what happens when its reader goes away, or the user stops it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import typer


@contextmanager
def quiet_ends() -> Iterator[None]:
    """End without a word when the reader of the output goes away (0) or the user presses Ctrl-C (130)."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        _drop_output()
        raise typer.Exit(130) from None
    except BrokenPipeError:
        _drop_output()
        raise typer.Exit(0) from None


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Lend standard output, buffered whatever the environment says; that its reader went away is no error."""
    with open(sys.stdout.fileno(), "wb", closefd=False) as sink:
        try:
            yield sink
            sink.flush()
        except BrokenPipeError:
            _drop_output()
        except BaseException:
            _drop_output()
            raise


def _drop_output() -> None:
    # What is still buffered would raise again when it is flushed at the end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
