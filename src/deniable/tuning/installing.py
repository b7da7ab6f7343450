"""A tuned space in the store, calibrated at its ε: what is needed to release with it."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.calibration import Targets, calibrate
from deniable.calibration.choice import evaluate
from deniable.embeddings.store import InstalledFacts
from deniable.progress import Report
from deniable.purposes.installing import save_mapped
from deniable.tuning.findings import TuningFindings


@dataclass(frozen=True, kw_only=True)
class Isolated:
    """The words of a space that stay themselves in more than half of all draws at its ε: how many, of how
    many, and the first of them."""

    count: int
    words: int
    shown: tuple[str, ...]


def install_tuned(found: TuningFindings, name: str) -> InstalledFacts:
    """Install the space that was chosen under a name.

    :raises EmbeddingExists: if the name is taken.
    :raises InvalidParameter: if the name is not allowed.
    """
    return save_mapped(found.space.embedding, name)


def calibrate_tuned(
    found: TuningFindings, name: str, *, rays: int = 100, report: Report | None = None
) -> Isolated:
    """Calibrate an installed space at the ε that was chosen, for receipts to quote, and return which of its
    words are isolated.

    The calibration follows ``rays`` directions from each word.

    :raises InvalidParameter: if ``rays`` is not a whole number of at least 1.
    """
    result = calibrate(name, mechanism=found.mechanism, epsilons=[found.epsilon], draws=rays, report=report)
    calibration = result.calibration
    failing = evaluate(calibration, found.epsilon, Targets(max_unchanged=0.5)).failing
    shown = tuple(calibration.embedding.words[i] for i in calibration.ids[failing[:30]].tolist())
    return Isolated(count=len(failing), words=len(calibration.ids), shown=shown)
