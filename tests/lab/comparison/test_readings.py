from __future__ import annotations

import numpy as np
import pytest
from tests.lab.comparison.compared import probe_of, ring

from deniable.channel.draws import Draws
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.lab.comparison.adversary import LearntAdversary, Seen
from deniable.lab.comparison.probe import make_probe
from deniable.lab.comparison.readings import PrivacyReadings, ReadingEffort, most_exposed, read_privacy
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.santext import SanText

EFFORT = ReadingEffort(draws=300, judged=20_000)
STANDARD_ERRORS = 5.0  # two-sided level below 1e-6


def read(mechanism: Mechanism) -> PrivacyReadings:
    return read_privacy(mechanism, probe_of(mechanism.embedding), effort=EFFORT, seed=3)


def exact_success(mechanism: SanText) -> float:
    """Σ_y max_x π(x)·P(y | x) over the probed words."""
    probe = probe_of(mechanism.embedding)
    table = np.zeros((len(probe.ids), len(mechanism.embedding)))
    for row, (outputs, chances) in zip(table, mechanism.probabilities(probe.ids), strict=True):
        row[outputs] = chances
    return float((table * probe.shares[:, None]).max(axis=0).sum())


def test_a_mechanism_that_changes_nothing_is_read_as_one_everywhere() -> None:
    found = read(Multivariate(ring(), epsilon=1e6))
    assert (found.average, found.worst, found.adversary) == (1.0, 1.0, 1.0)


def test_an_output_that_says_nothing_leaves_the_adversary_with_the_prior() -> None:
    found, guess = read(RandomizedResponse(ring(), epsilon=1e-6)), float(probe_of(ring()).shares.max())
    assert abs(found.average - 1 / 40) < STANDARD_ERRORS * found.errors["average"]
    assert abs(found.adversary - guess) < STANDARD_ERRORS * np.sqrt(guess * (1 - guess) / EFFORT.judged)


def test_unknown_words_are_never_unchanged() -> None:
    embedding = ring()
    probe = probe_of(embedding)
    unknown = np.append(probe.ids[1:], embedding.unknown_id)
    with_unknown = make_probe(embedding, np.repeat(unknown, 10), words=2000, seed=0)
    found = read_privacy(Multivariate(embedding, epsilon=1e6), with_unknown, effort=EFFORT, seed=0)
    assert found.average == pytest.approx(
        1.0 - with_unknown.shares[with_unknown.ids == embedding.unknown_id].sum()
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_learnt_adversary_comes_near_the_exact_one_and_never_beats_it(epsilon: float) -> None:
    mechanism = SanText(ring(), epsilon=epsilon)
    exact, found = exact_success(mechanism), read(mechanism)
    assert exact - 0.03 < found.adversary < exact + STANDARD_ERRORS * found.errors["adversary"]


def test_an_adversary_that_learnt_from_another_mechanism_would_be_seen_to_be_weaker() -> None:
    mechanism, probe = SanText(ring(), epsilon=1.0), probe_of(ring())
    rng = np.random.default_rng(0)
    nonsense = Seen(places=np.repeat(np.arange(5), 300), outputs=rng.integers(0, 40, 1500))
    places = rng.choice(5, 20_000, p=probe.shares)
    outputs = Draws(mechanism, seed=1).of_each(probe.ids[places])
    guesses = LearntAdversary(
        probe, nonsense, Seen(places=places[:500], outputs=rng.integers(0, 40, 500))
    ).guesses(outputs)
    assert float((guesses == places).mean()) < exact_success(mechanism) - 0.03


def test_luck_in_the_draws_does_not_look_like_exposure() -> None:
    found = read(RandomizedResponse(ring(), epsilon=3.0))
    assert abs(found.worst - found.average) < STANDARD_ERRORS * (
        found.errors["worst"] + found.errors["average"]
    )


def test_the_most_exposed_words_fill_their_part_of_the_text() -> None:
    weights = most_exposed(np.array([0.1, 0.9, 0.5]), np.array([0.495, 0.005, 0.5]), 0.01)
    assert weights == pytest.approx([0.0, 0.5, 0.5])


def test_readings_need_two_draws() -> None:
    with pytest.raises(InvalidParameter):
        ReadingEffort(draws=1, judged=10)
