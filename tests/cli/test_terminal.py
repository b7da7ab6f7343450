"""Names from files cannot act on the terminal that a command prints them to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.cli.app import main
from deniable.cli.terminal import make_table, open_console, print_json
from deniable.embeddings import store

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


def test_groups_of_a_released_file_are_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    words = [f"w{i}" for i in range(40)]
    store.save(Embedding(words, np.random.default_rng(0).standard_normal((40, 3))), "small")
    rows = "".join(
        f"{'w1 w2 w3 ' * 5 if i % 2 else 'w4 w5 w6 ' * 5},{'a' if i % 2 else BAD}\n" for i in range(300)
    )
    (tmp_path / "released.csv").write_text(f"text,group\n{rows}", encoding="utf-8")
    given = ["--epsilon", "8", "--embedding", "small", "--column", "text", "--no-check", "--quiet"]
    monkeypatch.setattr(
        "sys.argv", ["deniable", "frequencies", str(tmp_path / "released.csv"), "--by", "group", *given]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "\\x1b[2J" in out
