"""The rooms of the package stand in an order: no room imports a later one, lazily or not, and no modules
import one another in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import deniable

SOURCE = Path(deniable.__file__).parent

ROOMS = (
    "version",
    "installation",
    "errors",
    "arrays",
    "parameters",
    "atomic",
    "compression",
    "progress",
    "report",
    "words",
    "embeddings",
    "interfaces",
    "noise",
    "neighbours",
    "mechanisms",
    "channel",
    "measures",
    "release",
    "records",
    "decoding",
    "calibration",
    "utility",
    "purposes",
    "audit",
    "tuning",
    "decision",
    "service",
    "integrations",
    "cli",
    "lab",
)
"""Every room in the order in which it may import: those before it, never those after it. The package itself
names what is public."""

BESIDE = {"gpu": "neighbours"}
"""Rooms that stand beside another, in one place of the order: the search on a GPU is one of the searches."""

LATER_ON_PURPOSE = {
    ("deniable", "*"),  # the public names
    ("deniable.__main__", "deniable.cli.app"),
}


def modules(source: Path) -> dict[str, Path]:
    found = {}
    for path in sorted([*source.rglob("*.py"), *source.rglob("*.pyi")]):  # a stub stands for native code
        parts = ["deniable", *path.relative_to(source).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """Return what each module imports of the package, wherever in its text the statement stands."""
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name} imports relatively, which this test does not follow"
                module = node.module or ""
                wanted |= {
                    f"{module}.{alias.name}" if f"{module}.{alias.name}" in known else module
                    for alias in node.names
                }
        found[name] = {module for module in wanted if module in known and module != name}
    return found


def room_of(module: str) -> str:
    room = module.split(".")[1] if "." in module else ""
    return BESIDE.get(room, room)


def wrong_imports(graph: dict[str, set[str]]) -> list[str]:
    order = {room: place for place, room in enumerate(ROOMS)}
    wrong = []
    for module, wanted in graph.items():
        for other in wanted:
            if (
                (module, "*") in LATER_ON_PURPOSE
                or (module, other) in LATER_ON_PURPOSE
                or room_of(module) == room_of(other)
            ):
                continue
            if not room_of(other) or order[room_of(other)] > order[room_of(module)]:
                wrong.append(f"{module} imports {other}")
    return sorted(wrong)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import one another in a circle, or nothing."""
    done: set[str] = set()

    def follow(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        for other in sorted(graph[module]):
            if found := follow(other, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := follow(module, []))), [])


def test_every_module_has_a_room_in_the_order() -> None:
    assert {room_of(module) for module in modules(SOURCE)} - {"", "__main__"} == set(ROOMS)


def test_no_room_imports_a_later_one() -> None:
    assert wrong_imports(imports(modules(SOURCE))) == []


def test_no_modules_import_one_another_in_a_circle() -> None:
    assert circle(imports(modules(SOURCE))) == []


@pytest.mark.parametrize(
    "line",
    ["from deniable.cli import app", "import deniable.audit.draws", "from deniable import Privatizer"],
)
@pytest.mark.parametrize("lazily", [False, True])
def test_a_wrong_import_is_found(tmp_path: Path, line: str, lazily: bool) -> None:
    known = modules(SOURCE)
    wrong = tmp_path / "tokens.py"
    wrong.write_text(f"def late() -> None:\n    {line}\n" if lazily else f"{line}\n", encoding="utf-8")
    assert wrong_imports(imports(known | {"deniable.words.cutter": wrong}))


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
