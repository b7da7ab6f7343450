"""The sentences of docs/experiments/attackers.md, and what other pages say of it: all computed from the results but the comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attackers_channels import EXACT, channel_of
from deniable.audit.inversion.results import ALONE, IN_CONTEXT, LANGUAGE_MODEL, LEARNT
from run_attackers import Setting, is_measured_so, is_whole, settings

DATA = {"sst2": "SST-2", "agnews": "AG News", "enron": "Enron"}
Result = dict[str, Any]
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


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder, data sets in one order."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("attackers-*.json"))]
    order = list(DATA)
    return sorted(found, key=lambda result: (order.index(result["name"]) if result["name"] in order else len(order), setting_of(result)))


def setting_of(result: Result) -> str:
    """Return the mechanism, and the embedding where it is not the built-in one, as they are drawn."""
    embedding = result["result"]["embedding"]["name"]
    more = ", k = 10" if "k=10" in result["options"] else ""
    read = ", with a language model" if "--language-model" in result["command"] else ""
    return f"{result['options'].partition(':')[0]}{more}{'' if embedding == 'default' else f', {embedding}'}{read}"


def release_of(result: Result) -> str:
    """Return the data set and the setting."""
    return f"{DATA.get(result['name'], result['name'])}, {setting_of(result)}"


def findings(results: list[Result]) -> list[tuple[Result, Result]]:
    """Return each release with the result it belongs to."""
    return [(result, found) for result in results for found in result["result"]["results"]]


def headline(results: list[Result]) -> str:
    """Return what attackers who read word by word missed behind each mechanism, and what learning and a language model add to context."""
    said = []
    for mechanism in sorted({_mechanism(result) for result in results}):
        more = gains([result for result in results if _mechanism(result) == mechanism], IN_CONTEXT, ALONE)
        behind, way = mechanism
        by = "" if way == EXACT else f"known by {way}; "
        said.append(f"{range_of(more)} points behind {behind} ({by}more at {sum(each > 0 for each in more)} of {len(more)} releases)")
    added = [
        f"{range_of(more)} points by {what}"
        for what, name in (("learning", LEARNT), ("a language model", LANGUAGE_MODEL))
        if (more := gains(results, name, IN_CONTEXT))
    ]
    beyond = f" Beyond context: {', '.join(added)}." if added else ""
    return (
        f"What reading words in context adds to reading each by itself, in the share of the words named: {'; '.join(said)}.{beyond} At "
        f"{intervals_apart(results)} of {len(findings(results))} releases an attacker's interval lies above that of the one who reads word "
        "by word."
    )


def gains(results: list[Result], name: str, than: str) -> list[float]:
    """Return for each release that both attackers read how much more one names than the other."""
    found = []
    for _, each in findings(results):
        values = {attacker["name"]: attacker["word"]["first"]["value"] for attacker in each["attackers"]}
        if name in values and than in values:
            found.append(values[name] - values[than])
    return found


def intervals_apart(results: list[Result]) -> int:
    """Return at how many releases an attacker's interval lies above that of the one who reads word by word."""
    count = 0
    for _, found in findings(results):
        firsts = {each["name"]: each["word"]["first"] for each in found["attackers"]}
        count += any(first["low"] > firsts[ALONE]["high"] for first in firsts.values())
    return count


def cautions(results: list[Result]) -> str:
    """Return how the differences are to be read, as a list."""
    said = [
        "Two attackers of a release read the same words, so intervals that overlap do not say that they are equal; that one is ahead at "
        "release after release says more, though releases of one data set share its words."
    ]
    own = [DATA[each] for each in dict.fromkeys(result["name"] for result in results) if each in DATA and each != "sst2"]
    if own:
        said.append(
            f"For {' and '.join(own)} the public text is the rest of the data set itself, less the documents that are attacked: an "
            "attacker who has other text may gain less. For SST-2 it is film reviews from elsewhere."
        )
    older = [release_of(each) for each in results if channel_of(each).older]
    if older:
        said.append(
            "The column of the channel says how attackers knew what words become: by exact sums, by [shared points](channels.md), or, in "
            "older results that were not repeated, by draws or rays. Rows by draws or rays name fewer words than rows by shared points "
            f"would, and do not compare with those: {'; '.join(older)}."
        )
    early = [release_of(each) for each in results if not chooses(each)]
    if early:
        said.append(
            f"Measured before attackers chose on shadow text how far to trust what they read, and not repeated since: {'; '.join(early)}."
        )
    return "\n".join(f"- {each}" for each in said)


def chooses(result: Result) -> bool:
    """Return whether the attacker in context of a result chose how far it trusts the bigrams."""
    return all("Trusts" in each["knows"] for _, found in findings([result]) for each in found["attackers"] if each["name"] == IN_CONTEXT)


def unlearnt(results: list[Result]) -> str:
    """Return where the attackers who know most ended as the attacker in context, and what that means."""
    said = []
    for name, why in (
        (LEARNT, "on text that was held back, no epoch of training ranked better than what it began with, so it kept that"),
        (LANGUAGE_MODEL, "on public text that it released itself, it did best without the model"),
    ):
        both = [_without_names(found) for _, found in findings(results) if any(each["name"] == name for each in found["attackers"])]
        same = sum(each[name] == each.get(IN_CONTEXT) for each in both)
        if same:
            said.append(f'"{name}" is the attacker in context at {same} of {len(both)} releases: {why}.')
    if said:
        said.append("That says nothing of one who has more text to learn from, or a larger model.")
    return " ".join(said)


def kinds_missed(results: list[Result]) -> str:
    """Return at how many releases context costs an attacker kinds of words."""
    worse = total = 0
    for _, found in findings(results):
        kinds = {each["name"]: each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")}
        if ALONE in kinds and IN_CONTEXT in kinds:
            total += 1
            worse += kinds[IN_CONTEXT] < kinds[ALONE]
    if not worse:
        return ""
    return (
        f"At {worse} of {total} releases the attacker in context tells fewer kinds than the one who reads word by word: what it "
        "trusts was chosen by how likely words became, not kinds. The better of the two is what counts."
    )


def beside_published(results: list[Result]) -> str:
    """Return by how much our best attacker is ahead of the one who reads word by word where the published figure stands: SST-2, ε = 4."""
    said = []
    for result, found in findings(results):
        mechanism = result["options"].partition(":")[0]
        if result["name"] == "sst2" and found["epsilon"] == 4.0 and mechanism in ("custext", "santext-plus"):
            values = {each["name"]: each["word"]["first"]["value"] for each in found["attackers"]}
            alone, best = values[ALONE], max(values.values())
            said.append(f"{100 * alone:.1f} % and {100 * best:.1f} % behind {mechanism}, {100 * (best / alone - 1):+.0f} % relatively")
    if not said:
        return ""
    return (
        "On SST-2 at ε = 4, the attacker who reads word by word and the best one name here: "
        f"{'; '.join(said)}. The abstract does not say behind which mechanism its figure is, and its baseline is a weaker one than ours."
    )


def waiting(folder: Path) -> str:
    """Return a paragraph with the planned settings that have no result yet, or one by another channel or size, or not at all their ε."""
    left = []
    for each in settings():
        path = folder / each.file
        if not is_whole(path, each):
            found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
            left.append((each.data, each.label + ("" if found is None else f" ({_what_is_there(found, each)})")))
    if not left:
        return ""
    listed = "; ".join(
        f"{DATA[data]}: {', '.join(label for other, label in left if other == data)}" for data in dict.fromkeys(data for data, _ in left)
    )
    return f"\nPlanned and not measured yet as `scripts/run_attackers.py` does it now: {listed}. It goes on where it stopped.\n"


def _what_is_there(found: Result, asked: Setting) -> str:
    """Return what the result of a setting has that is not as it is asked for now."""
    known = channel_of(found)
    way = "" if is_measured_so(found, asked) else f"by {known.way}, " if known.older else "of other size, "
    return f"there is one {way}with {len(found['result']['results'])} of {len(asked.epsilons)} ε"


def missed_by_setting(results: list[Result]) -> list[list[str]]:
    """Return rows for each setting, with a head: what was named word by word and by the best attacker, at each ε."""
    rows = [["release", "channel", "ε", "word by word", "best attacker", "more, in points"]]
    for result in results:
        found = result["result"]["results"]
        pairs = [[each["word"]["first"]["value"] for each in some["attackers"] if each["name"] == ALONE] for some in found]
        alone, best = (
            [values[0] for values in pairs],
            [max(each["word"]["first"]["value"] for each in some["attackers"]) for some in found],
        )
        rows.append(
            [
                release_of(result),
                channel_of(result).way,
                ", ".join(f"{some['epsilon']:g}" for some in found),
                ", ".join(f"{100 * each:.1f} %" for each in alone),
                ", ".join(f"{100 * each:.1f} %" for each in best),
                ", ".join(points(high - low) for low, high in zip(alone, best, strict=True)),
            ]
        )
    return rows


def table(rows: list[list[str]]) -> str:
    """Return rows as a table, the first as its head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def points(value: float) -> str:
    """Return a difference of shares in points, with its sign."""
    return f"{100 * value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def range_of(values: list[float]) -> str:
    """Return the smallest and the largest difference, in points."""
    low, high = points(min(values)), points(max(values))
    return low if low == high else f"{low} to {high}"


def _without_names(found: Result) -> dict[str, Result]:
    return {each["name"]: {**each, "name": "", "knows": "", "seconds": 0} for each in found["attackers"]}


def _mechanism(result: Result) -> tuple[str, str]:
    """Return the mechanism, and by which channel it was known."""
    name, way = result["options"].partition(":")[0], channel_of(result).way
    if name != "multivariate":
        return name, way
    return "the paper's mechanism in a shaped space" if "-16-2" in result["result"]["embedding"]["name"] else "the paper's mechanism", way
