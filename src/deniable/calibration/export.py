"""Every word's values as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable.calibration.calibration import Calibration
from deniable.records.publish import beside, publish


def write_words(calibration: Calibration, epsilons: list[float], *, csv: Path | None = None, parquet: Path | None = None) -> None:
    """Write one row per word and ε: N_w with its error and, where walks were made, distinct words, S_w and entropies.

    Each file appears whole or not at all.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    tables = []
    names = [calibration.embedding.words[i] for i in calibration.ids.tolist()]
    for epsilon in epsilons:
        means, errors = calibration.unchanged(epsilon)
        columns: dict[str, Any] = {"word": names, "epsilon": np.full(len(names), epsilon), "unchanged": means, "standard_error": errors}
        at = np.flatnonzero(calibration.epsilons == epsilon)
        if calibration.distinct is not None and calibration.support is not None and calibration.entropies is not None and len(at):
            columns |= {"distinct": calibration.distinct[:, at[0]], "support": calibration.support[:, at[0]]}
            columns |= {name: calibration.entropies[:, at[0], i] for i, name in enumerate(("H0", "H1", "H2", "Hinf"))}
        if calibration.support_errors is not None and calibration.entropy_errors is not None and len(at):
            columns |= {"support_error": calibration.support_errors[:, at[0]]}
            columns |= {f"{name}_error": calibration.entropy_errors[:, at[0], i] for i, name in enumerate(("H0", "H1", "H2", "Hinf"))}
        tables.append(pyarrow.table(columns))
    table = pyarrow.concat_tables(tables)
    for path, write in ((csv, pyarrow.csv.write_csv), (parquet, pyarrow.parquet.write_table)):
        if path is not None:
            target = path.resolve()
            waiting = beside(target, ".partial")
            try:
                write(table, waiting)
                publish(waiting, target)
            except OSError:
                waiting.unlink(missing_ok=True)
                raise
