"""``deniable serve``: an HTTP API and a page."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import Device
from deniable.errors import DeniableError, MissingExtra

_LIBRARIES = ("httptools", "prometheus_client", "starlette", "uvicorn")


def serve(
    host: Annotated[
        str | None,
        typer.Option(help="The address to listen on. Others than 127.0.0.1, the default, need a token."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="The port to listen on; 0 takes a free one. The default is 8000.")
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file: embeddings, mechanisms, the largest ε, policies, key, limits, token, TLS."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="How many processes serve; they share the embeddings. The default is 1."),
    ] = None,
    device: Device = "cpu",
) -> None:
    """Serve an HTTP API for programs in any language, and a page to try it in a browser, on this machine."""
    if not hasattr(os, "fork"):
        raise DeniableError("this system cannot fork processes, which the service needs; run it on Linux")
    if any(find_spec(library) is None for library in _LIBRARIES):
        raise MissingExtra("serving", "serve")
    from deniable.service.server import serve as run
    from deniable.service.settings import read_settings

    read = read_settings(settings, host=host, port=port, workers=workers)
    if read.server.workers != 1 and device != "cpu":
        raise typer.BadParameter("give one of --workers and --device: a GPU serves one process")
    run(read, say=lambda line: print(line, file=sys.stderr, flush=True))
