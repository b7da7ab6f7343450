"""Makes the channel of a mechanism at one ε, from the disk as far as it was made before."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import LEFT_OUT, Channel
from deniable.channel.rows import MOST_OUTPUTS, RowMaker
from deniable.channel.store import ChannelStore
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report, part_of

DIRECTIONS = 1000
"""How many directions are followed from each word, points drawn around it or draws made of it, by default."""

MOST_ASKED, _FEW = 250_000, 2
"""Outputs are few if there are no more of them than this, and so many times as many words: around more of
them more points would be drawn than for all words."""

_FORMAT = 7


def make_channel(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilon: float,
    inputs: Ids | None = None,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    keep: bool = True,
    report: Report | None = None,
) -> Channel:
    """Return the channel of a mechanism, the paper's unless another is named.

    ``inputs`` are the words that may have gone in, ``embedding.unknown_id`` for ⊥; without them all words and
    ⊥. ``outputs`` are the words whose columns are needed, such as those of one release: where these are few,
    a channel by shared points or exact sums is made for them alone, and is not left on the disk;
    ``Channel.asked`` says so. ``directions`` is how many rays are followed from each input, draws made of it
    or, at most, points drawn around it (``points.draws_each``). What is finished stays on the disk
    (unless ``keep`` is false), so an interrupted run is continued by the next. The device that was asked for
    (``neighbours.set_device``) sums over points, with the same result as far as float32 goes. ``report`` gets
    how many rows are done, of how many; what comes before all rows counts as a part of them.

    :raises InvalidParameter: if a number or an id is not allowed, or there are no inputs.
    :raises DamagedChannel: if what is on the disk cannot be trusted.
    """
    directions, epsilon = validated_count(directions, "directions"), validated_epsilon(epsilon)
    chosen, ids = ChosenMechanism() if mechanism is None else mechanism, _checked(embedding, inputs)
    most = min(len(embedding) // _FEW, MOST_ASKED)
    few = np.unique(outputs) if outputs is not None and len(outputs) <= most else None
    maker = RowMaker(chosen(embedding, epsilon=epsilon), inputs=ids, outputs=few, directions=directions)
    root = embedding.work_folder("channels") if keep and maker.asked is None else None
    listed = "all"
    if inputs is not None:
        listed = hashlib.blake2b(ids.astype("<i8").tobytes(), digest_size=8).hexdigest()
    settings = {
        "format": _FORMAT,
        "fingerprint": embedding.fingerprint,
        "mechanism": chosen.identity(embedding),
        "epsilon": epsilon,
        "method": maker.method,
        "directions": maker.directions or None,
        "seed": maker.seed,
        "points_each": maker.points_each,
        "inputs": listed,
        "left_out": LEFT_OUT,
        "most_outputs": MOST_OUTPUTS,
    }
    return _made(maker, root, settings, report)


def make_channels(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: list[float],
    report: Report | None = None,
    **options: Any,
) -> list[Channel]:
    """Return the channels of a mechanism at several ε, in the order of ``epsilons``; see ``make_channel``.

    :raises InvalidParameter: if there is no ε, or as ``make_channel`` does.
    """
    if not epsilons:
        raise InvalidParameter("epsilons", "none", "give one or more values of ε")
    different = sorted({validated_epsilon(epsilon) for epsilon in epsilons})  # before any work
    channels = dict[float, Channel]()
    for place, epsilon in enumerate(different):
        part = None if report is None else part_of(report, place, len(different))
        channels[epsilon] = make_channel(embedding, mechanism, epsilon=epsilon, report=part, **options)
    return [channels[epsilon] for epsilon in epsilons]


def make_rows(
    mechanism: Mechanism, inputs: Ids, *, outputs: Ids | None = None, directions: int = DIRECTIONS
) -> Channel:
    """Return the channel of one mechanism from ``inputs``, given in order, to all words or to ``outputs``; it
    stays in memory."""
    return _made(RowMaker(mechanism, inputs=inputs, outputs=outputs, directions=directions), None, {}, None)


def _made(maker: RowMaker, root: Path | None, settings: dict[str, Any], report: Report | None) -> Channel:
    embedding = maker.mechanism.embedding
    with ChannelStore(root, settings, len(maker.ordered), words=len(embedding)).opened() as store:
        _fill(store, maker, report)
        return Channel(
            embedding=embedding,
            epsilon=maker.mechanism.epsilon,
            method=maker.method,
            directions=maker.directions,
            inputs=maker.ordered,
            asked=maker.asked,
            dropped=np.array(store.dropped) if store.folder is None else None,
            **store.arrays(),
        )


def _fill(store: ChannelStore, maker: RowMaker, report: Report | None) -> None:
    """Make all rows that are missing; what comes before all rows counts as much as they do."""
    told = -1

    def tell(done: float) -> None:
        nonlocal told
        if report is not None and int(done) > told:
            told = int(done)
            report(told, store.rows)

    if store.complete:
        tell(store.done)
        return
    before = 0.5 if maker.method == "points" else 0.0  # of the time
    tell((1.0 - before) * store.done)
    maker.prepare(lambda part, of: tell((1.0 - before) * store.done + before * store.rows * part / of))
    while not store.complete:
        store.append(list(maker.rows(maker.ordered[store.done : store.done + maker.at_once])))
        tell(before * store.rows + (1.0 - before) * store.done)


def _checked(embedding: Embedding, inputs: Ids | None) -> Ids:
    if inputs is None:
        return np.arange(len(embedding) + 1, dtype=np.int64)
    ids = np.unique(np.asarray(inputs, dtype=np.int64))
    if not len(ids) or ids[0] < 0 or ids[-1] > embedding.unknown_id:
        raise InvalidParameter(
            "inputs", f"{len(ids):,} ids", f"must be ids from 0 to {embedding.unknown_id}, and at least one"
        )
    return ids
