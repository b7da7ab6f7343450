"""Fixtures of several rooms, and a small IMDb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.made_reviews import made_reviews
from tests.support.made_tasks import installed, questions, reviews, two_kinds

from deniable.lab.tasks import classification

__all__ = ["installed", "questions", "reviews", "two_kinds"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The JSON Lines of IMDb with 60 reviews a split."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    for name, value in {"PER_SPLIT": 60, "TRAINING": 40, "SET_ASIDE": 20, "VALIDATION": 20}.items():
        monkeypatch.setattr(classification, name, value)
    rows = []
    for split, seed in (("train", 1), ("test", 2)):
        made = made_reviews(400, seed)
        for wanted in (0, 1):
            texts = [text for text, label in zip(made.texts, made.labels, strict=True) if label == wanted]
            rows += [{"split": split, "label": wanted, "text": text} for text in texts[:30]]
    file = tmp_path / "imdb.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file
