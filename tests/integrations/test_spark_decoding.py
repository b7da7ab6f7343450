"""Released columns decoded on a real cluster, as on one machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import InvalidParameter
from deniable.decoding.decoder import Decoder
from deniable.errors import NotThisRelease
from deniable.integrations.spark import (
    decoded,
    expected_counts,
    expected_vectors,
    learn_decoder,
    ship_embedding,
)
from tests.support.made_release import DIRECTIONS, MadeRelease, make_release
from tests.support.spark_place import Place


@pytest.fixture
def release(place: Place) -> MadeRelease:
    return make_release("tiny", records=120)


def frame_of(place: Place, release: MadeRelease) -> Any:
    rows = [*enumerate(release.texts), (len(release.texts), None)]
    return place.spark.createDataFrame(rows, "id long, `released.text` string").repartition(3)


def test_columns_are_decoded_as_on_one_machine(place: Place, release: MadeRelease) -> None:
    frame, texts = frame_of(place, release), [*release.texts, None]
    learnt = learn_decoder(frame, "released.text", release.card, effort=DIRECTIONS)
    decoder = Decoder.learn(release.card, release.texts, effort=DIRECTIONS, every_word=True)
    np.testing.assert_array_equal(learnt.inputs, decoder.inputs)
    column = "released.text"
    rows = frame.select(
        "id",
        decoded(column, decoder).alias("words"),
        expected_counts(column, decoder, least=0.01).alias("counts"),
        expected_vectors(column, decoder).alias("vector"),
    ).collect()
    found = {row.id: row for row in rows}
    assert [found[i].words for i in range(len(texts))] == decoder.decode(texts)
    vectors = decoder.expected_vectors(texts)
    for record, expected in enumerate(decoder.expected_words(texts, least=0.01)):
        if expected is None:
            assert (found[record].counts, found[record].vector) == (None, None)
            continue
        assert found[record].counts == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(found[record].vector, vectors[record], rtol=1e-5)


def test_a_decoder_is_learnt_from_a_sample(place: Place, release: MadeRelease) -> None:
    frame = frame_of(place, release)
    learnt = learn_decoder(frame, "released.text", release.card, effort=DIRECTIONS, records=60)
    everything = learn_decoder(frame, "released.text", release.card, effort=DIRECTIONS)
    assert not np.array_equal(learnt.prior, everything.prior)
    assert np.abs(learnt.prior - everything.prior).sum() < 1.0


def test_an_embedding_that_was_sent_is_used_and_the_channel_is_made_there(place: Place) -> None:
    folder = place.install("decoding")
    release = make_release("decoding", records=60)
    frame = frame_of(place, release)
    decoder = Decoder.learn(release.card, release.texts, effort=DIRECTIONS, every_word=True)
    column = decoded("released.text", decoder)
    ship_embedding(place.spark, "decoding")
    folder.rename(place.folder / "decoding moved away")
    rows = frame.select("id", column.alias("words")).collect()
    assert [
        words for _, words in sorted((row.id, row.words) for row in rows if row.words is not None)
    ] == decoder.decode(release.texts)


def test_what_cannot_be_decoded_is_refused(place: Place, release: MadeRelease) -> None:
    frame = frame_of(place, release)
    for column, problem in (("nothing", "no such column"), ("id", "holds bigint, not text")):
        with pytest.raises(InvalidParameter, match=problem):
            learn_decoder(frame, column, release.card)
    with pytest.raises(InvalidParameter, match=r"^records = 0"):
        learn_decoder(frame, "released.text", release.card, records=0)
    decoder = Decoder.learn(release.card, release.texts, effort=DIRECTIONS, every_word=True)
    with pytest.raises(InvalidParameter, match=r"^least = 7"):
        expected_counts("text", decoder, least=7)
    original = place.spark.createDataFrame([(1, text) for text in release.originals], "id long, text string")
    with pytest.raises(NotThisRelease, match="not as Multivariate"):
        learn_decoder(original, "text", release.card, effort=DIRECTIONS)
    strange = place.spark.createDataFrame([(1, "The soup was cold")], "id long, text string").coalesce(1)
    with pytest.raises(Exception, match="are not in the embedding"):
        strange.select(decoded("text", decoder)).collect()
