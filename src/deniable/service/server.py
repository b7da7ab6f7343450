"""Runs a service: one process or several that share what was loaded, on one address.

Embeddings are opened before the processes are forked, so that their memory is shared; noise is not: every
process draws from a source of its own. SIGTERM and Ctrl-C end the service: what was begun is finished, and
jobs stop at a checkpoint.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import mmap
import os
import resource
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn

from deniable.errors import DeniableError, InvalidParameter, WorkerLost
from deniable.service.app import Service
from deniable.service.jobs import prepare_folder
from deniable.service.messages import log_without_text
from deniable.service.metrics import SEVERAL
from deniable.service.protocol import BoundedProtocol
from deniable.service.rules import Rules
from deniable.service.settings import Settings

log = logging.getLogger("deniable.service")

_OPEN_FILES = 65_536
_TURN = 0.0005
_SECONDS_TO_FINISH = 60
_SECONDS_BETWEEN_WAITS = 0.1
_SECONDS_BEFORE_RESTART = 1.0
_MOST_IN_VAIN = 3
_BACKLOG = 2_048
_PR_SET_DUMPABLE = 4
_ENDING = (signal.SIGTERM, signal.SIGINT)

_asked_to_end = threading.Event()

Say = Callable[[str], None]


class _Server(uvicorn.Server):
    """A server that also ends by a signal that came before it could take any."""

    def __init__(self, config: uvicorn.Config, served: Callable[[], None] | None = None) -> None:
        super().__init__(config)
        self._served = served

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, and say so."""
        # Searches have threads of their own, and the one that serves the network must not wait long for its
        # turn between them.
        sys.setswitchinterval(_TURN)
        await super().startup(sockets)
        if self.started and self._served is not None:
            self._served()
        if _asked_to_end.is_set():
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self.should_exit = True


def serve(settings: Settings, *, say: Say) -> None:
    """Serve until SIGTERM or Ctrl-C; ``say`` is told the address."""
    prepare_process()
    _check_certificate(settings)
    prepare_folder(settings.jobs_folder)
    listening = _listen(settings)
    rules = Rules(settings)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if settings.server.certificate is None else "https"
    say(f"deniable: the page and the API are at {scheme}://{shown}:{port}/ (Ctrl-C ends it)")
    if not settings.server.on_loopback and settings.server.certificate is None:
        advice = "set certificate and private_key, or put a proxy with TLS in front"
        say(f"deniable: warning: texts and the token travel unencrypted; {advice}")
    if settings.server.workers == 1:
        _run(settings, rules, listening)
    else:
        _run_several(settings, rules, listening)


def make_server(
    settings: Settings, service: Service, served: Callable[[], None] | None = None
) -> uvicorn.Server:
    """Return the server of one process; ``served`` is called when it can be asked."""
    config = uvicorn.Config(
        service.app(),
        http=BoundedProtocol,
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
    return _Server(config, served)


def _run(
    settings: Settings, rules: Rules, listening: socket.socket, served: Callable[[], None] | None = None
) -> None:
    for number in _ENDING:
        # uvicorn has handlers of its own as soon as it runs, and calls these once more when all is finished.
        signal.signal(number, lambda *_: _asked_to_end.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    server = make_server(settings, Service(settings, rules=rules), served)
    server.run(sockets=[listening])
    if not server.started and not _asked_to_end.is_set():  # uvicorn says it in a log that is switched off
        raise WorkerLost("the service could not be started")


def _run_several(settings: Settings, rules: Rules, listening: socket.socket) -> None:
    """Fork the workers and start another one for each that dies, until the service is to end."""
    folder = tempfile.mkdtemp(prefix="deniable-metrics-")  # numbers only; 0700 as mkdtemp makes it
    os.environ[SEVERAL] = folder
    ending, in_vain = False, 0
    workers: dict[int, mmap.mmap] = {}

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
                served = mmap.mmap(-1, 1)  # shared with the worker, which writes to it when it serves
                workers[_fork(settings, rules, listening, served)] = served
            if ending:
                end()  # also a worker that was being made when the signal came
            if ending and not workers:
                if in_vain >= _MOST_IN_VAIN:
                    raise WorkerLost(f"{in_vain} workers in turn ended before they served; the log says why")
                return
            try:
                process, status = _wait()
            except ChildProcessError:
                return
            served_by_it = workers.pop(process, None)
            if served_by_it is None or ending:
                continue
            in_vain = 0 if served_by_it[0] else in_vain + 1
            if in_vain >= _MOST_IN_VAIN:
                log.error("a worker ended (status %d) before it served, as others did", status)
                end()
                continue
            log.error("a worker ended (status %d); another one is started", status)
            if in_vain:
                time.sleep(_SECONDS_BEFORE_RESTART)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fork(settings: Settings, rules: Rules, listening: socket.socket, served: mmap.mmap) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # until the worker has handlers of its own
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        return process
    status = 1
    try:
        _run(settings, rules, listening, lambda: served.__setitem__(0, 1))
        status = 0
    except BaseException as error:
        if isinstance(error, DeniableError) and not served[0]:  # no text was seen: this is about the settings
            log.error("a worker could not serve: %s", error)
        log_without_text(error)
    finally:
        sys.stdout.flush()
        os._exit(status)


def _wait() -> tuple[int, int]:
    """Return a worker that ended, and its status.

    A wait without end would miss a signal that another thread took, as one does while this thread blocks it
    to fork: the handler runs when this thread goes on.
    """
    while True:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process:
            return process, status
        time.sleep(_SECONDS_BETWEEN_WAITS)


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _listen(settings: Settings) -> socket.socket:
    host, port = settings.server.host, settings.server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        problem = f"nothing can listen there: {error.strerror or error}"
        raise InvalidParameter("server", f"{host}:{port}", problem) from None


def _check_certificate(settings: Settings) -> None:
    certificate, private_key = settings.server.certificate, settings.server.private_key
    if certificate is None:
        return
    try:
        # An encrypted key would be asked for on a terminal, by every process; an empty password is wrong for
        # all of them.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, private_key, password="")
    except OSError as error:  # which errors of TLS are as well
        problem = f"cannot be used with its private_key, {private_key}: {error.strerror or error}"
        problem += "; the key must not be encrypted"
        raise InvalidParameter("server.certificate", certificate, problem) from None


def prepare_process() -> None:
    """No core dump may hold private text, and idle connections must not use up the files that a process may
    open."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Linux hands a core to a program, where one is named to take it, whatever the limit is.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if most == resource.RLIM_INFINITY else min(_OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    # Their messages and tracebacks may quote texts; the guard logs without them.
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
