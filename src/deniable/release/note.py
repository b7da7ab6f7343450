"""The note of a calibration: what it found, in one small file that receipts quote and that ε can be chosen
from.

The default embedding has its file in the package; ``deniable calibrate`` of all words writes one beside a
stored embedding. Mechanisms other than the paper's have a file for each choice of their options, among the
calibrations that are kept. It holds values at some ε only. Between two of them, the less favourable value is
quoted. N_w grows with ε, so that is the one at the larger ε, but for protected words, which may come out
themselves less often then; S_w may rise and fall (at tiny ε all words become the same few), so the smaller of
the two values is quoted. Below the smallest ε of a note there is one value only: N_w is quoted where it grows
with ε, and S_w is not.

A folder that was received may state anything of itself, so its note is held against fresh draws
(``contradiction``). It states that a share q of the words has N_w of at most u(q). If that is true, a word
drawn at random stays as it is with a probability of at most the sum of (q - q')·u(q) over neighbouring shares
q' < q, and no word with one above u(1). Both are tested at a level of one in a million. The words for the
second test are found by draws of their own: those that stay again and again.

This is the reading side; ``calibration.writing`` writes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from deniable.arrays import Ids
from deniable.atomic import open_plain_file
from deniable.errors import DamagedCalibration, InvalidParameter, TargetsNotMet
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import MechanismIdentity, identity_of, is_papers_mechanism
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_max_unchanged

FILE_NAME = "calibration.json"

_LONGEST = 1 << 24
_LEVEL = 1e-6
_WORDS = 2000
_ROUNDS = ((256, 4), (64, 8), (16, 60))
"""How many of the words that stayed are drawn again, and how often; the last draws are those that count."""

_DIRECTIONS = 1000
"""A calibration follows this many directions of each word, the same of all, so it may be wrong by three
standard errors of that many."""

_passed: set[tuple[object, ...]] = set()

Number = int | float
Count = Annotated[int, msgspec.Meta(ge=1)]


class Spread(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"most": "95%"}):
    """A value over the words: median, what 95 % keep to, the worst word, and the mean where it is known."""

    mean: Number | None = None
    median: Number
    most: Number
    worst: Number

    def to_dict(self) -> dict[str, float]:
        """Return the values as JSON-ready data."""
        values: dict[str, float] = msgspec.to_builtins(self)
        return values

    @classmethod
    def combine(cls, spreads: list[Spread], pick: Callable[[list[float]], float]) -> Spread:
        """Return the largest or smallest (``max`` or ``min``) of each value; the mean is left out."""
        return cls(
            median=pick([each.median for each in spreads]),
            most=pick([each.most for each in spreads]),
            worst=pick([each.worst for each in spreads]),
        )


class Factor(msgspec.Struct, frozen=True, kw_only=True):
    """By what factor a released word raises anybody's chance to guess right on average
    (``measures.capacity``)."""

    value: Number
    at_most: Number

    def __post_init__(self) -> None:
        if not 1.0 <= self.value <= self.at_most:
            raise ValueError("a capacity is not from 1 to its upper end")


class NoteRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a note says at one ε; S_w and distinct words where they were measured, capacity where it is
    known."""

    epsilon: Number
    unchanged: Spread
    unchanged_quantiles: dict[float, Number]
    words_above_half: int | msgspec.UnsetType | None = msgspec.UNSET
    support: Spread | None = None
    distinct: Spread | None = None
    capacity: Factor | None = None

    def __post_init__(self) -> None:
        spread = (self.unchanged.median, self.unchanged.most, self.unchanged.worst)
        if not all(0.0 <= share <= 1.0 for share in (*spread, *self.unchanged_quantiles.values())):
            raise ValueError("N_w is not between 0 and 1")


class Quote(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={"distinct": "distinct_in_one_draw_per_ray", "draws": "rays"},
):
    """What a receipt says of the words at one ε; ``at_epsilon`` is the value of the note that N_w was read
    at."""

    at_epsilon: Number
    unchanged: Spread
    support: Spread | None
    distinct: Spread | None
    draws: int
    words: int
    words_for_support: int | None
    capacity: Factor | None = None

    def with_policies(self, *, unknown: str, kept: int, consistent: bool) -> Quote:
        """Return the quote with the capacity of the mechanism between its policies; without it where words
        share draws or unknown words go in as known ones."""
        known = self.capacity
        if known is None or unknown == "subwords" or consistent:
            return msgspec.structs.replace(self, capacity=None)
        factor = Factor(value=known.value + kept, at_most=known.at_most + kept)
        return msgspec.structs.replace(self, capacity=factor)

    def to_dict(self) -> dict[str, Any]:
        """Return the quote as it stands in receipts."""
        quote: dict[str, Any] = msgspec.to_builtins(self)
        return quote

    def in_words(self, epsilon: float) -> str:
        """Return the quote as a line of a summary, for words that were drawn at this ε."""
        at = f"at ε = {self.at_epsilon:g}"
        if self.at_epsilon != epsilon:
            at += ", the nearest value above that was calibrated,"
        stays, factor = self.unchanged, ""
        if self.capacity is not None:
            factor = (
                "\ncapacity: seeing a released word raises anybody's chance to guess right at most "
                f"{self.capacity.at_most:,.0f}-fold, on average over words and draws"
            )
        return (
            f"calibration: {at} a word is released unchanged with probability {stays.median:.3f} (median of "
            f"{self.words:,} words), {stays.most:.3f} (95 %), {stays.worst:.3f} (worst){factor}"
        )


class Note(msgspec.Struct, frozen=True, kw_only=True, rename={"draws": "rays"}):
    """What a calibration of all words found, by rising ε.

    ``mechanism`` is None in a file that does not name it. ``draws`` is the number of directions or draws per
    word, ``words_for_support`` how many words S_w and distinct words are known of.
    """

    fingerprint: str
    mechanism: MechanismIdentity | None = None
    method: str | None = None
    draws: Count
    words: Count
    words_for_support: int | None = None
    eta: Number | None = None
    table: tuple[NoteRow, ...]

    def __post_init__(self) -> None:
        epsilons = [row.epsilon for row in self.table]
        if not epsilons:
            raise ValueError("it has no values")
        if any(list(row.unchanged_quantiles) != self.quantiles for row in self.table):
            raise ValueError("N_w is missing at some quantiles")
        if not all(epsilon > 0.0 for epsilon in epsilons) or epsilons != sorted(epsilons):
            raise ValueError("its values of ε are not positive and rising")

    def to_dict(self) -> dict[str, Any]:
        """Return the note as it is written."""
        note: dict[str, Any] = msgspec.to_builtins(self, str_keys=True)
        return note

    @property
    def quantiles(self) -> list[float]:
        """The shares of the words that N_w is known for."""
        return list(self.table[0].unchanged_quantiles)

    def quote(self, epsilon: float) -> Quote | None:
        """Return what a receipt says at this ε; None above the largest ε of the note."""
        if not (around := self._around(epsilon)):
            return None
        return Quote(
            at_epsilon=around[-1].epsilon,
            unchanged=Spread.combine([each.unchanged for each in around], max),
            support=_smaller([(each.epsilon, each.support) for each in self.table], epsilon),
            distinct=_smaller([(each.epsilon, each.distinct) for each in self.table], epsilon),
            draws=self.draws,
            words=self.words,
            words_for_support=self.words_for_support,
            capacity=around[-1].capacity,  # it grows with ε
        )

    def _around(self, epsilon: float) -> tuple[NoteRow, ...]:
        """Return the row of this ε, or those on both sides of it; nothing above the largest ε."""
        place = next((i for i, row in enumerate(self.table) if row.epsilon >= epsilon), None)
        if place is None:
            return ()
        return self.table[max(0, place - (self.table[place].epsilon > epsilon)) : place + 1]

    def claims(self, epsilon: float) -> dict[float, float]:
        """Return the largest N_w at this ε for each share of the words, as it may be quoted; else nothing."""
        stated: dict[float, float] = {}
        for row in self._around(epsilon):
            spread = {0.5: row.unchanged.median, 0.95: row.unchanged.most, 1.0: row.unchanged.worst}
            for quantile, share in {**spread, **row.unchanged_quantiles}.items():
                least = min(share, spread.get(quantile, share))
                stated[quantile] = max(least, stated.get(quantile, least))
        return stated

    def largest_epsilon(self, max_unchanged: float, quantile: float = 1.0) -> float:
        """Return the largest ε of the note at which a share ``quantile`` of the words has N_w of at most
        ``max_unchanged``.

        :raises InvalidParameter: if a number is not allowed.
        :raises TargetsNotMet: if there is none.
        """
        validated_max_unchanged(max_unchanged)
        if quantile not in self.quantiles:
            known = ", ".join(f"{q:g}" for q in self.quantiles)
            raise InvalidParameter("quantile", quantile, f"must be one the calibration holds: {known}")
        met = [row.epsilon for row in self.table if row.unchanged_quantiles[quantile] <= max_unchanged]
        if not met:
            raise TargetsNotMet(
                f"at the smallest ε calibrated, {self.table[0].epsilon:g}, some words still stay themselves "
                f"more often than {max_unchanged:g}; ask for fewer words (--quantile), or protect the "
                "exposed ones: deniable calibrate --protect"
            )
        return float(max(met))


def without_list(name: str) -> str:
    """Return the name of the package's file for a built-in embedding without the words of a list."""
    return f"calibration-without-{name}.json"


def note_path(mechanism: Mechanism) -> Path | None:
    """Return where the calibration of a mechanism is noted; None for what comes with the package."""
    embedding, beside = mechanism.embedding, _path_beside(mechanism)
    if beside is not None and not embedding.is_received:
        return beside
    if beside is None and _is_plain(mechanism):
        return None
    return embedding.work_folder("calibrations") / _file_name(mechanism)


def read_note(mechanism: Mechanism) -> Note | None:
    """Return the note of a mechanism's calibration, whatever its ε, or None if it was not calibrated here.

    :raises DamagedCalibration: if it cannot be read.
    """
    files, left_out = (
        [note_path(mechanism) or _in_the_package(mechanism, FILE_NAME)],
        mechanism.embedding.left_out,
    )
    if left_out is not None and len(left_out.listed.lists) == 1 and is_papers_mechanism(mechanism):
        files.append(_in_the_package(mechanism, without_list(left_out.listed.lists[0])))
    return next((note for file in files if (note := _read_note(mechanism, file)) is not None), None)


def _find_note(mechanism: Mechanism, at: Callable[[Note], float]) -> Note | None:
    """Return the note of a mechanism's calibration: the user's own, or one that came with a received folder.

    The latter is checked by fresh draws at the ε that ``at`` returns, and says nothing of S_w and the
    capacity, which few draws cannot check.
    """
    own, beside = read_note(mechanism), _path_beside(mechanism)
    if own is not None or beside is None or not mechanism.embedding.is_received:
        return own
    note = _read_note(mechanism, beside)
    if note is None:
        return None
    if (problem := contradiction(note.claims(epsilon := at(note)), mechanism, epsilon)) is not None:
        raise DamagedCalibration(
            str(beside),
            f"{problem}; nothing was released. Remove it, or calibrate: deniable calibrate --embedding "
            f"{beside.parent}",
        )
    replace = msgspec.structs.replace
    table = tuple(replace(row, support=None, distinct=None, capacity=None) for row in note.table)
    return replace(note, words_for_support=None, table=table)


def _path_beside(mechanism: Mechanism) -> Path | None:
    """Return where the folder of an embedding holds a note, no matter who made it."""
    folder = mechanism.embedding.folder
    if folder is None:
        return None
    return folder / FILE_NAME if _is_plain(mechanism) else folder / "calibrations" / _file_name(mechanism)


def _is_plain(mechanism: Mechanism) -> bool:
    left_out = mechanism.embedding.left_out
    return is_papers_mechanism(mechanism) and (left_out is None or not left_out.count)


def _file_name(mechanism: Mechanism) -> str:
    identity = json.dumps(identity_of(mechanism), sort_keys=True)
    return f"{hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()}-{FILE_NAME}"


def _in_the_package(mechanism: Mechanism, name: str) -> Traversable:
    from deniable.embeddings.places import BUILT_IN, DEFAULT, built_in_folder

    left_out = mechanism.embedding.left_out
    space = mechanism.embedding.name if left_out is None else left_out.source.name
    return built_in_folder(space if space in BUILT_IN else DEFAULT) / name


def _read_note(mechanism: Mechanism, file: Traversable) -> Note | None:
    try:
        if isinstance(file, Path):
            with open_plain_file(file) as opened:
                content = opened.read(_LONGEST + 1)
            if len(content) > _LONGEST:
                raise ValueError("it is larger than any note")
        else:
            content = file.read_bytes()
        note = msgspec.json.decode(content, type=Note)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # somebody else's private note of a shared embedding must not keep others from releasing with it
        return None
    except (ValueError, RecursionError, OSError) as error:
        raise DamagedCalibration(str(file), f"cannot be read ({error})") from error
    # What is said of all words comes from a calibration of all words, no matter who wrote the file.
    known = note.fingerprint == mechanism.embedding.fingerprint and note.words == len(mechanism.embedding)
    # The paper's mechanism is not named in its older files.
    return note if known and note.mechanism in (None, identity_of(mechanism)) else None


def quote_calibration(mechanism: Mechanism) -> Quote | None:
    """Return what a receipt says of the words at the mechanism's ε; None if it is not known.

    :raises DamagedCalibration: if the note cannot be read, or fresh draws contradict a received one.
    """
    epsilon = float(mechanism.epsilon)
    note = _find_note(mechanism, lambda _: epsilon)
    if note is None or (epsilon < note.table[0].epsilon and len(mechanism.embedding.protected)):
        return None
    return note.quote(epsilon)


def note_for_target(mechanism: Mechanism, max_unchanged: float, quantile: float = 1.0) -> Note:
    """Return the note that ε is to be chosen from, by ``Note.largest_epsilon`` with the same target.

    :raises InvalidParameter: if the mechanism was not calibrated, or the target is not allowed.
    :raises DamagedCalibration: if the note cannot be read, or fresh draws contradict a received one.
    :raises TargetsNotMet: if it came with a received folder and no ε meets the target.
    """
    validated_max_unchanged(max_unchanged)
    note = _find_note(mechanism, lambda note: note.largest_epsilon(max_unchanged, quantile))
    if note is None:
        raise InvalidParameter("max_unchanged", max_unchanged, _not_calibrated(mechanism))
    return note


def _smaller(values: list[tuple[float, Spread | None]], epsilon: float) -> Spread | None:
    """Return the smaller of the values at the nearest ε on both sides; None if none is known on one side."""
    known = [(at, spread) for at, spread in values if spread is not None]
    below, above = (
        [each for each in known if each[0] <= epsilon],
        [each for each in known if each[0] >= epsilon],
    )
    if not above or not below:
        return None
    around = above[:1] if above[0][0] == epsilon else [below[-1], above[0]]
    return Spread.combine([spread for _, spread in around], min)


def _not_calibrated(mechanism: Mechanism) -> str:
    embedding = mechanism.embedding
    name, command = embedding.name, f"deniable calibrate --embedding {embedding.name}"
    if embedding.left_out is not None:
        command = (
            f"deniable calibrate --embedding {embedding.left_out.source.name} --never-release … with "
            "the same lists"
        )
    if is_papers_mechanism(mechanism):
        return f"the embedding {name!r} is not calibrated; run: {command}"
    options = "".join(f", {key} = {value}" for key, value in mechanism.guarantee.parameters.items())
    return (
        f"the embedding {name!r} is not calibrated for {type(mechanism).__name__}{options}; run: {command} "
        "--mechanism … with the same options, for all words"
    )


def contradiction(claims: Mapping[float, float], mechanism: Mechanism, epsilon: float) -> str | None:
    """Return what fresh draws contradict, in words, or None; claims that passed are not checked again.

    ``claims`` is the largest N_w of each share of the words.
    """
    key = (
        mechanism.embedding.fingerprint,
        type(mechanism),
        repr(mechanism.guarantee.parameters),
        epsilon,
        *sorted(claims.items()),
    )
    if not claims or key in _passed:
        return None
    chance = np.random.default_rng()
    ids = chance.integers(0, len(mechanism.embedding), _WORDS)
    stays = _times_unchanged(mechanism, ids, 1, epsilon) == 1
    mean = _mean_bound(claims)
    if _too_many(int(stays.sum()), _WORDS, mean, _LEVEL):
        return (
            f"it states that at ε = {epsilon:g} a word stays as it is with at most {mean:.1%}, and "
            f"{stays.mean():.1%} of fresh draws do"
        )
    left = np.unique(ids[stays])
    for most, draws in _ROUNDS:
        left = chance.permutation(left)[:most]
        times = _times_unchanged(mechanism, left, draws, epsilon)
        found, left = times.max(initial=0), left[times == draws]
    if _too_many(int(found), draws, claims[1.0], _LEVEL / most):
        return (
            f"it states that at ε = {epsilon:g} no word stays as it is in more than {claims[1.0]:.1%} of "
            "draws, and fresh draws show one"
        )
    _passed.add(key)
    return None


def _times_unchanged(mechanism: Mechanism, ids: Ids, draws: int, epsilon: float) -> Ids:
    """Return how often each word stays as it is."""
    each = np.repeat(ids, draws)
    drawn = mechanism.perturb(
        mechanism.embedding.stands_in(each), SecureRandomness(), epsilon=np.full(len(each), epsilon)
    )
    times: Ids = (drawn == each).reshape(-1, draws).sum(axis=1)
    return times


def _mean_bound(claims: Mapping[float, float]) -> float:
    """Return the largest mean of N_w that is in line with the claims."""
    total, before = 0.0, 0.0
    for quantile in sorted(quantile for quantile in claims if 0.0 < quantile <= 1.0):
        total += (quantile - before) * min(share for other, share in claims.items() if other >= quantile)
        before = quantile
    return total


def _too_many(count: int, draws: int, share: float, level: float) -> bool:
    """Return whether a true ``share``, which may be off by its error, hardly gives that count."""
    from scipy.special import betainc  # loaded when it is needed

    allowed = min(share + 3.0 * math.sqrt(share * (1.0 - share) / _DIRECTIONS), 1.0)
    return count > 0 and bool(betainc(count, draws - count + 1, allowed) < level)
