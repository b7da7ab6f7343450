"""Calibrates whatever mechanism was chosen, by the best method there is for it."""

from __future__ import annotations

from deniable.arrays import Floats, Ids
from deniable.calibration.calibration import Calibration
from deniable.calibration.measure import Report, calibrate
from deniable.calibration.tabulated import tabulate
from deniable.channel.method import method_of
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.chosen import ChosenMechanism


def calibrate_mechanism(
    embedding: Embedding,
    mechanism: ChosenMechanism,
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
    if method_of(mechanism(embedding, epsilon=1.0)) == "rays":
        return calibrate(embedding, mechanism=mechanism, rays=rays, ids=ids, epsilons=epsilons, walks=walks, report=report)
    return tabulate(embedding, mechanism, rays=rays, ids=ids, epsilons=epsilons, walks=walks, report=report)
