"""Makes channels: of one mechanism at one ε or several, from the disk as far as they were made before."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.columns import FEWEST_INPUTS, column_factors
from deniable.channel.rows import RowMaker
from deniable.channel.store import ChannelFolder
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import work_folder
from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

DIRECTIONS = 1000
"""How many directions are followed from each word, or how many draws are made of it, unless told otherwise."""

LEFT_OUT = 1e-3
"""What the listed outputs of a row leave out of its probability."""

MOST_OUTPUTS = 4_096
"""No row lists more outputs than this; a softmax at a small ε has weight everywhere."""

_FORMAT = 3


def make_channel(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilon: float,
    inputs: Ids | None = None,
    directions: int = DIRECTIONS,
    keep: bool = True,
    on_card: bool = False,
    report: Report | None = None,
) -> Channel:
    """Return the channel of a mechanism, the paper's unless another is named; see ``make_channels``."""
    made = make_channels(
        embedding, mechanism, epsilons=[epsilon], inputs=inputs, directions=directions, keep=keep, on_card=on_card, report=report
    )
    return made[0]


def make_channels(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: list[float],
    inputs: Ids | None = None,
    directions: int = DIRECTIONS,
    keep: bool = True,
    on_card: bool = False,
    report: Report | None = None,
) -> list[Channel]:
    """Return the channels of a mechanism at several ε, from one walk a word where rays serve; in the order of ``epsilons``.

    ``inputs`` are the words that may have gone in, ``embedding.unknown_id`` for ⊥; without them all words and ⊥. What is finished
    stays on the disk (unless ``keep`` is false), so an interrupted run is continued by the next. With ``on_card`` rays give way to draws
    on the device that was asked for (``neighbours.set_device``), ``directions`` of each word, if it draws this mechanism's noise; they are
    secure ones, so another run differs within their error. ``report`` is told how many rows are done, of how many.

    :raises InvalidParameter: if a number or an id is not allowed, or there are no inputs or no ε.
    :raises DamagedChannel: if what is on the disk cannot be trusted.
    """
    directions = validated_count(directions, "directions")
    wanted = [validated_epsilon(epsilon) for epsilon in epsilons]
    if not wanted:
        raise InvalidParameter("epsilons", "none", "give one or more values of ε")
    chosen = ChosenMechanism() if mechanism is None else mechanism
    ids = _checked(embedding, inputs)
    unique = sorted(set(wanted))
    maker = RowMaker(embedding, chosen, unique, directions=directions, left_out=LEFT_OUT, most=MOST_OUTPUTS, on_card=on_card)
    ordered = maker.order(ids)
    with ExitStack() as open_folders:
        root = (
            work_folder(embedding, "channels")
            if keep
            else Path(open_folders.enter_context(tempfile.TemporaryDirectory(prefix="deniable-")))
        )
        folders = []
        for epsilon in unique:
            settings = _settings(embedding, chosen, maker, epsilon, directions, None if inputs is None else ids)
            folders.append(open_folders.enter_context(ChannelFolder(root, settings, len(ids), words=len(embedding)).opened()))
        _fill(folders, maker, ordered, report)
        made = {}
        for mechanism_there, folder in zip(maker.made, folders, strict=True):
            rows = Channel(
                embedding=embedding,
                epsilon=mechanism_there.epsilon,
                method=maker.method,
                directions=0 if maker.method == "exact" else directions,
                inputs=ordered,
                **folder.arrays(mapped=keep),
            )
            balanced = maker.method == "rays" and len(rows) >= FEWEST_INPUTS
            factors = folder.columns(partial(column_factors, rows, mechanism_there)) if balanced else None
            made[rows.epsilon] = replace(rows, factors=factors)
    return [made[epsilon] for epsilon in wanted]


def _fill(folders: list[ChannelFolder], maker: RowMaker, ordered: Ids, report: Report | None) -> None:
    """Make all rows that are missing in one of the folders."""
    done = min(folder.done for folder in folders)
    if report is not None:
        report(done, len(ordered))
    while done < len(ordered):
        part = ordered[done : done + maker.at_once]
        rows = list(maker.rows(part))
        for place, folder in enumerate(folders):
            if folder.done < done + len(part):  # an earlier run may have been further with one ε than with another
                folder.append([row[place] for row in rows][folder.done - done :])
        done += len(part)
        if report is not None:
            report(done, len(ordered))


def _checked(embedding: Embedding, inputs: Ids | None) -> Ids:
    if inputs is None:
        return np.arange(len(embedding) + 1, dtype=np.int64)
    ids = np.unique(np.asarray(inputs, dtype=np.int64))
    if not len(ids) or ids[0] < 0 or ids[-1] > embedding.unknown_id:
        raise InvalidParameter("inputs", f"{len(ids):,} ids", f"must be ids from 0 to {embedding.unknown_id}, and at least one")
    return ids


def _settings(
    embedding: Embedding, mechanism: ChosenMechanism, maker: RowMaker, epsilon: float, directions: int, inputs: Ids | None
) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "fingerprint": embedding.fingerprint,
        "mechanism": mechanism.identity(embedding),
        "epsilon": epsilon,
        "method": maker.method,
        "directions": None if maker.method == "exact" else directions,
        "seed": maker.seed,
        "inputs": "all" if inputs is None else hashlib.blake2b(inputs.astype("<i8").tobytes(), digest_size=8).hexdigest(),
        "left_out": LEFT_OUT,
        "most_outputs": MOST_OUTPUTS,
    }
