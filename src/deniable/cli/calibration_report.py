"""The page and the figures that ``deniable calibrate`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.calibration.calibration import Calibration
    from deniable.calibration.choice import Choice
    from deniable.calibration.report.findings import Findings
    from deniable.embeddings.embedding import Embedding


def check_known(embedding: Embedding, word: str) -> None:
    """Do nothing if the embedding has the word.

    :raises InvalidParameter: otherwise.
    """
    if word not in embedding.index:
        raise InvalidParameter("word", word, f"is not a word of the embedding {embedding.name!r}")


def write_report(
    calibration: Calibration,
    walked: Calibration,
    choice: Choice | None,
    epsilons: list[float],
    *,
    report: Path | None,
    folder: Path | None,
    words: list[str],
    sentences: list[str],
    quiet: bool,
) -> dict[str, Any]:
    """Write the page to ``report`` and the single figures into ``folder``, where given; return what was written."""
    from deniable.calibration.report.findings import findings
    from deniable.calibration.report.page import calibration_page
    from deniable.progress import Progress

    with Progress("drawing the page", unit="values of ε") as progress:
        found = findings(
            calibration,
            walked,
            choice=choice,
            epsilons=epsilons,
            words=tuple(words),
            sentences=tuple(sentences),
            report=None if quiet else progress.report,
        )
    written: dict[str, Any] = {}
    if folder is not None:
        written["figures"] = [str(path) for path in write_figures(found, folder)]
    if report is not None:
        calibration_page(found).write(report)
        written["report"] = str(report)
    return written


def write_figures(found: Findings, folder: Path) -> list[Path]:
    """Write every figure of the page as PNG and SVG; return the files."""
    from deniable.calibration.report import figures
    from deniable.report.figure import save

    drawings = {
        "unchanged": figures.unchanged_curves(found),
        "support": figures.support_curves(found),
        "histograms": figures.histogram_figure(found),
    }
    if found.geometry.neighbours:
        drawings["geometry"] = figures.geometry_figure(found.geometry)
    return [path for name, figure in drawings.items() for path in save(figure, folder, name)]
