"""The tool for agents, spoken to as an agent does: by the client of the protocol, over standard input."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

SECRET = "zorblattsecret"


def calls(folder: Path, *asked: dict[str, Any], settings: str = "") -> tuple[list[Any], str]:
    """Return what the tool answers, and all that its process wrote to standard error."""
    pytest.importorskip("mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    (folder / "settings.toml").write_text("[release]\nnever_release = []\n" + settings, encoding="utf-8")
    command = ["-m", "deniable", "mcp", "--settings", str(folder / "settings.toml")]

    async def talk() -> list[Any]:
        with (folder / "log").open("w") as log:
            parameters = StdioServerParameters(command=sys.executable, args=command)
            async with stdio_client(parameters, errlog=log) as streams, ClientSession(*streams) as session:
                await session.initialize()
                tools = await session.list_tools()
                return [tools, *[await session.call_tool("privatize", each) for each in asked]]

    return asyncio.run(talk()), (folder / "log").read_text(encoding="utf-8")


def test_an_agent_gets_released_texts_and_no_word_is_logged(tmp_path: Path) -> None:
    history = [f"my doctor said {SECRET}", "yes"]
    (tools, first, again, other, wrong, huge), log = calls(
        tmp_path,
        {"texts": history, "conversation": "c"},
        {"texts": [*history, "and so on"], "conversation": "c"},
        {"texts": history, "conversation": "d"},
        {"texts": SECRET},
        {"texts": ["word " * 300_000]},
    )
    assert [tool.name for tool in tools.tools] == ["privatize"]
    replies = [json.loads(each.content[0].text) for each in (first, again, other)]
    assert replies[0]["spent_epsilon"] == [24.0, 6.0]
    assert replies[0]["card"]["epsilon_per_word"] == 6.0
    assert replies[1]["texts"][:2] == replies[0]["texts"] != replies[2]["texts"]
    assert SECRET not in json.dumps(replies) + log
    assert (wrong.is_error, huge.is_error) == (True, True)
    assert "word word" not in huge.content[0].text


def test_what_cannot_be_released_is_an_error_without_its_words(tmp_path: Path) -> None:
    (_, reply), log = calls(tmp_path, {"texts": [SECRET]}, settings='unknown = "error"\n')
    assert reply.is_error
    assert SECRET not in reply.content[0].text + log
