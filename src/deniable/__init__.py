"""Plausible deniability for text: every word is replaced by a word drawn around it in an embedding space.

>>> from deniable import Embedding, Multivariate, Privatizer
>>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6))
>>> released = private("my doctor said the encryption keys were stolen")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.embeddings.embedding import Embedding
from deniable.errors import (
    DeniableError,
    EmbeddingNotFound,
    InvalidParameter,
    KeyFileError,
    MalformedCard,
    MissingExtra,
    NotThisRelease,
    RecordError,
    ResumeError,
    TargetsNotMet,
    UnknownWord,
)
from deniable.integrations.frames import privatize
from deniable.interfaces import Guarantee, Mechanism, Neighbours, Randomness
from deniable.mechanisms import (
    TEM,
    CusText,
    Gaussian,
    Line,
    Mahalanobis,
    Multivariate,
    RandomizedResponse,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)
from deniable.noise import Keyed
from deniable.noise.randomness import InsecureSeededRandomness, SecureRandomness
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import Receipt
from deniable.release.release import Release
from deniable.version import __version__
from deniable.words.never_release import NeverRelease

__all__ = [  # noqa: RUF022 - sorted as sorted() does, which a test compares
    "CusText",
    "DeniableError",
    "Embedding",
    "EmbeddingNotFound",
    "Gaussian",
    "Guarantee",
    "InsecureSeededRandomness",
    "InvalidParameter",
    "KeyFileError",
    "Keyed",
    "Line",
    "Mahalanobis",
    "MalformedCard",
    "Mechanism",
    "MissingExtra",
    "Multivariate",
    "Neighbours",
    "NeverRelease",
    "NotThisRelease",
    "Privatizer",
    "RandomizedResponse",
    "Randomness",
    "RankSmoothing",
    "Receipt",
    "RecordError",
    "Release",
    "ResumeError",
    "SanText",
    "SanTextPlus",
    "SecureRandomness",
    "TEM",
    "TargetsNotMet",
    "UnknownWord",
    "Vickrey",
    "__version__",
    "privatize",
    "release_file",
]

if TYPE_CHECKING:
    from deniable.decision.flow import release_file


def __getattr__(name: str) -> Any:
    """Load the flow of decisions when it is asked for: `import deniable` stays small."""
    if name == "release_file":
        from deniable.decision.flow import release_file

        return release_file
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")
