"""Measures what every attacker names of a text: blindly, as released, word by word, in context, learnt, and
with a language model.

    python -m scripts.attackers.measure sst2.jsonl.xz --name sst2 --public imdb.jsonl.xz --attacker 0.08
    --attacker 0.17 --attacker 0.33 \\
        --learnt --language-model smollm2 -o docs/experiments/attackers-sst2-multivariate.json
    python -m scripts.attackers.measure sst2.jsonl.xz --name sst2 --public imdb.jsonl.xz -m custext:k=10 -e 1
    -e 2 -e 3 -o RESULT.json python -m scripts.attackers.page

ε is given (-e), or found where the attacker who reads word by word, and knows the true word frequencies,
names the wanted share of the words (--attacker; for all mechanisms but the line and normal noise). Text is a
file of records with a column of text, or plain text, one document a line; so is the public text. The result
holds what ``deniable audit inversion`` saves of running text, the command, the times, the machine and the
digest of the language model. With --device cuda the channel of the paper's mechanism, or of rank smoothing
over it, is made on a GPU. A run that was stopped goes on with the ε that are not in its result yet.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from deniable import Embedding
from deniable.audit.inversion.drawn_words import TextEffort
from deniable.audit.inversion.text_attack import TextAttack
from deniable.audit.results import head_of
from deniable.channel.channel import Channel
from deniable.lab.inversion.language_model import LanguageModelAttack
from deniable.lab.inversion.learnt import LearntAttack
from deniable.lab.inversion.local_model import open_language_model
from deniable.lab.passages import passages_of
from deniable.mechanisms.catalogue import parse_mechanism
from deniable.release.policies import TextPolicy
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_lines
from scripts.decoding.measure import epsilons_where

LONGEST = 100


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the result."""
    typed = sys.argv[1:] if arguments is None else arguments
    given = _parser().parse_args(typed)
    began = time.time()
    embedding, mechanism = Embedding.open(given.embedding), parse_mechanism(given.mechanism)
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        text = plain_text(given.data, given.column, Path(folder) / given.data.name)
        public = plain_text(
            given.public,
            given.public_column,
            Path(folder) / f"public-{given.public.name}",
            most=given.public_texts,
        )
        epsilons = given.epsilon or []
        if given.attacker:
            cutter = Cutter(embedding)
            texts = [
                " ".join(cutter.words(line)[:LONGEST])
                for line in text.read_text(encoding="utf-8").split("\n")
                if line.strip()
            ]
            passages = passages_of(texts[: given.texts], embedding, TextPolicy())
            epsilons = [
                epsilon for _, epsilon in epsilons_where(embedding, mechanism, passages, given.attacker)
            ]
            if not epsilons:
                raise SystemExit(
                    f"no ε of {given.mechanism} gives such an attacker: ask for other shares, or give values "
                    "of ε"
                )
        attack = TextAttack.prepare(
            embedding,
            public,
            text,
            words=given.words or (),
            effort=TextEffort(places=given.places, support=given.support, directions=given.directions),
            seed=given.seed,
            further=[
                *([LearntAttack(shadow_words=given.shadow_words)] if given.learnt else []),
                *(
                    [LanguageModelAttack(model=open_language_model(given.language_model))]
                    if given.language_model
                    else []
                ),
            ],
        )
    say(f"{attack.public.words:,} public words read", began)
    asked = "python -m scripts.attackers.measure " + shlex.join(without_folders(typed))
    findings, earlier = measured_before(given.output, asked)
    left = [epsilon for epsilon in epsilons if epsilon not in {each["epsilon"] for each in findings}]
    channels = channels_of(attack, given, left)
    for epsilon in left:
        channel = next(channels)
        say(f"{epsilon:g}: channel made, {len(channel.outputs):,} numbers", began)
        attackers = attack.attack(mechanism(embedding, epsilon=epsilon), channel, seed=given.seed)
        findings.append({"epsilon": epsilon, "attackers": [asdict(each) for each in attackers]})
        say(
            f"{epsilon:g}: " + ", ".join(f"{each.name} {each.word.first.value:.3f}" for each in attackers),
            began,
        )
        # Written after each ε: a machine that is taken away leaves what there is.
        write(
            given,
            {
                "name": given.name,
                "command": asked,
                "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",  # noqa: E501
                "options": without_folders([given.mechanism])[0],
                "seconds": earlier + round(time.time() - began),
                "unfinished": len(findings) < len(epsilons),
                "channel": channel.method,
                "result": {
                    **head_of("inversion", embedding, mechanism, given.seed),
                    "frequencies": given.public.name,
                    "text": asdict(attack.summarise()),
                    "results": sorted(findings, key=lambda each: epsilons.index(each["epsilon"])),
                },
            },
        )


def measured_before(path: Path, asked: str) -> tuple[list[dict[str, Any]], int]:
    """Return what a run of the same command that was stopped has found at its first ε, and how many seconds
    it took."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if not found.get("unfinished") or found.get("command") != asked:
        return [], 0
    return list(found["result"]["results"]), int(found["seconds"])


def channels_of(attack: TextAttack, given: argparse.Namespace, epsilons: list[float]) -> Iterator[Channel]:
    """Yield the channel at each ε: made on a GPU one by one, or on the processor."""
    if given.device == "cpu":
        chosen = parse_mechanism(given.mechanism)
        for epsilon in epsilons:
            yield attack.channel(chosen(attack.embedding, epsilon=epsilon), chosen, seed=given.seed)
    else:
        from scripts.gpu.channels import ChannelsOnGpu
        from scripts.gpu.points import Effort

        made = ChannelsOnGpu(
            attack.embedding, given.mechanism, effort=Effort(drawn=given.directions), device=given.device
        )
        for epsilon in epsilons:
            yield made.channel(attack.inputs, epsilon)


def write(given: argparse.Namespace, found: dict[str, object]) -> None:
    """Write a result, or none."""
    beside = given.output.with_suffix(".part")
    beside.write_text(
        json.dumps(found, indent=1, ensure_ascii=False, default=asdict) + "\n", encoding="utf-8"
    )
    beside.replace(given.output)


def say(what: str, began: float) -> None:
    """Print how far the run is."""
    print(f"{time.time() - began:.0f} s: {what}", flush=True)


def plain_text(path: Path, column: str, into: Path, *, most: int | None = None) -> Path:
    """Write the texts of a file of records, JSON Lines, or the lines of a plain one, one document a line;
    return where."""
    target = into.with_suffix(".txt")
    with target.open("w", encoding="utf-8") as out:
        for line in islice(read_lines(path), most):
            document = json.loads(line)[column] if ".jsonl" in path.name else line
            out.write(" ".join(document.split()) + "\n")
    return target


def without_folders(arguments: list[str]) -> list[str]:
    """Return the arguments with files named as anybody has them, those in options of a mechanism too."""
    return [
        argument if argument.startswith("docs/") else re.sub(r"(^|=)[^=,]*/", r"\1", argument)
        for argument in arguments
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--column", default="text")
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument("--public-column", default="text")
    parser.add_argument("--public-texts", type=int, help="read only the first documents of the public text")
    parser.add_argument("--embedding", default="default")
    parser.add_argument("--mechanism", "-m", default="multivariate")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--epsilon", "-e", type=float, action="append")
    chosen.add_argument("--attacker", type=float, action="append")
    parser.add_argument(
        "--texts", type=int, default=3_000, help="with --attacker: how many texts to find ε on"
    )
    parser.add_argument("--words", type=Path, action="append")
    parser.add_argument("--learnt", action="store_true")
    parser.add_argument("--language-model")
    parser.add_argument("--places", type=int, default=3_000)
    parser.add_argument("--support", type=int, default=20_000)
    parser.add_argument("--directions", type=int, default=1_000)
    parser.add_argument("--shadow-words", type=int, default=100_000)
    parser.add_argument("--device", default="cpu", help="cuda: make the channel there")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser


if __name__ == "__main__":
    main()
