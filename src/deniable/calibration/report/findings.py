"""Everything the page and the figures show, computed once.

Public examples are among it. A few words are shown with their likeliest outputs where the average word stays
50 to 300 times in 1,000, as in the paper. Sentences are released by the mechanism and the secure noise that
private text would get.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import evaluate
from deniable.calibration.compare import Geometry, geometry
from deniable.calibration.result import Choice, EpsilonRow, Targets, WordRow, row_at, worst_words
from deniable.channel.outputs import output_distribution
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Guarantee, Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.release.privatizer import Privatizer
from deniable.words.cutter import Cutter

SHOWN_AVERAGES = (0.05, 0.2, 0.5)
"""Without targets, sample texts are shown where the average word stays this often."""

EXPOSED = 0.5
"""Without targets, a word that stays itself more often than this counts as exposed."""

_GEOMETRY_WORDS = 1000
_CURVE_VALUES = 16
_ENOUGH = 8


WORDS = ("encryption", "hockey", "spacecraft")
AVERAGES = (0.05, 0.1, 0.2, 0.3)
_LIKELIEST = 8

SENTENCES = (
    "my doctor said the test results would arrive on friday",
    "we moved to seattle last year and my son plays hockey there",
    "please cancel the insurance on my car before the end of march",
)
"""Written for this purpose; nobody's text."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What is known of an embedding.

    ``calibration`` has N_w of all words looked at, ``sample`` S_w and distinct words, of them or of a sample.
    ``choice`` is the ε that is spoken of; ``has_targets`` says that targets chose it or were held against it.
    ``shown`` are the three values of ε that texts are shown at.
    """

    calibration: Calibration
    sample: Calibration
    choice: Choice
    has_targets: bool
    curves: list[EpsilonRow]
    shown: tuple[EpsilonRow, ...]
    worst: list[WordRow]
    geometry: Geometry
    releases: list[list[str]]
    outputs: list[tuple[float, list[Output]]]

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism promises at the ε that is spoken of."""
        return self.calibration.mechanism(self.calibration.embedding, epsilon=self.choice.epsilon).guarantee

    def support(self, values: str) -> list[tuple[float, Floats]]:
        """Return the values of the sampled words (``distinct`` or ``support``) at each ε they are known at,
        by rising ε."""
        found = self.sample.distinct if values == "distinct" else self.sample.support
        assert found is not None  # noqa: S101 - said by whoever made the findings
        return [
            (float(self.sample.epsilons[e]), found[:, e].astype(np.float64))
            for e in np.argsort(self.sample.epsilons)
        ]


def findings(
    calibration: Calibration,
    sample: Calibration,
    *,
    choice: Choice | None = None,
    epsilons: list[float] | None = None,
    words: tuple[str, ...] = (),
    sentences: tuple[str, ...] = (),
    report: Report | None = None,
) -> Findings:
    """Return what the page shows. ``words`` and ``sentences`` are public examples; without them there are our
    own."""
    shown = _shown(calibration, choice, epsilons)
    # Where S_w was measured over a whole range, the curves of N_w take the same values of ε: each is a pass
    # over all words and rays.
    spread = (
        sample.epsilons.tolist()
        if sample is not calibration and len(sample.epsilons) >= _ENOUGH
        else calibration.span(_CURVE_VALUES)
    )
    wanted = sorted({*spread, *shown, *([choice.epsilon] if choice is not None else [])})
    calibration.prepare(wanted)
    curves = {}
    for done, epsilon in enumerate(wanted, 1):
        curves[epsilon] = row_at(calibration, epsilon)
        if report is not None:
            report(done, len(wanted))
    spoken_of = (
        choice
        if choice is not None
        else evaluate(calibration, shown[len(shown) // 2], Targets(max_unchanged=EXPOSED))
    )
    return Findings(
        calibration=calibration,
        sample=sample,
        choice=spoken_of,
        has_targets=choice is not None,
        curves=list(curves.values()),
        shown=tuple(curves[epsilon] for epsilon in shown),
        worst=worst_words(calibration, spoken_of, 15),
        geometry=geometry(calibration.embedding, sample=min(_GEOMETRY_WORDS, len(calibration.embedding))),
        releases=example_releases(calibration.embedding, calibration.mechanism, shown, sentences),
        outputs=sample_outputs(calibration, words),
    )


def _shown(calibration: Calibration, choice: Choice | None, epsilons: list[float] | None) -> list[float]:
    if choice is not None:
        around = [float(f"{choice.epsilon / 1.5:.3g}"), float(f"{choice.epsilon * 1.5:.3g}")]
        if not isinstance(
            calibration, RayCalibration
        ):  # a value that was not measured would be another pass over all words
            known = np.array(calibration.span(_CURVE_VALUES))
            around = [float(known[np.abs(np.log(known / wanted)).argmin()]) for wanted in around]
        return sorted({*around, choice.epsilon})
    if epsilons:
        ordered = sorted(set(epsilons))
        return sorted({ordered[0], ordered[len(ordered) // 2], ordered[-1]})
    return sorted({calibration.epsilon_reaching(share) for share in SHOWN_AVERAGES})


class Output(NamedTuple):
    """What one word becomes at one ε: its N_w, its S_w, and the likeliest other words with their
    probabilities."""

    word: str
    epsilon: float
    unchanged: float
    support: int
    others: tuple[tuple[str, float], ...]


def sample_outputs(calibration: Calibration, words: tuple[str, ...] = ()) -> list[tuple[float, list[Output]]]:
    """Return what the words become, from as many directions or draws as the calibration has: a row per ε,
    each with the average N_w there, which is near those of ``AVERAGES``.

    :raises InvalidParameter: if a word is not in the vocabulary.
    """
    embedding = calibration.embedding
    chosen = _chosen(calibration, words)
    epsilons = tuple(dict.fromkeys(calibration.epsilon_reaching(average) for average in AVERAGES))
    columns = []
    for word in chosen:
        mechanisms = [calibration.mechanism(embedding, epsilon=epsilon) for epsilon in epsilons]
        columns.append([_output(made, word, draws=calibration.draws) for made in mechanisms])
    averages = [calibration.average(epsilon)[0] for epsilon in epsilons]
    return [(average, list(row)) for average, row in zip(averages, zip(*columns, strict=True), strict=True)]


def _output(mechanism: Mechanism, word: str, *, draws: int) -> Output:
    embedding = mechanism.embedding
    found = output_distribution(mechanism, embedding.index[word], draws=draws)
    named = [
        (embedding.words[i], p)
        for i, p in zip(found.words.tolist(), found.probabilities.tolist(), strict=True)
    ]
    return Output(
        word=word,
        epsilon=mechanism.epsilon,
        unchanged=sum(p for other, p in named if other == word),
        support=found.support(),
        others=tuple((other, p) for other, p in named if other != word)[:_LIKELIEST],
    )


def _chosen(calibration: Calibration, words: tuple[str, ...]) -> tuple[str, ...]:
    index = calibration.embedding.index
    for word in words:
        if word not in index:
            raise InvalidParameter(
                "word", word, f"is not a word of the embedding {calibration.embedding.name!r}"
            )
    known = words or tuple(word for word in WORDS if word in index)
    if known:
        return known
    # Another language: words that stay rarely, as often as most, and often.
    means, _ = calibration.unchanged(calibration.epsilon_reaching(AVERAGES[-1]))
    order = np.argsort(means, kind="stable")
    rows = order[[len(order) // 4, len(order) // 2, 3 * len(order) // 4]]
    return tuple(dict.fromkeys(calibration.embedding.words[i] for i in calibration.ids[rows].tolist()))


def example_releases(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], sentences: tuple[str, ...] = ()
) -> list[list[str]]:
    """Return the sentences, and one release of every sentence at each ε.

    Our own sentences are left out where the vocabulary knows less than half of their words (another
    language): the list is empty then.
    """
    cut = Cutter(embedding).words
    chosen = sentences or tuple(
        text for text in SENTENCES if 2 * sum(word in embedding.index for word in cut(text)) >= len(cut(text))
    )
    if not chosen:
        return []
    privatizers = [Privatizer(mechanism(embedding, epsilon=epsilon)) for epsilon in epsilons]
    return [list(chosen), *([privatizer(text) for text in chosen] for privatizer in privatizers)]
