"""The verdict on a release: whether it may be handed over as it is set up, why, and what would change it; and
the decision, with what it rests on and where everything lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from deniable.decision.rehearsal import Rehearsal
from deniable.records.formats.layout import Roles
from deniable.release.proved import ProvedNumbers
from deniable.release.receipt import Receipt
from deniable.release.release import Release
from deniable.report.wording import percent, percent_up
from deniable.utility.findings import Findings

Answer = Literal["release", "release with changes", "do not release"]

MOST_UNCHANGED = 0.5
"""Words of a list that come out unchanged more often than this should be on a never-release list."""

_SCORE, _RECEIVED, _FORMAT = "accuracy", "both", 1


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer, in a word and in sentences: the reasons, and what would have to change."""

    answer: Answer
    headline: str
    reasons: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def may_release(self) -> bool:
        """Whether the release is made."""
        return self.answer != "do not release"


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The verdict on a release, what it rests on, and where everything lies. It shows itself in a notebook.

    ``receipt`` is None where the verdict was not to release, and where an earlier run had finished.
    """

    source: Path
    output: Path
    release: Release
    roles: Roles
    public: tuple[str, ...]
    """The columns that are released as they are though nobody named them."""
    warnings: tuple[str, ...]
    """What is odd about the file: other languages, many unknown words, columns that were not looked into."""
    limit: float
    verdict: Verdict
    rehearsal: Rehearsal
    numbers: ProvedNumbers
    use: Mapping[str, Findings] = field(repr=False)
    not_measured: Mapping[str, str] = field(repr=False)
    """Label columns whose use was not measured, and why."""
    created: str
    deployment: Mapping[str, Any] = field(repr=False)
    """The release as a draft for the registry of deployments (``deployment_record``)."""
    released: bool
    """Whether the file was released: not where the verdict forbids it, or changes were not accepted."""
    receipt: Receipt | None = field(default=None, repr=False)
    html: str = field(default="", repr=False)
    """The page."""

    @property
    def page(self) -> Path:
        """Where the page for the person who signs lies."""
        return self.output / "keep" / "decision.html"

    @property
    def hand_over(self) -> Path:
        """The folder of what may leave."""
        return self.output / "hand-over"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; it is private, as the file is."""
        return {
            "format": _FORMAT,
            "created": self.created,
            "source": self.source.name,
            "verdict": asdict(self.verdict),
            "warnings": list(self.warnings),
            "released": self.released,
            "limit": self.limit,
            "release": {
                "epsilon": self.release.epsilon,
                "risk": self.release.risk,
                "mechanism": str(self.release.mechanism),
                "embedding": str(self.release.embedding),
            },
            "columns": asdict(self.roles) | {"released_as_they_are": self.public},
            "proved": self.numbers.to_dict(),
            "rehearsal": self.rehearsal.to_dict(),
            "use": {label: found.to_dict() for label, found in self.use.items()},
            "not_measured": dict(self.not_measured),
        }

    def _repr_html_(self) -> str:
        return self.html


def judge(rehearsal: Rehearsal, *, limit: float, use: dict[str, Findings]) -> Verdict:
    """Return the verdict; ``limit`` is the share of words that a reader may name, ``use`` is by label
    column."""
    forbidden: list[str] = []
    amendments: list[str] = []
    changes: list[str] = []
    bound, link, smaller = rehearsal.bound, rehearsal.linked, "Choose a smaller --risk or --epsilon."
    if bound is not None and bound.high > limit:
        amendments.append(
            "At the word frequencies of this file a reader of single words may name up to "
            f"{percent_up(bound.high)}, above the limit of {percent(limit)}. Guessing the most frequent "
            f"word, without any release, names {percent(bound.blind)}."
        )
        changes.append(
            "No setting can go below what guessing names: accept this bound by name, with a higher --risk."
            if bound.blind >= limit
            else smaller
        )
    conclusive = [each for each in rehearsal.on_words if not each.share.says_little]
    worse = [each for each in conclusive if each.share.low > max(limit, each.blind)]
    if worse:
        worst = max(worse, key=lambda each: each.share.value)
        forbidden.append(
            f"An attack ({worst.reader}) names {percent(worst.share.value)} of the words, above the limit of "
            f"{percent(limit)}; guessing names {percent(worst.blind)}."
        )
        changes.append(smaller)
    elif not conclusive and (bound is None or bound.low > max(limit, bound.blind)):
        forbidden.append(
            "Too few texts could be attacked, and no bound is within the limit: nothing supports a release."
        )
        changes.append(smaller)
    if link is not None and link.first > max(limit, 2.0 * link.blind):
        amendments.append(
            f"A reader who holds the original texts finds the right one of {link.candidates:,} in "
            f"{percent(link.first)} of cases; guessing finds {percent(link.blind)}."
        )
        changes.append("Do not hand this to anybody who may hold the original texts.")
    for listed in rehearsal.lists:
        share = listed.unchanged
        if listed.held_back or share is None or share.value <= max(limit, MOST_UNCHANGED / 2):
            continue
        (forbidden if share.low > MOST_UNCHANGED else amendments).append(
            f"Words of the list {listed.name!r} come out unchanged in {percent(share.value)} of "
            f"{share.tries:,} places."
        )
        changes.append(f"Hold the words of {listed.name!r} back: --never-release.")
    if rehearsal.exposed:
        amendments.append(
            f"{len(rehearsal.exposed):,} words of this file come out unchanged in most places; the page "
            "lists them."
        )
        changes.append(
            "If such words must not be recognised, choose a smaller --risk, or hold back a whole list (all "
            "drugs, say) that was made without this file: a list of just these words would tell them."
        )
    useless = [label for label, found in use.items() if not _is_useful(found)]
    amendments += [
        f"The label {label!r} cannot be learnt from the release any better than by guessing."
        for label in useless
    ]
    if useless:
        changes.append("Accept a higher --risk, or do not count on this label.")
    answer: Answer = "do not release" if forbidden else "release with changes" if amendments else "release"
    return Verdict(
        answer=answer,
        headline=_headline(answer, rehearsal, use),
        reasons=(*forbidden, *amendments),
        changes=tuple(dict.fromkeys(changes)),
    )


def accuracy(found: Findings) -> tuple[float, float, float]:
    """Return what a classifier reaches on original text, on the release, and by guessing."""
    released = found.at(_RECEIVED, found.answer)
    return found.clean.mean(_SCORE), released[0].mean(_SCORE), found.majority[_SCORE]


def _is_useful(found: Findings) -> bool:
    clean, released, guessing = accuracy(found)
    return not found.learns or released > guessing + 0.1 * (clean - guessing)


def _headline(answer: Answer, rehearsal: Rehearsal, use: dict[str, Findings]) -> str:
    said = [
        {
            "release": "This may be handed over.",
            "release with changes": "This may be handed over once the points below are settled.",
            "do not release": "Do not release this.",
        }[answer]
    ]
    if rehearsal.bound is not None:
        said.append(
            f"A reader of single words names at most {percent_up(rehearsal.bound.high)} of the words of this "
            f"file, with any method; guessing names {percent(rehearsal.bound.blind)}."
        )
    if (best := rehearsal.best_attack) is not None:
        measured = f"The best attack measured names {percent(best.share.value)}."
        said.append("Too few words were attacked to say more." if best.share.says_little else measured)
    for label, found in use.items():
        if found.learns:
            clean, released, guessing = accuracy(found)
            said.append(
                f"{label}: {percent(released)} right from the release, {percent(clean)} from the original, "
                f"{percent(guessing)} by guessing."
            )
    return " ".join(said)
