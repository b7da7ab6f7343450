"""Leaves the numbers that receipts and ``privatize --max-unchanged`` read (``quote``) where they look for them."""

from __future__ import annotations

import json
from contextlib import suppress

from deniable.atomic import whole_file
from deniable.calibration.calibration import Calibration
from deniable.calibration.measure import GRID_VALUES, RayCalibration, epsilons_of
from deniable.calibration.summary import quote
from deniable.errors import DamagedCalibration
from deniable.text.note import quote_place, stored_quote


def write_note(calibration: Calibration, walked: Calibration) -> None:
    """Write the note of a calibration of all words, with S_w of the words in ``walked``.

    What fewer rays say does not take the place of what more rays said.
    """
    mechanism = calibration.mechanism(calibration.embedding, epsilon=1.0)
    place = quote_place(mechanism)
    if place is None:
        return  # the default's numbers come with the package
    with suppress(DamagedCalibration):  # what cannot be read is written anew
        known = stored_quote(mechanism)
        if known is not None and known["rays"] > calibration.rays:
            return
    own = epsilons_of(calibration).tolist() if isinstance(calibration, RayCalibration) else calibration.span(GRID_VALUES)
    epsilons = sorted({*own, *walked.epsilons.tolist()})
    with suppress(PermissionError):  # an embedding that many people share may be read-only
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place) as file:  # not a private one: whoever may read the embedding releases with it, and quotes this
            file.write((json.dumps(quote(calibration, epsilons, walked), indent=1) + "\n").encode())
