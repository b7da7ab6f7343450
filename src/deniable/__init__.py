"""Plausible deniability for text: every word is replaced by a word drawn around it in an embedding space.

>>> from deniable import Embedding, Multivariate, Privatizer
>>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6))
>>> released = private("my doctor said the encryption keys were stolen")
"""

from __future__ import annotations

from deniable.embeddings.embedding import Embedding
from deniable.errors import (
    DeniableError,
    EmbeddingError,
    EmbeddingExists,
    EmbeddingNotFound,
    InvalidParameter,
    KeyFileError,
    MalformedEmbedding,
    MissingExtra,
    RandomnessError,
    RecordError,
    ResumeError,
    UnknownWord,
    WorkerLost,
)
from deniable.interfaces import Guarantee, Mechanism, Neighbours, Randomness
from deniable.keyed import Keyed
from deniable.mechanisms.multivariate import Multivariate
from deniable.randomness import InsecureSeededRandomness, SecureRandomness
from deniable.text.policies import TextPolicy
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt
from deniable.version import __version__

__all__ = [
    "DeniableError",
    "Embedding",
    "EmbeddingError",
    "EmbeddingExists",
    "EmbeddingNotFound",
    "Guarantee",
    "InsecureSeededRandomness",
    "InvalidParameter",
    "KeyFileError",
    "Keyed",
    "MalformedEmbedding",
    "Mechanism",
    "MissingExtra",
    "Multivariate",
    "Neighbours",
    "Privatizer",
    "Randomness",
    "RandomnessError",
    "Receipt",
    "RecordError",
    "ResumeError",
    "SecureRandomness",
    "TextPolicy",
    "UnknownWord",
    "WorkerLost",
    "__version__",
]
