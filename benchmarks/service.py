"""What HTTP costs: words per second through the service over ``Privatizer.many`` in a process, and the
latency of short requests.

    python -m benchmarks.service --peer-python PEERS/bin/python      # writes docs/data/service.json
    python -m scripts.pages service          # writes the tables of docs/guide/service.md

The rounds alternate, so that what else the machine does hits all alike. The client runs on the same machine
and takes its part of it. PEERS is an environment with presidio-anonymizer, Flask and gunicorn; its anonymizer
only replaces spans that it is told, so it stands here for scale: it does no search.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scripts.pages import DATA, DOCS, ROOT, options_of, read_json, spread, table, write_json

from benchmarks.machine import busy, machine, texts_by_rank
from deniable import Embedding, Multivariate, Privatizer

PAGE, RESULT = DOCS / "guide" / "service.md", DATA / "service.json"
TEXTS, WORDS, PER_REQUEST, EPSILON = 800, 20, 100, 6.0
WORKERS_OF_THE_PEER = 2


def request_of(path: str, content: object) -> bytes:
    """Return a request of JSON."""
    body = json.dumps(content).encode()
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


async def drive(
    port: int, requests: list[bytes], *, connections: int, seconds: float
) -> tuple[list[float], float]:
    """Send requests over that many connections, each waiting for its answer, for that long.

    Return how long each request took, and all together.
    """
    took: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            began = time.perf_counter()
            writer.write(requests[len(took) % len(requests)])
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            took.append(time.perf_counter() - began)
            assert head.split(b" ", 2)[1] == b"200", head
            if b"connection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    return took, time.perf_counter() - began


@contextlib.contextmanager
def started(command: list[str], path: str, folder: Path) -> Iterator[int]:
    """Run a server until the block ends, and give its port, which stands for PORT in the command."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port = int(opened.getsockname()[1])
    log = folder / f"log-{port}"
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [each.replace("PORT", str(port)) for each in command],
            stdout=out,
            stderr=out,
            env={**os.environ, "DENIABLE_HOME": str(folder)},
            cwd=ROOT,
        )
        try:
            for _ in range(600):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as opened:
                    opened.sendall(asked)
                    if b" 200 " in opened.recv(100):
                        break
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.1)
            yield port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def service(*, together: bool = True) -> list[str]:
    """Return the command of the service, with requests put together for one search or one by one."""
    return [sys.executable, "-m", "benchmarks.service", "--serve", "PORT", *["--one-by-one"] * (not together)]


def serve(port: int, *, together: bool) -> None:
    """Serve: what the measured process runs."""
    from deniable.service.app import Service
    from deniable.service.server import make_server
    from deniable.service.settings import Server, Settings

    settings = Settings(server=Server(port=port))
    listening = socket.create_server(("127.0.0.1", port), backlog=512)
    make_server(settings, Service(settings, together=together)).run(sockets=[listening])


def measure_ratio(texts: list[str], folder: Path, *, rounds: int, seconds: float) -> list[dict[str, float]]:
    """Return, for each round, words per second in this process and through HTTP."""
    private = Privatizer(Multivariate(Embedding.open(), epsilon=EPSILON))
    private.many(texts)
    parts = [texts[start : start + PER_REQUEST] for start in range(0, TEXTS, PER_REQUEST)]
    requests = [request_of("/privatize", {"texts": part, "epsilon": EPSILON}) for part in parts]
    rates = []
    with started(service(), "/ready", folder) as port:
        asyncio.run(drive(port, requests, connections=8, seconds=1))
        for _ in range(rounds):
            began, done = time.perf_counter(), 0
            while time.perf_counter() - began < seconds:
                private.many(texts)
                done += 1
            here = done * TEXTS * WORDS / (time.perf_counter() - began)
            took, all_together = asyncio.run(drive(port, requests, connections=8, seconds=seconds))
            rates.append({"many": here, "http": len(took) * PER_REQUEST * WORDS / all_together})
    return rates


def measure_short(
    texts: list[str], folder: Path, peer: Path | None, *, rounds: int, seconds: float
) -> dict[str, dict[str, float]]:
    """Return how single texts are answered over 64 connections: put together, one by one, and by the peer."""
    ours = [request_of("/privatize", {"text": text, "epsilon": EPSILON}) for text in texts]
    spans = [
        {"entity_type": "PERSON", "start": 0, "end": 5, "score": 0.9},
        {"entity_type": "PERSON", "start": 10, "end": 20, "score": 0.9},
    ]
    theirs = [request_of("/anonymize", {"text": text, "analyzer_results": spans}) for text in texts]
    with contextlib.ExitStack() as servers:
        together, alone = (
            servers.enter_context(started(service(together=each), "/ready", folder)) for each in (True, False)
        )
        ways = {"put together": (together, ours), "one by one": (alone, ours)}
        if peer is not None:
            port = servers.enter_context(started(presidio(peer), "/health", folder))
            ways["Presidio anonymizer (replace)"] = (port, theirs)
        return latencies(ways, rounds=rounds, seconds=seconds, connections=64)


def presidio(python: Path) -> list[str]:
    """Return the command of the peer."""
    app = "benchmarks.peers.presidio_service:app"
    return [str(python), "-m", "gunicorn", "-w", str(WORKERS_OF_THE_PEER), "-b", "127.0.0.1:PORT", app]


def latencies(
    ways: Mapping[str, tuple[int, list[bytes]]], *, rounds: int, seconds: float, connections: int
) -> dict[str, dict[str, float]]:
    """Return how each way, a port and requests, answers: in turns, over so many connections."""
    answers: dict[str, list[tuple[list[float], float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (port, requests) in ways.items():
            answers[name].append(asyncio.run(drive(port, requests, connections=connections, seconds=seconds)))
    return {
        name: {
            "requests_per_second": median(len(took) / seconds for took, seconds in some),
            "p50_ms": median(1000 * float(np.quantile(took, 0.5)) for took, _ in some),
            "p99_ms": median(1000 * float(np.quantile(took, 0.99)) for took, _ in some),
        }
        for name, some in answers.items()
    }


def main() -> None:
    """Measure, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--peer-python", type=Path)
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--one-by-one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, together=not options.one_by_one)
        return
    now, texts = busy(), texts_by_rank(Embedding.open(), TEXTS, WORDS)
    setting = f"{options.rounds} rounds of {options.seconds:g} s in turns; {machine()}"
    how = {"rounds": options.rounds, "seconds": options.seconds}
    with tempfile.TemporaryDirectory() as place:
        ratios = measure_ratio(texts, Path(place), **how)
        short = measure_short(texts, Path(place), options.peer_python, **how)
    write_json(RESULT, {"setting": setting, "busy": now, "ratio": {"rounds": ratios}, "short": short})


def tables() -> dict[str, str]:
    """Return what was measured as the guide shows it."""
    content = read_json(RESULT)
    rounds: list[dict[str, Any]] = content["ratio"]["rounds"]
    many, http = (f"{median(one[name] for one in rounds):,.0f}" for name in ("many", "http"))
    ratio = spread([one["http"] / one["many"] for one in rounds], ".2f")
    first = "100 texts of 20 words a request, 8 connections: words/s by `Privatizer.many`"
    parts = [
        table([first, "through HTTP", "ratio [range]"], [[many, http, ratio]], align="r"),
        latency_table("one text of 20 words a request, 64 connections", content["short"]),
        f"{content['setting']}.",
    ]
    return {"measured": "\n\n".join(parts)}


def latency_table(title: str, measured: Mapping[str, Mapping[str, float]]) -> str:
    """Return what ``latencies`` found."""
    rows = [
        [name, *(f"{row[key]:,.0f}" for key in ("requests_per_second", "p50_ms", "p99_ms"))]
        for name, row in measured.items()
    ]
    return table([title, "requests/s", "p50, ms", "p99, ms"], rows, align="lr")


if __name__ == "__main__":
    main()
