from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "trace_files.py"


def test_files_in_which_a_function_ran_are_listed_and_no_others() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "mechanisms"], capture_output=True, text=True, check=True)
    assert "multivariate" in done.stdout
    *lines, total = done.stderr.splitlines()
    files, functions = zip(*(line.split() for line in lines), strict=True)
    assert files[0] == "deniable/cli/app.py"
    assert "deniable/cli/mechanisms.py" in files
    assert "deniable/cli/privatize.py" not in files, "it is only imported"
    assert total == f"{len(files)} files, {sum(map(int, functions))} functions"
