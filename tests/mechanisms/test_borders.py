"""A keyed draw is the same word on every machine, also where the uniform number lies on the border between
two words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.arrays import Floats, Ids, Vectors
from deniable.interfaces import Mechanism, Neighbours
from deniable.mechanisms import softmax
from deniable.mechanisms.softmax import SumsCache, weigh
from tests.mechanisms.borders import drawn, find, mechanisms, released

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def borders() -> dict[str, Floats]:
    """The borders of every mechanism, found once: that takes sixty draws and more."""
    return {name: find(mechanism) for name, mechanism in mechanisms().items()}


def test_words_at_borders_are_the_same_without_the_processors_special_instructions(
    borders: dict[str, Floats], tmp_path: Path
) -> None:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # type: ignore[import-not-found, unused-ignore]

    features = " ".join(feature for feature in __cpu_dispatch__ if __cpu_features__[feature])
    words, others = released(borders)
    for name, (low, high) in words.items():
        changed = sum(a != b for a, b in zip(low, high, strict=True))
        assert changed > 0.1 * len(low), f"{name}: too few of the numbers lie at borders"
    if not features:
        pytest.skip("numpy has no special path on this processor")
    switched_off = {"NPY_DISABLE_CPU_FEATURES": features, "OPENBLAS_CORETYPE": "Prescott"}
    np.savez(tmp_path / "borders.npz", **borders)  # type: ignore[arg-type]
    command = [
        sys.executable,
        "-W",
        "error::UserWarning",
        "-m",
        "tests.mechanisms.borders",
        str(tmp_path / "borders.npz"),
    ]
    done = subprocess.run(
        command, env={**os.environ, **switched_off}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    other_words, of_numpy = json.loads(done.stdout)
    assert [name for name in words if other_words[name] != words[name]] == []
    if any(level in features for level in ("X86_V4", "AVX512_SKX")):
        assert of_numpy != others, (
            "numpy's own exponential differs here, so the comparison has the power to fail"
        )


class OffByABit:
    """A search that finds the right words, and says distances whose last bit is another processor's."""

    def __init__(self, search: Neighbours) -> None:
        self._search = search

    def nearest(self, queries: Vectors) -> Ids:
        return self._search.nearest(queries)

    def nearest_k(self, queries: Vectors, k: int) -> tuple[Ids, Floats]:
        ids, distances = self._search.nearest_k(queries, k)
        return ids, np.nextafter(distances, np.where(np.arange(k) % 2, 0.0, np.inf))


def test_the_last_bit_of_the_distances_of_a_search_decides_nothing(borders: dict[str, Floats]) -> None:
    for name, mechanism in mechanisms().items():
        if hasattr(mechanism, "neighbours"):
            words = [drawn(mechanism, row) for row in borders[name]]
            vars(mechanism)["neighbours"] = OffByABit(mechanism.neighbours)
            assert all(
                np.array_equal(drawn(mechanism, row), one)
                for row, one in zip(borders[name], words, strict=True)
            ), name


SOFTMAX = ("SanText", "TEM", "SanTextPlus")


def another_library(seed: int) -> Callable[..., Floats]:
    """Weights as ``weigh`` has them, off by a bit here and there."""
    random = np.random.default_rng(seed)

    def weigh_otherwise(*given: Any) -> Floats:
        weights = weigh(*given)
        return np.where(
            random.random(weights.shape) < 0.3,
            np.nextafter(weights, np.where(weights > 0.0, 2.0, 0.0)),
            weights,
        )

    return weigh_otherwise


def words_by(
    mechanism: Mechanism, borders: Floats, library: Callable[..., Floats], patch: pytest.MonkeyPatch
) -> list[list[int]]:
    vars(mechanism)["_cache"] = SumsCache()
    with patch.context() as one:
        one.setattr(softmax, "weigh", library)
        return [drawn(mechanism, row).tolist() for row in borders]


@pytest.mark.parametrize("name", SOFTMAX)
def test_the_last_bits_of_a_library_decide_nothing(
    borders: dict[str, Floats], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = mechanisms()[name]
    words = words_by(mechanism, borders[name], weigh, monkeypatch)
    assert all(
        words_by(mechanism, borders[name], another_library(seed), monkeypatch) == words for seed in range(3)
    )
    monkeypatch.setattr(softmax, "MARGIN", -1.0)
    vars(mechanism)["_cache"] = SumsCache()
    others = find(mechanism)
    words = words_by(mechanism, others, weigh, monkeypatch)
    assert any(
        words_by(mechanism, others, another_library(seed), monkeypatch) != words for seed in range(3)
    ), "the test has power"


@pytest.mark.parametrize("name", SOFTMAX)
def test_the_fast_way_and_the_exact_one_draw_the_same_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, random = mechanisms()[name], np.random.default_rng(4)
    uniforms = random.random((4, 401))
    fast = [drawn(mechanism, row).tolist() for row in uniforms]
    monkeypatch.setattr(softmax, "MARGIN", 1.0)
    # What the fast way finds is wrong from here on, and nothing of it is clear.
    monkeypatch.setattr(
        softmax.Softmax, "_tile_weights", lambda _self, ids, *_: np.eye(softmax.TILE)[ids % softmax.TILE]
    )
    assert [drawn(mechanism, row).tolist() for row in uniforms] == fast
