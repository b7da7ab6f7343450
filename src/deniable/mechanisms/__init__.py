"""Mechanisms: one file each, with the guarantee it really has beside the code."""

from __future__ import annotations

from deniable.mechanisms.custext import CusText
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.line import Line
from deniable.mechanisms.mahalanobis import Mahalanobis
from deniable.mechanisms.multivariate import Multivariate
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.rank_smoothing import RankSmoothing
from deniable.mechanisms.santext import SanText, SanTextPlus
from deniable.mechanisms.tem import TEM
from deniable.mechanisms.vickrey import Vickrey

__all__ = [
    "TEM",
    "CusText",
    "Gaussian",
    "Line",
    "Mahalanobis",
    "Multivariate",
    "RandomizedResponse",
    "RankSmoothing",
    "SanText",
    "SanTextPlus",
    "Vickrey",
]
