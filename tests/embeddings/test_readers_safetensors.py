from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from deniable.embeddings.embedding import Embedding
from deniable.embeddings.store import add
from deniable.errors import MalformedEmbedding

Refused = Callable[..., MalformedEmbedding]

WORDS = ["a", "b\u3000", "😀"]
VECTORS = np.array([[1, -2], [0.5, 3], [4, 0.25]], dtype=np.float32)  # exact in every float type
META = {"words": json.dumps(WORDS)}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_words_from_the_metadata(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "anything"
    path.write_bytes(save({"w": VECTORS.astype(dtype), "bias": np.zeros(3, np.float32)}, metadata=META))
    add(path, "st")
    embedding = Embedding.open("st")
    assert list(embedding.words) == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


def test_bfloat16_is_read(tmp_path: Path) -> None:
    halves = (VECTORS.view(np.uint32) >> 16).astype("<u2")
    path = tmp_path / "v.safetensors"
    entry = {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}
    header = json.dumps({"__metadata__": META, "w": entry}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + halves.tobytes())
    add(path, "bf16")
    np.testing.assert_array_equal(Embedding.open("bf16").vectors, VECTORS)


@pytest.mark.parametrize("beside", ["model.words.txt", "vocab.txt"])
@pytest.mark.parametrize("packed", [False, True])
def test_words_from_a_file_beside_it(tmp_path: Path, beside: str, packed: bool) -> None:
    path = tmp_path / ("model.safetensors.gz" if packed else "model.safetensors")
    content = save({"w": VECTORS})
    path.write_bytes(gzip.compress(content) if packed else content)
    (tmp_path / beside).write_bytes(("\n".join(WORDS) + "\n").encode())
    add(path, "st")
    assert list(Embedding.open("st").words) == WORDS


@pytest.mark.parametrize(
    ("tensors", "metadata", "said"),
    [
        ({"w": VECTORS}, None, "no words"),
        ({"w": VECTORS}, {"words": "["}, "not JSON"),
        ({"w": VECTORS}, {"words": "[1, 2, 3]"}, "not a JSON list of strings"),
        ({"w": VECTORS}, {"words": '["a"]'}, "1 words but 3 vectors"),
        ({"w": VECTORS, "v": VECTORS}, META, "one table of vectors, not 2"),
        ({"w": VECTORS[0]}, META, "one table of vectors, not 0"),
        ({"w": VECTORS.astype(np.int32)}, META, "I32 are not floats"),
        ({"w": np.zeros((3, 0), np.float32)}, META, "no dimensions"),
        (
            {"w": np.full((3, 2), 1e12, np.float32)},
            META,
            "word 1: the vector of 'a' is longer than 1e+12: not a usable word vector",
        ),
        ({"w": np.full((3, 2), np.inf, np.float32)}, META, "word 1: the vector of 'a'"),
    ],
)
def test_what_is_wrong_is_said(refused: Refused, tensors: Any, metadata: Any, said: str) -> None:
    assert said in refused(save(tensors, metadata=metadata), name="v.safetensors").problem


def test_cut_off_files_are_refused(refused: Refused) -> None:
    content = save({"w": VECTORS}, metadata=META)
    assert "damaged" in refused(content[:-4], name="v.safetensors").problem
    assert "damaged" in refused(content[:40], name="v.safetensors").problem
