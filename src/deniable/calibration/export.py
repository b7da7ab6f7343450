"""Every word's values as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.atomic import whole_file
from deniable.calibration.calibration import Calibration
from deniable.calibration.measure import RayCalibration
from deniable.channel.rays.statistics import unchanged_counts

ENTROPIES = ("H0", "H1", "H2", "Hinf")


def write_words(
    calibration: Calibration,
    epsilons: list[float],
    *,
    walked: Calibration | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
) -> None:
    """Write one row per word and ε: N_w with its error and, where walks were made, distinct words, S_w and entropies.

    N_w of a protected word is how often it comes out itself; by sums and draws, how often its stand-in stays where that is more.

    ``unchanged_draws`` is the paper's N_w, where there are rays: how many of one draw per ray leave the word as it is. ``walked`` has
    the walks of some of the words, if the calibration has none; they are missing for the others. Each file appears whole or
    not at all.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    names = [calibration.embedding.words[i] for i in calibration.ids.tolist()]
    calibration.prepare(epsilons)
    tables = []
    for epsilon in epsilons:
        means, errors = calibration.unchanged(epsilon)
        columns: dict[str, Any] = {"word": names, "protected": calibration.protected, "epsilon": np.full(len(names), epsilon)}
        columns |= {"unchanged": means, "standard_error": errors}
        if isinstance(calibration, RayCalibration):
            columns["unchanged_draws"] = _draws(calibration, epsilon)
        tables.append(pyarrow.table(columns | _of_walks(calibration, walked or calibration, epsilon)))
    table = pyarrow.concat_tables(tables, promote_options="default")  # walks may be missing at some ε
    for path, write in ((csv, pyarrow.csv.write_csv), (parquet, pyarrow.parquet.write_table)):
        if path is not None:
            with whole_file(path.resolve()) as file:
                write(table, file)


def _draws(calibration: RayCalibration, epsilon: float) -> Ids:
    """Return how many of one draw per ray leave each word as it is."""
    counts = unchanged_counts(calibration.radii, epsilon, calibration.length.draws(calibration.rays))
    if len(calibration.protected_rows):
        counts[calibration.protected_rows] = calibration.itself(epsilon).counts
    return counts


def _of_walks(calibration: Calibration, walked: Calibration, epsilon: float) -> dict[str, Any]:
    """Return the columns that only walks give, one value per word of the calibration."""
    import pyarrow

    at = np.flatnonzero(walked.epsilons == epsilon)
    if walked.distinct is None or walked.support is None or walked.entropies is None or not len(at):
        return {}
    columns: dict[str, Any] = {"distinct": walked.distinct[:, at[0]], "support": walked.support[:, at[0]]}
    columns |= {name: walked.entropies[:, at[0], i] for i, name in enumerate(ENTROPIES)}
    if walked.support_errors is not None and walked.entropy_errors is not None:
        columns |= {"support_error": walked.support_errors[:, at[0]]}
        columns |= {f"{name}_error": walked.entropy_errors[:, at[0], i] for i, name in enumerate(ENTROPIES)}
    rows = np.full(len(walked.embedding), -1, dtype=np.int64)
    rows[walked.ids] = np.arange(len(walked.ids))
    rows = rows[calibration.ids]
    return {name: pyarrow.array(values[rows], mask=rows < 0) for name, values in columns.items()}
