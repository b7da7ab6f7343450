"""A decoder reads released words as they were written, and gives what Bayes' rule gives, alone and in
context."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter, Multivariate
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.channel_decoder import UNKNOWN, ChannelDecoder
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams, count_bigrams
from deniable.decoding.posterior import Posterior
from deniable.words.released import ReleasedWords
from tests.support.strategies import random_embedding

WORDS = 12
EMBEDDING = random_embedding(WORDS, 3)
TEXTS = ["w1 w2 w3", "w4", "", "w5 w1 w1 w0 w11", None]


@pytest.fixture
def channel() -> Channel:
    return make_channel(EMBEDDING, epsilon=2.0, directions=200)


@pytest.fixture
def model() -> Bigrams:
    rng = np.random.default_rng(3)
    made = count_bigrams([rng.integers(0, WORDS + 1, 30) for _ in range(10)], WORDS + 1)
    assert made is not None
    return made


def test_every_word_of_an_embedding_is_read_as_itself() -> None:
    words = ["u.s.", "'s", "e-mail", "...", ",", "n't", "Paris", "paris", "--", "a/b"]
    embedding = Embedding(words, np.random.default_rng(0).normal(size=(len(words), 3)).astype(np.float32))
    found = list(ReleasedWords(embedding).ids([" ".join(words), *words]))
    assert found[0].tolist() == [embedding.index[word] for word in words]
    assert [each.tolist() for each in found[1:]] == [[embedding.index[word]] for word in words]


def test_kept_marks_are_read_through_and_fixed_marks_stand_for_nothing() -> None:
    reader = ReleasedWords(EMBEDDING, ["[redacted]"])
    first, second = reader.ids(["W1, w2! [redacted] (w3)", "nothing known"])
    assert first.tolist() == [1, 2, 3]
    assert second.tolist() == [EMBEDDING.unknown_id] * 2
    counts = reader.counts(["w1 w1 odd", None, "[redacted]"]).toarray()
    assert counts.sum(axis=1).tolist() == [2.0, 0.0, 0.0]
    assert counts[0, 1] == 2.0


@pytest.mark.parametrize(
    "text", [None, "", "{0} {1}", "{0} [redacted] {1}", "{0}. {1}, 'zzz", "[redacted]", "{0}{1} {0}"]
)
def test_drawn_words_are_those_that_have_an_id(text: str | None) -> None:
    reader = ReleasedWords(EMBEDDING, ["[redacted]"])
    text = None if text is None else text.format(EMBEDDING.words[0].upper(), EMBEDDING.words[1])
    (ids,) = reader.ids([text])
    assert reader.drawn(text) == (ids != EMBEDDING.unknown_id).sum()


def test_texts_are_decoded_word_by_word(channel: Channel) -> None:
    decoder = ChannelDecoder(channel)
    best = [decoder.candidates(f"w{i}")[0].word for i in range(WORDS)]
    assert decoder("w1 w2 w3") == " ".join(best[1:4])
    assert decoder.decode(TEXTS) == [
        " ".join(best[i] for i in (1, 2, 3)),
        best[4],
        "",
        " ".join(best[i] for i in (5, 1, 1, 0, 11)),
        None,
    ]
    assert decoder("w1 strange w2") == f"{best[1]} {UNKNOWN} {best[2]}"
    with pytest.raises(InvalidParameter, match="cannot have been released"):
        decoder.candidates("strange")


def test_candidates_are_those_of_the_posterior_in_order(channel: Channel) -> None:
    decoder = ChannelDecoder(channel)
    ((first, second),) = decoder.candidates_in(["w1 strange"], top=4)
    assert first == ("w1", decoder.candidates("w1", top=4))
    assert second == (UNKNOWN, [])
    chances = [candidate.probability for candidate in first[1]]
    assert len(chances) == 4
    assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize("in_context", [False, True])
def test_expected_counts_and_vectors_are_sums_over_candidates(
    channel: Channel, model: Bigrams, in_context: bool
) -> None:
    decoder = ChannelDecoder(channel, context=model if in_context else None)
    counts = decoder.expected_counts(TEXTS, least=0.0).toarray()
    at = {word: place for place, word in enumerate(decoder.input_words)}
    expected = np.zeros_like(counts)
    for row, words in enumerate(decoder.candidates_in(TEXTS, top=WORDS + 1)):
        for _, candidates in words:
            for candidate in candidates:
                expected[row, at[candidate.word]] += candidate.probability
    assert counts == pytest.approx(expected)
    assert counts.sum(axis=1) == pytest.approx([3, 1, 0, 5, 0], rel=1e-2)
    vectors = EMBEDDING.rows(decoder.inputs)
    means = decoder.expected_vectors(TEXTS)
    assert means[3] == pytest.approx(counts[3] @ vectors / 5, abs=0.05)
    assert not means[[2, 4]].any()


def test_a_text_is_decoded_without_a_table_of_all_candidates_of_its_words(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would take kilobytes a word, and a record may have millions."""
    widths, padded = [], Posterior.padded

    def noted(self: Posterior, *given: Any, **how: Any) -> Any:
        tables = padded(self, *given, **how)
        widths.append(tables[0].shape[1])
        return tables

    monkeypatch.setattr(Posterior, "padded", noted)
    decoder = ChannelDecoder(channel)
    decoder.decode(["w1 w2 w3"])
    list(decoder.candidates_in(["w1 w2 w3"], top=3))
    assert widths == [1, 3]


def test_small_counts_are_left_out_and_only_those(channel: Channel) -> None:
    decoder = ChannelDecoder(channel)
    everything, cut = (decoder.expected_counts(TEXTS, least=least).toarray() for least in (0.0, 0.2))
    assert cut == pytest.approx(np.where(everything >= 0.2, everything, 0.0))
    assert (cut != everything).any()


def test_in_context_it_is_the_forward_backward_algorithm(channel: Channel, model: Bigrams) -> None:
    prior = np.random.default_rng(2).dirichlet(np.ones(len(channel)))
    decoder = ChannelDecoder(channel, prior, context=model)
    places = next(ContextDecoder(channel, model, prior).decode([np.array([5, 1, 1, 0, 11])]))
    words = [*EMBEDDING.words, UNKNOWN]
    assert decoder("w5 w1 w1 w0 w11").split() == [words[i] for i in places.likeliest]
    alone = ChannelDecoder(channel, prior)
    assert any(decoder(text) != alone(text) for text in ("w5 w1 w1 w0 w11", "w1 w2 w3 w4 w6 w7 w8"))


def test_a_prior_learnt_from_the_release_is_the_one_that_decodes(channel: Channel) -> None:
    texts = ["w1 w1 w2", "w1 w3", "w2 w1", "w1", "w1 w5"] * 4
    decoder = ChannelDecoder.learn_from(channel, texts)
    learnt = decoder.learnt
    assert decoder.prior == pytest.approx(learnt.shares)
    assert int(channel.inputs[int(np.argmax(learnt.shares))]) in (
        1,
        int(ChannelDecoder(channel).bayes.best[1]),
    )
    with pytest.raises(InvalidParameter, match="no word of the embedding"):
        ChannelDecoder.learn_from(channel, ["strange", None])


def test_errors_of_an_estimated_channel_are_not_learnt() -> None:
    embedding = random_embedding(200, 6, seed=4)
    rough = make_channel(embedding, epsilon=2.5, directions=30)
    true = 1.0 / np.arange(1, 201)
    true /= true.sum()
    rng = np.random.default_rng(5)
    words = rng.choice(200, 20_000, p=true)
    outputs = Draws(Multivariate(embedding, epsilon=2.5), seed=3).of_each(words)
    texts = [" ".join(embedding.words[i] for i in part) for part in outputs.reshape(-1, 20).tolist()]
    start = np.append(true, 0.01)[rough.inputs] * rng.uniform(0.5, 1.5, 201)

    def off(weight: float | None) -> float:
        found = ChannelDecoder.learn_from(rough, texts, start=start, weight=weight).learnt
        shares = np.zeros(201)
        shares[rough.inputs] = found.shares
        return float(np.abs(shares[:200] - true).sum())

    assert off(None) < 0.8 * off(0.0)
