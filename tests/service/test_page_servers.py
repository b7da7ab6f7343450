"""The page in a real browser, with a server that stops and returns, refuses a text, asks for a token, or
keeps a key."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from deniable.noise.key_file import write_new_key
from deniable.service.settings import Limits
from tests.report.browser import at_width
from tests.service.driving import (
    PRIVATE,
    count,
    drop,
    load,
    open_file,
    press,
    quiet,
    slide,
    text_of,
    type_text,
    until,
)
from tests.service.running import Client, allowed, make_settings, running


def test_a_refused_text_leaves_no_release_of_the_one_before_it(opened: Any, tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(request_bytes=600))) as narrow:
        load(opened, narrow)
        until(lambda: "of" in text_of(opened, "fact-attacker"))
        type_text(opened, "fox " * 200)
        until(lambda: "Not released: the body is larger than 600 bytes" in text_of(opened, "released"))
        assert text_of(opened, "fact-attacker") == "–"
        until(lambda: text_of(opened, "fact-unchanged") == "–" and "No figures" in text_of(opened, "summary"))
        type_text(opened, "fox " * 200, "mine")
        until(lambda: "larger than 600" in text_of(opened, "mine-bars"))
        open_file(opened, "rows.csv", "id,text\n1,a\n", rows=1)
        drop(opened, "long.csv", "id,text\n" + "".join(f"{i},{'fox ' * 90}\n" for i in range(3)))
        until(lambda: "larger than 600" in text_of(opened, "rows-says"))
        assert not opened.find_element("id", "rows").is_displayed()
        type_text(opened, "my doctor said")
        until(lambda: text_of(opened, "fact-attacker").endswith("of 3"))
        opened.get("about:blank")
    opened.get_log("browser")


def test_a_server_that_stops_is_said_and_its_return_is_noticed(opened: Any, tmp_path: Path) -> None:
    import socket

    from deniable.service.app import Service
    from deniable.service.server import make_server

    settings = make_settings(tmp_path)
    service = Service(settings)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    for again in (False, True):
        if again:
            listening, service = socket.create_server(("127.0.0.1", port)), Service(settings)
        server = make_server(settings, service)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        if not again:
            until(lambda: server.started)  # noqa: B023
            load(opened, Client(port))
        else:
            until(lambda: not opened.find_element("id", "problem").is_displayed())
            until(lambda: count(opened, "#released mark") >= 0 and text_of(opened, "released"))
            until(
                lambda: (
                    "hotel" in text_of(opened, "least") and text_of(opened, "fact-attacker").endswith("of 4")
                )
            )
        server.should_exit = True
        opened.get("about:blank") if again else None
        thread.join(600)
        listening.close()
        if not again:
            slide(opened, 4)
            until(lambda: opened.find_element("id", "problem").is_displayed())
            assert "does not answer" in text_of(opened, "problem")
            assert "nurse" in str(opened.execute_script("return document.getElementById('text').value"))
            type_text(opened, "a hotel in Lisbon")
            time.sleep(1)  # it is asked for while nobody answers
    opened.get_log("browser")


def test_a_token_is_asked_for_and_used(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t" * 40)
    (tmp_path / "token").chmod(0o600)
    with running(make_settings(tmp_path, token_file=str(tmp_path / "token"))) as guarded:
        at_width(opened, 1280)
        opened.get(guarded.address)
        until(lambda: opened.find_element("id", "token-form").is_displayed())
        slide(opened, 3)
        type_text(opened, "a text before its time")
        type_text(opened, "a word", "mine")
        drop(opened, "rows.csv", "id,text\n1,a\n")
        press(opened, "again")
        time.sleep(0.5)
        assert not [entry for entry in opened.get_log("browser") if "401" not in entry["message"]]
        opened.find_element("id", "token").send_keys("t" * 40)
        opened.find_element("css selector", "#token-form button").click()
        until(lambda: text_of(opened, "released"))
        assert not opened.find_element("id", "token-form").is_displayed()
        assert opened.execute_script("return localStorage.length + sessionStorage.length") == 0
        opened.get("about:blank")
    opened.get_log("browser")


def test_a_key_and_policies_of_the_operator_are_kept_to(opened: Any, tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    release = allowed(key_file=str(tmp_path / "key"), unknown="drop")
    with running(make_settings(tmp_path, release=release)) as keyed:
        load(opened, keyed)
        before = text_of(opened, "released")
        press(opened, "again")
        until(lambda: text_of(opened, "released") != before)
        until(lambda: opened.find_element("id", "marked").is_displayed())
        type_text(opened, f"my doctor {PRIVATE} said")
        until(lambda: opened.find_element("id", "not-marked").is_displayed())
        open_file(
            opened, "rows.csv", "id,text\n1,the quick brown fox\n2,my doctor said\n", rows=2, keep=["id"]
        )
        press(opened, "release-file")
        until(lambda: text_of(opened, "job-says") == "Released.")
        assert quiet(opened) == []
        opened.get("about:blank")
