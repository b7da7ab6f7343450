"""The script that measures attackers and the one that writes their page go together."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from deniable.embeddings import store
from tests.audit.made_text import follow_one_another
from tests.support.strategies import random_embedding


def test_what_is_measured_becomes_tables_and_a_stopped_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch").set_num_threads(1)
    from scripts.attackers import measure
    from scripts.attackers.page import read_results, rows, words

    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    for name, value in (("PLACES", 100), ("DIRECTIONS", 40), ("SHADOW_WORDS", 200)):
        monkeypatch.setattr(measure, name, value)
    store.save(random_embedding(60, 3), "tiny", source="a test")
    documents = [" ".join(f"w{i}" for i in document) for document in follow_one_another(60, 150, 20, seed=1)]
    content = "".join(json.dumps({"text": document}) + "\n" for document in documents)
    for file, part in (("sst2.jsonl.xz", content[:8_000]), ("imdb_50k.jsonl.xz", content)):
        (tmp_path / file).write_text(part[: part.rindex("\n") + 1], encoding="utf-8")
    output = tmp_path / "attackers-sst2-tiny.json"
    setting = measure.Setting(data="sst2", label="tiny", epsilons=(1.5, 3.0), embedding="tiny", support=60)
    measure.measure(setting, tmp_path, output)
    (result,) = results = read_results(tmp_path)
    assert str(tmp_path) not in output.read_text(encoding="utf-8")
    assert result["result"]["frequencies"] == "imdb_50k.jsonl.xz"
    best = max(each["word"]["first"]["value"] for each in result["result"]["results"][0]["attackers"])
    (line,) = words(results).splitlines()[2:]
    assert line.startswith("| SST-2, multivariate, tiny | 1.5\u202f/\u202f3 |")
    assert f"{100 * best:.1f}\u202f/" in line
    attackers = {each["name"] for each in result["result"]["results"][0]["attackers"]}
    judged = [row for row in rows(results) if row[3] == 1.5 and row[5] == "word"]
    assert {row[4] for row in judged} == attackers
    assert max(float(str(row[7])) for row in judged) == round(best, 4)

    del result["result"]["results"][1]
    result["result"]["results"][0]["attackers"][0]["knows"] = "kept"
    output.write_text(json.dumps(result), encoding="utf-8")
    measure.measure(setting, tmp_path, output)
    first, second = json.loads(output.read_text(encoding="utf-8"))["result"]["results"]
    assert first["attackers"][0]["knows"] == "kept"
    assert second["epsilon"] == 3.0
    other = dataclasses.replace(setting, support=50)
    assert measure.measured_before(output, other) == ([], 0), "another setting is measured afresh"


def test_every_setting_of_the_page_has_its_result() -> None:
    from scripts.attackers.measure import measured_before, settings
    from scripts.pages import EXPERIMENTS

    for setting in settings():
        assert len(measured_before(EXPERIMENTS / setting.file, setting)[0]) == len(setting.epsilons) == 3
