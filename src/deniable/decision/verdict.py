"""The verdict on a release: whether it may be handed over as it is set up, why, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from deniable.decision.rehearsal import Rehearsal
from deniable.report.wording import percent, percent_up
from deniable.utility.findings import Findings

Answer = Literal["release", "release with changes", "do not release"]

MOST_UNCHANGED = 0.5
"""Words of a list that come out unchanged more often than this should be on a never-release list."""

_FEW_WORDS = 5
_SCORE, _RECEIVED = "accuracy", "both"


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

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data."""
        return {
            "answer": self.answer,
            "headline": self.headline,
            "reasons": list(self.reasons),
            "changes": list(self.changes),
        }


def judge(rehearsal: Rehearsal, *, limit: float, use: dict[str, Findings]) -> Verdict:
    """Return the verdict; ``limit`` is the share of words that a reader may name, and ``use`` what the text
    is good for, by label column."""
    forbidden: list[str] = []
    amendments: list[str] = []
    changes: list[str] = []
    best = rehearsal.best_attack
    if rehearsal.bound is not None and rehearsal.bound.high > limit:
        amendments.append(
            "At the word frequencies of this file a reader of single words may name up to "
            f"{percent_up(rehearsal.bound.high)}, above the {percent(limit)} that you chose. Guessing the "
            f"most frequent word, without any release, names {percent(rehearsal.bound.blind)}."
        )
        changes.append(
            "No setting can go below what guessing names: accept this bound by name, with a higher --risk."
            if rehearsal.bound.blind >= limit
            else "Choose a smaller --risk or --epsilon."
        )
    if best is not None and not best.share.says_little and best.share.low > max(limit, best.blind):
        forbidden.append(
            f"The best attack ({best.reader}) names {percent(best.share.value)} of the words, above the "
            f"{percent(limit)} that you chose; guessing names {percent(best.blind)}."
        )
        changes.append("Choose a smaller --risk or --epsilon.")
    for listed in rehearsal.lists:
        share = listed.unchanged
        if listed.held_back or share is None or share.value <= max(limit, MOST_UNCHANGED / 2):
            continue
        says = (
            f"Words of the list {listed.name!r} come out unchanged in {percent(share.value)} of "
            f"{share.tries:,} places."
        )
        (forbidden if share.low > MOST_UNCHANGED else amendments).append(says)
        changes.append(f"Hold the words of {listed.name!r} back: --never-release.")
    if exposed := rehearsal.exposed:
        few = ", ".join(each.word for each in exposed[:_FEW_WORDS])
        amendments.append(
            f"{len(exposed):,} words of this file come out unchanged in most places: {few}"
            f"{' …' if len(exposed) > _FEW_WORDS else ''}."
        )
        changes.append(
            "If such a word must not be recognised, put it on a public list (--never-release FILE) or choose "
            "a smaller --risk."
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
    released = found.chosen_at(_RECEIVED)
    return found.clean.mean(_SCORE), released[0].mean(_SCORE), found.majority[_SCORE]


def _is_useful(found: Findings) -> bool:
    clean, released, guessing = accuracy(found)
    return not found.learns or released > guessing + 0.1 * (clean - guessing)


def _headline(answer: Answer, rehearsal: Rehearsal, use: dict[str, Findings]) -> str:
    start = {
        "release": "This may be handed over.",
        "release with changes": "This may be handed over once the points below are settled.",
        "do not release": "Do not release this.",
    }[answer]
    said = [start]
    best = rehearsal.best_attack
    if rehearsal.bound is not None:
        said.append(
            f"A reader of single words names at most {percent_up(rehearsal.bound.high)} of the words of this "
            f"file, with any method; guessing names {percent(rehearsal.bound.blind)}."
        )
    if best is not None:
        said.append(
            "Too few words were attacked to say more."
            if best.share.says_little
            else f"The best attack measured names {percent(best.share.value)}."
        )
    for label, found in use.items():
        if found.learns:
            clean, released, guessing = accuracy(found)
            said.append(
                f"{label}: {percent(released)} right from the release, {percent(clean)} from the original, "
                f"{percent(guessing)} by guessing."
            )
    return " ".join(said)
