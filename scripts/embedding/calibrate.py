"""Make src/deniable/embeddings/data/calibration.json: what is known of the default embedding at many ε, for
receipts.

    python -m scripts.embedding.calibrate [whole|names-1|names-2]
    python -m scripts.embedding.calibrate for-sentiment for-topic

And calibration-without-names-1.json and -2.json: the same of the default without the words of each built-in
list of names. The name of a space for a purpose makes its three files, without S_w: in one dimension two rays
are all there are, and in three a walk along a ray meets so many words that it takes hours. N_w is computed
for all words, S_w and distinct words for a sample, with the rays that every calibration uses; so anybody gets
the same file. Interrupted, it continues where it was.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from deniable import Embedding
from deniable.arrays import Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.writing import make_note
from deniable.embeddings.derived import leave_out
from deniable.embeddings.places import BUILT_IN as SPACES
from deniable.progress import Progress
from deniable.release.note import FILE_NAME, without_list
from deniable.words.never_release import BUILT_IN, NeverRelease
from scripts.pages import ROOT, write_json

FOLDER = ROOT / "src" / "deniable" / "embeddings" / "data"
EPSILONS = [*(x / 2 for x in range(2, 17)), 9.0, 10.0, 12.0, 14.0, 16.0, 20.0]
EPSILONS_OF_SPACES = [0.1, 0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.63, 0.8, *EPSILONS]
RAYS, SAMPLE = 1000, 1000


def main() -> None:
    """Compute and write the files, or the one that is named."""
    os.environ.setdefault("DENIABLE_HOME", str(Path(tempfile.gettempdir()) / "deniable-calibrate-default"))
    names = sys.argv[1:]
    for space in (each for each in SPACES if each in names):
        for listed in (None, *sorted({*BUILT_IN.values()})):
            target = FOLDER / space.removeprefix("for-") / (without_list(listed) if listed else FILE_NAME)
            write_calibration(leave_out(Embedding.open(space), NeverRelease.of(listed)), target)
        names = [each for each in names if each != space] or ["none"]
    for listed in (None, *sorted({*BUILT_IN.values()})):
        if (listed or "whole") in (names or [listed or "whole"]):
            embedding = leave_out(Embedding.open(), NeverRelease.of(listed))
            write_calibration(embedding, FOLDER / (without_list(listed) if listed else FILE_NAME))


def sample_of(embedding: Embedding) -> Ids:
    """Return words drawn at random."""
    return np.sort(np.random.Generator(np.random.PCG64(4)).choice(len(embedding), SAMPLE, replace=False))


def write_calibration(embedding: Embedding, target: Path) -> None:
    """Compute and write one file."""
    rays = 2 if embedding.dimension == 1 else RAYS
    with Progress("N_w of all words", unit="words") as progress:
        whole = measure_by_rays(embedding, rays=rays, report=progress.report)
    if embedding.linear_map is not None:
        note = make_note(whole, EPSILONS_OF_SPACES).to_dict()
        write_json(target, {"made_by": "scripts/embedding/calibrate.py", **note})
        return
    sample = sample_of(embedding)
    with Progress("S_w of a sample", unit="words") as progress:
        some = measure_by_rays(
            embedding,
            rays=RAYS,
            ids=sample,
            epsilons=np.array(EPSILONS),
            support=True,
            report=progress.report,
        )
    note = make_note(whole, EPSILONS, some).to_dict()
    write_json(target, {"made_by": "scripts/embedding/calibrate.py", **note})


if __name__ == "__main__":
    main()
