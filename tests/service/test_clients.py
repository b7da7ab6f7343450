"""Generated clients and a fuzzer of APIs, each in an environment of its own: they read the description as
strangers do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from deniable.service.settings import Limits, Prompts
from tests.service.running import Client, make_settings, running
from tests.service.upstream import serving_model

pytestmark = pytest.mark.slow

USES_PYTHON = """
import sys
from deniable_client import Client
from deniable_client.api.default import post_check, post_files, post_guardrail, post_privatize
from deniable_client.models import ErrorReply, GuardrailRequest, GuardrailRequestInputType, PrivatizeRequest
from deniable_client.types import File
import io

with Client(base_url=sys.argv[1]) as client:
    asked = PrivatizeRequest(texts=["my doctor said so"], epsilon=3.0)
    reply = post_privatize.sync(client=client, body=asked)
    assert len(reply.texts[0].split()) >= 4 and reply.spent_epsilon == [12.0], reply
    refused = post_privatize.sync(client=client, body=PrivatizeRequest(text="a", epsilon=99.0))
    assert isinstance(refused, ErrorReply) and "at most" in refused.error, refused
    rows = b"id,text\\n1,my doctor said that I am ill\\n2,the keys were stolen from the car\\n"
    check = post_check.sync(client=client, body=File(payload=io.BytesIO(rows)), name="a.csv")
    assert [(one.name, one.text) for one in check.columns] == [("id", False), ("text", True)], check
    roles = {"column": ["text"], "keep": ["id"]}
    asked = GuardrailRequest(input_type=GuardrailRequestInputType.REQUEST, texts=["my doctor"])
    told = post_guardrail.sync(client=client, body=asked)
    assert told.action.value == "GUARDRAIL_INTERVENED" and len(told.texts[0].split()) == 2, told
    job = post_files.sync(client=client, body=File(payload=io.BytesIO(rows)), name="a.csv", **roles)
    assert job.state.value in ("waiting", "working", "done"), job
"""
USES_TYPES = """
import type { components, operations } from "./api";
const asked: components["schemas"]["PrivatizeRequest"] = { text: "a", epsilon: 3, unknown: "redact" };
// @ts-expect-error this policy does not exist
const wrong: components["schemas"]["PrivatizeRequest"] = { text: "a", unknown: "pass" };
type Query = operations["post_files"]["parameters"]["query"];
const query: Query = { name: "a.csv", column: ["text"], header: false };
// @ts-expect-error a file has a name
const nameless: Query = { column: ["text"] };
const reply = {} as components["schemas"]["DecodeReply"];
const chance: number | undefined = reply.guesses[0]?.candidates[0]?.probability;
export { asked, wrong, query, nameless, chance };
"""
HOOKS = """
import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
"""

CHECKS = """
# Its body is lines of text, whatever their type would be: a wrong line is answered in its place.
[[operations]]
include-path = "/privatize/stream"
checks.negative_data_rejection.enabled = false
"""


def environment(folder: Path, *packages: str) -> Path:
    """Return the programs of an environment with these packages; skip the test where they cannot be had."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = subprocess.run(
        [folder / "bin" / "pip", "install", "--quiet", *packages], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"{packages} cannot be installed here: {done.stderr[-300:]}")
    return folder / "bin"


def run(*command: object, cwd: Path, **more: str) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=3_000, env=more or None
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    return done.stdout


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    given = make_settings(tmp_path, limits=Limits(seconds=30.0, jobs=1_000))
    with serving_model() as model:
        prompts = Prompts(upstream=model.address, identifiers="shape")
        with running(msgspec.structs.replace(given, prompts=prompts)) as opened:
            (tmp_path / "openapi.json").write_bytes(opened.get("/openapi.json").body)
            yield opened


def test_a_generated_python_client_speaks_with_the_service(client: Client, tmp_path: Path) -> None:
    programs = environment(tmp_path / "python", "openapi-python-client==0.29.1")
    run(
        programs / "openapi-python-client",
        "generate",
        "--path",
        "openapi.json",
        "--output-path",
        "made",
        cwd=tmp_path,
    )
    (tmp_path / "made" / "use.py").write_text(USES_PYTHON, encoding="utf-8")
    run(programs / "python", "use.py", client.address, cwd=tmp_path / "made")


def test_generated_types_of_typescript_hold(client: Client, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    (tmp_path / "package.json").write_text(json.dumps({"private": True}))
    packages = ("openapi-typescript@7.13.0", "typescript@5.9.3")
    done = subprocess.run(
        ["npm", "install", "--silent", *packages], cwd=tmp_path, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"npm cannot install {packages}: {done.stderr[-300:]}")
    programs = tmp_path / "node_modules" / ".bin"
    run(programs / "openapi-typescript", "openapi.json", "-o", "api.ts", cwd=tmp_path)
    (tmp_path / "use.ts").write_text(USES_TYPES, encoding="utf-8")
    options = (
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
    )
    run(programs / "tsc", *options, "use.ts", cwd=tmp_path)


def test_a_fuzzer_finds_no_endpoint_that_is_not_as_described(client: Client, tmp_path: Path) -> None:
    programs = environment(tmp_path / "fuzzer", "schemathesis==4.32.5")
    (tmp_path / "hooks.py").write_text(HOOKS, encoding="utf-8")
    (tmp_path / "schemathesis.toml").write_text(CHECKS, encoding="utf-8")
    run(
        programs / "schemathesis",
        "run",
        f"{client.address}/openapi.json",
        "--max-examples=20",
        "--request-timeout=600",
        # What the operator does not allow is refused, whatever its form.
        "--exclude-checks=positive_data_acceptance",
        cwd=tmp_path,
        SCHEMATHESIS_HOOKS="hooks",
        PATH="/usr/bin:/bin",
        PYTHONPATH=str(tmp_path),
    )
