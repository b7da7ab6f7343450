"""Measures by which penalty the directions of a purpose are learnt best: first on public texts alone, then what it is worth in releases.

    python scripts/measure_directions.py choose --data DATA -o docs/experiments/purpose-directions.json
    python scripts/measure_directions.py release --data DATA -o docs/experiments/purpose-directions.json

DATA is made by ``measure_purpose.py prepare``. ``choose`` learns directions from one half of public texts and asks how well the labels of
the other half are told from mean vectors in the shaped space, with noise twice as wide as words are spread along the first
principal axis: about what a private ε makes of each word. No text that is released anywhere on the page has a part in that.
``release`` measures the penalty of the product, and the one before it, as ``measure_decoding.py`` does, where the attacker names 8 %.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from deniable import Embedding
from deniable.arrays import Floats
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.learning.passages import Passages, passages_of
from deniable.learning.perturbation import draw
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours.threads import threads
from deniable.purpose import directions, shape
from deniable.purpose.directions import learn_directions
from deniable.purpose.features import mean_vectors
from deniable.purpose.public_texts import PublicTexts, read_public
from deniable.purpose.shaping import map_of_directions
from deniable.text.policies import TextPolicy
from measure_decoding import Run, inputs_of, named_share, read_asked, shares_of, write_result
from purpose_settings import PUBLIC, PURPOSES, SOURCE, shape_name

BEFORE = 30.0
"""The penalty that spaces were shaped with before, of the loss of all texts, however many there were."""

PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
PUBLIC_SETS = ("topic", "sentiment", "newsgroups", "insurance", "negation", "questions")
NOISE, DIMENSION, STRENGTH, MOST_TEXTS = 2.0, 16, 2.0, 4_000
RELEASED = {("agnews", 4.0): 0.7262, ("agnews", 2.0): 1.228, ("sst2", 8.0): 0.9062, ("sst2", 4.0): 1.379}
"""Data and strength, with the ε at which the attacker names about 8 % in the space as it was shaped before."""

ATTACKER, CLOSE, TRIES, RUNS = 0.08, 0.003, 4, 3


def main() -> None:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["choose", "release"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    result = json.loads(given.output.read_text(encoding="utf-8")) if given.output.exists() else {}
    source = Embedding.open(SOURCE)
    found = choices(source, given.data) if given.command == "choose" else releases(source, given.data, result.get("releases", []))
    for each in found:
        write_result(given.output, {**result, {"choose": "public", "release": "releases"}[given.command]: each})


def choices(source: Embedding, data: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield, after each public set, how well labels of the other half are told by each penalty."""
    found: list[dict[str, Any]] = []
    for name in PUBLIC_SETS:
        texts = _public(data, name)
        chosen = np.random.default_rng(1).permutation(len(texts.texts))[:MOST_TEXTS]
        half = len(chosen) // 2
        learn, judge = (
            PublicTexts.of([texts.labels[i] for i in part], [texts.texts[i] for i in part], kind="classes")
            for part in (chosen[:half], chosen[half:])
        )
        means, _ = mean_vectors(source, judge.texts)
        lengths = np.array([max(1, len(text.split())) for text in judge.texts])
        accuracy = {}
        for penalty in PENALTIES:
            with _penalty(penalty):
                learnt = learn_directions(source, learn)
            made = map_of_directions(source, [learn], [learnt], dimension=DIMENSION, strength=STRENGTH)
            matrix = made.matrix
            first = float((source.vectors @ matrix[0]).std())
            accuracy[f"{penalty:g}"] = _told_in_noise(means @ matrix.T, lengths, judge.labels, NOISE * first)
        found.append({"name": name, "texts": len(chosen), "accuracy": accuracy})
        print(json.dumps(found[-1]), flush=True)
        yield found


def _told_in_noise(features: Floats, lengths: Floats, labels: list[str], noise: float) -> float:
    """Return how many labels are told from means of noisy words, by a model that learnt from such means; five times."""
    told = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        noisy = features + rng.standard_normal(features.shape) * noise / np.sqrt(lengths)[:, None]
        order = rng.permutation(len(labels))
        learnt, judged = np.split(order, [3 * len(order) // 4])
        scaled, answers = StandardScaler().fit(noisy[learnt]).transform(noisy), np.array(labels)
        model = LogisticRegression(C=0.1, max_iter=500).fit(scaled[learnt], answers[learnt])
        told.append(float(model.score(scaled[judged], answers[judged])))
    return float(np.mean(told))


def releases(source: Embedding, data: Path, known: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield, after each setting, what is learnt from releases in spaces of both penalties; what is known is not measured again."""
    found = list(known)
    there = {(each["data"], each["strength"], each["penalty"]) for each in known}
    for (name, strength), start in RELEASED.items():
        texts = len(_public(data, PURPOSES[name]).texts)
        for penalty in (directions.PENALTY, BEFORE / texts):
            if (name, strength, penalty) not in there:
                found.append(_released(source, data, name, strength, penalty, start))
                print(json.dumps(found[-1]), flush=True)
                yield found


def _released(source: Embedding, data: Path, name: str, strength: float, penalty: float, start: float) -> dict[str, Any]:
    purpose = PURPOSES[name]
    with _penalty(penalty):
        space = shape(
            source, [_public(data, purpose)], dimension=DIMENSION, strength=strength, name=shape_name(purpose, DIMENSION, strength)
        )
    texts, labels = read_asked(
        {"data": str(data / f"{name}.jsonl.xz"), "text": "text", "label": "label", "most": None, "longest": 100}, space
    )
    passages = passages_of(texts, space, TextPolicy())
    channel, tried = _channel_where(space, passages, start)
    runs = [Run(passages, labels, space, seed=seed) for seed in range(1, RUNS + 1)]
    return {
        "data": name,
        "strength": strength,
        "penalty": penalty,
        "fingerprint": space.fingerprint,
        "epsilon": channel.epsilon,
        "tried": tried,
        "original": [run.original for run in runs],
        "releases": [run.release(ChosenMechanism(), channel) for run in runs],
    }


def _channel_where(space: Embedding, passages: Passages, epsilon: float) -> tuple[Channel, list[tuple[float, float]]]:
    """Return the channel at the ε where the attacker names the share asked for, and all that was tried; by secants from a start."""
    tried: list[tuple[float, float]] = []
    while True:
        channel = make_channel(space, epsilon=epsilon, inputs=inputs_of(space), keep=False)
        released = draw(passages, ChosenMechanism()(space, epsilon=epsilon), threads=threads())
        tried.append((epsilon, named_share(passages, released, channel, shares_of(passages, space))))
        print(tried, flush=True)
        off = ATTACKER - tried[-1][1]
        if abs(off) <= CLOSE or len(tried) == TRIES:
            return channel, tried
        slope = 0.07  # of the share by the logarithm of ε, near 8 %
        if len(tried) > 1 and (tried[-1][1] - tried[-2][1]) * (tried[-1][0] - tried[-2][0]) > 0.0:
            slope = (tried[-1][1] - tried[-2][1]) / math.log(tried[-1][0] / tried[-2][0])
        epsilon = float(f"{epsilon * math.exp(max(-0.5, min(0.5, off / slope))):.4g}")


def _public(data: Path, purpose: str) -> PublicTexts:
    return read_public(data / f"{PUBLIC[purpose][0]}.jsonl.xz", text_column="text", label_column="label", kind="classes")


@contextmanager
def _penalty(value: float) -> Iterator[None]:
    with mock.patch.object(directions, "PENALTY", value):
        yield


if __name__ == "__main__":
    main()
