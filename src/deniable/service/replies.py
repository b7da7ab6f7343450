"""What the service answers, as typed values: the schema of the API is made from them.

A card is an object of its own format (``deniable.release.card``), as is a calibration; here they are sent on
as they are.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

JobState = Literal["waiting", "working", "done", "failed"]


class PrivatizeReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The released ``text`` or ``texts``, the most ε that was spent on each, summed over its words, and the
    card to hand over."""

    text: str | None = None
    texts: list[str | None] | None = None
    spent_epsilon: list[float]
    words: list[list[str]] | None = None
    card: dict[str, Any]


class GuardrailReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What LiteLLM is to do: go on with these ``texts``, as it is, or not at all.

    ``spent_epsilon`` is the most that was spent on each text, null if its role is not drawn, and
    ``relaxations`` say what is disclosed beyond the guarantee. The last ``stream_holdback_chars`` of an
    unfinished answer may still change.
    """

    action: Literal["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]
    texts: list[str] | None = None
    blocked_reason: str | None = None
    stream_holdback_chars: list[int] | None = None
    spent_epsilon: list[float | None] | None = None
    relaxations: list[str] | None = None


class ColumnReply(msgspec.Struct, kw_only=True):
    """One column of a file, with its first values.

    ``why`` says what it looks like, if somebody has to say what becomes of it before anything is released.
    ``text`` marks free text, whose words should be replaced. A column that is not ``releasable`` has no name:
    it has to be given one first. ``name`` is null for the text of a file without columns.
    """

    name: str | None
    kind: str
    why: str | None
    text: bool
    releasable: bool
    values: list[str]


class CheckReply(msgspec.Struct, kw_only=True):
    """What is in a file: private, as the file is. ``complete`` says whether all ``records`` were looked at.

    ``delimiter`` and ``encoding`` are how it was read. ``sheets`` are those of a workbook beside the first:
    each must be kept by name, or deleted from a copy of the file.
    """

    format: str
    delimiter: str | None
    encoding: str
    records: int
    complete: bool
    columns: list[ColumnReply]
    sheets: list[str]
    findings: list[str]


class JobReply(msgspec.Struct, kw_only=True):
    """The state of a job. All of it is deleted at ``deleted_at``, in seconds since 1970. ``decision`` says
    whether there is a decision page."""

    id: str
    state: JobState
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    error: str | None = None
    name: str = ""
    deleted_at: int | None = None
    decision: bool = False


class Outcome(msgspec.Struct, kw_only=True):
    """A word that can come out, and how likely."""

    word: str
    probability: float
    standard_error: float


class Neighbour(msgspec.Struct, kw_only=True):
    """A near word, its distance, and the bound on the log-likelihood ratio; null where there is none."""

    word: str
    distance: float
    bound: float | None


class Explained(msgspec.Struct, kw_only=True):
    """What a word becomes, and its neighbourhood (``deniable explain``)."""

    word: str
    known: bool
    mechanism: str
    epsilon: float
    embedding: str
    method: str
    draws: int
    unchanged: Outcome | None
    distinct: int
    outcomes: list[Outcome]
    neighbours: list[Neighbour]
    goes_in_as: str | None = None
    moves: dict[str, Any] | None = None


class Point(msgspec.Struct, kw_only=True):
    """A word in a picture of a neighbourhood."""

    word: str
    x: float
    y: float
    probability: float


class ExplainReply(msgspec.Struct, kw_only=True):
    """A word with the points of a picture of it.

    ``noise`` is the radius in it that half of the noise stays within; null where it is not round.
    """

    explanation: Explained
    points: list[Point]
    noise: float | None


class WordReply(msgspec.Struct, kw_only=True):
    """A word of a text, and its row of shares; unknown words have none."""

    word: str
    known: bool
    row: int | None


class WordsReply(msgspec.Struct, kw_only=True):
    """How often each of ``words`` is released unchanged: ``rows`` are shares at each of ``epsilons``; null
    where only draws tell."""

    words: list[WordReply]
    epsilons: list[float]
    rows: list[list[float]] | None


class Candidate(msgspec.Struct, kw_only=True):
    """A word that could have stood there: how likely it is now that the release is seen, and how likely it
    was before."""

    word: str
    probability: float
    before: float


class GuessReply(msgspec.Struct, kw_only=True):
    """A released word, the likeliest word behind it, and others that could have stood there.

    ``others`` is how many words more share the rest; a word with less than a millionth is not counted.
    """

    released: str
    guess: str
    candidates: list[Candidate]
    others: int


class DecodeReply(msgspec.Struct, kw_only=True):
    """What a reader of single words makes of a released text, and what that rests on (``by``).

    ``factor`` is a proved bound, from the calibration: seeing a released word raises the chance of any guess
    at most that many times, on average over words and draws, whatever the reader knew before. Null where it
    is not known.
    """

    guesses: list[GuessReply]
    by: str
    factor: float | None


class AllowedReply(msgspec.Struct, kw_only=True):
    """What clients may ask for."""

    embeddings: list[str]
    mechanisms: list[str]
    epsilon: float
    max_epsilon: float
    record_epsilon: float | None
    policies: dict[str, str | None]
    never_release: list[str]
    """Names of built-in lists of words that never come out."""
    keyed: bool
    limits: dict[str, float]
    keep_minutes: float


class EmbeddingReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An embedding; ``never_released_words`` of the ``source`` never come out."""

    name: str
    words: int
    dimension: int
    fingerprint: str
    protected_words: int
    never_released_words: int = 0
    source: str = ""


class MechanismReply(msgspec.Struct, kw_only=True):
    """A mechanism; of each option the ``name``, the ``default`` and the ``help``."""

    name: str
    summary: str
    options: list[dict[str, Any]]


class ErrorReply(msgspec.Struct, kw_only=True):
    """Why a request was not served."""

    error: str
