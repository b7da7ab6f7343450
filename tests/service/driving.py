"""The page of the service, driven in a browser as somebody at it would."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.report.browser import at_width
from tests.service.running import Client

PRIVATE = "zorblattsecret"


def until(true: Callable[[], Any], seconds: float = 600) -> Any:
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
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new "
        "Event('input'))",
        element,
        text,
    )


def choose_roles(
    opened: Any,
    *,
    text: Sequence[str] = ("text",),
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    sheet: Sequence[str] = (),
) -> list[str]:
    """Say what becomes of these columns of a file, and return what becomes of all of them."""
    chosen: list[str] = opened.execute_script(
        """const [text, keep, drop, sheet] = arguments;
        return [...document.querySelectorAll("#roles tbody tr")].map((row) => {
          const name = row.cells[0].textContent, choice = row.querySelector("select");
          if (text.includes(name)) choice.value = "column";
          if (keep.includes(name)) choice.value = "keep";
          if (drop.includes(name)) choice.value = "drop";
          if (sheet.includes(name)) choice.value = "keep_sheet";
          choice.dispatchEvent(new Event("change"));
          return choice.value;
        })""",
        list(text),
        list(keep),
        list(drop),
        list(sheet),
    )
    return chosen


def open_file(
    opened: Any,
    name: str,
    content: str,
    *,
    rows: int,
    text: Sequence[str] = ("text",),
    keep: Sequence[str] = (),
) -> None:
    """Drop a file, say what becomes of its columns, and wait for the preview of what leaves."""
    drop(opened, name, content)
    until(lambda: text_of(opened, "file-name") == name and count(opened, "#roles tbody tr"))
    choose_roles(opened, keep=keep)
    until(lambda: count(opened, "#rows tbody tr") == rows)


def press(opened: Any, element: str) -> None:
    """Press a button where it stands: a click by place misses it when a reply moves the page between aiming
    and pressing."""
    until(lambda: opened.find_element("id", element).is_displayed())
    opened.execute_script("document.getElementById(arguments[0]).click()", element)


def slide(opened: Any, epsilon: float) -> None:
    opened.execute_script(
        "const e = document.getElementById('epsilon'); e.value = arguments[0]; e.dispatchEvent(new "
        "Event('input'))",
        epsilon,
    )


def quiet(opened: Any) -> list[Any]:
    """Return what the browser complained about."""
    return [entry for entry in opened.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def drop(opened: Any, name: str, content: str) -> None:
    opened.execute_script(
        """
        const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[1]], arguments[0]));
        document.getElementById('drop').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
        """,  # noqa: E501
        name,
        content,
    )
