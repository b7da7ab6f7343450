"""What holds for all mechanisms: limits, ⊥, words that share a vector, protection, and noise that belongs to
its token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from deniable import (
    Embedding,
    InsecureSeededRandomness,
    InvalidParameter,
    Mechanism,
    Multivariate,
    Privatizer,
    SecureRandomness,
)
from deniable.arrays import Floats, Ids
from deniable.channel.outputs import output_distribution
from deniable.embeddings.subwords import Subwords
from deniable.interfaces import NOTHING_EXPOSED, RATE_PER_DISTANCE
from deniable.mechanisms import (
    TEM,
    CusText,
    Gaussian,
    Line,
    Mahalanobis,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)
from deniable.mechanisms.catalogue import CATALOGUE, make_mechanism
from tests.mechanisms.every import NAMES, every
from tests.support.strategies import random_embedding

E = random_embedding(60, 6)
ALL_IDS = np.arange(61)
EXPOSED = {
    "Gaussian": "the ratio exceeds exp",
    "SanTextPlus": "58 words outside the sensitive set",
    "CusText": "the cell of every word",
}
OF_ANOTHER_EPSILON = ("Gaussian", "CusText", "Line", "RandomizedResponse")
TWINS = Embedding(["a", "b", "twin-of-a", "c", "d", "e"], [[0, 0], [1, 0], [0, 0], [3, 1], [0, 2], [2, 2]])
ALONE = Embedding(["only", "its-twin"], [[1.0, 2.0], [1.0, 2.0]])

of_all = pytest.mark.parametrize("name", NAMES)


def seeded() -> InsecureSeededRandomness:
    return InsecureSeededRandomness(insecure_seed=1)


@of_all
def test_it_says_what_it_promises_and_exposes_and_the_receipt_says_so(name: str) -> None:
    mechanism = every(E, 3.0)[name]
    assert isinstance(mechanism, Mechanism)
    guarantee = mechanism.guarantee
    assert guarantee.epsilon == mechanism.epsilon == 3.0
    assert all([guarantee.notion, guarantee.metric, guarantee.statement])
    assert (guarantee.caveat == RATE_PER_DISTANCE) == (name not in OF_ANOTHER_EPSILON)
    assert guarantee.caveat.startswith("This ε is ")
    assert EXPOSED.get(name, NOTHING_EXPOSED) in guarantee.exposed
    private = Privatizer(mechanism, record_epsilon=8.0)
    assert len(private.many(["w1 w2 w3", "w4 unheardof"])) == 2
    receipt = private.receipt()
    assert (receipt.settings.mechanism_name, receipt.tally.words) == (name, 5)
    assert receipt.to_dict()["guarantee"]["exposed"] == guarantee.exposed
    assert (f"exposed: {guarantee.exposed}" in receipt.summary().splitlines()) == (name in EXPOSED)


@of_all
def test_words_that_come_out_as_they_went_in_at_any_epsilon_are_said_to_be_kept(name: str) -> None:
    mechanism = every(E, 1e-6)[name]
    ids = np.repeat(np.arange(60), 40)
    same = (mechanism.perturb(ids, seeded()) == ids).reshape(60, 40).mean(axis=1)
    assert mechanism.guarantee.keeps_words == bool((same > 0.5).any())


@of_all
def test_an_unknown_word_never_goes_in_as_a_known_one_that_is_kept(name: str) -> None:
    spelled = random_embedding(60, 6)
    vectors = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    spelled.subwords = Subwords(vectors, minn=2, maxn=3)
    mechanism = every(spelled, 1e-6)[name]
    if mechanism.guarantee.keeps_words:
        with pytest.raises(InvalidParameter, match="subwords"):
            Privatizer(mechanism, unknown="subwords")
        return
    private = Privatizer(mechanism, unknown="subwords")
    for word in ("smith", "garcia", "qzxsecret"):
        released = private.many([word] * 100)
        assert max(map(released.count, released)) <= 70, "what an unknown word goes in as is let out"
        assert set(released) <= set(spelled.words)


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_epsilon_that_is_not_finite_and_positive_is_refused(name: str) -> None:
    options = {"sensitive": E.words[:2]} if name == "santext-plus" else {}
    assert make_mechanism(name, E, epsilon=1.0, options=options).epsilon == 1.0
    wrong: list[Any] = [0.0, -1.0, float("nan"), float("inf"), "3"]
    for epsilon in wrong:
        with pytest.raises(InvalidParameter, match="epsilon"):
            make_mechanism(name, E, epsilon=epsilon, options=options)


@of_all
def test_any_epsilon_releases_words_and_a_huge_one_keeps_them(name: str) -> None:
    for epsilon in (1e-200, 1e-6, 1.0, 1e6, 1e300):
        released = every(E, epsilon)[name].perturb(ALL_IDS, SecureRandomness())
        assert ((released >= 0) & (released < 60)).all()
    mechanism = CusText(E, epsilon=1e6) if name == "CusText" else every(E, 1e6)[name]
    # Seeded: TEM leaves a share of up to β = 0.001 to the other words whatever ε is.
    assert np.array_equal(mechanism.perturb(ALL_IDS[:60], seeded()), ALL_IDS[:60])
    assert len(mechanism.perturb(ALL_IDS[:0], SecureRandomness())) == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "SanTextPlus"])
def test_a_tiny_epsilon_forgets_the_word(name: str) -> None:
    mechanism = every(E, 1e-6)[name]
    first, second = 0, 1
    if isinstance(mechanism, CusText):  # forgets it inside the cell
        first, second = mechanism.cells.members[0][:2].tolist()
    counts = np.stack(
        [
            np.bincount(mechanism.perturb(np.full(10_000, word), SecureRandomness()), minlength=60)
            for word in (first, second)
        ]
    )
    assert chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue > 1e-6


@of_all
def test_words_that_share_a_vector_are_one_and_the_first_is_released(name: str) -> None:
    mechanism = every(TWINS, 0.5)[name]
    assert 2 not in mechanism.perturb(np.tile(np.arange(7), 800), SecureRandomness())
    assert mechanism.log_bound(0, 2) == 0.0
    assert (every(ALONE, 1.0)[name].perturb(np.array([0, 1, 2]), SecureRandomness()) == 0).all()


@of_all
def test_the_unknown_word_goes_in_and_never_comes_out(name: str) -> None:
    released = every(E, 0.5)[name].perturb(np.full(2_000, E.unknown_id), SecureRandomness())
    assert released.max() < E.unknown_id
    assert len(np.unique(released)) > 2


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("SanTextPlus", "CusText")])
def test_a_protected_word_stays_in_the_vocabulary_and_comes_out_as_any_word_does(name: str) -> None:
    protected = random_embedding(12, 3)
    protected.protection = np.where(np.arange(13) == 9, 10, np.arange(13))
    released = every(protected, 1e-3)[name].perturb(np.full(4_000, 9), seeded())
    assert 0 < (released == 9).sum() < 2_000


@of_all
def test_a_protected_word_goes_in_as_the_one_that_stands_in_for_it(name: str) -> None:
    protected = random_embedding(60, 6)
    protected.protection = np.where(ALL_IDS == 9, 17, ALL_IDS)
    mechanism = CusText(protected, epsilon=1e6) if name == "CusText" else every(protected, 1e6)[name]
    released = mechanism.perturb(np.full(50, 9), SecureRandomness())
    # TEM leaves a share of up to β = 0.001 to the other words whatever ε is.
    assert (released == 17).mean() >= (0.8 if name == "TEM" else 1.0)
    assert mechanism.log_bound(9, 17) == 0.0
    assert mechanism.log_bound(9, 3) == mechanism.log_bound(17, 3)
    assert output_distribution(mechanism, 9, draws=20).words[0] == 17


class ByToken:
    """A source whose noise depends on the token alone, as a keyed one: any other use of it fails."""

    def __init__(self, keys: Ids, *, of_part: bool = False) -> None:
        self.keys, self.of_part, self.calls = keys, of_part, 0

    def for_tokens(self, part: slice) -> ByToken:
        assert not self.of_part, "the noise of a part of a part would repeat the first"
        return ByToken(self.keys[part], of_part=True)

    def _rows(self, tokens: int, draw: Callable[[np.random.Generator], Any]) -> Floats:
        assert self.of_part, "noise was drawn for the whole batch"
        assert tokens == len(self.keys)
        self.calls += 1
        return np.array([draw(np.random.default_rng([int(key), self.calls])) for key in self.keys])

    def normals(self, tokens: int, dimension: int) -> Floats:
        return self._rows(tokens, lambda rng: rng.standard_normal(dimension))

    def gammas(self, tokens: int, shape: float) -> Floats:
        return self._rows(tokens, lambda rng: rng.standard_gamma(shape))

    def uniforms(self, tokens: int, count: int) -> Floats:
        return self._rows(tokens, lambda rng: rng.random(count))

    def describe(self) -> dict[str, Any]:
        return {"source": "by token"}


@of_all
def test_a_token_gets_the_same_word_in_any_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, fresh = every(E, 1.5)[name], every(E, 1.5)[name]
    random = np.random.default_rng(5)
    ids, keys = random.integers(0, 61, 150), random.integers(0, 2**40, 150)
    epsilon = random.choice([0.5, 1.5, 4.0], 150)

    def drawn(by: Mechanism, some: Any) -> list[int]:
        words: list[int] = by.perturb(ids[some], ByToken(keys[some]), epsilon=epsilon[some]).tolist()
        return words

    whole = drawn(mechanism, slice(None))
    order = random.permutation(150)
    assert drawn(fresh, order) == [whole[place] for place in order]
    assert [drawn(fresh, [place])[0] for place in range(20)] == whole[:20]
    monkeypatch.setattr("deniable.mechanisms.base.NUMBERS_AT_ONCE", 6 * 40)  # parts of 40 tokens
    assert drawn(mechanism, slice(None)) == whole


@of_all
def test_ids_that_are_none_are_refused(name: str) -> None:
    mechanism = every(E, 1.0)[name]
    for bad in (-1, 61):
        with pytest.raises(InvalidParameter) as caught:
            mechanism.perturb(np.array([7, bad]), SecureRandomness())
        assert (caught.value.name, caught.value.value) == ("ids", bad)
        with pytest.raises(InvalidParameter, match="ids"):
            mechanism.log_bound(0, bad)
    with pytest.raises(InvalidParameter, match="ids"):
        mechanism.perturb(np.array([0.5]), SecureRandomness())
    with pytest.raises(InvalidParameter, match="epsilon"):
        mechanism.perturb(np.array([0]), SecureRandomness(), epsilon=np.array([-1.0]))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Mahalanobis(E, epsilon=1, lam=1.0), "lam"),
        (lambda: Mahalanobis(E, epsilon=1, lam=-0.1), "lam"),
        (lambda: Vickrey(E, epsilon=1, t=1.5), "t"),
        (lambda: Vickrey(E, epsilon=1, t=True), "t"),
        (lambda: Vickrey(E, epsilon=1, noise="gaussian"), "noise"),  # type: ignore[arg-type]
        (lambda: Vickrey(E, epsilon=1, lam=0.2), "lam"),
        (lambda: RankSmoothing(SanText(E, epsilon=1)), "mechanism"),  # type: ignore[arg-type]
        (lambda: RankSmoothing(Multivariate(E, epsilon=1), c=0), "c"),
        (lambda: TEM(E, epsilon=1, beta=0), "beta"),
        (lambda: TEM(E, epsilon=1, beta=0.999), "beta"),
        (lambda: SanTextPlus(E, epsilon=1, sensitive=[]), "sensitive"),
        (lambda: SanTextPlus(E, epsilon=1, sensitive="w1"), "sensitive"),
        (lambda: SanTextPlus(E, epsilon=1, sensitive=["w1"], p=2), "p"),
        (lambda: CusText(E, epsilon=1, k=1), "k"),
        (lambda: Gaussian(E, epsilon=-1), "epsilon"),
        (lambda: Line(E, epsilon=1, lists=0), "lists"),
        (lambda: Line(E, epsilon=1, lists=101), "lists"),
        (lambda: Line(E, epsilon=1, lists=1.5), "lists"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_are_refused_by_name(make: Callable[[], Mechanism], name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert caught.value.name == name


@pytest.mark.parametrize(
    "same",
    [
        Vickrey(E, epsilon=2.0, t=0.0),
        RankSmoothing(Multivariate(E, epsilon=2.0), c=1e3),
        Mahalanobis(E, epsilon=2.0, lam=0.0),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_at_an_end_of_its_option_it_is_the_paper_s_mechanism(same: Mechanism) -> None:
    plain = Multivariate(E, epsilon=2.0).perturb(np.arange(60), seeded())
    assert np.array_equal(same.perturb(np.arange(60), seeded()), plain)
