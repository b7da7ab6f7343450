"""Reduced and shaped spaces in the store, where every command finds them by a name."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.embeddings import store
from deniable.embeddings.derived import check_mappable
from deniable.embeddings.embedding import Embedding
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.purposes.principal import reduce
from deniable.purposes.public_texts import PublicTexts
from deniable.purposes.shaping import STRENGTH, shape, validated_strength


def install_reduced(name: str, new_name: str, *, dimension: int = 16) -> store.EmbeddingFacts:
    """Install an embedding on its first principal axes, as ``reduce`` makes it, under a new name.

    :raises EmbeddingExists: if the new name is taken.
    """
    store.free_place(new_name)
    return save_mapped(reduce(Embedding.open(name), dimension), new_name)


def install_shaped(
    name: str,
    new_name: str,
    public: Sequence[PublicTexts],
    *,
    dimension: int = 16,
    strength: float = STRENGTH,
    report: Report | None = None,
) -> store.EmbeddingFacts:
    """Install an embedding shaped by public labelled texts, as ``shape`` makes it, under a new name.

    :raises EmbeddingExists: if the new name is taken.
    """
    store.free_place(new_name)
    made = shape(Embedding.open(name), public, dimension=dimension, strength=strength, report=report)
    return save_mapped(made, new_name)


def check_installable(name: str, new_name: str, *, dimension: int, strength: float = STRENGTH) -> None:
    """Check that an embedding can be mapped and stored with these numbers: asked before texts are read."""
    store.free_place(new_name)
    validated_count(dimension, "dimension", at_least=0)
    validated_strength(strength)
    check_mappable(Embedding.open(name))


def save_mapped(mapped: Embedding, name: str) -> store.EmbeddingFacts:
    """Store a mapped embedding under a name, with a note of what it was made from."""
    if mapped.linear_map is None:
        raise ValueError("only a mapped embedding is stored here")
    origin = mapped.linear_map.origin
    licence = store.licence_of(origin.source_fingerprint, origin.source)
    source = f"{origin.kind} from {origin.source} ({origin.source_fingerprint})"
    return store.save(mapped, name, source=source, licence=licence)
