"""XML as events, a little at a time: read without entities, and written from what is on a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO, Literal, NamedTuple
from xml.parsers import expat

from deniable.errors import RecordError

Attributes = dict[str, str]
"""By name; those of a namespace by its address, a blank and the name."""

_DEEPEST = 256
_CHARACTERS_AT_ONCE = 1 << 16
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IN_TEXT, _IN_ATTRIBUTE = re.compile(r"[&<>\r]"), re.compile(r'[&<>"\t\n\r]')

NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, escaped or not."""


class Event(NamedTuple):
    """The start or the end of an element, or text; ``name`` is that of the element, with its namespace before it, or the text."""

    kind: Literal["start", "end", "text"]
    name: str
    attributes: Attributes


class _Document(Exception):
    """A part declares a document type, whose entities could stand for anything."""


def read_xml(chunks: Iterable[bytes], source: str, part: str) -> Iterator[Event]:
    """Yield what stands in a part.

    :raises RecordError: if it is no XML, or declares a document type.
    """
    found: list[Event] = []
    depth = 0

    def start(name: str, attributes: Attributes) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise _Document
        found.append(Event("start", name, attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(Event("end", name, {}))

    def refuse(*_: object) -> None:
        raise _Document

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: found.append(Event("text", text, {}))
    parser.StartDoctypeDeclHandler = refuse
    for chunk in _with_end(chunks):
        try:
            parser.Parse(chunk, not chunk)
        except (expat.ExpatError, _Document, ValueError, LookupError):
            raise RecordError(source, f"the part {part} is not XML as spreadsheets have it; the file is damaged") from None
        yield from found
        found.clear()


def children(events: Iterator[Event]) -> Iterator[Event]:
    """Yield the starts of the elements directly in one that has begun; whoever gets one reads it to its end."""
    for event in events:
        if event.kind == "end":
            return
        if event.kind == "start":
            yield event


def skip_element(events: Iterator[Event]) -> None:
    """Read to the end of an element that has begun."""
    text_until_end(events)


def text_until_end(events: Iterator[Event]) -> str:
    """Return the text in an element that has begun, and read to its end."""
    depth, texts = 1, []
    for event in events:
        depth += {"start": 1, "end": -1, "text": 0}[event.kind]
        if event.kind == "text":
            texts.append(event.name)
        if not depth:
            break
    return "".join(texts)


def _with_end(chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield from (chunk for chunk in chunks if chunk)
    yield b""


def local_name(name: str) -> str:
    """Return the name of an element or an attribute without its namespace."""
    return name.rpartition(" ")[2]


class XmlWriter:
    """Writes elements to a file, by equal parts."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[str] = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n']
        self._characters = 0

    def start(self, name: str, attributes: Mapping[str, str] | None = None) -> None:
        """Write the start of an element; names are written as they are given."""
        said = "".join(f' {key}="{escape_attribute(value)}"' for key, value in (attributes or {}).items())
        self.raw(f"<{name}{said}>")

    def end(self, name: str) -> None:
        """Write the end of an element."""
        self.raw(f"</{name}>")

    def element(self, name: str, attributes: Mapping[str, str] | None = None, text: str = "") -> None:
        """Write an element that holds text alone."""
        self.start(name, attributes)
        self.text(text)
        self.end(name)

    def text(self, text: str) -> None:
        """Write text."""
        self.raw(escape_text(text))

    def raw(self, written: str) -> None:
        """Write what is XML already."""
        self._waiting.append(written)
        self._characters += len(written)
        if self._characters >= _CHARACTERS_AT_ONCE:
            self._write(last=False)

    def close(self) -> None:
        """Write what is left."""
        self._write(last=True)

    def _write(self, *, last: bool) -> None:
        # Compressors may cut their blocks where they are fed.
        whole = "".join(self._waiting)
        end = len(whole) if last else len(whole) - len(whole) % _CHARACTERS_AT_ONCE
        for at in range(0, end, _CHARACTERS_AT_ONCE):
            self._file.write(whole[at : min(at + _CHARACTERS_AT_ONCE, end)].encode())
        self._waiting, self._characters = [whole[end:]], len(whole) - end


def write_attributes(about: Mapping[str, str], names: Iterable[str]) -> str:
    """Return those attributes of these names that there are, as they stand in an element."""
    return "".join(f' {name}="{escape_attribute(about[name])}"' for name in names if name in about)


def escape_text(text: str) -> str:
    """Return text as it stands between elements."""
    return _IN_TEXT.sub(lambda found: _ESCAPED[found[0]], text)


def escape_attribute(text: str) -> str:
    """Return text as it stands in an attribute."""
    return _IN_ATTRIBUTE.sub(lambda found: _ESCAPED[found[0]], text)
