"""What is fuzzed: small real files of every kind, and how each is read. A reader may succeed, or raise
``DeniableError`` or ``OSError``."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
import random
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Multivariate
from deniable.embeddings.content import UNPRINTABLE
from deniable.embeddings.linear_map import LinearMap, MapOrigin, PublicData
from deniable.errors import KeyFileError
from tests.fuzz.described import DESCRIBED
from tests.fuzz.mutation import mutate
from tests.fuzz.records import RECORDS
from tests.fuzz.target import WORDS, Files, Target, vectors

# Embedding files


def text_files() -> list[Files]:
    rows = [
        f"{word} {' '.join(f'{value:.4f}' for value in row)}"
        for word, row in zip(WORDS, vectors(), strict=True)
    ]
    body = ("\n".join(rows) + "\n").encode()
    return [{"v": body}, {"v": b"10 4\n" + body}, {"v": body.replace(b"\n", b"\r\n")}]


def packed_files() -> list[Files]:
    import pyarrow as pa

    body = text_files()[0]["v"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.txt", body)
    zstd = bytes(pa.compress(body, codec="zstd", asbytes=True))
    return [
        {"v": each}
        for each in (
            gzip.compress(body, mtime=0),
            bz2.compress(body),
            lzma.compress(body),
            zstd,
            out.getvalue(),
        )
    ]


def repack(files: Files, source: random.Random) -> Files:
    """Return text that was damaged, packed whole: what is wrong is inside."""
    if source.random() < 0.5:
        return files
    import pyarrow as pa

    damaged = mutate(text_files()[0]["v"], [b"x"], source)
    pack: Callable[[bytes], bytes] = source.choice(
        (
            gzip.compress,
            bz2.compress,
            lzma.compress,
            lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
        )
    )
    return {"v": pack(damaged)}


def word2vec_files() -> list[Files]:
    rows = [word.encode() + b" " + row.tobytes() for word, row in zip(WORDS, vectors(), strict=True)]
    return [{"v": b"10 4\n" + b"".join(rows)}, {"v": b"10 4\n" + b"\n".join(rows) + b"\n"}]


def fasttext_files() -> list[Files]:
    words = [word for word in WORDS if word != "<unk>"]
    head = struct.pack("<2i12id", 793712314, 12, 4, 5, 5, 1, 5, 1, 2, 2, 6, 2, 3, 100, 1e-4)
    entries = b"".join(word.encode() + b"\0" + struct.pack("<qb", 100 - i, 0) for i, word in enumerate(words))
    table = vectors(len(words) + 6)
    body = struct.pack("<3iqq", len(words), len(words), 0, 1000, -1) + entries
    matrix = struct.pack("<?qq", False, len(table), 4) + table.tobytes()
    return [{"v": head + body + matrix + matrix}]


def npz_files() -> list[Files]:
    found = []
    for save in (np.savez, np.savez_compressed):
        for words in (np.array(WORDS), np.array([word.encode() for word in WORDS])):
            out = io.BytesIO()
            save(out, words=words, vectors=vectors())
            found.append({"v": out.getvalue()})
    return found


def rezip(files: Files, source: random.Random) -> Files:
    """Return an archive whose checksums fit what is in it, half of the time: an array is damaged and not its
    packing."""
    if source.random() < 0.5:
        return files
    arrays = {}
    for name, array in (("words", np.array(WORDS)), ("vectors", vectors())):
        out = io.BytesIO()
        np.save(out, array)
        arrays[name] = out.getvalue()
    name = source.choice(sorted(arrays))
    arrays[name] = mutate(arrays[name], list(arrays.values()), source)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", source.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for each, content in arrays.items():
            archive.writestr(f"{each}.npy", content)
    return {"v": out.getvalue()}


def safetensors_files() -> list[Files]:
    from safetensors.numpy import save

    table = vectors()
    inside = {"words": json.dumps(WORDS)}
    return [
        {"v": save({"w": table}, metadata=inside)},
        {"v": save({"w": table.astype(np.float16), "bias": np.zeros(3, np.float32)}, metadata=inside)},
        {"v": save({"w": table}), "v.words.txt": ("\n".join(WORDS) + "\n").encode()},
    ]


def read_embedding_file(
    folder: Path, source: random.Random, formats: tuple[str | None, ...] = (None,)
) -> None:
    from deniable.embeddings.readers import open_embedding_file
    from deniable.embeddings.staging import take_in

    repeats, first = source.random() < 0.5, source.choice((None, None, 3))
    with open_embedding_file(folder / "v", format=source.choice(formats), work=folder) as raw:
        taken = take_in(raw, folder / "taken.npy", source=folder / "v", first=first, drop_repeats=repeats)
        if raw.subwords is not None:
            raw.subwords.save(folder)
    assert not any(UNPRINTABLE.search(word) for word in taken.words)


# Stored embeddings


@functools.cache
def stored_files() -> list[Files]:
    from deniable.embeddings.stored import VECTORS, write_content
    from deniable.embeddings.subwords import Subwords
    from deniable.neighbours.scan import ScanNeighbours

    found = []
    words = [f"w{i}" for i in range(19)] + ["old\u2028word"]
    for protected, parts, mapped in (
        (False, False, False),
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            np.save(folder / VECTORS, vectors(20, 6))
            protection = np.array([1, *range(1, 20), 20]) if protected else None
            if parts:
                Subwords(vectors(5, 6), minn=2, maxn=3).save(folder)
            linear_map = shaped_map() if mapped else None
            write_content(
                folder,
                words,
                None,
                name="stored",
                protection=protection,
                linear_map=linear_map,
            )
            ScanNeighbours(Embedding.open(folder))
            found.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    return found


def shaped_map() -> LinearMap:
    data = PublicData(
        name="public.csv",
        sha256="0" * 64,
        texts=40,
        left_out=1,
        labels="classes",
        classes=("bad", "good"),
        directions=1,
    )
    origin = MapOrigin(
        kind="shaped",
        source="wide",
        source_fingerprint="1" * 32,
        dimension=5,
        strength=2.0,
        directions=1,
        public=(data,),
    )
    return LinearMap.of(np.eye(9)[:6], np.array([1.0, 1.0, 1.0, 1.0, 1.0, 3.5]), origin)


def forge_index(files: Files, source: random.Random) -> Files:
    """Return the files with an index whose checksum and fingerprint are right, half of the time."""
    from deniable.neighbours import _native
    from deniable.neighbours.scan import _FIELDS, FILE_NAME, HEADER_BYTES

    content = files.get(FILE_NAME, b"")
    if source.random() < 0.5 or len(content) <= HEADER_BYTES:
        return files
    index = np.frombuffer(content, dtype=np.uint8)[HEADER_BYTES:].copy()
    for _ in range(source.choice((0, 1, 5, 50))):
        index[source.randrange(len(index))] = source.randrange(256)
    head = list(_FIELDS.unpack(stored_files()[0][FILE_NAME][: _FIELDS.size]))
    head[4] = json.loads(stored_files()[0]["meta.json"])["fingerprint"].encode()
    head[7], head[8] = len(index), _native.checksum(index)
    return files | {FILE_NAME: _FIELDS.pack(*head).ljust(HEADER_BYTES, b"\0") + index.tobytes()}


def read_stored(folder: Path, source: random.Random) -> None:
    from deniable.neighbours.scan import ScanNeighbours
    from tests.support.oracle import OracleNeighbours

    embedding = Embedding.open(folder)
    assert not any(UNPRINTABLE.search(word) for word in embedding.words)
    queries = np.random.default_rng(1).standard_normal((8, embedding.dimension)).astype(np.float32)
    found, oracle = ScanNeighbours(embedding).nearest(queries), OracleNeighbours(embedding)
    # A false list of words that share a vector is believed, and only changes which words are released.
    if not len(embedding.shadowed):
        assert np.array_equal(found, oracle.nearest(queries))
    assert found.max() < len(embedding)
    if embedding.subwords is not None:
        embedding.subwords.vectors(["word", "\u4e2d"])
    if embedding.linear_map is not None:
        assert all(sentence.isprintable() for sentence in embedding.linear_map.origin.in_words())
        before = np.ones((2, embedding.linear_map.axes.shape[1]), dtype=np.float32)
        assert embedding.linear_map.apply(before).shape == (2, embedding.dimension)
    embedding.check_content()


# What is kept beside embeddings


@functools.cache
def small_embedding() -> Embedding:
    return Embedding([f"w{i}" for i in range(20)], vectors(20, 6), name="small")


def in_folder(folder: Path) -> Embedding:
    known = small_embedding()
    return Embedding.from_checked(
        known.words, known.vectors, known.unknown, name="small", fingerprint=known.fingerprint, folder=folder
    )


def note_files() -> list[Files]:
    spread = {"mean": 0.3, "median": 0.3, "95%": 0.5, "worst": 0.9}
    counts = {"median": 30, "95%": 10, "worst": 2}
    rows = [
        {
            "epsilon": epsilon,
            "unchanged": spread,
            "unchanged_quantiles": {"0.5": 0.3, "0.95": 0.5, "1.0": 0.9},
            "words_above_half": 3,
        }
        | ({"support": counts, "distinct": counts} if epsilon > 1 else {})
        for epsilon in (1.0, 2.0, 5.0)
    ]
    note = {
        "fingerprint": small_embedding().fingerprint,
        "rays": 100,
        "words": 20,
        "words_for_support": 20,
        "eta": 0.01,
        "table": rows,
    }
    return [{"calibration.json": json.dumps(note).encode()}]


def read_note_file(folder: Path, source: random.Random) -> None:
    from deniable.release.note import quote_calibration, read_note

    mechanism = Multivariate(in_folder(folder), epsilon=source.choice((0.5, 1.0, 1.7, 5.0, 9.0)))
    quote = quote_calibration(mechanism)
    if quote is not None:
        json.dumps(quote.to_dict(), allow_nan=False)
    note = read_note(mechanism)
    if note is not None:
        note.largest_epsilon(0.95, note.quantiles[-1])


CHANNEL = {"format": 1, "fingerprint": "x", "epsilon": 5.0}
_CHANNEL_ROWS = 6


@functools.cache
def channel_files() -> list[Files]:
    from deniable.channel.store import ChannelStore, Row

    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as place:
        with ChannelStore(Path(place), CHANNEL, _CHANNEL_ROWS, words=20).opened() as channel:
            for rows in (4, 2):
                outputs = [rng.permutation(20)[:3] for _ in range(rows)]
                channel.append([Row(outputs=each, chances=np.array([0.5, 0.2, 0.1])) for each in outputs])
            folder = channel.folder
            assert folder is not None
        whole = {
            f"{folder.name}/{path.name}": path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.name != "lock"
        }
    part = {
        name: content if not name.endswith("journal.txt") else content.split(b"\n")[0] + b"\n"
        for name, content in whole.items()
    }
    return [whole, part]


def resum_channel(files: Files, source: random.Random) -> Files:
    """Return the files with checksums that fit the numbers, half of the time."""
    if source.random() < 0.5:
        return files
    journal = next((name for name in files if name.endswith("journal.txt")), None)
    if journal is None:
        return files
    lines, rows, numbers = [], 0, 0
    for line in files[journal].split(b"\n")[:-1]:
        parts = line.split(b" ")
        if len(parts) == 3 and all(part.isdigit() and len(part) < 9 for part in parts[:2]):
            count, listed = int(parts[0]), int(parts[1])
            crc = 0
            for name, first, many in (
                ("lengths", rows, count),
                ("outputs", numbers, listed),
                ("chances", numbers, listed),
            ):
                content = next((files[each] for each in files if each.endswith(name)), b"")
                crc = zlib.crc32(content[4 * first : 4 * (first + many)], crc)
            parts[2] = f"{crc:08x}".encode()
            rows, numbers = rows + count, numbers + listed
        lines.append(b" ".join(parts) + b"\n")
    return files | {journal: b"".join(lines)}


def read_channel(folder: Path, _source: random.Random) -> None:
    from deniable.channel.channel import Channel
    from deniable.channel.store import ChannelStore

    with ChannelStore(folder, CHANNEL, _CHANNEL_ROWS, words=20).opened() as opened:
        if opened.done < _CHANNEL_ROWS:
            return
        inputs, arrays = np.arange(_CHANNEL_ROWS), opened.arrays()
        channel = Channel(
            embedding=small_embedding(), epsilon=5.0, method="rays", directions=9, inputs=inputs, **arrays
        )
        shares = channel.output_shares(np.full(_CHANNEL_ROWS, 1 / _CHANNEL_ROWS))
        assert np.isfinite(shares).all()
        assert len(list(channel.columns(np.arange(20)))) == 20
        channel.pulled_back(np.ones(20))
        channel.row(3)


CALIBRATION: dict[str, Any] = {"fingerprint": "x", "rays": 3}
_CALIBRATION_COLUMNS: dict[str, tuple[str, tuple[int, ...]]] = {"ids": ("<i8", ()), "radii": ("<f4", (3,))}


@functools.cache
def calibration_files() -> list[Files]:
    from deniable.channel.store import ColumnStore

    with tempfile.TemporaryDirectory() as place:
        with ColumnStore(Path(place), CALIBRATION, _CALIBRATION_COLUMNS, 6, last_id=20).opened() as store:
            store.append(ids=np.arange(4), radii=np.ones((4, 3)))
            store.append(ids=np.arange(2), radii=np.ones((2, 3)))
        return [
            {path.name: path.read_bytes() for path in sorted(Path(place).iterdir()) if path.name != "lock"}
        ]


def read_calibration(folder: Path, _source: random.Random) -> None:
    from deniable.channel.store import ColumnStore

    with ColumnStore(folder, CALIBRATION, _CALIBRATION_COLUMNS, 6, last_id=20).opened() as store:
        words = [small_embedding().words[i] for i in store.arrays["ids"][: store.done] if i < 20]
        assert len(words) <= 6


PRIVATE_KEY = bytes(range(32)).hex()


def key_files() -> list[Files]:
    return [{"key": f"deniable key 1\n{PRIVATE_KEY}\n".encode()}]


def read_key_file(folder: Path, _source: random.Random) -> None:
    from deniable.noise.key_file import read_key

    (folder / "key").chmod(0o600)
    try:
        assert len(read_key(folder / "key")) == 32
    except KeyFileError as error:
        if PRIVATE_KEY[:16] in str(error):
            raise AssertionError("the key stands in a message") from error
        raise


# Learnt decoders


@functools.cache
def decoder_files() -> list[Files]:
    from deniable import Privatizer
    from deniable.decoding.decoder_file import DecoderFile, pack_decoder

    card = Privatizer(Multivariate(Embedding(WORDS, vectors(), name="tiny"), epsilon=2.0)).card
    prior = np.arange(1.0, len(WORDS) + 2.0)
    about = DecoderFile(card=card.to_json(), directions=9, embedding=None, public=None, public_digest=None)
    return [{"learnt.npz": pack_decoder(about, np.arange(len(WORDS) + 1), prior / prior.sum())}]


def repack_decoder(files: Files, source: random.Random) -> Files:
    """Return an archive whose checksums fit what is in it, half of the time."""
    if source.random() < 0.5:
        return files
    with zipfile.ZipFile(io.BytesIO(decoder_files()[0]["learnt.npz"])) as archive:
        arrays = {name: archive.read(name) for name in archive.namelist()}
    name = source.choice(sorted(arrays))
    arrays[name] = mutate(arrays[name], list(arrays.values()), source)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, content in arrays.items():
            archive.writestr(each, content)
    return {"learnt.npz": out.getvalue()}


def read_decoder(folder: Path, _source: random.Random) -> None:
    from deniable.decoding.decoder import Decoder

    decoder = Decoder.load(folder / "learnt.npz")
    assert decoder.shares.sum() > 0.99
    assert len(decoder.inputs) == len(decoder.shares)
    assert Decoder.load(folder / "learnt.npz").to_bytes() == decoder.to_bytes()


TARGETS: dict[str, Target] = {
    "text": Target(
        seeds=text_files,
        read=functools.partial(read_embedding_file, formats=(None, None, "glove", "word2vec-text")),
    ),
    "packed": Target(seeds=packed_files, read=read_embedding_file, repair=repack),
    "word2vec": Target(
        seeds=word2vec_files, read=functools.partial(read_embedding_file, formats=(None, "word2vec-binary"))
    ),
    "fasttext": Target(
        seeds=fasttext_files, read=functools.partial(read_embedding_file, formats=(None, "fasttext-binary"))
    ),
    "npz": Target(
        seeds=npz_files, read=functools.partial(read_embedding_file, formats=(None, "npz")), repair=rezip
    ),
    "safetensors": Target(
        seeds=safetensors_files, read=functools.partial(read_embedding_file, formats=(None, "safetensors"))
    ),
    "stored": Target(seeds=stored_files, read=read_stored, repair=forge_index),
    "note": Target(seeds=note_files, read=read_note_file),
    "channel": Target(seeds=channel_files, read=read_channel, repair=resum_channel),
    "calibration": Target(seeds=calibration_files, read=read_calibration),
    "decoder": Target(seeds=decoder_files, read=read_decoder, repair=repack_decoder),
    "key": Target(seeds=key_files, read=read_key_file),
    **RECORDS,
    **DESCRIBED,
}
