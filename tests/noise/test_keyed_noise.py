"""Keyed noise has the distribution of fresh noise, and depends on the token, all of the token and nothing but
the token."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from deniable import Embedding, InvalidParameter, Keyed, Multivariate
from deniable.arrays import Floats, Ids
from deniable.errors import RandomnessError
from deniable.interfaces import Mechanism
from deniable.noise.keyed import KeyedTokens
from deniable.noise.randomness import multivariate_noise
from tests.noise.test_noise import ALPHA, DRAWS, direction_p_value, radius_p_value
from tests.support.strategies import random_embedding

KEY = bytes(range(32))
MECHANISM = Multivariate(random_embedding(40, 4), epsilon=2.0)


def drawn_for(
    keyed: Keyed,
    ids: Sequence[int] | Ids,
    lengths: Sequence[int],
    records: Sequence[object],
    *,
    mechanism: Mechanism = MECHANISM,
    positions: Sequence[int] | Ids | None = None,
    epsilon: Floats | None = None,
) -> KeyedTokens:
    """The noise of records of so many words."""
    if positions is None:
        positions = np.concatenate([np.arange(length) for length in lengths])
    return keyed.bind(
        mechanism,
        np.asarray(ids),
        positions=np.asarray(positions),
        record_ids=records,
        lengths=lengths,
        epsilon=epsilon,
    )


def bound(keyed: Keyed, ids: Sequence[int], record_id: object = "r") -> KeyedTokens:
    return drawn_for(keyed, ids, [len(ids)], [record_id])


def tokens(keyed: Keyed, count: int) -> KeyedTokens:
    """The noise of records of ten words each."""
    return drawn_for(keyed, np.arange(count) % 40, [10] * (count // 10), range(count // 10))


class WordLeftOut(Keyed):
    def bind(self, mechanism: Mechanism, ids: Ids, **rest: object) -> KeyedTokens:
        return super().bind(mechanism, np.zeros_like(ids), **rest)  # type: ignore[arg-type]


class PositionLeftOut(Keyed):
    def __init__(self, key: bytes) -> None:
        super().__init__(key, consistent=True)


class EpsilonLeftOut(Keyed):
    def bind(self, mechanism: Mechanism, ids: Ids, **rest: object) -> KeyedTokens:
        return super().bind(mechanism, ids, **rest | {"epsilon": np.ones(len(ids))})  # type: ignore[arg-type]


class RecordLeftOut(Keyed):
    def bind(self, mechanism: Mechanism, ids: Ids, **rest: object) -> KeyedTokens:
        return super().bind(mechanism, ids, **rest | {"record_ids": ["the same"] * len(rest["lengths"])})  # type: ignore[arg-type]


class ContextLeftOut(Keyed):
    def _records(self, mechanism: Mechanism) -> object:
        return hashlib.blake2b(key=self.derive(b"records"), digest_size=16)


def pairs(keyed: Keyed, what: str, count: int = 5_000) -> tuple[Floats, Floats]:
    """Noise of tokens that differ in one thing only."""
    records, word = list[object](range(count)), np.zeros(count, dtype=np.int64)
    if what == "position":
        two_words = drawn_for(keyed, np.zeros(2 * count, dtype=np.int64), [2] * count, records)
        drawn = two_words.normals(2 * count, 1)[:, 0]
        return drawn[::2], drawn[1::2]
    mechanism = {
        "epsilon": Multivariate(MECHANISM.embedding, epsilon=2.5),
        "embedding": Multivariate(random_embedding(40, 4, seed=1), epsilon=2.0),
    }.get(what, MECHANISM)
    others = [f"another {i}" for i in records] if what == "record" else records
    first = drawn_for(keyed, word, [1] * count, records)
    second = drawn_for(keyed, word + (what == "word"), [1] * count, others, mechanism=mechanism)
    return first.normals(count, 1)[:, 0], second.normals(count, 1)[:, 0]


MUTANTS = {
    "word": WordLeftOut,
    "position": PositionLeftOut,
    "epsilon": EpsilonLeftOut,
    "embedding": ContextLeftOut,
    "record": RecordLeftOut,
}


def dependent(first: Floats, second: Floats) -> bool:
    return bool(
        (first == second).any()
        or stats.pearsonr(first, second).pvalue < ALPHA
        or stats.pearsonr(first**2, second**2).pvalue < ALPHA
    )


@pytest.mark.parametrize("what", MUTANTS)
def test_tokens_that_differ_in_one_thing_have_independent_noise(what: str) -> None:
    assert not dependent(*pairs(Keyed.new(), what))


@pytest.mark.parametrize(("what", "mutant"), MUTANTS.items())
def test_a_function_that_leaves_something_out_is_caught(what: str, mutant: type[Keyed]) -> None:
    assert dependent(*pairs(mutant(KEY), what))


def test_correlated_noise_is_caught_even_where_no_number_is_repeated() -> None:
    first, second = pairs(Keyed.new(), "word")
    assert dependent(first, second + 0.2 * first)  # some 14 standard errors: by chance it is never missed


@pytest.mark.parametrize("dimension", [3, 50, 300])
def test_radius_is_gamma_and_direction_is_uniform(dimension: int) -> None:
    noise = multivariate_noise(tokens(Keyed.new(), DRAWS), 2.0, DRAWS, dimension)
    assert radius_p_value(noise, 2.0) > ALPHA
    assert direction_p_value(noise) > ALPHA


def test_numbers_of_one_token_and_of_neighbouring_tokens_are_independent() -> None:
    drawn = tokens(Keyed.new(), 50_000).normals(50_000, 4)
    for first, second in (
        (drawn[:, 0], drawn[:, 1]),
        (drawn[:, 0], drawn[:, 2]),
        (drawn[:-1, 0], drawn[1:, 0]),
    ):
        assert stats.pearsonr(first, second).pvalue > ALPHA
        assert stats.pearsonr(first**2, second**2).pvalue > ALPHA


@pytest.mark.parametrize("shape", [1, 2.5, 50, 300])
def test_gammas_are_gamma(shape: float) -> None:
    drawn = tokens(Keyed.new(), DRAWS).gammas(DRAWS, shape)
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > ALPHA
    assert stats.kstest(drawn * 1.1, stats.gamma(shape).cdf).pvalue < ALPHA  # the test has the power to fail


def test_normals_are_normal_and_uniforms_uniform() -> None:
    source = tokens(Keyed.new(), DRAWS)
    normal, uniform = source.normals(DRAWS, 5).ravel(), source.uniforms(DRAWS, 5).ravel()
    assert stats.kstest(normal, "norm").pvalue > ALPHA
    assert stats.kstest(normal * 1.05, "norm").pvalue < ALPHA
    assert uniform.min() >= 0.0
    assert uniform.max() < 1.0
    assert stats.kstest(uniform, "uniform").pvalue > ALPHA
    assert stats.kstest(uniform**1.1, "uniform").pvalue < ALPHA


def test_a_row_does_not_depend_on_the_batch_it_is_drawn_in() -> None:
    keyed, count = Keyed.new(), 3_000
    whole = tokens(keyed, count)
    normals, gammas, uniforms = whole.normals(count, 7), whole.gammas(count, 1.5), whole.uniforms(count, 3)
    again = tokens(keyed, count)
    for part in (slice(0, 1), slice(1, 1_700), slice(1_700, count)):
        source = again.for_tokens(part)
        size = len(range(*part.indices(count)))
        assert np.array_equal(source.normals(size, 7), normals[part])
        assert np.array_equal(source.gammas(size, 1.5), gammas[part])
        assert np.array_equal(source.uniforms(size, 3), uniforms[part])
    for record in (0, 5, 299):
        ids = np.arange(10 * record, 10 * record + 10) % 40
        alone = drawn_for(keyed, ids, [10], [record])
        assert np.array_equal(alone.normals(10, 7), normals[10 * record : 10 * record + 10])


def test_asking_again_gives_other_noise_even_through_another_part() -> None:
    source, whole = bound(Keyed.new(), [1, 2, 3]), slice(0, 3)
    drawn = [
        source.normals(3, 2),
        source.for_tokens(whole).normals(3, 2),
        source.for_tokens(whole).normals(3, 2),
    ]
    assert len({number for part in drawn for number in part.ravel()}) == 18


def test_kinds_of_numbers_come_from_different_bits() -> None:
    """A uniform number is made of 53 bits; the radius of normals and of gammas is of the first bits too."""
    keyed = Keyed.new()
    uniform = bound(keyed, [1]).uniforms(1, 2)
    normal = bound(keyed, [1])
    radius = float(np.hypot(*normal.normals(1, 2)[0]))
    gamma = bound(keyed, [1]).gammas(1, 2.5)
    as_uniform = [math.exp(-(radius**2) / 2), float(stats.gamma(2.5).cdf(gamma[0]))]
    assert not np.isclose(as_uniform, uniform[0, 0], rtol=1e-9).any()
    assert not np.array_equal(normal.uniforms(1, 2), uniform), "draws are numbered"


def test_another_key_gives_other_noise() -> None:
    assert not (bound(Keyed.new(), [1, 2]).normals(2, 3) == bound(Keyed.new(), [1, 2]).normals(2, 3)).any()


def test_with_consistent_replacement_the_same_word_of_a_user_has_the_same_noise_everywhere() -> None:
    keyed = Keyed(KEY, consistent=True)
    noise = bound(keyed, [5, 6, 5]).normals(3, 4)
    assert np.array_equal(noise[0], noise[2])
    assert not np.array_equal(noise[0], noise[1])
    assert np.array_equal(bound(keyed, [9, 9, 9, 5]).normals(4, 4)[3], noise[0])
    assert not np.array_equal(bound(keyed, [5], "another user").normals(1, 4)[0], noise[0])
    assert not np.array_equal(bound(Keyed(KEY), [5]).normals(1, 4)[0], noise[0])


def test_a_wrong_number_of_tokens_or_records_is_refused() -> None:
    with pytest.raises(RandomnessError):
        bound(Keyed.new(), [1, 2, 3]).normals(2, 4)
    with pytest.raises(InvalidParameter, match="record_ids"):
        drawn_for(Keyed.new(), [1, 2], [1, 1], ["a"])
    with pytest.raises(InvalidParameter, match="shape"):
        bound(Keyed.new(), [1]).gammas(1, 0.5)


class OfVersion1(Keyed):
    version = 1


FEW_WORDS = Multivariate(Embedding(["a", "b", "c"], np.arange(12).reshape(3, 4) / 8), epsilon=2.0)
OF_VERSION_1 = "-0x1.26044f20bce31p-2 0x1.1a445f28a2259p-1 0x1.164f1eb20b1bbp+8 0x1.69ed9cc0db8e7p-3 0x1.638be44a8c9e4p-3"  # noqa: E501
OF_VERSION_2 = "-0x1.fb871bb92bcbcp-4 -0x1.a194884244837p-1 0x1.4fff4e6a1a21bp+8 0x1.342003e0ea4afp-2 0x1.c4edd199d5235p-1"  # noqa: E501


@pytest.mark.parametrize(
    ("kind", "known", "all_of_them"),
    [
        (Keyed, OF_VERSION_2, "00c61a298109b1b6024fc0a366a55368"),
        (OfVersion1, OF_VERSION_1, "9d419790412e39720c1455cb15f9c2f9"),
    ],
)
def test_no_version_may_ever_change_the_noise_of_a_key(
    kind: type[Keyed], known: str, all_of_them: str
) -> None:
    """Known answers: a change here would spend the budget of everything that was ever released with a key
    again.

    Version 1 differs in its name and in what is taken for a position, and in nothing else.
    """
    assert FEW_WORDS.embedding.fingerprint == "f1796cecca9d58c6d4ce1835a0d76498"
    assert Keyed(KEY).fingerprint == "060eb7e199802e6c"
    source = drawn_for(kind(KEY), [2, 3, 2], [2, 1], ["a", ("b", 7)], mechanism=FEW_WORDS)
    drawn = [source.normals(3, 5), source.gammas(3, 300), source.gammas(3, 1.0), source.uniforms(3, 2)]
    numbers = np.concatenate([part.ravel() for part in drawn])
    assert [float(number).hex() for number in numbers[[0, 14, 15, 18, 21]]] == known.split()
    assert hashlib.blake2b(numbers.astype("<f8").tobytes(), digest_size=16).hexdigest() == all_of_them


def test_consistent_noise_is_what_it_was_in_version_1() -> None:
    keyed = Keyed(KEY, consistent=True)
    for place in (0, 5):
        source = drawn_for(
            keyed, [2], [1], ["a"], mechanism=FEW_WORDS, positions=[place], epsilon=np.array([0.5])
        )
        assert float(source.normals(1, 1)[0, 0]).hex() == "0x1.1eb3b7283f3d5p+0"


def test_the_function_is_what_its_description_says() -> None:
    """The noise of one token, worked out by hand from the description in ``keyed.source``."""

    def derived(purpose: bytes) -> bytes:
        return hashlib.blake2b(purpose, key=KEY, digest_size=32, person=b"deniable-derive").digest()

    def parts(*texts: str) -> bytes:
        return struct.pack("<Q", len(texts)) + b"".join(
            struct.pack("<Q", len(text)) + text.encode() for text in texts
        )

    def aes(key: bytes, first: bytes, second: bytes) -> bytes:
        block = bytes(a ^ b for a, b in zip(first, second, strict=True))
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)

    context = parts("deniable keyed noise 2", "by position", MECHANISM.embedding.fingerprint, "Multivariate")
    record = hashlib.blake2b(
        context + parts("r"), key=derived(b"records"), digest_size=16, person=b"deniable-record"
    ).digest()
    position, word, epsilon = 1, 40, 2.0
    token = aes(derived(b"tokens"), record, struct.pack("<IId", position, word, epsilon))
    blocks = b"".join(
        aes(derived(b"noise"), token, struct.pack("<IHBBQ", counter, 0, 0, 1, 0)) for counter in range(2)
    )
    radius, _, turn, _ = struct.unpack("<QQQQ", blocks)
    angle = ((turn << 2 & 2**64 - 1) ^ 2**63) - 2**63
    first = math.sin(angle * math.pi / 2**65) if turn >> 63 else math.cos(angle * math.pi / 2**65)
    expected = first * math.sqrt(-2 * math.log((radius | 1) / 2**64)) * (-1) ** (turn >> 62 & 1)
    assert bound(Keyed(KEY), [3, 40]).normals(2, 4)[1, 0] == pytest.approx(expected, rel=1e-14)
