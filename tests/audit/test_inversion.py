"""Attacks with known answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Multivariate
from deniable.arrays import Floats, Ids
from deniable.audit.inversion.audit import audit_inversion
from deniable.audit.inversion.drawn_words import InversionEffort, frequency_bands, invert, majority
from deniable.audit.results import largest_acceptable, read_result
from deniable.calibration.choice import protect
from deniable.channel.columns import Columns, columns_of
from deniable.channel.points import SharedPoints, draw_points
from deniable.decoding.posterior import BayesAdversary
from deniable.decoding.priors import from_corpus, from_table
from deniable.errors import InvalidParameter, RecordError, UnusableAuditData
from deniable.interfaces import Randomness
from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.words.frequency import by_rank
from tests.audit.wrong import never_changes
from tests.support.strategies import line_embedding, random_embedding


class SimulatedOnly(Multivariate):
    """Draws in a way of its own, as far as its parents know, so that only draws tell of it."""

    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, epsilon)


SMALL = InversionEffort(words_per_band=120, repeated_words=20, points=64, draws_per_word=20, at_risk=5)


def test_a_mechanism_that_never_changes_a_word_is_inverted_always() -> None:
    embedding = random_embedding(80, 4)
    found = invert(never_changes(embedding), by_rank(embedding), seed=0, effort=SMALL)
    assert found.bayes.value == found.nearest_word.value == 1.0
    assert all(word.bayes.value == 1.0 for word in found.at_risk)


def test_the_advice_hears_who_takes_the_released_word_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adversary whose estimate of the channel is worthless names little of a release in which every word
    stays."""
    monkeypatch.setattr(BayesAdversary, "guesses", lambda _, outputs: np.full(len(outputs), 7))
    result = audit_inversion(random_embedding(80, 4), epsilons=[1e6], effort=SMALL, acceptable=0.5)
    found = result.results[0]
    assert found.bayes.high < 0.5
    assert found.nearest_word.value == found.success == found.at_most == 1.0
    assert result.largest_acceptable_epsilon is None
    assert found.at_risk
    assert all(word.best.value == 1.0 for word in found.at_risk)


def test_a_word_that_is_never_named_is_not_at_risk() -> None:
    """Blindly, the most frequent word is guessed always, and the other words never."""
    embedding = random_embedding(80, 4)
    found = invert(
        RandomizedResponse(embedding, epsilon=1e-9),
        by_rank(embedding),
        seed=0,
        effort=InversionEffort(at_risk=20),
    )
    assert found.at_risk[0].word == embedding.words[0]
    assert all(word.best.value > 0.0 for word in found.at_risk)
    assert 1 < len(found.at_risk) < 20


def test_a_mechanism_that_draws_uniformly_is_inverted_at_the_rate_of_the_prior() -> None:
    embedding = random_embedding(80, 4)
    prior = by_rank(embedding)
    uniform = RandomizedResponse(embedding, epsilon=1e-9)
    found = invert(
        uniform, prior, seed=0, effort=InversionEffort(words_per_band=3_000, repeated_words=200, at_risk=2)
    )
    assert found.channel == "exact probabilities"
    assert found.prior_guess == prior.max()
    # The guess is always the most frequent word, however often the same word is released.
    assert found.bayes.value == pytest.approx(prior.max(), abs=5 * np.sqrt(prior.max() / 3_000))
    repeated = found.repeats[2].bayes
    assert repeated is not None
    assert repeated.value == pytest.approx(prior.max(), abs=5 * np.sqrt(prior.max() / 200))


def test_tiny_and_huge_epsilons_give_the_two_ends_for_the_mechanism_of_the_paper() -> None:
    embedding = random_embedding(80, 4)
    prior = by_rank(embedding)
    blind = invert(Multivariate(embedding, epsilon=1e-6), prior, seed=0, effort=SMALL)
    assert blind.bayes.value == pytest.approx(prior.max(), abs=5 * np.sqrt(prior.max() / 120))


def columns(channel: Columns, outputs: Ids) -> Floats:
    """Return P(y | x): a row for each output, a column for each word."""
    found: Floats = np.stack(list(channel.columns(outputs)))[:, np.argsort(channel.inputs)]
    return found


def test_rays_and_draws_tell_the_same_story() -> None:
    embedding, epsilon, outputs = random_embedding(30, 5), 3.0, np.arange(30)
    rays = columns(columns_of(Multivariate(embedding, epsilon=epsilon), outputs, seed=0), outputs)
    drawn = columns(
        columns_of(SimulatedOnly(embedding, epsilon=epsilon), outputs, seed=1, draws=2_000), outputs
    )
    assert np.abs(rays - drawn).max() < 0.06


def test_a_protected_word_looks_like_the_word_that_stands_in_for_it() -> None:
    embedding = random_embedding(30, 3)
    safe = protect(embedding, np.array([4]), by="nearest")
    stand_in = int(safe.stands_in(np.array([4]))[0])
    found = columns(columns_of(Multivariate(safe, epsilon=5.0), np.arange(30), seed=0), np.arange(30))
    assert np.array_equal(found[:, 4], found[:, stand_in])


def test_the_adversary_weighs_likelihood_by_frequency() -> None:
    class Fixed:
        how, inputs = "fixed", np.arange(2)

        def columns(self, outputs: Ids) -> Iterator[Floats]:
            return iter([np.array([0.3, 0.7]) for _ in outputs])

    outputs = np.array([0, 0])
    assert BayesAdversary(Fixed(), np.array([0.5, 0.5])).guesses(outputs).tolist() == [1, 1]
    assert BayesAdversary(Fixed(), np.array([0.9, 0.1])).guesses(outputs).tolist() == [0, 0]
    repeated = BayesAdversary(Fixed(), np.array([0.8, 0.2])).guesses_from_repeats(
        np.zeros((1, 9), dtype=np.int64), (1, 9)
    )
    assert (repeated[1].tolist(), repeated[9].tolist()) == ([0], [1])


def test_majority_takes_the_most_frequent_word_and_the_first_on_a_tie() -> None:
    assert majority(np.array([[3, 5, 5], [9, 2, 7]])).tolist() == [5, 9]


def test_repeated_releases_help_the_adversary() -> None:
    embedding = random_embedding(60, 4)
    found = invert(
        Multivariate(embedding, epsilon=2.5),
        by_rank(embedding),
        seed=1,
        effort=InversionEffort(repeated_words=60, points=64, at_risk=2),
    )
    votes = [row.majority.value for row in found.repeats]
    assert votes[-1] > votes[0] + 0.1


def test_points_are_drawn_once_for_all_that_an_audit_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 60)
    drawn: list[int] = []

    def draw(*arguments: Any, **options: Any) -> SharedPoints:
        drawn.append(len(options["of"]))
        return draw_points(*arguments, **options)

    monkeypatch.setattr("deniable.channel.columns.draw_points", draw)
    embedding = random_embedding(60, 4)
    found = invert(Multivariate(embedding, epsilon=2.5), by_rank(embedding), seed=1, effort=SMALL)
    assert found.channel == "at most 64 points of each released word"
    assert len(drawn) == 1
    assert found.bayes.value > found.prior_guess


def test_bands_cover_all_text_once() -> None:
    prior = by_rank(random_embedding(2_000, 2))
    bands = frequency_bands(prior)
    assert [len(band.ids) for band in bands] == [100, 900, 1_000]
    assert sum(band.mass for band in bands) == pytest.approx(1.0)
    assert len(np.unique(np.concatenate([band.ids for band in bands]))) == 2_000


@pytest.mark.parametrize(
    ("successes", "advised"),
    [
        ([0.1, 0.2, 0.3], 2.0),
        ([0.1, 0.3, 0.1], 1.0),
        ([0.3, 0.1, 0.1], None),
        ([0.1, float("nan"), 0.1], 1.0),
    ],
)
def test_no_epsilon_is_advised_after_one_that_fails(successes: list[float], advised: float | None) -> None:
    found = list(zip((1.0, 2.0, 3.0), successes, strict=True))
    assert largest_acceptable(found[::-1], 0.2) == advised


def test_the_advice_goes_by_the_upper_end_of_the_interval() -> None:
    """Blindly 56 words in 100 are named: 0.65 is acceptable once enough words were attacked, and not
    before."""
    made: dict[str, Any] = {"epsilons": [1e-9], "acceptable": 0.65}
    embedding, uniform = line_embedding(0.0, 1.0), ChosenMechanism(name="randomized-response")
    few, many = (
        audit_inversion(embedding, uniform, effort=InversionEffort.of(words), **made) for words in (30, 2_000)
    )
    for result in (few, many):
        found = result.results[0]
        assert found.success == found.bayes.value < 0.65
        assert found.bayes.high == found.at_most > found.success
    assert few.results[0].at_most > 0.65 > many.results[0].at_most
    assert few.largest_acceptable_epsilon is None
    assert many.largest_acceptable_epsilon == 1e-9


def test_frequencies_come_from_a_table_or_a_corpus(tmp_path: Path) -> None:
    embedding = line_embedding(0.0, 1.0, 2.0)
    table = tmp_path / "counts.tsv"
    table.write_text("a\t3\nc 1\nnot-there 50\n")
    assert from_table(embedding, table).tolist() == [0.75, 0.0, 0.25]
    corpus = tmp_path / "text.txt"
    corpus.write_text("A a zzz\nb a\n")
    assert from_corpus(embedding, corpus).tolist() == [0.75, 0.25, 0.0]


@pytest.mark.parametrize("line", ["word", "word -1", "word many", "\t3", "word inf"])
def test_a_line_that_is_no_frequency_is_named(line: str, tmp_path: Path) -> None:
    table = tmp_path / "counts.tsv"
    table.write_text(f"a 1\n{line}\n")
    with pytest.raises(RecordError, match="line 2"):
        from_table(line_embedding(0.0, 1.0), table)


def test_frequencies_of_other_words_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "counts.tsv"
    table.write_text("zzz 3\n")
    with pytest.raises(UnusableAuditData, match="none of its words"):
        from_table(line_embedding(0.0, 1.0), table)


def test_effort_must_be_whole_numbers() -> None:
    with pytest.raises(InvalidParameter, match="points"):
        InversionEffort(points=0)


def test_the_result_holds_every_epsilon_and_what_is_acceptable(tmp_path: Path) -> None:
    table = tmp_path / "counts.tsv"
    table.write_text("w1 3\nw2 1\nw7 4\n")
    seen: list[tuple[int, int]] = []
    result = audit_inversion(
        random_embedding(40, 4),
        ChosenMechanism(name="santext"),
        epsilons=[1e3, 1e-3],
        frequencies=table,
        acceptable=0.7,
        effort=InversionEffort.of(40),
        report=lambda done, total: seen.append((done, total)),
    )
    assert [each.epsilon for each in result.results] == [1e-3, 1e3]
    assert result.results[1].bayes.value == 1.0
    assert result.largest_acceptable_epsilon == 1e-3
    assert (result.frequencies, result.mechanism) == (str(table), "santext")
    assert seen == [(1, 2), (2, 2)]
    saved = tmp_path / "inversion.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epsilons": []}, "epsilons"),
        ({"epsilons": [0]}, "epsilon"),
        ({"acceptable": 7}, "acceptable"),
        ({"frequencies": Path("a"), "corpus": Path("b")}, "corpus"),
        ({"seed": -1}, "seed"),
    ],
)
def test_arguments_that_are_not_allowed_are_named(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        audit_inversion(random_embedding(5, 2), **{"epsilons": [1.0], **wrong})
