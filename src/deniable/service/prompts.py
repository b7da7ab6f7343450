"""POST /guardrail and POST /v1/chat/completions: messages to a language model, released on their way to it.

Everything fails closed: what is not the text of a message is refused unless the operator lets it pass, and a
message that cannot be released is not sent.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from deniable.release import conversation, identifiers
from deniable.release.identifiers import StandIns, find_by_presidio, find_by_shape
from deniable.service.messages import ChatRequest, GuardrailRequest, Refused, decode
from deniable.service.releases import Releases, json_reply, read_body
from deniable.service.replies import GuardrailReply
from deniable.service.rules import Rules
from deniable.service.settings import Prompts as Settings
from deniable.service.upstream import Upstream

_ROLES = ("system", "developer", "user", "assistant", "tool")
_NUMBERS = re.compile(
    "frequency_penalty|logprobs|max_completion_tokens|max_tokens|n|parallel_tool_calls|presence_penalty|seed"
    "|stream|temperature|top_logprobs|top_p"
)
_ENUMERATED = {
    "reasoning_effort": {"none", "minimal", "low", "medium", "high", "xhigh"},
    "verbosity": {"low", "medium", "high"},
}
_NOT_TEXT = (
    "is not the text of a message (an image, a file, a tool or a call of one, a name, or a field that is not "
    "known); the operator of this service refuses it, as it would be sent unread"
)
_CONVERSATION = "x-deniable-conversation"
_LONGEST_NAME = 1_000
_MOST_CALLS = 10_000
_MOST_IDENTIFIERS = 1_000
_SECONDS_OF_A_CALL = 900.0


_Cut = tuple[list[str], list[str]]
"""The pieces of a text, and the stand-ins between them."""


class _Text(NamedTuple):
    """A text of a history: its message, its part if the message has parts, and who said it."""

    message: int
    part: int | None
    role: str
    text: str


class Prompts:
    """Serves prompts."""

    def __init__(self, rules: Rules, releases: Releases) -> None:
        """Prepare the finder of identifiers."""
        self._rules, self._releases, self._limits = rules, releases, rules.settings.limits
        self._settings = rules.settings.prompts
        self._passes = self._settings.other_content == "pass"
        self._relaxations = _relaxations_of(self._settings)
        self.upstream = Upstream(rules.settings)
        self._find = find_by_presidio() if self._settings.identifiers == "presidio" else find_by_shape
        self._calls: OrderedDict[str, tuple[float, StandIns]] = OrderedDict()

    async def guardrail(self, request: Request) -> Response:
        """Release what LiteLLM sends to a generic guardrail.

        What cannot be released is BLOCKED with status 200: LiteLLM may be told to go on after an error.
        """
        asked = decode(await read_body(request, self._limits), GuardrailRequest)
        try:
            reply = await self._guarded(asked)
        except Refused as refused:
            reply = GuardrailReply(action="BLOCKED", blocked_reason=refused.message)
        return json_reply(reply)

    async def chat(self, request: Request) -> Response:
        """Release the messages of a chat, send them to the operator's upstream API, and return its answer.

        With ``stream`` it comes as server-sent events.
        """
        if self._settings.upstream is None:
            raise Refused(503, "the operator of this service has set no upstream")
        content = await read_body(request, self._limits)
        asked, fields = decode(content, ChatRequest), decode(content, dict[str, Any])
        texts, other = _texts_of(asked.messages)
        plain = {name: value for name, value in fields.items() if _is_plain(name, value)}
        rest = fields.keys() - plain.keys() - {"model", "messages", "user"}
        if not self._passes:
            if other or any(fields[name] is not None for name in rest):
                raise Refused(422, f"the request has something that {_NOT_TEXT}")
            rest = set()
        stand_ins = await self._stand_ins(name := _name(request.headers.get(_CONVERSATION), asked.user))
        released = await self._released(texts, name, stand_ins)
        sent = {
            "model": asked.model,
            "messages": _with_texts(asked.messages, texts, released, whole=self._passes),
            **{key: fields[key] for key in sorted({*plain, *rest})},
        }
        headers = {"X-Deniable-Relaxations": ", ".join(self._relaxations)}
        body = msgspec.json.encode(sent)
        if asked.stream:
            events = await self.upstream.stream(body, stand_ins)
            return StreamingResponse(events, media_type="text/event-stream", headers=headers)
        return json_reply(await self.upstream.ask(body, stand_ins), headers=headers)

    async def _guarded(self, asked: GuardrailRequest) -> GuardrailReply:
        if asked.input_type == "response":
            return self._restored(asked)
        texts, other = _texts_of(asked.structured_messages or [])
        if [each.text for each in texts] != asked.texts:  # nobody says who said them
            texts = [_Text(0, None, "user", text) for text in asked.texts or []]
        if (other or asked.images or asked.tools or asked.tool_calls) and not self._passes:
            raise Refused(422, f"the request has something that {_NOT_TEXT}")
        headers, who = asked.request_headers or {}, asked.request_data or {}
        stand_ins = await self._stand_ins(
            name := _name(
                headers.get(_CONVERSATION) or headers.get("x-litellm-session-id"),
                who.get("user_api_key_hash"),
                who.get("user_api_key_end_user_id"),
            )
        )
        released = await self._released(texts, name, stand_ins)
        if stand_ins is not None and asked.litellm_call_id is not None:
            self._remember(asked.litellm_call_id, stand_ins)
        prepared = self._rules.prompts[0]
        plain = self._settings.plain_roles
        return GuardrailReply(
            action="GUARDRAIL_INTERVENED",
            texts=released,
            spent_epsilon=[
                None if each.role in plain else prepared.spent(text)
                for each, text in zip(texts, released, strict=True)
            ],
            relaxations=[*prepared.private.policy.relaxations, *self._relaxations.values()],
        )

    def _restored(self, asked: GuardrailRequest) -> GuardrailReply:
        """Return an answer with the identifiers of its call."""
        if self._settings.identifiers is None or not asked.texts:
            return GuardrailReply(action="NONE")
        known = self._calls.get(asked.litellm_call_id or "")
        if known is None:
            raise Refused(422, "the stand-ins of this call are not known any more; send the request again")
        stand_ins = known[1]
        return GuardrailReply(
            action="GUARDRAIL_INTERVENED",
            texts=[stand_ins.restore(text) for text in asked.texts],
            stream_holdback_chars=[stand_ins.held_back(text) for text in asked.texts],
        )

    def _remember(self, call: str, stand_ins: StandIns) -> None:
        """Keep the stand-ins of a call until its answer comes: some minutes, and those of some calls."""
        now = time.monotonic()
        self._calls[call] = now + _SECONDS_OF_A_CALL, stand_ins
        self._calls.move_to_end(call)
        while len(self._calls) > _MOST_CALLS or next(iter(self._calls.values()))[0] < now:
            self._calls.popitem(last=False)

    async def _stand_ins(self, name: str) -> StandIns | None:
        if self._settings.identifiers is None:
            return None
        conversations = (await asyncio.to_thread(lambda: self._rules.prompts))[1]
        return StandIns(conversations.secret(name), self._find)

    async def _released(self, texts: Sequence[_Text], name: str, stand_ins: StandIns | None) -> list[str]:
        """Return the texts of a history released, those of plain roles with stand-ins alone."""

        def cut() -> tuple[list[_Cut], list[list[str]]]:
            split = (lambda text: ([text], [])) if stand_ins is None else stand_ins.split
            found = [split(each.text) for each in texts]
            if stand_ins is not None and len(stand_ins.originals) > _MOST_IDENTIFIERS:
                raise Refused(413, f"the messages hold more than {_MOST_IDENTIFIERS:,} identifiers")
            drawn = [cut[0] if each.role not in plain else [] for each, cut in zip(texts, found, strict=True)]
            return found, self._rules.prompts[1].ids(drawn, name=name)

        plain = self._settings.plain_roles
        found, ids = await asyncio.to_thread(cut)
        pieces = [piece for (pieces, _), named in zip(found, ids, strict=True) if named for piece in pieces]
        prepared = self._rules.prompts[0]
        released = iter(await self._releases.release(prepared, [*pieces], [*chain(*ids)]) if pieces else [])
        made = []
        for (parts, between), named in zip(found, ids, strict=True):
            if not named:
                made.append("".join(chain.from_iterable(zip(parts, [*between, ""], strict=True))))
            elif stand_ins is None:
                made.append(str(next(released)))
            else:
                made.append(stand_ins.join([str(next(released)) for _ in parts], between))
        return made


def _relaxations_of(settings: Settings) -> dict[str, str]:
    """Return what prompts disclose by these settings, by the names that a header has room for."""
    found = {"conversation": conversation.RELAXATION}
    if settings.identifiers is not None:
        found["identifiers"] = identifiers.RELAXATION
    if settings.plain_roles:
        found["plain-roles"] = f"messages of these roles are not drawn: {', '.join(settings.plain_roles)}"
    if settings.other_content == "pass":
        found["other-content"] = "what is not the text of a message is sent as it is, unread"
    return found


def _texts_of(messages: Sequence[Mapping[str, Any]]) -> tuple[list[_Text], bool]:
    """Return the texts of messages, and whether there is anything else in them."""
    texts, other = list[_Text](), False
    for place, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in _ROLES or not (content is None or isinstance(content, str | list)):
            problem = f"must have a role ({', '.join(_ROLES)}) and content, text or parts"
            raise Refused(422, f"messages[{place}]: {problem}")
        other |= any(value for key, value in message.items() if key not in ("role", "content"))
        for number, part in enumerate(content if isinstance(content, list) else []):
            text = part.get("text") if isinstance(part, dict) else None
            other |= not (isinstance(text, str) and part == {"type": "text", "text": text})
            if isinstance(text, str):
                texts.append(_Text(place, number, role, text))
        if isinstance(content, str):
            texts.append(_Text(place, None, role, content))
    return texts, other


def _with_texts(
    messages: Sequence[Mapping[str, Any]], texts: Sequence[_Text], released: Sequence[str], *, whole: bool
) -> list[dict[str, Any]]:
    """Return messages with the released texts; the rest of them only if they are to be ``whole``."""
    made = [
        dict(each) if whole else {"role": each["role"], "content": each.get("content")} for each in messages
    ]
    for each in made:
        if isinstance(each["content"], list):
            each["content"] = [dict(part) if isinstance(part, dict) else part for part in each["content"]]
    for text, new in zip(texts, released, strict=True):
        if text.part is None:
            made[text.message]["content"] = new
        else:
            made[text.message]["content"][text.part]["text"] = new
    return made


def _is_plain(name: str, value: object) -> bool:
    """Return whether a field of a request is known and holds no text."""
    if name == "stream_options":
        return value in (None, {"include_usage": True}, {"include_usage": False})
    if name in _ENUMERATED:
        return value is None or (isinstance(value, str) and value in _ENUMERATED[name])
    return _NUMBERS.fullmatch(name) is not None and (value is None or isinstance(value, bool | int | float))


def _name(*parts: object) -> str:
    """Return the name of a conversation, of what a request says about it."""
    given = [part if isinstance(part, str) else "" for part in parts]
    if sum(map(len, given)) > _LONGEST_NAME:
        raise Refused(422, f"the name of a conversation has at most {_LONGEST_NAME:,} characters")
    return msgspec.json.encode(given).decode() if any(given) else ""
