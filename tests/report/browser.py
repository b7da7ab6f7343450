"""A page in a real browser: Debian's Chromium without a window, driven over ChromeDriver."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

REQUIRED = "DENIABLE_REQUIRE_BROWSER"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic "
    "--no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --hide-scrollbars"
).split()


@contextmanager
def browser(folder: Path) -> Iterator[Any]:
    """Give a browser whose profile lies in ``folder``; skip the test where there is none, unless one is
    required."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        problem = (
            "Chromium and ChromeDriver are not installed (Debian: apt-get install chromium chromium-driver)"
        )
        if os.environ.get(REQUIRED):
            pytest.fail(f"{problem}, and {REQUIRED} says that they must be")
        pytest.skip(problem)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    try:
        yield opened
    finally:
        opened.quit()


def at_width(opened: Any, width: int) -> None:
    """Show the page as a window, or a telephone, of this width does."""
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def requests_of(opened: Any, page: str) -> list[str]:
    """Return the addresses that this page asked for since the last call, its own among them; not those of the
    browser's first tab."""
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return [request["request"]["url"] for request in asked if request["documentURL"] == page]
