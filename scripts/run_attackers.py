"""Measures every setting of docs/experiments/attackers.md, one after the other; those that are there already are left out.

    deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
    python scripts/measure_purpose.py prepare DATASETS --into data
    python scripts/measure_purpose.py spaces --only 16-2 --data data --into data
    python scripts/run_attackers.py data [--into docs/experiments] [--only sst2] [-- --places 2000 --support 6000 …]
    python scripts/make_attackers_page.py

What comes after -- goes to measure_attackers.py. A run that was stopped goes on with the first setting that has no result.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from deniable import Embedding

FOLDER = Path("docs") / "experiments"
RARE_AFTER = 5_000  # SanText+ protects the 90 % least frequent words of the built-in embedding, as its authors chose


class Setting(NamedTuple):
    """A release to attack: of which data, by which mechanism, in which embedding, at which ε."""

    data: str
    label: str
    epsilons: tuple[float, ...]
    mechanism: str = "multivariate"
    embedding: str = "default"

    @property
    def file(self) -> str:
        """The name of its result."""
        return f"attackers-{self.data}-{self.label}.json"


def settings() -> list[Setting]:
    """Return what is measured, the most telling first.

    The ε of the paper's mechanism are those at which an attacker who knows the true word frequencies names 8, 17 and 33 % of the words, as
    docs/experiments/purpose.json has them; CusText and SanText+ have the ε of their papers.
    """
    noise = {"sst2": (5.426, 6.703, 8.046), "agnews": (4.833, 5.981, 7.345), "enron": (5.107, 6.601, 7.916)}
    shaped = {
        "sst2": ("sentiment-16-2", (3.546, 4.813, 6.288)),
        "agnews": ("topic-16-2", (2.414, 3.386, 4.563)),
        "enron": ("sentiment-16-2", (3.487, 4.771, 6.403)),
    }
    found = [Setting(data=data, label="multivariate", epsilons=epsilons) for data, epsilons in noise.items()]
    for data, (space, epsilons) in shaped.items():
        found += [
            Setting(data=data, label="custext", mechanism="custext:k=10", epsilons=(1.0, 2.0, 4.0)),
            Setting(data=data, label="santext-plus", mechanism="santext-plus:sensitive={rare},p=0.3", epsilons=(1.0, 2.0, 4.0)),
            Setting(data=data, label="shaped", embedding=space, epsilons=epsilons),
            Setting(data=data, label="rank-smoothing", mechanism="rank-smoothing", epsilons=(5.0, 8.0, 12.0)),
        ]
    return [*found, Setting(data="sst2", label="multivariate-300d", embedding="glove-840b", epsilons=(10.01, 11.62, 13.72))]


def main(arguments: list[str] | None = None) -> None:
    """Measure what has no result yet."""
    typed = sys.argv[1:] if arguments is None else arguments
    own, more = (typed[: typed.index("--")], typed[typed.index("--") + 1 :]) if "--" in typed else (typed, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that measure_purpose.py prepared")
    parser.add_argument("--into", type=Path, default=FOLDER)
    parser.add_argument("--only", default="", help="settings whose file has this in its name")
    given = parser.parse_args(own)
    for setting in settings():
        if given.only in setting.file and not (given.into / setting.file).exists():
            print(setting.file, flush=True)
            subprocess.run(command(setting, given.data, given.into, more), check=True)


def command(setting: Setting, data: Path, into: Path, more: list[str]) -> list[str]:
    """Return how a setting is measured."""
    rare = data / "rare-default.txt"
    if "{rare}" in setting.mechanism and not rare.exists():
        rare.write_text("\n".join(Embedding.open("default").words[RARE_AFTER:]) + "\n", encoding="utf-8")
    # Film reviews are public text for SST-2. For the others it is the set itself, without the documents that are attacked.
    public = data / ("public-reviews.txt.xz" if setting.data == "sst2" else f"{setting.data}.jsonl.xz")
    asked = [str(data / f"{setting.data}.jsonl.xz"), "--name", setting.data, "--public", str(public), "--learnt"]
    asked += ["-m", setting.mechanism.format(rare=rare), "--embedding", setting.embedding]
    asked += [part for epsilon in setting.epsilons for part in ("-e", f"{epsilon:g}")]
    script = Path(__file__).with_name("measure_attackers.py")
    return [sys.executable, str(script), *asked, *more, "-o", str(into / setting.file)]


if __name__ == "__main__":
    main()
