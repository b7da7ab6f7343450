"""Prompts: what a language model gets to see, what comes back, and that everything else is refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deniable import Embedding
from deniable.errors import InvalidParameter
from deniable.noise.key_file import write_new_key
from deniable.service.app import Service
from deniable.service.settings import Limits, Prompts, Settings, check_settings
from deniable.words.released import ReleasedWords
from tests.service.running import JSON, Client, allowed, make_settings, running
from tests.service.upstream import Model, serving_model

SECRET = "zorblattsecret"
QUESTION = f"my doctor said that {SECRET} is bad for the heart and that I should rest"
WITH_NAMES = "Anna Kowalska (anna.k@corp.com, 555-014-2277) asks whether the soup is cold"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with serving_model() as opened:
        yield opened


def settings_for(folder: Path, model: Model | None = None, **prompts: Any) -> Settings:
    given = Prompts(upstream=None if model is None else model.address, **prompts)
    return msgspec.structs.replace(make_settings(folder), prompts=given)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[Client]:
    with running(settings_for(tmp_path_factory.mktemp("prompts"), model)) as opened:
        yield opened


@pytest.fixture(scope="module")
def naming(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[Client]:
    """A service that replaces identifiers."""
    with running(settings_for(tmp_path_factory.mktemp("naming"), model, identifiers="shape")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _as_before(model: Model) -> Iterator[None]:
    before = dict(vars(model))
    yield
    vars(model).update(before)


def user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


def chat(client: Client, *messages: dict[str, Any], name: str = "", **more: Any) -> Any:
    body = json.dumps({"model": "m", "messages": messages, **more}).encode()
    headers = {**JSON, **({"X-Deniable-Conversation": name} if name else {})}
    return client.ask("POST", "/v1/chat/completions", body, headers)


def drawn(released: str) -> int:
    """Return the number of released words; a clitic is written to the word before it."""
    return ReleasedWords(Embedding.open()).drawn(released)


def guard(client: Client, *texts: str, **more: Any) -> Any:
    return client.post("/guardrail", input_type="request", texts=texts, **more).json()


def test_a_model_gets_other_words_and_its_answer_comes_back(client: Client, model: Model) -> None:
    reply = chat(client, user(QUESTION), temperature=0.5, user="somebody")
    assert reply.status == 200
    sent = model.asked[-1]
    assert sent.keys() == {"model", "messages", "temperature"}
    words = sent["messages"][0]["content"].split()
    assert drawn(sent["messages"][0]["content"]) == len(QUESTION.split())
    assert SECRET not in words
    assert words != QUESTION.split()
    assert reply.json()["choices"][0]["message"]["content"] == f"You said: {' '.join(words)}"
    assert reply.headers["x-deniable-relaxations"] == "conversation"


def test_fifty_turns_send_the_same_history_each_time(client: Client, model: Model) -> None:
    history: list[dict[str, Any]] = []
    sent: list[list[dict[str, Any]]] = []
    for turn in range(50):
        history.append(user("yes" if turn % 3 else f"and what about {SECRET} number {turn}, my doctor"))
        answer = chat(client, *history, name="c1").json()["choices"][0]["message"]
        sent.append(model.asked[-1]["messages"])
        history.append(answer)
    for turn, messages in enumerate(sent):
        assert json.dumps(messages) == json.dumps(sent[-1][: 2 * turn + 1])
    said_yes = {sent[-1][2 * turn]["content"] for turn in range(50) if turn % 3}
    assert len(said_yes) > 10, "equal messages of one history are drawn apart"


def test_a_history_whose_start_is_dropped_is_not_drawn_again(client: Client, model: Model) -> None:
    history = [user(f"{QUESTION} and so on, part {i}") for i in range(6)]
    chat(client, *history, name="c2")
    chat(client, *history[3:], name="c2")
    whole, rest = (asked["messages"] for asked in model.asked[-2:])
    assert rest == whole[3:]


def test_conversations_are_drawn_apart(client: Client, model: Model) -> None:
    for name, who in (("a", ""), ("b", ""), ("", "a"), ("", "b"), ("a", "b")):
        chat(client, user(QUESTION), name=name, user=who)
    assert len({asked["messages"][0]["content"] for asked in model.asked[-5:]}) == 5


@pytest.mark.parametrize("keyed", [True, False])
def test_a_history_outlives_the_service_with_a_key_alone(tmp_path: Path, model: Model, keyed: bool) -> None:
    write_new_key(tmp_path / "key")
    given = settings_for(tmp_path, model)
    if keyed:
        given = msgspec.structs.replace(given, release=allowed(key_file=str(tmp_path / "key")))
    for _ in range(2):
        with running(given) as opened:
            assert chat(opened, user(QUESTION)).status == 200
    first, second = (asked["messages"] for asked in model.asked[-2:])
    assert (first == second) == keyed


OTHER_MESSAGES = {
    "an image": user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]),
    "an image beside text": user([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {}}]),
    "a sound": user([{"type": "input_audio", "input_audio": {"data": "AA"}}]),
    "a file": user([{"type": "file", "file": {"file_data": "AA"}}]),
    "a text with more": user([{"type": "text", "text": "a", "more": SECRET}]),
    "a part that is text": user([SECRET]),
    "a call of a tool": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"arguments": SECRET}}],
    },
    "a call of a function": {"role": "assistant", "content": None, "function_call": {"arguments": SECRET}},
    "a name": {**user("a"), "name": SECRET},
    "a refusal": {"role": "assistant", "content": None, "refusal": SECRET},
}
OTHER_FIELDS: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "f", "description": SECRET}}],
    "metadata": {"a": SECRET},
    "stop": [SECRET],
    "prediction": {"type": "content", "content": SECRET},
    "response_format": {"type": "json_schema", "json_schema": {"name": SECRET}},
    "temperature": SECRET,
    "reasoning_effort": {"a": SECRET},
    "unheard_of": SECRET,
}


@pytest.mark.parametrize("what", OTHER_MESSAGES)
def test_what_is_no_text_is_refused_and_nothing_is_sent(client: Client, model: Model, what: str) -> None:
    before = len(model.bodies)
    reply = chat(client, user("a word"), OTHER_MESSAGES[what])
    assert (reply.status, SECRET in reply.error) == (422, False)
    blocked = guard(client, "a word", structured_messages=[user("a word"), OTHER_MESSAGES[what]])
    assert (blocked["action"], "texts" in blocked) == ("BLOCKED", False)
    assert len(model.bodies) == before


@pytest.mark.parametrize("field", OTHER_FIELDS)
def test_fields_that_may_hold_text_are_refused(client: Client, model: Model, field: str) -> None:
    before = len(model.bodies)
    reply = chat(client, user("a word"), **{field: OTHER_FIELDS[field]})
    assert (reply.status, SECRET in reply.error, len(model.bodies)) == (422, False, before)


@pytest.mark.parametrize(
    "field", [{"images": ["http://x"]}, {"tools": [{"type": "function"}]}, {"tool_calls": [{"function": {}}]}]
)
def test_a_guardrail_blocks_what_it_cannot_read(client: Client, field: dict[str, Any]) -> None:
    assert guard(client, "a word", **field)["action"] == "BLOCKED"


def test_an_operator_may_let_other_content_pass_but_no_text(tmp_path: Path, model: Model) -> None:
    with running(settings_for(tmp_path, model, other_content="pass")) as opened:
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
        reply = chat(opened, {**user([{"type": "text", "text": SECRET}, image]), "name": "n"}, stop=["x"])
        assert reply.status == 200
        assert reply.headers["x-deniable-relaxations"] == "conversation, other-content"
        assert guard(opened, SECRET, images=["http://x"])["action"] == "GUARDRAIL_INTERVENED"
    sent = model.asked[-1]
    assert (sent["stop"], sent["messages"][0]["name"], sent["messages"][0]["content"][1]) == (
        ["x"],
        "n",
        image,
    )
    assert SECRET.encode() not in model.bodies[-1]


def test_roles_that_the_operator_names_are_released_as_they_are(tmp_path: Path, model: Model) -> None:
    with running(settings_for(tmp_path, model, plain_roles=("system",))) as opened:
        answer = chat(opened, {"role": "system", "content": "Be brief!"}, user(SECRET))
        said = [{"role": "system", "content": "Be brief!"}, user(SECRET)]
        reply = guard(opened, "Be brief!", SECRET, structured_messages=said)
        others = guard(opened, "Be brief!", SECRET, structured_messages=said[:1])["texts"]
    system, asked = (each["content"] for each in model.asked[-1]["messages"])
    assert (system, SECRET in asked) == ("Be brief!", False)
    assert (reply["texts"][0], SECRET in reply["texts"][1]) == ("Be brief!", False)
    assert reply["spent_epsilon"] == [None, 6.0], "nothing was drawn for the first"
    assert any("system" in each for each in reply["relaxations"])
    assert answer.headers["x-deniable-relaxations"] == "conversation, plain-roles"
    assert others[0] != "Be brief!", "who said what is not known"


def test_a_guardrail_releases_texts_and_says_what_it_discloses(client: Client) -> None:
    reply = guard(client, QUESTION, "a word", request_data={"user_api_key_hash": "h"})
    assert reply["action"] == "GUARDRAIL_INTERVENED"
    assert [drawn(text) for text in reply["texts"]] == [len(QUESTION.split()), 2]
    assert SECRET not in reply["texts"][0]
    assert reply["spent_epsilon"] == [6.0 * len(QUESTION.split()), 12.0]
    assert reply["relaxations"]
    again = guard(client, QUESTION, "a word", request_data={"user_api_key_hash": "h"})
    assert again["texts"] == reply["texts"]
    assert guard(client, QUESTION, request_data={"user_api_key_hash": "g"})["texts"] != reply["texts"][:1]


def test_an_answer_passes_a_guardrail_as_it_is_without_identifiers(client: Client) -> None:
    reply = client.post("/guardrail", input_type="response", texts=["an answer"], request_data={})
    assert reply.json() == {"action": "NONE"}


@pytest.mark.parametrize("stream", [False, True])
def test_identifiers_get_stand_ins_and_come_back(naming: Client, model: Model, stream: bool) -> None:
    model.answer = lambda asked: f"{asked['messages'][-1]['content']} Ruthlessly."
    reply = chat(naming, user(WITH_NAMES), stream=stream)
    sent = model.asked[-1]["messages"][0]["content"]
    assert reply.headers["x-deniable-relaxations"] == "conversation, identifiers"
    if stream:
        events = [line[6:] for line in reply.body.decode().splitlines() if line.startswith("data: {")]
        deltas = [json.loads(each)["choices"][0]["delta"] for each in events]
        answer = "".join(delta.get("content", "") for delta in deltas)
        assert reply.body.endswith(b"data: [DONE]\n\n")
    else:
        answer = reply.json()["choices"][0]["message"]["content"]
    for each in ("Anna", "Kowalska", "anna.k@corp.com", "555-014-2277"):
        assert each not in sent
        assert each in answer
    assert answer.endswith(" Ruthlessly.")
    assert len(answer.split()) == len(sent.split()) + 1


def test_a_guardrail_puts_identifiers_back_for_its_own_call(naming: Client) -> None:
    asked = guard(naming, WITH_NAMES, litellm_call_id="call-1")
    assert any("identifiers" in each for each in asked["relaxations"])
    name = asked["texts"][0].split()[0]
    reply = naming.post(
        "/guardrail", input_type="response", texts=[f"Dear {name}, {name[:2]}"], litellm_call_id="call-1"
    ).json()
    assert reply["texts"] == [f"Dear Anna, {name[:2]}"]
    assert reply["stream_holdback_chars"] == [2]
    other = naming.post("/guardrail", input_type="response", texts=[name], litellm_call_id="call-2").json()
    assert other["action"] == "BLOCKED"


FAULTS: dict[str, tuple[int, bytes | None, int]] = {
    "a wrong key": (401, None, 502),
    "too many requests": (429, None, 429),
    "a refusal": (400, None, 422),
    "an error": (500, None, 502),
    "a redirection": (302, None, 502),
    "an answer that is no JSON": (200, b"<html>", 502),
}


@pytest.mark.parametrize("what", FAULTS)
def test_errors_of_the_upstream_are_told_without_its_words(client: Client, model: Model, what: str) -> None:
    model.status, model.raw, expected = FAULTS[what]
    assert chat(client, user("a word")).status == expected
    model.status, model.raw = 200, None
    assert chat(client, user("a word")).status == 200


def test_an_upstream_that_is_not_there_is_an_error(tmp_path: Path, model: Model) -> None:
    gone = Model()
    gone.address = "http://127.0.0.1:9/v1"
    with running(settings_for(tmp_path, gone)) as opened:
        assert chat(opened, user("a word")).status == 502
    with running(settings_for(tmp_path)) as opened:
        assert chat(opened, user("a word")).status == 503


def test_the_key_of_the_upstream_is_the_operators(tmp_path: Path, model: Model) -> None:
    (tmp_path / "key").write_text("sk-of-the-operator")
    (tmp_path / "key").chmod(0o600)
    with running(settings_for(tmp_path, model, upstream_key_file=str(tmp_path / "key"))) as opened:
        body = json.dumps({"model": "m", "messages": [user("a")]}).encode()
        given = {
            **JSON,
            "Authorization": "Bearer sk-of-a-client",
            "X-Api-Key": "k",
            "OpenAI-Organization": "o",
        }
        assert opened.ask("POST", "/v1/chat/completions", body, given).status == 200
    assert model.headers[-1]["authorization"] == "Bearer sk-of-the-operator"
    assert not {"x-api-key", "openai-organization"} & set(model.headers[-1])


WRONG: dict[str, Any] = {
    "no messages": {"model": "m", "messages": []},
    "no model": {"messages": [{"role": "user", "content": "a"}]},
    "a model with words": {"model": "a b", "messages": [{"role": "user", "content": "a"}]},
    "a role that is not known": {"model": "m", "messages": [{"role": SECRET, "content": "a"}]},
    "content that is a number": {"model": "m", "messages": [{"role": "user", "content": 7}]},
    "a message that is none": {"model": "m", "messages": [SECRET]},
    "nothing": {},
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_chat_is_refused(client: Client, what: str) -> None:
    reply = client.post("/v1/chat/completions", **WRONG[what])
    assert (reply.status, SECRET in reply.error) == (422, False)


def test_hostile_and_huge_prompts_are_refused_or_released(client: Client, model: Model) -> None:
    deep: Any = SECRET
    for _ in range(400):
        deep = [deep]
    assert chat(client, user(deep)).status == 422
    assert client.ask("POST", "/guardrail", b'{"a": ' + b"[" * 100_000, JSON).status == 400
    assert (
        client.ask("POST", "/guardrail", b'{"input_type": "request", "texts": ["\xff"]}', JSON).status == 400
    )
    assert chat(client, user("word " * 300_000)).status == 413
    assert chat(client, user("word " * 100_000)).status == 200
    assert chat(client, *[user("")] * 5_000).status == 200
    assert chat(client, user("a"), name="n" * 2_000).status == 422
    assert chat(client, user("\ud800 \x00")).status in (200, 400)


def test_too_many_identifiers_are_refused(naming: Client, model: Model) -> None:
    before = len(model.bodies)
    many = " and ".join(f"555-{number:04}-{number:04}" for number in range(1_500))
    assert chat(naming, user(many)).status == 413
    assert guard(naming, many)["action"] == "BLOCKED"
    assert len(model.bodies) == before


def test_concurrent_conversations_keep_their_own_words(naming: Client, model: Model) -> None:
    def ask(number: int) -> tuple[str, str]:
        reply = chat(naming, user(f"my doctor said 555-{number:03}-2277 to me"), name=f"c{number % 8}")
        assert reply.status == 200
        return f"555-{number:03}-2277", reply.json()["choices"][0]["message"]["content"]

    with ThreadPoolExecutor(16) as pool:
        for number, answer in pool.map(ask, range(64)):
            assert number in answer
            assert answer.count("555-") == 1


def test_nothing_of_a_prompt_is_logged_or_counted(
    tmp_path: Path, model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with running(settings_for(tmp_path, model, identifiers="shape")) as opened:
        chat(opened, user(f"{SECRET} {WITH_NAMES}"), name=SECRET)
        guard(opened, SECRET, litellm_call_id=SECRET)
        model.raw = SECRET.encode()
        chat(opened, user(SECRET))
        metrics = opened.get("/metrics").body.decode()
    logged = caplog.text + metrics
    assert 'route="/guardrail"' in metrics
    assert not any(each in logged for each in (SECRET, "Kowalska", "555-014-2277"))


@pytest.mark.parametrize(
    ("prompts", "more"),
    [
        ({"upstream": "ftp://x"}, {}),
        ({"upstream": "https://me:secret@x/v1"}, {}),
        ({"upstream": "http://api.example/v1", "upstream_key_file": "key"}, {}),
        ({"identifiers": "shape"}, {"workers": 2}),
        ({"identifiers": "shape"}, {"record_epsilon": 3.0}),
        ({"upstream_key_file": "nowhere"}, {}),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    tmp_path: Path, prompts: dict[str, Any], more: dict[str, Any]
) -> None:
    (tmp_path / "key").write_text("k")
    (tmp_path / "key").chmod(0o600)
    if "upstream_key_file" in prompts:
        prompts = {**prompts, "upstream_key_file": str(tmp_path / prompts["upstream_key_file"])}
    workers = {"workers": more["workers"]} if "workers" in more else {}
    release = allowed(**{name: value for name, value in more.items() if name != "workers"})
    given = msgspec.structs.replace(
        make_settings(tmp_path, release=release, **workers), prompts=Prompts(**prompts)
    )
    with pytest.raises(InvalidParameter):
        check_settings(given)


def test_an_overloaded_service_sends_no_prompt(tmp_path: Path, model: Model) -> None:
    before = len(model.bodies)
    given = settings_for(tmp_path, model)
    given = msgspec.structs.replace(given, limits=Limits(requests=1, seconds=0.000001))
    service = Service(given)
    with running(given, service) as opened:
        assert chat(opened, user(QUESTION)).status in (408, 503)
        assert opened.post("/guardrail", input_type="request", texts=[QUESTION]).status in (200, 408, 503)
    assert len(model.bodies) == before
