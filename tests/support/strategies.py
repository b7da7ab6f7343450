"""Hypothesis strategies and small embeddings shared by the tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from deniable import Embedding

NASTY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\x00\x85\u2028\u2029\u200d\ufe0f\u00a0\u0301'’.-_ \t\r\n🎉👩‍👩‍👧אبไ中"),
    ),
    max_size=200,
)
"""Any Unicode text without lone surrogates, with the characters that trip tokenisers made frequent."""


def random_embedding(
    words: int, dimension: int, *, seed: int = 0, scale: float = 1.0, name: str = "random"
) -> Embedding:
    """Return an embedding of normal vectors under the words w0, w1, …"""
    vectors = np.random.default_rng(seed).standard_normal((words, dimension)) * scale
    return Embedding([f"w{i}" for i in range(words)], vectors, name=name)


def line_embedding(*points: float) -> Embedding:
    """Return words a, b, c, … on a line."""
    return Embedding([chr(ord("a") + i) for i in range(len(points))], np.array(points)[:, None], name="line")
