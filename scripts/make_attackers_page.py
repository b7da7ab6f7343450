"""Writes docs/experiments/attackers.md and its figure from the results of scripts/measure_attackers.py that are committed beside it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES
from run_attackers import is_whole, settings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")
DATA = {"sst2": "SST-2", "agnews": "AG News", "enron": "Enron"}
LOOKS = {
    BLIND: ("_", MUTED),
    ALONE: ("o", SERIES[0]),
    IN_CONTEXT: ("s", SERIES[1]),
    LEARNT: ("^", SERIES[2]),
    LANGUAGE_MODEL: ("D", SERIES[3]),
}
COMPARED = """Tong et al. ([NAACL 2025](https://aclanthology.org/2025.naacl-long.266/), arXiv 2410.17052) say in
their abstract that one of their attacks names 46.4 % more (relatively) than the best one before it, on SST-2 at ε = 4. No other number of
theirs stands here: what could be had of the paper (stored copies of its pages at arXiv and the ACL Anthology, and of pages about it) ends
before the tables, and the code they published holds none. Beside the same settings, SanText+ in GloVe 840B with 300 dimensions and
CusText in cells of ten words, these differ:

- The attacks before theirs, by the code they published, are nearest words, inverted embeddings and BERT, without Bayes' rule. Their
  context-free Bayesian attack is our "word by word": what is counted here is how much more context and learning give than that.
- Their CusText has a list of K near words for each word (20 unless told otherwise, by their code) and lets stop words pass as they are.
  Ours has the cells of a partition, since lists have no finite ε, and perturbs every word.
- SanText+ protects the 90 % least frequent words of the embedding here, and those of the data set there.
- Here film reviews of IMDb stand for what is public of SST-2; theirs is text of the data set itself.
- Their classifier is BERT, which has read far more text. Ours is a small LSTM that has read the shadow text only."""


def main() -> None:
    """Write the page and the figure."""
    results = read_results(FOLDER)
    if not results:
        raise SystemExit(f"there is no result (attackers-*.json) in {FOLDER}: measure first")
    (FOLDER / "attackers.md").write_text(page(results), encoding="utf-8")
    attackers_figure(results).savefig(FOLDER / "attackers.png", dpi=150)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return the results in a folder, data sets in one order."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("attackers-*.json"))]
    order = list(DATA)
    return sorted(found, key=lambda result: (order.index(result["name"]) if result["name"] in order else len(order), _setting(result)))


def page(results: list[dict[str, Any]]) -> str:
    """Return the page."""
    commands = "\n".join(result["command"] for result in results)
    return f"""# What the best attacker names

This page is written by `python scripts/make_attackers_page.py` from the results beside it. Each attacker knows what the one before it
knows; [What an attacker still learns](../audits.md) says what that is. Words are those of running text, as they occur. A kind is one of
100 clusters of public vectors, judged at places with a word that is not one of the 150 most frequent. The best attacker of each row of
ε is in bold; it is chosen on the same words, so its share is a little too large rather than too small. Intervals take the words of a
document together. An attacker that fails proves nothing about others.

{headline(results)}

![Share of words named by each attacker, for every data set, mechanism and ε; the table below holds the values](attackers.png)

## How much was measured

{sizes(results)}

{waiting()}

## The word

{shares(results, "word")}

## Its kind

{shares(results, "kind")}

## What attackers who read each word by itself missed

{missed(results)}

## Names, numbers and other groups, by the best attacker

{groups(results)}

## Beside published figures

{COMPARED}

## Repeat it

`measure_purpose.py prepare` writes the data sets and the public reviews, `spaces` the shaped spaces. `run_attackers.py` measures every
setting that has no result yet; what stands below is how those on this page were measured.

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into data
<<<<<<< HEAD
python scripts/measure_purpose.py spaces --first 2 --data data --into data
cp DATASETS/imdb/imdb_50k.jsonl.xz data
=======
python scripts/measure_purpose.py spaces --only 16-2 --data data --into data
>>>>>>> purpose3
python scripts/run_attackers.py data
{commands}
python scripts/make_attackers_page.py
```

{machines(results)}
"""


def shares(results: list[dict[str, Any]], reading: str) -> str:
    """Return the table of what every attacker reaches: first guess, interval, within ten."""
    present = {each["name"] for _, found in _findings(results) for each in found["attackers"]}
    names = [name for name in LOOKS if name in present]
    rows = [["data", "embedding", "mechanism", "ε", *names]]
    for result, found in _findings(results):
        reached = {each["name"]: each[reading] for each in found["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        rows.append([*_about(result, found), *(_cell(reached.get(name), best) for name in names)])
    return _table(rows) + "\n\nFirst guess (95 % interval); within ten." + (_unlearnt(results) if reading == "word" else "")


def _unlearnt(results: list[dict[str, Any]]) -> str:
    """Return where the attacker who learns ended as it began, which is the attacker in context, and what that means."""
    same = []
    for result, found in _findings(results):
        by_name = {each["name"]: {**each, "name": "", "knows": "", "seconds": 0} for each in found["attackers"]}
        if LEARNT in by_name and by_name[LEARNT] == by_name.get(IN_CONTEXT):
            same.append(f"{result['name']}, {result['options']}, ε = {found['epsilon']:g}")
    if not same:
        return ""
    return (
        f" The attacker who learns is the one in context at {len(same)} of {len(_findings(results))} ({'; '.join(same)}): on text that was "
        "held back, no epoch of training ranked better than what it began with, so it kept that. It learnt nothing from this much shadow "
        "text; that says nothing of one who has more, or a model that has read more."
    )


def headline(results: list[dict[str, Any]]) -> str:
    """Return in a sentence what attackers who read word by word missed, for each mechanism."""
    said = []
    for mechanism in dict.fromkeys(_mechanism(result) for result in results):
        own = [result for result in results if _mechanism(result) == mechanism]
        more = {name: gains(own, name) for name in (IN_CONTEXT, LEARNT, LANGUAGE_MODEL)}
        reached = ", ".join(f"{_range(found)} {name}" for name, found in more.items() if found)
        apart, total = intervals_apart(own), len(_findings(own))
        said.append(f"behind {mechanism} {reached} (beyond what the intervals allow for at {apart} of {total} releases)")
    return f"Beyond the attacker who reads word by word, in points of the words named: {'; '.join(said)}."


def intervals_apart(results: list[dict[str, Any]]) -> int:
    """Return at how many releases an attacker's interval lies above that of the one who reads word by word."""
    count = 0
    for _, found in _findings(results):
        firsts = {each["name"]: each["word"]["first"] for each in found["attackers"]}
        count += any(first["low"] > firsts[ALONE]["high"] for first in firsts.values())
    return count


def gains(results: list[dict[str, Any]], name: str) -> list[float]:
    """Return for each release how much more an attacker names than the one who reads word by word."""
    found = []
    for _, each in _findings(results):
        values = {attacker["name"]: attacker["word"]["first"]["value"] for attacker in each["attackers"]}
        if name in values:
            found.append(values[name] - values[ALONE])
    return found


def _range(values: list[float]) -> str:
    low, high = (f"{100 * each:+.1f}".replace("-", "−") for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _mechanism(result: dict[str, Any]) -> str:
    name: str = result["options"].partition(":")[0]
    return "the paper's mechanism" if name == "multivariate" else name


def sizes(results: list[dict[str, Any]]) -> str:
    """Return how many words were attacked and how much attackers read, in a table."""
    rows = [["data", "embedding", "mechanism", "words attacked", "documents", "unknown words", "public words read", "learnt from"]]
    for result in results:
        text = result["result"]["text"]
        learnt = _option(result["command"], "--shadow-words") if "--learnt" in result["command"] else None
        rows.append(
            [
                result["name"],
                result["result"]["embedding"]["name"],
                result["options"],
                f"{text['places']:,}",
                f"{text['documents']:,}",
                _percent(text["unknown"]),
                f"{text['public_words']:,}",
                "–" if learnt is None else f"about {int(learnt):,} of them",
            ]
        )
    effort = sorted({(_option(each["command"], "--support"), _option(each["command"], "--directions")) for each in results}, key=str)
    words = " or ".join(f"{int(support):,} words by {directions} directions or draws of each" for support, directions in effort if support)
    return _table(rows) + (f"\n\nAttackers think of the most frequent {words}; other words they never name." if words else "")


def waiting() -> str:
    """Return which of the planned settings have no result yet."""
    left = [each for each in settings() if not is_whole(FOLDER / each.file)]
    if not left:
        return ""
    names = {data: [each.label for each in left if each.data == data] for data in dict.fromkeys(each.data for each in left)}
    listed = "; ".join(f"{DATA[data]}: {', '.join(labels)}" for data, labels in names.items())
    return f"Planned and not measured yet, for want of a free machine: {listed}. `scripts/run_attackers.py` goes on where it stopped."


@apply_style
def attackers_figure(results: list[dict[str, Any]]) -> Figure:
    """Return what each attacker names, a panel for each data set, mechanisms side by side, each at its ε."""
    names = list(dict.fromkeys(result["name"] for result in results))
    figure, axes = new_figure(len(names), 1, width=7.6, height=0.8 + 2.3 * len(names), sharey=True, squeeze=False)
    for panel, name in zip(axes[:, 0], names, strict=True):
        ticks: list[tuple[float, str]] = []
        place = 0.0
        for result in (each for each in results if each["name"] == name):
            begin = place
            for found in result["result"]["results"]:
                for attacker in found["attackers"]:
                    mark, colour = LOOKS[attacker["name"]]
                    first = attacker["word"]["first"]
                    shift = 0.14 * (list(LOOKS).index(attacker["name"]) - 2)
                    errors = [[first["value"] - first["low"]], [first["high"] - first["value"]]]
                    panel.errorbar(
                        [place + shift],
                        [first["value"]],
                        yerr=errors,
                        marker=mark,
                        color=colour,
                        markersize=4,
                        linestyle="none",
                        elinewidth=0.8,
                    )
                ticks.append((place, f"{found['epsilon']:g}"))
                place += 1.0
            panel.text((begin + place - 1.0) / 2, 1.02, _setting(result).replace(", ", "\n"), ha="center", va="bottom", fontsize=7)
            place += 0.6
        panel.set_xticks([at for at, _ in ticks], [label for _, label in ticks], fontsize=7)
        panel.set_ylim(0.0, 1.0)
        panel.set_xlim(-0.6, max(place - 1.0, 4.0))
        panel.set_ylabel(f"{DATA.get(name, name)}: words named", fontsize=8)
    axes[-1, 0].set_xlabel("ε")
    present = {attacker["name"] for _, found in _findings(results) for attacker in found["attackers"]}
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def missed(results: list[dict[str, Any]]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""
    rows = [["data", "embedding", "mechanism", "ε", "word by word", "best", "which", "more", "kind, word by word", "kind, best"]]
    for result, found in _findings(results):
        by_name = {each["name"]: each for each in found["attackers"]}
        alone, best = by_name["word by word"], max(found["attackers"], key=lambda each: each["word"]["first"]["value"])
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")]
        kind = [_percent(alone["kind"]["first"]["value"]), _percent(max(kinds))] if alone.get("kind") else ["–", "–"]
        rows.append([*_about(result, found), _percent(one), _percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind])
    return _table(rows)


def groups(results: list[dict[str, Any]]) -> str:
    """Return how often the best attacker names words of each group, and of each list of words."""
    rows = [["data", "embedding", "mechanism", "ε", *GROUPS]]
    for result, found in _findings(results):
        best = max(found["attackers"], key=lambda each: each["word"]["first"]["value"])
        by_group = {each["group"]: each for each in best["groups"]}
        rows.append([*_about(result, found), *(_group(by_group.get(name)) for name in GROUPS)])
    return _table(rows) + "\n\nThe number of places stands in brackets."


def machines(results: list[dict[str, Any]]) -> str:
    """Return where and for how long was measured, and with which language models."""
    lines = [f"- {result['name']}, {result['options']}: {result['seconds']:,} s ({result['machine']})" for result in results]
    models = {each["knows"] for _, found in _findings(results) for each in found["attackers"] if each["name"] == "language model"}
    return "\n".join([*lines, *(f"- {knows}" for knows in sorted(models))])


def _option(command: str, name: str) -> str | None:
    """Return what a command gives for an option."""
    words = shlex.split(command)
    return words[words.index(name) + 1] if name in words[:-1] else None


def _setting(result: dict[str, Any]) -> str:
    """Return the mechanism, and the embedding where it is not the built-in one, as they are drawn."""
    mechanism = result["options"].partition(":")[0]
    embedding = result["result"]["embedding"]["name"]
    more = ", k = 10" if "k=10" in result["options"] else ""
    read = ", language model" if "--language-model" in result["command"] else ""
    return f"{mechanism}{more}{'' if embedding == 'default' else f', {embedding}'}{read}"


def _findings(results: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(result, found) for result in results for found in result["result"]["results"]]


def _about(result: dict[str, Any], found: dict[str, Any]) -> list[str]:
    return [result["name"], result["result"]["embedding"]["name"], result["options"], f"{found['epsilon']:g}"]


def _cell(success: dict[str, Any] | None, best: float) -> str:
    if success is None:
        return "–"
    first = success["first"]
    value = _percent(first["value"])
    shown = f"**{value}**" if first["value"] == best else value
    return f"{shown} ({100 * first['low']:.1f} to {100 * first['high']:.1f}); {_percent(success['within_ten']['value'])}"


def _group(found: dict[str, Any] | None) -> str:
    if found is None or not found.get("word"):
        return "–"
    return f"{_percent(found['word']['first']['value'])} ({found['places']:,})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(rows: list[list[str]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


if __name__ == "__main__":
    main()
