from __future__ import annotations

import os
from pathlib import Path

from deniable.atomic import lock


def test_a_lock_on_a_descriptor_or_a_file_keeps_others_out_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    assert lock(descriptor, wait=False)
    with path.open("rb") as other:
        assert not lock(other, wait=False)
        os.close(descriptor)
        assert lock(other, wait=False)
