"""The API of a language model that released prompts go to, and its answers, whole or as they come.

Its address and key are the operator's. What it says about an error is not shown: it may quote the key.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import msgspec

from deniable.release.identifiers import StandIns
from deniable.service.messages import Refused, log_without_text
from deniable.service.settings import Settings

_LONGEST_ANSWER = 64 << 20
_LONGEST_EVENT = 4 << 20
_DATA, _DONE = b"data:", b"[DONE]"


class Upstream:
    """Asks the API."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._key = settings.prompts, settings.upstream_key()
        self._client: httpx2.AsyncClient | None = None

    async def stop(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def ask(self, body: bytes, stand_ins: StandIns | None) -> dict[str, Any]:
        """Return the answer to a request, with identifiers in place of their stand-ins."""
        reply = await self._send(body)
        try:
            content = b""
            async for part in reply.aiter_bytes():
                content += part
                if len(content) > _LONGEST_ANSWER:
                    raise Refused(502, "the answer of the upstream API is too long")
            answer = msgspec.json.decode(content, type=dict[str, Any])
        except (httpx2.HTTPError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            log_without_text(error)
            raise Refused(502, "the answer of the upstream API cannot be read") from None
        finally:
            await reply.aclose()
        if stand_ins is not None:
            for choice in _choices(answer):
                _restore(choice.get("message"), stand_ins)
        return answer

    async def stream(self, body: bytes, stand_ins: StandIns | None) -> AsyncIterator[bytes]:
        """Return the answer as server-sent events, each as soon as it has no part of a stand-in."""
        reply = await self._send(body)
        return _events(reply) if stand_ins is None else _restored(_events(reply), stand_ins)

    async def _send(self, body: bytes) -> httpx2.Response:
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=self._settings.upstream_seconds, follow_redirects=False)
        headers = {"Content-Type": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        url = f"{str(self._settings.upstream).rstrip('/')}/chat/completions"
        try:
            request = self._client.build_request("POST", url, content=body, headers=headers)
            reply = await self._client.send(request, stream=True)
        except httpx2.HTTPError as error:
            log_without_text(error)
            raise Refused(502, "the upstream API does not answer") from None
        if reply.status_code == 200:
            return reply
        await reply.aclose()
        problem = f"the upstream API answered with status {reply.status_code}"
        if reply.status_code == 429:
            raise Refused(429, problem, retry=5)
        raise Refused(422 if reply.status_code in (400, 404, 413, 422) else 502, problem)


async def _events(reply: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the events of an answer, an event or a few lines at a time."""
    rest = b""
    try:
        async for part in reply.aiter_bytes():
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > _LONGEST_EVENT:
                raise Refused(502, "an event of the upstream API is too long")
            for line in lines:
                yield line + b"\n"
        if rest:
            yield rest + b"\n"
    finally:
        await reply.aclose()


async def _restored(lines: AsyncIterator[bytes], stand_ins: StandIns) -> AsyncIterator[bytes]:
    """Yield the lines of an answer with identifiers in place of their stand-ins, which may come in parts."""
    said: dict[int, str] = {}
    sent: dict[int, int] = {}
    last: dict[str, Any] = {}

    def more(index: int, content: str, *, ended: bool) -> str:
        text = said[index] = said.get(index, "") + content
        start, end = sent.get(index, 0), len(text) - (0 if ended else stand_ins.held_back(text))
        sent[index] = end = max(start, end)
        said[index], sent[index] = text[max(0, start - 1) :], end - max(0, start - 1)
        return stand_ins.restore(text[:end], start)

    async for line in lines:
        data = line[len(_DATA) :].strip() if line.startswith(_DATA) else b""
        if data == _DONE:
            rest = [(index, more(index, "", ended=True)) for index in list(said)]
            choices = [{"index": index, "delta": {"content": text}} for index, text in rest if text]
            if choices:
                event = {key: last[key] for key in ("id", "object", "created", "model") if key in last}
                yield _DATA + b" " + msgspec.json.encode({**event, "choices": choices}) + b"\n\n"
        elif data:
            last = msgspec.json.decode(data, type=dict[str, Any])
            for choice in _choices(last):
                delta, ended = choice.get("delta"), choice.get("finish_reason") is not None
                index = int(choice.get("index", 0))
                content = delta.get("content") if isinstance(delta, dict) else None
                if isinstance(content, str) or (ended and index in said):
                    choice["delta"] = {**(delta or {}), "content": more(index, content or "", ended=ended)}
            line = _DATA + b" " + msgspec.json.encode(last) + b"\n"
        yield line


def _choices(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found = answer.get("choices")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _restore(message: object, stand_ins: StandIns) -> None:
    if isinstance(message, dict) and isinstance(message.get("content"), str):
        message["content"] = stand_ins.restore(message["content"])
