"""Runs a service: one process or several that share what was loaded, on one address.

Embeddings are opened before the processes are forked, so that their memory is shared; noise is not: every process draws from a source of
its own. SIGTERM and Ctrl-C end the service: what was begun is finished, and jobs stop at a checkpoint.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.errors import InvalidParameter
from deniable.service.app import Service
from deniable.service.metrics import SEVERAL
from deniable.service.rules import Rules
from deniable.service.settings import Settings

log = logging.getLogger("deniable.service")

_OPEN_FILES = 65_536
_SECONDS_TO_FINISH = 60
_SECONDS_FOR_HEADERS = 15.0
_SECONDS_BEFORE_RESTART = 1.0
_BACKLOG = 2_048
_ENDING = (signal.SIGTERM, signal.SIGINT)

_asked_to_end = threading.Event()

Say = Callable[[str], None]


class _ImpatientProtocol(HttpToolsProtocol):
    """HTTP that gives up on connections that do not send a whole request head in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_due = self.loop.call_later(_SECONDS_FOR_HEADERS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_due.cancel()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        self._head_due.cancel()
        super().on_headers_complete()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_due.cancel()
        self._head_due = self.loop.call_later(_SECONDS_FOR_HEADERS, self._give_up)

    def _give_up(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that also ends by a signal that came before it could take any."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        if _asked_to_end.is_set():
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self.should_exit = True


def serve(settings: Settings, *, say: Say) -> None:
    """Serve until SIGTERM or Ctrl-C; ``say`` is told the address.

    :raises DeniableError: if an embedding, the key, the token or the folder of jobs cannot be used.
    :raises InvalidParameter: if nothing can listen on the address.
    """
    _prepare_process()
    listening = _listen(settings)
    rules = Rules(settings)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if settings.server.certificate is None else "https"
    say(f"deniable: the page and the API are at {scheme}://{shown}:{port}/ (Ctrl-C ends it)")
    if not settings.server.on_loopback and settings.server.certificate is None:
        say("deniable: warning: texts and the token travel unencrypted; set certificate and private_key, or put a proxy with TLS in front")
    if settings.server.workers == 1:
        _run(settings, rules, listening)
    else:
        _run_several(settings, rules, listening)


def make_server(settings: Settings, service: Service) -> uvicorn.Server:
    """Return the server of one process."""
    config = uvicorn.Config(
        service.app(),
        http=_ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,  # uvicorn would log every path, and a path may hold a word
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        ssl_certfile=settings.server.certificate,
        ssl_keyfile=settings.server.private_key,
        backlog=_BACKLOG,
    )
    return _Server(config)


def _run(settings: Settings, rules: Rules, listening: socket.socket) -> None:
    for number in _ENDING:
        # uvicorn has handlers of its own as soon as it runs, and calls these once more when all is finished.
        signal.signal(number, lambda *_: _asked_to_end.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    make_server(settings, Service(settings, rules=rules)).run(sockets=[listening])


def _run_several(settings: Settings, rules: Rules, listening: socket.socket) -> None:
    """Fork the workers and start another one for each that dies, until the service is to end."""
    folder = tempfile.mkdtemp(prefix="deniable-metrics-")  # numbers only; 0700 as mkdtemp makes it
    os.environ[SEVERAL] = folder
    ending = False
    workers: dict[int, float] = {}

    def end(*_: Any) -> None:
        nonlocal ending
        ending = True
        for process in list(workers):
            _signal(process, signal.SIGTERM)

    for number in _ENDING:
        signal.signal(number, end)
    try:
        while True:
            while not ending and len(workers) < settings.server.workers:
                workers[_fork(settings, rules, listening)] = time.monotonic()
            if ending:
                end()  # also a worker that was being made when the signal came
            if ending and not workers:
                return
            try:
                process, status = os.wait()
            except ChildProcessError:
                return
            except InterruptedError:
                continue
            started = workers.pop(process, None)
            if started is not None and not ending:
                log.error("a worker ended (status %d); another one is started", status)
                if time.monotonic() - started < _SECONDS_BEFORE_RESTART:
                    time.sleep(_SECONDS_BEFORE_RESTART)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fork(settings: Settings, rules: Rules, listening: socket.socket) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # until the worker has handlers of its own
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        return process
    status = 1
    try:
        _run(settings, rules, listening)
        status = 0
    except BaseException as error:
        log.error("%s in a worker", type(error).__name__)
    finally:
        sys.stdout.flush()
        os._exit(status)


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _listen(settings: Settings) -> socket.socket:
    host, port = settings.server.host, settings.server.port
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=_BACKLOG)
    except OSError as error:
        raise InvalidParameter("server", f"{host}:{port}", f"nothing can listen there: {error.strerror or error}") from None


def _prepare_process() -> None:
    """No core dump may hold private text, and idle connections must not use up the files that a process may open."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if most == resource.RLIM_INFINITY else min(_OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # its messages quote what they are about
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its tracebacks may quote texts; the guard logs without them
