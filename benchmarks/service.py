"""What HTTP costs: words per second through the service over ``Privatizer.many`` in a process, and the
latency of short requests.

    python -m benchmarks.service --seconds 5 --peer-python PEERS/bin/python --json docs/data/service.json
    --page docs/guide/service.md

The rounds alternate, so that what else the machine does hits all alike. The client runs on the same machine
and takes its part of it. PEERS is an environment with presidio-anonymizer, Flask and gunicorn; its anonymizer
only replaces spans that it is told, so it stands here for scale: it does no search. ``--soak MINUTES`` sends
short requests for that long and shows the memory of the service.
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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.machine import busy, machine
from deniable import Embedding, Multivariate, Privatizer

_TEXTS = 800
_WORDS = 20
_PER_REQUEST = 100
_EPSILON = 6.0
_WORKERS_OF_THE_PEER = 2


@dataclass(kw_only=True)
class Answers:
    """What came back: how many requests, by status, and how long each took."""

    seconds: float = 0.0
    took: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def per_second(self) -> float:
        """Return the requests per second."""
        return len(self.took) / self.seconds

    def quantile(self, share: float) -> float:
        """Return the milliseconds within which this share of the requests was answered."""
        return 1000.0 * float(np.quantile(self.took, share))


def make_texts(embedding: Embedding) -> list[str]:
    """Return texts of words as frequent as their rank says."""
    rng = np.random.default_rng(1)
    shares = 1.0 / (np.arange(len(embedding)) + 2.7)
    ids = rng.choice(len(embedding), (_TEXTS, _WORDS), p=shares / shares.sum())
    return [" ".join(embedding.words[i] for i in row) for row in ids.tolist()]


def request_of(path: str, content: object) -> bytes:
    """Return a request of JSON."""
    body = json.dumps(content).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        f"{len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def drive(port: int, requests: list[bytes], *, connections: int, seconds: float) -> Answers:
    """Send requests over that many connections, each waiting for its answer, for that long."""
    answers, end = Answers(), time.perf_counter() + seconds
    upcoming = iter(lambda: requests[len(answers.took) % len(requests)], None)

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while time.perf_counter() < end:
                started = time.perf_counter()
                writer.write(next(upcoming))
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
                answers.took.append(time.perf_counter() - started)
                answers.statuses[int(head.split(b" ", 2)[1])] += 1
                if b"connection: close" in head:
                    writer.close()
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
        finally:
            writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    answers.seconds = time.perf_counter() - started
    return answers


@contextlib.contextmanager
def started(command: list[str], port: int, path: str, folder: Path, **environment: str) -> Iterator[int]:
    """Run a server until the block ends, and give its process id."""
    with Path(folder, f"log-{port}").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
            cwd=Path(__file__).resolve().parents[1],
        )
        try:
            for _ in range(600):
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(("127.0.0.1", port), timeout=1) as opened,
                ):
                    opened.sendall(
                        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
                    )
                    if b" 200 " in opened.recv(100):
                        break
                if process.poll() is not None:
                    raise SystemExit(Path(folder, f"log-{port}").read_text())
                time.sleep(0.1)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@contextlib.contextmanager
def service(folder: Path, *, together: bool = True) -> Iterator[tuple[int, int]]:
    """Run the service, and give its port and process id."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "benchmarks.service",
        "--serve",
        str(port),
        *([] if together else ["--one-by-one"]),
    ]
    with started(command, port, "/ready", folder, DENIABLE_HOME=str(folder)) as process:
        yield port, process


def run_service(port: int, *, together: bool) -> None:
    """Serve, with requests put together or one by one: what the measured process runs."""
    from deniable.service.app import Service
    from deniable.service.server import make_server
    from deniable.service.settings import Server, Settings

    settings = Settings(server=Server(port=port))
    listening = socket.create_server(("127.0.0.1", port), backlog=512)
    make_server(settings, Service(settings, together=together)).run(sockets=[listening])


def measure_ratio(texts: list[str], folder: Path, *, rounds: int, seconds: float) -> list[dict[str, float]]:
    """Return, for each round, words per second in this process and through HTTP."""
    private = Privatizer(Multivariate(Embedding.open(), epsilon=_EPSILON))
    private.many(texts)
    requests = [
        request_of("/privatize", {"texts": texts[i : i + _PER_REQUEST], "epsilon": _EPSILON})
        for i in range(0, _TEXTS, _PER_REQUEST)
    ]
    found = []
    with service(folder) as (port, _):
        asyncio.run(drive(port, requests, connections=8, seconds=1))
        for _ in range(rounds):
            begun, done = time.perf_counter(), 0
            while time.perf_counter() - begun < seconds:
                private.many(texts)
                done += 1
            here = done * _TEXTS * _WORDS / (time.perf_counter() - begun)
            answers = asyncio.run(drive(port, requests, connections=8, seconds=seconds))
            assert set(answers.statuses) == {200}, answers.statuses
            found.append({"many": here, "http": answers.per_second() * _PER_REQUEST * _WORDS})
    return found


def measure_short(
    texts: list[str], folder: Path, peer: Path | None, *, rounds: int, seconds: float
) -> dict[str, list[Answers]]:
    """Return the answers to single texts over 64 connections: put together, one by one, and the peer's."""
    ours = [request_of("/privatize", {"text": text, "epsilon": _EPSILON}) for text in texts]
    spans = [
        {"entity_type": "PERSON", "start": 0, "end": 5, "score": 0.9},
        {"entity_type": "PERSON", "start": 10, "end": 20, "score": 0.9},
    ]
    theirs = [request_of("/anonymize", {"text": text, "analyzer_results": spans}) for text in texts]
    found: dict[str, list[Answers]] = {}
    with contextlib.ExitStack() as servers:
        ports = {
            "put together": (servers.enter_context(service(folder))[0], ours),
            "one by one": (servers.enter_context(service(folder, together=False))[0], ours),
        }
        if peer is not None:
            port = free_port()
            bound = [
                "-w",
                str(_WORKERS_OF_THE_PEER),
                "-b",
                f"127.0.0.1:{port}",
                "benchmarks.peers.presidio_service:app",
            ]
            servers.enter_context(started([str(peer), "-m", "gunicorn", *bound], port, "/health", folder))
            ports["Presidio anonymizer (replace)"] = (port, theirs)
        for _ in range(rounds):
            for name, (port, requests) in ports.items():
                found.setdefault(name, []).append(
                    asyncio.run(drive(port, requests, connections=64, seconds=seconds))
                )
    return found


def soak(texts: list[str], folder: Path, minutes: float) -> None:
    """Print the memory of a service that is kept busy, every tenth of the time, and what it answered."""
    requests = [request_of("/privatize", {"text": text}) for text in texts]
    with service(folder) as (port, process):
        statuses: Counter[int] = Counter()
        for tenth in range(10):
            statuses += asyncio.run(drive(port, requests, connections=300, seconds=6 * minutes)).statuses
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            print(
                f"after {(tenth + 1) * minutes / 10:.1f} min: {pages * os.sysconf('SC_PAGE_SIZE') / 1e6:.0f} "
                f"MB, {dict(statuses)}",
                flush=True,
            )


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--peer-python", type=Path)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="A page to write the tables into, between its marks.")
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--one-by-one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        run_service(options.serve, together=not options.one_by_one)
        return
    now, texts = busy(), make_texts(Embedding.open())
    setting = f"{options.rounds} rounds of {options.seconds:g} s in turns; {machine()}"
    with tempfile.TemporaryDirectory() as place:
        if options.soak is not None:
            soak(texts, Path(place), options.soak)
            return
        ratios = measure_ratio(texts, Path(place), rounds=options.rounds, seconds=options.seconds)
        short = measure_short(
            texts, Path(place), options.peer_python, rounds=options.rounds, seconds=options.seconds
        )
    rows = {
        name: {
            "requests_per_second": median(one.per_second() for one in answers),
            "p50_ms": median(one.quantile(0.5) for one in answers),
            "p99_ms": median(one.quantile(0.99) for one in answers),
        }
        for name, answers in short.items()
    }
    content = {"setting": setting, "busy": now, "ratio": {"rounds": ratios}, "short": rows}
    shown = tables(content)
    print(shown)
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        before, after = page.partition("<!-- measured -->")[0], page.partition("<!-- /measured -->")[2]
        options.page.write_text(
            f"{before}<!-- measured -->\n{shown}\n<!-- /measured -->{after}", encoding="utf-8"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(content, indent=2) + "\n")


def tables(content: dict[str, Any]) -> str:
    """Return what was measured as the guide shows it."""
    rounds = content["ratio"]["rounds"]
    parts = [one["http"] / one["many"] for one in rounds]
    middle = {name: median(one[name] for one in rounds) for name in ("many", "http")}
    shown = [
        "| 100 texts of 20 words a request, 8 connections: words/s by `Privatizer.many` | through HTTP | "
        "ratio [range] |",
        "|--:|--:|--:|",
        f"| {middle['many']:,.0f} | {middle['http']:,.0f} | {median(parts):.2f} "
        f"[{min(parts):.2f}–{max(parts):.2f}] |",
        "",
        "| one text of 20 words a request, 64 connections | requests/s | p50, ms | p99, ms |",
        "|---|--:|--:|--:|",
        *(
            f"| {name} | {row['requests_per_second']:,.0f} | {row['p50_ms']:.0f} | {row['p99_ms']:.0f} |"
            for name, row in content["short"].items()
        ),
        "",
        f"{content['setting']}.",
    ]
    return "\n".join(shown)


if __name__ == "__main__":
    main()
