"""The audit of the bound: the same attempt in small spaces, through the text, and on the user's own
embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.arrays import Ids
from deniable.audit.bound.refutation import Draw, W, search_and_judge
from deniable.audit.bound.spaces import DIMENSIONS, projected, spread, stretched
from deniable.audit.draws import TextDraws
from deniable.audit.results import AuditResult, head_of
from deniable.channel.draws import Draws
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.neighbours import best_neighbours
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

Maker = Callable[[Embedding, float], Mechanism]
"""Makes the mechanism under audit for any embedding and ε."""

LEVEL = 1e-4
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
_UNHEARD_OF = ("qqzzx", "xzzqq")


@dataclass(frozen=True, kw_only=True)
class WordPair:
    """Two words, the log of the ratio promised for them, and the log of the ratio that the draws show; None
    if they show nothing."""

    first: str
    second: str
    promised: float
    shown: float | None


@dataclass(frozen=True, kw_only=True)
class BoundPlace:
    """What an attempt in one space found: ``draws_per_word`` of each of its ``words``, and the pairs of words
    that came closest to breaking the promise."""

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
    """Yield what was found in each place; ``level`` is the chance that a true mechanism is refuted in any of
    them.

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
    """Return what makes the mechanism on the user's own embedding and in the small spaces.

    An option that lists words of the own embedding means nothing in a small space: there, every other word
    takes their place.
    """

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
    """Attack the whole path of a text: two unknown words must be indistinguishable, and known ones as the
    promise says."""
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
