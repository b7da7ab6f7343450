"""What is kept of whole embeddings is what a calibration says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scripts.calibration import measure

from deniable import Embedding
from deniable.calibration.by_rays import measure_by_rays
from deniable.embeddings import store


def test_what_is_kept_of_an_embedding_is_what_its_calibration_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    vectors = np.random.default_rng(0).standard_normal((90, 4))
    vectors[[5, 50]] = [[7.0, 0.0, 0.0, 0.0], [0.0, -6.0, 0.0, 0.0]]
    embedding = Embedding([f"w{i}" for i in range(90)], vectors)
    store.save(embedding, "lonely")
    asked = "measure lonely --epsilon 1 --epsilon 2 --rays 60 --sample 40 --title t --machine m --claim 1 -o"
    monkeypatch.setattr(sys, "argv", [*asked.split(), str(tmp_path / "kept.json")])
    measure.main()
    content = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    whole = measure_by_rays(embedding, rays=60, keep=False)
    for row in content["table"]:
        means, _ = whole.unchanged(row["epsilon"])
        assert row["average"] == pytest.approx(means.mean(), rel=1e-4)
        assert row["words_above_half"] == (means > 0.5).sum()
    claim = content["claim"]
    assert claim["above_half"] == content["table"][0]["words_above_half"] >= 2
    assert {"w5", "w50"} <= {word["word"] for word in claim["worst"][:3]}
    assert claim["protected"]["largest_unchanged"] <= 0.5
    assert claim["protected"]["fewest_distinct"] >= 18  # 300 of 1,000
    assert claim["why"]["exposed"]["nearest_at"] > claim["why"]["others"]["nearest_at"]
    largest = content["all_words"]
    assert whole.unchanged(largest["epsilon"])[0].max() <= 0.5 + 1e-4
    assert whole.unchanged(1.01 * largest["epsilon"])[0].max() > 0.5
