"""Measures every setting of docs/experiments/attackers.md, some side by side; those that are there already
are left out.

    deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b python -m
    scripts.purpose.measure prepare DATASETS --into data python -m scripts.purpose.measure spaces --only 16-2
    --data data --into data cp DATASETS/imdb/imdb_50k.jsonl.xz data python -m scripts.attackers.run data
    [--into docs/experiments] [--only sst2] [--at-once 8] [--minutes 15] [-- --places 1000 …] python -m
    scripts.attackers.page

What comes after -- goes to measure.py. A run that was stopped goes on with the first ε that has no result by
the same command. A setting that fails, or takes longer than it may, is named, and the others go on. Channels
by points want a GPU with CUDA.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from deniable import Embedding
from deniable.audit.inversion.results import NEAREST_WORD
from scripts.attackers.measure import without_folders

FOLDER = Path("docs") / "experiments"
RARE_AFTER = 0.1
"""SanText+ protects the 90 % least frequent words, as its authors chose."""

SIZES = ("--places", "2000", "--support", "20000", "--directions", "500", "--shadow-words", "20000")


class Setting(NamedTuple):
    """A release to attack: of which data, by which mechanism, in which embedding, at which ε, and how."""

    data: str
    label: str
    epsilons: tuple[float, ...]
    mechanism: str = "multivariate"
    embedding: str = "default"
    more: tuple[str, ...] = ("--learnt",)

    @property
    def file(self) -> str:
        """The name of its result."""
        return f"attackers-{self.data}-{self.label}.json"


def settings() -> list[Setting]:
    """Return what is measured, the most telling first.

    The ε of the paper's mechanism are those at which an attacker who knows the true word frequencies, and the
    channel from draws, named 8, 17 and 33 % of the words (Enron in 300 dimensions has those of SST-2). By
    shared points it names more; the ε stay, so that results of before and now compare. CusText and SanText+
    have the ε of their papers. A row of SanText+ or rank smoothing has thousands of outputs: their attackers
    think of fewer words.
    """
    noise = {"sst2": (5.426, 6.703, 8.046), "agnews": (4.833, 5.981, 7.345), "enron": (5.107, 6.601, 7.916)}
    wide = {"sst2": (10.01, 11.62, 13.72), "agnews": (9.036, 10.65, 12.68), "enron": (10.01, 11.62, 13.72)}
    shaped = {
        "sst2": ("sentiment-16-2", (3.546, 4.813, 6.288)),
        "agnews": ("topic-16-2", (2.414, 3.386, 4.563)),
        "enron": ("sentiment-16-2", (3.487, 4.771, 6.403)),
    }
    few_words = ("--support", "8000")
    drawn = ("--learnt", "--device", "cuda", "--directions", "256")
    by_all = (*drawn, "--language-model", "smollm2")
    santext, custext = "santext-plus:sensitive={rare},p=0.3", "custext:k=10"
    return [
        Setting(
            data="sst2", label="multivariate-300d", embedding="glove-840b", epsilons=wide["sst2"], more=drawn
        ),
        *(
            Setting(data=data, label="language-model", epsilons=noise[data], more=by_all)
            for data in ("sst2", "agnews")
        ),
        *(
            Setting(data=data, label="multivariate", epsilons=epsilons, more=drawn)
            for data, epsilons in noise.items()
        ),
        *(
            Setting(
                data=data,
                label="santext-plus",
                mechanism=santext,
                embedding="glove-840b",
                epsilons=(1.0, 2.0, 4.0),
                more=("--learnt", *few_words),
            )
            for data in noise
        ),
        *(
            Setting(
                data=data,
                label="custext",
                mechanism=custext,
                embedding="glove-840b",
                epsilons=(1.0, 2.0, 4.0),
            )
            for data in noise
        ),
        *(
            Setting(data=data, label="shaped", embedding=space, epsilons=each, more=drawn)
            for data, (space, each) in shaped.items()
        ),
        *(
            Setting(
                data=data, label="multivariate-300d", embedding="glove-840b", epsilons=wide[data], more=drawn
            )
            for data in ("agnews", "enron")
        ),
        *(
            Setting(
                data=data,
                label="rank-smoothing",
                mechanism="rank-smoothing",
                epsilons=(5.0, 8.0, 12.0),
                more=(*drawn, *few_words),
            )
            for data in noise
        ),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure what has no whole result yet."""
    typed = sys.argv[1:] if arguments is None else arguments
    own, more = (typed[: typed.index("--")], typed[typed.index("--") + 1 :]) if "--" in typed else (typed, [])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder that purpose.measure prepared")
    parser.add_argument("--into", type=Path, default=FOLDER)
    parser.add_argument("--only", default="", help="settings whose file has this in its name")
    parser.add_argument("--without", help="leave out settings whose file has this in its name")
    parser.add_argument("--at-once", type=int, default=1, help="how many settings run side by side")
    parser.add_argument("--minutes", type=float, help="how long a setting may take")
    given = parser.parse_args(own)
    chosen = [
        each
        for each in settings()
        if given.only in each.file and (given.without is None or given.without not in each.file)
    ]
    left = [each for each in chosen if not is_whole(given.into / each.file, each, more)]
    with ThreadPoolExecutor(given.at_once) as pool:
        fine = list(pool.map(lambda setting: measure(setting, given, more), left))
    if not all(fine):
        raise SystemExit(f"{fine.count(False)} of {len(fine)} settings failed")


def is_whole(path: Path, setting: Setting, more: Sequence[str] = ()) -> bool:
    """Return whether a result is there, with all its ε, measured as it is asked for now; early ones lack the
    simplest attacker."""
    if not path.exists():
        return False
    found = json.loads(path.read_text(encoding="utf-8"))
    simplest = all(
        NEAREST_WORD in {each["name"] for each in one["attackers"]} for one in found["result"]["results"]
    )
    return not found["unfinished"] and simplest and is_measured_so(found, setting, more)


def is_measured_so(found: dict[str, Any], setting: Setting, more: Sequence[str] = ()) -> bool:
    """Return whether a result, all its ε or some, comes from the command that measures a setting, wherever
    its files lie."""
    asked = without_folders(command(setting, Path("data"), Path("into"), more)[3:-2])
    return shlex.split(found["command"])[3:-2] == asked


def measure(setting: Setting, given: argparse.Namespace, more: list[str]) -> bool:
    """Measure a setting; what it says goes into a file beside its result. Return whether that went well."""
    began, log = time.time(), given.into / Path(setting.file).with_suffix(".log")
    with log.open("w", encoding="utf-8") as out:
        try:
            write_rare_words(setting, given.data)
            asked = command(setting, given.data, given.into, more)
            seconds = None if given.minutes is None else 60 * given.minutes
            status = subprocess.run(
                asked, stdout=out, stderr=subprocess.STDOUT, timeout=seconds, check=False, env=os.environ
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
    last = log.read_text(encoding="utf-8").strip().split("\n")[-1]
    print(
        f"{setting.file}: {'done' if status == 0 else f'FAILED with {status}'} after "
        f"{time.time() - began:.0f} s; {last}",
        flush=True,
    )
    return status == 0


def command(setting: Setting, data: Path, into: Path, more: Sequence[str] = ()) -> list[str]:
    """Return how a setting is measured."""
    # Film reviews are public text for SST-2. For the others it is the set itself, without the documents that
    # are attacked.
    films = ["--public", str(data / "imdb_50k.jsonl.xz"), "--public-texts", "25000"]
    public = films if setting.data == "sst2" else ["--public", str(data / f"{setting.data}.jsonl.xz")]
    asked = [str(data / f"{setting.data}.jsonl.xz"), "--name", setting.data, *public]
    asked += [
        "-m",
        setting.mechanism.format(rare=rare_words(setting, data)),
        "--embedding",
        setting.embedding,
    ]
    asked += [part for epsilon in setting.epsilons for part in ("-e", f"{epsilon:g}")]
    script = ("-m", "scripts.attackers.measure")
    return [sys.executable, *script, *asked, *SIZES, *setting.more, *more, "-o", str(into / setting.file)]


def rare_words(setting: Setting, data: Path) -> Path:
    """Return where the words lie that SanText+ protects."""
    return data / f"rare-{setting.embedding}.txt"


def write_rare_words(setting: Setting, data: Path) -> None:
    """Write the words that SanText+ protects, if they are not there; whole or not at all, for other runs may
    read them."""
    path = rare_words(setting, data)
    if "{rare}" in setting.mechanism and not path.exists():
        words = Embedding.open(setting.embedding).words
        part = path.with_name(f"{setting.file}.{path.name}")
        part.write_text("\n".join(words[int(RARE_AFTER * len(words)) :]) + "\n", encoding="utf-8")
        part.replace(path)


if __name__ == "__main__":
    main()
