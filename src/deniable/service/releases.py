"""POST /privatize and POST /privatize/stream: texts in, released texts out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar, cast

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from deniable.errors import DeniableError, InvalidParameter, UnknownWord
from deniable.noise.encoding import UniqueIds, encode_id
from deniable.service.batching import Batcher
from deniable.service.messages import (
    Choice,
    PrivatizeRequest,
    RecordName,
    Refused,
    StreamLine,
    decode,
    refusal_of,
    without_values,
)
from deniable.service.replies import ErrorReply, PrivatizeReply
from deniable.service.rules import Prepared, Rules
from deniable.service.settings import Limits

_LINES_AT_ONCE = 512
_NAMES_TWO = "the id names two texts, and equal words of both would come out equal; give each text its own id"
_UNKNOWN = (
    "unknown to the embedding, and unknown=error says to stop; neither this line nor any after it was "
    "released. Choose another policy (perturb, redact, drop) or another embedding"
)
Query = TypeVar("Query", bound=msgspec.Struct)
Line = tuple[int, bytes]
"""A line of a stream, after its number from 1."""
NDJSON = "application/x-ndjson"
_WORD_LISTS = ("keep_words", "never_release")


def json_reply(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a reply of JSON."""
    return Response(
        msgspec.json.encode(content), status_code=status, media_type="application/json", headers=headers
    )


async def read_body(request: Request, limits: Limits) -> bytes:
    """Return the body."""
    try:
        async with asyncio.timeout(limits.seconds):
            return await request.body()
    except TimeoutError:
        raise Refused(408, f"the body did not arrive within {limits.seconds:g} seconds") from None
    except ClientDisconnect:
        raise Refused(400, "the body ends before its length") from None


async def next_chunk(body: AsyncIterator[bytes], *, due: float, late: str) -> bytes | None:
    """Return what comes next of a body, by the time ``due`` of the event loop's clock; None at its end."""
    try:
        async with asyncio.timeout_at(due):
            return await anext(body)
    except StopAsyncIteration:
        return None
    except TimeoutError:
        raise Refused(408, late) from None


class _BothWays(StreamingResponse):
    """A reply that is sent while its request is read: nobody else may wait for messages of the request
    meanwhile."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await self.stream_response(send)


class Releases:
    """Serves texts."""

    def __init__(self, rules: Rules, batcher: Batcher) -> None:
        self._rules, self._batcher, self._limits = rules, batcher, rules.settings.limits

    async def privatize(self, request: Request) -> Response:
        """Release one text or a list."""
        asked = decode(await read_body(request, self._limits), PrivatizeRequest)
        texts, names = self._texts(asked), self._names(asked)
        if names is not None and len(names) != len(texts):
            raise Refused(422, f"ids: must be one for each of the {len(texts):,} texts")
        prepared = await self._rules.ready(asked)
        _check_different(prepared, names or [])
        try:
            released = await self.release(prepared, texts, names)
        except UnknownWord as error:
            raise refusal_of(error) from None
        reply = PrivatizeReply(
            spent_epsilon=[prepared.spent(text) for text in released],
            words=[prepared.words(text) for text in released] if asked.words else None,
            card=cast("dict[str, Any]", prepared.card),  # written once, and sent as it is
        )
        if asked.texts is None:
            reply.text = released[0]
        else:
            reply.texts = released
        return json_reply(reply)

    async def stream(self, request: Request) -> Response:
        """Release lines, a StreamLine each, in order as they arrive; an error is the last.

        What is not read by the client is not read from it either.
        """
        choice = read_query(request, Choice)
        prepared = await self._rules.ready(choice)
        return _BothWays(self.lines(request, prepared), media_type=NDJSON)

    async def lines(self, request: Request, prepared: Prepared) -> AsyncIterator[bytes]:
        """Yield the lines of the reply to a stream."""
        keyed = prepared.private.keyed
        ids = None if keyed is None or keyed.consistent else UniqueIds()
        try:
            async for lines in self.groups(request):
                taken, problem = self._read(lines, ids)
                # Lines before a wrong one are released, however they were put together.
                try:
                    released = await self._release_lines(prepared, taken)
                except UnknownWord as error:
                    number = taken[error.record - 1][0]
                    problem = Refused(422, f"line {number:,}, word {error.position:,}: {_UNKNOWN}")
                    released = await self._release_lines(prepared, taken[: error.record - 1])
                # One by one: which lines arrived together depends on how long the private ones were.
                for text in released:
                    yield msgspec.json.encode(StreamLine(text=text)) + b"\n"
                if problem is not None:
                    raise problem
            # Of ids that are far apart, a repetition is noticed at the end only: memory stays bounded.
            if ids is not None and (repeated := await asyncio.to_thread(ids.repeated)) is not None:
                raise Refused(422, f"lines {repeated[0]:,} and {repeated[1]:,}: {_NAMES_TWO}")
        except Refused as refused:
            yield msgspec.json.encode(ErrorReply(error=refused.message)) + b"\n"

    def _read(
        self, lines: list[Line], ids: UniqueIds | None
    ) -> tuple[list[tuple[int, StreamLine]], Refused | None]:
        """Return the messages of the lines before a wrong one, each with its number, and why that one is
        refused."""
        taken: list[tuple[int, StreamLine]] = []
        for number, line in lines:
            try:
                one = decode(line, StreamLine)
                self._check_named(one.id is not None)
                if ids is not None and not ids.add(encode_id(one.id, number), number):
                    raise Refused(422, _NAMES_TWO)
            except Refused as refused:
                return taken, Refused(refused.status, f"line {number:,}: {refused.message}")
            except InvalidParameter as error:
                return taken, refusal_of(error)  # it has the number
            taken.append((number, one))
        return taken, None

    async def groups(self, request: Request) -> AsyncIterator[list[Line]]:
        """Yield the lines that have arrived with their numbers, some at a time; empty ones are counted and
        left out.
        """
        rest, number = b"", 0
        body, now = aiter(request.stream()), asyncio.get_running_loop().time
        due, late = now() + self._limits.seconds, f"no whole line came for {self._limits.seconds:g} seconds"
        while True:
            try:
                chunk = await next_chunk(body, due=due, late=late)
            except ClientDisconnect:
                return
            if chunk is None:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > self._limits.request_bytes:
                raise Refused(413, f"a line is longer than {self._limits.request_bytes:,} bytes")
            numbered = [(at, line) for at, line in enumerate(lines, number + 1) if line.strip()]
            number += len(lines)
            for start in range(0, len(numbered), _LINES_AT_ONCE):
                yield numbered[start : start + _LINES_AT_ONCE]
            if lines:  # a byte now and then does not hold a place
                due = now() + self._limits.seconds
        if rest.strip():
            yield [(number + 1, rest)]

    async def _release_lines(
        self, prepared: Prepared, lines: list[tuple[int, StreamLine]]
    ) -> list[str | None]:
        if not lines:
            return []
        names = [one.id for _, one in lines if one.id is not None] if self._rules.keyed else None
        return await self.release(prepared, [one.text for _, one in lines], names)

    async def release(
        self, prepared: Prepared, texts: list[str | None], names: list[RecordName] | None
    ) -> list[str | None]:
        """Return the texts released."""
        try:
            return await self._batcher.release(prepared, texts, names, seconds=self._limits.seconds)
        except UnknownWord:
            raise
        except DeniableError as error:
            raise refusal_of(error) from None

    def _texts(self, asked: PrivatizeRequest) -> list[str | None]:
        if (asked.text is None) == (asked.texts is None):
            raise Refused(422, "give one of text and texts")
        if asked.texts is not None and len(asked.texts) > self._limits.texts:
            problem = f"at most {self._limits.texts:,} in one request; use /privatize/stream or /files"
            raise Refused(413, f"texts: {problem}")
        return [asked.text] if asked.texts is None else asked.texts

    def _names(self, asked: PrivatizeRequest) -> list[RecordName] | None:
        if asked.id is not None and asked.texts is not None:
            raise Refused(422, "id: goes with text; texts have ids")
        if asked.ids is not None and asked.texts is None:
            raise Refused(422, "ids: go with texts; text has an id")
        names = asked.ids if asked.id is None else [asked.id]
        self._check_named(names is not None)
        return names

    def _check_named(self, named: bool) -> None:
        if self._rules.keyed and not named:
            problem = "this service draws from a key, so every text needs an id that names it and no other"
            raise Refused(422, f"ids: {problem}")
        if named and not self._rules.keyed:
            raise Refused(422, "ids: mean something only where the service draws from a key")


def _check_different(prepared: Prepared, names: list[RecordName]) -> None:
    keyed = prepared.private.keyed
    if keyed is None or keyed.consistent:
        return
    try:
        different = {encode_id(name, number) for number, name in enumerate(names, 1)}
    except InvalidParameter as error:
        raise refusal_of(error) from None
    if len(different) < len(names):
        raise Refused(422, f"ids: {_NAMES_TWO}")


def read_query(request: Request, kind: type[Query]) -> Query:
    """Return what the query asks for. Lists may be repeated or, for words, separated by commas."""
    many = {field.name for field in msgspec.structs.fields(kind) if "list" in str(field.type)}
    values: dict[str, object] = {}
    for name, value in request.query_params.multi_items():
        if name in many:
            given = value.split(",") if name in _WORD_LISTS else [value]
            values[name] = [*cast("list[str]", values.get(name, [])), *filter(None, given)]
        elif name in values:
            raise Refused(422, "a name stands twice in the query")
        else:
            values[name] = value
    try:
        query = msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, without_values(str(error), kind)) from None
    for name in values:
        if getattr(query, name) is None:  # it said "null"
            raise Refused(422, f"{name}: leave it out, or give it a value")
    return query
