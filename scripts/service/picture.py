"""Take the pictures of the service's page that the guide shows, in Chromium without a window.

Usage: python -m scripts.service.picture
"""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from pathlib import Path

from tests.report.browser import browser

from deniable.service.app import Service
from deniable.service.server import make_server
from deniable.service.settings import Jobs, Limits, Settings
from scripts.pages import FIGURES

PICTURES = {
    "service-light.png": ("light", 1280, 1040, 1.0),
    "service-dark-phone.png": ("dark", 360, 760, 1.5),
}


def main() -> None:
    """Serve, look, and write the pictures."""
    with tempfile.TemporaryDirectory() as place:
        limits = Limits(seconds=600.0)  # a busy machine may take its time
        settings = Settings(jobs=Jobs(folder=str(Path(place, "jobs"))), limits=limits)
        listening = socket.create_server(("127.0.0.1", 0))
        server = make_server(settings, Service(settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        with browser(Path(place, "profile")) as opened:
            for name, (theme, width, height, scale) in PICTURES.items():
                opened.execute_cdp_cmd(
                    "Emulation.setEmulatedMedia",
                    {"features": [{"name": "prefers-color-scheme", "value": theme}]},
                )
                size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
                opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                opened.get(f"http://127.0.0.1:{listening.getsockname()[1]}/")
                while not opened.execute_script("return document.querySelector('#candidates li')"):
                    time.sleep(0.1)
                opened.save_screenshot(str(FIGURES / name))
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
