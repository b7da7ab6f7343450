from __future__ import annotations

import pytest
from typer.testing import CliRunner

from deniable.cli.app import app


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "flink", "in.csv", "-o", "out"], "--engine must be one of local, spark"),
        (["--master", "local[1]", "in.csv", "-o", "out"], "--master needs --engine spark"),
        (["--engine", "spark", "-o", "out"], "needs a FILE or folder and an --output"),
        (["--engine", "spark", "in.csv"], "needs a FILE or folder and an --output"),
        (
            ["--engine", "spark", "in.csv", "-o", "out", "--resume", "--threads", "2"],
            "--resume, --threads: not with --engine spark",
        ),
        (
            ["--engine", "spark", "in.csv", "-o", "out", "--insecure-seed", "1"],
            "--insecure-seed: not with --engine spark",
        ),
        (
            ["--engine", "spark", "in.csv", "-o", "out", "--threads", "1"],
            "--threads: not with --engine spark",
        ),
        (["--engine", "spark", "in.csv", "-o", "out", "--no-header"], "--no-header: not with --engine spark"),
    ],
)
def test_options_that_do_not_fit_the_engine_are_refused_before_it_starts(
    arguments: list[str], message: str
) -> None:
    done = CliRunner().invoke(app, ["privatize", "--epsilon", "6", *arguments], env={"COLUMNS": "300"})
    assert done.exit_code == 2
    assert message in done.output


def test_a_mechanism_is_checked_before_the_engine_starts() -> None:
    for arguments, message in (
        (["-m", "vikrey"], "must be one of"),
        (["-O", "t=1"], "is no option of the mechanism multivariate"),
    ):
        done = CliRunner().invoke(
            app, ["privatize", "--epsilon", "6", "--engine", "spark", "in.csv", "-o", "out", *arguments]
        )
        assert done.exit_code == 1
        assert message in str(done.exception)
    arguments = ["--max-unchanged", "0.5", "--engine", "spark", "in.csv", "-o", "out", "-m", "tem"]
    done = CliRunner().invoke(app, ["privatize", *arguments])
    assert "is not calibrated for TEM" in str(done.exception)
