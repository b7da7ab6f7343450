"""A figure as part of a page: no ids that clash, colours that follow the page, text in the page's font, and words for the blind."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib.figure import Figure

from deniable.report.figure import svg
from deniable.report.palette import VARIABLES
from deniable.report.visible import visible

_COLOUR = re.compile("|".join(VARIABLES))
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
_UNSEEN = {"metadata", "style"}


def inline_svg(figure: Figure, *, alt: str, prefix: str) -> Markup:
    """Return the figure as an ``<svg>`` element whose ids begin with ``prefix``."""
    root = ElementTree.fromstring(svg(figure))  # noqa: S314 - written by ourselves, a line above
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(name): _attribute(_local(name), value, prefix) for name, value in element.attrib.items()}
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in _UNSEEN or (child.tag == "defs" and not len(child))]:
            parent.remove(child)
    wanted = _ids_in_use(root)
    for element in root.iter():
        element.text, element.tail = (element.text if element.tag == "text" else None), None
        if element.get("id") not in wanted:
            element.attrib.pop("id", None)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": visible(alt), "style": "stroke-linejoin: round; stroke-linecap: butt"}
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - the serialiser has escaped all text in it


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attribute(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    value = value.replace("url(#", f"url(#{prefix}")
    if name == "style":
        value = _COLOUR.sub(lambda found: f"var(--{VARIABLES[found[0]]})", _FAMILY.sub("", value))
    return re.sub(r"\s+", " ", value).strip()


def _ids_in_use(root: ElementTree.Element) -> set[str]:
    values = [value for element in root.iter() for value in element.attrib.values()]
    return {name for value in values for name in re.findall(r"^#(.+)$|url\(#([^)]+)\)", value) for name in name if name}
