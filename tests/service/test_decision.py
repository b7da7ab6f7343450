"""A decision about a file: attacks on rehearsal draws, a page for its sender alone, and a release by its
verdict."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding
from deniable.noise.key_file import write_new_key
from deniable.service import files
from tests.service.driving import load, open_file, press, text_of, until
from tests.service.running import OCTETS, Client, allowed, make_settings, running, wait_until
from tests.support.private_pairs import embedding

ROWS = "id,text\n" + "".join(f"{i},the zorblattsecret fox saw the king\n" for i in range(40))
CERTAIN, VAGUE = 2.0, 0.05


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Embedding, "open", lambda *_: embedding())


def decide(client: Client, **query: Any) -> tuple[str, dict[str, Any]]:
    asked = {"name": "rows.csv", "column": "text", "keep": "id", "decision": "release"} | query
    reply = client.upload(ROWS.encode(), **asked)
    assert reply.status == 202, reply.body
    return reply.headers["location"], client.wait_for(reply.json()["id"])


def test_a_file_is_released_by_its_verdict_with_a_page_for_its_sender(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as client:
        job, told = decide(client, decision="changes", epsilon=VAGUE, record_id="id")
        assert (told["state"], told["decision"]) == ("done", True), told
        page, output = client.get(f"{job}/decision"), client.get(f"{job}/output")
        card, receipt = client.get(f"{job}/card").json(), client.get(f"{job}/receipt")
        assert page.headers["content-type"].startswith("text/html")
        assert "rows.csv.decision.html" in page.headers["content-disposition"]
        assert b"rows.csv" in page.body
        assert b"zorblattsecret" in page.body, "it shows texts before and after: it is private"
        assert b"zorblattsecret" not in output.body
        assert len(output.body.splitlines()) == 41
        assert card["columns"] == ["text"]
        assert receipt.status == 200
        folder = tmp_path / "jobs" / job.rpartition("/")[2]
        wait_until(lambda: not list(folder.glob("input*")))
        private = [
            path.name for path in folder.rglob("*") if path.is_file() and b"zorblatt" in path.read_bytes()
        ]
        assert private == ["decision.html"]
        assert client.ask("DELETE", job).status == 204
        assert not folder.exists()


def test_a_verdict_not_to_release_leaves_its_page_and_nothing_else(tmp_path: Path) -> None:
    with running(make_settings(tmp_path)) as client:
        job, told = decide(client, epsilon=CERTAIN)
        assert (told["state"], told["decision"]) == ("failed", True), told
        assert "the verdict is: " in str(told["error"])
        assert client.get(f"{job}/decision").status == 200
        assert client.get(f"{job}/output").status == 422
        folder = tmp_path / "jobs" / job.rpartition("/")[2]
        kept = {"job.json", "state.json", "decision.html"}
        wait_until(lambda: {path.name for path in folder.iterdir()} == kept)  # noted first, then deleted


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"name": "rows.parquet"}, 422, "decision"),
        ({"name": "rows.csv.gz"}, 422, "decision"),
        ({"unknown": "redact"}, 422, "decision"),
        ({"decision": "always"}, 422, "decision"),
        ({}, 413, "decision"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused_at_once(
    tmp_path: Path, query: dict[str, Any], status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_REHEARSED", 100)
    asked = {"name": "rows.csv", "column": "text", "keep": "id", "decision": "release"} | query
    with running(make_settings(tmp_path)) as client:
        reply = client.upload(ROWS.encode(), headers=OCTETS, **asked)
        assert (reply.status, said in reply.error) == (status, True), reply.body
        assert not list((tmp_path / "jobs").iterdir())


def test_a_compressed_file_under_another_name_is_refused(tmp_path: Path) -> None:
    roles = {"column": "text", "keep": "id", "decision": "release"}
    with running(make_settings(tmp_path)) as client:
        reply = client.upload(gzip.compress(ROWS.encode()), headers=OCTETS, name="rows.csv", **roles)
        assert (reply.status, "compressed" in reply.json()["error"]) == (422, True)
    assert not list((tmp_path / "jobs").iterdir())


def test_a_cell_without_a_name_is_told_to_the_sender(tmp_path: Path) -> None:
    with running(make_settings(tmp_path)) as client:
        reply = client.upload(b"id,text\n1,the fox,secret\n", name="a.csv", column="text", decision="release")
        told = client.wait_for(reply.json()["id"])
    assert "has no name in the header" in told["error"]
    assert "secret" not in told["error"]


def test_a_job_without_a_decision_has_no_page(tmp_path: Path) -> None:
    with running(make_settings(tmp_path)) as client:
        reply = client.send(keep=["id", "note"], wait=600)
        job = reply.headers["location"]
        assert client.get(job).json()["decision"] is False
        assert client.get(f"{job}/decision").status == 404


def test_the_page_keeps_the_decision_page_behind_its_warning(opened: Any, tmp_path: Path) -> None:
    with running(make_settings(tmp_path)) as client:
        load(opened, client)
        open_file(opened, "rows.csv", ROWS, rows=10, keep=["id"])
        opened.execute_script("document.getElementById('decision').value = 'release'")
        press(opened, "release-file")
        until(lambda: "the decision page says why" in text_of(opened, "job-says"))
        shown = {
            name: opened.find_element("id", name) for name in ("get-output", "get-receipt", "get-decision")
        }
        assert not any(each.is_displayed() for each in shown.values())
        opened.find_element("css selector", "#job-receipt summary").click()
        assert [name for name, each in shown.items() if each.is_displayed()] == ["get-decision"]
        opened.get("about:blank")
