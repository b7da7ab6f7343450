"""The script that measures attackers and the one that writes their page go together."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from deniable import Embedding
from deniable.audit.named import Named
from deniable.embeddings import store
from deniable.lab.comparison.readings import read_named
from deniable.lab.passages import passages_of
from deniable.measures.texts import cut_texts
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.release.policies import TextPolicy
from tests.audit.made_text import follow_one_another
from tests.support.strategies import random_embedding


@pytest.mark.parametrize("typed", ["multivariate", "rank-smoothing", "custext:k=10", "santext", "tem"])
def test_epsilon_is_where_the_attacker_names_the_wanted_share(
    typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    from scripts.decoding.measure import epsilons_where

    embedding, mechanism = random_embedding(200, 20), parse_mechanism(typed)
    texts = [
        " ".join(f"w{i}" for i in document)
        for document in np.random.default_rng(1).integers(200, size=(200, 20))
    ]
    found = epsilons_where(embedding, mechanism, passages_of(texts, embedding, TextPolicy()), [0.4, 1e-9])
    assert [wanted for wanted, _ in found] == [0.4], "the other is out of reach"
    attacker = Named.by_spelling(cut_texts(texts, embedding), embedding)
    epsilon = found[0][1]
    share = read_named(attacker, embedding, mechanism, "named", epsilon=epsilon, directions=300, seed=2).share
    assert share == pytest.approx(
        0.4, abs=0.1
    )  # it bends between two ε of the grid: 0.04 below for a softmax, and 0.01 by chance


def test_where_to_look_is_known_or_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    from scripts.decoding.measure import epsilons_where

    embedding = random_embedding(20, 3)
    with pytest.raises(SystemExit, match="line"):
        epsilons_where(
            embedding, parse_mechanism("line"), passages_of(["w1 w2"], embedding, TextPolicy()), [0.4]
        )


def test_what_is_measured_becomes_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    from scripts.attackers import measure
    from scripts.attackers.figure import attackers_figure
    from scripts.attackers.page import groups, missed, shares, sizes
    from scripts.attackers.results import read_results

    store.save(random_embedding(60, 3), "tiny", source="a test")
    documents = [" ".join(f"w{i}" for i in document) for document in follow_one_another(60, 150, 20, seed=1)]
    data, public = tmp_path / "text.jsonl", tmp_path / "public.txt"
    data.write_text(
        "".join(json.dumps({"text": document}) + "\n" for document in documents[:20]), encoding="utf-8"
    )
    public.write_text("\n".join(documents[20:]), encoding="utf-8")
    sizes_asked = ["--places", "200", "--support", "60", "--directions", "60", "--embedding", "tiny"]
    output = tmp_path / "attackers-made.json"
    asked = [
        str(data),
        "--name",
        "made",
        "--public",
        str(public),
        "-e",
        "1.5",
        "-e",
        "3",
        *sizes_asked,
        "-o",
        str(output),
    ]
    measure.main(asked)
    go_on_after_a_stop(output, lambda: measure.main(asked))
    results = read_results(tmp_path)
    (result,) = results
    shown = shares(results, "word")
    assert str(tmp_path) not in output.read_text(encoding="utf-8")
    assert result["result"]["frequencies"] == "public.txt"
    assert result["channel"] == "rays"
    assert shown.startswith("### made\n")
    assert "| multivariate, tiny | rays | 1.5 |" in shown
    best = max(each["word"]["first"]["value"] for each in result["result"]["results"][0]["attackers"])
    assert f"**{100 * best:.1f} %**" in shown
    assert "| made, multivariate, tiny |" in sizes(results)
    assert (
        missed(results).count("| multivariate, tiny | rays |")
        == groups(results).count("| multivariate, tiny | rays |")
        == 2
    )
    assert attackers_figure(results).axes[0].get_title(loc="left") == "made"


def go_on_after_a_stop(output: Path, measure: Callable[[], None]) -> None:
    """Take the second ε off a result, mark the first, and see that another run keeps the one and measures the
    other again."""
    whole = json.loads(output.read_text(encoding="utf-8"))
    stopped = json.loads(output.read_text(encoding="utf-8"))
    stopped["unfinished"] = True
    del stopped["result"]["results"][1]
    stopped["result"]["results"][0]["attackers"][0]["knows"] = "kept"
    output.write_text(json.dumps(stopped), encoding="utf-8")
    measure()
    again = json.loads(output.read_text(encoding="utf-8"))
    assert not again["unfinished"]
    first, second = again["result"]["results"]
    assert first["attackers"][0]["knows"] == "kept"
    assert [each["word"] for each in second["attackers"]] == [
        each["word"] for each in whole["result"]["results"][1]["attackers"]
    ]


def test_settings_that_have_a_result_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scripts.attackers import measure as measure_attackers
    from scripts.attackers import run as run_attackers

    run: list[list[str]] = []
    status = iter([0, 3, *[0] * 20])

    def start(command: list[str], **_: object) -> SimpleNamespace:
        run.append(command)
        return SimpleNamespace(returncode=next(status))

    monkeypatch.setattr("subprocess.run", start)
    monkeypatch.setattr(run_attackers, "Embedding", SimpleNamespace(open=lambda _: Embedding.open("default")))
    by_label = {each.label: each for each in run_attackers.settings() if each.data == "sst2"}
    for label, places, unfinished in (
        ("custext", "100", False),
        ("shaped", "100", True),
        ("multivariate", "50", False),
    ):
        asked = run_attackers.command(by_label[label], tmp_path, tmp_path, ["--places", places])
        typed = shlex.join(["python", *measure_attackers.without_folders(asked[1:])])
        found = json.dumps({"command": typed, "unfinished": unfinished, "result": {"results": []}})
        (tmp_path / by_label[label].file).write_text(found, encoding="utf-8")
    with pytest.raises(SystemExit, match="1 of 6 settings failed"):
        run_attackers.main(
            [str(tmp_path), "--into", str(tmp_path), "--only", "sst2", "--", "--places", "100"]
        )
    measured = [Path(command[-1]).name for command in run]
    assert measured == [each.file for label, each in by_label.items() if label != "custext"], (
        "one is not finished, one of another size"
    )
    plus = next(command for command in run if "santext-plus" in command[-1])
    assert f"santext-plus:sensitive={tmp_path / 'rare-glove-840b.txt'},p=0.3" in plus
    assert plus[-4:-2] == ["--places", "100"]
    listed = (tmp_path / "rare-glove-840b.txt").read_text(encoding="utf-8").split("\n")
    assert len(listed) == 45_001
    assert all(len(each.epsilons) == 3 for each in run_attackers.settings())
