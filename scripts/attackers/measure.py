"""Measure every setting of docs/research/attackers.md: what each attacker names of a text.

    python -m scripts.attackers.measure data [--only sst2]

``data`` is the folder that ``scripts.purpose.prepare`` wrote, with imdb_50k.jsonl.xz beside; the shaped
spaces come from ``scripts.purpose.spaces``. Each result is written after each ε, and what is there is not
measured again.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from deniable import Embedding
from deniable.audit.inversion.drawn_words import InversionEffort
from deniable.audit.inversion.text_attack import TextAttack
from deniable.audit.results import head_of
from deniable.lab.inversion.language_model import language_model_attack
from deniable.lab.inversion.learnt import learnt_attack
from deniable.lab.inversion.local_model import open_language_model
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.words.public_text import read_lines
from scripts.pages import EXPERIMENTS, options_of, read_json, write_json

RARE_AFTER = 0.1
"""SanText+ protects the 90 % least frequent words, as its authors chose."""
PLACES, SHADOW_WORDS, DIRECTIONS, PUBLIC_TEXTS, SEED = 2_000, 20_000, 500, 25_000, 0


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A release to attack: of which data, by which mechanism, in which embedding, at which ε, and how."""

    data: str
    label: str
    epsilons: tuple[float, ...]
    mechanism: str = "multivariate"
    embedding: str = "default"
    support: int = 20_000
    language_model: str | None = None

    @property
    def file(self) -> str:
        """The name of its result."""
        return f"attackers-{self.data}-{self.label}.json"

    @property
    def asked(self) -> dict[str, Any]:
        """What a result says of how it was measured."""
        return {
            "epsilons": list(self.epsilons),
            "support": self.support,
            "language_model": self.language_model,
            "shadow_words": SHADOW_WORDS,
        }


def settings() -> list[Setting]:
    """Return what is measured.

    The ε of the paper's mechanism are those at which an attacker who knows the true word frequencies, and
    the channel from draws, named 8, 17 and 33 % of the words (Enron in 300 dimensions has those of SST-2).
    By shared points it names more; the ε stay, so that results remain comparable. CusText and SanText+ have
    the ε of their papers. A row of SanText+ or rank smoothing has thousands of outputs: their attackers
    think of fewer words.
    """
    noise = {"sst2": (5.426, 6.703, 8.046), "agnews": (4.833, 5.981, 7.345), "enron": (5.107, 6.601, 7.916)}
    wide = {"sst2": (10.01, 11.62, 13.72), "agnews": (9.036, 10.65, 12.68), "enron": (10.01, 11.62, 13.72)}
    shaped = {
        "sst2": ("sentiment-16-2", (3.546, 4.813, 6.288)),
        "agnews": ("topic-16-2", (2.414, 3.386, 4.563)),
        "enron": ("sentiment-16-2", (3.487, 4.771, 6.403)),
    }
    glove: dict[str, Any] = {"embedding": "glove-840b"}
    papers, few = (1.0, 2.0, 4.0), 8_000
    plus, custext = "santext-plus:sensitive={rare},p=0.3", "custext:k=10"
    found = []
    for data, epsilons in noise.items():
        space, its_epsilons = shaped[data]
        found += [
            Setting(data=data, label="multivariate", epsilons=epsilons),
            Setting(data=data, label="multivariate-300d", epsilons=wide[data], **glove),
            Setting(data=data, label="shaped", epsilons=its_epsilons, embedding=space),
            Setting(data=data, label="custext", epsilons=papers, mechanism=custext, **glove),
            Setting(data=data, label="santext-plus", epsilons=papers, mechanism=plus, support=few, **glove),
            Setting(
                data=data,
                label="rank-smoothing",
                epsilons=(5.0, 8.0, 12.0),
                mechanism="rank-smoothing",
                support=few,
            ),
        ]
        if data != "enron":
            found.append(
                Setting(data=data, label="language-model", epsilons=epsilons, language_model="smollm2")
            )
    return found


def main() -> None:
    """Measure what has no whole result yet."""
    parser = options_of(__doc__)
    parser.add_argument("data", type=Path, help="the folder that scripts.purpose.prepare wrote")
    parser.add_argument("--only", default="", help="settings whose file has this in its name")
    given = parser.parse_args()
    for setting in settings():
        if given.only in setting.file:
            measure(setting, given.data, EXPERIMENTS / setting.file)


def measure(setting: Setting, data: Path, output: Path) -> None:
    """Measure the ε of a setting that have no result yet."""
    began, found, seconds = time.time(), *measured_before(output, setting)
    left = [epsilon for epsilon in setting.epsilons if epsilon not in {each["epsilon"] for each in found}]
    if not left:
        return
    embedding = Embedding.open(setting.embedding)
    rare = rare_words(data, embedding) if "{rare}" in setting.mechanism else None
    mechanism = parse_mechanism(setting.mechanism.format(rare=rare))
    attack, public = prepare(setting, data, embedding)
    for epsilon in left:
        made = mechanism(embedding, epsilon=epsilon)
        channel = attack.channel(made, mechanism, seed=SEED)
        attackers = attack.attack(made, channel, seed=SEED)
        found.append({"epsilon": epsilon, "attackers": [asdict(each) for each in attackers]})
        named = ", ".join(f"{each.name} {each.word.first.value:.3f}" for each in attackers)
        print(f"{setting.file}, {epsilon:g}: {named}", flush=True)
        result = {
            **head_of("inversion", embedding, mechanism, SEED),
            "frequencies": public,
            "text": asdict(attack.summarise()),
            "results": sorted(found, key=lambda each: setting.epsilons.index(each["epsilon"])),
        }
        content = {
            "name": setting.data,
            "asked": setting.asked,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "options": setting.mechanism.format(rare=rare and rare.name),
            "seconds": seconds + round(time.time() - began),
            "channel": channel.method,
            "result": result,
        }
        write_json(output, json.loads(json.dumps(content, default=asdict)))


def measured_before(path: Path, setting: Setting) -> tuple[list[dict[str, Any]], int]:
    """Return what was found at some ε of the same setting, and in how many seconds."""
    result = read_json(path) if path.exists() else {}
    asked = {name: value for name, value in result.get("asked", {}).items() if name != "points"}
    if asked != setting.asked:  # "points": of channels that an earlier script made on a GPU
        return [], 0
    return list(result["result"]["results"]), int(result["seconds"])


def prepare(setting: Setting, data: Path, embedding: Embedding) -> tuple[TextAttack, str]:
    """Return the text under attack, and the name of what is public.

    Film reviews are public text for SST-2. For the others it is the set itself, without the documents that
    are attacked.
    """
    own = data / f"{setting.data}.jsonl.xz"
    public = data / "imdb_50k.jsonl.xz" if setting.data == "sst2" else own
    further: list[Any] = [learnt_attack(SHADOW_WORDS)]
    if setting.language_model is not None:
        further.append(language_model_attack(open_language_model(setting.language_model)))
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        attack = TextAttack.prepare(
            embedding,
            plain_text(public, Path(folder) / "public.txt", most=PUBLIC_TEXTS if public != own else None),
            plain_text(own, Path(folder) / f"{setting.data}.txt"),
            effort=InversionEffort(places=PLACES, support=setting.support, directions=DIRECTIONS),
            seed=SEED,
            further=further,
        )
    return attack, public.name


def plain_text(path: Path, target: Path, *, most: int | None = None) -> Path:
    """Write the texts of JSON Lines as plain text, one document a line; return where."""
    with target.open("w", encoding="utf-8") as out:
        for line in islice(read_lines(path), most):
            out.write(" ".join(json.loads(line)["text"].split()) + "\n")
    return target


def rare_words(data: Path, embedding: Embedding) -> Path:
    """Return the file of the words that SanText+ protects, and write it if it is not there."""
    path = data / f"rare-{embedding.name}.txt"
    if not path.exists():
        words = embedding.words
        path.write_text("\n".join(words[int(RARE_AFTER * len(words)) :]) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
