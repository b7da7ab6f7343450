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
        (["--engine", "spark", "in.csv", "-o", "out", "--resume", "--threads", "2"], "--resume, --threads: not with --engine spark"),
        (["--engine", "spark", "in.csv", "-o", "out", "--insecure-seed", "1"], "--insecure-seed: not with --engine spark"),
        (["--engine", "spark", "in.csv", "-o", "out", "-m", "tem"], "--mechanism: not with --engine spark"),
        (["--engine", "spark", "in.csv", "-o", "out", "-O", "t=1"], "--mechanism-option: not with --engine spark"),
        (["--engine", "spark", "in.csv", "-o", "out", "--no-header"], "--no-header: not with --engine spark"),
    ],
)
def test_options_that_do_not_fit_the_engine_are_refused_before_it_starts(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["privatize", "--epsilon", "6", *arguments], env={"COLUMNS": "300"})
    assert done.exit_code == 2
    assert message in done.output
