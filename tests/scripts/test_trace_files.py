from __future__ import annotations

import re
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


def test_the_walk_in_the_design_goes_through_the_files_of_records_that_it_names(tmp_path: Path) -> None:
    walk = (SCRIPT.parents[1] / "docs/design.md").read_text().partition("## The walk of one record")[2]
    [command] = re.findall(r"`deniable (privatize [^`]*)`", walk)
    named = dict(re.findall(r"^\| `(records/(?:formats/)?)` \| (.*) \|$", walk, re.MULTILINE))
    (tmp_path / "reviews.csv").write_text("review\nthe soup was cold\n")
    done = subprocess.run(
        [sys.executable, SCRIPT, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    ran = [line.split()[0] for line in done.stderr.splitlines() if line.startswith("deniable/records/")]
    assert set(ran) == {
        f"deniable/{folder}{name}.py"
        for folder, files in named.items()
        for name in re.findall(r"`(\w+)`", files)
    }
