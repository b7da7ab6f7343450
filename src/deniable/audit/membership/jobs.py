"""Trains the language models of jobs and asks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from deniable.audit.membership.job import Job
from deniable.audit.membership.ranks import rank_counts
from deniable.audit.membership.settings import LanguageModelSettings
from deniable.audit.membership.streams import Streams
from deniable.audit.membership.training import train
from deniable.audit.membership.vocabulary import Vocabulary, sequences

Report = Callable[[int, int], None]


def run_jobs(
    jobs: Sequence[Job],
    conditions: Mapping[str, Streams],
    settings: LanguageModelSettings,
    *,
    seed: int,
    device: torch.device,
    report: Report | None = None,
) -> dict[str, NDArray[np.int32]]:
    """Train the jobs' models side by side and return, by job, rank counts (conditions asked, users, bins)."""
    vocabularies = [Vocabulary(conditions[job.trained_on].of_all(job.members), size=settings.vocabulary) for job in jobs]
    texts = [
        np.concatenate([_rows(conditions[job.trained_on], user, vocabulary, settings) for user in job.members])
        for job, vocabulary in zip(jobs, vocabularies, strict=True)
    ]
    steps, done = settings.epochs + len(jobs), 0

    def tell() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, steps)

    models = train(texts, settings, seed=seed, device=device, report=lambda _rows_seen: tell())
    found = {}
    for place, (job, vocabulary) in enumerate(zip(jobs, vocabularies, strict=True)):
        rows = [_rows(conditions[name], user, vocabulary, settings) for name in job.asked for user in job.users]
        found[job.name] = rank_counts(models.one(place), rows).reshape(len(job.asked), len(job.users), -1)
        tell()
    return found


def _rows(streams: Streams, user: int, vocabulary: Vocabulary, settings: LanguageModelSettings) -> NDArray[np.int32]:
    return sequences(vocabulary.encode(streams.of(user)), settings.sequence)
