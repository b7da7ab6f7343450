"""One whole calibration: measures the words, chooses ε, protects exposed words, and writes what was found.

Also ε by how often an average word stays itself, over a fixed sample of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.calibration import GRID_VALUES, Calibration, public_sample
from deniable.calibration.choice import (
    Choice,
    Protection,
    Targets,
    check_protectable,
    choose,
    choose_for_protection,
    evaluate,
)
from deniable.calibration.choice import protect as protect_words
from deniable.calibration.result import (
    CalibrationResult,
    ProtectedEmbedding,
    describe_words,
    row_at,
    worst_words,
)
from deniable.calibration.table import measure_table
from deniable.calibration.writing import note_place, write_note, write_words
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import draws_on_gpu, method_of
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import SecureRandomness
from deniable.parameters import validated_count, validated_epsilon
from deniable.progress import Report

SAMPLED_WORDS = 1000
"""S_w costs a walk along every ray; where nobody asks for it of every word, it is measured for this many."""

DRAWN_WORDS = 100
"""The same where every ε takes draws of its own."""

_NAMED_WORDS = 20

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""The average N_w at which an experiment looks when it is not told a value of ε."""

_SAMPLE, _RAYS, _SEED = 1000, 200, 4
_DRAWN_SAMPLE = 200


@dataclass(frozen=True, kw_only=True)
class Files:
    """What a calibration writes: the values of the words looked at as CSV or Parquet, a page, and its figures
    as PNG and SVG in a folder. The page shows how ``sentences`` are released: public examples, or its own.
    """

    csv: Path | None = None
    parquet: Path | None = None
    page: Path | None = None
    figures: Path | None = None
    sentences: tuple[str, ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether a page or figures are asked for."""
        return self.page is not None or self.figures is not None

    def check(self) -> None:
        """Check that all can be written; the folder of the figures is made.

        :raises RecordError: if a file cannot be written there.
        """
        from deniable.atomic import check_place

        for path in (self.page, self.csv, self.parquet):
            if path is not None:
                check_place(path)
        if self.figures is not None:
            self.figures.mkdir(parents=True, exist_ok=True)


def calibrate(
    embedding: str | Path | Embedding = "default",
    *,
    mechanism: ChosenMechanism | None = None,
    targets: Targets | None = None,
    epsilons: Sequence[float] = (),
    draws: int = 1000,
    words: Iterable[str] | None = None,
    sample: int | None = None,
    support_of_all: bool = False,
    protect: Protection | None = None,
    files: Files | None = None,
    report: Report | None = None,
    report_page: Report | None = None,
) -> CalibrationResult:
    """Return what a mechanism does to the words of an embedding, and the largest ε that meets the targets.

    With one value in ``epsilons`` the targets are held against it. Without targets the table covers a range
    of ε that is found, or the values given. ``draws`` is the number of directions per word, or of draws for
    each word and ε where the mechanism has no rays. All words are looked at, or ``words``, or a random
    ``sample`` of either; targets are held against these, and ``looked_at`` of the result names them. After a
    run over all words receipts quote what was found. S_w is measured for 1,000 words at most, unless
    ``support_of_all`` is set or, without rays, distinct words are a target. With ``protect`` the words that
    miss the targets are protected in a new embedding. Where a device was asked for that draws the noise
    itself (``neighbours.set_device``), values in ``epsilons`` are measured by draws there in place of rays.

    ``report`` receives how many words are measured, of how many, for each pass over them; ``report_page`` the
    values of ε on the page. What is measured stays on the disk, so an interrupted run is continued by the
    next.

    :raises InvalidParameter: if a parameter is not allowed, or there is no word to look at.
    :raises EmbeddingNotFound: if there is no such embedding.
    :raises EmbeddingExists: if the name of a protected embedding is taken.
    :raises RecordError: if a file cannot be written.
    :raises TargetsNotMet: if no ε meets the targets.
    :raises DamagedCalibration: if what is on the disk cannot be trusted.
    :raises CalibrationInProgress: if another process is computing it.
    """
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    targets, files = Targets() if targets is None else targets, Files() if files is None else files
    draws, given = validated_count(draws, "draws"), [validated_epsilon(epsilon) for epsilon in epsilons]
    if protect is not None:
        _check_protection(protect, targets, given, everything=words is None and sample is None)
    files.check()
    opened = embedding if isinstance(embedding, Embedding) else Embedding.open(embedding)
    made = mechanism(opened, epsilon=1.0)  # wrong options are refused before anything is measured
    targets.check_within_reach(words=len(opened), draws=draws)
    if protect is not None:
        check_protectable(opened, protect.by)
    ids = _select_words(opened, words, sample)
    few = not targets.given and (len(opened) if ids is None else len(ids)) <= SAMPLED_WORDS
    by_draws = bool(given) and draws_on_gpu(made, SecureRandomness())
    by_rays = not by_draws and method_of(made) == "rays"
    # By rays, distinct words are counted when ε is chosen.
    support = support_of_all or few or (targets.min_distinct is not None and not by_rays)
    calibration = measure(
        opened,
        mechanism,
        draws=draws,
        ids=ids,
        epsilons=np.array(given),
        support=support,
        by_draws=by_draws,
        report=report,
    )
    calibration = replace(calibration, at_random=ids is not None and words is None)
    choice = _choose(calibration, targets, given, protect, report)
    spread, note = calibration, note_place(calibration) if ids is None else None
    measured_too = ids is None and (bool(given) or note is not None)
    if not support and (files.drawn or not targets.given or measured_too):
        shown_too = [choice.epsilon] if files.drawn and choice is not None else []
        spread = measure_sample(
            calibration, [*given, *shown_too], whole=ids is None or not given, report=report
        )
    shown = given or ([choice.epsilon] if choice and not support else spread.epsilons.tolist())
    calibration.prepare(shown)
    table = tuple(row_at(calibration, epsilon, spread) for epsilon in shown)
    safe = None
    if protect is not None and choice is not None:
        safe = _protect(calibration, choice, protect, support=support, report=report)
    if note is not None:
        write_note(calibration, spread, note)
    if files.csv is not None or files.parquet is not None:
        write_words(calibration, shown, sample=spread, csv=files.csv, parquet=files.parquet)
    figures = None
    if files.drawn:
        from deniable.calibration.page import calibration_page, findings, write_figures

        shown_there = findings(
            calibration,
            spread,
            choice=choice,
            epsilons=given,
            sentences=files.sentences,
            report=report_page,
        )
        figures = None if files.figures is None else write_figures(shown_there, files.figures)
        if files.page is not None:
            calibration_page(shown_there).write(files.page)
    return CalibrationResult(
        calibration=calibration,
        sample=spread,
        table=table,
        choice=choice,
        worst_words=() if choice is None else tuple(worst_words(calibration, choice, _NAMED_WORDS)),
        exposed=()
        if choice is None
        else tuple(describe_words(calibration, choice, choice.failing[:_NAMED_WORDS])),
        protected=safe,
        figures=figures,
        page=files.page,
    )


def measure(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    *,
    draws: int = 1000,
    ids: Ids | None = None,
    epsilons: Floats | None = None,
    support: bool = False,
    by_draws: bool = False,
    keep: bool = True,
    report: Report | None = None,
) -> Calibration:
    """Return the calibration of all words, or of ``ids``: by rays where the mechanism has radial noise, else
    a table by sums or draws.

    With ``by_draws`` it is a table by draws where there are rays, too: on a device, draws at one ε are much
    faster.

    See ``measure_by_rays`` and ``measure_table``, also for what they raise.
    """
    scope: dict[str, Any] = {"ids": ids, "epsilons": epsilons, "support": support, "keep": keep}
    if method_of(mechanism(embedding, epsilon=1.0)) == "rays" and not by_draws:
        return measure_by_rays(embedding, mechanism=mechanism, rays=draws, report=report, **scope)
    return measure_table(embedding, mechanism, draws=draws, report=report, **scope)


def measure_sample(
    calibration: Calibration, epsilons: list[float], *, whole: bool, report: Report | None = None
) -> Calibration:
    """Return S_w of a random sample of the words, at these values of ε, and with ``whole`` at ones that cover
    the calibration."""
    count = DRAWN_WORDS if calibration.method == "simulation" else SAMPLED_WORDS
    covering = calibration.epsilons.tolist()
    if calibration.method == "rays":
        covering = calibration.span(GRID_VALUES) if whole else []
    grid = np.array(sorted({*covering, *epsilons}))
    return measure(
        calibration.embedding,
        calibration.mechanism,
        draws=calibration.draws,
        ids=public_sample(np.sort(calibration.ids), count, seed=4),
        epsilons=grid,
        support=True,
        by_draws=calibration.method == "simulation",
        report=report,
    )


def _check_protection(
    protect: Protection, targets: Targets, epsilons: list[float], *, everything: bool
) -> None:
    from deniable.embeddings.store import free_place

    if not targets.given or len(epsilons) > 1 or not everything:
        raise InvalidParameter(
            "protect", protect.by, "needs a target, at most one value of epsilon, and all words"
        )
    free_place(protect.name)


def _select_words(embedding: Embedding, words: Iterable[str] | None, sample: int | None) -> Ids | None:
    """Return the words to look at; None for all of them, however they were asked for."""
    ids = None
    if words is not None:
        found = embedding.ids(list(words))
        ids = np.unique(found[found != embedding.unknown_id])
    if sample is not None:
        pool = np.arange(len(embedding)) if ids is None else ids
        ids = public_sample(pool, validated_count(sample, "sample"), seed=4)
    return None if ids is not None and len(ids) == len(embedding) else ids


def _choose(
    calibration: Calibration,
    targets: Targets,
    epsilons: list[float],
    protect: Protection | None,
    report: Report | None,
) -> Choice | None:
    if not targets.given:
        return None
    if len(epsilons) == 1:
        return evaluate(calibration, epsilons[0], targets)
    if protect is not None:
        return choose_for_protection(
            calibration, targets, most_protected=protect.most_protected, report=report
        )
    return choose(calibration, targets, report=report)


def _protect(
    calibration: Calibration, choice: Choice, protect: Protection, *, support: bool, report: Report | None
) -> ProtectedEmbedding:
    """Install an embedding in which the words that miss the targets go in as others, and measure it."""
    from deniable.embeddings import store

    embedding, epsilon = calibration.embedding, choice.epsilon
    exposed = np.sort(calibration.ids[choice.failing])
    safe = protect_words(embedding, exposed, by=protect.by, name=protect.name)
    licence = store.licence_of(embedding.fingerprint, embedding.name)
    store.save(safe, protect.name, source=f"{embedding.name}, protected at ε = {epsilon:g}", licence=licence)
    opened = Embedding.open(protect.name)
    again = measure(
        opened,
        calibration.mechanism,
        draws=calibration.draws,
        epsilons=np.array([epsilon]),
        support=support,
        by_draws=calibration.method == "simulation",
        report=report,
    )
    if (note := note_place(again)) is not None:
        spread = again if support else measure_sample(again, [epsilon], whole=True, report=report)
        write_note(again, spread, note)
    left = evaluate(again, epsilon, choice.targets)
    return ProtectedEmbedding(
        name=protect.name,
        fingerprint=opened.fingerprint,
        words_mapped=len(exposed),
        by=protect.by,
        exposed_words_left=len(left.failing),
        largest_unchanged=float(left.unchanged.max()),
    )


def sampled(embedding: Embedding, mechanism: ChosenMechanism | None = None) -> Calibration:
    """Return the calibration of a fixed sample of the words; the second call reads it from the disk."""
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    # Every ε takes draws of its own.
    by_draws = method_of(mechanism(embedding, epsilon=1.0)) == "simulation"
    ids = public_sample(len(embedding), _DRAWN_SAMPLE if by_draws else _SAMPLE, seed=_SEED)
    return measure(embedding, mechanism, draws=_RAYS, ids=ids)


def source_of(calibration: Calibration) -> str:
    """Return in words where the numbers of a sample come from."""
    draws = {"rays": f"{calibration.draws} rays each", "exact": "exact sums"}
    how = draws.get(calibration.method, f"{calibration.draws} draws each")
    return f"{len(calibration.ids):,} words of the vocabulary, {how}"


def epsilons_where_words_stay(
    embedding: str | Path, mechanism: ChosenMechanism | None = None, shares: Sequence[float] = SHARES
) -> list[float]:
    """Return the values of ε at which an average word of the embedding stays itself in these shares of the
    draws."""
    calibration = sampled(Embedding.open(embedding), mechanism)
    return sorted({calibration.epsilon_reaching(share) for share in shares})
