"""Makes channels: of one mechanism at one ε or several, from the disk as far as they were made before."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TypedDict, Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import LEFT_OUT, Channel
from deniable.channel.rows import MOST_OUTPUTS, RowMaker, shares_points
from deniable.channel.store import ChannelStore
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

DIRECTIONS = 1000
"""How many directions are followed from each word, points drawn around it or draws made of it, unless told
otherwise."""

MOST_ASKED, _FEW = 250_000, 2
"""Outputs are few if there are no more of them than this, and so many times as many words: around more of
them more points would be drawn than for all words."""

_FORMAT = 7


class ChannelOptions(TypedDict, total=False):
    """What ``make_channels`` takes beside the mechanism and ε."""

    inputs: Ids | None
    outputs: Ids | None
    directions: int
    keep: bool
    report: Report | None


def make_channel(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilon: float,
    **options: Unpack[ChannelOptions],
) -> Channel:
    """Return the channel of a mechanism, the paper's unless another is named; see ``make_channels``."""
    return make_channels(embedding, mechanism, epsilons=[epsilon], **options)[0]


def make_channels(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: list[float],
    inputs: Ids | None = None,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    keep: bool = True,
    report: Report | None = None,
) -> list[Channel]:
    """Return the channels of a mechanism at several ε, in the order of ``epsilons``; by rays one walk a word
    serves all of them.

    ``inputs`` are the words that may have gone in, ``embedding.unknown_id`` for ⊥; without them all words and
    ⊥. ``outputs`` are the words whose columns are needed, such as those of one release: where these are few,
    a channel by shared points or exact sums is made for them alone, and is not left on the disk;
    ``Channel.asked`` says so. ``directions`` is how many rays are followed from each input, draws made of it
    or, at most, points drawn around it (``points.draws_each``). What is finished stays on the disk
    (unless ``keep`` is false), so an interrupted run is continued by the next. The device that was asked for
    (``neighbours.set_device``) sums over points, with the same result as far as float32 goes. ``report`` is
    told how many rows are done, of how many; what comes before all rows is told as a part of them.

    :raises InvalidParameter: if a number or an id is not allowed, or there are no inputs or no ε.
    :raises DamagedChannel: if what is on the disk cannot be trusted.
    """
    directions = validated_count(directions, "directions")
    wanted = [validated_epsilon(epsilon) for epsilon in epsilons]
    if not wanted:
        raise InvalidParameter("epsilons", "none", "give one or more values of ε")
    chosen = ChosenMechanism() if mechanism is None else mechanism
    ids = _checked(embedding, inputs)
    groups = _epsilons_together(embedding, chosen, sorted(set(wanted)), ids)
    most = min(len(embedding) // _FEW, MOST_ASKED)
    few = np.unique(outputs) if outputs is not None and len(outputs) <= most else None
    made: dict[float, Channel] = {}
    for turn, epsilons_there in enumerate(groups):
        maker = RowMaker(
            [chosen(embedding, epsilon=epsilon) for epsilon in epsilons_there],
            inputs=ids,
            outputs=few,
            directions=directions,
        )
        with ExitStack() as opened:
            root = embedding.work_folder("channels") if keep and maker.asked is None else None
            stores = [
                ChannelStore(
                    root,
                    _settings(embedding, chosen, maker, epsilon, None if inputs is None else ids),
                    len(ids),
                    words=len(embedding),
                )
                for epsilon in epsilons_there
            ]
            places = [opened.enter_context(store.opened()) for store in stores]
            _fill(places, maker, _Rising(report, turn * len(ids), len(groups) * len(ids)))
            made.update(zip(epsilons_there, _channels(maker, places), strict=True))
    return [made[epsilon] for epsilon in wanted]


def make_rows(
    mechanism: Mechanism, inputs: Ids, *, outputs: Ids | None = None, directions: int = DIRECTIONS
) -> Channel:
    """Return the channel of one mechanism from ``inputs``, given in order, to all words or to ``outputs``; it
    stays in memory."""
    maker = RowMaker([mechanism], inputs=inputs, outputs=outputs, directions=directions)
    held = ChannelStore(None, {}, len(inputs), words=len(mechanism.embedding))
    _fill([held], maker, _Rising(None, 0, len(inputs)))
    return _channels(maker, [held])[0]


def _channels(maker: RowMaker, places: Sequence[ChannelStore]) -> list[Channel]:
    return [
        Channel(
            embedding=made.embedding,
            epsilon=made.epsilon,
            method=maker.method,
            directions=maker.directions,
            inputs=maker.ordered,
            asked=maker.asked,
            dropped=np.array(place.dropped) if place.folder is None else None,
            **place.arrays(),
        )
        for made, place in zip(maker.made, places, strict=True)
    ]


def _epsilons_together(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], ids: Ids
) -> list[list[float]]:
    """Return which ε are gone through at once: a walk along rays serves them all, but every ε has points of
    its own."""
    alone = [epsilon for epsilon in epsilons if shares_points(mechanism(embedding, epsilon=epsilon), ids)]
    together = [epsilon for epsilon in epsilons if epsilon not in alone]
    return [*([epsilon] for epsilon in alone), *([together] if together else [])]


class _Rising:
    """Tells a report about one of several equal parts of the work, and nothing twice."""

    def __init__(self, report: Report | None, before: int, total: int) -> None:
        self._report, self._before, self._total, self._told = report, before, total, before if before else -1

    def __call__(self, done: float) -> None:
        reached = self._before + int(done)
        if self._report is not None and reached > self._told:
            self._told = reached
            self._report(reached, self._total)


def _fill(folders: Sequence[ChannelStore], maker: RowMaker, report: _Rising) -> None:
    """Make all rows that are missing in one of the folders; what comes before all rows counts as much as they
    do."""
    done, rows_in_all = min(folder.done for folder in folders), len(maker.ordered)
    if done == rows_in_all:
        report(done)
        return
    before = 0.5 if maker.method == "points" else 0.0  # of the time
    report((1.0 - before) * done)
    maker.prepare(lambda part, of: report((1.0 - before) * done + before * rows_in_all * part / of))
    while done < rows_in_all:
        part = maker.ordered[done : done + maker.at_once]
        rows = list(maker.rows(part))
        for place, folder in enumerate(folders):
            # An earlier run may have been further with one ε than with another.
            if folder.done < done + len(part):
                folder.append([row[place] for row in rows][folder.done - done :])
        done += len(part)
        report(before * rows_in_all + (1.0 - before) * done)


def _checked(embedding: Embedding, inputs: Ids | None) -> Ids:
    if inputs is None:
        return np.arange(len(embedding) + 1, dtype=np.int64)
    ids = np.unique(np.asarray(inputs, dtype=np.int64))
    if not len(ids) or ids[0] < 0 or ids[-1] > embedding.unknown_id:
        raise InvalidParameter(
            "inputs", f"{len(ids):,} ids", f"must be ids from 0 to {embedding.unknown_id}, and at least one"
        )
    return ids


def _settings(
    embedding: Embedding, mechanism: ChosenMechanism, maker: RowMaker, epsilon: float, inputs: Ids | None
) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "fingerprint": embedding.fingerprint,
        "mechanism": mechanism.identity(embedding),
        "epsilon": epsilon,
        "method": maker.method,
        "directions": maker.directions or None,
        "seed": maker.seed,
        "points_each": maker.points_each,
        "inputs": "all"
        if inputs is None
        else hashlib.blake2b(inputs.astype("<i8").tobytes(), digest_size=8).hexdigest(),
        "left_out": LEFT_OUT,
        "most_outputs": MOST_OUTPUTS,
    }
