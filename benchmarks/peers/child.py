"""The child process of one contestant: load it once, then time releases on request.

The parent writes one number of texts a line; the child answers with one JSON object a line. A process of its
own keeps the contestants' memory, crashes and libraries apart, and staying alive between rounds lets the
parent alternate them.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.peers.contestant import Contestant
from benchmarks.peers.material import texts_file

LOADERS = {
    "deniable": ("benchmarks.peers.ours", "load"),
    "mldp-text": ("benchmarks.peers.mldp_text", "load_approximate"),
    "mldp-text-exact": ("benchmarks.peers.mldp_text", "load_exact"),
    "pypantera": ("benchmarks.peers.pypantera", "load"),
}


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MB.

    Linux hands ``ru_maxrss`` of the parent down to a child, so its own high-water mark is read where there is
    one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measure(contestant: Contestant, texts: list[str]) -> dict[str, float]:
    """Release the texts and return the seconds it took, the words, the share that stayed, and the peak
    memory.

    :raises ValueError: if the release does not hold as many words as the texts.
    """
    begin = time.perf_counter()
    released = contestant.release(texts)
    seconds = time.perf_counter() - begin
    before = [word for text in texts for word in text.split(" ")]
    after = [word for text in released for word in text.split(" ")]
    if len(before) != len(after):
        raise ValueError(f"{len(before)} words went in, {len(after)} came out")
    # A jittered copy counts as the word itself, so that the share can be compared between vocabulary sizes.
    same = sum(a == b.partition("~")[0] for a, b in zip(before, after, strict=True))
    return {
        "seconds": seconds,
        "words": len(before),
        "unchanged": same / len(before),
        "peak_mb": peak_memory_mb(),
    }


def main(name: str, folder: Path, epsilon: float) -> None:
    """Load the contestant and answer the parent's requests until it closes the pipe."""
    # What a library prints goes to stderr, so that stdout carries answers only.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    texts = texts_file(folder.parent).read_text(encoding="utf-8").split("\n")
    module, function = LOADERS[name]
    begin = time.perf_counter()
    contestant: Contestant = getattr(importlib.import_module(module), function)(folder, epsilon)
    ready = {
        "search": contestant.search,
        "load_seconds": time.perf_counter() - begin,
        "peak_mb": peak_memory_mb(),
    }
    print(json.dumps(ready), file=answers, flush=True)
    for line in sys.stdin:
        chosen = list(itertools.islice(itertools.cycle(texts), int(line)))
        print(json.dumps(measure(contestant, chosen)), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
