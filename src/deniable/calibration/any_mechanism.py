"""Calibrates whatever mechanism was chosen, by the best method there is for it."""

from __future__ import annotations

from deniable.calibration.calibration import Calibration
from deniable.calibration.measure import Report, calibrate
from deniable.calibration.straight import straight_noise
from deniable.calibration.tabulated import tabulate
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Floats, Ids
from deniable.mechanisms.selected import Selected


def calibrate_mechanism(
    embedding: Embedding,
    mechanism: Selected,
    *,
    rays: int = 1000,
    ids: Ids | None = None,
    epsilons: Floats | None = None,
    walks: bool = False,
    report: Report | None = None,
) -> Calibration:
    """Return the calibration of all words, or of ``ids``: by rays where noise goes straight, else a table by sums or draws.

    See ``measure.calibrate`` and ``tabulated.tabulate``, also for what they raise.
    """
    if straight_noise(mechanism(embedding, epsilon=1.0)) is not None:
        return calibrate(embedding, mechanism=mechanism, rays=rays, ids=ids, epsilons=epsilons, walks=walks, report=report)
    return tabulate(embedding, mechanism, rays=rays, ids=ids, epsilons=epsilons, walks=walks, report=report)
