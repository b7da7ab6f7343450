"""Linking finds the right text where the release shows it, and no more than guessing where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from deniable import InvalidParameter
from deniable.audit.linked import ShareLinked, linked
from deniable.audit.results import NO_BOUND
from deniable.measures.catalogue import Setting
from deniable.measures.texts import Texts
from tests.support.strategies import random_embedding


def counts(seed: int, texts: int = 60, words: int = 500) -> csr_array:
    return csr_array(np.random.default_rng(seed).poisson(0.05, (texts, words)).astype(float))


def test_texts_that_were_not_changed_are_all_linked() -> None:
    found = linked(counts(0), {"same": counts(0)})
    assert found is not None
    assert (found.first, found.among_first_few, found.blind) == (1.0, 1.0, 1 / 60)
    assert found.to_dict()["bound"] == NO_BOUND


def test_texts_that_have_nothing_to_do_with_the_originals_are_linked_by_chance() -> None:
    found = linked(counts(0, 400), {"other": counts(1, 400)})
    assert found is not None
    assert found.first < 0.03
    assert found.among_first_few < 0.08


def test_readings_that_say_the_same_of_every_text_are_guesses() -> None:
    empty = csr_array(np.zeros((60, 500)))
    found = linked(counts(0), {"nothing": empty})
    assert found is not None
    assert found.first == pytest.approx(1 / 60)
    assert found.among_first_few == pytest.approx(10 / 60)


def test_texts_that_stand_twice_are_found_half_of_the_time() -> None:
    once = counts(0, 30).toarray()
    twice = csr_array(np.vstack([once, once]))
    found = linked(twice, {"same": twice})
    assert found is not None
    assert found.first == pytest.approx(0.5)


def test_the_best_reader_counts_and_vectors_are_one_more() -> None:
    original = counts(0)
    vectors = np.random.default_rng(3).normal(size=(500, 20))
    found = linked(original, {"other": counts(1), "same": original}, vectors=vectors)
    assert found is not None
    assert found.reader.startswith("same")


def test_too_few_texts_say_nothing_and_other_texts_are_refused() -> None:
    assert linked(counts(0, 1), {"same": counts(0, 1)}) is None
    with pytest.raises(InvalidParameter):
        linked(counts(0), {"other": counts(0, 59)})


def test_persons_are_linked_where_the_release_changes_little() -> None:
    """The measure gathers the texts of a person; the last word is theirs alone."""
    space = random_embedding(40, 3, seed=1)
    ids = np.column_stack([np.arange(40) % 7, np.arange(40) // 2]).ravel()
    words = [str(space.words[i]) for i in ids.tolist()]
    texts = Texts(
        ids=ids, offsets=np.arange(0, 81, 2), spelled=words, labels=[str(i // 2) for i in range(40)]
    )
    measure = ShareLinked(by_label=True)
    open_, closed = (measure(Setting(embedding=space, epsilon=epsilon), texts) for epsilon in (100.0, 0.01))
    assert open_.value == 1.0
    assert open_.blind == closed.blind == 1 / 20
    assert closed.value < 0.3
