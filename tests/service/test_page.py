"""The page in a real browser: type, slide, explain, drop a file, download, lose the server; on a telephone; and for everybody."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.keyed.key_file import write_new_key
from deniable.service import facts
from deniable.service.settings import Limits, Release
from tests.report.browser import at_width, browser
from tests.service.running import Client, make_settings, running

ROOT = Path(__file__).resolve().parent.parent.parent
PRIVATE = "zorblattsecret"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(make_settings(tmp_path_factory.mktemp("service"), release=Release(max_epsilon=12))) as opened:
        yield opened


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


def until(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)
    return found


def text_of(opened: Any, element: str) -> str:
    return str(opened.execute_script(f"return document.getElementById('{element}').textContent"))


def count(opened: Any, selector: str) -> int:
    return int(opened.execute_script(f"return document.querySelectorAll('{selector}').length"))


def load(opened: Any, client: Client, width: int = 1280) -> None:
    at_width(opened, width)
    opened.get("about:blank")
    opened.get_log("browser")
    opened.get(client.address)
    until(lambda: text_of(opened, "released") and count(opened, "#least li") and count(opened, "#map circle"))


def type_text(opened: Any, text: str, element: str = "text") -> None:
    opened.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))", element, text
    )


def press(opened: Any, element: str) -> None:
    """Press a button where it stands: a click by place misses it when a reply moves the page between aiming and pressing."""
    until(lambda: opened.find_element("id", element).is_displayed())
    opened.execute_script("document.getElementById(arguments[0]).click()", element)


def slide(opened: Any, epsilon: float) -> None:
    opened.execute_script(
        "const e = document.getElementById('epsilon'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", epsilon
    )


def quiet(opened: Any) -> list[Any]:
    """Return what the browser complained about."""
    return [entry for entry in opened.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_the_slider_moves_everything(opened: Any, client: Client) -> None:
    load(opened, client)
    type_text(opened, "my doctor said the encryption keys were stolen from the hospital")
    until(lambda: "encryption" in text_of(opened, "least"))
    shares = {}
    for epsilon in (1.0, 12.0):
        before = text_of(opened, "outcomes")
        slide(opened, epsilon)
        assert text_of(opened, "fact-attacker") == "…", "a figure of another ε stands there"
        named = until(lambda: shown if (shown := text_of(opened, "fact-attacker")).endswith("of 11") else None)
        outcomes = until(lambda: shown if (shown := text_of(opened, "outcomes")) != before else None)  # noqa: B023
        assert text_of(opened, "epsilon-value") == f"{epsilon:.1f}"
        shares[epsilon] = (
            float(text_of(opened, "fact-unchanged").replace("%", "").replace("<", "")),
            count(opened, "#released mark"),
            int(named.split()[0]),
            outcomes,
            text_of(opened, "summary"),
            text_of(opened, "fact-task"),
        )
    assert all(low < high for low, high in zip(shares[1.0][:3], shares[12.0][:3], strict=True)), shares
    assert all(low != high for low, high in zip(shares[1.0][3:], shares[12.0][3:], strict=True)), shares
    assert quiet(opened) == []


def test_a_text_that_is_too_long_for_figures_has_none_of_the_text_before_it(opened: Any, client: Client) -> None:
    load(opened, client)
    until(lambda: "of" in text_of(opened, "fact-attacker"))
    type_text(opened, "fox " * 501)
    until(lambda: len(text_of(opened, "released").split()) > 450 and "at most 500 words" in text_of(opened, "summary"))
    until(lambda: text_of(opened, "fact-attacker") == "–")
    assert text_of(opened, "fact-unchanged") == "–"
    assert text_of(opened, "least") == "no known word yet"
    until(lambda: text_of(opened, "word-name") == "…" and not text_of(opened, "outcomes"))
    assert not opened.find_element("id", "marked").is_displayed()
    type_text(opened, "my doctor said")
    until(lambda: text_of(opened, "fact-attacker").endswith("of 3"))
    until(lambda: "doctor" in text_of(opened, "least") and text_of(opened, "word-name") == "doctor")
    opened.get_log("browser")


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
        drop(opened, "rows.csv", "id,text\n1,a\n")
        until(lambda: count(opened, "#rows tbody tr") == 1)
        drop(opened, "rows.csv", f"id,text\n1,{'fox ' * 200}\n")
        until(lambda: "larger than 600" in text_of(opened, "rows-says"))
        assert not opened.find_element("id", "rows").is_displayed()
        type_text(opened, "my doctor said")
        until(lambda: text_of(opened, "fact-attacker").endswith("of 3"))
        opened.get("about:blank")
    opened.get_log("browser")


def test_an_attacker_who_is_refused_is_not_waited_for(opened: Any, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_MOST_DECODED", 3)
    load(opened, client)
    until(lambda: "at most 3 words" in text_of(opened, "fact-attacker-says"))
    assert text_of(opened, "fact-attacker") == "–"
    opened.get_log("browser")


def test_figures_of_another_word_are_dimmed_until_its_own_are_there(opened: Any, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    load(opened, client)

    def busy() -> str:
        return str(opened.execute_script("return document.getElementById('word-panel').ariaBusy"))

    until(lambda: busy() == "false" and text_of(opened, "word-name") != "…")
    go_on, explained = threading.Event(), facts._explained

    def slow(*given: Any) -> Any:
        assert go_on.wait(60)
        return explained(*given)

    monkeypatch.setattr(facts, "_explained", slow)
    slide(opened, 3)
    until(lambda: busy() == "true")
    go_on.set()
    until(lambda: busy() == "false")


@pytest.mark.slow  # a time, and so for a machine that does nothing else
def test_the_slider_moves_within_150_ms_for_50_words(opened: Any, client: Client) -> None:
    load(opened, client)
    type_text(
        opened, " ".join(f"{a} {b}" for a in ("doctor", "hotel", "train", "keys", "river") for b in ("was", "with", "old", "our", "here"))
    )
    until(lambda: len(text_of(opened, "released").split()) >= 49)
    script = """
        const done = arguments[0], dial = document.getElementById('epsilon'), out = document.getElementById('released'), took = [];
        let started = 0;
        const observer = new MutationObserver(() => {
            took.push(performance.now() - started);
            if (took.length === 9) { observer.disconnect(); done(took); } else setTimeout(move, 700);
        });
        function move() { dial.value = 3 + took.length / 2; started = performance.now(); dial.dispatchEvent(new Event('input')); }
        observer.observe(out, { childList: true });
        move();
    """
    opened.set_script_timeout(60)
    took = sorted(opened.execute_async_script(script))
    assert took[len(took) // 2] < 150, took


def test_a_word_is_explained_by_keyboard(opened: Any, client: Client) -> None:
    from selenium.webdriver.common.keys import Keys

    load(opened, client)
    type_text(opened, "my doctor said the encryption keys were stolen")
    until(lambda: "encryption" in text_of(opened, "least"))
    button = next(one for one in opened.find_elements("css selector", "#least button") if one.text == "doctor")
    button.send_keys(Keys.ENTER)
    until(lambda: text_of(opened, "word-name") == "doctor")
    assert "physician" in text_of(opened, "outcomes") + text_of(opened, "map")
    assert opened.execute_script("return document.activeElement.textContent") == "doctor"
    opened.find_element("id", "epsilon").send_keys(Keys.ARROW_RIGHT)
    assert text_of(opened, "epsilon-value") == "6.1"
    assert quiet(opened) == []


def test_words_of_ones_own_are_listed(opened: Any, client: Client) -> None:
    load(opened, client)
    type_text(opened, f"aspirin {PRIVATE}\nToronto", "mine")
    until(lambda: count(opened, "#mine-bars li") == 3)
    assert "not in the vocabulary" in text_of(opened, "mine-bars")


def test_what_is_typed_is_shown_as_text_and_asked_of_this_server_only(opened: Any, client: Client) -> None:
    load(opened, client)
    opened.get_log("performance")
    hostile = "<img src=x onerror=alert(1)> doctor <script>alert(2)</script>"
    type_text(opened, hostile)
    type_text(opened, hostile, "mine")
    until(lambda: "doctor" in text_of(opened, "least"))
    until(lambda: count(opened, "#mine-bars li") > 4)
    assert count(opened, "main img, main script") == 0
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert asked
    assert all(url.startswith(client.address) for url in asked), asked
    assert not [url for url in asked if "doctor" in url or "alert" in url]
    assert quiet(opened) == []


def drop(opened: Any, name: str, content: str) -> None:
    opened.execute_script(
        """
        const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[1]], arguments[0]));
        document.getElementById('drop').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
        """,
        name,
        content,
    )


def test_a_dropped_file_is_released_and_downloaded_with_its_card(opened: Any, client: Client, tmp_path: Path) -> None:
    load(opened, client)
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    rows = [f'{i},"the {PRIVATE}, my doctor",n' for i in range(30)]
    drop(opened, "my rows.csv", "\n".join(["id,text,note", *rows]))
    until(lambda: count(opened, "#rows tbody tr") == 10)
    assert opened.execute_script("return document.getElementById('column').value") == "text"
    assert PRIVATE in str(opened.execute_script("return document.querySelector('#rows td').textContent"))
    press(opened, "release-file")
    until(lambda: text_of(opened, "job-says") == "Released.")
    for button in ("get-output", "get-card"):
        press(opened, button)
    output, card = tmp_path / "released-my rows.csv", tmp_path / "released-my rows.csv.card.json"
    until(lambda: output.exists() and card.exists() and card.stat().st_size)
    released = output.read_text(encoding="utf-8")
    assert released.count("\n") == 31
    assert PRIVATE not in released
    assert json.loads(card.read_text(encoding="utf-8"))["columns"] == ["text"]
    assert not opened.find_element("id", "get-receipt").is_displayed(), "the receipt stands behind a warning"
    opened.find_element("css selector", "#job-receipt summary").click()
    assert "Keep it to yourself" in opened.find_element("id", "job-receipt").text
    assert quiet(opened) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("picture.png", "x", "not known"),
        ("rows.jsonl", '{"text": "a"}\n{"text": ', "line 2"),
        ("rows.csv", "id,text\n1,a\n2\n", "line 3"),
        ("rows.parquet", "x", "rows.parquet"),
    ],
)
def test_a_wrong_file_is_refused_in_words(opened: Any, client: Client, name: str, content: str, said: str) -> None:
    load(opened, client)
    drop(opened, name, content)
    if said != "not known":
        until(lambda: opened.find_element("id", "release-file").is_displayed())
        opened.execute_script("document.getElementById('column-typed').value = 'text'")
        press(opened, "release-file")
    until(lambda: said in text_of(opened, "job-says"))


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
            until(lambda: "hotel" in text_of(opened, "least") and text_of(opened, "fact-attacker").endswith("of 4"))
        server.should_exit = True
        opened.get("about:blank") if again else None
        thread.join(30)
        listening.close()
        if not again:
            slide(opened, 4)
            until(lambda: opened.find_element("id", "problem").is_displayed())
            assert "does not answer" in text_of(opened, "problem")
            assert "doctor" in str(opened.execute_script("return document.getElementById('text').value"))
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
    release = Release(key_file=str(tmp_path / "key"), unknown="drop")
    with running(make_settings(tmp_path, release=release)) as keyed:
        load(opened, keyed)
        before = text_of(opened, "released")
        press(opened, "again")
        until(lambda: text_of(opened, "released") != before)
        assert opened.find_element("id", "marked").is_displayed()
        type_text(opened, f"my doctor {PRIVATE} said")
        until(lambda: opened.find_element("id", "not-marked").is_displayed())
        drop(opened, "rows.csv", "id,text\n1,the quick brown fox\n2,my doctor said\n")
        until(lambda: count(opened, "#rows tbody tr") == 2)
        press(opened, "release-file")
        until(lambda: text_of(opened, "job-says") == "Released.")
        assert quiet(opened) == []
        opened.get("about:blank")


def theme(opened: Any, name: str) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_everybody_can_use_it(opened: Any, client: Client, width: int, colours: str, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    theme(opened, colours)
    load(opened, client, width)
    type_text(opened, f"aspirin {PRIVATE}", "mine")
    drop(opened, "rows.csv", "id,text\n1,the fox\n2,my doctor\n")
    until(lambda: count(opened, "#rows tbody tr") == 2)
    press(opened, "release-file")
    until(lambda: text_of(opened, "job-says") == "Released.")
    until(lambda: text_of(opened, "fact-attacker") not in ("…", "–"))
    until(lambda: count(opened, "[aria-busy=true]") == 0)
    assert opened.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), f"it scrolls sideways at {width}"
    found = axe.run(opened)
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert serious == []
    assert len(found["passes"]) > 20
    assert quiet(opened) == []


def test_the_check_finds_a_page_that_some_cannot_use(opened: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    bad = tmp_path / "bad.html"
    bad.write_text('<!doctype html><html lang="en"><title>x</title><input><p style="color:#ccc;background:#fff">hardly seen</p>')
    opened.get(bad.as_uri())
    assert {"label", "color-contrast"} <= {one["id"] for one in axe.run(opened)["violations"]}


def test_the_measured_figures_are_those_of_the_results() -> None:
    spec = importlib.util.spec_from_file_location("make_service_figures", ROOT / "scripts" / "make_service_figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = ROOT / "src" / "deniable" / "service" / "page" / "measured.js"
    assert page.read_text(encoding="utf-8") == module.measured(), "run python scripts/make_service_figures.py"


def test_the_page_loads_nothing_from_elsewhere() -> None:
    import re

    for path in (ROOT / "src" / "deniable" / "service" / "page").iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.findall(
            r"https?://|//[a-z]+\.[a-z]+/|\bstyle=|<script(?! type=\"module\" src=\"/page/)|\bon\w+=\"|innerHTML|eval\(", text
        ), path


def test_no_browser_is_asked_to_translate_the_page() -> None:
    """A browser that translates a page sends the words on it, private ones too, to a service elsewhere."""
    page = (ROOT / "src" / "deniable" / "service" / "page" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en" translate="no">' in page
    assert '<meta name="google" content="notranslate">' in page
