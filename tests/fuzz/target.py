"""One kind of file to fuzz: what is damaged, and how it is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.mutation import mutate

Files = dict[str, bytes]

PRIVATE = "qzxsecret"
"""Stands in every private text: no message may show it."""

WORDS = ["the", "of", "king", "queen", "na\u00efve", "\U0001f600", "New_York", "u.s.", "<unk>", "0.5"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Files to damage, and what reads the folder that holds them; ``repair`` puts checksums right again after
    some of the damage."""

    seeds: Callable[[], list[Files]]
    read: Callable[[Path, random.Random], None]
    repair: Callable[[Files, random.Random], Files] | None = None
    confined: bool = False
    """Whether a process is started for each case: fewer of them run with the tests."""

    def case(self, seeds: list[Files], source: random.Random) -> Files:
        """Return a damaged set of files."""
        files = dict(source.choice(seeds))
        others = [content for seed in seeds for content in seed.values()]
        for _ in range(source.choice((1, 1, 1, 2))):
            name = source.choice(sorted(files))
            files[name] = mutate(files[name], others, source)
        if source.random() < 0.02 and len(files) > 1:
            del files[source.choice(sorted(files))]
        return files if self.repair is None else self.repair(files, source)


def vectors(count: int = len(WORDS), dimension: int = 4) -> Any:
    return np.random.default_rng(0).standard_normal((count, dimension)).astype(np.float32)
