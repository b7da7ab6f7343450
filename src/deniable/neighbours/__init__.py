"""Exact nearest words of points in the embedding space.

Every implementation returns the same words: the true nearest one, ties to the lowest id. Which one is used
depends on the machine, never on the caller's code; a GPU is used when ``set_device`` asks for it.
"""

from __future__ import annotations

from deniable.interfaces import Neighbours
from deniable.neighbours.selection import best_neighbours, set_device
from deniable.neighbours.threads import set_threads

__all__ = ["Neighbours", "best_neighbours", "set_device", "set_threads"]
