"""The functions behind keyed noise are right, and the same on every processor."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from deniable.noise import portable
from deniable.noise.randomness import row_norms

BITS = np.random.default_rng(7).integers(0, 2**64, (400, 300), dtype=np.uint64)

PROGRAM = """
import hashlib, sys
import numpy as np
from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.neighbours.threads import set_threads
rng = np.random.Generator(np.random.PCG64(3))
vectors = (rng.integers(-2**20, 2**20, (300, 50)) * 2.0**-19).astype(np.float32)
private = Privatizer(Multivariate(Embedding([f"w{i}" for i in range(300)], vectors), epsilon=6), randomness=Keyed(bytes(range(32))))
set_threads(int(sys.argv[1]))
released = private.many([f"w{i % 300} strange w{i * i % 300}" for i in range(2000)], record_ids=range(2000))
keyed = Keyed(bytes(32)).bind(private.mechanism, np.arange(300), positions=np.arange(300), record_ids=[1], lengths=[300], epsilon=None)
noise = np.concatenate([keyed.normals(300, 50).ravel(), keyed.gammas(300, 50)])
uses = np.log(rng.random(100_000)) + np.einsum("ij,ij->i", vectors, vectors).sum()
print(hashlib.blake2b("\\n".join(released).encode()).hexdigest()[:32], hashlib.blake2b(noise.astype("<f8")).hexdigest()[:32])
print(hashlib.blake2b(uses.tobytes()).hexdigest()[:32])
"""  # noqa: E501


def run(threads: int, **environment: str) -> list[str]:
    command = [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM, str(threads)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")


def dispatched_features() -> str:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # type: ignore[import-not-found, unused-ignore]

    return " ".join(feature for feature in __cpu_dispatch__ if __cpu_features__[feature])


def test_released_words_are_the_same_without_the_processors_special_instructions_and_with_any_number_of_threads() -> (  # noqa: E501
    None
):
    plain = run(1)
    assert run(2)[0] == plain[0]
    features = dispatched_features()
    if not features:
        pytest.skip("numpy has no special path on this processor")
    other = run(1, NPY_DISABLE_CPU_FEATURES=features, OPENBLAS_CORETYPE="Prescott", PYTHONHASHSEED="5")
    assert other[0] == plain[0]
    if "AVX512_SKX" in features.split():
        assert other[1] != plain[1], (
            "numpy's own functions differ here, so the comparison has the power to fail"
        )


def test_logarithm_sine_and_cosine_are_accurate_to_the_last_digits() -> None:
    values = np.concatenate(
        [2.0 ** -np.arange(65.0), 1 - 2.0 ** -np.arange(2.0, 54), portable._above_zero(BITS).ravel()]
    )
    assert np.allclose(portable.minus_log(values), -np.log(values), rtol=2e-15, atol=0)
    turns = BITS.view(np.int64)
    angles = turns.astype(np.float64) * (np.pi / 4 * 2.0**-63)
    cosine, sine = portable._cosine_and_sine(turns)
    assert np.allclose(cosine, np.cos(angles), rtol=5e-16, atol=0)
    assert np.allclose(sine, np.sin(angles), rtol=5e-16, atol=0)


def test_exponentials_and_logarithms_near_one_are_accurate_to_the_last_digits() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.random(5_000) * 40, 10.0 ** -random.uniform(0, 300, 5_000), [0.0]])
    assert np.allclose(portable.exp_minus(values), np.exp(-values), rtol=1e-14, atol=0)
    assert np.allclose(portable.one_minus_exp_minus(values), -np.expm1(-values), rtol=2e-15, atol=0)
    shares = np.concatenate(
        [random.random(5_000), 10.0 ** -random.uniform(0, 300, 5_000), [0.0, 1 - 2.0**-53]]
    )
    assert np.allclose(portable.minus_log_one_minus(shares), -np.log1p(-shares), rtol=2e-15, atol=0)


def test_an_exponential_beyond_all_numbers_is_zero_and_of_zero_is_one() -> None:
    ends = np.array([[0.0, 700.0], [1e308, np.inf]])
    assert portable.exp_minus(ends).tolist() == [[1.0, pytest.approx(np.exp(-700.0), rel=1e-12)], [0.0, 0.0]]
    assert portable.exp_minus(np.array(2.0)) == pytest.approx(np.exp(-2.0), rel=1e-15)
    assert portable.one_minus_exp_minus(ends[1]).tolist() == [1.0, 1.0]


def test_a_pair_of_normals_turns_once_around_with_its_angle() -> None:
    corners = np.arange(4, dtype=np.uint64) << np.uint64(62)
    pairs = portable.normals(np.stack([np.full(4, 1 << 60, dtype=np.uint64), corners], axis=1), 2)
    radius = np.hypot(*pairs[0])
    assert np.allclose(
        sorted(map(tuple, np.round(pairs / radius, 9).tolist())), [(-1, 0), (0, -1), (0, 1), (1, 0)]
    )


def test_extreme_bits_give_finite_numbers() -> None:
    extreme = np.array([[0, 0, 0, 0], [2**64 - 1] * 4, [0, 2**63, 2**62, 2**64 - 1]], dtype=np.uint64)
    assert np.isfinite(portable.normals(extreme, 4)).all()
    assert np.abs(portable.normals(extreme, 4)).max() < 9.5
    assert portable.uniforms(extreme).max() < 1.0


def test_an_odd_dimension_is_the_even_one_less_a_number() -> None:
    assert np.array_equal(portable.normals(BITS[:, :4], 3), portable.normals(BITS[:, :4], 4)[:, :3])


@pytest.mark.parametrize("width", [1, 2, 3, 7, 300])
def test_norms_are_norms(width: int) -> None:
    vectors = np.random.default_rng(1).normal(size=(50, width))
    before = vectors.copy()
    assert np.allclose(row_norms(vectors), np.linalg.norm(vectors, axis=1), rtol=1e-14)
    assert np.array_equal(vectors, before)
