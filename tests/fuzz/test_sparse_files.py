"""A file that is huge and sparse, which costs nothing to send, is read or refused with one error, and never
filled into memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from deniable.decoding.decoder import Decoder
from deniable.decoding.decoder_file import pack_decoder, unpack_decoder
from deniable.errors import DamagedDecoder, InvalidParameter
from deniable.service.settings import read_settings
from deniable.words.public_text import read_word_list
from tests.fuzz.targets import TARGETS

HOLE = 3 << 30
MEMORY = 3 << 29
"""Half of the hole: what a process may have of its own, beside the files that it maps."""

STREAMED = ("packed", "lines", "json", "labelled", "public", "checked", "spreadsheets")
"""Read in parts, however long: their own tests bound what is held at once, and three gigabytes of them take
minutes."""

READ = f"""
import resource, shutil, sys, tempfile
from pathlib import Path

from deniable.errors import DeniableError
from tests.fuzz.targets import TARGETS
from tests.fuzz.test_fuzz import _Steady

target, place = TARGETS[sys.argv[1]], Path(sys.argv[2])
seeds = target.seeds()
resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY}, {MEMORY}))
tried = set()
for seed in seeds:
    for name in seed:
        for keep in (True, False):
            if (name, keep) in tried:
                continue
            tried.add((name, keep))
            folder = place / str(len(tried))
            for each, content in seed.items():
                (folder / each).parent.mkdir(parents=True, exist_ok=True)
                (folder / each).write_bytes(content)
            with (folder / name).open("ab" if keep else "wb") as file:
                file.truncate({HOLE})
            try:
                target.read(folder, _Steady())
            except (DeniableError, OSError) as error:
                print(name, keep, "refused", type(error).__name__)
            else:
                print(name, keep, "read")
            shutil.rmtree(folder)
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs sparse files, and a limit of memory that leaves out mapped files"
)
@pytest.mark.parametrize("name", [name for name in TARGETS if name not in STREAMED])
def test_a_huge_sparse_file_is_never_filled_into_memory(name: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", READ, name, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]


@pytest.mark.parametrize("read", [read_word_list, read_settings])
def test_a_huge_list_or_settings_file_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(HOLE)
    with pytest.raises(InvalidParameter):
        read(tmp_path / "huge")


def test_a_decoder_that_asks_for_more_directions_than_it_is_worth_is_refused(tmp_path: Path) -> None:
    files = TARGETS["decoder"].seeds()[0]
    about, inputs, shares = unpack_decoder(files["learnt.npz"], "learnt.npz")
    forged = pack_decoder(structs.replace(about, directions=100_000), inputs, shares)
    (tmp_path / "learnt.npz").write_bytes(forged)
    with pytest.raises(DamagedDecoder):
        Decoder.load(tmp_path / "learnt.npz")
    decoder = Decoder.from_bytes(files["learnt.npz"])
    decoder.directions = 100_000
    with pytest.raises(InvalidParameter):
        decoder.save(tmp_path / "again.npz")
