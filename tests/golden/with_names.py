"""Golden releases with the built-in lists of names; the first was called ``names`` when there was no
other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deniable import Embedding, Keyed, Multivariate, Privatizer, Vickrey
from tests.golden.by_command import release_file
from tests.golden.command import Commands
from tests.golden.compared import Golden, digest
from tests.golden.materials import FROZEN, IDS, KEY, TEXTS

FIRST, LATEST = "names-1", "names"
"""The list that work was begun with when it was the only one, and the latest."""

SENTENCES = [
    "Maria Kowalczyk called Dr. O'Brien on Thursday about Mark's x-ray",
    "María García, Jürgen Müller and José Hernández met Obama; will Grace Park come in May?",
]
CUT_OFF = ("records.csv", "out.csv", "-c text --record-id id -e 3 --embedding plain")
"""A job with the list that was cut off: its input, its output and its other options. It lies in
``frozen/names-1``."""


def of_names(home: Path, listed: str = FIRST) -> Golden:
    """Return what is released with a list alone and beside other words, over a stored embedding and the
    built-in one."""
    golden: Golden = {}
    for stored in ("plain", "cased", "built-in"):
        embedding = Embedding.open() if stored == "built-in" else Embedding.open(home / "embeddings" / stored)
        policies: dict[str, dict[str, Any]] = {
            "alone": {"randomness": Keyed(KEY)},
            "redacted": {"randomness": Keyed(KEY), "unknown": "redact"},
            "consistent": {"randomness": Keyed(KEY, consistent=True)},
        }
        for name, settings in policies.items():
            private = Privatizer(Multivariate(embedding, epsilon=6.0), never_release=listed, **settings)
            golden[f"{stored}, {name}"] = [
                private.many(SENTENCES, record_ids=["a", "b"]),
                digest(private.many(TEXTS, record_ids=IDS)),
            ]
        private = Privatizer(
            Vickrey(embedding, epsilon=6.0), never_release=[listed, "Doctor"], randomness=Keyed(KEY)
        )
        golden[f"{stored}, and a word"] = [
            private.many(SENTENCES, record_ids=["a", "b"]),
            digest(private.many(TEXTS, record_ids=IDS)),
        ]
        golden[f"{stored}, space"] = private.mechanism.embedding.fingerprint
    return golden


def of_names_by_command(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the releases by the command line, with their receipts and cards."""
    for name, options in {
        "names": f"-e 6 --never-release {FIRST} -c text --record-id id",
        "names and words": f"-e 3 --embedding plain --never-release {FIRST} --never-release never.txt -c "
        "text --record-id id",
        "latest names": f"-e 6 --never-release {LATEST} -c text --record-id id",
        "latest names and words": f"-e 3 --embedding plain --never-release {LATEST} --never-release "
        "never.txt -c text --record-id id",
    }.items():
        yield release_file(
            commands, work, name, str(FROZEN / "inputs" / "records.jsonl"), ".jsonl", options.split()
        )
    source, target, others = CUT_OFF
    whole = f"{others} --never-release {FIRST}".split()
    yield release_file(
        commands, work, "whole with names", str(FROZEN / "inputs" / source), Path(target).suffix, whole
    )
