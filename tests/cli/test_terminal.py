"""Names from files cannot act on the terminal that a command prints them to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.cli.terminal import make_table, open_console, print_json
from deniable.embeddings import store
from tests.support.commands import invoke

BAD = "\x1b[2J\x9b31m\u202e"


def test_text_tables_and_json_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    console = open_console(width=200)
    console.print(f"text {BAD}")
    console.print(make_table([f"head {BAD}"], [[f"cell {BAD}"]], title=f"title {BAD}"))
    print_json({BAD: [BAD, "é ❤"]})
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert out.count("x1b") == 4
    assert json.loads(out[out.index("{") :]) == {BAD: [BAD, "é ❤"]}


def test_groups_of_a_released_file_are_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    vectors = np.random.default_rng(0).standard_normal((40, 3))
    store.save(Embedding([f"w{i}" for i in range(40)], vectors), "small")
    rows = [f"{'w1 w2 w3 ' * 5},a\n", f"{'w4 w5 w6 ' * 5},{BAD}\n"] * 150
    (tmp_path / "released.csv").write_text("text,group\n" + "".join(rows), encoding="utf-8")
    given = "--by group --epsilon 8 --embedding small --column text --no-check --quiet"
    done = invoke("frequencies", tmp_path / "released.csv", given)
    assert done.exit_code == 0, done.output
    assert done.stdout.replace("\n", "").isprintable()
    assert "\\x1b[2J" in done.stdout
