"""What the page of a calibration shows, computed once: N_w and S_w against ε, and public examples.

The examples are released by the mechanism and the secure noise that private text would get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import evaluate
from deniable.calibration.result import Choice, EpsilonRow, Targets, row_at
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.release.privatizer import Privatizer
from deniable.report.wording import Lines, Point
from deniable.words.cutter import Cutter

SHOWN_AVERAGES = (0.05, 0.2, 0.5)
"""Without targets, sample texts are shown where the average word stays this often."""

EXPOSED = 0.5
"""Without targets, a word that stays itself more often than this counts as exposed."""

SENTENCES = (
    "my doctor said the test results would arrive on friday",
    "we moved to seattle last year and my son plays hockey there",
    "please cancel the insurance on my car before the end of march",
)
"""Written for this purpose; nobody's text."""

_CURVE_VALUES, _ENOUGH = 16, 8


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the page and the figures show.

    ``calibration`` has N_w of all words looked at, ``sample`` S_w of them or of a sample. ``choice`` is the ε
    that is spoken of; ``has_targets`` says that targets chose it or were held against it. ``shown`` are the
    three values of ε that texts are shown at, and ``releases`` the texts and a release of them at each.
    """

    calibration: Calibration
    sample: Calibration
    choice: Choice
    has_targets: bool
    curves: list[EpsilonRow]
    shown: tuple[EpsilonRow, ...]
    releases: list[list[str]]

    @property
    def unchanged(self) -> Lines:
        """N_w against ε: the average, and the words at some quantiles."""
        values: dict[str, Callable[[EpsilonRow], float]] = {
            "average word": lambda row: row.average,
            "median word": lambda row: row.quantiles[0],
            "95 % of words": lambda row: row.quantiles[1],
            "99 % of words": lambda row: row.quantiles[2],
            "worst word": lambda row: row.quantiles[3],
        }
        return {name: [Point(row.epsilon, of(row)) for row in self.curves] for name, of in values.items()}

    @property
    def support(self) -> Lines:
        """How many words a word may become against ε, for words at some quantiles."""
        support, epsilons = self.sample.support, self.sample.epsilons
        assert support is not None  # noqa: S101 - the sample is measured with it
        order = np.argsort(epsilons)
        quantiles: Floats = np.quantile(support, (0.5, 0.05, 0.0), axis=0)
        return {
            name: [Point(float(epsilons[e]), float(row[e])) for e in order]
            for name, row in zip(
                ("median word", "95 % of words have more", "worst word"), quantiles, strict=True
            )
        }


def findings(
    calibration: Calibration,
    sample: Calibration,
    *,
    choice: Choice | None = None,
    epsilons: Sequence[float] = (),
    sentences: tuple[str, ...] = (),
    report: Report | None = None,
) -> Findings:
    """Return what the page shows; ``sentences`` are public examples, or else our own."""
    shown = _shown(calibration, choice, epsilons)
    # Where S_w was measured over a whole range, the curves of N_w take the same values of ε: each is a pass
    # over all words and rays.
    measured = sample is not calibration and len(sample.epsilons) >= _ENOUGH
    spread = sample.epsilons.tolist() if measured else calibration.span(_CURVE_VALUES)
    wanted = sorted({*spread, *shown, *([choice.epsilon] if choice is not None else [])})
    calibration.prepare(wanted)
    rows = {}
    for done, epsilon in enumerate(wanted, 1):
        rows[epsilon] = row_at(calibration, epsilon)
        if report is not None:
            report(done, len(wanted))
    return Findings(
        calibration=calibration,
        sample=sample,
        choice=choice or evaluate(calibration, shown[len(shown) // 2], Targets(max_unchanged=EXPOSED)),
        has_targets=choice is not None,
        curves=list(rows.values()),
        shown=tuple(rows[epsilon] for epsilon in shown),
        releases=example_releases(calibration.embedding, calibration.mechanism, shown, sentences),
    )


def _shown(calibration: Calibration, choice: Choice | None, epsilons: Sequence[float]) -> list[float]:
    if choice is None and epsilons:
        ordered = sorted(set(epsilons))
        return sorted({ordered[0], ordered[len(ordered) // 2], ordered[-1]})
    if choice is not None:
        wanted = [float(f"{choice.epsilon / 1.5:.3g}"), float(f"{choice.epsilon * 1.5:.3g}")]
    else:
        wanted = [calibration.epsilon_reaching(share) for share in SHOWN_AVERAGES]
    if not isinstance(calibration, RayCalibration):  # a new value would be another pass over all words
        known = np.array(calibration.span(_CURVE_VALUES))
        wanted = [float(known[np.abs(np.log(known / each)).argmin()]) for each in wanted]
    return sorted({*wanted, *([] if choice is None else [choice.epsilon])})


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
