"""What an audit attacks is what a release makes, also where the embedding tells Rome from rome.

At a huge ε a release with such an embedding changes no word that it knows: an audit that folded case would
see other words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
from deniable.audit import audit_inversion
from deniable.audit.draws import draw_texts, draw_users
from deniable.audit.inversion.drawn_words import InversionEffort
from deniable.decoding.priors import from_corpus
from deniable.lab.authorship import audit_authorship, cut_split, draw_split, split_by_author
from deniable.lab.membership.audit import audit_membership, choose_users
from deniable.records.reading import LabelledTexts

HUGE = 1e6
TEXT = "Anna went to Rome; Ben and Anna-Maria did NOT go to rome."
CASED = "Anna Ben Rome rome went to and did NOT go Anna-Maria anna maria".split()
UNCASED = ["anna", "ben", "rome", "went", "to", "and", "did", "not", "go", "anna-maria", "maria"]


def made(words: list[str]) -> Embedding:
    return Embedding(words, np.random.default_rng(0).standard_normal((len(words), 4)), name="made")


def people(count: int = 4, each: int = 6) -> LabelledTexts:
    names = [f"p{number}" for number in range(count) for _ in range(each)]
    return LabelledTexts(source="letters.csv", labels=names, texts=[TEXT] * len(names))


@pytest.mark.parametrize("words", [CASED, UNCASED])
@pytest.mark.parametrize("epsilon", [1.0, HUGE])
def test_what_is_drawn_for_users_is_what_a_privatizer_releases_word_for_word(
    words: list[str], epsilon: float
) -> None:
    mechanism = Multivariate(made(words), epsilon=epsilon)
    data = LabelledTexts(source="x", labels=["a", "a"], texts=[TEXT, "Strangers in ROME, Anna."])
    users = list(choose_users(data, mechanism.embedding, fewest=1, most=9, seed=0).values())
    drawn, changed = draw_users(mechanism, users, seed=7)
    private = Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=7))
    assert (
        [" ".join(text) for text in drawn[0]]
        == private.many(data.texts)
        == draw_texts(mechanism, data.texts, seed=7)
    )
    if epsilon == HUGE:
        assert changed * sum(len(text) for text in users[0]) == pytest.approx(2), (
            "only the words that the embedding does not know"
        )


def test_membership_sees_no_change_where_a_release_changes_nothing() -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    embedding = made(CASED)
    assert Privatizer(Multivariate(embedding, epsilon=HUGE))(TEXT).split() == [
        "Anna", "went", "to", "Rome", "Ben", "and", "Anna-Maria", "did", "NOT", "go", "to", "rome",
    ]  # fmt: skip
    found = audit_membership(people(), embedding, epsilons=[HUGE], min_texts=2, shadows=1, epochs=1)
    assert found.facts["ε = 1e+06"].changed == 0.0
    assert found.data["words"] == 4 * 6 * 12


def test_authorship_compares_released_texts_with_texts_cut_alike() -> None:
    split = split_by_author(people())
    embedding = made(CASED)
    assert draw_split(split, Multivariate(embedding, epsilon=HUGE), seed=0) == cut_split(split, embedding)
    assert (
        cut_split(split, embedding).judged.texts[0]
        == "Anna went to Rome Ben and Anna-Maria did NOT go to rome"
    )


def test_authors_who_differ_in_case_alone_are_told_apart_where_case_is_released() -> None:
    data = LabelledTexts(
        source="x", labels=["up", "low"] * 12, texts=["Rome Rome to Rome", "rome rome to rome"] * 12
    )
    cased, uncased = (audit_authorship(data, made(words), epsilons=[HUGE]) for words in (CASED, UNCASED))
    assert (
        cased.original.value
        == cased.released[0].learnt_from_original.value
        == cased.released[0].learnt_from_released.value
        == 1.0
    )
    assert uncased.original.value == uncased.released[0].learnt_from_released.value == uncased.guess


def test_inversion_counts_the_words_of_a_corpus_as_they_are_spelled(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Rome Rome Rome\nrome Anna-Maria\n")
    embedding = made(CASED)
    prior = dict(zip(embedding.words, from_corpus(embedding, corpus).tolist(), strict=True))
    assert {word: share for word, share in prior.items() if share} == {
        "Rome": 0.6,
        "rome": 0.2,
        "Anna-Maria": 0.2,
    }
    found = audit_inversion(
        embedding, epsilons=[HUGE], corpus=corpus, effort=InversionEffort.of(30, points=32)
    )
    assert found.results[0].bayes.value == 1.0
    assert found.results[0].prior_guess == 0.6
