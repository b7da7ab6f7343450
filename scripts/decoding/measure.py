"""Measures what decoding a release gives back: accuracy of linear models and word frequencies, as released
and decoded.

    python -m scripts.decoding.measure epsilons DATA.jsonl.xz --name sst2 --attacker 0.08 --attacker 0.17
    --attacker 0.33 -o RESULT.json python -m scripts.decoding.measure measure RESULT.json [--public TEXT.txt]

purpose.measure measures the same for more data and spaces, on a GPU.

ε is where a context-free Bayes attacker who knows the true word frequencies names the wanted share of the
words; judged on a release that the estimate of the channel has not seen. The receiver knows none of that: the
release, the embedding, the mechanism and ε, and with --public a public text. Models learn from three quarters
of the texts and are judged on the rest; every run has fresh noise and another split. What is learnt from is
"released" or "original", and so is what is judged.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.making import make_channels
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.priors import SUPPORT, first_shares
from deniable.lab.passages import Passages, passages_of
from deniable.lab.perturbation import changed_share, draw
from deniable.learning.classifiers import SoftTfidf
from deniable.mechanisms.catalogue import ChosenMechanism, parse_mechanism
from deniable.neighbours.threads import threads
from deniable.release.policies import TextPolicy
from deniable.utility.accuracy import stratified_split
from deniable.utility.measurement import read_classified
from deniable.words.cutter import Cutter

HELD_OUT = 0.25
FIRST_GRID = {
    "multivariate": (0.1, 2.5),
    "mahalanobis": (0.1, 2.5),
    "vickrey": (0.1, 8.0),
    "rank-smoothing": (0.1, 8.0),
    "randomized-response": (4.0, 16.0),
    "santext": (0.2, 60.0),
    "santext-plus": (0.2, 60.0),
    "tem": (0.2, 60.0),
    "custext": (0.05, 20.0),
}
"""Where ε is looked for first: of those that add noise to a vector, in units of its dimension divided by a
typical length."""
BY_LENGTH = ("multivariate", "mahalanobis", "vickrey", "rank-smoothing")
STEPS = 14
_ROUNDS, _SETTLED = 500, 1e-5
"""A fit ends by the slope of the mean loss. Where words say little it is below 10⁻³ before the first step,
and nothing would be learnt."""


def main() -> None:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    finding = commands.add_parser("epsilons", help="find where the attacker names the wanted shares of words")
    finding.add_argument("data", type=Path)
    finding.add_argument("--name", required=True)
    finding.add_argument("--text", default="text")
    finding.add_argument("--label", default="label")
    finding.add_argument("--embedding", default="default")
    finding.add_argument("--mechanism", default="multivariate")
    finding.add_argument("--attacker", type=float, action="append", required=True)
    finding.add_argument(
        "--epsilon", type=float, action="append", help="the ε of each attacker, where it is known already"
    )
    finding.add_argument("--texts", type=int)
    finding.add_argument("--longest", type=int, default=100, help="words of a text that are used")
    finding.add_argument("-o", "--output", type=Path, required=True)
    measuring = commands.add_parser("measure", help="release, decode, learn and judge")
    measuring.add_argument("result", type=Path)
    measuring.add_argument("--runs", type=int, default=3)
    measuring.add_argument("--directions", type=int, default=1000)
    measuring.add_argument("--public", type=Path)
    given = parser.parse_args()
    {"epsilons": find_epsilons, "measure": measure}[given.command](given)


def find_epsilons(given: argparse.Namespace) -> None:
    """Write which ε give the wanted attackers."""
    embedding, mechanism = Embedding.open(given.embedding), parse_mechanism(given.mechanism)
    asked = {
        "data": str(given.data),
        "text": given.text,
        "label": given.label,
        "most": given.texts,
        "longest": given.longest,
    }
    result, passages = describe(given.name, asked, embedding, given.embedding, given.mechanism)
    if given.epsilon:
        found = list(zip(given.attacker, given.epsilon, strict=True))
    else:
        rough = epsilons_where(embedding, mechanism, passages, given.attacker)
        found = refined_epsilons(embedding, mechanism, passages, rough)
    write_result(given.output, result | {"epsilons": found})


def describe(
    name: str, asked: dict[str, Any], embedding: Embedding, embedding_name: str, mechanism: str
) -> tuple[dict[str, Any], Passages]:
    """Return what a result says before anything is measured, and the texts as words."""
    texts, _ = read_asked(asked, embedding)
    passages = passages_of(texts, embedding, TextPolicy())
    result = {
        "name": name,
        "asked": asked,
        "texts": len(texts),
        "words": len(passages.ids),
        "embedding": {
            "name": embedding_name,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "fingerprint": embedding.fingerprint,
        },
        "mechanism": mechanism,
        "blind": float(shares_of(passages, embedding).max()),
    }
    return result, passages


def measure(given: argparse.Namespace) -> None:
    """Release, decode, learn and judge, and write after every release."""
    began = time.time()
    result = json.loads(given.result.read_text(encoding="utf-8"))
    embedding, mechanism = Embedding.open(result["embedding"]["name"]), parse_mechanism(result["mechanism"])
    texts, labels = read_asked(result["asked"], embedding)
    passages = passages_of(texts, embedding, TextPolicy())
    context = None if given.public is None else read_bigrams(embedding, given.public)
    channels = _channels(result, [epsilon for _, epsilon in result["epsilons"]], given.directions)
    result |= {
        "public": None if given.public is None else given.public.name,
        "method": channels[0].method,
        "directions": channels[0].directions,
        "settled": _SETTLED,
        "original": [],
        "releases": [],
    }
    for run in range(1, given.runs + 1):
        judged = Run(passages, labels, embedding, seed=run)
        result["original"].append(judged.original)
        for (attacker, epsilon), channel in zip(result["epsilons"], channels, strict=True):
            found = {
                "attacker": attacker,
                "epsilon": epsilon,
                "run": run,
                **judged.release(mechanism, channel, context),
            }
            result["releases"].append(found)
            result["seconds"] = round(time.time() - began)
            write_result(given.result, result)
            print(json.dumps({"name": result["name"], **found}), flush=True)


class Run:
    """One split of the texts; ``original`` is how well models of original text do on original text."""

    def __init__(self, passages: Passages, labels: Ids, embedding: Embedding, *, seed: int) -> None:
        """Split the texts, and learn from those that stand as they are."""
        self._passages = passages
        self._split = Split(labels, *stratified_split(labels, HELD_OUT, seed=seed))
        self._features = dict(_as_it_stands(passages, embedding))
        self._clean = {name: self._split.learn(features, name) for name, features in self._features.items()}
        self.original = {name: model(self._features[name]) for name, model in self._clean.items()}

    def release(
        self, mechanism: ChosenMechanism, channel: Channel, context: Bigrams | None = None
    ) -> dict[str, Any]:
        """Return what is learnt from a release at the ε of a channel, and how near it comes to the words."""
        released = draw(
            self._passages, mechanism(channel.embedding, epsilon=channel.epsilon), threads=threads()
        )
        found: dict[str, Any] = {"accuracy": {}}
        for version, made in _versions(self._passages, released, channel, context, found):
            for name, features in made.items():
                noisy = self._split.learn(features, name)
                found["accuracy"][f"{version} {name}"] = {
                    "both": noisy(features),
                    "train": noisy(self._features[name]),
                    "test": self._clean[name](features),
                }
        return found


def _channels(result: dict[str, Any], epsilons: list[float], directions: int) -> list[Channel]:
    """Return the channels that a receiver would make: of the words that ``deniable decode`` considers."""
    embedding, chosen = Embedding.open(result["embedding"]["name"]), parse_mechanism(result["mechanism"])
    return make_channels(
        embedding, chosen, epsilons=epsilons, inputs=inputs_of(embedding), directions=directions
    )


def inputs_of(embedding: Embedding) -> Ids:
    """Return the words that ``deniable decode`` considers, and ⊥."""
    return np.append(np.arange(min(SUPPORT, len(embedding))), embedding.unknown_id)


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write a result so that a page can be made of it."""
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def read_asked(asked: dict[str, Any], embedding: Embedding) -> tuple[list[str], Ids]:
    """Return the texts that were asked for, as far as they are used, and their labels."""
    found = read_classified(
        Path(asked["data"]), text_column=asked["text"], label_column=asked["label"], most=asked["most"]
    )
    cutter = Cutter(embedding)
    return [" ".join(cutter.words(text)[: asked["longest"]]) for text in found.texts], found.labels


def shares_of(passages: Passages, embedding: Embedding) -> Floats:
    """Return how often each word occurs, and ⊥, as shares of all words."""
    shares: Floats = np.bincount(passages.ids, minlength=len(embedding) + 1) / len(passages.ids)
    return shares


def named_share(passages: Passages, released: Passages, channel: Channel, shares: Floats) -> float:
    """Return the share of words that a Bayes attacker with the true shares names."""
    guesses = make_posterior(channel, shares[channel.inputs], candidates=1).best
    return float((guesses[released.ids] == passages.ids).mean())


def epsilons_where(
    embedding: Embedding, mechanism: ChosenMechanism, passages: Passages, attackers: list[float]
) -> list[tuple[float, float]]:
    """Return the ε at which the attacker names each wanted share of the words."""
    typical = float(np.median(np.linalg.norm(embedding.vectors[:5000], axis=1)))
    if mechanism.name not in FIRST_GRID:
        raise SystemExit(
            f"it is not known where to look for the ε of {mechanism.name}: give values of ε, or take one of "
            f"{', '.join(FIRST_GRID)}"
        )
    low, high = FIRST_GRID[mechanism.name]
    scale = embedding.dimension / typical if mechanism.name in BY_LENGTH else 1.0
    grid = np.geomspace(low * scale, high * scale, STEPS).tolist()
    return _reached(
        embedding,
        mechanism,
        passages,
        attackers,
        grid,
        np.unique(passages.ids).astype(np.int64),
        directions=300,
    )


def refined_epsilons(
    embedding: Embedding, mechanism: ChosenMechanism, passages: Passages, rough: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return ε near those found before, by as many directions, and with the words, that the channel of a
    receiver has."""
    near = [epsilon for _, epsilon in rough]
    if not near:
        return []
    inputs = np.intersect1d(
        passages.ids, inputs_of(embedding)
    )  # words that do not occur are named by no attacker who knows the frequencies
    grid = np.geomspace(0.9 * min(near), 1.1 * max(near), STEPS).tolist()
    return _reached(
        embedding, mechanism, passages, [attacker for attacker, _ in rough], grid, inputs, directions=1000
    )


def _reached(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    passages: Passages,
    attackers: list[float],
    grid: list[float],
    inputs: Ids,
    *,
    directions: int,
) -> list[tuple[float, float]]:
    """Return the ε at which the attacker names each wanted share of the words, between the values of a
    grid."""
    channels = make_channels(
        embedding, mechanism, epsilons=grid, inputs=inputs, directions=directions, keep=False
    )
    shares = shares_of(passages, embedding)
    reached = [
        named_share(
            passages,
            draw(passages, mechanism(embedding, epsilon=epsilon), threads=threads()),
            channel,
            shares,
        )
        for epsilon, channel in zip(grid, channels, strict=True)
    ]
    print("attacker", [(round(e, 3), round(r, 3)) for e, r in zip(grid, reached, strict=True)], flush=True)
    reached = np.maximum.accumulate(reached).tolist()
    wanted = []
    for attacker in attackers:
        if not reached[0] < attacker < reached[-1]:
            print(f"an attacker of {attacker:g} is out of reach")
            continue
        wanted.append((attacker, float(f"{math.exp(float(np.interp(attacker, reached, np.log(grid)))):.4g}")))
    return wanted


def _counts(passages: Passages, columns: int) -> csr_array:
    # Copies: sums are made in place.
    numbers = (np.ones(len(passages.ids)), passages.ids.copy(), passages.offsets.copy())
    counts = csr_array(numbers, shape=(len(passages), columns))
    counts.sum_duplicates()
    return counts


def _as_it_stands(passages: Passages, embedding: Embedding) -> Iterator[tuple[str, Any]]:
    """Yield the features of words taken as they stand: counts, and mean vectors."""
    counts = _counts(passages, len(embedding) + 1)
    yield "words", counts
    vectors = np.vstack([embedding.vectors, embedding.unknown[None]]).astype(np.float64)
    yield "vectors", (counts @ vectors) / np.maximum(np.diff(passages.offsets), 1)[:, None]


def _versions(
    passages: Passages, released: Passages, channel: Channel, context: Bigrams | None, found: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the features of a release as it stands, decoded, and decoded in context; note on the way how near
    each comes to the words."""
    embedding, shares = channel.embedding, shares_of(passages, channel.embedding)
    words = embedding.words
    as_text = [
        " ".join(words[i] for i in released.ids[a:b].tolist()) for a, b in pairwise(released.offsets.tolist())
    ]
    decoder = ChannelDecoder.learn_from(channel, as_text, start=first_shares(channel))
    estimated = np.zeros(len(embedding) + 1)
    estimated[decoder.inputs] = decoder.shares
    found |= {
        "named": named_share(passages, released, channel, shares),
        "named_by_receiver": float((decoder.bayes.best[released.ids] == passages.ids).mean()),
        "changed": changed_share(passages, released),
        "steps": decoder.learnt.steps,
        "frequencies": {
            "released": 0.5 * float(np.abs(shares_of(released, embedding) - shares).sum()),
            "decoded": 0.5 * float(np.abs(estimated - shares).sum()),
        },
    }
    yield "released", dict(_as_it_stands(released, embedding))
    yield "decoded", _decoded(decoder, as_text)
    if context is not None:
        in_context = ChannelDecoder.learn_from(
            channel, as_text, start=first_shares(channel, context), context=context
        )
        guesses = np.concatenate(list(in_context.likeliest(as_text)))
        found["named_in_context"] = float((guesses == passages.ids).mean())
        yield "context", _decoded(in_context, as_text)


def _decoded(decoder: ChannelDecoder, released: list[str]) -> dict[str, Any]:
    expected = decoder.expected_counts(released)
    columns = decoder.inputs[expected.indices]
    placed = csr_array(
        (expected.data, columns, expected.indptr), shape=(len(released), len(decoder.embedding) + 1)
    )
    return {"words": placed, "vectors": decoder.expected_vectors(released)}


@dataclass(frozen=True)
class Split:
    """Which texts are learnt from, and which are judged."""

    labels: Ids
    learnt: Ids
    judged: Ids

    def learn(self, features: Any, name: str) -> Callable[[Any], float]:
        """Return what judges features of the same kind, after a linear model has learnt from these."""
        if name == "words":
            # Words that no learnt text holds have no weight; left out, they cost nothing.
            held = np.unique(features[self.learnt].indices)
            weights = SoftTfidf().fit(features[self.learnt][:, held])
            model = LogisticRegression(C=1.0, max_iter=_ROUNDS, tol=_SETTLED)
            model.fit(weights.transform(features[self.learnt][:, held]), self.labels[self.learnt])
            return lambda other: float(
                model.score(weights.transform(other[self.judged][:, held]), self.labels[self.judged])
            )
        # Expected vectors vary less than those of single words: each kind is brought to the same spread.
        linear = LogisticRegression(C=0.1, max_iter=_ROUNDS, tol=_SETTLED)
        linear.fit(StandardScaler().fit_transform(features[self.learnt]), self.labels[self.learnt])
        return lambda other: float(
            linear.score(
                StandardScaler().fit(other[self.learnt]).transform(other[self.judged]),
                self.labels[self.judged],
            )
        )


if __name__ == "__main__":
    main()
