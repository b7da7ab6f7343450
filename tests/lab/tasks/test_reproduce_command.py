"""``deniable lab reproduce`` on tiny data: all results, the figure and the table, and nothing done twice."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from deniable import Embedding
from deniable.cli.app import app
from deniable.errors import InvalidParameter, TaskDataError

run = CliRunner()


def test_results_figure_and_table_and_a_second_call_that_goes_on(
    data: Path, installed: Embedding, tmp_path: Path
) -> None:
    work = tmp_path / "reproduced"
    command = [
        "lab",
        "reproduce",
        "imdb",
        "--data",
        str(data),
        "--embedding",
        "two-kinds",
        "--work",
        str(work),
    ]
    command += ["-e", "0.5", "-e", "50", "--runs", "1", "--epochs", "1"]
    first = run.invoke(app, command)
    assert first.exit_code == 0, first.output
    (folder,) = (work / "imdb").iterdir()
    results = sorted(file.name for file in (folder / "results").iterdir())
    assert results == [
        "test-0.5-run1.json",
        "test-50-run1.json",
        "train-0.5-run1.json",
        "train-50-run1.json",
        "unperturbed-run1.json",
    ]
    assert all((folder / name).stat().st_size > 0 for name in ("curve.png", "curve.svg", "table.md"))
    assert first.stderr.count("new results") == 5

    kept = {file: file.read_bytes() for file in (folder / "results").iterdir()}
    (folder / "results" / "train-50-run1.json").unlink()
    second = run.invoke(app, command)
    assert second.exit_code == 0, second.output
    assert second.stderr.count("new results") == 1
    assert "train-50-run1" in second.stderr
    for file, content in kept.items():
        if file.name != "train-50-run1.json":
            assert file.read_bytes() == content
    again = json.loads((folder / "results" / "train-50-run1.json").read_text(encoding="utf-8"))
    assert again["made_with"]["noise"].startswith("secure")
    assert again["made_with"]["model_seed"] == 1


def test_results_only_and_one_place(data: Path, installed: Embedding, tmp_path: Path) -> None:
    command = [
        "lab",
        "reproduce",
        "imdb",
        "--data",
        str(data),
        "--embedding",
        "two-kinds",
        "--work",
        str(tmp_path / "w"),
        "--results-only",
    ]
    result = run.invoke(
        app, [*command, "-e", "5", "--runs", "1", "--epochs", "1", "--at", "test", "--texts", "20"]
    )
    assert result.exit_code == 0, result.output
    assert "2 results in" in result.stdout
    assert not list((tmp_path / "w").rglob("curve.*"))


def test_what_cannot_be_is_refused(data: Path, installed: Embedding, tmp_path: Path) -> None:
    base = ["lab", "reproduce", "imdb", "--embedding", "two-kinds", "--work", str(tmp_path / "w")]
    assert run.invoke(app, [*base, "--data", str(tmp_path / "nothing")]).exit_code == 2
    assert isinstance(
        run.invoke(app, [*base, "--data", str(data), "--runs", "0"]).exception, InvalidParameter
    )
    data.write_text(data.read_text()[:500])
    cut = run.invoke(app, [*base, "--data", str(data)]).exception
    assert isinstance(cut, TaskDataError)
    assert "cut off" in str(cut)
    assert not (tmp_path / "w").exists()


def test_another_recipe_is_for_the_task_that_has_two(
    data: Path, installed: Embedding, tmp_path: Path
) -> None:
    result = run.invoke(
        app, ["lab", "reproduce", "imdb", "--data", str(data), "--embedding", "two-kinds", "--after-tan"]
    )
    assert isinstance(result.exception, InvalidParameter)
    assert result.exception.exit_code == 2
    assert "imdb has one recipe" in str(result.exception)


def test_another_mechanism_or_option_never_meets_what_was_kept(
    data: Path, installed: Embedding, tmp_path: Path
) -> None:
    work = tmp_path / "w"
    command = [
        "lab",
        "reproduce",
        "imdb",
        "--data",
        str(data),
        "--embedding",
        "two-kinds",
        "--work",
        str(work),
        "--results-only",
    ]
    command += ["-e", "5", "--runs", "1", "--epochs", "1", "--at", "test", "--texts", "20"]
    options = [[], ["-m", "vickrey"], ["-m", "vickrey", "-O", "t=0.5"], ["-m", "santext"]]
    made: dict[str, bytes] = {}
    for chosen in options:
        result = run.invoke(app, [*command, *chosen])
        assert result.exit_code == 0, result.output
        assert result.stderr.count("new results") == 2
        new = {
            str(file): file.read_bytes()
            for file in work.rglob("*")
            if file.is_file() and str(file) not in made
        }
        assert sum("perturbed" in Path(file).parts for file in new) == 1
        (outcome,) = [
            json.loads(content) for file, content in new.items() if Path(file).name == "test-5-run1.json"
        ]
        written = json.dumps(outcome["mechanism"])
        assert ("Multivariate" if not chosen else "Vickrey" if "vickrey" in chosen else "SanText") in written
        assert ("0.5" in written) == ("t=0.5" in chosen)
        assert all(Path(file).read_bytes() == content for file, content in made.items())
        made |= new
    again = run.invoke(app, [*command, "-m", "vickrey", "-O", "t=0.75"])  # the default, said
    assert again.stderr.count("new results") == 0
    wrong = run.invoke(app, [*command, "-m", "vickrey", "-O", "c=1"])
    assert isinstance(wrong.exception, InvalidParameter)


def test_another_mechanism_has_values_of_its_own_and_a_table(
    data: Path, installed: Embedding, tmp_path: Path
) -> None:
    command = [
        "lab",
        "reproduce",
        "imdb",
        "--data",
        str(data),
        "--embedding",
        "two-kinds",
        "--work",
        str(tmp_path / "w"),
        "-m",
        "santext",
    ]
    result = run.invoke(app, [*command, "--runs", "1", "--epochs", "1", "--at", "test", "--texts", "20"])
    assert result.exit_code == 0, result.output
    (table,) = (tmp_path / "w").rglob("table.md")
    text = table.read_text(encoding="utf-8")
    assert "Mechanism: santext." in text
    assert "exact sums" in text
