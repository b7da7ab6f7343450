"""The audit of the bound: one attempt in small spaces, through the text, and on the user's own embedding.

In 50 or 300 dimensions noise is so spread out that even half of it would not show in any number of draws one
could make. The same code runs in every dimension, so it is attacked where it can be caught: in one, two and
three dimensions, on made spaces and on projections of the user's own embedding, all in units of 1/ε.

``search_and_judge`` tries to show Pr[M(w) ∈ S] > exp(bound)·Pr[M(w') ∈ S] for some words w, w' and some set
S of outputs. Words and sets are chosen on one half of the draws and judged on the other, so that looking for
the worst costs no confidence beyond the number of pairs that are judged: the level is divided by it
(Bonferroni), and by two for the two probabilities of a ratio. Judging uses the exact intervals of Clopper and
Pearson. A mechanism that keeps its bound, even one that reaches it, is refuted with a probability of at most
the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Generic, TypeVar

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.draws import TextDraws
from deniable.audit.results import AuditResult, Table, head_of
from deniable.audit.shares import lower, lower_bounds, upper, upper_bounds
from deniable.channel.draws import Draws
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

W = TypeVar("W", bound=Hashable)

Draw = Callable[[W, int], Ids]
"""Given an input and a number of draws, return the released outputs as numbers."""

Maker = Callable[[Embedding, float], Mechanism]
"""Makes the mechanism under audit for any embedding and ε."""

LEVEL = 1e-4
DIMENSIONS = (1, 2, 3)
NOT_PROVEN = (
    "A pass is not a proof: it says that this attempt, with some draws of a few words, found nothing. The "
    "proof is written beside the mechanism. In high dimensions an attempt like this has little power, "
    "whatever the code does; the small spaces are where a wrong mechanism is caught. It says nothing about "
    "the source of randomness of a release, the text around the words, or what an adversary learns within "
    "the bound: see the inversion audit for that."
)
_PAIRS = 12
_SHOWN_PAIRS = 3
_WORDS = 10
_PROJECTED_WORDS = 24
_UNHEARD_OF = ("qqzzx", "xzzqq")


@dataclass(frozen=True, kw_only=True)
class WordPair:
    """Two words, and the log of the ratio promised for them and shown by the draws; None if they show
    nothing."""

    first: str
    second: str
    promised: float
    shown: float | None


@dataclass(frozen=True, kw_only=True)
class BoundPlace:
    """What an attempt in one space found, and the pairs of words that came closest to breaking the
    promise."""

    space: str
    dimension: int
    words: int
    draws_per_word: int
    pairs_judged: int
    refuted: bool
    worst_pairs: tuple[WordPair, ...]


@dataclass(frozen=True, kw_only=True)
class BoundResult(AuditResult):
    """The result of ``audit_bound``. ``level`` is the chance that a true mechanism is refuted."""

    epsilon: float
    refuted: bool
    level: float
    places: tuple[BoundPlace, ...]
    not_proven: str

    heading = "Does the mechanism keep its promise"
    tried = (
        "The promise bounds how much likelier any output may be for one word than for another. Words and "
        "events were chosen on one half of many draws and judged on the other half with exact confidence "
        "intervals: in small spaces, through the whole path of a text, and on the embedding itself."
    )

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        tried, what = len(self.places), f"{self.mechanism} at ε = {self.epsilon:g}"
        broken = [place.space for place in self.places if place.refuted]
        if self.refuted:
            return (
                f"REFUTED: the promise of {what} is broken in {len(broken)} of {tried} places, such as "
                f"{broken[0]}."
            )
        return (
            f"Not refuted: in {tried} places no event was found that {what} makes likelier than it promises."
        )

    @property
    def tables(self) -> list[Table]:
        """The pair that came closest, in each place."""
        rows = []
        for place in self.places:
            worst = place.worst_pairs[0] if place.worst_pairs else None
            shown = "–" if worst is None or worst.shown is None else f"{worst.shown:.3f}"
            promised = "–" if worst is None else f"{worst.promised:.3f}"
            verdict = "REFUTED" if place.refuted else "holds"
            rows.append([place.space, f"{place.draws_per_word:,}", promised, shown, verdict])
        columns = ["space", "draws a word", "promised", "shown at least", ""]
        return [Table("The pair that came closest, in each place", columns, rows)]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The value of ε that was tried."""
        return (self.epsilon,)


def audit_bound(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilon: float,
    draws: int = 100_000,
    own_draws: int = 10_000,
    seed: int = 0,
    report: Report | None = None,
) -> BoundResult:
    """Try to refute the bound that a mechanism promises, as a black box, and return what was found in each
    place.

    ``draws`` is how often each word is drawn in the small spaces, ``own_draws`` how often on the embedding
    itself.

    :raises InvalidParameter: if an argument is not allowed.
    """
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    places, total = [], count_places(embedding)
    for place in attempts(
        _maker(mechanism, embedding), embedding, epsilon, seed=seed, draws=draws, own_draws=own_draws
    ):
        places.append(place)
        if report is not None:
            report(len(places), total)
    return BoundResult(
        **head_of("bound", embedding, mechanism, seed),
        epsilon=epsilon,
        refuted=any(place.refuted for place in places),
        level=LEVEL,
        places=tuple(places),
        not_proven=NOT_PROVEN,
    )


def attempts(
    make: Maker,
    embedding: Embedding,
    epsilon: float,
    *,
    seed: int,
    draws: int = 200_000,
    own_draws: int = 20_000,
    level: float = LEVEL,
) -> Iterator[BoundPlace]:
    """Yield what was found in each place; ``level`` is the chance that a true mechanism is refuted.

    :raises InvalidParameter: if a number is not allowed.
    """
    epsilon, seed = validated_epsilon(epsilon), validated_count(seed, "seed", at_least=0)
    draws, own_draws = validated_count(draws, "draws"), validated_count(own_draws, "own_draws")
    usable = list(_spaces(embedding, epsilon, seed))
    each = level / (2 * len(usable) + 1)
    for place, space in enumerate(usable):
        mechanism = make(space, epsilon)
        inputs = [*range(min(_WORDS, len(space))), space.unknown_id]
        yield _by_ids(mechanism, inputs, seed=seed + 2 * place, draws=draws, level=each)
        yield _by_text(mechanism, seed=seed + 2 * place + 1, draws=draws // 4, level=each)
    own = make(embedding, epsilon)
    yield _by_ids(own, _own_words(embedding, seed), seed=seed + 2 * len(usable), draws=own_draws, level=each)


def count_places(embedding: Embedding) -> int:
    """Return in how many places the audit tries."""
    return 2 * len(list(_spaces(embedding, 1.0, 0))) + 1


def _maker(mechanism: ChosenMechanism, own: Embedding) -> Maker:
    """Return what makes the mechanism on the user's own embedding and in the small spaces, where every other
    word takes the place of words that an option lists."""

    def make(embedding: Embedding, epsilon: float) -> Mechanism:
        options = mechanism.options
        if embedding is not own and "sensitive" in options:
            options = {**options, "sensitive": tuple(embedding.words[::2])}
        return replace(mechanism, options=options)(embedding, epsilon=epsilon)

    return make


def _spaces(embedding: Embedding, epsilon: float, seed: int) -> Iterator[Embedding]:
    for n in DIMENSIONS:
        yield spread(n, epsilon)
        yield stretched(n, epsilon)
        own = projected(embedding, n, epsilon, seed=seed)
        if own is not None:
            yield own


def _by_ids(mechanism: Mechanism, inputs: list[int], *, seed: int, draws: int, level: float) -> BoundPlace:
    source, embedding = Draws(mechanism, seed=seed), mechanism.embedding

    def name(word: int) -> str:
        return "⊥" if word == embedding.unknown_id else str(embedding.words[word])

    return _attempt(
        embedding, embedding.name, source.of, inputs, mechanism.log_bound, name, draws=draws, level=level
    )


def _by_text(mechanism: Mechanism, *, seed: int, draws: int, level: float) -> BoundPlace:
    """Attack the path of a text: two unknown words must be alike, and known ones as the promise says."""
    source, embedding = TextDraws(mechanism, seed=seed), mechanism.embedding
    inputs = [str(word) for word in embedding.words[:2]] + list(_UNHEARD_OF)

    def promised(first: str, second: str) -> float:
        one, other = (embedding.index.get(word, embedding.unknown_id) for word in (first, second))
        return mechanism.log_bound(one, other)

    space = f"{embedding.name}, as text"
    return _attempt(embedding, space, source.of, inputs, promised, str, draws=max(draws, 2), level=level)


def _attempt(
    embedding: Embedding,
    space: str,
    draw: Draw[W],
    inputs: Sequence[W],
    promised: Callable[[W, W], float],
    name: Callable[[W], str],
    *,
    draws: int,
    level: float,
) -> BoundPlace:
    found = search_and_judge(draw, inputs, promised, draws=draws, level=level, pairs=_PAIRS)
    return BoundPlace(
        space=space,
        dimension=embedding.dimension,
        words=len(inputs),
        draws_per_word=draws,
        pairs_judged=len(found),
        refuted=any(finding.refuted for finding in found),
        worst_pairs=tuple(
            WordPair(
                first=name(each.first),
                second=name(each.second),
                promised=each.promised,
                shown=each.shown if np.isfinite(each.shown) else None,
            )
            for each in found[:_SHOWN_PAIRS]
        ),
    )


def _own_words(embedding: Embedding, seed: int) -> list[int]:
    """Return a few words of the embedding with their nearest neighbours, and ⊥."""
    some: Ids = np.random.default_rng(seed).integers(0, len(embedding), 4)
    near, _ = best_neighbours(embedding).nearest_k(embedding.rows(some), min(2, len(embedding)))
    return [*np.unique(near).tolist(), embedding.unknown_id]


def spread(dimension: int, epsilon: float) -> Embedding:
    """Two words close together, and words on the axes that catch the tails, where the bound is nearly
    reached."""
    far = np.concatenate([np.eye(dimension), -np.eye(dimension)]) * 1.5
    near = np.full((1, dimension), 0.4) / np.sqrt(dimension)
    return _scaled(
        np.concatenate([np.zeros((1, dimension)), near, far, 2 * far]), epsilon, f"spread, {dimension}d"
    )


def stretched(dimension: int, epsilon: float) -> Embedding:
    """A fine grid of words along one long axis: shows noise whose shape is not what the metric says."""
    steps = np.arange(-2, 3) * 0.2 if dimension < 3 else np.arange(-1, 2) * 0.3
    grid = np.stack(np.meshgrid(*[steps] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    far = np.zeros((8, dimension))
    far[:, 0] = [3.0, -3.0, 6.0, -6.0, 9.0, -9.0, 12.0, -12.0]
    grid = grid[np.argsort(np.linalg.norm(grid, axis=1), kind="stable")]
    # The first words are the ones that are attacked: the middle, some along the long axis, some close
    # together.
    return _scaled(
        np.concatenate([grid[:1], far[:3], grid[1:], far[3:]]), epsilon, f"stretched, {dimension}d"
    )


def projected(embedding: Embedding, dimension: int, epsilon: float, *, seed: int) -> Embedding | None:
    """A random word of the user's embedding and its neighbours, on their own main axes, scaled so that half
    of the words have their nearest neighbour within 1/ε; None if they lie in one point."""
    rng = np.random.default_rng(seed)
    count = min(_PROJECTED_WORDS, len(embedding))
    chosen = rng.integers(0, len(embedding), 1)
    near, _ = best_neighbours(embedding).nearest_k(embedding.rows(chosen), count)
    vectors = embedding.rows(near[0]).astype(np.float64)
    vectors -= vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    points = np.zeros((count, dimension))
    usable = min(dimension, len(axes))
    points[:, :usable] = vectors @ axes[:usable].T
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(gaps, np.inf)
    scale = float(np.median(gaps.min(axis=1))) if count > 1 else 0.0
    if not scale > 0.0:
        return None
    return _scaled(points / scale, epsilon, f"projection of {embedding.name}, {dimension}d")


def _scaled(points: Floats, epsilon: float, name: str) -> Embedding:
    return Embedding([f"w{i}" for i in range(len(points))], points / epsilon, name=name)


@dataclass(frozen=True, kw_only=True)
class Finding(Generic[W]):
    """The promise for one ordered pair, and the ratio that the draws show, both as logarithms."""

    first: W
    second: W
    promised: float
    shown: float
    outputs: int

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken."""
        return self.shown > self.promised


def search_and_judge(
    draw: Draw[W],
    inputs: Sequence[W],
    log_bound: Callable[[W, W], float],
    *,
    draws: int,
    level: float,
    pairs: int,
) -> list[Finding[W]]:
    """Return findings for the ordered pairs that look worst on one half of the draws, judged on the other."""
    half = max(1, draws // 2)
    seen = {word: draw(word, half) for word in inputs}
    suspects = _most_suspect(seen, log_bound, pairs, level)
    if not suspects:
        return []
    fresh: dict[W, Ids] = {}
    each = level / (2 * len(suspects))
    findings = []
    for first, second, event in suspects:
        for word in (first, second):
            if word not in fresh:
                fresh[word] = draw(word, half)
        hits, others = (int(np.isin(fresh[word], event).sum()) for word in (first, second))
        shown = _log(lower(hits, half, each)) - math.log(upper(others, half, each))
        findings.append(
            Finding(
                first=first, second=second, promised=log_bound(first, second), shown=shown, outputs=len(event)
            )
        )
    return sorted(findings, key=lambda finding: finding.promised - finding.shown)


def _most_suspect(
    seen: Mapping[W, Ids], log_bound: Callable[[W, W], float], pairs: int, level: float
) -> list[tuple[W, W, Ids]]:
    size = max(int(ids.max()) for ids in seen.values()) + 1
    counts = {word: np.bincount(ids, minlength=size) for word, ids in seen.items()}
    judged: list[tuple[float, W, W, Ids]] = []
    for first, second in permutations(seen, 2):
        allowed = log_bound(first, second)
        if math.isfinite(allowed):
            excess, event = _worst_event(counts[first], counts[second], level / (2 * pairs))
            judged.append((excess - allowed, first, second, event))
    judged.sort(key=lambda found: -found[0])
    return [(first, second, event) for _, first, second, event in judged[:pairs]]


def _worst_event(first: Ids, second: Ids, level: float) -> tuple[float, Ids]:
    """Return the log ratio that is certain for the worst set of outputs, and the set."""
    draws = int(first.sum())
    order = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable")
    order = order[(first + second)[order] > 0]
    low = lower_bounds(np.cumsum(first[order]), draws, level)
    high = upper_bounds(np.cumsum(second[order]), draws, level)
    with np.errstate(divide="ignore"):
        certain = np.log(low) - np.log(high)
    best = int(np.argmax(certain))
    return float(certain[best]), order[: best + 1]


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf
