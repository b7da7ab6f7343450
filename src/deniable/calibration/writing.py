"""Writes what a calibration found: the note, which receipts and ``privatize --max-unchanged`` read
(``release.note``), where they look for it, and the values of every word as CSV or Parquet."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from deniable.atomic import make_folder, whole_file
from deniable.calibration.calibration import Calibration
from deniable.calibration.result import ENTROPIES, spread_of
from deniable.channel.distribution import ETA
from deniable.errors import DamagedCalibration
from deniable.release.note import Factor, Note, NoteRow, Spread, note_path, read_note

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
"""The shares of the words that a note has N_w for."""


def make_note(whole: Calibration, epsilons: list[float], sample: Calibration | None = None) -> Note:
    """Return the note at these ε: N_w of ``whole`` and, where they are known, S_w and distinct words of
    ``sample``."""
    whole.prepare(epsilons)
    return Note(
        fingerprint=whole.embedding.fingerprint,
        mechanism=whole.mechanism.identity(whole.embedding),
        method=whole.method,
        draws=whole.draws,
        words=len(whole.ids),
        words_for_support=None if sample is None or sample.distinct is None else len(sample.ids),
        eta=ETA,
        table=tuple(_row(whole, epsilon, sample) for epsilon in epsilons),
    )


def note_place(calibration: Calibration) -> Path | None:
    """Return where the note of a calibration of all words belongs; None if none is to be written.

    What fewer draws say does not take the place of what more draws said, nor what draws say that of rays,
    which tell more. The numbers of the default embedding come with the package.
    """
    mechanism = calibration.mechanism(calibration.embedding, epsilon=1.0)
    path = note_path(mechanism)
    with suppress(DamagedCalibration):  # what cannot be read is written again
        known = None if path is None else read_note(mechanism)
        if known is not None and (
            known.draws > calibration.draws or (known.method, calibration.method) == ("rays", "simulation")
        ):
            return None
    return path


def write_note(calibration: Calibration, sample: Calibration, path: Path) -> None:
    """Write the note of a calibration of all words, with S_w of the words in ``sample``."""
    epsilons = sorted({*calibration.note_epsilons(), *sample.epsilons.tolist()})
    content = json.dumps(make_note(calibration, epsilons, sample).to_dict(), indent=1) + "\n"
    with suppress(PermissionError):  # an embedding that many people share may be read-only
        if path.parent != calibration.embedding.folder:
            make_folder(path.parent)
        # Not a private file: anybody who may read the embedding releases with it, and quotes this.
        with whole_file(path) as file:
            file.write(content.encode())


def _row(whole: Calibration, epsilon: float, sample: Calibration | None) -> NoteRow:
    means, factor = whole.unchanged_or_stand_in(epsilon), whole.summed_capacity(epsilon)
    support = distinct = None
    if sample is not None and (spread := sample.spread_at(epsilon)) is not None:
        support, distinct = (
            _rounded(spread_of(spread[name], smallest_is_worst=True), math.floor)
            for name in ("support", "distinct")
        )
    return NoteRow(
        epsilon=epsilon,
        # Upwards, like the quantiles: a receipt must not promise more than was found.
        unchanged=_rounded(spread_of(means, with_mean=True), lambda share: _round_up(share, 4)),
        unchanged_quantiles={
            q: _round_up(float(np.quantile(means, q, method="higher")), 5) for q in QUANTILES
        },
        words_above_half=int((means > 0.5).sum()),
        support=support,
        distinct=distinct,
        capacity=None if factor is None else note_capacity(factor.value, factor.high),
    )


def note_capacity(value: float, at_most: float) -> Factor:
    """Return a capacity as notes have it, the upper end rounded up."""
    return Factor(value=round(value, 2), at_most=math.ceil(100.0 * at_most) / 100.0)


def _rounded(spread: Spread, rounding: Callable[[float], float]) -> Spread:
    return Spread(
        median=rounding(spread.median),
        most=rounding(spread.most),
        worst=rounding(spread.worst),
        mean=None if spread.mean is None else rounding(spread.mean),
    )


def _round_up(value: float, digits: int) -> float:
    return min(round(value + 0.5 * 10.0**-digits, digits), 1.0)


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
    where that is more. ``unchanged_draws`` is the paper's N_w, where there are rays. ``sample`` has distinct
    words, S_w and entropies of some of the words, if the calibration has none; they are missing for the
    others. Each file appears whole or not at all.
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
            "unchanged": means,
            "standard_error": errors,
        }
        if (counts := calibration.unchanged_draws(epsilon)) is not None:
            columns["unchanged_draws"] = counts
        tables.append(pyarrow.table(columns | _support_columns(calibration, sample or calibration, epsilon)))
    table = pyarrow.concat_tables(tables, promote_options="default")  # S_w may be missing at some ε
    for path, write in ((csv, pyarrow.csv.write_csv), (parquet, pyarrow.parquet.write_table)):
        if path is not None:
            with whole_file(path.resolve()) as file:
                write(table, file)


def _support_columns(calibration: Calibration, sample: Calibration, epsilon: float) -> dict[str, Any]:
    """Return the columns of what words may become, one value per word of the calibration."""
    import pyarrow

    if (spread := sample.spread_at(epsilon)) is None:
        return {}
    columns: dict[str, Any] = {"distinct": spread["distinct"], "support": spread["support"]}
    columns |= {name: spread["entropies"][:, i] for i, name in enumerate(ENTROPIES)}
    columns["support_error"] = spread["support_errors"]
    columns |= {f"{name}_error": spread["entropy_errors"][:, i] for i, name in enumerate(ENTROPIES)}
    rows = np.full(len(sample.embedding), -1, dtype=np.int64)
    rows[sample.ids] = np.arange(len(sample.ids))
    rows = rows[calibration.ids]
    return {name: pyarrow.array(values[rows], mask=rows < 0) for name, values in columns.items()}
