"""The page in a real browser: type, slide, explain, drop a file and download it; what is shown is never of
another text, word or ε."""

from __future__ import annotations

import csv
import json
import math
import threading
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from deniable.service import facts
from tests.report.browser import requests_of
from tests.service.driving import (
    PRIVATE,
    choose_roles,
    count,
    drop,
    load,
    press,
    quiet,
    slide,
    text_of,
    type_text,
    until,
)
from tests.service.running import Client


def test_the_slider_moves_everything(opened: Any, client: Client) -> None:
    load(opened, client)
    type_text(opened, "my doctor said the encryption keys were stolen from the hospital")
    until(lambda: "encryption" in text_of(opened, "least"))
    shares = {}
    for epsilon in (1.0, 12.0):
        before = text_of(opened, "outcomes")
        slide(opened, epsilon)
        assert text_of(opened, "fact-attacker") == "…", "a figure of another ε stands there"
        named = until(
            lambda: shown if (shown := text_of(opened, "fact-attacker")).endswith("of 11") else None
        )
        outcomes = until(lambda: shown if (shown := text_of(opened, "outcomes")) != before else None)  # noqa: B023
        assert text_of(opened, "epsilon-value") == f"{epsilon:.1f}"
        shares[epsilon] = (
            float(text_of(opened, "fact-unchanged").replace("%", "").replace("<", "")),
            count(opened, "#released mark"),
            int(named.split()[0]),
            outcomes,
            text_of(opened, "summary"),
            text_of(opened, "tasks"),
        )
    assert all(low < high for low, high in zip(shares[1.0][:3], shares[12.0][:3], strict=True)), shares
    assert all(low != high for low, high in zip(shares[1.0][3:], shares[12.0][3:], strict=True)), shares
    assert quiet(opened) == []


def test_labels_are_shown_at_measured_points_with_guessing(opened: Any, client: Client) -> None:
    load(opened, client)
    head = ["public texts", "measured ε", "guessing", "as released", "decoded", "original"]
    for epsilon, news, reviews in (
        (6.0, ["5.5", "25 %", "70 %", "80 %", "88 %"], ["5.9", "52 %", "54 %", "60 %", "78 %"]),
        (1.0, ["3.9", "25 %", "50 %", "69 %", "88 %"], ["3.3", "52 %", "51 %", "54 %", "78 %"]),
    ):
        slide(opened, epsilon)
        cells = "[...row.cells].map((cell) => cell.textContent.replace('\u00a0', ' '))"
        shown = opened.execute_script(
            f"return [...document.querySelectorAll('#tasks tr')].map((row) => {cells})"
        )
        assert shown == [head, ["news topics", *news], ["film reviews", *reviews]]
    assert quiet(opened) == []


def test_draws_are_illustrations(opened: Any, client: Client) -> None:
    load(opened, client)
    until(lambda: text_of(opened, "released"))
    assert "Choosing among draws voids the promise" in text_of(opened, "illustration")
    assert (
        opened.execute_script("return getComputedStyle(document.getElementById('released')).userSelect")
        == "none"
    )


def test_a_text_that_is_too_long_for_figures_has_none_of_the_text_before_it(
    opened: Any, client: Client
) -> None:
    load(opened, client)
    until(lambda: "of" in text_of(opened, "fact-attacker"))
    type_text(opened, "fox " * 501)
    until(
        lambda: (
            len(text_of(opened, "released").split()) > 450
            and "at most 500 words" in text_of(opened, "summary")
        )
    )
    until(lambda: text_of(opened, "fact-attacker") == "–")
    assert text_of(opened, "fact-unchanged") == "–"
    assert text_of(opened, "least") == "no known word yet"
    until(lambda: text_of(opened, "word-name") == "…" and not text_of(opened, "outcomes"))
    assert not opened.find_element("id", "marked").is_displayed()
    type_text(opened, "my doctor said")
    until(lambda: text_of(opened, "fact-attacker").endswith("of 3"))
    until(lambda: "doctor" in text_of(opened, "least") and text_of(opened, "word-name") == "doctor")
    opened.get_log("browser")


def test_an_attacker_who_is_refused_is_not_waited_for(
    opened: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "MOST_DECODED", 3)
    load(opened, client)
    until(lambda: "at most 3 words" in text_of(opened, "fact-attacker-says"))
    assert text_of(opened, "fact-attacker") == "–"
    opened.get_log("browser")


def test_figures_of_another_word_are_dimmed_until_its_own_are_there(
    opened: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(opened, client)

    def busy() -> str:
        return str(opened.execute_script("return document.getElementById('forward').ariaBusy"))

    until(lambda: busy() == "false" and text_of(opened, "word-name") != "…")
    go_on, explained = threading.Event(), facts.explained

    def slow(*given: Any) -> Any:
        assert go_on.wait(600)
        return explained(*given)

    monkeypatch.setattr(facts, "explained", slow)
    slide(opened, 3)
    until(lambda: busy() == "true")
    go_on.set()
    until(lambda: busy() == "false")


@pytest.mark.slow  # a time, and so for a machine that does nothing else
def test_the_slider_moves_within_150_ms_for_50_words(opened: Any, client: Client) -> None:
    load(opened, client)
    type_text(
        opened,
        " ".join(
            f"{a} {b}"
            for a in ("doctor", "hotel", "train", "keys", "river")
            for b in ("was", "with", "old", "our", "here")
        ),
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
    """  # noqa: E501
    opened.set_script_timeout(600)
    took = sorted(opened.execute_async_script(script))
    assert took[len(took) // 2] < 150, took


def test_a_word_is_explained_by_keyboard(opened: Any, client: Client) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    load(opened, client)
    type_text(opened, "my doctor said the encryption keys were stolen")
    until(lambda: "encryption" in text_of(opened, "least"))
    # The list may be drawn again at any time, and what has the focus keeps it.
    opened.execute_script(
        "[...document.querySelectorAll('#least button')].find((one) => one.textContent === 'doctor').focus()"
    )
    ActionChains(opened).send_keys(Keys.ENTER).perform()
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
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert all(url.startswith(client.address) for url in asked), asked
    assert not [url for url in asked if "doctor" in url or "alert" in url]
    assert quiet(opened) == []


PATIENTS = "patient;diagnosis;comment;e-mail\n" + "".join(
    f"Jürgen Müller {i};flu;the {PRIVATE} my doctor said that I am very ill;a{i}@example.org\n"
    for i in range(30)
)


def test_a_file_leaves_only_when_each_column_has_a_role(opened: Any, client: Client, tmp_path: Path) -> None:
    load(opened, client)
    opened.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    drop(opened, "my rows.csv", PATIENTS)
    until(lambda: count(opened, "#roles tbody tr") == 4)
    looks = text_of(opened, "roles")
    assert "names or ids of people" in looks
    assert "e-mail addresses" in looks
    assert choose_roles(opened) == ["", "", "column", ""], (
        "only what is free text is proposed, to be replaced"
    )
    button = opened.find_element("id", "release-file")
    for chosen, left in (
        ({"drop": ["patient"]}, "diagnosis, e-mail."),
        ({"keep": ["diagnosis"]}, "e-mail."),
        ({"drop": ["e-mail"]}, ""),
    ):
        assert not button.is_enabled()
        choose_roles(opened, **chosen)
        until(lambda: text_of(opened, "open-says").endswith(left))  # noqa: B023
    until(button.is_enabled)
    until(lambda: count(opened, "#rows tbody tr") == 10 and count(opened, "#rows th") == 2)
    leaves = str(opened.execute_script("return document.querySelector('#rows tbody').innerText"))
    assert "flu" in leaves
    assert not any(each in leaves for each in ("Jürgen", "example.org"))
    press(opened, "release-file")
    until(lambda: text_of(opened, "job-says") == "Released.")
    for each in ("get-output", "get-card"):
        press(opened, each)
    output, card = tmp_path / "released-my rows.csv", tmp_path / "released-my rows.csv.card.json"
    until(lambda: output.exists() and card.exists() and card.stat().st_size)
    rows = list(csv.DictReader(output.read_text(encoding="utf-8").splitlines(), delimiter=";"))
    assert [list(row) for row in rows] == [["diagnosis", "comment"]] * 30
    assert PRIVATE not in output.read_text(encoding="utf-8")
    assert json.loads(card.read_text(encoding="utf-8"))["columns"] == ["comment"]
    assert not opened.find_element("id", "get-receipt").is_displayed(), "the receipt stands behind a warning"
    opened.find_element("css selector", "#job-receipt summary").click()
    assert "Keep it to yourself" in opened.find_element("id", "job-receipt").text
    press(opened, "delete-now")
    until(lambda: text_of(opened, "job-says") == "Deleted here.")
    assert quiet(opened) == []


def test_a_second_sheet_leaves_only_when_it_was_named(opened: Any, client: Client, tmp_path: Path) -> None:
    book, written = tmp_path / "book.xlsx", openpyxl.Workbook()
    written.active.append(["day", "comment"])
    for i in range(20):
        written.active.append([i, "my doctor said that I am ill"])
    written.create_sheet("staff").append(["Anna Smith"])
    written.save(book)
    load(opened, client)
    opened.find_element("id", "file").send_keys(str(book))
    until(lambda: count(opened, "#roles tbody tr") == 3)
    button = opened.find_element("id", "release-file")
    choose_roles(opened, text=["comment"], drop=["day"])
    until(lambda: text_of(opened, "open-says") == "Say first what becomes of: staff.")
    assert not button.is_enabled()
    choose_roles(opened, sheet=["sheet staff"])
    until(button.is_enabled)
    press(opened, "release-file")
    until(lambda: text_of(opened, "job-says") == "Released.")
    assert quiet(opened) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("picture.png", "x", "its ending must tell the format"),
        ("rows.jsonl", '{"text": ', "line 1"),
        ("rows.csv", "id,text\n1,a\n2\n", "line 3"),
        ("rows.parquet", "x", "rows.parquet"),
    ],
)
def test_a_wrong_file_is_refused_in_words(
    opened: Any, client: Client, name: str, content: str, said: str
) -> None:
    load(opened, client)
    drop(opened, name, content)
    if name == "rows.csv":
        until(lambda: count(opened, "#roles tbody tr") == 2)
        choose_roles(opened, keep=["id"])
        until(opened.find_element("id", "release-file").is_enabled)
        press(opened, "release-file")
    until(lambda: said in text_of(opened, "job-says"))


def test_a_released_word_shows_which_words_could_have_stood_there(opened: Any, client: Client) -> None:
    from selenium.webdriver.common.keys import Keys

    load(opened, client)
    type_text(opened, "the nurse was pregnant")
    until(lambda: text_of(opened, "fact-attacker").endswith("of 4") and count(opened, "#candidates li") == 8)
    words = opened.find_elements("css selector", "#released .word")
    assert [
        word.find_element("css selector", "small").text for word in words
    ] == "the nurse was pregnant".split()
    seen = {}
    for place in (1, 3):
        opened.execute_script("arguments[0].focus()", words[place])
        released = words[place].find_element("css selector", "b, mark").text
        until(lambda: text_of(opened, "seen") == released)  # noqa: B023
        until(lambda: text_of(opened, "word-name") == ["nurse", "pregnant"][place // 2])  # noqa: B023
        seen[place] = text_of(opened, "candidates")
        assert words[place].get_attribute("aria-pressed") == "true"
        assert ("nurse" if place == 1 else "pregnant") in text_of(opened, "chance")
    assert seen[1] != seen[3]
    assert "other words share" in text_of(opened, "others")
    assert "-fold, on average over words and draws" in text_of(opened, "factor")
    words[1].send_keys(Keys.ENTER)
    until(lambda: text_of(opened, "seen") == words[1].find_element("css selector", "b, mark").text)
    assert quiet(opened) == []


def test_a_level_of_risk_sets_the_slider(opened: Any, client: Client) -> None:
    load(opened, client)
    for level in ("low", "high"):
        press(opened, f"risk-{level}")
        epsilon = client.get("/card", risk=level).json()["epsilon_per_word"]
        tenths = f"{math.floor(10 * epsilon + 1e-6) / 10:.1f}"  # a higher ε would exceed the level
        until(lambda: text_of(opened, "epsilon-value") == tenths)  # noqa: B023
    assert quiet(opened) == []


def test_a_purpose_beside_the_slider_changes_the_space(opened: Any, client: Client) -> None:
    load(opened, client)
    opened.find_element("css selector", "#purpose option[value=sentiment]").click()
    medium = client.get("/card", risk="medium", purpose="sentiment").json()
    assert medium["embedding"]["name"] == "for-sentiment"
    until(lambda: text_of(opened, "epsilon-value") == str(medium["epsilon_per_word"]))
    until(lambda: '"purpose":"sentiment"' in text_of(opened, "as-curl"))
    assert "--for sentiment" in text_of(opened, "as-command")
    until(lambda: count(opened, "#released .word") > 0)
    assert opened.execute_script("return document.getElementById('tasks').hidden"), (
        "measured in another space"
    )
    opened.find_element("css selector", "#purpose option[value='']").click()
    until(lambda: text_of(opened, "epsilon-value") == "6.0")
    assert quiet(opened) == []


def test_words_of_ones_own_can_be_held_back(opened: Any, client: Client) -> None:
    load(opened, client)
    slide(opened, 12)
    type_text(opened, "doctor doctor doctor doctor")
    until(lambda: count(opened, "#released mark"))
    type_text(opened, "doctor", "mine")
    press(opened, "hold-back")
    until(lambda: count(opened, "#released .word") == 4 and not count(opened, "#released mark"))
    until(lambda: "doctor" not in text_of(opened, "released").replace("doctor", "", 4))
    assert "never_release" in text_of(opened, "as-curl")
    assert quiet(opened) == []


def test_the_api_is_described_without_anything_from_elsewhere(opened: Any, client: Client) -> None:
    opened.get(f"{client.address}/docs")
    until(lambda: count(opened, ".endpoint") > 20)
    assert "POST /check" in text_of(opened, "endpoints")
    own = [f"/page/{name}" for name in ("docs.js", "api.js", "draw.js", "style.css")]
    asked = set(requests_of(opened, f"{client.address}/docs"))
    assert asked <= {f"{client.address}{path}" for path in ("/docs", "/openapi.json", *own)}
    assert quiet(opened) == []
