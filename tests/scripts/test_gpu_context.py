"""Reading in context on a GPU gives the posterior that all texts of input words together have, and the words
that it expects."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.sparse import coo_array

from deniable.decoding.ngrams import Bigrams

WORDS = 4


def test_expected_words_are_those_of_all_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from scripts.gpu import readings as gpu_readings

    monkeypatch.setattr(gpu_readings, "TEXTS_AT_ONCE", 2)
    random, inputs = np.random.default_rng(0), np.array([0, 2, WORDS])
    chances = random.dirichlet(np.ones(WORDS), len(inputs))
    follows = random.random((WORDS + 1, WORDS + 1))
    backing_off = random.random(WORDS + 1)
    shares = random.dirichlet(np.ones(len(inputs)))
    bigrams = Bigrams(
        follows=coo_array(follows),
        backing_off=backing_off,
        alone=np.ones(WORDS + 1),
        counts=np.ones(WORDS + 1),
    )
    released, offsets = np.array([1, 3, 0, 2, 2, 1]), np.array([0, 3, 3, 4, 6])
    original = np.array([0, 2, WORDS, 2, 0, 3])  # the last one is none of the inputs: nobody names it
    texts = gpu_readings.Texts(original, offsets, np.zeros(4, dtype=np.int64), WORDS)
    reading = gpu_readings.InContext(inputs, torch.tensor(shares).float(), bigrams, texts)
    named, expected = reading.expected(torch.tensor(chances).float(), torch.tensor(released))

    steps = follows[np.ix_(inputs, inputs)] + backing_off[inputs][:, None] * shares
    right, wanted = 0, np.zeros((4, WORDS + 1))
    for text in range(4):
        own = released[offsets[text] : offsets[text + 1]]
        posterior = np.zeros((len(own), len(inputs)))
        for words in product(range(len(inputs)), repeat=len(own)) if len(own) else ():
            chance = shares[words[0]] * np.prod(
                [chances[word, output] for word, output in zip(words, own, strict=True)]
            )
            chance *= np.prod([steps[before, after] for before, after in pairwise(words)])
            for place, word in enumerate(words):
                posterior[place, word] += chance
        if len(own):
            posterior /= posterior.sum(axis=1, keepdims=True)
            wanted[text, inputs] = posterior.sum(axis=0)
            right += int(
                (inputs[posterior.argmax(axis=1)] == original[offsets[text] : offsets[text + 1]]).sum()
            )
    assert expected.numpy() == pytest.approx(wanted, rel=1e-4, abs=1e-6)
    assert named == pytest.approx(right / len(original))
    assert reading.named(torch.tensor(chances).float(), torch.tensor(released)) == named
