"""Golden releases by the command line: every mechanism, policy and format, filters, watched folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.golden.command import Commands
from tests.golden.compared import Beside, Golden, card_beside, digest, receipt_beside, released
from tests.golden.interrupted import INTERRUPTED, WATCHED
from tests.golden.materials import FROZEN, TEXTS

COMPRESSIONS = ("", ".gz", ".bz2", ".xz", ".zst")
WHOLE = (".parquet", ".xlsx", ".ods")

OPTIONS: dict[str, list[str]] = {
    "multivariate": [],
    "mahalanobis": ["lam=0.7"],
    "vickrey": ["t=0.5", "noise=mahalanobis", "lam=0.6"],
    "gaussian": [],
    "rank-smoothing": ["over=vickrey", "t=0.3", "c=0.5"],
    "tem": ["beta=0.1"],
    "santext": [],
    "santext-plus": ["sensitive=sensitive.txt", "p=0.7"],
    "custext": ["k=5"],
    "line": ["lists=3"],
    "randomized-response": [],
}
"""Every mechanism of the catalogue, with the options given on the command line."""

POLICIES: dict[str, str] = {
    "perturb": "-e 3 --embedding plain",
    "redact": "-e 3 --embedding plain --unknown redact",
    "drop": "-e 3 --embedding plain --unknown drop",
    "error": "-e 3 --embedding plain --unknown error",
    "subwords": "-e 3 --embedding spelled --unknown subwords",
    "punctuation": "-e 3 --embedding plain --punctuation keep",
    "case": "-e 3 --embedding plain --case keep",
    "keep words": "-e 3 --embedding plain --keep-words keep.txt",
    "never release": "-e 3 --embedding plain --never-release never.txt --keep-words keep.txt",
    "all kept": "-e 3 --embedding plain --unknown redact --punctuation keep --case keep --keep-words keep.txt",  # noqa: E501
    "record epsilon": "--record-epsilon 12 --embedding plain",
    "record epsilon with a ceiling": "--record-epsilon 12 -e 2 --embedding plain",
    "by calibration": "--max-unchanged 0.5 --quantile 0.95 --embedding plain",
    "by calibration of another mechanism": "--max-unchanged 0.5 --quantile 0.95 --embedding plain -m santext",
    "cased": "-e 2 --embedding cased",
    "cased with case kept": "-e 2 --embedding cased --case keep --punctuation keep --keep-words keep.txt",
    "protected": "-e 3 --embedding guarded",
    "protected by unknown": "-e 3 --embedding hidden --unknown redact",
    "built-in": "-e 8",
    "for sentiment": "--for sentiment --risk low",
    "built-in with a budget": "-e 20 --record-epsilon 100 --punctuation keep --case keep",
}
"""Options of ``deniable privatize`` on a file of records with ids."""


def of_the_command(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the release and what lies beside it, of each mechanism and policy on the command
    line."""
    source = str(FROZEN / "inputs" / "records.jsonl")
    plain = ["-e", "3", "--embedding", "plain"]
    given = {f"mechanism {name}": [*plain, "-m", name] for name in OPTIONS}
    for name, options in OPTIONS.items():
        given[f"mechanism {name}"] += [part for option in options for part in ("-O", option)]
    given |= {f"policy {name}": options.split() for name, options in POLICIES.items()}
    for options in given.values():
        options += ["-c", "text", "--record-id", "id"]
    given["policy consistent"] = [*plain, "-c", "text", "-c", "more", "--consistent-by", "user"]
    given["policy two columns"] = [*plain, "-c", "text", "-c", "more", "--record-id", "id"]
    for name, options in given.items():
        _, content, beside = release_file(commands, work, name, source, ".jsonl", options)
        if isinstance(content, str):
            texts = [json.loads(line)["text"] for line in content.splitlines() if line]
            content = [digest(content), texts] if name.startswith("policy") else digest(content)
        yield name, content, beside


def of_formats(commands: Commands, work: Path, ending: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the releases of one format: by ids and without, with each compression, by one process and by two.

    Without ids, the noise depends on the bytes of the input, compressed as they are; so those are frozen too.
    """
    columns = [] if ending == ".txt" else ["-c", "text", "-c", "more"] if ending in WHOLE else ["-c", "text"]
    namings: dict[str, list[str]] = (
        {"by number": []} if ending == ".txt" else {"by number": [], "by id": ["--record-id", "id"]}
    )
    for packed, workers in product(COMPRESSIONS if ending not in WHOLE else ("",), (1, 2)):
        for naming, options in namings.items():
            if workers == 2 and packed not in ("", ".gz"):
                continue
            source = str(FROZEN / "inputs" / f"records{ending}{packed}")
            settings = [*columns, *options, "-e", "3", "--embedding", "plain", "--workers", str(workers)]
            name = f"{ending}{packed}, {naming}, {workers} at work"
            written = ".xlsx" if ending == ".ods" else ending
            _, content, beside = release_file(commands, work, name, source, written + packed, settings)
            yield name, content if not packed and workers == 1 else digest(content), beside


def of_long_files(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the releases of files of several batches: digests of the words, and where row groups end."""
    rows = [
        (f"r{number}", " ".join(str(TEXTS[(number + i) % 20] or "the") for i in range(2)))
        for number in range(1_500)
    ]
    lines = work / "long.jsonl"
    lines.write_text(
        "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows), encoding="utf-8"
    )
    table = work / "long.parquet"
    pq.write_table(
        pa.table({"id": [name for name, _ in rows], "text": [text for _, text in rows]}),
        table,
        row_group_size=400,
    )
    settings = ["-c", "text", "-e", "3", "--embedding", "plain", "--record-id", "id"]
    for source, ending, workers in (
        (lines, ".jsonl", "1"),
        (lines, ".jsonl.gz", "2"),
        (table, ".parquet", "1"),
        (table, ".parquet", "2"),
    ):
        shared = [*settings, "--workers", workers]
        name, content, beside = release_file(
            commands, work, f"long {ending}, {workers} at work", str(source), ending, shared
        )
        if ending == ".parquet":
            yield name, {**content, "rows": digest(content["rows"])}, beside
        else:
            yield name, digest(content), beside


def of_filters(commands: Commands, work: Path) -> Golden:
    """Return what goes through standard input and output, and files that are read in other ways."""
    inputs = FROZEN / "inputs"
    settings = ["-e", "3", "--embedding", "plain", "--key-file", "golden.key"]
    golden: Golden = {}
    for ending in ("csv", "tsv", "jsonl", "csv.gz", "jsonl.zst"):
        form = ["--format", ending.split(".")[0], "-c", "text", "--record-id", "id"]
        ended = commands.run("privatize", *form, *settings, data=(inputs / f"records.{ending}").read_bytes())
        golden[f"stdin {ending}"] = [ended.status, digest(ended.out)]
    ended = commands.run("privatize", str(inputs / "records.txt"), *settings)
    golden["text to stdout"] = [ended.status, ended.out.decode()]
    # Without a key nothing is drawn alike twice; at this ε nothing is drawn but the word itself.
    untouched = [
        "-e",
        "1e9",
        "--embedding",
        "plain",
        "--unknown",
        "redact",
        "--punctuation",
        "keep",
        "--case",
        "keep",
        "-q",
    ]
    ended = commands.run("privatize", *untouched, data=(inputs / "records.txt").read_bytes())
    golden["text through, hardly perturbed"] = [ended.status, ended.out.decode()]
    latin = [str(inputs / "latin.csv"), "--no-header", "--delimiter", ";", "--encoding", "latin-1", "-c", "2"]
    for name, options in {"by number": [], "by id": ["--record-id", "1"]}.items():
        ended = commands.run("privatize", *latin, *options, *settings)
        golden[f"no header, latin-1, {name}"] = [ended.status, ended.out.decode()]
    return golden


def of_resumed_work(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield what the commands that were cut off release when they are not."""
    for name, (source, target, options) in INTERRUPTED.items():
        ending = "".join(Path(target).suffixes)
        yield release_file(
            commands, work, f"whole {name}", str(FROZEN / "inputs" / source), ending, options.split()
        )


def of_watching(commands: Commands, work: Path) -> Golden:
    """Return what a watched folder releases that nobody has watched before."""
    folder = work / "watching"
    shutil.copytree(FROZEN / "watched" / "inbox", folder / "inbox")
    (folder / "released").mkdir()
    for shared in ("home", "golden.key"):
        (folder / shared).symlink_to(commands.folder / shared)
    ended = commands.run(*WATCHED.split(), cwd=folder)
    assert ended.status == 0, ended.err
    golden: Golden = {path.name: path.read_bytes().decode() for path in (folder / "released").glob("*.csv")}
    early = folder / "inbox" / "early.csv"
    early.write_text(early.read_text() + "4,the best bread,4\n")
    ended = commands.run(*WATCHED.split(), cwd=folder)
    assert ended.status == 0, ended.err
    golden["early.csv with one more"] = (folder / "released" / "early.csv").read_bytes().decode()
    return golden


def release_file(
    commands: Commands, work: Path, name: str, source: str, ending: str, settings: list[str]
) -> tuple[str, Any, Any]:
    """Return the name, the release of a file and what lies beside it."""
    target = work / (name.replace(",", "").replace(" ", "-").replace("/", "") + ending)
    ended = commands.run(
        "privatize", source, "-o", str(target), "--key-file", "golden.key", "--quiet", *settings
    )
    content = released(ended, target)
    return name, content, None if ended.status else Beside(receipt_beside(target), card_beside(target))
