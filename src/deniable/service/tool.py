"""``deniable mcp``: a tool for agents that speak the Model Context Protocol, on standard input and output.

An agent that calls it has read the text already. It is for text on its way to somebody else: a search, a
message, another model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from deniable.errors import DeniableError, MissingExtra
from deniable.release.conversation import RELAXATION
from deniable.service.messages import log_without_text, refusal_of
from deniable.service.replies import PrivatizeReply
from deniable.service.rules import Rules
from deniable.service.settings import Settings

if TYPE_CHECKING:
    from mcp.server import MCPServer

_WHAT = (
    "Replace every word of private texts by a near one, drawn at random with a proven guarantee, before they "
    "are sent to somebody else. Returns the released texts, in order. The same text in the same conversation "
    f"gives the same words: {RELAXATION}."
)


def make_server(settings: Settings) -> MCPServer:
    """Return the server of the tool, by the settings of a service; ``run`` serves it on standard input and
    output.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise MissingExtra("the MCP server", "mcp") from error
    limits, (prepared, conversations) = settings.limits, Rules(settings).prompts

    def privatize(texts: list[str], conversation: str = "") -> str:
        if len(texts) > limits.texts or sum(map(len, texts)) > limits.request_bytes:
            raise ToolError(f"at most {limits.texts:,} texts and {limits.request_bytes:,} characters")
        try:
            released = conversations.release(texts, name=conversation)
        except Exception as error:
            raise ToolError(_problem(error)) from None
        reply = PrivatizeReply(
            texts=[*released],
            spent_epsilon=[prepared.spent(text) for text in released],
            card=cast("dict[str, Any]", prepared.card),
        )
        return msgspec.json.encode(reply).decode()

    server = MCPServer("deniable", instructions=_WHAT, log_level="CRITICAL")  # its messages may quote texts
    server.add_tool(privatize, description=_WHAT)
    return server


def _problem(error: Exception) -> str:
    """Return what is wrong, without a word of the texts."""
    if isinstance(error, DeniableError):
        return refusal_of(error).message
    log_without_text(error)
    return "the texts could not be released"
