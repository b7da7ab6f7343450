"""Keeps what attackers named who knew channels from draws or rays, and says how much more they name at the same ε by shared points.

    python scripts/earlier_attackers.py 0e2a779

writes docs/experiments/earlier-attackers.json from those results of that commit (its attackers-*.json) that have been measured again since,
by another channel: what is needed to compare them with those that stand there now.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from attackers_channels import channel_of
from attackers_prose import points, range_of, read_results, release_of
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
FILE = "earlier-attackers.json"
Result = dict[str, Any]


class Compared(NamedTuple):
    """A release that was attacked twice: by the older channel, and by the one of now."""

    before: Result
    now: Result
    found_before: Result
    found_now: Result

    @property
    def epsilon(self) -> float:
        """The ε of both."""
        return float(self.found_now["epsilon"])

    def best(self) -> tuple[Result, Result]:
        """Return what the best attacker named of each, with its interval; of those that both have."""
        first, second = (
            max((each["word"]["first"] for each in self._of_both(found)), key=lambda first: float(first["value"]))
            for found in (self.found_before, self.found_now)
        )
        return first, second

    def values(self, name: str, reading: str = "word") -> tuple[float, float]:
        """Return what an attacker named before and names now."""
        before, now = (
            next(each[reading]["first"]["value"] for each in found["attackers"] if each["name"] == name)
            for found in (self.found_before, self.found_now)
        )
        return before, now

    def best_kinds(self) -> tuple[float, float]:
        """Return of how many words the best attacker told the kind."""
        before, now = (
            max(each["kind"]["first"]["value"] for each in self._of_both(found)) for found in (self.found_before, self.found_now)
        )
        return before, now

    def _of_both(self, found: Result) -> list[Result]:
        names = [{each["name"] for each in some["attackers"]} for some in (self.found_before, self.found_now)]
        return [each for each in found["attackers"] if each["name"] in names[0] & names[1]]


def main(arguments: list[str] | None = None) -> None:
    """Write what is needed of the results of a commit."""
    typed = sys.argv[1:] if arguments is None else arguments
    if len(typed) != 1:
        raise SystemExit("say of which commit: python scripts/earlier_attackers.py COMMIT")
    commit = _git("rev-parse", "--short", typed[0]).strip()
    files = _git("ls-tree", "--name-only", f"{commit}:docs/experiments").split()
    chosen = [file for file in files if file.startswith("attackers-") and file.endswith(".json")]
    old = [json.loads(_git("show", f"{commit}:docs/experiments/{file}")) for file in chosen]
    kept = {"command": f"python scripts/earlier_attackers.py {commit}", "results": measured_again(old, read_results(FOLDER))}
    (FOLDER / FILE).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measured_again(old: list[Result], new: list[Result]) -> list[Result]:
    """Return what is needed of the old results that have a new one by another channel, with as many ε."""
    by_release = {_attacked(result): result for result in new}
    pairs = [(each, by_release[_attacked(each)]) for each in old if _attacked(each) in by_release]
    return [
        _needed(each)
        for each, now in pairs
        if channel_of(now) != channel_of(each) and len(now["result"]["results"]) == len(each["result"]["results"])
    ]


def compare(folder: Path, new: list[Result]) -> list[Compared]:
    """Return every release of the kept results beside that of the new ones, in their order; none where nothing was kept.

    :raises ValueError: if the new ones have other ε.
    """
    path = folder / FILE
    old = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    by_release = {_attacked(result): result for result in old}
    compared = [
        Compared(by_release[_attacked(result)], result, before, now)
        for result in new
        if _attacked(result) in by_release
        for before, now in zip(by_release[_attacked(result)]["result"]["results"], result["result"]["results"], strict=True)
    ]
    for each in compared:
        if each.found_before["epsilon"] != each.epsilon:
            raise ValueError(f"{release_of(each.now)}: ε = {each.found_before['epsilon']:g} and {each.epsilon:g} do not compare")
    return compared


def how_much_stronger(compared: list[Compared]) -> str:
    """Return in words how much more the best attacker names than it did; nothing where nothing was compared."""
    if not compared:
        return ""
    best = [each.best() for each in compared]
    more = [now["value"] - before["value"] for before, now in best]
    beyond = [_beyond_blind(each) for each in compared]
    ways = " or ".join(dict.fromkeys(f"{known.number:,} {known.way}" for each in compared for known in [channel_of(each.before)]))
    now_by = " or ".join(dict.fromkeys(channel_of(each.now).way for each in compared))
    context = [fmean(each.values(IN_CONTEXT)[when] - each.values(ALONE)[when] for each in compared) for when in (0, 1)]
    apart = sum(now["low"] > before["high"] for before, now in best)
    return (
        f"Behind noise our attackers knew what words become from {ways} of each word. By [{now_by}](channels.md), with the "
        f"same texts, ε and seeds, the best attacker names more at {sum(each > 0 for each in more)} of {len(more)} releases: "
        f"{range_of(more)} points, {points(fmean(more))} on average. {_at(compared, 0, 'smallest')} {_at(compared, -1, 'largest')} What it "
        f"names beyond blind guessing is {min(beyond):.2f} to {max(beyond):.2f} times what it was. Reading in context added "
        f"{points(context[0])} points on average, and adds {points(context[1])} now. At {apart} of {len(more)} releases the interval of "
        "now lies above the earlier one."
    )


def stronger_rows(compared: list[Compared]) -> list[list[str]]:
    """Return rows for each release, with a head: what was named before and is named now."""
    head = ["release", "ε", "channel before", "word by word", "best attacker", "more, in points", "beyond blind guessing", "kind, best"]
    rows = [head]
    for each in compared:
        before, now = (first["value"] for first in each.best())
        rows.append(
            [
                release_of(each.now),
                f"{each.epsilon:g}",
                str(channel_of(each.before)),
                _from_to(*each.values(ALONE)),
                f"{100 * before:.1f} % → **{100 * now:.1f} %**",
                points(now - before),
                f"× {_beyond_blind(each):.2f}",
                _from_to(*each.best_kinds()),
            ]
        )
    return rows


def _attacked(result: Result) -> tuple[str, str]:
    """Return what was attacked: the release, and the very vectors, for a space that is shaped anew keeps its name."""
    return release_of(result), result["result"]["embedding"]["fingerprint"]


def _at(compared: list[Compared], place: int, which: str) -> str:
    """Return what was and is named at the smallest or largest ε of each setting."""
    by_release: dict[str, list[Compared]] = {}
    for each in compared:
        by_release.setdefault(release_of(each.now), []).append(each)
    best = [sorted(some, key=lambda each: each.epsilon)[place].best() for some in by_release.values()]
    before, now = ([first["value"] for first in firsts] for firsts in zip(*best, strict=True))
    relative = [after / early - 1 for early, after in zip(before, now, strict=True)]
    return (
        f"At the {which} ε of each setting it named {_shares(before)} of the words and names {_shares(now)} "
        f"({100 * min(relative):+.0f} to {100 * max(relative):+.0f} % relatively)."
    )


def _shares(values: list[float]) -> str:
    return f"{100 * min(values):.1f} to {100 * max(values):.1f} %"


def _from_to(before: float, now: float) -> str:
    return f"{100 * before:.1f} % → {100 * now:.1f} %"


def _beyond_blind(each: Compared) -> float:
    (before, now), (blind_before, blind_now) = (first["value"] for first in each.best()), each.values(BLIND)
    return float((now - blind_now) / (before - blind_before))


def _needed(result: Result) -> Result:
    found = [
        {
            "epsilon": each["epsilon"],
            "attackers": [{"name": one["name"], "word": one["word"], "kind": one["kind"]} for one in each["attackers"]],
        }
        for each in result["result"]["results"]
    ]
    return {
        **{name: result[name] for name in ("name", "command", "machine", "options")},
        "result": {"embedding": result["result"]["embedding"], "results": found},
    }


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=FOLDER.parent.parent, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
