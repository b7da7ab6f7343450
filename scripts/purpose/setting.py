"""One data set in one space by one mechanism on a GPU: where an attacker reaches a level, and what a receiver
learns there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array

from deniable import Embedding
from deniable.arrays import Ids
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.priors import SUPPORT
from deniable.lab.passages import Passages
from deniable.lab.perturbation import draw
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.neighbours.threads import threads
from deniable.purposes.directions import PENALTY
from deniable.utility.accuracy import stratified_split
from deniable.words.frequency import shares_of_all
from scripts.gpu.draws import Drawing, typical_scale
from scripts.gpu.models import Split, mean_vectors
from scripts.gpu.points import Effort
from scripts.gpu.readings import Attacker, InContext, Receiver, Texts
from scripts.purpose.settings import CONTEXT_LEVEL, IN_CONTEXT, KIND_LEVELS, SOURCE, Setting

RUNS, HELD_OUT = 3, 0.25
CURVE, MOST_TRIES, MOST_WHOLE = 9, 3, 4
COARSE, FINE = Effort(drawn=32, kept=8), Effort()
CLOSE = 0.003
WEIGHT = 0.01
"""What the first shares weigh beside the release when shares are learnt."""


class SettingOnCard:
    """One data set in one space by one mechanism, on the device."""

    def __init__(self, into: Path, setting: Setting, device: str) -> None:
        self.into, self.device = into, device
        self.embedding, self.mechanism = Embedding.open(setting.space), parse_mechanism(setting.mechanism)
        with np.load(into / f"texts-{setting.data}-{setting.vocabulary}.npz") as found:
            self.passages = Passages(ids=found["ids"], offsets=found["offsets"], drawn=found["drawn"])
            self.labels = found["labels"]
        self.texts = Texts(
            self.passages.ids.astype(np.int64), self.passages.offsets, self.labels, len(self.embedding)
        )
        self.drawing = Drawing(self.embedding, setting.mechanism, device)
        self.attacker = Attacker(self.drawing, self.texts, read_kinds(into / "kinds.npz", self.embedding))
        self.range = typical_scale(self.drawing)
        self.curve: list[tuple[float, dict[str, float]]] = []
        self.setting = setting
        self.context: InContext | None = None
        self.inputs = np.arange(len(self.embedding) + 1)
        self.labels_there = torch.tensor(self.labels, device=device)
        vectors = {"vectors": np.vstack([self.embedding.vectors, self.embedding.unknown[None]])}
        if setting.space not in ("default", SOURCE):
            source = Embedding.open(SOURCE)
            vectors["source vectors"] = np.vstack([source.vectors, source.unknown[None]])
        self.vectors = {
            name: torch.tensor(each.astype(np.float32), device=device) for name, each in vectors.items()
        }

    def measure(self, setting: Setting) -> dict[str, Any]:
        """Return what is named and what is learnt at the ε of a level, in three runs."""
        parts: dict[str, float] = {}
        if self.device != "cpu":
            torch.cuda.empty_cache()  # others share the card
        self._clock = time.time()
        epsilon, chances = self.find(setting)
        self._lap(parts, "search")
        result: dict[str, Any] = {
            "name": setting.data,
            "level": setting.level,
            "epsilon": epsilon,
            "mechanism": setting.mechanism,
            "points": 0 if self.drawing.exact else FINE.kept,
            "texts": len(self.labels),
            "words": len(self.texts.ids),
            "unknown": float((self.texts.ids == len(self.embedding)).mean()),
            "embedding": {
                "name": setting.space,
                "words": len(self.embedding),
                "dimension": self.embedding.dimension,
                "fingerprint": self.embedding.fingerprint,
                **({"penalty": PENALTY} if setting.is_shaped else {}),
            },
            "blind": float(self.texts.shares.max()),
            "majority": float(np.bincount(self.labels).max() / len(self.labels)),
            "parts": parts,
            "original": [],
            "releases": [],
        }
        if epsilon is None or chances is None:
            return result
        for run in range(1, RUNS + 1):
            self.run(run, setting, epsilon, chances, result)
        return result

    def find(self, setting: Setting) -> tuple[float | None, Any]:
        """Return the ε of a level, and the channel there, for all input words."""
        reading, wanted = "word", setting.level
        if setting.level == "kind":
            reading, wanted = "kind", KIND_LEVELS[setting.data]
        elif setting.level == "context":
            reading, wanted = "context", CONTEXT_LEVEL
        assert isinstance(wanted, float)
        if not self.curve:
            for epsilon in np.geomspace(*self.range, CURVE).tolist():
                rows = self.drawing.chances(self.attacker.inputs, epsilon, COARSE)
                self.curve.append((epsilon, self.attacker.names(rows, epsilon)))
                if self.curve[-1][1]["word"] > 0.6:
                    break
        alone = "kind" if reading == "kind" else "word"
        logs = np.log([epsilon for epsilon, _ in self.curve])
        reached = np.maximum.accumulate([names[alone] for _, names in self.curve])
        if not reached[0] < wanted < reached[-1]:
            return None, None
        at = float(np.interp(wanted * (0.9 if reading == "context" else 1.0), reached, logs))
        # The attacker knows which words occur: their rows are enough to come near, and all rows, as receivers
        # have them, to arrive.
        tried: list[tuple[float, float]] = []
        for _ in range(MOST_TRIES):
            epsilon = float(f"{np.exp(at):.4g}")
            tried.append(
                (at, self._names(reading, self.drawing.chances(self.attacker.inputs, epsilon, FINE), epsilon))
            )
            if abs(tried[-1][1] - wanted) < CLOSE:
                break
            at = _next(tried, wanted)
        whole: list[tuple[float, float]] = []
        for _ in range(MOST_WHOLE):
            epsilon = float(f"{np.exp(at):.4g}")
            chances = self.drawing.chances(self.inputs, epsilon, FINE)
            whole.append((at, self._names(reading, chances[self.attacker.inputs], epsilon)))
            if abs(whole[-1][1] - wanted) < CLOSE:
                return epsilon, chances
            del chances
            at = _next(whole, wanted)
        epsilon = float(f"{np.exp(min(whole, key=lambda each: abs(each[1] - wanted))[0]):.4g}")
        return epsilon, self.drawing.chances(self.inputs, epsilon, FINE)

    def run(self, run: int, setting: Setting, epsilon: float, chances: Any, result: dict[str, Any]) -> None:
        """Release, decode, learn and judge once."""
        parts = result["parts"]
        mechanism = self.mechanism(self.embedding, epsilon=epsilon)
        released = torch.tensor(
            draw(self.passages, mechanism, threads=threads()).ids.astype(np.int64), device=self.device
        )
        self._lap(parts, "release")
        found: dict[str, Any] = {
            "run": run,
            "changed": float((released.cpu().numpy() != self.texts.ids).mean()),
        }
        found |= self.attacker.named(chances[self.attacker.inputs], self.texts, released)
        if setting.level == "context" and run == 1:
            found["named_in_context"] = self._context_attacker().named(
                chances[self.attacker.inputs], released
            )
        counts = self.texts.counts(released)
        receiver = Receiver(chances, self.inputs, shares_of_all(self.embedding), len(self.embedding))
        shares, found["steps"] = receiver.learn_shares(counts, weight=0.0 if self.drawing.exact else WEIGHT)
        true = torch.tensor(self.texts.shares, device=self.device)
        out = counts.double().sum(0) / counts.double().sum()
        found["frequencies"] = {
            "released": float(0.5 * (out - true).abs().sum()),
            "decoded": float(0.5 * (shares - true).abs().sum()),
        }
        expected = receiver.expected(counts, shares)
        self._lap(parts, "decode")
        versions = {"released": counts, "decoded": expected}
        if (
            run == 1
            and setting.space == "default"
            and isinstance(setting.level, float)
            and setting.data in IN_CONTEXT
        ):
            found["named_by_receiver"] = self._right(receiver.likeliest(shares)[released])
            found["named_in_context"], versions["context"] = self._in_context(chances, released, counts)
            self._lap(parts, "context")
        split, original = self.split(run), None
        plain = setting.space in ("default", SOURCE)
        if run == 1 or plain:
            original = self.texts.counts(torch.tensor(self.texts.ids, device=self.device))
            judged = {"released words": counts, "decoded words": expected} if plain else {}
            clean = {"words": split.learn(original, "words", others=judged)}
            clean |= {name: self.by_vectors(split, original, name) for name in self.vectors}
            result["original"].append(clean)
        found["accuracy"] = {}
        for version, made in versions.items():
            others = {"train": original} if plain and original is not None else None
            found["accuracy"][f"{version} words"] = split.learn(made, "words", others=others)
            for name in self.vectors:
                found["accuracy"][f"{version} {name}"] = self.by_vectors(split, made, name)
        result["releases"].append(found)
        self._lap(parts, "learn")

    def split(self, run: int) -> Split:
        """Return which texts are learnt from and judged in a run."""
        learnt, judged = (
            torch.tensor(each, device=self.device)
            for each in stratified_split(self.labels, HELD_OUT, seed=run)
        )
        return Split(self.labels_there, learnt, judged)

    def by_vectors(self, split: Split, counts: torch.Tensor, name: str) -> dict[str, float]:
        """Return accuracies by mean vectors."""
        return split.learn(mean_vectors(counts, self.vectors[name]), "vectors")

    def _in_context(
        self, chances: torch.Tensor, released: torch.Tensor, counts: torch.Tensor
    ) -> tuple[float, torch.Tensor]:
        """Return what a receiver with a public text names in context, and the words it expects; of the words
        that ``decode`` considers."""
        bigrams, inputs = (
            self._bigrams(),
            np.append(np.arange(min(SUPPORT, len(self.embedding))), len(self.embedding)),
        )
        rows = chances[torch.tensor(inputs, device=self.device)]
        receiver = Receiver(
            rows, inputs, shares_of_all(self.embedding, bigrams.counts)[inputs], len(self.embedding)
        )
        shares, _ = receiver.learn_shares(counts, weight=0.0 if self.drawing.exact else WEIGHT)
        return InContext(inputs, shares.float(), bigrams, self.texts).expected(rows, released)

    def _right(self, guesses: torch.Tensor) -> float:
        return float((guesses.cpu().numpy() == self.texts.ids).mean())

    def _names(self, reading: str, rows: torch.Tensor, epsilon: float) -> float:
        if reading == "context":
            return self._context_attacker().named(rows, self.drawing.release(self.texts.ids, epsilon))
        return self.attacker.names(rows, epsilon)[reading]

    def _context_attacker(self) -> InContext:
        if self.context is None:
            self.context = InContext(self.attacker.inputs, self.attacker.shares, self._bigrams(), self.texts)
        return self.context

    def _bigrams(self) -> Bigrams:
        with np.load(self.into / f"{IN_CONTEXT[self.setting.data]}-{self.setting.vocabulary}.npz") as found:
            size = len(self.embedding) + 1
            follows = coo_array((found["data"], (found["row"], found["col"])), shape=(size, size))
            return Bigrams(
                follows=follows,
                backing_off=found["backing_off"],
                alone=found["alone"],
                counts=found["counts"],
            )

    def _lap(self, parts: dict[str, float], name: str) -> None:
        parts[name] = round(parts.get(name, 0.0) + time.time() - self._clock, 1)
        self._clock = time.time()


def _next(tried: list[tuple[float, float]], wanted: float) -> float:
    """Return where to look next: between the nearest below and above, or a step further."""
    below = max((each for each in tried if each[1] < wanted), default=None, key=lambda each: each[0])
    above = min((each for each in tried if each[1] >= wanted), default=None, key=lambda each: each[0])
    if below is None or above is None:
        at, names = tried[-1]
        return at + float(np.clip(0.5 * np.log(wanted / max(names, 1e-3)), -0.3, 0.3))
    return below[0] + (above[0] - below[0]) * (wanted - below[1]) / max(above[1] - below[1], 1e-6)


def read_kinds(path: Path, embedding: Embedding) -> Ids:
    """Return the kind of each word of the embedding, and of ⊥; -1 for the most frequent words and for those
    without a kind."""
    with np.load(path) as found:
        known = dict(zip(found["words"].tolist(), found["kinds"].tolist(), strict=True))
    return np.array([known.get(word, -1) for word in embedding.words] + [-1], dtype=np.int64)
