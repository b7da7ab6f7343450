"""How often words are used behind a released file: for all records, by group, and where groups differ."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np

from deniable.arrays import Floats
from deniable.atomic import whole_file
from deniable.channel.draws import Draws
from deniable.decoding.channel_decoder import UNKNOWN
from deniable.decoding.decoder import Decoder
from deniable.decoding.files import DecodingOptions, split_options
from deniable.decoding.frequencies import LIMIT, MOST_WORDS, Frequencies, FrequencyEstimator
from deniable.errors import InvalidParameter
from deniable.progress import Report
from deniable.records.reading import read_grouped, read_texts
from deniable.release.card import Card
from deniable.report.wording import percent, rounded_up

_DOUBT = 0.05
_MOST_GROUPS = 100
_REHEARSAL = 11
_FEWEST_REHEARSED, _TIMES_REHEARSED, _MOST_REHEARSED = 100_000, 4, 1_000_000


@dataclass(frozen=True)
class WordUse:
    """How often one word is used: its estimated share of all words with a 95 % interval, and the same as
    counts.

    ``informed`` is False where the release says no more of the word than was expected without it.
    """

    word: str
    share: float
    share_low: float
    share_high: float
    count: float
    count_low: float
    count_high: float
    informed: bool


@dataclass(frozen=True, kw_only=True)
class GroupUse:
    """The words of a group of records; the group of all records has no name.

    ``uses`` begins with the words that the release says something of, by the lower ends of their intervals.
    ``half_width`` is half of the 95 % interval of the share of a typical word: the median of all words; None
    if no error is known.
    """

    group: str | None
    records: int
    words: int
    half_width: float | None
    uses: tuple[WordUse, ...] = field(repr=False)

    def records_needed(self, share: float) -> int | None:
        """Return about how many records give a typical word of this share within half of it, if known."""
        if not self.records or self.half_width is None:
            return None
        return math.ceil(self.records * (self.half_width / (share / 2.0)) ** 2)

    @property
    def needed(self) -> str:
        """How many records would be needed to know typical words, in a sentence; empty if that is unknown."""
        needed = [(share, self.records_needed(share)) for share in (0.01, 0.001)]
        known = [
            f"{percent(share)} of the text, about {rounded_up(count):,}" for share, count in needed if count
        ]
        start = "Records needed to know a word within half of its share: for one of "
        return f"{start}{'; for one of '.join(known)}." if known else ""

    @property
    def known(self) -> tuple[WordUse, ...]:
        """The words that the release says something of."""
        return tuple(use for use in self.uses if use.informed)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A word that a group uses more or less than all other records do: the difference of the shares with its
    interval.

    The intervals hold for all words and groups at once, in 95 % of all releases.
    """

    group: str
    word: str
    share: float
    share_elsewhere: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class WordUseFindings:
    """What a receiver can say of how often words are used, and from what it was computed.

    ``unchanged`` is the share of words that come out of the mechanism as they went in.
    """

    source: str
    column: str | None
    by: str | None
    mechanism: str
    epsilon: float
    embedding: str
    method: str
    directions: int
    support: int
    steps: int
    everything: GroupUse
    groups: tuple[GroupUse, ...]
    compared: int
    differences: tuple[Difference, ...]
    consistent: bool
    unchanged: float

    @property
    def comparison(self) -> str:
        """How many differences between groups stand out, in a sentence."""
        if not self.groups:
            return f"All words stand in one group of {self.by}: there is nothing to compare it with."
        return (
            f"{len(self.differences):,} of {self.compared:,} comparisons of a word in a group with all other "
            "records stand out; all intervals hold at once in 95 % of releases."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON-ready data."""
        return asdict(self)

    def write_csv(self, path: Path) -> None:
        """Write one row for each word, of each group if there are groups."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = list(WordUse.__dataclass_fields__)
        writer.writerow(names if self.by is None else ["group", *names])
        for group in (self.everything, *self.groups):
            for use in group.uses:
                cells = [f"{each:.6g}" if isinstance(each, float) else each for each in vars(use).values()]
                writer.writerow(cells if self.by is None else [group.group or "", *cells])
        with whole_file(path) as file:
            file.write(text.getvalue().encode())


def measure_word_use(
    path: Path | str,
    card: Card,
    *,
    column: str | None = None,
    by: str | None = None,
    most: int = MOST_WORDS,
    report: Report | None = None,
    **options: Unpack[DecodingOptions],
) -> WordUseFindings:
    """Estimate how often words are used behind the released texts of a file, with 95 % intervals.

    ``by`` is a column of groups: each is estimated by itself and compared with all other records. The
    ``most`` words that are likely to be frequent are estimated, and no more than were released. The options
    are those of ``decode_file``; the counts of all records are held in memory.

    :raises InvalidParameter: if a column is not there, or there are more than 100 groups.
    :raises NotThisRelease: if the text was not released as the card says.
    :raises RecordError: if the file cannot be read.
    """
    source = Path(path)
    learning, reading = split_options(options)
    if by is not None and column is None:
        raise InvalidParameter(
            "column", None, "name the column of released text: groups stand in another one"
        )
    if by is None or column is None:
        texts = [("", text) for text in read_texts(source, column=column, **reading)]
    else:
        texts = list(read_grouped(source, column=column, by=by, **reading))
    labels, released = np.array([group for group, _ in texts]), [text for _, text in texts]
    groups = [] if by is None else sorted(set(labels.tolist()))
    if len(groups) > _MOST_GROUPS:
        raise InvalidParameter(
            "by", by, f"has {len(groups):,} groups; at most {_MOST_GROUPS} can be compared"
        )
    decoder = Decoder.learn(card, released, every_word=True, report=report, **learning)
    channel, expected, counts = decoder.channel, decoder.learnt.shares, decoder.reader.counts(released)
    observed, held = np.asarray(counts.sum(axis=0)).ravel(), np.asarray(counts.sum(axis=1)).ravel()
    total = int(observed.sum())
    rehearsal = None if channel.is_exact else rehearse(decoder, expected, words=total)
    most = min(most, max(total, 1))  # no more words can have stood in the text
    estimator = FrequencyEstimator(channel, expected, observed=observed, rehearsal=rehearsal, most=most)
    members = {name: np.flatnonzero(labels == name) for name in groups}
    # A group without a word, or beside which no word is left, is compared with nothing.
    members = {name: own for name, own in members.items() if 0.0 < held[own].sum() < held.sum()}
    everything, *rest = estimator.estimate(counts, list(members.values()))
    words = [*channel.embedding.words, UNKNOWN]
    named = [words[i] for i in estimator.words.tolist()]
    # So that all intervals of differences hold at once.
    limit = NormalDist().inv_cdf(1.0 - _DOUBT / 2.0 / max(1, len(members) * len(named)))
    uses, differences = [], list[Difference]()
    for name, use, elsewhere in zip(members, rest[: len(members)], rest[len(members) :], strict=True):
        uses.append(_group(name, named, use))
        differences += _differences(name, named, use, elsewhere, limit)
    return WordUseFindings(
        source=str(source),
        column=column,
        by=by,
        mechanism=decoder.card.kind,
        epsilon=decoder.card.epsilon,
        embedding=channel.embedding.name,
        method=channel.method,
        directions=channel.directions,
        support=len(channel),
        steps=decoder.learnt.steps,
        everything=_group(None, named, everything),
        groups=tuple(uses),
        compared=len(uses) * len(named),
        differences=tuple(
            sorted(differences, key=lambda each: -abs(each.difference) / (each.high - each.low))
        ),
        consistent=decoder.card.consistent,
        unchanged=decoder.unchanged,
    )


def rehearse(decoder: Decoder, shares: Floats, *, words: int) -> Floats:
    """Return the counts of words in a release of text with these shares, drawn from a public seed."""
    channel = decoder.channel
    number = min(max(_FEWEST_REHEARSED, _TIMES_REHEARSED * words), _MOST_REHEARSED)
    random = np.random.Generator(np.random.PCG64(_REHEARSAL))
    ids = np.repeat(channel.inputs, random.multinomial(number, shares / shares.sum()))
    mechanism = decoder.card.make_mechanism(channel.embedding)
    kept = np.isin(ids, decoder.card.kept_ids(channel.embedding))
    released = np.concatenate([ids[kept], Draws(mechanism, seed=_REHEARSAL).of_each(ids[~kept])])
    counts: Floats = np.bincount(released, minlength=len(channel.embedding)).astype(np.float64)
    return counts


def _group(name: str | None, words: list[str], found: Frequencies) -> GroupUse:
    ends = (np.clip(found.shares, 0.0, 1.0), found.lower, found.upper)
    columns = (*ends, *(found.total * each for each in ends), found.informed)
    rows = zip(words, *(column.tolist() for column in columns), strict=True)
    half_width = float(LIMIT * np.median(found.errors)) if len(found.errors) else math.inf
    return GroupUse(
        group=name,
        records=found.records,
        words=found.total,
        half_width=half_width if math.isfinite(half_width) else None,
        uses=tuple(sorted((WordUse(*row) for row in rows), key=_surest_first)),
    )


def _surest_first(use: WordUse) -> tuple[bool, float, float]:
    return not use.informed, -use.share_low if use.informed else 0.0, -use.share


def _differences(
    name: str, words: list[str], use: Frequencies, elsewhere: Frequencies, limit: float
) -> Iterator[Difference]:
    differences: Floats = use.shares - elsewhere.shares
    errors: Floats = np.sqrt(use.errors**2 + elsewhere.errors**2)
    for place in np.flatnonzero(np.abs(differences) > limit * errors).tolist():
        difference, half = float(differences[place]), float(limit * errors[place])
        yield Difference(
            group=name,
            word=words[place],
            share=float(use.shares[place]),
            share_elsewhere=float(elsewhere.shares[place]),
            difference=difference,
            low=difference - half,
            high=difference + half,
        )
