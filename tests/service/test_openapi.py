"""The OpenAPI description is that of the routes and of what they answer, and is shown without help from
elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from deniable.release.fields import FIELDS
from deniable.service.app import Service
from deniable.service.messages import Choice
from deniable.service.settings import Prompts
from tests.service.running import JSON, NDJSON, OCTETS, Client, Reply, make_settings, running
from tests.service.running import settings_with_token as with_token
from tests.service.upstream import serving_model


def problems(value: Any, schema: dict[str, Any], parts: dict[str, Any]) -> list[str]:
    """Return where a value is not what a schema says; a field that is not described is a problem too."""
    closed = {name: {"additionalProperties": False, **part} for name, part in parts.items()}
    closed = {name: part if "properties" in part else parts[name] for name, part in closed.items()}
    whole = {**schema, "components": {"schemas": closed}}
    return [error.json_path for error in Draft202012Validator(whole).iter_errors(value)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving_model() as model:
        given = make_settings(tmp_path_factory.mktemp("service"))
        with running(msgspec.structs.replace(given, prompts=Prompts(upstream=model.address))) as opened:
            yield opened


@pytest.fixture(scope="module")
def told(client: Client) -> Any:
    return client.get("/openapi.json").json()


ROWS = b"id,text\n1,my doctor said that I am ill\n2,the keys were stolen from the car\n"


def replies(client: Client) -> Iterator[tuple[str, str, Reply]]:
    """Yield the replies of every endpoint, good and bad, each with the method and path that are described."""

    def ask(name: str, query: str = "", body: bytes | None = None, kind: dict[str, str] | None = None) -> Any:
        method, _, path = name.partition(" ")
        real = path.replace("{id}", job).replace("{word}", "doctor").replace("{embedding}", "default")
        return method, path, client.ask(method, real + query, body, kind)

    job = "A" * 22
    for method in ("GET", "DELETE"):
        yield ask(f"{method} /jobs/{{id}}")
    for path in ("output", "card", "receipt", "decision"):
        yield ask(f"GET /jobs/{{id}}/{path}")
    yield ask("POST /files", "?name=a.csv&column=text&keep=id", ROWS, OCTETS)
    job = client.upload(ROWS, name="a.csv", column="text", keep="id", wait=600).headers["location"][6:]
    for path in ("", "/output", "/card", "/receipt", "/decision"):
        yield ask(f"GET /jobs/{{id}}{path}")
    yield ask("DELETE /jobs/{id}")
    for query in ("?name=a.csv&column=text&keep=id&wait=600", "?name=a.csv", "?name=a.doc", ""):
        yield ask("POST /files", query, ROWS, OCTETS)
    for query in ("?name=a.csv", "?name=a.parquet"):
        yield ask("POST /check", query, ROWS, OCTETS)
    yield ask("POST /check", "?name=a.csv", ROWS, JSON)
    for path in ("/privatize", "/words", "/decode"):
        for body in (b'{"text": "my doctor xqzzy"}', b"{", b'{"text": "a", "epsilon": 99}'):
            yield ask(f"POST {path}", "", body, JSON)
    for path in ("/guardrail", "/guardrail/beta/litellm_basic_guardrail_api"):
        for body in (b'{"input_type": "request", "texts": ["a"]}', b'{"input_type": "response"}', b"{}"):
            yield ask(f"POST {path}", "", body, JSON)
        yield ask(f"POST {path}", "", b'{"input_type": "request", "images": ["a"]}', JSON)
    chat = b'{"model": "m", "messages": [{"role": "user", "content": "a"}], "stream": %b}'
    for body in (chat % b"false", chat % b"true", b"{", b"{}"):
        yield ask("POST /v1/chat/completions", "", body, JSON)
    yield ask("POST /privatize", "", b'{"texts": ["a", null], "words": true}', JSON)
    yield ask("POST /privatize/stream", "", b'{"text": "a"}\n{"text": null}\n', NDJSON)
    yield ask("POST /explain", "", b'{"word": "doctor"}', JSON)
    yield ask("POST /explain", "", b'{"word": "doctor", "top": 51}', JSON)
    yield ask("GET /explain/{word}", "?keep_words=a&epsilon=x")
    for path in (
        "/explain/{word}",
        "/calibration/{embedding}",
        "/allowed",
        "/embeddings",
        "/mechanisms",
        "/card",
    ):
        yield ask(f"GET {path}")
    for path in ("/health", "/ready", "/metrics", "/openapi.json"):
        yield ask(f"GET {path}")


def test_every_reply_is_as_described(client: Client, told: Any) -> None:
    seen, good, parts = set(), set(), told["components"]["schemas"]
    for method, path, reply in replies(client):
        described = told["paths"][path][method.lower()]["responses"]
        assert str(reply.status) in described, (method, path, reply.status)
        content = described[str(reply.status)].get("content")
        seen.add((method, path))
        good |= {(method, path)} if reply.status < 300 else set()
        if content is None:
            assert reply.body == b""
            continue
        kind = reply.headers["content-type"].partition(";")[0]
        assert kind in content, (path, kind)
        if kind == "application/json":
            assert problems(reply.json(), content[kind]["schema"], parts) == [], (method, path)
    everything = {(method.upper(), path) for path, ways in told["paths"].items() for method in ways}
    assert seen == everything
    assert good == everything - {("GET", "/jobs/{id}/decision")}  # which test_decision.py asks for


def test_the_check_of_replies_finds_what_is_wrong() -> None:
    part = {"properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}
    schema, parts = {"$ref": "#/components/schemas/Part"}, {"Part": {"type": "object", **part}}
    assert problems({"a": [1]}, schema, parts) == []
    wrongs: list[Any] = [{}, {"a": 1}, {"a": ["1"]}, {"a": [True]}, [], {"a": [1], "b": 1}]
    for wrong in wrongs:
        assert problems(wrong, schema, parts)


def test_the_description_is_that_of_the_routes(client: Client, told: Any, tmp_path: Any) -> None:
    routes = {(each.method, each.path) for each in Service(make_settings(tmp_path)).endpoints}
    assert routes == {(method.upper(), path) for path, ways in told["paths"].items() for method in ways}
    operations = [operation for ways in told["paths"].values() for operation in ways.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
    for reference in re.findall(r'"#/components/schemas/(\w+)"', client.get("/openapi.json").body.decode()):
        assert reference in told["components"]["schemas"]


def test_lists_say_what_they_hold(client: Client, told: Any) -> None:
    # Generators leave out whatever uses a list that does not.
    text = client.get("/openapi.json").body.decode()
    assert text.count('"type":"array"') == text.count('"items":') > 10


def test_parameters_have_types_and_say_what_they_are(told: Any) -> None:
    given = {each["name"]: each for each in told["paths"]["/files"]["post"]["parameters"]}
    assert given["name"]["required"]
    assert not given["column"]["required"]
    assert given["column"]["schema"] == {"type": "array", "items": {"type": "string"}, "default": []}
    assert set(given["unknown"]["schema"]["enum"]) == set(FIELDS["unknown"].values)
    assert given["epsilon"]["schema"] == {"type": "number"}
    assert given["header"]["schema"]["type"] == "boolean"
    assert all(each["description"] for each in given.values())
    assert {each["name"] for each in told["paths"]["/card"]["get"]["parameters"]} == set(
        Choice.__struct_fields__
    )
    assert told["paths"]["/files"]["post"]["requestBody"]["content"].keys() == {"application/octet-stream"}


def test_a_token_is_described_where_one_is_needed(client: Client, told: Any, tmp_path: Any) -> None:
    assert "securitySchemes" not in told["components"]
    with running(with_token(tmp_path, "t" * 40)) as guarded:
        described = guarded.get("/openapi.json").json()
        assert described["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
        for path, ways in described["paths"].items():
            needed = ways.get("get", {}).get("security")
            if needed is not None and "{" not in path:
                status = guarded.ask("GET", path, headers={"Authorization": ""}).status
                assert (status == 401) == (needed == [{"token": []}]), path


def test_all_methods_of_a_path_are_told(client: Client) -> None:
    reply = client.ask("OPTIONS", f"/jobs/{'A' * 22}")
    assert (reply.status, {"GET", "DELETE"} <= set(reply.headers["allow"].split(", "))) == (405, True)
