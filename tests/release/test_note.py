from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
from deniable.release.note import Note, Quote, note_for_target, note_path, quote_calibration, read_note
from tests.support.strategies import random_embedding


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    """A stored embedding without a note."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.save(random_embedding(20, 3), "mine")
    return Embedding.open("mine")


def noted(embedding: Embedding, *epsilons: float, rays: int = 20) -> dict[str, Any]:
    return make_note(measure_by_rays(embedding, rays=rays, keep=False), list(epsilons)).to_dict()


def place_of(mechanism: Multivariate) -> Path:
    place = note_path(mechanism)
    assert place is not None
    return place


def quote_at(epsilon: float, embedding: Embedding | None = None) -> Quote:
    quote = quote_calibration(Multivariate(embedding or Embedding.open(), epsilon=epsilon))
    assert quote is not None
    return quote


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


def test_between_two_values_the_less_favourable_one_is_quoted() -> None:
    found, exact = quote_at(5.2), quote_at(5.5)
    assert found.unchanged == exact.unchanged
    assert found.at_epsilon == 5.5
    # S_w rises with ε here, and the smaller value is the honest one.
    assert quote_at(1.2).support == quote_at(1.0).support
    assert quote_calibration(Multivariate(Embedding.open(), epsilon=1000.0)) is None
    assert quote_calibration(Multivariate(random_embedding(5, 2), epsilon=1.0)) is None


def test_a_receipt_says_at_which_epsilon_it_was_read() -> None:
    for epsilon, read_at in ((5.0, 5.0), (0.1, 1.0), (3.3, 3.5), (100.0, None)):
        receipt = Privatizer(Multivariate(Embedding.open(), epsilon=epsilon)).receipt()
        quoted, summary = receipt.to_dict()["calibration"], receipt.summary()
        assert (quoted and quoted["at_epsilon"]) == read_at
        assert (f"calibration: at ε = {read_at:g}" in summary) if read_at else ("calibration" not in summary)
        assert ("nearest value above" in summary) == (read_at not in (None, epsilon))


def test_below_the_smallest_epsilon_nothing_is_quoted_that_may_be_less_favourable_there(
    mine: Embedding,
) -> None:
    quote, smallest = quote_at(0.1), quote_at(1.0)
    assert smallest.distinct is not None
    far_below = explain_word(Multivariate(Embedding.open(), epsilon=0.1), "doctor", draws=1_000)
    assert far_below.distinct < smallest.distinct.worst, "fewer words come out there than at ε = 1"
    assert quote.support is quote.distinct is None
    assert quote.unchanged == smallest.unchanged, "which are not exceeded at a smaller ε"
    # Protected words may come out themselves more often at a smaller ε.
    mine.protection = np.array([1, *range(1, 21)])
    for epsilon, known in ((0.5, False), (1.0, True)):
        mechanism = Multivariate(mine, epsilon=epsilon)
        place_of(mechanism).write_text(json.dumps(noted(mine, 1.0, 2.0)))
        assert (quote_calibration(mechanism) is not None) == known


def test_the_largest_epsilon_is_read_off() -> None:
    mechanism = Multivariate(Embedding.open(), epsilon=1.0)
    note = note_for_target(mechanism, 0.5)
    chosen = note.largest_epsilon(0.5, 0.95)
    for row in note.table:
        assert (row.unchanged_quantiles[0.95] <= 0.5) == (row.epsilon <= chosen)
    with pytest.raises(TargetsNotMet):
        note_for_target(mechanism, 1e-9).largest_epsilon(1e-9)
    with pytest.raises(InvalidParameter, match="quantile"):
        note.largest_epsilon(0.5, 0.123)


def test_what_is_noted_is_never_less_than_what_was_found() -> None:
    found = measure_by_rays(random_embedding(50, 3), rays=50, keep=False)
    for row in make_note(found, [0.7, 1.3, 2.9]).table:
        means, _ = found.unchanged(row.epsilon)
        assert means.max() <= row.unchanged.worst <= means.max() + 1e-4
        assert np.median(means) <= row.unchanged.median <= np.median(means) + 1e-4


@pytest.mark.parametrize("change", [{"value": 0.5}, {"at_most": 1.0}, {"at_most": None}])
def test_a_capacity_that_cannot_be_is_refused(mine: Embedding, change: dict[str, object]) -> None:
    note = noted(mine, 5.0)
    note["table"][0]["capacity"] |= change
    with pytest.raises(ValueError):  # noqa: PT011
        msgspec.convert(note, Note, strict=False)


def test_a_receipt_quotes_the_capacity_between_its_policies(mine: Embedding) -> None:
    mechanism, next_noted = Multivariate(mine, epsilon=2.0), Multivariate(mine, epsilon=3.0)
    place_of(mechanism).write_text(json.dumps(noted(mine, 1.0, 3.0, rays=1000)))

    def quoted(**settings: Any) -> dict[str, float] | None:
        receipt = Privatizer(mechanism, **settings).receipt()
        found: dict[str, float] | None = receipt.to_dict()["calibration"].get("capacity")
        assert ("capacity: " in receipt.summary()) == (found is not None)
        return found

    plain, true = quoted(), capacity(next_noted)
    assert plain is not None
    assert true is not None
    assert true.low <= plain["at_most"] <= 1.1 * true.high
    assert quoted(keep_words=["w1", "w2"]) == {name: factor + 2 for name, factor in plain.items()}
    assert quoted(unknown="redact") == plain
    assert quoted(randomness=Keyed(b"k" * 32, consistent=True)) is None


def test_what_is_noted_of_words_that_never_change_is_one_and_can_be_read(mine: Embedding) -> None:
    mechanism = Multivariate(mine, epsilon=1e6)
    place_of(mechanism).write_text(json.dumps(noted(mine, 1e6)))
    assert quote_at(1e6, mine).unchanged.to_dict() == {"median": 1.0, "95%": 1.0, "worst": 1.0}


def test_a_damaged_note_is_refused_and_never_believed(mine: Embedding) -> None:
    mechanism = Multivariate(mine, epsilon=1.0)
    place, good = place_of(mechanism), noted(mine, 1.0, 2.0)
    place.write_text(json.dumps(good))
    assert note_for_target(mechanism, 0.99999).largest_epsilon(0.99999) in (1.0, 2.0)
    first, second = good["table"]
    above = {**second["unchanged_quantiles"], "1.0": 1.00001}
    tables: list[list[dict[str, Any]]] = [
        [],
        [{}],
        [first, {**second, "epsilon": -2.0}],
        [second, first],
        [first, {**second, "unchanged_quantiles": {}}],
        [first, {**second, "unchanged_quantiles": above}],
        [first, {**second, "support": {"median": "many", "95%": 1, "worst": 1}}],
        [first, {**second, "distinct": {"median": float("nan"), "95%": 1, "worst": 1}}],
        [first, {**second, "unchanged": {**second["unchanged"], "mean": [0.5]}}],
        [{**first, "epsilon": True}, second],
    ]
    counts: list[dict[str, Any]] = [
        {"rays": 3.5},
        {"words": "all"},
        {"words_for_support": -0.5},
        {"rays": True},
    ]
    changed = [json.dumps(good | change) for change in (*({"table": table} for table in tables), *counts)]
    nonsense = ["[" * 100_000, '{"rays": 1e3}', "\x00", '{"rays": ' + "9" * 5000 + "}", "[]", '"x"']
    for content in (*changed, *nonsense):
        place.write_text(content)
        for use in (lambda: note_for_target(mechanism, 0.5), lambda: quote_calibration(mechanism)):
            with pytest.raises(DamagedCalibration):
                use()


def test_a_note_that_only_somebody_else_may_read_says_nothing_and_stops_no_release(
    mine: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    mechanism = Multivariate(mine, epsilon=1.0)
    place_of(mechanism).write_text(json.dumps(noted(mine, 1.0)))
    monkeypatch.setattr("deniable.release.note.open_plain_file", refused)
    assert Privatizer(mechanism).receipt().to_dict()["calibration"] is None
    with pytest.raises(InvalidParameter, match="max_unchanged"):
        note_for_target(mechanism, 0.5)
