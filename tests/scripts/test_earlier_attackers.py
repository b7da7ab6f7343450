"""What attackers named with an older channel stands beside what they name now: at equal ε, and of each row it is said by which channel."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "experiments"


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])


def made_result(*asked: str, mechanism: str = "multivariate", alone: float = 0.1, best: float = 0.2) -> dict[str, Any]:
    def attacker(name: str, value: float) -> dict[str, Any]:
        success = {"first": {"value": value, "low": value - 0.01, "high": value + 0.01}, "within_ten": {"value": value}}
        return {"name": name, "knows": "", "word": success, "kind": success, "groups": []}

    attackers = [attacker("guessing blindly", 0.05), attacker("word by word", alone), attacker("in context", best)]
    return {
        "name": "sst2",
        "options": mechanism,
        "machine": "made",
        "command": " ".join(["python", "scripts/measure_attackers.py", "sst2.jsonl.xz", "-m", mechanism, *asked, "-o", "made.json"]),
        "result": {"embedding": {"name": "default", "fingerprint": "f"}, "results": [{"epsilon": 5.0, "attackers": attackers}]},
    }


@pytest.mark.parametrize(
    ("mechanism", "asked", "said"),
    [
        ("multivariate", ["--directions", "500", "--device", "cuda", "--directions", "256"], "256 points around each word"),
        ("rank-smoothing", ["--device", "cuda", "--directions", "256"], "256 points around each word"),
        ("multivariate", ["--directions", "500", "--device", "cuda", "--directions", "2000"], "2,000 draws of each word"),
        ("multivariate", ["--directions", "500"], "500 rays of each word"),
        ("multivariate", [], "1,000 rays of each word"),
        ("rank-smoothing", ["--directions", "500"], "500 draws of each word"),
        ("custext:k=10", ["--directions", "500"], "exact sums"),
        ("santext-plus:sensitive=rare.txt,p=0.3", ["--directions", "500"], "exact sums"),
    ],
)
def test_the_command_says_by_which_channel_was_measured(mechanism: str, asked: list[str], said: str) -> None:
    from attackers_channels import channel_of

    assert str(channel_of(made_result(*asked, mechanism=mechanism))) == said


def test_a_result_that_names_its_channel_is_believed() -> None:
    from attackers_channels import channel_of

    known = channel_of({**made_result("--directions", "500"), "channel": "points"})
    assert str(known) == "500 points around each word"
    assert not known.older
    assert channel_of({**made_result("--directions", "500"), "channel": "simulation"}).older


def test_what_was_measured_again_by_another_channel_is_kept_and_compared(tmp_path: Path) -> None:
    import earlier_attackers

    old = made_result("--directions", "500", alone=0.10, best=0.15)
    exact = made_result("--directions", "500", mechanism="custext:k=10")
    new = made_result("--device", "cuda", "--directions", "256", alone=0.14, best=0.25)
    kept = earlier_attackers.measured_again([old, exact], [new, exact])
    assert [each["command"] for each in kept] == [old["command"]], "what was not measured again is not kept"
    assert "groups" not in json.dumps(kept)
    (tmp_path / earlier_attackers.FILE).write_text(json.dumps({"results": kept}), encoding="utf-8")
    compared = earlier_attackers.compare(tmp_path, [new, exact])
    said = earlier_attackers.how_much_stronger(compared)
    for part in (
        "from 500 rays of each word. By [shared points]",
        "more at 1 of 1 releases: +10.0 points",
        "(+67 to +67 % relatively)",
        "is 2.00 to 2.00 times what it was",
        "context added +5.0 points on average, and adds +11.0 now",
        "At 1 of 1 releases the interval",
    ):
        assert part in said
    assert "15.0 % → **25.0 %**" in earlier_attackers.stronger_rows(compared)[1]
    other = copy.deepcopy(new)
    other["result"]["results"] *= 2
    with pytest.raises(ValueError, match="longer"):
        earlier_attackers.compare(tmp_path, [other])
    other = copy.deepcopy(new)
    other["result"]["results"][0]["epsilon"] = 6.0
    with pytest.raises(ValueError, match="do not compare"):
        earlier_attackers.compare(tmp_path, [other])
    assert earlier_attackers.how_much_stronger(earlier_attackers.compare(tmp_path / "nowhere", [new])) == ""


def test_spaces_of_one_name_that_were_shaped_differently_are_not_compared(tmp_path: Path) -> None:
    import earlier_attackers

    old = made_result("--directions", "500")
    new = made_result("--device", "cuda", "--directions", "256")
    (tmp_path / earlier_attackers.FILE).write_text(json.dumps({"results": [old]}), encoding="utf-8")
    assert len(earlier_attackers.compare(tmp_path, [new])) == 1
    new["result"]["embedding"]["fingerprint"] = "g"
    assert earlier_attackers.compare(tmp_path, [new]) == []
    assert earlier_attackers.measured_again([old], [new]) == []


def test_what_was_measured_at_fewer_values_of_epsilon_is_not_kept() -> None:
    import earlier_attackers

    old = made_result("--directions", "500")
    new = made_result("--device", "cuda", "--directions", "256")
    new["result"]["results"] *= 2
    assert earlier_attackers.measured_again([old], [new]) == []


def test_the_committed_pages_are_those_of_the_committed_results() -> None:
    import earlier_attackers
    import make_attackers_page
    from attackers_channels import channel_of
    from attackers_prose import read_results

    results = read_results(FOLDER)
    assert make_attackers_page.page(results) == (FOLDER / "attackers.md").read_text(encoding="utf-8")
    compared = earlier_attackers.compare(FOLDER, results)
    assert len(compared) >= 21
    assert all(channel_of(each.before).older and not channel_of(each.now).older for each in compared)
    said = earlier_attackers.how_much_stronger(compared)
    assert said in (FOLDER / "privacy.md").read_text(encoding="utf-8")
