"""What clients send and get, as typed values: the schema of the API is made from these.

No message of an error holds a value that a client sent: errors are shown, kept and forwarded by programs in
between.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar

import msgspec

from deniable.errors import DeniableError, InvalidParameter, UnknownWord
from deniable.records.formats.layout import TO_SEE_THE_NAMES
from deniable.release.policies import CasePolicy, PunctuationPolicy, UnknownPolicy
from deniable.service.faults import log_without_text

RecordName = str | int
_OPTION = re.compile(r"--(column|drop|keep|keep-sheet|delimiter|encoding|record-id|no-header)\b(?: (?='))?")
_FOR_A_TERMINAL = {
    f"; {TO_SEE_THE_NAMES}": "",
    "; the work can be continued with resume=True": "",
    ", for another sheet --sheet": "",
    "say --format jsonl": "give the file a name that ends in .jsonl",
}
Wanted = TypeVar("Wanted")


class Refused(Exception):
    """A request that is not served; ``status`` is that of HTTP, and ``message`` says why and what to do."""

    def __init__(self, status: int, message: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


class Choice(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How text is to be released, within what the operator allows. What is left out is as the operator set
    it.

    ``risk`` stands for the ``epsilon`` at which a reader of single words names at most 8, 17 or 33 % of the
    words of English text.
    """

    epsilon: float | None = None
    risk: Literal["low", "medium", "high"] | None = None
    record_epsilon: float | None = None
    embedding: str | None = None
    mechanism: str | None = None
    unknown: UnknownPolicy | None = None
    punctuation: PunctuationPolicy | None = None
    case: CasePolicy | None = None
    keep_words: list[str] | None = None


class PrivatizeRequest(Choice):
    """One ``text`` or a list of ``texts``. With a key of the operator's, ``ids`` name the texts: one for
    each.

    ``words`` asks for the released words one by one, beside the text.
    """

    text: str | None = None
    texts: list[str | None] | None = None
    id: RecordName | None = None
    ids: list[RecordName] | None = None
    words: bool = False


class PrivatizeReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The released ``text`` or ``texts``, the ε that was spent on each at most, summed over its words, and
    the card to hand over."""

    text: str | None = None
    texts: list[str | None] | None = None
    spent_epsilon: list[float]
    words: list[list[str]] | None = None
    card: msgspec.Raw


class StreamLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One line of a stream: a text, with its id where the operator has a key."""

    text: str | None
    id: RecordName | None = None


class ReleasedLine(msgspec.Struct, kw_only=True):
    """One released text of a stream."""

    text: str | None


class ErrorReply(msgspec.Struct, kw_only=True):
    """Why a request was not served."""

    error: str


class ExplainRequest(Choice):
    """A word, to be explained as it would be released."""

    word: str
    top: int = 12


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A near word in a picture of two axes, and how likely it is to be released."""

    word: str
    x: float
    y: float
    probability: float


class ExplainReply(msgspec.Struct, kw_only=True):
    """What a word becomes. ``noise`` is the radius in the picture that half of the noise stays within; None
    where it is not round."""

    explanation: dict[str, Any]
    points: list[Point]
    noise: float | None


class WordsRequest(Choice):
    """Text or a list of words, to be told how each word fares."""

    text: str


class WordFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A word of the text, whether the vocabulary has it, and its place among the ``rows`` of figures; None
    for an unknown word."""

    word: str
    known: bool
    row: int | None


class WordsReply(msgspec.Struct, kw_only=True):
    """The words in order. ``rows`` hold how often each distinct word is released unchanged, at each of
    ``epsilons``."""

    words: list[WordFigures]
    epsilons: list[float]
    rows: list[list[float]] | None


class DecodeRequest(Choice):
    """A text that was released, to be read as a stranger who knows the method would."""

    text: str


class Guess(msgspec.Struct, frozen=True, kw_only=True):
    """A released word, and the word that is likeliest behind it."""

    released: str
    guess: str


class DecodeReply(msgspec.Struct, kw_only=True):
    """The guesses, word by word, and what they rest on."""

    guesses: list[Guess]
    by: str


class JobReply(msgspec.Struct, kw_only=True):
    """Where a job is. ``state`` is waiting, working, done or failed; ``deleted_at`` is when all of it is
    deleted, in seconds since 1970."""

    id: str
    state: str
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    error: str | None = None
    name: str = ""
    deleted_at: int | None = None


def decode(content: bytes, kind: type[Wanted]) -> Wanted:
    """Return the message that this JSON is.

    :raises Refused: if it is none, with what is wrong and no value of it.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Refused(422, _without_values(str(error), kind)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "the body is not JSON in UTF-8") from None


def _without_values(problem: str, kind: type) -> str:
    said, _, place = problem.partition(" - at `$")
    place = re.sub(r"[^\w.\[\]]", "", place).strip(".")
    if said.startswith("Object contains unknown field"):
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        return f"there is a field that is not known; known are: {known}"
    if said.startswith("Invalid enum value"):
        said = "this value is not among those that are allowed"
    return f"{place}: {said}" if place else said


def refusal_of(error: DeniableError) -> Refused:
    """Return how a request is refused that could not be served for this reason; no value that was given is in
    the message.

    Where the message points to the log, the kind and the place of the error are logged.
    """
    if isinstance(error, UnknownWord):
        return Refused(422, str(error))
    if not isinstance(error, InvalidParameter):
        log_without_text(error)
        return Refused(
            503,
            "the text could not be released; the operator finds the reason in the log",
            headers={"Retry-After": "5"},
        )
    if error.name == "keep_words":
        return Refused(422, "keep_words: every entry must be one word as a text has it")
    if error.name == "word":
        return Refused(422, "word: must be one word as a text has it")
    return Refused(422, without_options(f"{error.name}: {error.problem}"))


def without_options(said: str) -> str:
    """Return what is wrong with a file in the terms of a request: what the command has as options stands in
    its query."""
    for words, instead in _FOR_A_TERMINAL.items():
        said = said.replace(words, instead)
    return _OPTION.sub(
        lambda option: "header=false" if option[1] == "no-header" else f"{option[1].replace('-', '_')}=", said
    )
