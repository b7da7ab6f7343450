"""Groups of options: Typer sees their options, commands get them as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from deniable.cli.options import BudgetOptions, FileOptions, MechanismOptions, ReleaseOptions, with_groups
from deniable.errors import InvalidParameter
from deniable.release.fields import FIELDS
from tests.support.commands import invoke


@dataclass(frozen=True, kw_only=True)
class Inner:
    """An option.

    :param depth -d: How
        deep.
    """

    depth: int = 3


@dataclass(frozen=True, kw_only=True)
class Outer:
    """Two options and a group.

    :param name WHO: Whose.
    :param loud --loud/--soft: Whether it is.
    """

    name: str
    inner: Inner
    loud: bool = False


@dataclass(frozen=True, kw_only=True)
class Derived(Inner):
    """One more option."""

    width: Annotated[list[float] | None, typer.Option()] = None

    def __post_init__(self) -> None:
        if self.depth > 9:
            raise typer.BadParameter("too deep")


def app_of(command: Callable[..., None]) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    return app


def run(command: Callable[..., None], arguments: str) -> Any:
    return CliRunner().invoke(app_of(command), arguments.split())


def test_a_command_gets_its_groups_built_from_the_options() -> None:
    got: list[object] = []

    @with_groups
    def command(file: Path, *, outer: Outer, last: int = 1) -> None:
        got.extend([file, outer, last])

    assert run(command, "a.txt --name x -d 5 --loud --last 2").exit_code == 0
    assert got == [Path("a.txt"), Outer(name="x", inner=Inner(depth=5), loud=True), 2]


def test_options_stand_in_the_place_of_their_group_with_their_defaults_and_help() -> None:
    @with_groups
    def command(*, first: int = 1, outer: Outer, last: int = 2, epsilon: float | None = None) -> None:
        """Do nothing.

        :param last --final -f: The last.
        """

    made = typer.main.get_command(app_of(command))
    assert [parameter.name for parameter in made.params][:5] == ["first", "name", "depth", "loud", "last"]
    by_name: dict[str | None, Any] = {parameter.name: parameter for parameter in made.params}
    depth = by_name["depth"]
    assert (depth.opts, depth.default, depth.help) == (["--depth", "-d"], 3, "How deep.")
    assert by_name["name"].required
    assert made.help == "Do nothing."
    assert (by_name["last"].opts, by_name["first"].opts) == (["--final", "-f"], ["--first"])
    assert by_name["epsilon"].help == FIELDS["epsilon"].help, "what is not described is a field of a release"
    shown = run(command, "--help").output
    assert all(option in shown for option in ("--name WHO", "--loud", "--soft"))


def test_a_group_may_have_the_name_of_one_of_its_options_and_a_base_class_and_may_refuse() -> None:
    got: list[Inner] = []

    @with_groups
    def named(*, depth: Inner) -> None:
        got.append(depth)

    @with_groups
    def derived(*, derived: Derived) -> None:
        got.append(derived)

    assert run(named, "--depth 7").exit_code == 0
    assert run(derived, "--width 0.5 --width 2").exit_code == 0
    assert got == [Inner(depth=7), Derived(depth=3, width=[0.5, 2.0])]
    refused = run(derived, "--depth 10")
    assert (refused.exit_code, "too deep" in refused.output) == (2, True)


def test_two_options_of_one_name_are_refused_when_the_command_is_defined() -> None:
    def command(*, depth: int = 1, inner: Inner) -> None:
        """Never runs."""

    with pytest.raises(ValueError, match="'depth'"):
        with_groups(command)


def test_a_mechanism_is_chosen_and_its_options_are_checked() -> None:
    chosen = MechanismOptions(mechanism="vickrey", mechanism_options=["t=0.50"]).choose()
    assert (chosen.name, chosen.options) == ("vickrey", {"t": 0.5})
    with pytest.raises(InvalidParameter) as refused:
        MechanismOptions(mechanism="vickrey", mechanism_options=["t"]).choose()
    assert (refused.value.name, refused.value.value) == ("--mechanism-option", "t")


@pytest.mark.parametrize(
    "budget", [{}, {"epsilon": 1.0, "max_unchanged": 0.5}, {"risk": "low", "max_unchanged": 0.5}]
)
def test_a_budget_must_be_said_once(budget: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        ReleaseOptions().resolve(BudgetOptions(**budget), pytest.fail)
    assert refused.value.name in ("epsilon", "risk", "max_unchanged")


def test_options_make_a_release(tmp_path: Path) -> None:
    words = tmp_path / "keep.txt"
    words.write_text("and\nor\n")
    options = ReleaseOptions(mechanism="custext", mechanism_options=["k=7"], case="keep", keep_words=words)
    release = options.resolve(BudgetOptions(epsilon=2.0), pytest.fail)
    assert (release.epsilon, release.mechanism, release.mechanism_options) == (2.0, "custext", (("k", 7),))
    assert (release.case, release.keep_words, release.consistent) == ("keep", {"and", "or"}, False)


def test_a_keyed_release_names_records_by_one_column() -> None:
    key = Path("key")
    assert ReleaseOptions(key_file=key, record_id="id").naming_column == "id"
    assert ReleaseOptions(key_file=key, consistent_by="user").naming_column == "user"
    assert ReleaseOptions(key_file=key).naming_column is None
    with pytest.raises(typer.BadParameter):
        assert ReleaseOptions(key_file=key, record_id="id", consistent_by="user").naming_column


def test_reading_options_are_named_as_functions_name_them() -> None:
    given: dict[str, Any] = {}

    @with_groups
    def command(*, reading: FileOptions) -> None:
        given.update(reading.reading())

    assert run(command, "--format csv --no-header").exit_code == 0
    assert given == {"format": "csv", "delimiter": None, "header": False, "encoding": "utf-8", "sheet": None}


@pytest.mark.parametrize("command", "decode|frequencies|utility|explain|calibrate|audit inversion".split("|"))
def test_old_names_of_the_effort_are_refused_by_the_new_one(command: str) -> None:
    for old in ("--directions", "--rays", "--draws", "--points"):
        refused = invoke(command, old, "5")
        assert (refused.exit_code, "--effort" in refused.output) == (2, True)
    never = invoke(command, "--rayss 5")
    assert (never.exit_code, "--effort" in never.output) == (2, False)


def test_help_shows_options_in_sections() -> None:
    shown = invoke("privatize --help").output
    places = [
        shown.index(f"\n{title}:\n")
        for title in ("Arguments", "Input", "Privacy", "Output", "Performance", "Options")
    ]
    assert places == sorted(places)
    assert (
        places[1]
        < shown.index("--keep-sheet")
        < places[2]
        < shown.index("--risk")
        < places[3]
        < shown.index("--resume")
    )
