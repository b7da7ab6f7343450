from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from tests.embeddings.conftest import Added, Refused

WORDS = ["a", "b\u3000", "😀"]
VECTORS = np.array([[1, -2], [0.5, 3], [4, 0.25]], dtype=np.float32)  # exact in every float type
META = {"words": json.dumps(WORDS)}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_words_from_the_metadata(added: Added, dtype: Any) -> None:
    tensors = {"w": VECTORS.astype(dtype), "bias": np.zeros(3, np.float32)}
    embedding = added(save(tensors, metadata=META))
    assert list(embedding.words) == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


def test_bfloat16_is_read(added: Added) -> None:
    halves = (VECTORS.view(np.uint32) >> 16).astype("<u2")
    entry = {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}
    header = json.dumps({"__metadata__": META, "w": entry}).encode()
    header += b" " * (-len(header) % 8)
    embedding = added(len(header).to_bytes(8, "little") + header + halves.tobytes())
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


@pytest.mark.parametrize("beside", ["model.words.txt", "vocab.txt"])
@pytest.mark.parametrize("packed", [False, True])
def test_words_from_a_file_beside_it(added: Added, tmp_path: Path, beside: str, packed: bool) -> None:
    (tmp_path / beside).write_bytes(("\n".join(WORDS) + "\n").encode())
    name, content = "model.safetensors" + ".gz" * packed, save({"w": VECTORS})
    assert list(added(gzip.compress(content) if packed else content, name=name).words) == WORDS


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
        ({"w": np.full((3, 2), np.inf, np.float32)}, META, "word 1: the vector of 'a'"),
    ],
)
def test_what_is_wrong_is_said(refused: Refused, tensors: Any, metadata: Any, said: str) -> None:
    assert said in refused(save(tensors, metadata=metadata), name="v.safetensors").problem


def test_cut_off_files_are_refused(refused: Refused) -> None:
    content = save({"w": VECTORS}, metadata=META)
    assert "damaged" in refused(content[:-4], name="v.safetensors").problem
    assert "damaged" in refused(content[:40], name="v.safetensors").problem
