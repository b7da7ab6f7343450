"""The documentation does what it says: blocks run, links resolve, options are all there, and no page knows
this machine.

In README.md and docs/**/*.md every ``python`` block is executed (the blocks of a page share one namespace)
and every line of a ``console`` block that starts with ``$ `` is run by bash and must succeed. Directly before
a fence, ``<!-- exact -->`` also compares the output shown with the output made, and ``<!-- not run: reason
-->`` leaves a block out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripts import cli_reference

from tests.report.browser import browser
from tests.support.commands import forked_command
from tests.support.spark_cluster import require_java, write_defaults
from tests.test_rooms import BESIDE, ROOMS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]
MOST_BLOCKS_NOT_RUN = 5
MOST_WORDS_OF_THE_README = 600
SPARK = "docs/integrations/spark.md"

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*$")
_MARK = re.compile(r"^\s*<!--\s*(?P<mark>exact|not run: \S[^>]*?)\s*-->\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; ``line`` is the number of its first line of content."""

    language: str
    lines: list[str]
    line: int
    mark: str | None


@dataclass(frozen=True)
class Command:
    """A line that a reader types, and what the page shows that it prints."""

    text: str
    shown: list[str]


def blocks_of(text: str) -> list[Block]:
    found: list[Block] = []
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        if opening is None:
            position += 1
            continue
        indent, start = opening["indent"], position + 1
        end = next((i for i in range(start, len(lines)) if lines[i].strip() == "```"), None)
        assert end is not None, f"line {start}: the block is never closed"
        mark = _MARK.match(lines[position - 1]) if position else None
        content = [line.removeprefix(indent) for line in lines[start:end]]
        found.append(Block(opening["language"], content, start + 1, mark["mark"] if mark else None))
        position = end + 1
    return found


def commands_of(block: Block) -> list[Command]:
    commands: list[Command] = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append(Command(line[2:], []))
        elif commands and commands[-1].text.endswith("\\") and not commands[-1].shown:
            commands[-1] = Command(f"{commands[-1].text}\n{line.removeprefix('> ')}", [])
        elif commands:
            commands[-1].shown.append(line)
    assert commands, f"line {block.line}: a console block without a line that starts with '$ '"
    return commands


def run(command: str, folder: Path, *places: Path) -> subprocess.CompletedProcess[str]:
    """Run what a reader types, with the commands in these places before all others."""
    path = os.pathsep.join([*map(str, places), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ,
        "PATH": path,
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "NO_MKDOCS_2_WARNING": "1",
    }
    # -e is not enough: bash must also fail when the first part of a pipe does.
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=600,
    )


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the examples in it and an empty store of embeddings, as the working folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with forked_command(tmp_path_factory.mktemp("forked")) as commands:
        yield commands


def run_page(text: str, name: str, folder: Path, *places: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if block.mark is not None and block.mark.startswith("not run"):
            continue
        if block.language == "python":
            # Blank lines first, so that a traceback names the line of the page.
            source = "\n" * (block.line - 1) + "\n".join(block.lines)
            exec(compile(source, name, "exec"), namespace)
        elif block.language == "console":
            for command in commands_of(block):
                done = run(command.text, folder, *places)
                assert done.returncode == 0, (
                    f"{name}, line {block.line}: $ {command.text}\n{done.stdout}{done.stderr}"
                )
                if block.mark == "exact":
                    made = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]
                    assert made == [line.rstrip() for line in command.shown] or made == [""] == (
                        command.shown or [""]
                    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_runs(page: Path, workplace: Path, forked: Path) -> None:
    if page != ROOT / SPARK:
        places = (
            [] if page == ROOT / "README.md" else [forked]
        )  # one page takes the command as it is installed
        run_page(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix(), workplace, *places)
        return
    require_java()
    # Spark's Java process stays with the Python process that started it, and in the folder it was started in.
    code = (
        "from pathlib import Path; from tests.test_docs import run_page; "
        f"run_page(Path({str(page)!r}).read_text(), 'spark.md', Path.cwd())"
    )
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "SPARK_CONF_DIR": str(write_defaults(workplace.parent / "conf")),
    }
    subprocess.run([sys.executable, "-c", code], cwd=workplace, env=environment, check=True)


def fenced(language: str, content: str, mark: str = "") -> str:
    return f"{mark}\n```{language}\n{content}\n```\n"


@pytest.mark.parametrize(
    "broken",
    [
        fenced("python", "1 / 0"),
        fenced("python", "a = 1") + fenced("python", "assert a == 2"),
        fenced("console", "$ false"),
        fenced("console", "$ false | true"),
        fenced("console", "$ no-such-command-at-all"),
        fenced("console", "deniable --version"),
        fenced("console", "$ echo this\nthat", "<!-- exact -->"),
        fenced("console", "$ echo this", "<!-- exact -->"),
        fenced("console", "$ echo unclosed").replace("\n```\n", "\n"),
    ],
)
def test_a_page_that_is_wrong_is_caught(broken: str, workplace: Path) -> None:
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(broken, "broken.md", workplace)


def test_a_page_that_is_right_passes(workplace: Path) -> None:
    right = [
        fenced("python", "from pathlib import Path\nPath('made').write_text('here')"),
        fenced("console", "$ cat made && \\\n>   echo\nhere", "<!-- exact -->"),
        fenced("console", "$ cat made\nthe output shown is not compared"),
        fenced("console", "$ false", "<!-- not run: it fails -->"),
        fenced("text", "$ false"),
    ]
    run_page("".join(right), "right.md", workplace)


def test_few_blocks_are_not_run_and_most_pages_have_some_that_are() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page.read_text(encoding="utf-8"))]
    runnable = [block for block in blocks if block.language in ("python", "console")]
    not_run = [block for block in runnable if block.mark is not None and block.mark.startswith("not run")]
    assert len(not_run) <= MOST_BLOCKS_NOT_RUN
    assert len(runnable) - len(not_run) >= 30
    assert {block.language for block in blocks} <= {
        "python",
        "console",
        "text",
        "yaml",
        "toml",
        "json",
        "",
    }, "write console or python, or it is never run"
    nameless = [line for block in blocks if not block.language for line in block.lines]
    assert not [line for line in nameless if re.match(r"\$ |>>> |deniable |import |from ", line)], (
        "write console or python, or it is never run"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    build = run(
        f"python -m mkdocs build --strict --quiet --config-file '{ROOT / 'mkdocs.yml'}' --site-dir '{folder}'",  # noqa: E501
        ROOT,
    )
    assert build.returncode == 0, build.stderr
    return folder


def test_the_site_builds_without_a_warning(site: Path) -> None:
    outside = re.compile(r"""(?:<script[^>]+src|<link[^>]+stylesheet[^>]+href)=["'](?:https?:)?//[^"']+""")
    found = [
        hit for page in site.rglob("*.html") for hit in outside.findall(page.read_text(encoding="utf-8"))
    ]
    assert not found, "the site must not load anything from elsewhere"


# What the theme's button for copying takes: see `extract` in its bundle. The attribute is the theme's.
COPIED = """return [...document.querySelectorAll('.language-console code')].map(code => {
  code.setAttribute('data-md-copying', '');
  const taken = code.innerText;
  code.removeAttribute('data-md-copying');
  return taken.trimEnd();
})"""


def test_copied_commands_have_no_prompt_and_no_output_and_the_site_has_a_dark_form(
    site: Path, tmp_path: Path
) -> None:
    bundle = next((site / "assets" / "javascripts").glob("bundle.*.js")).read_text(encoding="utf-8")
    assert "data-md-copying" in bundle, "the theme copies in another way now"
    typed = [
        "\n".join(command.text for command in commands_of(block))
        for block in blocks_of((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
        if block.language == "console"
    ]
    with browser(tmp_path) as opened:
        colours = []
        for scheme in ("light", "dark"):
            opened.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            opened.get((site / "index.html").as_uri())
            colours.append(opened.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert opened.execute_script(COPIED) == typed
    assert colours[0] != colours[1]


def test_links_between_files_of_the_repository_resolve() -> None:
    # Strict mode looks at docs/ only, and not at what it includes.
    for page in sorted(ROOT.glob("*.md")):
        for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert re.match(r"https?://|mailto:", link) or (page.parent / link).exists(), (
                f"{page.name}: {link}"
            )


def test_the_readme_is_short_and_names_the_two_commands_first() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split()) <= MOST_WORDS_OF_THE_README
    first_screen = "\n".join(text.split("\n")[:24])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_no_page_says_that_whatever_is_not_named_is_released() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert not re.search(r"(?i)columns (?:that )?you (?:do|did) not name", text), page


def test_the_design_page_lists_the_rooms_in_their_order() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = page.partition("| package |")[2].partition("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.split("\n")[2:]]
    rooms = [room for cell in first_cells for room in re.findall(r"`(\w+)/?`", cell)]
    assert tuple(room for room in rooms if room not in BESIDE) == ROOMS


def test_the_command_line_reference_is_that_of_the_commands() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert page == cli_reference.reference(), "run python -m scripts.cli_reference"


def options() -> Iterator[tuple[str, str]]:
    import typer

    from deniable.cli.app import app

    for command, details in cli_reference.commands(typer.main.get_command(app), "deniable"):
        for parameter in details.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                yield command, option if option.startswith("-") else option.upper()


def test_every_option_stands_in_the_section_of_its_command() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    sections = {part.partition("`")[0]: part for part in page.split("\n## `")[1:]}
    found = list(options())
    assert len(found) > 40
    missing = [(command, option) for command, option in found if f"`{option}`" not in sections[command]]
    assert not missing


def test_options_that_pages_speak_of_exist() -> None:
    known = {option for _, option in options()} | {"--help"}
    for page in PAGES:
        if page.name == "cli.md":
            continue
        for block in blocks_of(page.read_text(encoding="utf-8")):
            for line in block.lines if block.language == "console" else []:
                for part in re.findall(r"deniable (?:privatize|explain|embeddings)[^|>]*", line):
                    unknown = set(re.findall(r"(?<= )--[a-z-]+", part)) - known
                    assert not unknown, f"{page.name}: {line}"


FOLDERS = ("docs", "src", "tests", "benchmarks", "scripts", "examples", ".ci")
# Cut in two, so that this file does not match itself.
_CUT = r"""(?<![\w.])/wor k/\w|/ro ot/|/home/ [a-z]|/tmp/ peers|py pi\.(?:org|python)|python hosted\.
    |registry\. npm|arti factory|--(?:extra-)?index -url"""
OF_THIS_MACHINE = re.compile(re.sub(r"\s", "", _CUT), re.IGNORECASE)


def files_of_the_project() -> Iterator[Path]:
    endings = {*".md .py .toml .yml .yaml .json .csv .txt .cfg .sh .cpp .hpp .h".split(), ""}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in endings and "__pycache__" not in path.parts:
                yield path
    yield from (
        path
        for path in sorted(ROOT.iterdir())
        if path.is_file() and path.suffix in endings and path.name != ".git"
    )


def test_no_file_knows_this_machine_or_its_registry() -> None:
    found = []
    checked = 0
    for path in files_of_the_project():
        checked += 1
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if OF_THIS_MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}, line {number}: {line.strip()[:120]}")
    assert checked > 100
    assert not found


def test_the_demonstration_runs_on_a_plain_terminal(workplace: Path) -> None:
    done = run("PYTHONIOENCODING=ascii PYTHONUTF8=0 LC_ALL=C python examples/demo.py", workplace)
    assert done.returncode == 0, done.stderr
    assert "before" in done.stdout
    assert "budget" in done.stdout
