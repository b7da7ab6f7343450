"""Readings of released words, on the word and on its kind, against a direct computation."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.making import make_channel
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import (
    NOT_AMONG_THEM,
    Reading,
    read_as_released,
    read_blindly,
    share_named,
    share_of_kinds,
)
from deniable.embeddings import store
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import InvalidParameter
from deniable.purposes import install_reduced, reduce
from tests.channel.test_channel import dense
from tests.support.made_purpose import made_embedding
from tests.support.strategies import random_embedding


def reading() -> Reading:
    """Three places over the words 0 to 3 and ⊥."""
    return Reading(
        words=np.array([[2, 0, -1], [1, 3, 0], [0, -1, -1]]),
        chances=np.array([[0.5, 0.3, 0.0], [0.4, 0.3, 0.25], [0.1, 0.0, 0.0]]),
        rest=np.array([0.2, 0.05, 0.9]),
        elsewhere=np.array([0.0, 0.0, 0.0, 1.0, 0.0]),
    )


KINDS = Kinds(of=np.array([0, -1, 1, 1, -1]), count=2)


def test_ranks_are_places_among_the_candidates() -> None:
    found = reading().ranks(np.array([0, 1, 3]))
    assert found.tolist() == [1, 0, NOT_AMONG_THEM]
    assert share_named(reading(), np.array([0, 1, 3])) == pytest.approx(1 / 3)
    assert share_named(reading(), np.array([0, 1, 3]), within=2) == pytest.approx(2 / 3)


def test_kinds_add_up_their_words_and_their_part_of_the_rest() -> None:
    assert reading().kind_masses(KINDS) == pytest.approx(np.array([[0.3, 0.7], [0.25, 0.35], [0.1, 0.9]]))
    assert reading().kind_ranks(np.array([0, 3, 2]), KINDS).tolist() == [1, 0, 0]
    assert reading().kind_ranks(np.array([1, 4, 0]), KINDS).tolist() == [-1, -1, 1]
    assert share_of_kinds(reading(), np.array([0, 3, 1]), KINDS) == 0.5
    assert np.isnan(share_of_kinds(reading(), np.array([1, 1, 1]), KINDS))


def test_a_list_is_a_kind_of_its_own() -> None:
    with_list = KINDS.with_list(np.array([1, 2]))
    assert with_list == with_list
    assert with_list.of.tolist() == [0, 2, 2, 1, -1]
    assert KINDS.of.tolist() == [0, -1, 1, 1, -1], "the kinds themselves stay as they are"


def test_the_released_word_comes_first_and_after_it_what_is_frequent() -> None:
    prior = np.array([0.1, 0.5, 0.05, 0.3, 0.05])
    found = read_as_released(prior, np.array([2, 1, 3]), candidates=3)
    assert found.words.tolist() == [[2, 1, 3, 0], [1, 3, 0, -1], [3, 1, 0, -1]]
    assert (found.ranks(np.array([2, 1, 0])) == [0, 0, 2]).all()
    # Word 1, which stands apart, leaves what is frequent: word 3 and with it kind 1.
    assert found.kind_masses(KINDS).argmax(axis=1).tolist() == [1, 1, 1]
    unfounded = read_as_released(np.array([0.9, 0.0, 0.05, 0.05, 0.0]), np.array([2]), candidates=3)
    assert unfounded.kind_masses(KINDS).argmax(axis=1).tolist() == [1], "however frequent another kind is"
    assert len(read_as_released(prior, np.zeros(0, dtype=np.int64))) == 0
    one_kind = read_as_released(np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.array([2]), candidates=3)
    assert one_kind.kind_masses(KINDS).argmax(axis=1).tolist() == [1], (
        "even if all that is frequent is of one kind"
    )


def test_reading_alone_is_bayes_rule_for_words_and_for_kinds() -> None:
    embedding = random_embedding(40, 3)
    channel = make_channel(embedding, epsilon=1.0, directions=300)
    prior = np.random.default_rng(0).dirichlet(np.ones(41))
    released = np.array([3, 17, 3, 39])
    found = make_posterior(channel, prior[channel.inputs], candidates=6).read(released)
    exact = prior[:, None] * dense(channel)
    exact = (exact / exact.sum(axis=0)).T[released]
    best = np.argsort(-exact, axis=1)[:, :6]
    assert found.words.tolist() == best.tolist()
    assert found.chances == pytest.approx(np.take_along_axis(exact, best, axis=1), abs=1e-6)
    assert found.chances.sum(axis=1) + found.rest == pytest.approx(np.ones(4))
    assert found.ranks(exact.argmax(axis=1)).tolist() == [0, 0, 0, 0]


def test_a_blind_reader_says_the_same_everywhere() -> None:
    found = read_blindly(np.array([0.1, 0.5, 0.3, 0.1]), 2, candidates=2)
    assert found.words.tolist() == [[1, 2], [1, 2]]
    assert found.rest == pytest.approx([0.2, 0.2])
    assert found.elsewhere == pytest.approx([0.5, 0.0, 0.0, 0.5])


def test_kinds_are_the_clusters_of_unit_vectors_and_frequent_words_stand_apart() -> None:
    random = np.random.default_rng(0)
    directions = np.eye(4)
    vectors = np.concatenate(
        [random.uniform(1, 9, (30, 1)) * directions[k] + random.normal(0, 0.1, (30, 4)) for k in range(4)]
    )
    order = random.permutation(120)
    embedding = Embedding([f"w{i}" for i in range(120)], vectors[order], name="clustered")
    kinds = make_kinds(embedding, clusters=4, most_frequent=5, seed=1)
    assert kinds.of[:5].tolist() == [-1] * 5
    assert kinds.of[-1] == -1
    true = order // 30
    for cluster in range(4):
        assert len(np.unique(true[5:][kinds.of[5:-1] == cluster])) == 1
    assert kinds.count == 4
    assert np.array_equal(make_kinds(embedding, clusters=4, most_frequent=5, seed=1).of, kinds.of)
    counts = np.where(np.isin(np.arange(120), [7, 9]), 5, 1)
    chosen = make_kinds(embedding, clusters=4, most_frequent=2, counts=counts)
    assert np.flatnonzero(chosen.of < 0).tolist() == [7, 9, 120]


def test_kinds_of_a_mapped_space_are_those_of_the_vectors_before_the_map() -> None:
    source = made_embedding()
    store.save(source, "made")
    kinds = make_kinds(source)
    other = Embedding(source.words, source.vectors + 1.0, unknown=source.unknown, name="other")
    assert not np.array_equal(_clusters(reduce(source, 2)), kinds.of), "the map has other clusters"
    assert make_kinds(reduce(other, 2)).mapped, "what it was made from is in no store"
    install_reduced("made", "two", dimension=2)
    found = make_kinds(Embedding.open("two"))
    assert (found.mapped, found.count) == (False, kinds.count)
    assert np.array_equal(found.of, kinds.of)
    assert kinds.in_words() == "22 clusters of the public vectors; 25 frequent words stand apart"
    two = Embedding.open("two")
    store.remove("made")
    without = make_kinds(two)
    assert without.mapped
    assert without.with_list(np.array([3])).mapped
    assert (
        "clusters of the mapped vectors, since those that these were made from are not on this machine"
        in without.in_words()
    )
    assert np.array_equal(without.of, _clusters(two))


def _clusters(mapped: Embedding) -> Ids:
    return make_kinds(Embedding(mapped.words, mapped.vectors)).of


def test_words_that_stand_apart_are_the_most_frequent_ones() -> None:
    counts = np.array([1.0, 9.0, 2.0, 9.0] + [0.0] * 16)
    kinds = make_kinds(random_embedding(20, 2), counts=counts)
    assert np.flatnonzero(kinds.of < 0).tolist() == [1, 3, 20], "a tenth of a small vocabulary"
    assert (make_kinds(random_embedding(2_000, 2), counts=np.arange(2_000)).of < 0).sum() == 151


def test_a_small_vocabulary_has_fewer_kinds() -> None:
    kinds = make_kinds(random_embedding(50, 3))
    assert kinds.count == 4
    assert (kinds.of[:-1] < 0).sum() == 5
    with pytest.raises(InvalidParameter, match="clusters"):
        make_kinds(random_embedding(50, 3), clusters=0)
