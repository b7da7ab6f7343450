"""LiteLLM's proxy as it is on PyPI, with this service as its guardrail, and OpenAI's client at both."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.service.running import running
from tests.service.test_clients import environment, run
from tests.service.test_prompts import SECRET, settings_for
from tests.service.upstream import Model, serving_model

pytestmark = pytest.mark.slow

CONFIG = """
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: {model}, api_key: k}}
guardrails:
  - guardrail_name: deniable
    litellm_params:
      guardrail: generic_guardrail_api
      mode: [pre_call, post_call]
      default_on: true
      api_base: {service}/guardrail
      unreachable_fallback: fail_closed
      streaming_transform_mode: incremental_diff
"""
ASKS = """
import json, sys
from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[3], max_retries=0)
found = {}
for name, more in json.loads(sys.argv[2]).items():
    try:
        reply = client.chat.completions.create(model="m", **more)
        if more.get("stream"):
            reply = "".join(each.choices[0].delta.content or "" for each in reply if each.choices)
        else:
            reply = reply.choices[0].message.content
        found[name] = reply
    except Exception as error:
        found[name] = {"error": str(error)}
print(json.dumps(found))
"""
MASTER = f"sk-{secrets.token_hex(32)}"
NAMES = "Anna Kowalska called from 555-014-2277"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": SECRET})}}
ASKED: dict[str, Any] = {
    "plain": {"messages": [user(f"{NAMES} about {SECRET}")]},
    "parts": {"messages": [user([{"type": "text", "text": f"{NAMES} about {SECRET}"}])]},
    "streamed": {"messages": [user(f"{NAMES} about {SECRET}")], "stream": True},
    "image": {"messages": [user([{"type": "text", "text": SECRET}, IMAGE])]},
    "tool": {"messages": [user("a"), {"role": "assistant", "tool_calls": [CALL]}]},
}


@contextmanager
def litellm(programs: Path, folder: Path, model: Model, service: str) -> Iterator[str]:
    (folder / "config.yaml").write_text(CONFIG.format(model=model.address, service=service), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        programs / "litellm",
        "--config",
        folder / "config.yaml",
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    with (folder / "litellm.log").open("wb") as log:
        process = subprocess.Popen(
            [*map(str, command)],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "LITELLM_MASTER_KEY": MASTER},
        )
    try:
        until = time.monotonic() + 600
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=600)
                break
            except OSError:
                assert process.poll() is None, (folder / "litellm.log").read_text()
                assert time.monotonic() < until, (folder / "litellm.log").read_text()
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(600)


def asked(programs: Path, folder: Path, address: str, what: dict[str, Any]) -> dict[str, Any]:
    (folder / "ask.py").write_text(ASKS, encoding="utf-8")
    found: dict[str, Any] = json.loads(
        run(programs / "python", "ask.py", address, json.dumps(what), MASTER, cwd=folder)
    )
    return found


def check(found: dict[str, Any], model: Model) -> None:
    sent = b"".join(model.bodies)
    for each in (SECRET, "Anna", "Kowalska", "555-014-2277", "AAAA"):
        assert each.encode() not in sent
    for name in ("plain", "parts", "streamed"):
        assert re.search(r"Anna Kowalska.*555-014-2277", found[name]), found
    for name in ("image", "tool"):
        assert "error" in found[name], found
    assert len(model.bodies) == 3


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("litellm"), "litellm[proxy]==1.106.2")


def test_the_proxy_of_litellm_releases_prompts_and_fails_closed(programs: Path, tmp_path: Path) -> None:
    with serving_model() as model:
        with (
            running(settings_for(tmp_path, identifiers="shape")) as service,
            litellm(programs, tmp_path, model, service.address) as address,
        ):
            check(asked(programs, tmp_path, address, ASKED), model)
        before = len(model.bodies)
        with litellm(programs, tmp_path, model, service.address) as address:  # which is not there any more
            found = asked(programs, tmp_path, address, {"plain": ASKED["plain"]})
    assert "error" in found["plain"]
    assert len(model.bodies) == before


def test_the_client_of_openai_speaks_to_the_service_itself(programs: Path, tmp_path: Path) -> None:
    with serving_model() as model, running(settings_for(tmp_path, model, identifiers="shape")) as service:
        check(asked(programs, tmp_path, f"{service.address}/v1", ASKED), model)
