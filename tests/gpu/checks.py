"""What the kernels for GPUs must do, as functions without pytest: scripts/gpu/check.py asks them of a GPU,
the suite of the interpreter.

Each takes the name of a PyTorch device and returns a line about what it saw; it raises AssertionError when
the promise is broken.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from unittest import mock

import numpy as np
import torch

from deniable import Embedding, Multivariate, SecureRandomness
from deniable.arrays import Floats, Vectors
from deniable.errors import RandomnessError
from deniable.gpu import stream as streams
from deniable.gpu.search import FusedNeighbours, Tiling
from deniable.gpu.stream import GpuNoise, Launch, gpu_noise, stream
from deniable.noise.randomness import RadialNoise
from tests.gpu.reference import cut_normals, gamma_cdf, keystream, ks_p_value, reference_noise
from tests.support.hostile import HOSTILE, equal_vectors, hostile_queries, named, noisy_queries
from tests.support.oracle import OracleNeighbours

ALPHA = 1e-6
KEY = bytes(range(100, 132))


def interpreted(device: str) -> bool:
    """Return whether kernels are interpreted, which takes a millisecond for each operation."""
    return device == "cpu"


def tilings(device: str, dimension: int = 1) -> list[Tiling]:
    """Return a tiling of each form that can take so many dimensions."""
    if interpreted(device):
        small = {"rows": 32, "tile": 16, "side": 2, "settled": 16, "span": 32}
        return [Tiling(stream=True, **small), Tiling(stream=False, **small)]
    by_block = [Tiling(stream=False, tile=32, side=8), Tiling(stream=False, tile=128, side=1)]
    return by_block if dimension > 125 else [Tiling(stream=True, tile=64, side=2), *by_block]


def launch(device: str, *, number: int = 1, key: bytes = KEY) -> Launch:
    """Return a launch under a key that everybody knows, for comparison with a reference."""
    return Launch(streams._on(torch.device(device), key), number)


def noise_of(
    made: Launch, device: str, tokens: int, dimension: int, epsilon: float = 1.0, **options: int
) -> Floats:
    """Return noise vectors of Gamma lengths."""
    epsilons = torch.full((tokens,), epsilon, dtype=torch.float64, device=device)
    found: Floats = made.unshaped(epsilons, dimension, gamma=True, **options).cpu().numpy()
    return found


def chacha20_equals_openssl(device: str) -> str:
    """Compare blocks with OpenSSL's for random keys, nonces and counters."""
    blocks, tries = (16, 3) if interpreted(device) else (1024, 20)
    for _ in range(tries):
        key, nonce, counter = os.urandom(32), os.urandom(12), int.from_bytes(os.urandom(3), "little")
        assert stream(torch.device(device), key, nonce, counter, blocks) == keystream(
            key, nonce, counter, blocks
        )
    return f"{tries * blocks:,} blocks"


def half_the_rounds_are_told_from_openssl(device: str) -> str:
    """Reject the mutant that mixes half as often."""
    with mock.patch.object(streams, "ROUNDS", 10):
        assert stream(torch.device(device), KEY, bytes(12), 0, 1) != keystream(KEY, bytes(12), 0, 1)
        try:
            GpuNoise(torch.device(device))
        except RandomnessError:
            return "refused before any draw"
    raise AssertionError("a GPU that mixes half as often was taken for secure")


def noise_equals_a_reference_from_openssl(device: str) -> str:
    """Compare whole noise vectors, normal numbers and lengths, with NumPy's from OpenSSL's stream; launches
    and tokens at their limits."""
    worst = 0.0
    for dimension in (1, 9, 50) if interpreted(device) else (1, 2, 3, 7, 8, 9, 50, 300, 1000):
        for number in (1, (5 << 31) + 3):
            tokens = 20 if interpreted(device) else 3000
            found = noise_of(launch(device, number=number), device, tokens, dimension, 2.0)
            wanted = reference_noise(KEY, number, tokens, dimension, 2.0)
            worst = max(
                worst, float((np.linalg.norm(found - wanted, axis=1) / np.linalg.norm(wanted, axis=1)).max())
            )
    assert worst < 1e-12, worst
    return f"largest relative difference {worst:.1e}"


def wrong_noise_is_told_from_the_reference(device: str) -> str:
    """Reject mutants: half the rounds, tokens that share a counter, normal numbers cut, a length of 16
    bits."""
    tokens, dimension = 64, 9
    wanted = reference_noise(KEY, 1, tokens, dimension, 1.0)
    right = noise_of(launch(device), device, tokens, dimension)
    lengths = np.linalg.norm(right, axis=1, keepdims=True)
    mutants = {
        "half the rounds": noise_of(launch(device), device, tokens, dimension, rounds=10),
        "a counter that repeats": right[np.arange(tokens) // 2],
        "the launch is not counted": noise_of(launch(device, number=2), device, tokens, dimension),
        "normal numbers cut at 2σ": cut_normals(KEY, 1, tokens, dimension, 2.0),
        "a length of 16 bits": right / lengths * lengths.astype(np.float16),
    }
    assert np.allclose(right, wanted, rtol=1e-12, atol=1e-12)
    for name, wrong in mutants.items():
        assert not np.allclose(wrong, wanted, rtol=1e-9, atol=1e-9), name
    return f"{len(mutants)} mutants rejected"


def the_tail_reaches_beyond_five_sigma(device: str) -> str:
    """Count normal numbers beyond 5σ, which a sampler that cuts them has none of; needs a GPU."""
    if interpreted(device):
        return "left out: takes 100 million numbers (the reference test covers the formula)"
    beyond = drawn = 0
    for number in range(1, 9):
        epsilons = torch.ones(1 << 17, dtype=torch.float64, device=device)
        normals = launch(device, number=number, key=os.urandom(32)).unshaped(epsilons, 300, gamma=False)
        beyond, drawn = beyond + int((normals.abs() > 5.0).sum()), drawn + normals.numel()
    expected = 5.733e-7 * drawn
    assert abs(beyond - expected) < 5.0 * expected**0.5 + 1, (beyond, expected)
    return f"{beyond} of {drawn:,} beyond 5σ, {expected:.0f} expected; a sampler cut there has none"


def lengths_and_directions_have_their_law(device: str) -> str:
    """Ask Kolmogorov and Smirnov of lengths and projections, and look for repeats; mutants must be
    rejected."""
    seen = []
    for dimension in (3,) if interpreted(device) else (1, 3, 50, 300):
        tokens = 20_000 if interpreted(device) else 400_000
        noise = noise_of(gpu_noise(torch.device(device)).launch(), device, tokens, dimension, 4.0)
        lengths = 4.0 * np.linalg.norm(noise, axis=1)
        assert len(np.unique(lengths)) > 0.99999 * tokens, "lengths repeat"
        assert (
            len(np.unique(lengths.astype(np.float16))) < 0.9 * tokens
        )  # so a length of 16 bits would be noticed
        p_values = [ks_p_value(lengths, gamma_cdf(dimension))]
        if dimension > 1:
            p_values += [
                _projection(noise, np.eye(dimension)[0]),
                _projection(noise, np.ones(dimension) / np.sqrt(dimension)),
            ]
            order = np.corrcoef(noise[:-1, 0] / lengths[:-1], noise[1:, 0] / lengths[1:])[0, 1] * np.sqrt(
                tokens
            )
            assert abs(order) < 5.5, order
        assert min(p_values) > ALPHA, p_values
        for wrong in (
            0.95 * lengths,
            np.repeat(lengths[: tokens // 2], 2) * 1.05,
            _gammas(dimension + 1, tokens),
        ):
            assert ks_p_value(wrong, gamma_cdf(dimension)) < ALPHA
        seen.append(f"n = {dimension}: p = {min(p_values):.2g}")
    return "; ".join(seen)


def _projection(noise: Floats, line: Floats) -> float:
    from scipy import stats

    dimension = noise.shape[1]
    shares = (noise @ line / np.linalg.norm(noise, axis=1) + 1) / 2
    return ks_p_value(shares, stats.beta((dimension - 1) / 2, (dimension - 1) / 2).cdf)


def _gammas(shape: float, count: int) -> Floats:
    return np.random.default_rng(0).standard_gamma(shape, count)


def equal_to_the_oracle_at_every_size(device: str) -> str:
    """Compare words with the oracle's for vocabularies and dimensions around the sizes of tiles, from much
    noise to none."""
    shapes = (
        [(1, 3), (2, 1), (33, 29), (70, 65)]
        if interpreted(device)
        else [(1, 3), (2, 1), (127, 2), (129, 50), (1000, 301), (5000, 64), (3000, 1000)]
    )
    queries_asked = 0
    for words, dimension in shapes:
        embedding = named(np.random.default_rng(words).standard_normal((words, dimension)).astype(np.float32))
        queries = np.concatenate(
            [
                noisy_queries(embedding, epsilon, 8 if interpreted(device) else 400)
                for epsilon in (0.001, 1.0, 50.0)
            ]
        )
        queries_asked += _compare(embedding, queries, device)
    return f"{queries_asked:,} queries"


def equal_to_the_oracle_on_hostile_data(device: str) -> str:
    """Compare words with the oracle's on the data that bring out what a search gets wrong."""
    asked = 0
    for name, make in HOSTILE.items():
        embedding = make()
        queries = hostile_queries(embedding, 150)
        if interpreted(device):
            if len(embedding) > 1000:
                embedding = named(embedding.vectors[:300])
            queries = queries[:: len(queries) // 8]
        asked += _compare(embedding, queries, device, name)
    return f"{asked:,} queries"


def _compare(embedding: Embedding, queries: Vectors, device: str, name: str = "") -> int:
    """Compare every tiling with the oracle; return how many words were compared."""
    right, compared = OracleNeighbours(embedding).nearest(queries), 0
    for tiling in tilings(device, embedding.dimension):
        found = FusedNeighbours(embedding, device=device, tiling=tiling).nearest(queries)
        wrong = np.flatnonzero(found != right)
        assert not len(wrong), (
            f"{name} {embedding.vectors.shape} {tiling}: {len(wrong)} of {len(queries)} wrong, the first "
            f"{wrong[:5]}"
        )
        compared += len(queries)
    return compared


def a_search_without_its_bound_is_told_from_the_oracle(device: str) -> str:
    """Reject the mutant that trusts rounded scores, where bfloat16 cannot tell the words of many tiles
    apart."""
    rng = np.random.default_rng(8)
    embedding = named((rng.standard_normal(6) + 1e-3 * rng.standard_normal((2000, 6))).astype(np.float32))
    queries = noisy_queries(embedding, 1.0, 20 if interpreted(device) else 500)
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0])
    search._tile_bounds = tuple(0.0 * each for each in search._tile_bounds)  # type: ignore[assignment]
    assert not np.array_equal(search.nearest(queries), OracleNeighbours(embedding).nearest(queries))
    return "rejected"


def words_that_share_an_earlier_vector_never_win(device: str) -> str:
    """Search for vectors that several words share."""
    embedding = equal_vectors()
    found = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0]).nearest(
        embedding.vectors[90:110]
    )
    assert not np.isin(found, embedding.shadowed).any()
    assert found.tolist() == [*range(90, 100), *range(10)]
    return "none did"


def sums_of_products_are_as_precise_as_the_bound_says(device: str) -> str:
    """Measure what a matrix unit loses when it adds: products of very different size, exact in bfloat16, so
    that only sums are off."""
    dimension, words = 253, 64
    rng = np.random.default_rng(0)
    vectors = rng.integers(-127, 128, (words, dimension)) * 2.0 ** rng.integers(-12, 1, (words, dimension))
    queries = rng.integers(-127, 128, (96, dimension)) * 2.0 ** rng.integers(-12, 1, (96, dimension))
    if interpreted(device):
        dimension, vectors, queries = 29, vectors[:32, :29], queries[:32, :29]
    embedding = named(vectors.astype(np.float32))
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device, dimension)[0])
    with torch.inference_mode():
        found = torch.empty(len(queries), dtype=torch.int32, device=device)
        search._search(torch.from_numpy(queries.astype(np.float32)).to(device), found)
    tile = search._tiling.tile
    names = search._names.cpu().numpy()[: tile * (len(vectors) // tile)]
    exact = queries @ vectors.T - 0.5 * (vectors**2).sum(axis=1)
    magnitude = np.abs(queries) @ np.abs(vectors).T + 0.5 * (vectors**2).sum(axis=1)
    best = exact[:, names].reshape(len(queries), -1, tile).max(axis=2)
    largest = magnitude[:, names].reshape(len(queries), -1, tile).max(axis=2)
    seen = search._maxima.cpu().numpy()[: best.shape[1], : len(queries)].T
    share = float((np.abs(seen - best) / ((search._width + 32) * 2.0**-22 * largest)).max())
    assert share < 1.0, share
    return f"the largest error is {share:.4f} of what the bound allows for sums"


def draws_of_the_card_have_the_law_of_the_processor(device: str) -> str:
    """Compare how often each word is released with draws of the processor; a GPU with four times the noise
    must be told apart."""
    from scipy import stats

    tokens, on_the_processor = (120, 20_000) if interpreted(device) else (300_000, 300_000)
    embedding = named(np.random.default_rng(5).standard_normal((8, 3)).astype(np.float32))
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0])
    ids, noise = np.zeros(tokens, dtype=np.int64), RadialNoise(lengths="gamma", dimension=3)
    wanted = Multivariate(embedding, epsilon=2.0).perturb(
        np.zeros(on_the_processor, dtype=np.int64), SecureRandomness()
    )

    def p_value(epsilon: float) -> float:
        counts = np.bincount(search.nearest_to_noisy(ids, noise, np.full(tokens, epsilon)), minlength=8)
        return float(stats.chi2_contingency(np.array([counts, np.bincount(wanted, minlength=8)]) + 1).pvalue)

    found, wrong = p_value(2.0), p_value(0.5)
    assert found > ALPHA > wrong, (found, wrong)
    return f"p = {found:.2g}; with four times the noise {wrong:.1g}"


def every_token_has_its_own_epsilon_and_the_unknown_word_goes_in(device: str) -> str:
    """Release words almost without noise, with much noise, and ⊥."""
    embedding = named(np.random.default_rng(6).standard_normal((40, 5)).astype(np.float32))
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0])
    noise = RadialNoise(lengths="gamma", dimension=5)
    ids = np.arange(40)
    epsilons = np.where(ids % 2, 1e9, 1e-200)
    found = search.nearest_to_noisy(ids, noise, epsilons)
    assert (found[1::2] == ids[1::2]).all()
    assert (found[::2] != ids[::2]).any()
    unknown = search.nearest_to_noisy(np.full(3, embedding.unknown_id), noise, np.full(3, 1e9))
    assert (
        unknown == OracleNeighbours(embedding).nearest(embedding.rows(np.array([embedding.unknown_id])))[0]
    ).all()
    assert len(search.nearest_to_noisy(ids[:0], noise, epsilons[:0])) == 0
    chi = search.nearest_to_noisy(
        ids, RadialNoise(lengths="chi", dimension=5, shape=np.eye(5)), np.full(40, 1e9)
    )
    assert (chi == ids).all()
    return "as they should"


def what_float64_cannot_decide_is_decided_for_noisy_points_too(device: str) -> str:
    """Let all scores tie in float64, such that the processor decides for every point, made a second time."""
    embedding = named(np.random.default_rng(7).standard_normal((20, 4)).astype(np.float32))
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0])
    search._half_squares = search._half_squares * 0.0 + 1e300
    ids = np.arange(20)
    assert (
        search.nearest_to_noisy(ids, RadialNoise(lengths="gamma", dimension=4), np.full(20, 1e9)) == ids
    ).all()
    return "20 of 20 by the processor"


def nothing_is_released_without_secure_noise(device: str) -> str:
    """Take the entropy away, and the attempts; pickle the source."""
    embedding = named(np.eye(3, dtype=np.float32))
    search = FusedNeighbours(embedding, device=device, tiling=tilings(device)[0])
    given = (np.arange(3), RadialNoise(lengths="gamma", dimension=3), np.ones(3))
    source = gpu_noise(torch.device(device))
    kept, source._key = source._key, None
    with mock.patch("secrets.token_bytes", side_effect=OSError("no entropy")):
        _raises(RandomnessError, lambda: search.nearest_to_noisy(*given))
    source._key = kept
    exhausted = np.isnan(
        noise_of(launch(device), device, 400, 1, attempts=1)
    )  # some 5 in 100 need a second one
    assert 0 < exhausted.sum() < 80
    failed = torch.full((3, 3), torch.nan, dtype=torch.float64, device=device)
    with mock.patch.object(Launch, "noise", return_value=failed):
        _raises(RandomnessError, lambda: search.nearest_to_noisy(*given))
    with mock.patch(
        "deniable.gpu.stream.noise_vectors", _Silent()
    ):  # a kernel that ran elsewhere, or not at all
        _raises(RandomnessError, lambda: search.nearest_to_noisy(*given))
    with mock.patch("deniable.gpu.search.settle", _Silent()):
        queries = np.eye(3, dtype=np.float32)
        assert search.nearest(queries).tolist() == [0, 1, 2]  # left to the processor
    _raises(TypeError, lambda: pickle.dumps(source))
    _raises(TypeError, lambda: pickle.dumps(source.launch()))
    assert "tensor" not in repr(source.launch())
    return "nothing was"


class _Silent:
    """A kernel that writes nothing."""

    def __getitem__(self, grid: object) -> Callable[..., None]:
        return lambda *_arguments, **_options: None


def _raises(kind: type[Exception], call: Callable[[], object]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def launches_never_share_noise(device: str) -> str:
    """Draw twice, and in a copy of the process where there is one."""
    source = gpu_noise(torch.device(device))
    first, second = (noise_of(source.launch(), device, 8, 3) for _ in range(2))
    assert not np.isin(first, second).any()
    if not interpreted(device):
        return "two launches (a GPU cannot be used in a forked process)"
    before = source._key
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        source.launch()
        os.write(writing, b"same" if torch.equal(source._key, before) else b"new!")  # type: ignore[arg-type]
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 4) == b"new!"
    return "two launches, and a forked process with a key of its own"


CHECKS: list[Callable[[str], str]] = [
    chacha20_equals_openssl,
    half_the_rounds_are_told_from_openssl,
    noise_equals_a_reference_from_openssl,
    wrong_noise_is_told_from_the_reference,
    the_tail_reaches_beyond_five_sigma,
    lengths_and_directions_have_their_law,
    sums_of_products_are_as_precise_as_the_bound_says,
    equal_to_the_oracle_at_every_size,
    equal_to_the_oracle_on_hostile_data,
    a_search_without_its_bound_is_told_from_the_oracle,
    words_that_share_an_earlier_vector_never_win,
    draws_of_the_card_have_the_law_of_the_processor,
    every_token_has_its_own_epsilon_and_the_unknown_word_goes_in,
    what_float64_cannot_decide_is_decided_for_noisy_points_too,
    nothing_is_released_without_secure_noise,
    launches_never_share_noise,
]
