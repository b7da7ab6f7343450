"""Who may ask, and what every reply carries."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from starlette.types import Message, Receive, Scope, Send

from deniable.errors import InvalidParameter
from deniable.release.fields import FIELDS
from deniable.service import guard, server
from deniable.service.messages import Choice
from deniable.service.metrics import Metrics
from deniable.service.settings import Limits, Server, Settings
from tests.service.running import JSON, Client, Process, allowed, make_settings, running, settings_with_token

TOKEN = "0123456789abcdef" * 4


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(settings_with_token(tmp_path_factory.mktemp("service"), TOKEN)) as opened:
        yield opened


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(make_settings(tmp_path_factory.mktemp("service"))) as opened:
        yield opened


WRONG = [
    "",
    "Bearer",
    f"Basic {TOKEN}",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}x",
    "Bearer ",
    f"bearer{TOKEN}",
    "Bearer \xe9",
]


@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize(
    "path", ["/allowed", "/metrics", "/jobs/x", "/openapi.json", "/nothing", "/health/", "//"]
)
def test_without_the_token_nothing_is_served(client: Client, path: str, given: str) -> None:
    reply = client.ask("GET", path, headers={"Authorization": given})
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert TOKEN not in reply.body.decode()


def test_with_the_token_all_is_served_and_the_page_and_health_without(client: Client) -> None:
    assert client.get("/allowed").status == 200
    assert client.ask("GET", "/allowed", headers={"Authorization": f"bearer {TOKEN}"}).status == 200
    for path in ("/", "/health", "/ready"):
        assert client.ask("GET", path, headers={"Authorization": ""}).status == 200


def test_the_token_is_compared_in_constant_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of the comparison have one length, whatever is given, and hmac compares them."""
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return bool(compare(one, other))

    monkeypatch.setattr(hmac, "compare_digest", noted)
    for given in ("Bearer a", f"Bearer {TOKEN}", "", f"Bearer {'x' * 5000}"):
        client.ask("GET", "/allowed", headers={"Authorization": given})
    assert compared == [(32, 32)] * 4


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil:1", "", "0.0.0.0"]
)
def test_a_name_that_points_here_from_elsewhere_is_not_served(local: Client, host: str) -> None:
    reply = local.ask("GET", "/allowed", headers={"Host": host})
    assert reply.status == 400


def test_probes_are_answered_by_any_name(local: Client) -> None:
    for path in ("/health", "/ready"):
        assert local.ask("GET", path, headers={"Host": "10.0.0.7:8000"}).json() == {"status": "ok"}


def test_a_service_with_names_is_called_by_them_only(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    settings = make_settings(
        tmp_path, host="0.0.0.0", token_file=str(tmp_path / "token"), hosts=("deniable.example",)
    )
    with running(settings) as opened:
        statuses = [
            opened.ask("GET", "/allowed", headers={"Host": host}).status
            for host in ("deniable.example:8000", "127.0.0.1", "evil")
        ]
    assert statuses == [200, 400, 400]


def test_the_names_of_this_machine_are_served(local: Client) -> None:
    for host in (f"localhost:{local.port}", "127.0.0.1", f"[::1]:{local.port}"):
        assert local.ask("GET", "/allowed", headers={"Host": host}).status == 200


def test_pages_of_other_sites_are_not_served(local: Client) -> None:
    for origin in ("https://evil.example", "null", f"http://localhost:{local.port + 1}"):
        asked = {**JSON, "Origin": origin, "Host": f"localhost:{local.port}"}
        reply = local.ask("POST", "/privatize", b'{"text": "a"}', asked)
        assert reply.status == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]
        assert local.ask("OPTIONS", "/privatize", headers=asked).status == 403
    own = {**JSON, "Origin": f"http://localhost:{local.port}", "Host": f"localhost:{local.port}"}
    assert local.ask("POST", "/privatize", b'{"text": "a"}', own).status == 200


def test_a_service_on_another_loopback_address_is_called_by_it(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, host="127.0.0.2")) as opened:
        hosts = (f"127.0.0.2:{opened.port}", "localhost", "127.0.0.3", "evil.example")
        statuses = [opened.ask("GET", "/allowed", headers={"Host": host}).status for host in hosts]
    assert statuses == [200, 200, 400, 400]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_are_not_served_what_browsers_get_without_an_origin(
    local: Client, site: str
) -> None:
    asked = {"Sec-Fetch-Site": site}
    for path in ("/allowed", "/explain/doctor", "/card", "/openapi.json", "/jobs/x", "/metrics"):
        reply = local.ask("GET", path, headers=asked)
        assert (reply.status, "other sites" in reply.error) == (403, True)
    assert local.ask("GET", "/", headers=asked).status == 200, "a link to the page may stand anywhere"
    for own in ("same-origin", "none"):
        assert local.ask("GET", "/allowed", headers={"Sec-Fetch-Site": own}).status == 200


def test_a_reply_that_is_not_read_gives_its_place_back(tmp_path: Path) -> None:
    """Whatever sends it: a text, a stream or a file."""
    sent: list[Message] = []

    async def endless(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def send_to_nobody(message: Message) -> None:
        sent.append(message)
        await asyncio.sleep(0 if len(sent) < 5 else 3600)

    async def receive_nothing() -> Message:
        return {"type": "http.request"}

    settings = make_settings(tmp_path, limits=Limits(seconds=0.2))
    guarded = guard.Guard(endless, settings=settings, token=None, public=frozenset(), metrics=Metrics())
    scope = {"type": "http", "method": "GET", "path": "/allowed", "headers": [(b"host", b"localhost")]}

    async def ask() -> None:
        async with asyncio.timeout(600):
            await guarded(scope, receive_nothing, send_to_nobody)

    with pytest.raises(ConnectionAbortedError, match="not read"):
        asyncio.run(ask())
    assert guarded._running == 0
    assert len(sent) == 5


def test_every_reply_has_the_headers_and_no_permission_for_others(local: Client) -> None:
    replies = [
        local.get("/"),
        local.get("/nothing"),
        local.post("/privatize", text="a"),
        local.post("/privatize"),
        local.get("/privatize"),
    ]
    assert [reply.status for reply in replies] == [200, 404, 200, 422, 405]
    for reply in replies:
        for name, value in guard.HEADERS.items():
            assert reply.headers[name.lower()] == value
        assert "server" not in reply.headers
        assert not [name for name in reply.headers if name.startswith("access-control")]
    policy = guard.HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_a_request_may_set_the_fields_of_a_release_that_are_a_clients() -> None:
    assert set(Choice.__struct_fields__) == {field.name for field in FIELDS.values() if field.by_client}


def test_metrics_count_routes_and_hold_no_words(local: Client) -> None:
    local.get("/explain/zorblattsecret")
    local.get("/zorblattsecret?zorblattsecret=1")
    local.post("/privatize", text="zorblattsecret")
    text = local.get("/metrics").body.decode()
    assert 'deniable_requests_total{method="POST",route="/privatize",status="200"}' in text
    assert 'route="other"' in text
    assert "zorblatt" not in text


def test_nothing_that_is_asked_for_is_logged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with running(make_settings(tmp_path, release=allowed())) as opened:
        opened.post("/privatize", text="zorblattsecret")
        opened.post("/privatize", zorblattsecret="a")
        opened.get("/explain/zorblattsecret")
        opened.get("/zorblattsecret")
        opened.upload(b"id,text\n1,zorblattsecret\n", name="zorblattsecret.csv", column="text", wait=600)
        opened.upload(b"id,zorblattsecret\n1,2\n", name="a.csv", column="text", wait=600)
        with socket.create_connection(("127.0.0.1", opened.port)) as raw:
            raw.sendall(b"zorblattsecret zorblattsecret\r\n\r\n")
            raw.recv(1000)
    out, err = capfd.readouterr()
    assert "zorblatt" not in out + err + caplog.text


def write_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


@pytest.mark.parametrize("tls", [True, False])
def test_another_address_is_served_with_a_token_and_says_if_it_is_not_encrypted(
    tmp_path: Path, tls: bool
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    write_certificate(tmp_path)
    encrypted = 'certificate = "server.pem"\nprivate_key = "server.key"\n' if tls else ""
    with Process(tmp_path, f'[server]\nhost = "0.0.0.0"\ntoken_file = "token"\n{encrypted}') as serving:
        assert serving.client.tls is tls
        assert serving.client.get("/allowed").status == 401
        known = Client(serving.client.port, TOKEN, tls)
        assert known.post("/privatize", text="the fox").status == 200
        assert ("unencrypted" in serving.log.read_text()) is not tls
        assert TOKEN not in serving.log.read_text()
        assert serving.end() == 0


def test_an_address_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(server=Server(port=taken.getsockname()[1]))
        with pytest.raises(InvalidParameter, match="nothing can listen there"):
            server._listen(settings)
    with pytest.raises(InvalidParameter, match="nothing can listen there"):
        server._listen(Settings(server=Server(host="no.such.host.invalid")))
