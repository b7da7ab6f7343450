"""What benchmarks share: the machine in words and as data, processor time, made texts, rounds in turns."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from deniable import Embedding


def machine() -> str:
    """Return how many hardware threads of which processor there are, how busy they are now, and the
    Python."""
    cpuinfo = Path("/proc/cpuinfo")
    pattern = re.compile(r"^model name\s*: (.*)$", re.MULTILINE)
    models = pattern.findall(cpuinfo.read_text()) if cpuinfo.exists() else []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"


def busy() -> dict[str, Any]:
    """Return how many hardware threads there are, and how many processes want one now."""
    return {"threads": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def processor_seconds() -> float:
    """Return the processor time of this process and all that it started, and those started, as far as they
    live or were waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        ticks[process] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks[process] for process in mine) / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that a call takes on the clock, and the processor time of all that it started."""
    began, spent = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - began, processor_seconds() - spent


def product_seconds() -> float:
    """Return the processor seconds of one fixed matrix product, which stands for the machine: the median of
    five."""
    matrix, spent = np.random.default_rng(0).standard_normal((2_000, 2_000)).astype(np.float32), []
    for _ in range(5):
        began = time.process_time()
        matrix @ matrix
        spent.append(time.process_time() - began)
    return median(spent)


def in_a_process(module: str, *arguments: object) -> Any:
    """Return what a benchmark prints as JSON when it is run in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def in_turns(
    contestants: Mapping[Any, Callable[[], object]], words: int, rounds: int, *, called: str
) -> list[dict[str, Any]]:
    """Return words per second and processor microseconds a word of each contestant, in each of some rounds.

    They take turns, because a shared machine drifts. ``called`` is the key of a contestant's name in its row.
    """
    rows: dict[Any, dict[str, Any]] = {
        name: {called: name, "words_per_second": [], "processor_microseconds": []} for name in contestants
    }
    for _ in range(rounds):
        for name, work in contestants.items():
            seconds, spent = timed(work)
            rows[name]["words_per_second"].append(words / seconds)
            rows[name]["processor_microseconds"].append(spent / words * 1e6)
    return list(rows.values())


def texts_by_rank(embedding: Embedding, texts: int, words: int, *, seed: int = 1) -> list[str]:
    """Return texts of words as frequent as their rank says."""
    shares = 1.0 / (np.arange(len(embedding)) + 2.7)
    ids = np.random.default_rng(seed).choice(len(embedding), (texts, words), p=shares / shares.sum())
    return [" ".join(embedding.words[i] for i in row) for row in ids.tolist()]
