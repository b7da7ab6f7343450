"""Built-in purposes: a release names one, and gets an embedding that comes with the package and is what it
states."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Release
from deniable.arrays import Floats
from deniable.channel.explanation import explain_word
from deniable.channel.outputs import output_distribution
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import length_function, unchanged
from deniable.decoding.decoder import Decoder
from deniable.embeddings import store
from deniable.embeddings.content import content_fingerprint, shadowed_rows
from deniable.embeddings.places import BUILT_IN, DEFAULT, PURPOSES, built_in_folder, provenance_of
from deniable.integrations.sklearn import TextPrivatizer
from deniable.integrations.spark.tasks import embedding_here
from deniable.measures.bayes_bound import bayes_bound
from deniable.measures.risk import LEVELS, english_words, epsilon_of_risk
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.mechanisms.gaussian import Gaussian
from deniable.neighbours import best_neighbours
from deniable.noise.randomness import InsecureSeededRandomness
from deniable.release.card import card_from
from deniable.release.note import quote_calibration
from deniable.service.messages import Choice, Refused
from deniable.service.rules import Rules
from deniable.service.settings import Allowed, Settings
from tests.support.commands import invoke

SPACES = [name for name in BUILT_IN if name != DEFAULT]
REVIEWS = Path(__file__).resolve().parents[2] / "examples" / "reviews.csv"


@pytest.mark.parametrize("name", SPACES)
def test_a_space_is_what_it_states(name: str) -> None:
    space, stated = Embedding.open(name), provenance_of(name)
    assert space.words == Embedding.open().words
    assert space.fingerprint == content_fingerprint(space.words, space.vectors, space.unknown)
    assert space.shadowed.tolist() == shadowed_rows(space.vectors).tolist()
    for file, digest in stated.files_sha256.items():
        assert hashlib.sha256((built_in_folder(name) / file).read_bytes()).hexdigest() == digest
    facts = store.describe(name, verified=True)
    assert facts.verified is True
    assert facts.map_digest is not None
    assert facts.linear_map is not None
    assert facts.linear_map.dimension == 0, "nothing but the purpose survives"
    assert stated.learnt_from, "the terms of what it was learnt from"
    assert all(each.split()[0] in str(facts.licence) for each in stated.learnt_from.values())


def test_all_spaces_together_take_less_than_8_mb() -> None:
    files = [file for name in SPACES for file in Path(str(built_in_folder(name))).iterdir()]
    assert sum(file.stat().st_size for file in files) < 8_000_000


def test_a_purpose_names_an_embedding_and_general_is_the_default() -> None:
    assert Release(epsilon=6).embedding == Release(epsilon=6, purpose="general").embedding == "default"
    release = Release(epsilon=1, purpose="sentiment")
    assert release.embedding == "for-sentiment"
    assert release == replace(release)
    assert pickle.loads(pickle.dumps(release)) == release
    assert release.pin().embedding == "for-sentiment"
    assert release.describe() == Release(epsilon=1, embedding="for-sentiment").describe()
    assert "purpose" not in Release(epsilon=6).describe(), "interrupted jobs of before go on"
    for wrong, embedding in (("sentiments", "default"), ("sentiment", "mine"), ("general", "for-sentiment")):
        with pytest.raises(InvalidParameter) as refused:
            Release(epsilon=1, purpose=wrong, embedding=embedding)
        assert refused.value.name == "purpose"


@pytest.mark.parametrize("name", SPACES)
def test_its_name_cannot_be_taken_or_removed(name: str) -> None:
    with pytest.raises(InvalidParameter):
        store.free_place(name)
    with pytest.raises(InvalidParameter):
        store.remove(name)


@pytest.mark.parametrize("listed", [None, "names"])
@pytest.mark.parametrize("purpose", [each for each in PURPOSES if each != "general"])
def test_levels_of_risk_hold_in_it(purpose: str, listed: str | None) -> None:
    space = Release(epsilon=1, purpose=purpose, never_release=listed).open_embedding()
    for level, share in LEVELS.items():
        epsilon = epsilon_of_risk(ChosenMechanism(), space, level)
        mechanism = Multivariate(space, epsilon=epsilon)
        found = bayes_bound(mechanism, english_words(space), draws=800, seed=99)
        assert found is not None
        assert found.low <= share
        assert found.high > 0.85 * share
        quote = quote_calibration(mechanism)
        assert quote is not None, "its calibration comes with it"
        assert quote.capacity is not None


def test_a_release_says_which_space_and_its_card_decodes_it(tmp_path: Path) -> None:
    private = Release(risk="medium", purpose="sentiment").make()
    released = [private(text) for text in ("a lovely film", "an awful film")]
    card, receipt = private.card, private.receipt()
    assert card.embedding.name == "for-sentiment"
    assert card.embedding.map is not None
    assert any("built-in embedding 'for-sentiment'" in said for said in card.in_words)
    assert card_from(card.to_dict()) == card
    assert card.open_embedding().fingerprint == card.fingerprint
    assert receipt.to_dict()["embedding"]["name"] == "for-sentiment"
    assert "purpose" in receipt.to_json() or "survive" in receipt.summary()
    guesses = Decoder.learn(card, released, effort=50).decode(released)
    assert len(list(guesses)) == len(released)


def test_the_commands_take_it(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    done = invoke(
        "privatize", str(REVIEWS), "-c", "review", "--for", "sentiment", "--risk", "low", "-o", str(output)
    )
    assert done.exit_code == 0, done.output
    assert '"for-sentiment"' in Path(f"{output}.card.json").read_text(encoding="utf-8")
    shown = invoke("explain", "terrible", "--for", "sentiment", "--epsilon", "1")
    assert "for-sentiment" in shown.output
    refused = invoke("explain", "terrible", "--for", "greed", "--epsilon", "1").exception
    assert isinstance(refused, InvalidParameter)
    assert refused.exit_code == 2
    both = invoke("explain", "a", "--for", "sentiment", "--embedding", "x", "--epsilon", "1").exception
    assert isinstance(both, InvalidParameter)


def test_scikit_learn_and_executors_of_spark_take_it() -> None:
    released = TextPrivatizer(purpose="sentiment", epsilon=0.5).fit_transform(["a lovely film"])
    assert len(released) == 1
    assert embedding_here("for-sentiment", None) == "for-sentiment", "it comes with the package"


def test_a_request_to_the_service_names_a_purpose_or_an_embedding() -> None:
    rules = Rules(Settings())
    prepared = rules.prepare(rules.release(Choice(purpose="sentiment", risk="low")))
    assert prepared.private.card.embedding.name == "for-sentiment"
    with pytest.raises(Refused) as refused:
        rules.release(Choice(purpose="sentiment", embedding="other"))
    assert refused.value.status == 422
    allowed = Settings(release=Allowed(embeddings=("default",)))
    with pytest.raises(Refused):
        Rules(allowed).release(Choice(purpose="sentiment"))


def test_a_key_gives_the_same_words_again() -> None:
    space = Embedding.open("for-sentiment")
    first, again, other = (
        Privatizer(Multivariate(space, epsilon=0.5), randomness=Keyed(bytes([key]) * 32))(
            "the food was lovely", record_id="a"
        )
        for key in (1, 1, 2)
    )
    assert first == again != other


def exact_chances(places: Floats, start: float, epsilon: float) -> Floats:
    """Return the chance of each place by the definition: the Laplace law between the borders of its cell."""
    order = np.argsort(places, kind="stable")
    borders = (places[order][1:] + places[order][:-1]) / 2.0 - start
    below = np.where(borders < 0, 0.5 * np.exp(epsilon * borders), 1.0 - 0.5 * np.exp(-epsilon * borders))
    chances = np.empty(len(places))
    chances[order] = np.diff(np.concatenate([[0.0], below, [1.0]]))
    return chances


def seeded() -> InsecureSeededRandomness:
    return InsecureSeededRandomness(insecure_seed=5)


def line(places: list[float]) -> Embedding:
    return Embedding([f"w{i}" for i in range(len(places))], np.array(places)[:, None])


def test_in_one_dimension_what_words_become_is_summed_exactly() -> None:
    embedding = line([0.0, 1.0, 1.0, 3.5, -2.0, 40.0])
    mechanism = Multivariate(embedding, epsilon=0.8)
    places = np.delete(embedding.vectors[:, 0].astype(float), 2)  # the third word shares its place
    for word in (0, 2, 5, embedding.unknown_id):
        found = output_distribution(mechanism, word, draws=50)
        start = float(embedding.rows(np.array([word]))[0, 0])
        chances = dict(zip(found.words.tolist(), found.probabilities.tolist(), strict=True))
        assert found.method == "exact"
        expected = dict(zip([0, 1, 3, 4, 5], exact_chances(places, start, 0.8), strict=True))
        assert chances == pytest.approx(expected, rel=1e-9)
        draws = mechanism.perturb(np.full(40_000, word), seeded())
        shares = np.bincount(draws, minlength=6) / 40_000
        assert np.abs(shares[[0, 1, 3, 4, 5]] - list(expected.values())).max() < 0.012
    far = output_distribution(Multivariate(embedding, epsilon=10.0), 5, draws=10)
    tail = dict(zip(far.words.tolist(), far.probabilities.tolist(), strict=True))
    assert tail[4] == pytest.approx(0.5 * np.exp(-10.0 * 41.0), rel=1e-6), "no digit is lost far out"


def test_in_one_dimension_the_bound_holds_in_the_metric_of_the_space_and_is_reached() -> None:
    space = Embedding.open("for-sentiment")
    mechanism = Multivariate(space, epsilon=2.0)
    first, second = (space.index[word] for word in ("terrible", "lovely"))
    chances = []
    for word in (first, second):
        found, whole = output_distribution(mechanism, word, draws=1), np.zeros(len(space))
        whole[found.words] = found.probabilities
        chances.append(whole)
    both = (chances[0] > 0) & (chances[1] > 0)
    odds = np.abs(np.log(chances[0][both] / chances[1][both])).max()
    bound = mechanism.log_bound(first, second)
    assert bound == pytest.approx(2.0 * abs(float(space.vectors[first, 0] - space.vectors[second, 0])))
    assert 0.99 * bound < odds <= bound * (1 + 1e-6)
    assert odds > Multivariate(space, epsilon=1.9).log_bound(first, second), "a smaller claim is refuted"


def test_gaussian_noise_is_summed_in_one_dimension_too() -> None:
    embedding = line([0.0, 1.0, 4.0])
    found = output_distribution(Gaussian(embedding, epsilon=1.0), 0, draws=10)
    draws = Gaussian(embedding, epsilon=1.0).perturb(np.zeros(40_000, dtype=np.int64), seeded())
    shares = np.bincount(draws, minlength=3) / 40_000
    assert shares[found.words] == pytest.approx(found.probabilities, abs=0.012)


def test_two_rays_are_exact_in_one_dimension() -> None:
    embedding = line([0.0, 0.5, 3.0, -2.0])
    rays = Rays(embedding, rays=2)
    ends, _ = rays.first_breakpoints(np.arange(4))
    shares, _ = unchanged(ends, np.array([1.3]), length_function(rays.noise))
    places = embedding.vectors[:, 0].astype(float)
    expected = [exact_chances(places, places[i], 1.3)[i] for i in range(4)]
    assert shares[:, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_search_is_exact_in_few_dimensions_with_ties_and_far_points(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    grid = random.integers(-6, 7, (3_000, dimension)).astype(np.float32) / 4.0
    embedding = Embedding([f"w{i}" for i in range(3_000)], grid)
    points = np.concatenate(
        [
            random.integers(-40, 41, (300, dimension)).astype(np.float32) / 8.0,  # halfway between words
            random.normal(scale=3.0, size=(200, dimension)).astype(np.float32),
            random.normal(scale=1e12, size=(100, dimension)).astype(np.float32),  # far tails
        ]
    )
    found = best_neighbours(embedding).nearest(points)
    for start in range(0, len(points), 100):
        # Whole numbers: nothing is rounded. Points are eighths, or float32 made into fractions of 2**60.
        part = np.array([[int(float(x) * 2**60) for x in row] for row in points[start : start + 100]], object)
        words = np.array([[int(float(x) * 4) for x in row] for row in grid], object)
        scores = part @ words.T - ((words * words).sum(axis=1) * 2**57)[None]  # 2⁶²·(⟨q, p⟩ - ‖p‖²/2)
        assert found[start : start + 100].tolist() == [int(np.argmax(row)) for row in scores]


def test_explain_is_of_the_space() -> None:
    said = explain_word(Multivariate(Embedding.open("for-sentiment"), epsilon=3), "awful", draws=20)
    assert said.method == "exact"
    assert said.moves is not None
    assert said.moves.source is None
