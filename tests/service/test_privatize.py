"""POST /privatize and /privatize/stream: good, bad, huge and hostile requests."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Keyed, Multivariate, Privatizer, Release
from deniable.embeddings.embedding import Embedding
from deniable.errors import RandomnessError
from deniable.noise.encoding import RecordId
from deniable.noise.key_file import write_new_key
from deniable.service.app import Service
from deniable.service.batching import Batcher
from deniable.service.messages import PrivatizeRequest
from deniable.service.settings import Limits
from deniable.words.released import ReleasedWords
from tests.service.running import JSON, NDJSON, Client, allowed, chunk, head_of, make_settings, running

PRIVATE = "zorblattsecret"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    settings = make_settings(
        tmp_path_factory.mktemp("service"),
        limits=Limits(request_bytes=20_000, texts=100),
        release=allowed(max_epsilon=8, mechanisms=("multivariate", "vickrey")),
    )
    with running(settings) as opened:
        yield opened


def test_a_text_comes_back_as_words_of_the_vocabulary_with_its_card(
    client: Client, vocabulary: set[str]
) -> None:
    reply = client.post("/privatize", text=f"my doctor said {PRIVATE}", words=True)
    assert reply.status == 200
    made = reply.json()
    assert len(made["words"][0]) == 4
    assert set(made["words"][0]) <= vocabulary
    assert made["spent_epsilon"] == [24.0]
    assert made["card"]["epsilon_per_word"] == 6.0
    assert PRIVATE not in reply.body.decode()


def test_texts_keep_their_order_and_missing_ones_stay_missing(client: Client) -> None:
    texts = ["one", None, "", "two words", "three words here"]
    made = client.post("/privatize", texts=texts, words=True).json()
    assert [len(words) for words in made["words"]] == [1, 0, 0, 2, 3]
    assert made["texts"][1:3] == [None, ""]
    assert made["spent_epsilon"] == [6.0, 0.0, 0.0, 12.0, 18.0]


def test_a_level_of_risk_stands_for_an_epsilon(client: Client) -> None:
    made = client.post("/privatize", text="the doctor", risk="low").json()
    assert made["card"]["epsilon_per_word"] == Release(risk="low").epsilon


def test_a_large_epsilon_keeps_words_and_a_small_one_does_not(client: Client) -> None:
    text = " ".join(["doctor"] * 300)
    kept = {
        epsilon: client.post("/privatize", text=text, epsilon=epsilon, words=True)
        .json()["words"][0]
        .count("doctor")
        for epsilon in (1, 8)
    }
    assert kept[1] < 30 < kept[8]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": 8.01}, "at most 8"),
        ({"risk": "low", "epsilon": 2}, "one of the two"),
        ({"risk": "lowest"}, "risk"),
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": -1}, "greater than 0"),
        ({"epsilon": "6"}, "epsilon"),
        ({"record_epsilon": 0}, "greater than 0"),
        ({"embedding": "glove"}, "allows default"),
        ({"embedding": "/etc"}, "allows default"),
        ({"mechanism": "custext"}, "allows multivariate"),
        ({"mechanism": "vickrey", "mechanism_options": {"t": 0.5}}, "not known"),
        ({"unknown": "pass"}, "not among those"),
        ({"keep_words": [PRIVATE]}, "does not let clients"),
        ({"seed": 5}, "not known"),
        ({"insecure_seed": 5}, "not known"),
        ({"randomness": 5}, "not known"),
        ({"key_file": "/etc/passwd"}, "not known"),
        ({PRIVATE: 1}, "not known"),
        ({"ids": ["1"]}, "ids"),
        ({"id": "1"}, "key"),
        ({"texts": ["a"]}, "one of text and texts"),
        ({"text": None}, "one of text and texts"),
        ({"text": 3}, "text"),
    ],
)
def test_what_is_not_allowed_is_refused_without_an_echo(
    client: Client, asked: dict[str, Any], said: str
) -> None:
    reply = client.post("/privatize", **{"text": PRIVATE, **asked})
    assert reply.status == 422
    assert said in reply.error
    assert PRIVATE not in reply.body.decode()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 5000, b'{"text": "a"} {"text": "b"}', b"null", b'"text"', b"[]"]
)
def test_what_is_no_message_is_refused(client: Client, body: bytes) -> None:
    assert client.ask("POST", "/privatize", body, JSON).status in (400, 422)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(PrivatizeRequest.__struct_fields__) | st.text(), inner)
    ),
    max_leaves=8,
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    content=st.dictionaries(st.sampled_from(PrivatizeRequest.__struct_fields__), JSON_VALUES) | JSON_VALUES,
    path=st.sampled_from(["/privatize", "/words", "/explain", "/decode"]),
)
def test_whatever_is_sent_is_answered_or_refused(client: Client, content: Any, path: str) -> None:
    reply = client.ask("POST", path, json.dumps(content).encode(), JSON)
    assert reply.status in (200, 400, 413, 422), reply.body
    assert reply.status == 200 or set(reply.json()) == {"error"}


@pytest.mark.parametrize("path", ["/privatize", "/files?name=rows.csv&column=text"])
@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "application/json; charset=latin-1",
    ],
)
def test_types_that_a_form_can_send_are_not_taken(client: Client, kind: str, path: str) -> None:
    reply = client.ask("POST", path, b'{"text": "a"}', {"Content-Type": kind} if kind else {})
    assert reply.status == 415


def test_a_compressed_body_is_refused(client: Client) -> None:
    assert client.ask("POST", "/privatize", b"x", {**JSON, "Content-Encoding": "gzip"}).status == 415


def test_too_much_is_refused_by_size_and_by_number(client: Client) -> None:
    assert client.post("/privatize", text="a" * 30_000).status == 413
    assert client.post("/privatize", texts=["a"] * 101).status == 413
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=600)
    connection.request(
        "POST", "/privatize", body=(b"a" * 1000 for _ in range(21)), headers=JSON, encode_chunked=True
    )
    assert connection.getresponse().status == 413
    connection.close()


def sent_until_held_back(opened: socket.socket, chunk: bytes, *, most: int) -> int:
    """Return how many bytes could be sent, of the same chunk again and again, until nothing more was
    taken."""
    sent, rest = 0, chunk
    try:
        while sent < most:
            taken = opened.send(rest)
            sent, rest = sent + taken, rest[taken:] or chunk
    except TimeoutError:
        pass
    return sent


def test_a_body_that_is_cut_off_releases_nothing(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port)) as half:
        half.sendall(head_of("/privatize", JSON, 100) + b'{"text": ')
    assert client.get("/health").status == 200


def test_an_unknown_word_stops_only_the_request_that_has_it(client: Client) -> None:
    with ThreadPoolExecutor(16) as pool:
        texts = [f"the {PRIVATE}" if i % 4 == 0 else "the doctor" for i in range(32)]
        replies = list(pool.map(lambda text: client.post("/privatize", text=text, unknown="error"), texts))
    assert [reply.status for reply in replies] == [422 if i % 4 == 0 else 200 for i in range(32)]
    assert all(PRIVATE not in reply.body.decode() for reply in replies)


def test_many_at_once_share_searches_and_get_their_own_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    search = Batcher.search

    def counted(self: Batcher, batch: Any) -> Any:
        sizes.append(len(batch))
        return search(self, batch)

    monkeypatch.setattr(Batcher, "search", counted)
    with running(make_settings(tmp_path)) as opened, ThreadPoolExecutor(24) as pool:
        lengths = [1 + i % 17 for i in range(300)]
        replies = list(
            pool.map(lambda n: opened.post("/privatize", text="fox " * n, words=True).json(), lengths)
        )
    assert [len(reply["words"][0]) for reply in replies] == lengths
    assert max(sizes) > 2, "nothing was put together"


def test_overload_is_answered_with_503_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, begun = threading.Event(), threading.Event()
    search = Batcher.search

    def slow(self: Batcher, batch: Any) -> Any:
        begun.set()
        assert go_on.wait(600)
        return search(self, batch)

    monkeypatch.setattr(Batcher, "search", slow)
    with running(make_settings(tmp_path, limits=Limits(requests=3))) as opened, ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(opened.post, "/privatize", text="fox") for _ in range(3)]
        assert begun.wait(600)
        while opened.get("/allowed").status != 503:
            pass
        refused = opened.post("/privatize", text="fox")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert opened.get("/health").status == 200
        go_on.set()
        assert [one.result().status for one in waiting] == [200, 200, 200]


def test_a_key_gives_the_words_that_it_gives_everywhere(tmp_path: Path) -> None:
    key = write_new_key(tmp_path / "key")
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as opened:
        texts: list[str | None] = ["the quick brown fox", "my doctor"]
        ids: list[RecordId] = ["a", 7]
        made = opened.post("/privatize", texts=texts, ids=ids).json()["texts"]
        again = [
            opened.post("/privatize", text=text, id=name).json()["text"]
            for text, name in zip(texts, ids, strict=True)
        ]
        assert opened.post("/privatize", text="the").status == 422
        assert opened.post("/privatize", texts=["a", "b"], ids=["x"]).status == 422
        assert opened.post("/privatize", texts=["a", "b"], ids=["x", "x"]).status == 422
        with ThreadPoolExecutor(
            8
        ) as pool:  # the same id in one batch, from several clients: each gets the words of its text
            together = list(
                pool.map(lambda _: opened.post("/privatize", text=texts[0], id="a").json()["text"], range(24))
            )
    here = Privatizer(Multivariate(Embedding.open(), epsilon=6), randomness=Keyed(key)).many(
        texts, record_ids=ids
    )
    assert made == again == here
    assert set(together) == {here[0]}


def test_policies_that_the_operator_set_cannot_be_turned_off(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("doctor\n")
    release = allowed(
        unknown="redact", punctuation="drop", keep_words=str(tmp_path / "kept"), record_epsilon=20
    )
    with running(make_settings(tmp_path, release=release)) as opened:
        made = opened.post("/privatize", text=f"the doctor, {PRIVATE}").json()
        assert made["text"].split()[1:] == ["doctor", "[redacted]"]
        assert made["card"]["epsilon_per_record"] == 20
        assert opened.post("/privatize", text="a", unknown="redact").status == 200
        refused: list[dict[str, Any]] = [
            {"unknown": "drop"},
            {"punctuation": "keep"},
            {"keep_words": ["hospital"]},
            {"record_epsilon": 21},
        ]
        less: list[dict[str, Any]] = [{"unknown": "perturb"}, {"case": "drop"}, {"keep_words": []}]
        for asked in less:
            assert opened.post("/privatize", text="a", **asked).status == 200, "it tells less"
        for asked in refused:
            assert opened.post("/privatize", text="a", **asked).status == 422
        assert opened.post("/privatize", text="a", record_epsilon=5).json()["card"]["epsilon_per_record"] == 5


def test_options_of_mechanisms_and_lists_of_clients_are_the_operators_choice(tmp_path: Path) -> None:
    release = allowed(mechanisms=("vickrey",), options={"vickrey": {"t": 0.25}}, client_keep_words=True)
    with running(make_settings(tmp_path, release=release)) as opened:
        made = opened.post("/privatize", text="the doctor", keep_words=["doctor"]).json()
        assert made["text"].split()[1] == "doctor"
        assert made["card"]["mechanism"]["options"]["t"] == 0.25
        refused = opened.post("/privatize", text="the doctor", keep_words=[f"{PRIVATE} two"])
        assert (refused.status, PRIVATE in refused.error) == (422, False)


def stream(client: Client, lines: list[bytes], query: str = "") -> list[dict[str, Any]]:
    reply = client.ask("POST", f"/privatize/stream{query}", b"\n".join(lines), NDJSON)
    assert reply.status == 200, reply.body
    assert reply.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in reply.body.splitlines()]


def test_a_stream_keeps_its_order(client: Client) -> None:
    lines = [json.dumps({"text": "fox " * (i % 7) if i % 5 else None}).encode() for i in range(1500)]
    made = stream(client, lines, "?epsilon=8")
    counts = [len(ids) for ids in ReleasedWords(Embedding.open()).ids(one["text"] for one in made)]
    assert counts == [i % 7 if i % 5 else 0 for i in range(1500)]
    assert [one["text"] is None for one in made] == [i % 5 == 0 for i in range(1500)]


def test_a_stream_answers_while_it_is_read(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        line = chunk(b'{"text": "the fox"}\n')
        opened.sendall(head_of("/privatize/stream", NDJSON) + line)
        seen = b""
        while seen.count(b'{"text"') < 1:
            seen += opened.recv(4096)
        opened.sendall(line)
        while seen.count(b'{"text"') < 2:
            seen += opened.recv(4096)
        opened.sendall(b"0\r\n\r\n")
        while not seen.endswith(b"0\r\n\r\n"):
            seen += opened.recv(4096)


def test_a_sender_that_does_not_read_is_held_back(client: Client) -> None:
    """Nothing is read that could not be sent on: the socket's buffers fill, and the sender waits."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=3) as opened:  # meant to run out
        opened.sendall(head_of("/privatize/stream", NDJSON))
        many = chunk(b'{"text": null}\n' * 4_000)
        assert sent_until_held_back(opened, many, most=200 << 20) < 100 << 20
    assert client.get("/health").status == 200


@pytest.mark.parametrize(
    "wrong",
    [b"{", b'{"txt": "a"}', b'{"text": 3}', b'{"text": "a", "id": "x"}', b'{"text": "' + b"a" * 30_000],
)
def test_a_wrong_line_ends_a_stream_after_all_lines_before_it(client: Client, wrong: bytes) -> None:
    good = [b'{"text": "the fox"}'] * 3
    made = stream(client, [*good, wrong, *good])
    assert [list(one) for one in made] == [["text"], ["text"], ["text"], ["error"]]


def stream_in_chunks(client: Client, chunks: list[bytes], query: str = "") -> list[dict[str, Any]]:
    """Return what a stream answers to chunks that are sent one after the other, each when the one before it
    was answered."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=600) as opened:
        opened.sendall(head_of(f"/privatize/stream{query}", NDJSON))
        seen = b""
        for i, content in enumerate(chunks):
            opened.sendall(chunk(content))
            lines = sum(each.count(b"\n") for each in chunks[: i + 1])
            while seen.count(b"}\n") < lines and b'{"error"' not in seen:
                seen += opened.recv(4096)
        if b'{"error"' not in seen:
            opened.sendall(b"0\r\n\r\n")
        while not seen.endswith(b"\r\n0\r\n\r\n"):
            more = opened.recv(4096)
            assert more, seen
            seen += more
    return [json.loads(line) for line in seen.partition(b"\r\n\r\n")[2].splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("second", ['"a"', "7"])
def test_a_keyed_stream_takes_no_id_for_two_texts(tmp_path: Path, together: bool, second: str) -> None:
    write_new_key(tmp_path / "key")
    first = '"7"' if second == "7" else second  # a number and its digits are one id
    texts = [("the house", first), ("the fox", '"b"'), ("the doctor", second)]
    chunks = [f'{{"text": "{text}", "id": {name}}}\n'.encode() for text, name in texts]
    chunks[2] = b"\n" + chunks[2]  # an empty line is counted
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as opened:
        made = stream_in_chunks(opened, [b"".join(chunks)] if together else chunks)
        assert [list(one) for one in made] == [["text"], ["text"], ["error"]]
        assert made[-1]["error"].startswith("line 4: the id names two texts")
        assert [list(one) for one in stream_in_chunks(opened, chunks[:2])] == [["text"]] * 2, (
            "another stream has ids of its own"
        )


@pytest.mark.parametrize("together", [True, False])
def test_an_unknown_word_ends_a_stream_after_all_lines_before_it(client: Client, together: bool) -> None:
    chunks = [
        b'{"text": "the fox"}\n',
        b'{"text": null}\n',
        f'\n{{"text": "the {PRIVATE}"}}\n'.encode(),
        b'{"text": "the fox"}\n',
    ]
    made = stream_in_chunks(client, [b"".join(chunks)] if together else chunks[:3], "?unknown=error")
    assert [list(one) for one in made] == [["text"], ["text"], ["error"]]
    assert made[1] == {"text": None}
    assert made[2]["error"].startswith("line 4, word 2: unknown")
    assert PRIVATE not in made[2]["error"]


def test_an_id_that_comes_again_much_later_is_said_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.noise.encoding.HELD", 4)
    write_new_key(tmp_path / "key")
    lines = [json.dumps({"text": None, "id": number % 1_100}).encode() for number in range(1_105)]
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as opened:
        made = stream(opened, lines)
    assert [list(one) for one in made] == [["text"]] * 1_105 + [["error"]]
    assert made[-1]["error"].startswith("lines ")


def test_users_of_a_consistent_key_may_come_again_in_a_stream(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    with running(
        make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key"), consistent=True))
    ) as opened:
        made = stream_in_chunks(opened, [b'{"text": "the fox", "id": "ann"}\n'] * 2)
    assert made[0] == made[1]


def test_a_query_that_is_not_allowed_is_refused(client: Client) -> None:
    for query in (
        "?epsilon=9",
        "?seed=1",
        "?epsilon=a",
        "?epsilon=1&epsilon=2",
        "?mechanism_options=1",
        "?keep_words=the",
    ):
        assert client.ask("POST", f"/privatize/stream{query}", b"", NDJSON).status == 422


@pytest.mark.parametrize(("error", "status"), [(RuntimeError(PRIVATE), 500), (RandomnessError(PRIVATE), 503)])
def test_what_fails_inside_is_logged_by_its_place_and_says_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    settings = make_settings(tmp_path)
    service = Service(settings)
    monkeypatch.setattr(Privatizer, "many", fail)
    with running(settings, service) as opened:
        reply = opened.post("/privatize", text=PRIVATE)
        assert (reply.status, "in the log" in reply.error, PRIVATE in reply.error) == (status, True, False)
        line = b'{"text": "the fox"}\n'
        if status == 500:  # a stream ends without its end: no client takes it for whole
            with pytest.raises(http.client.IncompleteRead):
                opened.ask("POST", "/privatize/stream", line, NDJSON)
        else:
            assert b"in the log" in opened.ask("POST", "/privatize/stream", line, NDJSON).body
    assert f"{type(error).__name__} at {__file__}:" in caplog.text
    assert PRIVATE not in caplog.text
