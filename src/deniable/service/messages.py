"""Requests and replies as typed values, from which the schema of the API is made, and refusals.

No message of an error holds a value that a client sent: errors are shown, kept and forwarded by programs in
between. For the same reason an exception is logged by its kind and its place, never by its text.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from deniable.errors import DeniableError, InvalidParameter, UnknownWord
from deniable.records.formats.columns import TO_SEE_THE_NAMES
from deniable.release.policies import CasePolicy, PunctuationPolicy, UnknownPolicy
from deniable.service.replies import ErrorReply

log = logging.getLogger("deniable.service")

RecordName = str | int
Wanted = TypeVar("Wanted")
DecisionWanted = Literal["release", "changes"]
FILE_NAME = r"^\w[\w .()+-]{0,119}$"

LOGGED = "something went wrong here; the operator finds the place in the log"
_MOST_PLACES = 6
_OPTION = re.compile(
    r"--(column|text|drop|keep-sheet|keep|delimiter|encoding|record-id|no-header)\b(?: (?='))?"
)
_FOR_A_TERMINAL = {
    f"; {TO_SEE_THE_NAMES}": "",
    "; the work can be continued with resume=True": "",
    ", for another sheet --sheet": "",
    "say --format jsonl": "give the file a name that ends in .jsonl",
}


class Choice(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a release, within what the operator allows. What is left out is as the operator set it.

    What tells less than the operator's settings may always be asked for.
    """

    epsilon: Annotated[float | None, Meta(description="ε of each word.")] = None
    risk: Annotated[
        Literal["low", "medium", "high"] | None,
        Meta(description="In place of ε: readers of single words name at most 8, 17 or 33 % of English."),
    ] = None
    record_epsilon: Annotated[float | None, Meta(description="The most ε of a text.")] = None
    embedding: Annotated[str | None, Meta(description="One of /embeddings.")] = None
    purpose: Annotated[
        Literal["general", "sentiment", "topic"] | None,
        Meta(description="In place of an embedding: the built-in space of a purpose."),
    ] = None
    mechanism: Annotated[str | None, Meta(description="One of /mechanisms.")] = None
    unknown: Annotated[
        UnknownPolicy | None, Meta(description="What becomes of words that the embedding does not know.")
    ] = None
    punctuation: Annotated[PunctuationPolicy | None, Meta(description="Whether marks are released.")] = None
    case: Annotated[CasePolicy | None, Meta(description="Whether capital letters are released.")] = None
    keep_words: Annotated[list[str] | None, Meta(description="Words that are released as they are.")] = None
    never_release: Annotated[
        list[str] | None,
        Meta(
            description="Words that never come out, besides the operator's; names is the built-in list. They "
            "must not come from the private text."
        ),
    ] = None


class PrivatizeRequest(Choice):
    """One ``text`` or a list of ``texts``. With a key of the operator's, ``ids`` name them, one for each.

    ``words`` asks for the released words one by one, beside the text.
    """

    text: str | None = None
    texts: list[str | None] | None = None
    id: RecordName | None = None
    ids: list[RecordName] | None = None
    words: bool = False


class StreamLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of a stream: a text, with its id where the operator has a key; or a released text."""

    text: str | None
    id: RecordName | None = None


class TextRequest(Choice):
    """A text whose words are asked about: private text for /words, released text for /decode."""

    text: str


class ExplainRequest(Choice):
    """A word, to be explained as it would be released."""

    word: str
    top: Annotated[int, Meta(ge=1, le=50)] = 12


class GuardrailRequest(msgspec.Struct, kw_only=True):
    """What LiteLLM sends to a generic guardrail. Names of fields and the form are LiteLLM's."""

    input_type: Literal["request", "response"]
    texts: list[str] | None = None
    structured_messages: list[dict[str, Any]] | None = None
    images: list[str] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    litellm_call_id: str | None = None
    request_data: dict[str, Any] | None = None
    request_headers: dict[str, Any] | None = None


class ChatRequest(msgspec.Struct, kw_only=True):
    """A chat as the API of OpenAI has it. Fields that are not named here and hold no text are sent on.

    ``user`` tells conversations apart, as does the header ``X-Deniable-Conversation``; neither is sent on.
    """

    model: Annotated[str, Meta(pattern=r"^[\w./:@+-]{1,200}$")]
    messages: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    stream: bool | None = None
    user: str | None = None


class CalibrationQuery(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What was calibrated, beside the embedding."""

    mechanism: Annotated[str | None, Meta(description="One of /mechanisms.")] = None


class FileQuery(Choice):
    """A file by its name, and how to read it."""

    name: Annotated[
        str, Meta(pattern=FILE_NAME, description="The file's name, whose ending tells the format.")
    ]
    delimiter: Annotated[str | None, Meta(description="The mark between cells, or tab.")] = None
    encoding: Annotated[str | None, Meta(description="The encoding of the text.")] = None
    header: Annotated[bool, Meta(description="Whether the first row holds names.")] = True


class UploadQuery(FileQuery):
    """A file to be released, with a role for each column that needs one."""

    column: Annotated[list[str], Meta(description="Columns whose words are replaced.")] = []
    drop: Annotated[list[str], Meta(description="Columns that are left out.")] = []
    keep: Annotated[list[str], Meta(description="Columns that are released as they are.")] = []
    keep_sheet: Annotated[list[str], Meta(description="Other sheets, released as they are.")] = []
    record_id: Annotated[str | None, Meta(description="The column that names records, with a key.")] = None
    decision: Annotated[
        DecisionWanted | None,
        Meta(
            description="Attack rehearsal draws first, make the decision page, and release only if the "
            "verdict is release, or also if it is release with changes."
        ),
    ] = None
    wait: Annotated[
        float,
        Meta(
            description="How many seconds to wait for the released file as the reply.",
            extra_json_schema={"minimum": 0, "maximum": 25},
        ),
    ] = 0.0


def resolve(*kinds: type) -> None:
    """Have msgspec resolve the types of these messages now: it does so at first use, and it crashes if two
    threads do at once."""
    for kind in kinds:
        msgspec.json.Decoder(kind)


resolve(PrivatizeRequest, StreamLine, TextRequest, ExplainRequest, CalibrationQuery, UploadQuery, FileQuery)
resolve(GuardrailRequest, ChatRequest)


class Refused(Exception):
    """A request that is not served, with its status of HTTP and a message that says why and what to do.

    Whatever serves a request may raise it, and the guard answers. ``retry`` is after how many seconds it may
    be sent again.
    """

    def __init__(
        self, status: int, message: str, *, retry: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.headers = dict(headers or {}) | ({} if retry is None else {"Retry-After": str(retry)})

    def reply(self) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Return the headers and the body of the reply; the connection ends with it."""
        body = msgspec.json.encode(ErrorReply(error=self.message))
        own = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
        return [(name.lower().encode(), value.encode()) for name, value in (own | self.headers).items()], body


def decode(content: bytes, kind: type[Wanted]) -> Wanted:
    """Return the message that this JSON is."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Refused(422, without_values(str(error), kind)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "the body is not JSON in UTF-8") from None


def without_values(problem: str, kind: type) -> str:
    """Return what msgspec says is wrong with a message, with the place first and no value of it."""
    said, _, place = problem.partition(" - at `$")
    place = re.sub(r"[^\w.\[\]]", "", place).strip(".")
    if said.startswith("Object contains unknown field"):
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        return f"there is a field that is not known; known are: {known}"
    if said.startswith("Invalid enum value"):
        said = "this value is not among those that are allowed"
    return f"{place}: {said}" if place else said


def refusal_of(error: DeniableError) -> Refused:
    """Return how a request is refused for this error, without a value that was given.

    Where the message points to the log, the kind and the place of the error are logged.
    """
    if isinstance(error, UnknownWord):
        return Refused(422, str(error))
    if not isinstance(error, InvalidParameter):
        log_without_text(error)
        problem = "the text could not be released; the operator finds the reason in the log"
        return Refused(503, problem, retry=5)
    if error.name in ("keep_words", "word"):
        every = "every entry " if error.name == "keep_words" else ""
        return Refused(422, f"{error.name}: {every}must be one word as a text has it")
    if error.name == "never_release" and isinstance(error.value, str):
        return Refused(422, "never_release: every entry must be words, or 'names' for the built-in list")
    return Refused(422, without_options(f"{error.name}: {error.problem}"))


def without_options(said: str) -> str:
    """Return a message about a file in the terms of a request: options of the command stand in its query."""
    for words, instead in _FOR_A_TERMINAL.items():
        said = said.replace(words, instead)
    return _OPTION.sub(
        lambda option: {"no-header": "header=false", "text": "column="}.get(
            option[1], f"{option[1].replace('-', '_')}="
        ),
        said,
    )


def log_without_text(error: BaseException) -> None:
    """Log the kind of an exception and the lines it came through, and those of the one that caused it: its
    text may quote what was asked."""
    for each, role in ((error, ""), (error.__cause__, " was the cause")):
        if each is not None:
            frames = traceback.extract_tb(each.__traceback__)[-_MOST_PLACES:]
            places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
            log.error("%s at %s%s", type(each).__name__, places, role)
