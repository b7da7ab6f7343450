"""``deniable embeddings``: the embeddings on this machine, and spaces made from them."""

from deniable.cli.embeddings import installed, purpose
from deniable.cli.embeddings.installed import app

__all__ = ["app", "installed", "purpose"]
