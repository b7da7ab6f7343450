"""A calibration of an embedding without some words, started from the calibration of the whole one where that is on the disk.

Only rays that ended at a word which is gone are followed again (``channel.rays.remaining``). Every number is the one that a calibration
made from nothing has. Where many words are left out, most of the work is to find these rays, and all are followed anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.storage import Columns, calibration_folder, has_begun, open_store
from deniable.channel.rays.remaining import RemainingRays
from deniable.channel.rays.tables import word_tables
from deniable.embeddings.embedding import Embedding, LeftOut
from deniable.errors import CalibrationInProgress, DamagedCalibration
from deniable.mechanisms.base import radial_noise
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.randomness import RadialNoise

MOST_LEFT_OUT = 0.1
"""The share of the words that may be left out: with more of them, to follow all rays anew is as fast."""

_TABLES, _BYTES_PER_PROJECTION = 2, 2


@dataclass(frozen=True, kw_only=True)
class CarriedOver:
    """The first breakpoints of the whole embedding's words, and what finds those that changed."""

    rays: RemainingRays
    order: Ids
    kept: Ids
    known: Floats = field(repr=False)
    rows: Ids = field(repr=False)

    def first_breakpoints(self, ids: Ids) -> Floats:
        """Return for each word and ray the length at which its cell ends among the words that are left."""
        return self.rays.first_breakpoints(ids, np.asarray(self.known[self.rows[self.kept[ids]]]))


def carry_over(
    embedding: Embedding, mechanism: ChosenMechanism, noise: RadialNoise, settings: dict[str, Any], columns: Columns, *, table_bytes: int
) -> CarriedOver | None:
    """Return what measures all words of an embedding from the calibration of the whole one; None where there is none to start from.

    ``settings`` and ``columns`` are those of the calibration to be made, which has first breakpoints and nothing else.
    """
    left_out, rays = embedding.left_out, int(settings["rays"])
    if left_out is None or not _can_be_carried(embedding, left_out, mechanism, noise, rays, table_bytes):
        return None
    source = left_out.source
    of_source = {**settings, "fingerprint": source.fingerprint}
    if not has_begun(calibration_folder(source, of_source)):
        return None
    try:
        with open_store(source, of_source, columns, len(source), keep=True) as store:
            if not store.complete:
                return None
    except (DamagedCalibration, CalibrationInProgress, OSError):
        return None  # what cannot be used is not needed either
    rows = np.empty(len(source), dtype=np.int64)
    rows[np.asarray(store.arrays["ids"])] = np.arange(len(source))
    return CarriedOver(
        rays=RemainingRays(embedding, left_out, noise, rays=rays),
        order=word_tables(embedding).ids.reshape(-1)[: len(embedding)],
        kept=left_out.kept,
        known=store.arrays["radii"],
        rows=rows,
    )


def _can_be_carried(
    embedding: Embedding, left_out: LeftOut, mechanism: ChosenMechanism, noise: RadialNoise, rays: int, table_bytes: int
) -> bool:
    source = left_out.source
    few = 0 < left_out.count <= MOST_LEFT_OUT * len(source)
    fits = _TABLES * _BYTES_PER_PROJECTION * rays * len(source) <= table_bytes
    # A protected word goes in as another one, which may be gone; noise with a shape follows the vocabulary.
    return few and fits and embedding.protection is None and noise.shape is None and radial_noise(mechanism(source, epsilon=1.0)) == noise
