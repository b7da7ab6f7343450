"""The note of a calibration: what it found, in one small file that receipts quote and that ε can be chosen
from.

The default embedding has its file in the package; ``deniable calibrate`` of all words writes one beside a
stored embedding. Mechanisms other than the paper's have a file for each choice of their options, among the
calibrations that are kept. It holds values at some ε only. Between two of them, the less favourable value is
quoted. N_w grows with ε, so that is the one at the larger ε, but for protected words, which may come out
themselves less often then; S_w may rise and fall (at tiny ε all words become the same few), so the smaller of
the two values is quoted. Below the smallest ε of a note there is one value only: N_w is quoted where it grows
with ε, and S_w is not.

This is the reading side; ``calibration.note`` writes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Self

from deniable.atomic import open_plain_file
from deniable.errors import DamagedCalibration, InvalidParameter, TargetsNotMet
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import identity_of, is_papers_mechanism
from deniable.parameters import validated_max_unchanged
from deniable.release.note_check import contradiction

_LONGEST = 1 << 24

FILE_NAME = "calibration.json"


def without_list(name: str) -> str:
    """Return the name of the file with the calibration of the default embedding without the words of a
    built-in list."""
    return f"calibration-without-{name}.json"


"""The file in the package for the default embedding without the words of the built-in list of names."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A value over the words: its median, what 95 % of the words keep to, and that of the worst word; the
    mean where it is known."""

    median: float
    most: float
    worst: float
    mean: float | None = None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` made.

        :raises ValueError: or KeyError, if a value is missing or no number.
        """
        mean = content.get("mean")
        median, most, worst = (_number(content[name]) for name in ("median", "95%", "worst"))
        return cls(median=median, most=most, worst=worst, mean=None if mean is None else _number(mean))

    def to_dict(self) -> dict[str, float]:
        """Return the values as JSON-ready data."""
        mean = {} if self.mean is None else {"mean": self.mean}
        return {**mean, "median": self.median, "95%": self.most, "worst": self.worst}

    @classmethod
    def combine(cls, spreads: list[Spread], pick: Callable[[list[float]], float]) -> Self:
        """Return the largest or smallest (``max`` or ``min``) of each value; the mean is left out."""
        return cls(
            median=pick([each.median for each in spreads]),
            most=pick([each.most for each in spreads]),
            worst=pick([each.worst for each in spreads]),
        )


@dataclass(frozen=True, kw_only=True)
class NoteRow:
    """What a note says at one ε: N_w, its quantiles over the words, and S_w and distinct words where they
    were measured."""

    epsilon: float
    unchanged: Spread
    unchanged_quantiles: Mapping[float, float]
    words_above_half: int | None
    support: Spread | None
    distinct: Spread | None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` made.

        :raises ValueError: or KeyError, TypeError or AttributeError, if it is not that.
        """
        support, distinct = (
            Spread.from_dict(content[name]) if name in content else None for name in ("support", "distinct")
        )
        row = cls(
            epsilon=_number(content["epsilon"]),
            unchanged=Spread.from_dict(content["unchanged"]),
            unchanged_quantiles={
                float(key): _number(share) for key, share in content["unchanged_quantiles"].items()
            },
            words_above_half=content.get("words_above_half"),
            support=support,
            distinct=distinct,
        )
        shares = [
            row.unchanged.median,
            row.unchanged.most,
            row.unchanged.worst,
            *row.unchanged_quantiles.values(),
        ]
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError("N_w is not between 0 and 1")
        return row

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready data."""
        row: dict[str, Any] = {
            "epsilon": self.epsilon,
            "unchanged": self.unchanged.to_dict(),
            "unchanged_quantiles": {
                str(quantile): share for quantile, share in self.unchanged_quantiles.items()
            },
            "words_above_half": self.words_above_half,
        }
        if self.support is not None and self.distinct is not None:
            row |= {"support": self.support.to_dict(), "distinct": self.distinct.to_dict()}
        return row


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a receipt says of the words at one ε; ``at_epsilon`` is the value of the note that N_w was read
    at."""

    at_epsilon: float
    unchanged: Spread
    support: Spread | None
    distinct: Spread | None
    draws: int
    words: int
    words_for_support: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the quote as it stands in receipts."""
        return {
            "at_epsilon": self.at_epsilon,
            "unchanged": self.unchanged.to_dict(),
            "support": None if self.support is None else self.support.to_dict(),
            "distinct_in_one_draw_per_ray": None if self.distinct is None else self.distinct.to_dict(),
            "rays": self.draws,
            "words": self.words,
            "words_for_support": self.words_for_support,
        }


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a calibration of all words found, by rising ε.

    ``mechanism`` is ``identity_of`` the mechanism, or None in a file that does not name it. ``draws`` is the
    number of directions or draws per word, ``words_for_support`` how many words S_w and distinct words are
    known of.
    """

    fingerprint: str
    mechanism: Mapping[str, Any] | None
    draws: int
    words: int
    table: tuple[NoteRow, ...]
    method: str | None = None
    words_for_support: int | None = None
    eta: float | None = None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` made; raises what ``NoteRow.from_dict`` raises."""
        note = cls(
            fingerprint=content["fingerprint"],
            mechanism=content.get("mechanism"),
            draws=_whole_number(content["rays"]),
            words=_whole_number(content["words"]),
            table=tuple(NoteRow.from_dict(row) for row in content["table"]),
            method=content.get("method"),
            words_for_support=None
            if content.get("words_for_support") is None
            else _whole_number(content["words_for_support"]),
            eta=content.get("eta"),
        )
        if not note.table:
            raise ValueError("it has no values")
        if any(list(row.unchanged_quantiles) != note.quantiles for row in note.table):
            raise ValueError("N_w is missing at some quantiles")
        epsilons = [row.epsilon for row in note.table]
        if (
            not all(epsilon > 0.0 for epsilon in epsilons)
            or epsilons != sorted(epsilons)
            or note.draws < 1
            or note.words < 1
        ):
            raise ValueError("a number is not allowed")
        return note

    def to_dict(self) -> dict[str, Any]:
        """Return the note as it is written."""
        return {
            "fingerprint": self.fingerprint,
            "mechanism": self.mechanism,
            "method": self.method,
            "rays": self.draws,
            "words": self.words,
            "words_for_support": self.words_for_support,
            "eta": self.eta,
            "table": [row.to_dict() for row in self.table],
        }

    @property
    def quantiles(self) -> list[float]:
        """The shares of the words that N_w is known for."""
        return list(self.table[0].unchanged_quantiles)

    def quote(self, epsilon: float) -> Quote | None:
        """Return what a receipt says at this ε: N_w and S_w, median, 95 % and worst; None above the largest ε
        of the note."""
        around = self._around(epsilon)
        if not around:
            return None
        return Quote(
            at_epsilon=around[-1].epsilon,
            unchanged=Spread.combine([each.unchanged for each in around], max),
            support=_smaller([(each.epsilon, each.support) for each in self.table], epsilon),
            distinct=_smaller([(each.epsilon, each.distinct) for each in self.table], epsilon),
            draws=self.draws,
            words=self.words,
            words_for_support=self.words_for_support,
        )

    def _around(self, epsilon: float) -> tuple[NoteRow, ...]:
        """Return the row of this ε, or those on both sides of it; nothing above the largest ε of the note."""
        place = next((i for i, row in enumerate(self.table) if row.epsilon >= epsilon), None)
        return (
            ()
            if place is None
            else self.table[max(0, place - (self.table[place].epsilon > epsilon)) : place + 1]
        )

    def claims(self, epsilon: float) -> dict[float, float]:
        """Return the largest N_w at this ε for each share of the words, as it may be quoted; nothing where
        nothing is quoted."""
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
                "more often than "
                f"{max_unchanged:g}; ask for fewer words (--quantile), or protect the exposed ones: deniable "
                "calibrate --protect"
            )
        return float(max(met))


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError("a value is not a finite number")
    return value  # type: ignore[no-any-return]


def _whole_number(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("a count is not a whole number")
    return value


def note_path(mechanism: Mechanism) -> Path | None:
    """Return where the calibration of a mechanism over its embedding is noted; None for what comes with the
    package."""
    embedding, beside = mechanism.embedding, _path_beside(mechanism)
    if beside is not None and not embedding.is_received:
        return beside
    if beside is None and _is_plain(mechanism):
        return None
    from deniable.embeddings.places import work_folder  # platformdirs is loaded when it is needed

    return work_folder(embedding, "calibrations") / _file_name(mechanism)


def read_note(mechanism: Mechanism) -> Note | None:
    """Return the note of a mechanism's calibration over its embedding, whatever its ε, or None if it was not
    calibrated here.

    :raises DamagedCalibration: if it cannot be read.
    """
    return _read_note(mechanism, note_path(mechanism) or _in_the_package(FILE_NAME)) or _read_packaged(
        mechanism
    )


def _find_note(mechanism: Mechanism, at: Callable[[Note], float]) -> Note | None:
    """Return the note of a mechanism's calibration: the user's own, or one that came with a received folder.

    The latter is checked by fresh draws at the ε that ``at`` returns, and says nothing of S_w, which few
    draws cannot check.

    :raises DamagedCalibration: if it cannot be read, or fresh draws contradict it.
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
    return replace(
        note,
        words_for_support=None,
        table=tuple(replace(row, support=None, distinct=None) for row in note.table),
    )


def _path_beside(mechanism: Mechanism) -> Path | None:
    """Return where the folder of an embedding holds a note, whoever made it; None if it has no folder."""
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


def _read_packaged(mechanism: Mechanism) -> Note | None:
    """Return the note that the package has of an embedding without some words."""
    left_out = mechanism.embedding.left_out
    if left_out is None or len(left_out.listed.lists) != 1 or not is_papers_mechanism(mechanism):
        return None
    return _read_note(mechanism, _in_the_package(without_list(left_out.listed.lists[0])))


def _in_the_package(name: str) -> Traversable:
    return resources.files("deniable.embeddings") / "data" / name


def _read_note(mechanism: Mechanism, file: Traversable) -> Note | None:
    try:
        if isinstance(file, Path):
            with open_plain_file(file) as opened:
                content = opened.read(_LONGEST + 1)
            if len(content) > _LONGEST:
                raise ValueError("it is larger than any note")
        else:
            content = file.read_bytes()
        note = Note.from_dict(json.loads(content.decode("utf-8")))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # somebody else's private note of a shared embedding must not keep others from releasing with it
        return None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, OSError) as error:
        raise DamagedCalibration(str(file), f"cannot be read ({error})") from error
    # What is said of all words comes from a calibration of all words, whoever wrote the file.
    known = note.fingerprint == mechanism.embedding.fingerprint and note.words == len(mechanism.embedding)
    # The paper's mechanism is not named in its older files.
    return note if known and note.mechanism in (None, identity_of(mechanism)) else None


def quote_calibration(mechanism: Mechanism) -> Quote | None:
    """Return what a receipt says of the words at the mechanism's ε; None if it is not known.

    :raises DamagedCalibration: if the note cannot be read, or came with a received folder and fresh draws
        contradict it.
    """
    epsilon = float(mechanism.epsilon)
    note = _find_note(mechanism, lambda _: epsilon)
    if note is None or (epsilon < note.table[0].epsilon and len(mechanism.embedding.protected)):
        return None
    return note.quote(epsilon)


def note_for_target(mechanism: Mechanism, max_unchanged: float, quantile: float = 1.0) -> Note:
    """Return the note that ε is to be chosen from, by ``Note.largest_epsilon`` with the same target and
    quantile.

    :raises InvalidParameter: if the embedding was not calibrated for the mechanism, or the target is not
        allowed.
    :raises DamagedCalibration: if the note cannot be read, or came with a received folder and fresh draws
        contradict it at that ε.
    :raises TargetsNotMet: if it came with a received folder and no ε meets the target.
    """
    validated_max_unchanged(max_unchanged)
    note = _find_note(mechanism, lambda note: note.largest_epsilon(max_unchanged, quantile))
    if note is None:
        raise InvalidParameter("max_unchanged", max_unchanged, _not_calibrated(mechanism))
    return note


def _smaller(values: list[tuple[float, Spread | None]], epsilon: float) -> Spread | None:
    """Return the smaller of the values at the nearest ε on both sides where they are known; None if none is
    known on one side."""
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
        "--mechanism … with the same "
        "options, for all words"
    )
