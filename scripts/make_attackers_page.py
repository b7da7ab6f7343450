"""Writes docs/experiments/attackers.md and its figure from the results of scripts/measure_attackers.py that are committed beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attackers_channels import channel_of, options
from attackers_figures import LOOKS, attackers_figure, stronger_figure
from attackers_prose import (
    COMPARED,
    DATA,
    beside_published,
    cautions,
    findings,
    headline,
    kinds_missed,
    read_results,
    release_of,
    setting_of,
    table,
    unlearnt,
    waiting,
)
from deniable.audit.inversion.results import ALONE, LANGUAGE_MODEL
from earlier_attackers import FILE, Compared, compare, how_much_stronger, stronger_rows

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")


def main() -> None:
    """Write the page and the figure."""
    results = read_results(FOLDER)
    if not results:
        raise SystemExit(f"there is no result (attackers-*.json) in {FOLDER}: measure first")
    (FOLDER / "attackers.md").write_text(page(results), encoding="utf-8")
    for name, some in by_data(results).items():
        attackers_figure(some).savefig(FOLDER / f"attackers-{name}.png", dpi=150)
    compared = compare(FOLDER, results)
    if compared:
        stronger_figure(compared).savefig(FOLDER / "attackers-earlier.png", dpi=150)


def page(results: list[dict[str, Any]]) -> str:
    """Return the page."""
    compared = compare(FOLDER, results)
    older = any(channel_of(each).older for each in results)
    drawn = "\nCommands of rows by draws drew when they were run; a GPU shares points for them now." if older else ""
    commands = "\n".join(result["command"] for result in results)
    return f"""# What the best attacker names

This page is written by `python scripts/make_attackers_page.py` from the results beside it. Each attacker knows what the one before it
knows; [What an attacker still learns](../audits.md) says what that is. Words are those of running text, as they occur. A kind is one of
100 clusters of public vectors, judged at places with a word that is not one of the 150 most frequent. The best attacker of each row of
ε is in bold; it is chosen on the same words, so its share is a little too large rather than too small. Intervals take the words of a
document together. An attacker that fails proves nothing about others.

{headline(results)}

{how_much_stronger(compared)}

{cautions(results)}

{pictures(results)}

## How much was measured

{sizes(results)}
{waiting(FOLDER)}
{stronger(compared)}## The word

{shares(results, "word")}

## Its kind

{shares(results, "kind")}

## What attackers who read each word by itself missed

{missed(results)}

## Names, numbers and other groups, by the best attacker

{groups(results)}

## Beside published figures

{COMPARED}

{beside_published(results)}

## Repeat it

`measure_purpose.py prepare` writes the data sets and the public reviews, `spaces` the shaped spaces. `run_attackers.py` measures every
setting that has no result by shared points or exact sums yet; what stands below is how those on this page were measured.{drawn}

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into data
python scripts/measure_purpose.py spaces --only 16-2 --data data --into data
cp DATASETS/imdb/imdb_50k.jsonl.xz data
python scripts/run_attackers.py data
{commands}
python scripts/make_attackers_page.py
```

{machines(results)}
"""


def shares(results: list[dict[str, Any]], reading: str) -> str:
    """Return the table of what every attacker reaches: first guess, interval, within ten."""
    present = {each["name"] for _, found in findings(results) for each in found["attackers"]}
    names = [name for name in LOOKS if name in present]

    def row(found: dict[str, Any]) -> list[str]:
        reached = {each["name"]: each[reading] for each in found["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        return [_cell(reached.get(name), best) for name in names]

    more = unlearnt(results) if reading == "word" else kinds_missed(results)
    return table_by_data(results, names, row) + f"\n\nFirst guess (95 % interval); within ten. {more}".rstrip()


def table_by_data(results: list[dict[str, Any]], columns: Sequence[str], row: Callable[[dict[str, Any]], list[str]]) -> str:
    """Return a table of all releases of each data set, under its name."""
    tables = []
    for name, some in by_data(results).items():
        rows = [[setting_of(result), channel_of(result).way, f"{found['epsilon']:g}", *row(found)] for result, found in findings(some)]
        tables.append(f"### {DATA.get(name, name)}\n\n" + table([["release", "channel", "ε", *columns], *rows]))
    return "\n\n".join(tables)


def by_data(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the results of each data set, in the order in which they stand."""
    names = dict.fromkeys(result["name"] for result in results)
    return {name: [result for result in results if result["name"] == name] for name in names}


def pictures(results: list[dict[str, Any]]) -> str:
    """Return the figures of the page, one for each data set."""
    said = "share of words named by each attacker behind every mechanism and ε; the tables below hold the values"
    return "\n\n".join(f"![{DATA.get(name, name)}: {said}](attackers-{name}.png)" for name in by_data(results))


def sizes(results: list[dict[str, Any]]) -> str:
    """Return how many words were attacked, how much attackers read, and how many words they think of, in a table."""
    rows = [["release", "words attacked", "documents", "unknown", "public words", "learnt from about", "thought of", "channel"]]
    for result in results:
        text, asked = result["result"]["text"], options(result["command"])
        rows.append(
            [
                release_of(result),
                f"{text['places']:,}",
                f"{text['documents']:,}",
                _percent(text["unknown"]),
                f"{text['public_words']:,}",
                f"{int(asked['--shadow-words']):,}" if "--learnt" in result["command"] and "--shadow-words" in asked else "–",
                f"{int(asked['--support']):,}" if "--support" in asked else "as is usual",
                str(channel_of(result)).replace(" around each word", ""),
            ]
        )
    return table(rows) + (
        "\n\nAttackers think of the most frequent words of the public text, as many as stands there; others they never name. What each of "
        "them becomes is known by the channel that stands there: summed exactly, from points that all words share (so many are drawn "
        "around each word on average), or from draws or rays of each word. Where they think of fewer words, or know the channel less well, "
        "they name fewer, so levels compare between rows of equal size and channel only; what one attacker names beyond another compares "
        "in any row. Two estimates of one channel from points differ, and what attackers name by them with it, by about a point."
    )


def stronger(compared: list[Compared]) -> str:
    """Return the section about attackers who knew the channel less well, with its figure; nothing where nothing was compared."""
    if not compared:
        return ""
    return f"""## What our earlier audits missed

![Share of words named by the best attacker before and now, at each ε; the table holds the values](attackers-earlier.png)

{table(stronger_rows(compared))}

Before → now, by {channel_of(compared[0].now).way} at the same ε: words named at the first guess by the attacker who reads word by word and
by the best one, which is chosen on the same words both times; kinds told by the best one. "Beyond blind guessing" is how many times as
much it names, blind guesses taken off both. SST-2 in the built-in space stands there twice, beside rays and beside draws.

The mechanism, its guarantee and the attackers are the same; what they have computed of the channel is better, and a finer estimate may
name more still. The columns of the rays of before did not yet agree with what is released (that was corrected for decoding later); how
much of the difference comes from that was not measured. What is needed of the earlier results lies in `{FILE}`, with their commands;
`scripts/earlier_attackers.py` wrote it.

"""


def missed(results: list[dict[str, Any]]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""

    def row(found: dict[str, Any]) -> list[str]:
        by_name = {each["name"]: each for each in found["attackers"]}
        alone, best = by_name[ALONE], _best(found)
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")]
        kind = [_percent(alone["kind"]["first"]["value"]), _percent(max(kinds))] if alone.get("kind") else ["–", "–"]
        return [_percent(one), _percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind]

    return table_by_data(results, ["word by word", "best", "which", "more", "kind, word by word", "kind, best"], row)


def groups(results: list[dict[str, Any]]) -> str:
    """Return how often the best attacker names words of each group, and of each list of words."""

    def row(found: dict[str, Any]) -> list[str]:
        by_group = {each["group"]: each for each in _best(found)["groups"]}
        return [_group(by_group.get(name)) for name in GROUPS]

    return table_by_data(results, GROUPS, row) + (
        "\n\nThe number of places stands in brackets. A rare word is often one that the attackers never think of (the table of sizes says "
        "how many words they do think of): where none is named, that is no protection. An unknown word counts as named where the attacker "
        "says that it is unknown."
    )


def _best(found: dict[str, Any]) -> dict[str, Any]:
    attackers: list[dict[str, Any]] = found["attackers"]
    return max(attackers, key=lambda each: each["word"]["first"]["value"])


def machines(results: list[dict[str, Any]]) -> str:
    """Return where and for how long was measured, and with which language models."""
    lines = []
    for result in results:
        card = ", channels made on a GPU" if options(result["command"]).get("--device") == "cuda" else ""
        lines.append(f"- {result['name']}, {setting_of(result)}: {result['seconds']:,} s ({result['machine']}{card})")
    for _, found in findings(results):
        knows = [each["knows"] for each in found["attackers"] if each["name"] == LANGUAGE_MODEL]
        lines += [f"- Language model at ε = {found['epsilon']:g}: {each}" for each in knows]
    return "\n".join(lines)


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


if __name__ == "__main__":
    main()
