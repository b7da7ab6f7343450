"""What an HTML page consists of, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}
LOADING = {"src", "href", "srcset", "data", "poster", "action", "background"}


@dataclass
class Outline:
    """The elements, attributes and text of a page, in order."""

    raw: str
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    policy: str = ""
    text: str = ""


class _Parser(HTMLParser):
    def __init__(self, found: Outline) -> None:
        super().__init__(convert_charrefs=True)
        self.found, self.open = found, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._element(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._element(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.found.problems.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        self.found.text += data

    def _element(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if len(given) != len(attrs):
            self.found.problems.append(f"<{tag}> at {self.getpos()} repeats an attribute")
        self.found.tags.append(tag)
        self.found.attributes += [(tag, name) for name in given]
        for name, value in given.items():
            if name in LOADING and not value.startswith("#"):
                self.found.outside.append(value)
            self.found.references += re.findall(r"url\(#([^)]*)\)", value) + (
                [value[1:]] if value.startswith("#") and name == "href" else []
            )
            self.found.outside += re.findall(r"url\(([^#)][^)]*)\)", value)
        if "id" in given:
            self.found.ids.append(given["id"])
        if "aria-label" in given:
            self.found.labels.append(given["aria-label"])
        if given.get("http-equiv") == "Content-Security-Policy":
            self.found.policy = given["content"]


def outline(html: str) -> Outline:
    """Return what the page consists of."""
    found = Outline(raw=html)
    parser = _Parser(found)
    parser.feed(html)
    parser.close()
    if parser.open:
        found.problems.append(f"never closed: {parser.open}")
    if not html.lower().startswith("<!doctype html>"):
        found.problems.append("there is no doctype")
    return found
