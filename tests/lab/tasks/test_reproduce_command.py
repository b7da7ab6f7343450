"""``deniable lab reproduce`` on tiny data: all results, the figure and the table, and nothing done twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli.app import app
from deniable.errors import InvalidParameter, TaskDataError

Reproduce = Callable[..., Result]


@pytest.fixture
def reproduce(data: Path, installed: Embedding, tmp_path: Path) -> Reproduce:
    """Run the command on IMDb; options may come in words separated by blanks."""

    def run(options: str = "", *, status: int | None = 0) -> Result:
        command = ["lab", "reproduce", "imdb", "--data", str(data), "--embedding", "two-kinds"]
        result = CliRunner().invoke(app, [*command, "--work", str(tmp_path / "w"), *options.split()])
        assert status is None or result.exit_code == status, result.output
        return result

    return run


QUICK = "--runs 1 --epochs 1"
ONE = f"{QUICK} --at test --texts 20"


def test_results_figure_and_table_and_a_second_call_that_goes_on(
    reproduce: Reproduce, tmp_path: Path
) -> None:
    first = reproduce(f"-e 0.5 -e 50 {QUICK}")
    (folder,) = (tmp_path / "w" / "imdb").iterdir()
    names = [f"{at}-{epsilon}-run1.json" for at in ("test", "train") for epsilon in ("0.5", "50")]
    assert sorted(file.name for file in (folder / "results").iterdir()) == [*names, "unperturbed-run1.json"]
    assert all((folder / name).stat().st_size > 0 for name in ("curve.png", "curve.svg", "table.md"))
    assert first.stderr.count("new results") == 5

    kept = {file: file.read_bytes() for file in (folder / "results").iterdir()}
    lost = folder / "results" / "train-50-run1.json"
    lost.unlink()
    second = reproduce(f"-e 0.5 -e 50 {QUICK}")
    assert second.stderr.count("new results") == second.stderr.count("train-50-run1") == 1
    assert all(file.read_bytes() == content for file, content in kept.items() if file != lost)
    again = json.loads(lost.read_text(encoding="utf-8"))
    assert again["made_with"]["noise"].startswith("secure")
    assert again["made_with"]["model_seed"] == 1


def test_results_only_and_one_place(reproduce: Reproduce, tmp_path: Path) -> None:
    assert "2 results in" in reproduce(f"-e 5 --results-only {ONE}").stdout
    assert not list((tmp_path / "w").rglob("curve.*"))


def test_what_cannot_be_is_refused(reproduce: Reproduce, data: Path, tmp_path: Path) -> None:
    reproduce(f"--data {tmp_path / 'nothing'}", status=2)
    for options in ("--runs 0", "--after-tan"):
        assert isinstance(reproduce(options, status=None).exception, InvalidParameter)
    data.write_text(data.read_text()[:500])
    cut = reproduce(status=None).exception
    assert isinstance(cut, TaskDataError)
    assert "cut off" in str(cut)
    assert not (tmp_path / "w").exists()


def test_another_mechanism_or_option_never_meets_what_was_kept(reproduce: Reproduce, tmp_path: Path) -> None:
    kept: dict[Path, bytes] = {}
    for chosen, name in (
        ("", "Multivariate"),
        ("-m vickrey", "Vickrey"),
        ("-m vickrey -O t=0.5", "Vickrey"),
        ("-m santext", "SanText"),
    ):
        result = reproduce(f"-e 5 --results-only {ONE} {chosen}")
        assert result.stderr.count("new results") == 2
        files = {file: file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file()}
        assert kept.items() <= files.items()
        new = files.keys() - kept.keys()
        assert sum("perturbed" in file.parts for file in new) == 1
        (outcome,) = (json.loads(files[file]) for file in new if file.name == "test-5-run1.json")
        written = json.dumps(outcome["mechanism"])
        assert name in written
        assert ("0.5" in written) == ("t=0.5" in chosen)
        kept = files
    again = reproduce(f"-e 5 --results-only {ONE} -m vickrey -O t=0.75")  # the default, said
    assert again.stderr.count("new results") == 0
    wrong = reproduce(f"-e 5 --results-only {ONE} -m vickrey -O c=1", status=None)
    assert isinstance(wrong.exception, InvalidParameter)


def test_another_mechanism_has_values_of_its_own_and_a_table(reproduce: Reproduce, tmp_path: Path) -> None:
    reproduce(f"-m santext {ONE}")
    (table,) = (tmp_path / "w").rglob("table.md")
    text = table.read_text(encoding="utf-8")
    assert "Mechanism: santext." in text
    assert "exact sums" in text
