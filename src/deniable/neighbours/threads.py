"""How many threads a search may use.

What ``set_threads`` was told counts first, then the environment variable DENIABLE_THREADS. Otherwise it is
the number of processors this process may run on (its affinity, a container's quota), and no more than
OMP_NUM_THREADS allows.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.parameters import validated_count

MOST_THREADS = 1024

_chosen: int | None = None


def set_threads(threads: int | None) -> None:
    """Let every search of this process use that number of threads; None goes back to the environment."""
    global _chosen
    _chosen = None if threads is None else _within_limit(validated_count(threads, "threads"), "threads")


def threads() -> int:
    """Return the number of threads a search uses now."""
    return threads_with_reason()[0]


def threads_with_reason() -> tuple[int, str]:
    """Return the number of threads and what decided it, in words."""
    if _chosen is not None:
        return _chosen, "chosen by the program or the --threads option"
    wished = os.environ.get("DENIABLE_THREADS", "").strip()
    if wished:
        if not wished.isdecimal() or int(wished) < 1:
            raise InvalidParameter(
                "DENIABLE_THREADS", wished, f"must be a whole number from 1 to {MOST_THREADS:,}"
            )
        return _within_limit(int(wished), "DENIABLE_THREADS"), "DENIABLE_THREADS"
    limits = [
        (_processors(), "the processors this process may use"),
        (_container_quota(), "the container's processor quota"),
    ]
    # OMP_NUM_THREADS may be a list, one number per level of nesting; what is no number is left to OpenMP to
    # complain about.
    openmp = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if openmp.isdecimal() and int(openmp) > 0:
        limits.append((int(openmp), "OMP_NUM_THREADS"))
    count, reason = min((limit for limit in limits if limit[0] is not None), key=lambda limit: limit[0] or 0)
    return min(count or 1, MOST_THREADS), reason


def _within_limit(count: int, name: str) -> int:
    if count > MOST_THREADS:
        raise InvalidParameter(name, count, f"must be a whole number from 1 to {MOST_THREADS:,}")
    return count


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not Linux


@cache
def _container_quota() -> int | None:
    """Return the processors that the control group grants, rounded up, or None where there is no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        pass
    try:
        folder = Path("/sys/fs/cgroup/cpu")
        micros = int((folder / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        period_micros = int((folder / "cpu.cfs_period_us").read_text(encoding="ascii"))
        return None if micros <= 0 else max(1, -(-micros // period_micros))
    except (OSError, ValueError, ZeroDivisionError):
        return None
