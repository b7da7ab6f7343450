"""Everything the page and the figures show, computed once: numbers first, sentences and curves later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import evaluate
from deniable.calibration.compare import Geometry, geometry
from deniable.calibration.report.examples import ExampleRelease, Outputs, example_releases, sample_outputs
from deniable.calibration.result import Choice, Targets, WordRow, worst_words
from deniable.progress import Report

SHOWN_AVERAGES = (0.05, 0.2, 0.5)
"""Without targets, sample texts are shown where the average word stays this often."""

EXPOSED = 0.5
"""Without targets, a word that stays itself more often than this counts as exposed."""

QUANTILES = (0.5, 0.95, 0.99, 1.0)
_GEOMETRY_WORDS = 1000
_CURVE_VALUES = 16
_ENOUGH = 8


class Curve(NamedTuple):
    """N_w over the words at one ε: the average with its standard error, quantiles, and how many words stay in
    over half."""

    epsilon: float
    average: float
    error: float
    quantiles: tuple[float, ...]
    above_half: int


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
    curves: list[Curve]
    shown: tuple[Curve, ...]
    worst: list[WordRow]
    geometry: Geometry
    releases: list[ExampleRelease]
    outputs: Outputs

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
        curves[epsilon] = _curve(calibration, epsilon)
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


def _curve(calibration: Calibration, epsilon: float) -> Curve:
    means, _ = calibration.unchanged(epsilon)
    average, error = calibration.average(epsilon)
    return Curve(
        epsilon=epsilon,
        average=average,
        error=error,
        quantiles=tuple(float(q) for q in np.quantile(means, QUANTILES)),
        above_half=int((means > EXPOSED).sum()),
    )
