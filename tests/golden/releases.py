"""Every golden release, by name: what is run, and what of it is compared.

Only what users can rely on is used: the command line, the public names of ``deniable`` and of its integrations, and files. A release is
text where it is short and tells something by itself, and a digest of it otherwise.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from deniable import (
    TEM,
    CusText,
    Embedding,
    Gaussian,
    Keyed,
    Line,
    Mahalanobis,
    Mechanism,
    Multivariate,
    Privatizer,
    RandomizedResponse,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)
from tests.golden.command import Commands, Ended
from tests.golden.interrupted import INTERRUPTED, WATCHED
from tests.golden.materials import FROZEN, IDS, KEY, TEXTS
from tests.support import made_languages
from tests.support.made_xlsx import unzipped

Golden = dict[str, Any]

SENSITIVE = ["doctor", "keys", "soup", "Apple"]
KEPT = ["the", "Fox", "café", "xyzzy"]
EMBEDDINGS = ("plain", "cased", "guarded", "hidden", "spelled")
COMPRESSIONS = ("", ".gz", ".bz2", ".xz", ".zst")
WHOLE = (".parquet", ".xlsx", ".ods")
SENTENCES = ["my doctor said the encryption keys were stolen", "Xyzzy: the quick brown fox isn't in the U.S. at 5 o'clock"]

MECHANISMS: dict[str, Callable[[Embedding, float], Mechanism]] = {
    "multivariate": lambda embedding, e: Multivariate(embedding, epsilon=e),
    "mahalanobis": lambda embedding, e: Mahalanobis(embedding, epsilon=e),
    "mahalanobis lam 0.7": lambda embedding, e: Mahalanobis(embedding, epsilon=e, lam=0.7),
    "vickrey": lambda embedding, e: Vickrey(embedding, epsilon=e),
    "vickrey t 0.5 over mahalanobis": lambda embedding, e: Vickrey(embedding, epsilon=e, t=0.5, noise="mahalanobis", lam=0.6),
    "gaussian": lambda embedding, e: Gaussian(embedding, epsilon=e),
    "rank-smoothing": lambda embedding, e: RankSmoothing(Multivariate(embedding, epsilon=e)),
    "rank-smoothing c 0.5 over vickrey": lambda embedding, e: RankSmoothing(Vickrey(embedding, epsilon=e, t=0.3), c=0.5),
    "tem": lambda embedding, e: TEM(embedding, epsilon=e),
    "tem beta 0.1": lambda embedding, e: TEM(embedding, epsilon=e, beta=0.1),
    "santext": lambda embedding, e: SanText(embedding, epsilon=e),
    "santext-plus": lambda embedding, e: SanTextPlus(embedding, epsilon=e, sensitive=SENSITIVE),
    "santext-plus p 0.7": lambda embedding, e: SanTextPlus(embedding, epsilon=e, sensitive=SENSITIVE, p=0.7),
    "custext": lambda embedding, e: CusText(embedding, epsilon=e),
    "custext k 5": lambda embedding, e: CusText(embedding, epsilon=e, k=5),
    "line": lambda embedding, e: Line(embedding, epsilon=e),
    "line lists 3": lambda embedding, e: Line(embedding, epsilon=e / 100, lists=3),
    "randomized-response": lambda embedding, e: RandomizedResponse(embedding, epsilon=e),
}
"""By the name that the command line knows, with options where they are not the usual ones."""

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
    "all kept": "-e 3 --embedding plain --unknown redact --punctuation keep --case keep --keep-words keep.txt",
    "record epsilon": "--record-epsilon 12 --embedding plain",
    "record epsilon with a ceiling": "--record-epsilon 12 -e 2 --embedding plain",
    "by calibration": "--max-unchanged 0.5 --quantile 0.95 --embedding plain",
    "by calibration of another mechanism": "--max-unchanged 0.5 --quantile 0.95 --embedding plain -m santext",
    "cased": "-e 2 --embedding cased",
    "cased with case kept": "-e 2 --embedding cased --case keep --punctuation keep --keep-words keep.txt",
    "protected": "-e 3 --embedding guarded",
    "protected by unknown": "-e 3 --embedding hidden --unknown redact",
    "built-in": "-e 8",
    "built-in with a budget": "-e 20 --record-epsilon 100 --punctuation keep --case keep",
}
"""Options of ``deniable privatize`` on a file of records with ids."""


def digest(content: object) -> str:
    """Return a digest of bytes, of text, or of JSON-ready data."""
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content, ensure_ascii=True, sort_keys=True)).encode()
    return hashlib.sha256(content).hexdigest()[:32]


def content_of(path: Path) -> bytes:
    """Return the bytes of a file, decompressed by the ending of its name."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        content: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
        return content
    unpack: Callable[[bytes], bytes] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    return unpack(data)


def table_of(path: Path) -> dict[str, Any]:
    """Return what a Parquet file holds, whatever library wrote it."""
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    said = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    return {
        "schema": schema.remove_metadata().to_string(),
        "metadata": said,
        "row groups": [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)],
        "rows": file.read().to_pylist(),
    }


def receipt_beside(target: Path) -> dict[str, Any]:
    """Return the receipt beside an output without its time and the version."""
    receipt: dict[str, Any] = json.loads(target.with_name(target.name + ".receipt.json").read_text(encoding="utf-8"))
    assert receipt.pop("created")
    assert receipt.pop("deniable")
    return receipt


class Beside(NamedTuple):
    """What lies beside an output: the receipt, which stays, and the card, which goes with it; both without time and version."""

    receipt: dict[str, Any]
    card: dict[str, Any]


def card_beside(target: Path) -> dict[str, Any]:
    """Return the card beside an output without the version."""
    card: dict[str, Any] = json.loads(target.with_name(target.name + ".card.json").read_text(encoding="utf-8"))
    assert card.pop("deniable")
    return card


def released(ended: Ended, target: Path) -> Any:
    """Return the text in an output, the content of Parquet, the parts of a spreadsheet; or the exit status if the command failed."""
    if ended.status:
        return {"status": ended.status}
    if target.suffix in (".xlsx", ".ods"):
        return {part: content.decode() for part, content in unzipped(target.read_bytes()).items()}
    return table_of(target) if target.suffix == ".parquet" else content_of(target).decode()


def keyed(mechanism: Mechanism, *, consistent: bool = False, **settings: Any) -> Privatizer:
    """Return a privatizer with the fixed key."""
    return Privatizer(mechanism, randomness=Keyed(KEY, consistent=consistent), **settings)


def of_mechanisms(home: Path) -> Golden:
    """Return what each mechanism releases over each embedding at a few ε, and over the built-in one."""
    golden: Golden = {}
    embeddings = {stored: Embedding.open(home / "embeddings" / stored) for stored in EMBEDDINGS}
    built_in = Embedding.open()  # once: what mechanisms learn of it takes seconds
    for name, make in MECHANISMS.items():
        for stored, epsilon in product(EMBEDDINGS, (0.5, 4.0)):
            private = keyed(make(embeddings[stored], epsilon))
            golden[f"{name}, {stored}, {epsilon}"] = digest(private.many(TEXTS, record_ids=IDS))
        for epsilon in (2.0, 12.0):
            private = keyed(make(built_in, epsilon))
            golden[f"{name}, built-in, {epsilon}"] = private.many(SENTENCES, record_ids=["a", ("b", 2)])
        golden[f"{name}, built-in, nasty"] = digest(private.many(TEXTS, record_ids=IDS))
    return golden


def of_policies(home: Path) -> Golden:
    """Return what each combination of policies releases over each embedding."""
    golden: Golden = {}
    for stored, unknown, punctuation, case, kept, budget in product(
        EMBEDDINGS, ("perturb", "subwords", "redact", "drop"), ("drop", "keep"), ("drop", "keep"), ((), KEPT), (None, 9.0)
    ):
        if (unknown == "subwords" and stored != "spelled") or (budget is not None and "keep" in (punctuation, case)):
            continue
        settings: dict[str, Any] = {"unknown": unknown, "punctuation": punctuation, "case": case, "keep_words": kept}
        mechanism = Multivariate(Embedding.open(home / "embeddings" / stored), epsilon=3.0)
        name = f"{stored}, {unknown}, punctuation {punctuation}, case {case}, {len(kept)} kept, record {budget}"
        golden[name] = digest(keyed(mechanism, record_epsilon=budget, **settings).many(TEXTS, record_ids=IDS))
        if budget is None and punctuation == case:
            users = [f"u{number % 3}" for number in range(len(TEXTS))]
            golden[f"{name}, consistent"] = digest(keyed(mechanism, consistent=True, **settings).many(TEXTS, record_ids=users))
    return golden


def of_calls(home: Path) -> Golden:
    """Return what one call, a stream and a column release, in words."""
    private = keyed(Multivariate(Embedding.open(home / "embeddings" / "plain"), epsilon=3.0), punctuation="keep", case="keep")
    column = pa.chunked_array([TEXTS[:7], TEXTS[7:]], pa.string())
    return {
        "one by one": [None if text is None else private(text, record_id=one) for text, one in zip(TEXTS, IDS, strict=True)],
        "many": private.many(TEXTS, record_ids=IDS),
        "stream": list(private.stream(iter(TEXTS), record_ids=iter(IDS))),
        "column": private.column(column, record_ids=IDS).to_pylist(),
        "other names": private.many(["the fox"] * 4, record_ids=[("a", "b"), ("ab",), ("", 1), "\ud800"]),
    }


def of_the_command(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the release and what lies beside it, of each mechanism and policy on the command line."""
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
    namings: dict[str, list[str]] = {"by number": []} if ending == ".txt" else {"by number": [], "by id": ["--record-id", "id"]}
    for packed, workers in product(COMPRESSIONS if ending not in WHOLE else ("",), (1, 2)):
        for naming, options in namings.items():
            if workers == 2 and packed not in ("", ".gz"):
                continue
            source = str(FROZEN / "inputs" / f"records{ending}{packed}")
            settings = [*columns, *options, "-e", "3", "--embedding", "plain", "--workers", str(workers)]
            name = f"{ending}{packed}, {naming}, {workers} at work"
            _, content, beside = release_file(commands, work, name, source, ending + packed, settings)
            yield name, content if not packed and workers == 1 else digest(content), beside


def of_long_files(commands: Commands, work: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the releases of files of several batches: digests of the words, and where row groups end."""
    rows = [(f"r{number}", " ".join(str(TEXTS[(number + i) % 20] or "the") for i in range(2))) for number in range(1_500)]
    lines = work / "long.jsonl"
    lines.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows), encoding="utf-8")
    table = work / "long.parquet"
    pq.write_table(pa.table({"id": [name for name, _ in rows], "text": [text for _, text in rows]}), table, row_group_size=400)
    settings = ["-c", "text", "-e", "3", "--embedding", "plain", "--record-id", "id"]
    for source, ending, workers in ((lines, ".jsonl", "1"), (lines, ".jsonl.gz", "2"), (table, ".parquet", "1"), (table, ".parquet", "2")):
        shared = [*settings, "--workers", workers]
        name, content, beside = release_file(commands, work, f"long {ending}, {workers} at work", str(source), ending, shared)
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
    untouched = ["-e", "1e9", "--embedding", "plain", "--unknown", "redact", "--punctuation", "keep", "--case", "keep", "-q"]
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
        yield release_file(commands, work, f"whole {name}", str(FROZEN / "inputs" / source), ending, options.split())


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


def of_languages(_home: Path) -> Golden:
    """Return releases in languages that ask for more than the plain rules, by every policy on text."""
    policies: dict[str, dict[str, Any]] = {
        "": {},
        ", all kept": {"punctuation": "keep", "case": "keep"},
        ", redacted": {"unknown": "redact"},
    }
    golden: Golden = {}
    for language, (named, policy) in product(made_languages.VOCABULARIES, policies.items()):
        private = Privatizer(Multivariate(made_languages.made_embedding(language), epsilon=1.5), randomness=Keyed(KEY), **policy)
        texts = made_languages.TEXTS[language]
        golden[language + named] = private.many(texts, record_ids=range(len(texts)))
    return golden


def of_stored_embeddings(home: Path) -> Golden:
    """Return what is known about the stored embeddings and the built-in one when they are opened."""
    opened = {name: Embedding.open(home / "embeddings" / name) for name in EMBEDDINGS} | {"built-in": Embedding.open()}
    return {
        name: {
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
            "cased": embedding.cased,
            "shadowed": embedding.shadowed.tolist() if name != "built-in" else len(embedding.shadowed),
            "protected": embedding.protected.tolist(),
            "unknown": embedding.unknown.tobytes().hex() if name != "built-in" else None,
        }
        for name, embedding in opened.items()
    }


def of_integrations(home: Path, key_file: Path) -> Golden:
    """Return what releases through other libraries hold; those that take no key, at an ε at which words stay themselves."""
    return {
        "pandas": _by_pandas(home),
        "polars": _by_polars(home),
        "datasets": _by_datasets(home, key_file),
        "sklearn": _by_sklearn(home),
        "presidio": _by_presidio(home),
    }


def release_file(commands: Commands, work: Path, name: str, source: str, ending: str, settings: list[str]) -> tuple[str, Any, Any]:
    """Return the name, the release of a file and what lies beside it."""
    target = work / (name.replace(",", "").replace(" ", "-").replace("/", "") + ending)
    ended = commands.run("privatize", source, "-o", str(target), "--key-file", "golden.key", "--quiet", *settings)
    content = released(ended, target)
    return name, content, None if ended.status else Beside(receipt_beside(target), card_beside(target))


def _columns() -> tuple[list[str], list[str | None]]:
    return [str(one) for one in IDS], TEXTS


def _plain(home: Path) -> Privatizer:
    return keyed(Multivariate(Embedding.open(home / "embeddings" / "plain"), epsilon=3.0))


def _by_pandas(home: Path) -> Any:
    import pandas

    import deniable.integrations.pandas  # noqa: F401

    ids, texts = _columns()
    frame = pandas.DataFrame({"id": ids, "text": pandas.Series(texts, dtype=object)})
    return frame["text"].deniable.privatize(_plain(home), record_ids=frame["id"]).tolist()


def _by_polars(home: Path) -> Any:
    import polars

    import deniable.integrations.polars  # noqa: F401

    ids, texts = _columns()
    column: Any = polars.Series("text", texts)
    return column.deniable.privatize(_plain(home), record_ids=ids).to_list()


def _by_datasets(home: Path, key_file: Path) -> Any:
    from datasets import Dataset

    from deniable.integrations.datasets import privatize

    ids, texts = _columns()
    data = Dataset.from_dict({"id": ids, "text": texts})
    settings: dict[str, Any] = {"epsilon": 3.0, "embedding": home / "embeddings" / "plain", "key_file": key_file}
    return list(privatize(data, "text", record_id="id", load_from_cache_file=False, **settings)["text"])


def _by_sklearn(home: Path) -> Any:
    from deniable.integrations.sklearn import TextPrivatizer

    stays = TextPrivatizer(epsilon=1e9, embedding=str(home / "embeddings" / "plain"), unknown="redact", punctuation="keep", case="keep")
    return stays.fit_transform(TEXTS).tolist()


def _by_presidio(home: Path) -> Any:
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

    from deniable.integrations.presidio import Deniable

    engine: Any = AnonymizerEngine()  # type: ignore[no-untyped-call]
    engine.add_anonymizer(Deniable)
    settings = {"epsilon": 1e9, "embedding": str(home / "embeddings" / "plain"), "unknown": "redact"}
    found = [RecognizerResult(entity_type="PERSON", start=9, end=22, score=0.9)]
    return engine.anonymize("The soup Xyzzy the fox was cold.", found, {"DEFAULT": OperatorConfig("deniable", settings)}).text
