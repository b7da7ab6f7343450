"""Measures what a space made for a purpose keeps: accuracy at equal attackers, for the paper's, reduced and shaped spaces.

    python scripts/measure_purpose.py prepare DATASETS --into DATA            # released and public parts of the public data sets
    python scripts/measure_purpose.py spaces --data DATA --into WORK          # spaces and kinds of words; needs the embedding glove-840b
    python scripts/measure_purpose.py epsilons --data DATA --into WORK --device cuda     # ε and channels of every setting
    python scripts/measure_purpose.py measure --into WORK --workers 14        # beside it, or after it
    python scripts/measure_purpose.py collect --data DATA --into WORK -o docs/experiments/purpose.json

``epsilons`` finds for every setting where a context-free Bayes attacker with the true word frequencies names 8, 17 and 33 % of all
words, and where it names the kind of 28 % of the words that have one, and draws the channels on a GPU (``gpu_draws.py``). ``measure``
releases with the product, decodes, learns and judges, as measure_decoding.py does. ``--first N`` takes the first settings only.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.embeddings import store
from deniable.purpose import read_public, reduce, shape
from measure_decoding import channel_file, describe, inputs_of, read_kinds, save_channel, shares_of, write_result

SOURCE = "glove-840b"
WORD_LEVELS, KIND_LEVELS = (0.08, 0.17, 0.33), {"sst2": 0.28, "agnews": 0.27}
RUNS = 3
KINDS, MOST_FREQUENT = 100, 150
FEWEST_OF_A_CLASS = 100
SHAPES = [(16, 2.0), (8, 2.0), (32, 2.0), (16, 1.0), (16, 4.0), (8, 1.0), (8, 4.0), (32, 1.0), (32, 4.0)]
PURPOSES = {  # the purpose of each data set, learnt from texts of another set, or of a disjoint part
    "sst2": "sentiment",
    "mr": "sentiment",
    "cr": "sentiment",
    "imdb": "movies",
    "agnews": "topic",
    "newsgroups": "newsgroups",
    "insurance": "insurance",
    "enron": "sentiment",
    "c50": "sentiment",
}
PUBLIC = {
    "sentiment": "public-sentiment",
    "movies": "mr",
    "topic": "public-topic",
    "newsgroups": "public-newsgroups",
    "insurance": "public-insurance",
}
IN_CONTEXT = {"sst2": "public-reviews.txt.xz", "agnews": "public-news.txt.xz"}


@dataclass(frozen=True)
class Setting:
    """One data set released in one space by one mechanism."""

    data: str
    space: str
    mechanism: str = "multivariate"

    @property
    def file(self) -> str:
        """The name of its result."""
        return f"{self.data}-{self.space}-{self.mechanism}.json"

    @property
    def reads_context(self) -> bool:
        """Whether the attacker and the receiver also read in context: it takes a while, and some settings are enough."""
        return self.data in IN_CONTEXT and self.mechanism == "multivariate" and self.space in ("default", f"{PURPOSES[self.data]}-16-2")


def settings() -> list[Setting]:
    """Return all settings, those that matter most first."""
    found = []
    for space in ("{}-16-2", "reduced-16", "default", SOURCE):
        found += [Setting(data, space.format(PURPOSES[data])) for data in ("sst2", "agnews")]
    for data in ("mr", "cr", "imdb", "newsgroups", "insurance"):
        found += [Setting(data, space) for space in (f"{PURPOSES[data]}-16-2", "default", "reduced-16")]
    for data in ("enron", "c50"):
        found += [Setting(data, space) for space in ("sentiment-16-2", "default", "reduced-16")]
    for data in ("sst2", "agnews"):
        found += [Setting(data, _shape_name(PURPOSES[data], *each)) for each in SHAPES[1:]]
        found += [Setting(data, space, "santext") for space in (f"{PURPOSES[data]}-16-2", "default")]
    for data in ("mr", "imdb"):
        found += [Setting(data, SOURCE), Setting(data, "default", "santext")]
    return found


def main() -> None:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("prepare", "spaces", "epsilons", "measure", "collect"):
        command = commands.add_parser(name)
        command.add_argument("--into", type=Path, required=True)
        command.add_argument("--first", type=int, default=len(settings()))
        command.add_argument("--only", default="", help="settings whose name holds this word are taken alone, such as santext")
        command.add_argument("--skip", default="", help="settings whose name holds this word are left out, such as glove-840b")
        if name == "prepare":
            command.add_argument("datasets", type=Path)
        elif name == "collect":
            command.add_argument("-o", "--output", type=Path, required=True)
            command.add_argument("--data", type=Path, required=True)
        else:
            command.add_argument("--data", type=Path, required=name != "measure")
        if name == "epsilons":
            command.add_argument("--device", default="cuda")
            command.add_argument("--draws", type=int, default=2000)
        if name == "measure":
            command.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    {"prepare": prepare, "spaces": make_spaces, "epsilons": find_all, "measure": measure_all, "collect": collect}[given.command](given)


def prepare(given: argparse.Namespace) -> None:
    """Write the released and the public part of each data set."""
    shuffled, sets = random.Random(5), given.datasets

    def rows(path: str, label: str = "label", text: str = "text", most: int = 120) -> list[dict[str, Any]]:
        with lzma.open(sets / path, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        texts = [f"{each.get('title', '')} {each[text]}".split() for each in records]
        return [{"label": each[label], "text": " ".join(words[:most])} for each, words in zip(records, texts, strict=True)]

    def write(name: str, records: list[dict[str, Any]]) -> None:
        with lzma.open(given.into / f"{name}.jsonl.xz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
        print(name, len(records))

    def write_text(name: str, records: list[dict[str, Any]]) -> None:
        with lzma.open(given.into / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.writelines(each["text"] + "\n" for each in records)
        print(name, len(records))

    for name, path in (("sst2", "sst2_sentences"), ("mr", "mr"), ("cr", "cr")):
        write(name, rows(f"short/{path}.jsonl.xz"))
    imdb = rows("imdb/imdb_50k.jsonl.xz", most=150)
    shuffled.shuffle(imdb)
    write("public-sentiment", imdb[:12_000])
    write("imdb", imdb[12_000:17_000])
    write_text("public-reviews", imdb[17_000:35_000])
    news = rows("short/agnews_test_only.jsonl.xz")
    shuffled.shuffle(news)
    write("public-topic", news[:2000])
    write("agnews", news[2000:])
    for name, path, label, text in (
        ("newsgroups", "newsgroups20/20ng_cachopo_bydate.jsonl.xz", "label", "text"),
        ("insurance", "insuranceqa/v2_questions.jsonl.xz", "domain", "question"),
    ):
        records = [each for each in rows(path, label, text) if each["text"]]
        often = {each for each, count in Counter(each["label"] for each in records).items() if count >= FEWEST_OF_A_CLASS}
        records = [each for each in records if each["label"] in often]
        shuffled.shuffle(records)
        write(f"public-{name}", records[:4000])
        write(name, records[4000:9000])
    for name, path in (("c50", "reuters_c50/c50.jsonl.xz"), ("enron", "enron_pan11/enron_pan11.jsonl.xz")):
        records = [each for each in rows(path, "author") if len(each["text"].split()) > 10]
        authors = {author for author, _ in Counter(each["label"] for each in records).most_common(20)}
        write(name, [each for each in records if each["label"] in authors])
    write_text("public-news", rows("reuters_c50/c50.jsonl.xz", "author", most=10_000))


def make_spaces(given: argparse.Namespace) -> None:
    """Put the reduced and the shaped spaces into the store, and write the kinds of words."""
    source = Embedding.open(SOURCE)
    if not (given.into / "kinds.npz").exists():
        np.savez(given.into / "kinds.npz", **_kinds(source))
    installed = {each.name for each in store.installed()}
    wanted = {setting.space for setting in _asked(given)} - installed
    for space in sorted(wanted - {"default", SOURCE}):
        began = time.time()
        purpose, *numbers = space.split("-")
        if purpose == "reduced":
            made = reduce(source, int(numbers[0]))
        else:
            public = read_public(given.data / f"{PUBLIC[purpose]}.jsonl.xz", text_column="text", label_column="label")
            made = shape(source, [public], dimension=int(numbers[0]), strength=float(numbers[1]))
        store.save(made, space)
        print(space, made.dimension, f"{time.time() - began:.0f} s", flush=True)


def find_all(given: argparse.Namespace) -> None:
    """Write the ε of every setting, and draw its channels."""
    from gpu_draws import Attacker, Drawing, drawn_channel, find_epsilon, find_epsilons_exactly

    for setting in _asked(given):
        path, began = given.into / setting.file, time.time()
        if path.exists():
            continue
        embedding = Embedding.open(setting.space)
        asked = {"data": str(given.data / f"{setting.data}.jsonl.xz"), "text": "text", "label": "label", "most": None, "longest": 100}
        result, passages = describe(setting.data, asked, embedding, setting.space, setting.mechanism)
        drawing = Drawing(embedding, setting.mechanism, given.device)
        attacker = Attacker(drawing, shares_of(passages, embedding), read_kinds(given.into / "kinds.npz", embedding))
        wanted: list[tuple[float | str, float, str]] = [(level, level, "word") for level in WORD_LEVELS]
        if setting.data in KIND_LEVELS:
            wanted.append((f"kind {KIND_LEVELS[setting.data]}", KIND_LEVELS[setting.data], "kind"))
        if setting.mechanism == "santext":
            found = find_epsilons_exactly(attacker, [(level, reading) for _, level, reading in wanted])
        else:
            found = [find_epsilon(attacker, level, reading) for _, level, reading in wanted]
        epsilons = [(label, epsilon) for (label, _, _), epsilon in zip(wanted, found, strict=True) if epsilon is not None]
        drawn = time.time()
        for _, epsilon in epsilons:
            save_channel(given.into / channel_file(result, epsilon), drawn_channel(drawing, inputs_of(embedding), epsilon, given.draws))
        write_result(path, result | {"epsilons": epsilons})
        print(setting.file, epsilons, f"{drawn - began:.0f} s, channels {time.time() - drawn:.0f} s", flush=True)


def measure_all(given: argparse.Namespace) -> None:
    """Measure every setting as soon as its ε and channels are there, several at once."""
    order = _asked(given)
    # One run of everything is worth more than three of half of it.
    waiting = sorted(((each, run) for each in order for run in range(1, RUNS + 1)), key=lambda each: (each[1], order.index(each[0])))
    running: list[subprocess.Popen[bytes]] = []
    while waiting or running:
        running = [each for each in running if each.poll() is None]
        ready = next((each for each in waiting if (given.into / each[0].file).exists()), None)
        if ready is None or len(running) >= given.workers:
            time.sleep(0.5)
            continue
        waiting.remove(ready)
        setting, run = ready
        result = given.into / setting.file
        if result.with_suffix(f".run{run}.json").exists():
            continue
        command = [sys.executable, str(Path(__file__).with_name("measure_decoding.py")), "measure", str(result), "--run", str(run)]
        command += ["--channels", str(given.into), "--kinds", str(given.into / "kinds.npz")]
        if setting.reads_context and given.data is not None:
            command += ["--public", str(given.data / IN_CONTEXT[setting.data])]
        with result.with_suffix(f".run{run}.log").open("w") as log:
            running.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))


def collect(given: argparse.Namespace) -> None:
    """Put the runs of all settings into one file, without what the pages do not need; those in folders of the folder too."""
    found: dict[str, dict[str, Any]] = {}
    order = [each.file for each in settings()]
    paths = sorted(given.into.rglob("*.run*.json"), key=lambda path: (order.index(_file_of(path)), str(path)))
    for path in paths:
        run = json.loads(path.read_text(encoding="utf-8"))
        # Runs of one setting at other values of ε stand apart.
        entry = found.setdefault(
            f"{_file_of(path)} {run['epsilons']}",
            {name: run[name] for name in ("name", "texts", "words", "mechanism", "blind", "epsilons", "method", "directions")}
            | {"embedding": {name: run["embedding"][name] for name in ("name", "words", "dimension", "fingerprint")}}
            | {"majority": _majority(given.data / f"{run['name']}.jsonl.xz"), "original": [], "releases": []},
        )
        entry["original"].append(_rounded(run["original"][0]))
        for release in run["releases"]:
            accuracy = {name: _kept(name, value) for name, value in release["accuracy"].items()}
            entry["releases"].append(_rounded(release | {"accuracy": accuracy}))
    given.output.write_text("[\n" + ",\n".join(json.dumps(each) for each in found.values()) + "\n]\n", encoding="utf-8")
    print(f"{len(found)} settings, {len(paths)} runs")


@functools.cache
def _majority(path: Path) -> float:
    """Return the share of the most frequent label: what a model reaches that says the same of every text."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        counts = Counter(json.loads(line)["label"] for line in lines)
    return round(max(counts.values()) / counts.total(), 4)


def _file_of(path: Path) -> str:
    return path.name.split(".run")[0] + ".json"


def _kept(name: str, value: dict[str, float]) -> dict[str, float]:
    return value if name.endswith("words") else {"both": value["both"]}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _asked(given: argparse.Namespace) -> list[Setting]:
    asked = [each for each in settings()[: given.first] if given.only in each.file]
    return [each for each in asked if not given.skip or given.skip not in each.file]


def _shape_name(purpose: str, dimension: int, strength: float) -> str:
    return f"{purpose}-{dimension}-{strength:g}"


def _kinds(source: Embedding) -> dict[str, Any]:
    """Return the kinds of all words but the most frequent: clusters of their unit vectors."""
    from sklearn.cluster import KMeans

    vectors = np.asarray(source.vectors[MOST_FREQUENT:], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    kinds = KMeans(KINDS, n_init=1, max_iter=50, random_state=0).fit_predict(vectors)
    return {"words": np.array(source.words[MOST_FREQUENT:]), "kinds": kinds.astype(np.int64)}


if __name__ == "__main__":
    main()
