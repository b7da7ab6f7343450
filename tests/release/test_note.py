from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.writing import make_note
from deniable.channel.explanation import explain_word
from deniable.embeddings import store
from deniable.errors import DamagedCalibration, TargetsNotMet
from deniable.measures.capacity import capacity
from deniable.release.note import Note, note_for_target, note_path, quote_calibration, read_note
from tests.support.strategies import random_embedding


def test_the_default_embedding_comes_calibrated_and_a_fresh_sample_agrees() -> None:
    embedding = Embedding.open()
    note = read_note(Multivariate(embedding, epsilon=1.0))
    assert note is not None
    sample = np.sort(np.random.default_rng(0).choice(len(embedding), 300, replace=False))
    fresh = measure_by_rays(embedding, rays=100, ids=sample, keep=False)
    for row in note.table:
        means, _ = fresh.unchanged(row.epsilon)
        assert row.unchanged.mean is not None
        assert abs(means.mean() - row.unchanged.mean) < 0.04
        values = list(row.unchanged_quantiles.values())
        assert values == sorted(values)
        assert row.capacity is not None
        assert row.capacity.value == pytest.approx(1.0 + len(embedding) * row.unchanged.mean, rel=1e-4)
    factors = [row.capacity.at_most for row in note.table if row.capacity is not None]
    assert factors == sorted(factors)


def test_between_two_values_the_less_favourable_one_is_quote_calibration() -> None:
    embedding = Embedding.open()
    found, exact = (
        quote_calibration(Multivariate(embedding, epsilon=5.2)),
        quote_calibration(Multivariate(embedding, epsilon=5.5)),
    )
    assert found is not None
    assert exact is not None
    assert found.unchanged == exact.unchanged
    low, high = (
        quote_calibration(Multivariate(embedding, epsilon=1.0)),
        quote_calibration(Multivariate(embedding, epsilon=1.2)),
    )
    assert low is not None
    assert high is not None
    assert high.support == low.support  # S_w rises with ε here, and the smaller value is the honest one
    assert found.at_epsilon == 5.5
    assert quote_calibration(Multivariate(embedding, epsilon=1000.0)) is None
    assert quote_calibration(Multivariate(random_embedding(5, 2), epsilon=1.0)) is None


def test_a_receipt_quotes_it() -> None:
    private = Privatizer(Multivariate(Embedding.open(), epsilon=5.0))
    receipt = private.receipt()
    assert receipt.to_dict()["calibration"]["at_epsilon"] == 5.0
    assert "calibration: at ε = 5 words stay themselves" in receipt.summary()


def test_a_receipt_says_at_which_epsilon_it_was_read() -> None:
    small = Privatizer(Multivariate(Embedding.open(), epsilon=0.1)).receipt()
    assert small.to_dict()["calibration"]["at_epsilon"] == 1.0
    assert (
        "calibration: at ε = 1, the nearest value above that was calibrated, words stay themselves"
        in small.summary()
    )
    between = Privatizer(Multivariate(Embedding.open(), epsilon=3.3)).receipt()
    assert between.to_dict()["calibration"]["at_epsilon"] == 3.5
    assert (
        "calibration: at ε = 3.5, the nearest value above that was calibrated, words stay themselves"
        in between.summary()
    )
    large = Privatizer(Multivariate(Embedding.open(), epsilon=100.0)).receipt()
    assert large.to_dict()["calibration"] is None
    assert "calibration" not in large.summary()


def test_below_the_smallest_epsilon_nothing_is_quoted_that_may_be_less_favourable_there(
    mine: Embedding,
) -> None:
    far_below = Multivariate(Embedding.open(), epsilon=0.1)
    quote, smallest = (
        quote_calibration(far_below),
        quote_calibration(Multivariate(Embedding.open(), epsilon=1.0)),
    )
    assert quote is not None
    assert smallest is not None
    assert smallest.distinct is not None
    assert explain_word(far_below, "doctor", draws=1_000).distinct < smallest.distinct.worst, (
        "fewer words come out there than at ε = 1"
    )
    assert quote.support is quote.distinct is None
    assert quote.unchanged == smallest.unchanged, "which are not exceeded at a smaller ε"
    # Protected words may come out themselves more often at a smaller ε.
    mine.protection = np.array([1, *range(1, 21)])
    for epsilon, known in ((0.5, False), (1.0, True)):
        mechanism = Multivariate(mine, epsilon=epsilon)
        place = note_path(mechanism)
        assert place is not None
        place.write_text(
            json.dumps(make_note(measure_by_rays(mine, rays=20, keep=False), [1.0, 2.0]).to_dict())
        )
        assert (quote_calibration(mechanism) is not None) == known


def test_the_largest_epsilon_is_read_off() -> None:
    embedding = Embedding.open()
    chosen = note_for_target(Multivariate(embedding, epsilon=1.0), 0.5).largest_epsilon(0.5, 0.95)
    note = read_note(Multivariate(embedding, epsilon=1.0))
    assert note is not None
    for row in note.table:
        assert (row.unchanged_quantiles[0.95] <= 0.5) == (row.epsilon <= chosen)
    with pytest.raises(TargetsNotMet, match="quantile"):
        note_for_target(Multivariate(embedding, epsilon=1.0), 1e-9).largest_epsilon(1e-9)
    with pytest.raises(InvalidParameter, match="quantile"):
        note_for_target(Multivariate(embedding, epsilon=1.0), 0.5).largest_epsilon(0.5, 0.123)


def test_what_is_noted_is_never_less_than_what_was_found() -> None:
    found = measure_by_rays(random_embedding(50, 3), rays=50, keep=False)
    for row in make_note(found, [0.7, 1.3, 2.9]).table:
        means, _ = found.unchanged(row.epsilon)
        assert means.max() <= row.unchanged.worst <= means.max() + 1e-4
        assert np.median(means) <= row.unchanged.median <= np.median(means) + 1e-4


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    """A stored embedding without a note."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(20, 3), "mine")
    return Embedding.open("mine")


@pytest.mark.parametrize("change", [{"value": 0.5}, {"at_most": 1.0}, {"at_most": None}])
def test_a_capacity_that_cannot_be_is_refused(mine: Embedding, change: dict[str, object]) -> None:
    note = make_note(measure_by_rays(mine, rays=20, keep=False), [5.0]).to_dict()
    note["table"][0]["capacity"] |= change
    with pytest.raises(ValueError):  # noqa: PT011
        msgspec.convert(note, Note, strict=False)


def test_a_receipt_quotes_the_capacity_between_its_policies(mine: Embedding) -> None:
    place = note_path(Multivariate(mine, epsilon=1.0))
    assert place is not None
    place.write_text(
        json.dumps(make_note(measure_by_rays(mine, rays=1000, keep=False), [1.0, 3.0]).to_dict())
    )
    mechanism = Multivariate(mine, epsilon=2.0)

    def quoted(private: Privatizer) -> dict[str, float] | None:
        receipt = private.receipt()
        found: dict[str, float] | None = receipt.to_dict()["calibration"].get("capacity")
        assert ("capacity: " in receipt.summary()) == (found is not None)
        return found

    plain = quoted(Privatizer(mechanism))
    true = capacity(Multivariate(mine, epsilon=3.0))  # the next larger ε that is noted
    assert plain is not None
    assert true is not None
    assert true.low <= plain["at_most"] <= 1.1 * true.high
    kept = quoted(Privatizer(mechanism, keep_words=["w1", "w2"]))
    assert kept == {name: factor + 2 for name, factor in plain.items()}
    assert quoted(Privatizer(mechanism, unknown="redact")) == plain
    shared = Keyed(b"k" * 32, consistent=True)
    assert quoted(Privatizer(mechanism, randomness=shared)) is None


def test_what_is_noted_of_words_that_never_change_is_one_and_can_be_read(mine: Embedding) -> None:
    mechanism = Multivariate(mine, epsilon=1e6)
    place = note_path(mechanism)
    assert place is not None
    place.write_text(
        json.dumps(make_note(measure_by_rays(mechanism.embedding, rays=20, keep=False), [1e6]).to_dict())
    )
    found = quote_calibration(mechanism)
    assert found is not None
    assert found.to_dict()["unchanged"] == {"median": 1.0, "95%": 1.0, "worst": 1.0}


def test_a_damaged_note_is_refused_and_never_believed(mine: Embedding) -> None:
    mechanism = Multivariate(mine, epsilon=1.0)
    place = note_path(mechanism)
    assert place is not None
    good = make_note(measure_by_rays(mechanism.embedding, rays=20, keep=False), [1.0, 2.0]).to_dict()
    place.write_text(json.dumps(good))
    assert note_for_target(mechanism, 0.99999).largest_epsilon(0.99999) in (1.0, 2.0)
    first, second = good["table"]
    without = {**second, "unchanged_quantiles": {}}
    above = {**second, "unchanged_quantiles": {**second["unchanged_quantiles"], "1.0": 1.00001}}
    damaged: list[list[dict[str, object]]] = [
        [],
        [{}],
        [first, {**second, "epsilon": -2.0}],
        [second, first],
        [first, without],
        [first, above],
        [first, {**second, "support": {"median": "many", "95%": 1, "worst": 1}}],
        [first, {**second, "distinct": {"median": float("nan"), "95%": 1, "worst": 1}}],
        [first, {**second, "unchanged": {**second["unchanged"], "mean": [0.5]}}],
        [{**first, "epsilon": True}, second],
    ]
    for table in damaged:
        place.write_text(json.dumps({**good, "table": table}))
        for use in (
            lambda: note_for_target(mechanism, 0.5).largest_epsilon(0.5),
            lambda: quote_calibration(mechanism),
        ):
            with pytest.raises(DamagedCalibration):
                use()


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"rays": 1e3}', "\x00", '{"rays": ' + "9" * 5000 + "}", "[]", '"x"']
)
def test_what_is_no_note_is_one_error(mine: Embedding, content: str) -> None:
    mechanism = Multivariate(mine, epsilon=1.0)
    place = note_path(mechanism)
    assert place is not None
    place.write_text(content)
    with pytest.raises(DamagedCalibration):
        quote_calibration(mechanism)


@pytest.mark.parametrize(
    "change", [{"rays": 3.5}, {"words": "all"}, {"words_for_support": -0.5}, {"rays": True}]
)
def test_counts_that_are_none_are_one_error(mine: Embedding, change: dict[str, object]) -> None:
    mechanism = Multivariate(mine, epsilon=1.0)
    place = note_path(mechanism)
    assert place is not None
    good = make_note(measure_by_rays(mechanism.embedding, rays=20, keep=False), [1.0, 2.0]).to_dict()
    place.write_text(json.dumps({**good, **change}))
    with pytest.raises(DamagedCalibration):
        quote_calibration(mechanism)


def test_a_note_that_only_somebody_else_may_read_says_nothing_and_stops_no_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(20, 3), "mine")
    mechanism = Multivariate(Embedding.open("mine"), epsilon=1.0)
    monkeypatch.setattr(Path, "read_text", refused)
    assert Privatizer(mechanism).receipt().to_dict()["calibration"] is None
    with pytest.raises(InvalidParameter, match="not calibrated"):
        note_for_target(mechanism, 0.5).largest_epsilon(0.5)
