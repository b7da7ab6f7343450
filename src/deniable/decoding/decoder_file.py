"""The file of a decoder that was learnt: a NumPy .npz of three plain arrays, read with suspicion. No pickle
is read or written."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ids
from deniable.atomic import read_plain_file
from deniable.embeddings.npy import read_header
from deniable.errors import DamagedDecoder

FORMAT = 1

MOST_DIRECTIONS = 10_000
"""A learnt decoder has no more directions than this: anybody who opens its file pays for them, about a
gigabyte for 50,000 words."""

_LONGEST = 1 << 28
_ARRAYS = {"about": "|u1", "inputs": "<i8", "prior": "<f8"}
_NEARLY = 1e-6


class DecoderFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in the file beside the numbers; ``card`` is the JSON of a card."""

    decoder: int = FORMAT
    card: str
    directions: Annotated[int, msgspec.Meta(ge=1, le=MOST_DIRECTIONS)]
    embedding: str | None
    public: str | None
    public_digest: str | None


def pack_decoder(about: DecoderFile, inputs: Ids, prior: Floats) -> bytes:
    """Return the content of the file."""
    packed = io.BytesIO()
    written = np.frombuffer(msgspec.json.encode(about), dtype=np.uint8)
    np.savez(packed, about=written, inputs=inputs.astype("<i8"), prior=prior.astype("<f8"))
    return packed.getvalue()


def read_decoder_file(path: Path) -> bytes:
    """Return the content of a file that may be one of a learnt decoder.

    :raises DamagedDecoder: if it cannot be read, or is larger than any.
    """
    return read_plain_file(path, longest=_LONGEST, what="learnt decoder", error=DamagedDecoder)


def unpack_decoder(content: bytes, source: str | Path) -> tuple[DecoderFile, Ids, Floats]:
    """Return what stands in the content of a file, the ids of the words that may have gone in, and their
    shares.

    :raises DamagedDecoder: if it is not what ``pack_decoder`` gives.
    """
    try:
        arrays = _arrays(content)
        about = msgspec.json.decode(arrays["about"].tobytes(), type=DecoderFile)
        problem = _problem(about, arrays["inputs"], arrays["prior"])
    except Exception as error:  # zipfile states no errors: a damaged archive may fail in any way
        raise DamagedDecoder(source, f"is no learnt decoder ({error})") from error
    if problem is not None:
        raise DamagedDecoder(source, problem)
    return about, arrays["inputs"].astype(np.int64), arrays["prior"].astype(np.float64)


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of the archive; nothing is unpacked, so that no more is read than was there."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sorted(info.filename for info in members) != [f"{name}.npy" for name in sorted(_ARRAYS)]:
            raise ValueError("it holds other arrays")
        for info in members:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(content):
                raise ValueError("its arrays must not be compressed")
            name = info.filename.removesuffix(".npy")
            found[name] = _array(archive.read(info), _ARRAYS[name])
    return found


def _array(content: bytes, dtype: str) -> Any:
    file = io.BytesIO(content)
    shape, _, kind = read_header(file)
    numbers = content[file.tell() :]
    if kind != np.dtype(dtype) or len(shape) != 1 or len(numbers) != shape[0] * kind.itemsize:
        raise ValueError("an array has another type or size")
    return np.frombuffer(numbers, dtype=kind)


def _problem(about: DecoderFile, inputs: Any, prior: Any) -> str | None:
    if about.decoder != FORMAT:
        return (
            f"format {about.decoder} is not known here, only {FORMAT}; use the version of deniable that "
            "wrote it"
        )
    if (about.public is None) != (about.public_digest is None):
        return "it names a public text without its digest"
    if not len(inputs) or len(inputs) != len(prior) or inputs[0] < 0 or (np.diff(inputs) <= 0).any():
        return "its words are not sorted ids with one share each"
    if not np.isfinite(prior).all() or (prior < 0.0).any() or abs(prior.sum() - 1.0) > _NEARLY:
        return "its shares are not numbers of at least 0 that sum to 1"
    return None
