"""The language model of the auditor's protocol."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings:
    """What Song and Shmatikov trained: words, 256 coordinates each, an LSTM of 128, and a softmax over the words."""

    vocabulary: int = 5_000
    embedding: int = 256
    hidden: int = 128
    dropout: float = 0.25
    sequence: int = 35
    batch: int = 20
    rate: float = 1e-3
    clip: float = 5.0
    epochs: int = 30
