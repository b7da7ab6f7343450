"""``deniable serve``: an HTTP API and a page."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import typer

from deniable.cli.options import with_groups
from deniable.cli.terminal import say
from deniable.errors import DeniableError, MissingExtra

_LIBRARIES = ("httptools", "httpx2", "prometheus_client", "starlette", "uvicorn")


@with_groups
def serve(
    *,
    host: str | None = None,
    port: int | None = None,
    settings: Path | None = None,
    workers: int | None = None,
    device: str = "cpu",
) -> None:
    """Serve an HTTP API for programs in any language, and a page to try it in a browser, on this machine.

    :param host: The address to listen on. Others than 127.0.0.1, the default, need a token.
    :param port: The port to listen on; 0 takes a free one. The default is 8000.
    :param settings: A TOML file: embeddings, mechanisms, the largest ε, policies, key, limits, token, TLS.
    :param workers: How many processes serve; they share the embeddings. The default is 1.
    """
    if not hasattr(os, "fork"):
        raise DeniableError("this system cannot fork processes, which the service needs; run it on Linux")
    if any(find_spec(library) is None for library in _LIBRARIES):
        raise MissingExtra("serving", "serve")
    from deniable.service.server import serve as run
    from deniable.service.settings import read_settings

    read = read_settings(settings, host=host, port=port, workers=workers)
    if read.server.workers != 1 and device != "cpu":
        raise typer.BadParameter("give one of --workers and --device: a GPU serves one process")
    run(read, say=say)
