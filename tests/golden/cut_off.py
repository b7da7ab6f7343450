"""Cut work off as a kill would, and keep what it leaves: ``python -m tests.golden.cut_off FOLDER``.

Run once whenever work that was begun before is refused (another version of keyed noise, other rules for
words), so that there is frozen work again that later code must continue. What was frozen before stays, and
must be refused as clearly as ever.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from tests.golden.interrupted import INTERRUPTED, WATCHED
from tests.golden.materials import FROZEN, FROZEN_TIME, laid_out

_AFTER_TWO_CHECKPOINTS = """
import os, sys
import deniable.records.formats.reader as reader
import deniable.records.journal as journal
import deniable.records.job as job
from importlib.metadata import entry_points
reader._RECORDS_AT_ONCE, job.SECONDS_BETWEEN_CHECKPOINTS, real, made = 4, 0.0, journal.Journal.checkpoint, []
def checkpoint(self, **said):
    if len(made) == 2:
        os._exit(9)
    made.append(real(self, **said))
journal.Journal.checkpoint = checkpoint
sys.argv = ["deniable", *sys.argv[1:]]
[script] = entry_points(group="console_scripts", name="deniable")
script.load()()
"""


def cut_off(command: list[str], folder: Path) -> None:
    """Run a command in a folder that ``laid_out`` made, and kill it after two checkpoints."""
    environment = {**os.environ, "DENIABLE_HOME": str(folder / "home")}
    ended = subprocess.run(
        [sys.executable, "-c", _AFTER_TWO_CHECKPOINTS, *command], cwd=folder, env=environment, check=False
    )
    assert ended.returncode == 9, "it was not cut off"


def keep(made: Path, name: str, folder: Path) -> None:
    """Move a file to where it is kept; a journal names its input without the folder it was made in."""
    folder.mkdir(parents=True, exist_ok=True)
    if name.endswith(".journal"):
        first, rest = made.read_bytes().split(b"\n", 1)
        entry = json.loads(first.partition(b" ")[2])
        entry["job"]["input"] = Path(entry["job"]["input"]).name
        text = json.dumps(entry).encode()
        made.write_bytes(b"%08x %s\n" % (zlib.crc32(text), text) + rest)
    shutil.move(made, folder / name)


def main(folder: Path) -> None:
    """Cut off each job, and a watch that had released one file and begun another."""
    for name, (source_name, target, options) in INTERRUPTED.items():
        with tempfile.TemporaryDirectory() as work:
            laid_out(Path(work))
            source = Path(shutil.copy(FROZEN / "inputs" / source_name, work))
            os.utime(source, ns=(FROZEN_TIME, FROZEN_TIME))
            cut_off(
                [
                    "privatize",
                    source_name,
                    "-o",
                    target,
                    "--key-file",
                    "golden.key",
                    "--quiet",
                    *options.split(),
                ],
                Path(work),
            )
            for ending in (".partial", ".journal"):
                keep(Path(work, target + ending), target + ending, folder / "interrupted" / name)
    with tempfile.TemporaryDirectory() as work:
        laid_out(Path(work))
        shutil.copytree(FROZEN / "watched" / "inbox", Path(work, "inbox"))
        Path(work, "released").mkdir()
        for path in Path(work, "inbox").iterdir():
            os.utime(path, ns=(FROZEN_TIME, FROZEN_TIME))
        cut_off(WATCHED.split(), Path(work))
        for path in Path(work, "released").iterdir():
            keep(path, path.name, folder / "watched" / "released")
        shutil.copytree(Path(work, "inbox"), folder / "watched" / "inbox")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
