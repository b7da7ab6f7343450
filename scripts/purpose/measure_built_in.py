"""Measure the built-in spaces of purposes beside the paper's mechanism: docs/research/purpose-built-in.json.

    python -m scripts.purpose.measure_built_in DATASETS [sst2 cr mpqa agnews newsgroups]

DATASETS is the folder of the labelled sets (``short/cr.jsonl.xz`` and others), none of them learnt from. ε is
the largest at which the Bayes bound, with the frequencies of these very texts, is at most 8 or 17 % of the
words; a receiver learns from three quarters of the released texts and judges the last quarter. Rows that are
there already are kept.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.embeddings.kinds import make_kinds
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.capacity import capacity
from deniable.measures.catalogue import Setting, solve_for
from deniable.measures.texts import Texts, cut_texts
from deniable.utility.accuracy import AccuracyOfLabels, DecodingEffort, Reading
from scripts.pages import EXPERIMENTS, json_lines, read_json, write_json

KEPT = EXPERIMENTS / "purpose-built-in.json"
LEVELS = (0.08, 0.17)
MADE_FOR = {
    "sst2": "for-sentiment",
    "cr": "for-sentiment",
    "mpqa": "for-sentiment",
    "agnews": "for-topic",
    "newsgroups": "for-topic",
}
"""The sets, none of them learnt from, and the space that is made for each."""

FILES = {
    "sst2": "short/sst2_sentences",
    "cr": "short/cr",
    "mpqa": "short/mpqa",
    "agnews": "short/agnews_test_only",
    "newsgroups": "newsgroups20/20ng_cachopo_bydate",
}
TEXTS, LONGEST, SEEDS = 2_500, 100, (1, 2, 3)
EFFORT = DecodingEffort(support=10_000, directions=200)
READINGS: tuple[Reading, ...] = ("as released", "mean vectors", "decoded", "decoded mean vectors")
START = {"for-sentiment": 0.3, "for-topic": 0.3, "default": 3.0}


def texts_of(folder: Path, name: str, embedding: Embedding) -> Texts:
    """Return some texts of a set, always the same ones."""
    rows = json_lines(folder / f"{FILES[name]}.jsonl.xz")
    drawn = np.random.Generator(np.random.PCG64(0)).permutation(len(rows))[:TEXTS]
    labels = [str(rows[i]["label"]) for i in drawn]
    return cut_texts([rows[i]["text"] for i in drawn], embedding, labels=labels, longest=LONGEST)


def measured(name: str, space: str, level: float, texts: Texts, embedding: Embedding) -> dict[str, Any]:
    """Return one row."""
    began = time.perf_counter()
    setting, found = solve_for(
        "bayes-bound", Setting(embedding=embedding, epsilon=START[space]), texts, at_most=level
    )
    factor = capacity(setting.mechanism_at_epsilon, draws=2_000)
    counts = np.bincount(texts.ids, minlength=len(embedding) + 1).astype(np.float64)
    whole = Embedding.open()  # the kinds of words are the same in every space: clusters of public vectors
    kinds = make_kinds(whole, counts=counts)
    named = bayes_bound(
        setting.mechanism_at_epsilon,
        Words(shares=counts, in_words="words of the texts", kinds=kinds),
        draws=2_000,
    )
    readings: dict[str, list[float]] = {}
    for reading in READINGS:
        for seed in SEEDS[: 1 if reading.startswith("decoded") else None]:
            told = AccuracyOfLabels(reading=reading, effort=EFFORT)(setting, texts, seed=seed)
            readings.setdefault(reading, []).append(told.value)
    assert factor is not None
    assert named is not None
    return {
        "data": name,
        "space": space,
        "fingerprint": embedding.fingerprint,
        "level": level,
        "epsilon": setting.epsilon,
        "bound": found.value,
        "blind": found.blind,
        "capacity": factor.value,
        "kinds": named.value,
        "kinds_blind": named.blind,
        "guessing": told.blind,
        "texts": len(texts),
        "readings": {reading: float(np.mean(values)) for reading, values in readings.items()},
        "seconds": round(time.perf_counter() - began),
    }


def original(name: str, texts: Texts, embedding: Embedding) -> dict[str, Any]:
    """Return what the original texts tell, by the better reading: nothing is changed at a huge ε."""
    setting = Setting(embedding=embedding, epsilon=1e6)
    told = {
        reading: AccuracyOfLabels(reading=reading)(setting, texts, seed=1).value for reading in READINGS[:2]
    }
    return {"data": name, "space": "original", "readings": told}


def main() -> None:
    """Measure what is missing."""
    folder, rows = Path(sys.argv[1]), read_json(KEPT) if KEPT.exists() else []
    known = {(row["data"], row["space"], row.get("level")) for row in rows}
    for name in sys.argv[2:] or MADE_FOR:
        for space in (MADE_FOR[name], "default"):
            embedding = Embedding.open(space)
            texts = texts_of(folder, name, embedding)
            if space == "default" and (name, "original", None) not in known:
                rows.append(original(name, texts, embedding))
            for level in LEVELS:
                if (name, space, level) not in known:
                    rows.append(measured(name, space, level, texts, embedding))
                    print(rows[-1], flush=True)
                    write_json(KEPT, rows)


if __name__ == "__main__":
    main()
