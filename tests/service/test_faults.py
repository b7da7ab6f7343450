"""What goes wrong around a service: clients that vanish, connections that idle, signals, and a long time at
saturation."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from deniable.service import protocol
from deniable.service.settings import Limits
from tests.service.running import (
    JSON,
    NDJSON,
    OCTETS,
    Process,
    answered,
    chunk,
    head_of,
    make_settings,
    running,
    wait_until,
    with_limits,
)

PRIVATE = "zorblattsecret"
STREAM = head_of("/privatize/stream", NDJSON)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A service of two workers, which is asked to end once all is done to it."""
    with Process(tmp_path_factory.mktemp("two"), "", "--workers", "2") as serving:
        yield serving
        assert serving.end() == 0


def test_clients_that_vanish_leave_the_service_as_it_was(two: Process) -> None:
    line = json.dumps({"text": f"the {PRIVATE} fox"}).encode() + b"\n"
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", two.client.port)) as one:
            one.sendall(STREAM + chunk(line * 200) + b"5000\r\n" + line)
            one.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00"
            )  # it ends with a reset
        with socket.create_connection(("127.0.0.1", two.client.port)) as one:
            one.sendall(head_of("/privatize", JSON, 99) + b"{")
    assert two.client.post("/privatize", text="the fox").status == 200
    assert PRIVATE not in two.log.read_text()
    assert "Traceback" not in two.log.read_text()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_finishes_what_was_begun(tmp_path: Path, workers: str) -> None:
    statuses: Counter[object] = Counter()
    ending = threading.Event()
    with Process(tmp_path, "", "--workers", workers) as serving:

        def ask(_: int) -> None:
            while True:
                try:
                    reply = serving.client.post("/privatize", texts=["the quick brown fox"] * 200)
                except ConnectionRefusedError:
                    return
                except (ConnectionResetError, OSError) as error:
                    # A connection that was still waiting in the kernel to be accepted has not begun.
                    statuses[type(error).__name__ if ending.is_set() else "cut off while it served"] += 1
                    return
                statuses[reply.status] += 1
                if reply.status == 200:
                    assert len(reply.json()["texts"]) == 200

        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(ask, i) for i in range(6)]
            wait_until(lambda: statuses[200] > 5)
            ending.set()
            assert serving.end() == 0
            for one in asked:
                one.result(600)
    assert statuses[200] > 5
    assert statuses["cut off while it served"] == 0
    assert statuses["IncompleteRead"] == 0
    assert set(statuses) <= {200, 503, "ConnectionResetError", "RemoteDisconnected"}, statuses


def test_workers_draw_different_noise(two: Process) -> None:
    text = "doctor " * 30
    made = [two.client.post("/privatize", text=text, epsilon=3).json()["text"] for _ in range(40)]
    assert len(set(made)) == len(made)


def test_metrics_are_those_of_all_workers(two: Process) -> None:
    def counted() -> float:
        lines = two.client.get("/metrics").body.decode().splitlines()
        return sum(
            float(line.split()[-1])
            for line in lines
            if 'route="/privatize",status="200"' in line and "total" in line
        )

    before, end = counted(), time.monotonic() + 600
    for _ in range(30):
        two.client.post("/privatize", text="the fox")
    while counted() < before + 30 and time.monotonic() < end:  # a request is counted once its reply is out
        time.sleep(0.05)
    assert counted() == before + 30


def test_a_process_that_serves_leaves_no_core(two: Process) -> None:
    limits = Path(f"/proc/{two.process.pid}/limits").read_text()
    assert next(line for line in limits.splitlines() if "core file" in line).split()[4:6] == ["0", "0"]


def test_a_worker_that_dies_is_replaced(two: Process) -> None:
    children = Path(f"/proc/{two.process.pid}/task/{two.process.pid}/children")
    first = children.read_text().split()
    assert len(first) == 2
    os.kill(int(first[0]), signal.SIGKILL)
    until = time.monotonic() + 600
    while len(now := children.read_text().split()) < 2 or first[0] in now:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert [two.client.post("/privatize", text="the fox").status for _ in range(10)] == [200] * 10


def test_connections_that_send_nothing_or_too_slowly_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "SECONDS_FOR_HEADERS", 0.5)
    with running(make_settings(tmp_path)) as opened:
        for begun in (b"", b"POST /privatize HTTP/1.1\r\nHost: loc"):
            with socket.create_connection(("127.0.0.1", opened.port), timeout=600) as idle:
                idle.sendall(begun)
                assert idle.recv(100) == b""


def test_a_body_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    with running(with_limits(make_settings(tmp_path), seconds=0.5)) as opened:
        for path, kind in (("/privatize", JSON), ("/files?name=a.txt", OCTETS)):
            with socket.create_connection(("127.0.0.1", opened.port), timeout=600) as slow:
                slow.sendall(head_of(path, kind, 50))
                assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert opened.ask("POST", "/privatize", b'{"text": "a"}', JSON).status == 200


def test_a_stream_that_is_not_read_or_hardly_sent_gives_its_place_back(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(requests=1, seconds=1))) as opened:
        with socket.create_connection(("127.0.0.1", opened.port), timeout=2) as unread:  # meant to run out
            unread.sendall(STREAM)
            with suppress(OSError):  # until it is held back, or given up
                while True:
                    unread.sendall(chunk(b'{"text": null}\n' * 4_000))
            until = time.monotonic() + 600
            while opened.get("/allowed").status == 503:
                assert time.monotonic() < until
                time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", opened.port), timeout=600) as slow:
            slow.sendall(STREAM)
            seen, until = b"", time.monotonic() + 600
            while not seen.endswith(b"0\r\n\r\n"):
                assert time.monotonic() < until, seen
                with suppress(OSError):
                    slow.sendall(chunk(b" "))
                if answered(slow, within=0.1):
                    part = slow.recv(4096)
                    assert part, seen
                    seen += part
            assert b"no whole line came for 1 seconds" in seen
        assert opened.get("/allowed").status == 200


@pytest.mark.slow
def test_ten_thousand_idle_connections_keep_nobody_out(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 11_000:
        pytest.skip("this user may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        with Process(tmp_path) as serving:
            idle = []
            for i in range(10_000):
                one = socket.create_connection(("127.0.0.1", serving.client.port), timeout=600)
                one.sendall(b"GET /health HTTP/1.1\r\n" if i % 2 else b"")
                idle.append(one)
            started = time.monotonic()
            assert serving.client.post("/privatize", text="the fox").status == 200
            assert time.monotonic() - started < 600
            time.sleep(protocol.SECONDS_FOR_HEADERS + 5)
            assert idle[0].recv(10) == idle[-1].recv(10) == b""
            for one in idle:
                one.close()
            assert serving.client.get("/health").status == 200
            assert serving.end() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow
def test_a_long_time_at_saturation_takes_no_more_memory(tmp_path: Path) -> None:
    statuses: Counter[int] = Counter()
    seconds = float(os.environ.get("DENIABLE_SOAK_SECONDS", "120"))
    with Process(tmp_path, "[limits]\nrequests = 8\n") as serving:
        memory = []

        def ask(number: int) -> None:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                if number % 7:
                    reply = serving.client.post(
                        "/privatize", text="my doctor said " * (1 + number % 5), epsilon=1 + number % 60 / 10
                    )
                else:
                    reply = serving.client.upload(b"the fox\n" * 50, name="a.txt", wait=5)  # meant to run out
                    if reply.status == 200:
                        serving.client.ask("DELETE", reply.headers["location"])
                statuses[reply.status] += 1

        with ThreadPoolExecutor(16) as pool:
            asked = [pool.submit(ask, i) for i in range(16)]
            while not all(one.done() for one in asked):
                time.sleep(seconds / 20)
                memory.append(
                    int(Path(f"/proc/{serving.process.pid}/statm").read_text().split()[1])
                    * resource.getpagesize()
                )
            for one in asked:
                one.result()
        assert serving.end() == 0
    assert set(statuses) <= {200, 202, 409, 429, 503}, statuses
    assert statuses[200] > 100
    assert max(memory[-3:]) < 1.1 * max(memory[4:8]), [round(one / 1e6) for one in memory]


@pytest.mark.parametrize(("workers", "after"), [("1", 0.0), ("2", 0.0), ("2", 0.1)])
def test_a_signal_that_comes_while_it_starts_is_not_lost(tmp_path: Path, workers: str, after: float) -> None:
    (tmp_path / "home").mkdir()
    command = [sys.executable, "-m", "deniable", "serve", "--port", "0", "--workers", workers]
    with (tmp_path / "log").open("wb") as log:
        begun = subprocess.Popen(
            command, stderr=log, env={**os.environ, "DENIABLE_HOME": str(tmp_path / "home")}
        )
    try:
        until = time.monotonic() + 600
        while b"the page and the API" not in (tmp_path / "log").read_bytes():
            assert time.monotonic() < until
            time.sleep(0.005)
        time.sleep(after)
        begun.send_signal(signal.SIGTERM)
        assert begun.wait(600) in (
            0,
            128 + signal.SIGTERM,
        )  # before anything could be asked of it, it ends like any command
    finally:
        begun.kill()
        begun.wait()
