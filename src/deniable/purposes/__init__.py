"""Spaces made for a purpose: a public linear map of the vectors decides what survives the noise.

public labelled texts ──► directions ──► map ──────────────► embedding
public_texts.py           directions.py  shaping, principal  embeddings/derived.py

label_check.py says where labels have nothing to do with their texts.
"""

from deniable.purposes.installing import install_reduced, install_shaped
from deniable.purposes.label_check import label_warnings
from deniable.purposes.principal import reduce
from deniable.purposes.public_texts import PublicTexts, read_public
from deniable.purposes.shaping import shape

__all__ = [
    "PublicTexts",
    "install_reduced",
    "install_shaped",
    "label_warnings",
    "read_public",
    "reduce",
    "shape",
]
