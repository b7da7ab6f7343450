from __future__ import annotations

import pytest

from deniable.errors import InvalidParameter
from tests.support.commands import invoke


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--engine flink in.csv -o out", "local, spark"),
        ("--master local[1] in.csv -o out", "--engine spark"),
        ("--engine spark -o out", "--output"),
        ("--engine spark in.csv", "--output"),
        ("--engine spark in.csv -o out --resume --threads 2", "--resume, --threads"),
        ("--engine spark in.csv -o out --insecure-seed 1", "--insecure-seed"),
        ("--engine spark in.csv -o out --no-header", "--no-header"),
    ],
)
def test_options_that_do_not_fit_the_engine_are_refused_before_it_starts(arguments: str, named: str) -> None:
    done = invoke("privatize --epsilon 6", arguments)
    assert (done.exit_code, named in done.output) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [("-e 6 -m vikrey", "mechanism"), ("-e 6 -O t=1", "t"), ("--max-unchanged 0.5 -m tem", "max_unchanged")],
)
def test_a_release_is_checked_before_the_engine_starts(arguments: str, name: str) -> None:
    error = invoke("privatize --engine spark in.csv -o out", arguments).exception
    assert isinstance(error, InvalidParameter)
    assert error.name == name
