"""Every word's values as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.atomic import whole_file
from deniable.calibration.by_rays import RayCalibration
from deniable.calibration.calibration import Calibration
from deniable.calibration.result import ENTROPIES
from deniable.channel.rays.statistics import unchanged_counts


def write_words(
    calibration: Calibration,
    epsilons: list[float],
    *,
    sample: Calibration | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
) -> None:
    """Write one row per word and ε: N_w with its error and, where they were measured, distinct words, S_w and
    entropies.

    N_w of a protected word is how often it comes out itself; by sums and draws, how often its stand-in stays
    where that is more.

    ``unchanged_draws`` is the paper's N_w, where there are rays: how many of one draw per ray leave the word
    as it is. ``sample`` has distinct words, S_w and entropies of some of the words, if the calibration has
    none; they are missing for the others. Each file appears whole or not at all.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    names = [calibration.embedding.words[i] for i in calibration.ids.tolist()]
    calibration.prepare(epsilons)
    tables = []
    for epsilon in epsilons:
        means, errors = calibration.unchanged(epsilon)
        columns: dict[str, Any] = {
            "word": names,
            "protected": calibration.protected,
            "epsilon": np.full(len(names), epsilon),
        }
        columns |= {"unchanged": means, "standard_error": errors}
        if isinstance(calibration, RayCalibration):
            columns["unchanged_draws"] = _unchanged_draws(calibration, epsilon)
        tables.append(pyarrow.table(columns | _support_columns(calibration, sample or calibration, epsilon)))
    table = pyarrow.concat_tables(tables, promote_options="default")  # S_w may be missing at some ε
    for path, write in ((csv, pyarrow.csv.write_csv), (parquet, pyarrow.parquet.write_table)):
        if path is not None:
            with whole_file(path.resolve()) as file:
                write(table, file)


def _unchanged_draws(calibration: RayCalibration, epsilon: float) -> Ids:
    """Return how many of one draw per ray leave each word as it is."""
    counts = unchanged_counts(calibration.radii, epsilon, calibration.length.draws(calibration.draws))
    if len(calibration.protected_rows):
        counts[calibration.protected_rows] = calibration.protected_unchanged(epsilon).counts
    return counts


def _support_columns(calibration: Calibration, sample: Calibration, epsilon: float) -> dict[str, Any]:
    """Return the columns of what words may become, one value per word of the calibration."""
    import pyarrow

    at = np.flatnonzero(sample.epsilons == epsilon)
    if sample.distinct is None or sample.support is None or sample.entropies is None or not len(at):
        return {}
    columns: dict[str, Any] = {"distinct": sample.distinct[:, at[0]], "support": sample.support[:, at[0]]}
    columns |= {name: sample.entropies[:, at[0], i] for i, name in enumerate(ENTROPIES)}
    if sample.support_errors is not None and sample.entropy_errors is not None:
        columns |= {"support_error": sample.support_errors[:, at[0]]}
        columns |= {f"{name}_error": sample.entropy_errors[:, at[0], i] for i, name in enumerate(ENTROPIES)}
    rows = np.full(len(sample.embedding), -1, dtype=np.int64)
    rows[sample.ids] = np.arange(len(sample.ids))
    rows = rows[calibration.ids]
    return {name: pyarrow.array(values[rows], mask=rows < 0) for name, values in columns.items()}
