"""Replies over HTTP tell no two private texts of the same public shape apart, whatever way they take."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.mechanisms.grid import Grid
from deniable.mechanisms.softmax import Softmax
from deniable.noise.key_file import write_new_key
from deniable.release.conversation import Conversations
from deniable.service.batching import Batcher
from deniable.service.job_folder import JobFolder, State, StateFile
from deniable.service.jobs import JobStore
from deniable.service.messages import Choice
from deniable.service.releases import Releases
from deniable.service.rules import Prepared, Rules
from deniable.service.settings import Allowed as ServiceAllowed
from deniable.service.settings import Limits as ServiceLimits
from deniable.service.settings import Prompts
from tests.noninterference.releasing_both import LISTED_OR_UNKNOWN
from tests.service.running import OCTETS, Client, Reply, make_settings, running
from tests.service.upstream import serving_model
from tests.support.private_pairs import (
    NEVER_RELEASED,
    POLICIES,
    Pair,
    check_shape,
    embedding,
    pairs,
    spread_out,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


TAKE = Batcher.take
HTTP_POLICIES = {name: policy for name, policy in POLICIES.items() if name != "error"}


def answers_over_http(client: Client, texts: list[str | None], policy: dict[str, Any]) -> list[Any]:
    """Return all that the service sends for texts: status, headers and bytes of every reply, cut into chunks
    as they came.

    And what it counts meanwhile, but for how long things take.
    """
    before = counted(client)
    ids = [f"r{i}" for i in range(len(texts))]
    lists: dict[str, Any] = {
        name: ",".join(policy[name]) for name in ("keep_words", "never_release") if name in policy
    }
    choice = {**policy, **lists}
    lines = [json.dumps({"text": text, "id": one}).encode() for text, one in zip(texts, ids, strict=True)]
    rows = b"".join(
        json.dumps({"id": one, "text": text}).encode() + b"\n" for text, one in zip(texts, ids, strict=True)
    )
    check = client.ask("POST", "/check?name=rows.jsonl", rows, OCTETS)
    whole = client.post("/privatize", texts=texts, ids=ids, words=True, **policy)
    one = client.post("/privatize", text=texts[0] or "", id="r0", **policy)
    streamed = chunks_of(client, f"/privatize/stream?{urlencode(choice)}", b"\n".join(lines))
    file = client.upload(
        rows, name="rows.jsonl", column="text", keep="id", record_id="id", wait=600, **choice
    )
    assert (whole.status, one.status, file.status) == (200, 200, 200), (whole.body, one.body, file.body)
    # What was found in the file goes to its sender, as the receipt does; all else of that reply is the same.
    assert [column["name"] for column in check.json()["columns"]] == ["id", "text"]
    check = Reply(check.status, without(check.headers, {"content-length"}), b"")
    job = file.headers["location"]
    messages = [{"role": "user", "content": text or ""} for text in texts]
    said = [message["content"] for message in messages]
    seen: list[Any] = [
        check,
        whole,
        one,
        streamed,
        file,
        client.get(job),
        client.get(f"{job}/card"),
        client.ask("DELETE", job),
        client.post("/guardrail", input_type="request", texts=said, structured_messages=messages),
        client.post("/v1/chat/completions", model="m", messages=messages),
    ]
    assert (seen[-2].json()["action"], seen[-1].status) == ("GUARDRAIL_INTERVENED", 200)
    private = {"date", "etag", "last-modified", "location"}  # when it was, and a random name
    kept: list[Any] = [
        each if isinstance(each, list) else {**vars(each), "headers": without(each.headers, private)}
        for each in seen
    ]
    told = json.loads(kept[5].pop("body"))
    after = counted(client, total=sum(before.values()) + len(seen))
    more = {name: value - before.get(name, 0.0) for name, value in after.items()}
    return [*kept, without(told, {"id", "deleted_at"}), json.loads(kept[6].pop("body")), more]


def counted(client: Client, total: float | None = None) -> dict[str, float]:
    """Return what the service counts of all but this. A request is counted once its reply is out: ``total``
    is waited for."""
    until = time.monotonic() + 600
    while True:
        lines = [
            line.rsplit(" ", 1)
            for line in client.get("/metrics").body.decode().splitlines()
            if not line.startswith("#")
        ]
        found = {name: float(value) for name, value in lines if "_total" in name and "/metrics" not in name}
        if total is None or sum(found.values()) >= total or time.monotonic() > until:
            return found


def without(values: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def chunks_of(client: Client, path: str, body: bytes) -> list[bytes]:
    """Return the reply of a stream as it was cut into chunks of HTTP."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            f"application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        opened.sendall(head.encode() + body)
        seen = b""
        while not seen.endswith(b"0\r\n\r\n"):
            part = opened.recv(1 << 16)
            assert part, seen[-200:]
            seen += part
    return [line for line in seen.split(b"\r\n") if not line.startswith(b"date:")]


@pytest.fixture
def served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Client]:
    """A service that draws from a key, over the small embedding of these tests; with a parameter, one with a
    list of words."""
    monkeypatch.setattr(Embedding, "open", lambda *_: embedding())
    write_new_key(tmp_path / "key")
    (tmp_path / "never.txt").write_text("\n".join(NEVER_RELEASED), encoding="utf-8")
    never = (str(tmp_path / "never.txt"),) if getattr(request, "param", False) else ()
    release = ServiceAllowed(
        epsilon=2.0, key_file=str(tmp_path / "key"), client_keep_words=True, never_release=never
    )
    given = make_settings(tmp_path, release=release, limits=ServiceLimits(request_bytes=1 << 26))
    with serving_model() as model:
        model.answer = json.dumps  # so that a reply shows what was sent
        with running(msgspec.structs.replace(given, prompts=Prompts(upstream=model.address))) as client:
            yield client


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=pairs(), policy=st.sampled_from(sorted(HTTP_POLICIES)))
def test_replies_over_http_are_the_same_for_texts_of_the_same_shape(
    served: Client, pair: Pair, policy: str
) -> None:
    check_shape(pair, HTTP_POLICIES[policy])
    left, right = (
        answers_over_http(served, texts, HTTP_POLICIES[policy]) for texts in (pair.left, pair.right)
    )
    for first, second in zip(left, right, strict=True):
        same = first == second
        assert same, "a reply tells two texts apart"


@pytest.mark.parametrize("served", [True], indirect=True)
@pytest.mark.parametrize(
    "policy", [{}, {"unknown": "redact"}, {"unknown": "drop", "keep_words": ["the", "fox"]}]
)
def test_replies_over_http_do_not_tell_listed_words_from_unknown_ones(
    served: Client, policy: dict[str, Any]
) -> None:
    sides = LISTED_OR_UNKNOWN.left[:4], LISTED_OR_UNKNOWN.right[:4]
    left, right = (answers_over_http(served, texts, policy) for texts in sides)
    assert left == right


def test_long_words_do_not_show_over_http(served: Client) -> None:
    pair = spread_out(200, long_words=3, length=60_000)
    left, right = (answers_over_http(served, texts, {}) for texts in (pair.left, pair.right))
    same = left == right
    assert same


def test_a_decision_over_http_hands_over_the_same(served: Client) -> None:
    seen = []
    for unknown in ("qwxyz", "kowalczykowskimartinez"):
        rows = [f"{i},the {unknown} fox saw the king and the queen" for i in range(40)]
        content = "\n".join(["id,text", *rows]).encode()
        roles: dict[str, Any] = {"column": "text", "keep": "id", "record_id": "id"}
        asked: dict[str, Any] = {"name": "rows.csv", "decision": "changes", "epsilon": 0.05, **roles}
        job = served.upload(content, **asked).headers["location"]
        told = served.wait_for(job.rpartition("/")[2])
        assert told["state"] == "done", told["error"]
        page = served.get(f"{job}/decision").body.decode()
        assert unknown in page, "it is private, and not what may be handed over"
        ways = [served.get(f"{job}/{name}") for name in ("output", "card")]
        headers = [without(each.headers, {"date", "etag", "last-modified"}) for each in ways]
        seen.append([without(told, {"id", "deleted_at"}), headers, [each.body for each in ways]])
        assert served.ask("DELETE", job).status == 204
    assert seen[0] == seen[1]


async def lines_as_they_arrived(self: Releases, request: Any, prepared: Prepared) -> AsyncIterator[bytes]:
    async for lines in self.groups(request):
        read = [json.loads(line) for _, line in lines]
        released = await self.release(prepared, [one["text"] for one in read], [one["id"] for one in read])
        yield b"".join(json.dumps({"text": text}).encode() + b"\n" for text in released)


def end_with_the_size(self: JobStore, job: JobFolder, state: State, error: str | None = None) -> None:
    job.note(StateFile(state=state, error=error, done=job.input(job.asked).stat().st_size, ended=1.0))


def take_and_count_searches(self: Batcher, queue: Any) -> Any:
    taken = TAKE(self, queue)
    if taken and self.shared is not None:
        self.shared(1)
    return taken


HTTP_MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "prompts that are told by their spelling": (Conversations, "words", lambda _, text: text.encode()),
    "how many searches were made": (Batcher, "take", take_and_count_searches),
    "lines that are sent as they arrived": (Releases, "lines", lines_as_they_arrived),
    "the size of the input of a job that is done": (JobStore, "end", end_with_the_size),
}


@pytest.mark.parametrize("mutant", HTTP_MUTANTS)
def test_replies_that_depend_on_private_length_are_noticed(
    served: Client, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*HTTP_MUTANTS[mutant])
    pair = spread_out(150, long_words=3, length=60_000)
    left, right = (answers_over_http(served, texts, {}) for texts in (pair.left, pair.right))
    same = left == right
    assert not same


@pytest.mark.parametrize("mechanism", ["santext", "santext-plus", "tem"])
@pytest.mark.parametrize("forgets", [True, False])
def test_the_work_for_a_word_does_not_tell_who_else_sent_it(
    mechanism: str, forgets: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not forgets:
        monkeypatch.setattr(Softmax, "remember_nothing", lambda _: None)
    listed: dict[str, dict[str, float | int | str | list[str]]] = {
        "santext-plus": {"sensitive": ["king", "queen"]}
    }
    release = ServiceAllowed(mechanisms=(mechanism,), options=listed, never_release=())
    rules = Rules(make_settings(tmp_path, release=release))
    private = rules.prepare(rules.release(Choice(epsilon=2.0))).private
    looked_at: list[int] = []
    to_all = Grid.to_all

    def count(grid: Grid, ids: Ids) -> Floats:
        looked_at.append(len(ids))
        return to_all(grid, ids)

    monkeypatch.setattr(Grid, "to_all", count)
    private.many(["king"])
    looked_at.clear()
    private.many(["king"])
    sent_before = sum(looked_at)
    looked_at.clear()
    private.many(["queen"])
    assert (sent_before == sum(looked_at)) == forgets
