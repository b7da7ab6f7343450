from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import deniable

SOURCE = Path(deniable.__file__).parent


def test_all_is_exact_and_sorted() -> None:
    assert deniable.__all__ == sorted(deniable.__all__)
    public = {
        name
        for name, value in vars(deniable).items()
        if not name.startswith("_") and not hasattr(value, "__path__")
    }
    modules = {name for name in public if type(getattr(deniable, name)).__name__ == "module"}
    assert set(deniable.__all__) == (public - modules - {"annotations", "Any", "TYPE_CHECKING"}) | {
        "__version__",
        "release_file",  # loaded when it is asked for
    }


def printed_by(*statements: str) -> list[str]:
    """Return what a fresh Python prints."""
    command = [sys.executable, "-c", "; ".join(["import sys", *statements])]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def files_that_mention(text: str) -> set[str]:
    return {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if text in path.read_text(encoding="utf-8")
    }


def test_import_loads_numpy_and_regex_and_nothing_else_from_outside() -> None:
    before = "before = set(sys.modules)"
    loaded = printed_by(before, "import deniable", "print(*set(sys.modules) - before)")
    outside = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in outside if not name.startswith("_")} <= {"deniable", "numpy", "regex"}
    assert (
        len(printed_by("import numpy, regex", before, "import deniable", "print(*set(sys.modules) - before)"))
        < 150
    )


def test_the_seeded_source_is_reachable_from_the_command_line_only_by_its_named_option() -> None:
    # Channels, calibrations and audits draw from seeds of their own, in memory, and write no released text.
    drawing = {"cli/privatize.py", "channel/draws.py", "audit/draws.py"}
    assert files_that_mention("InsecureSeeded") <= {"__init__.py", "noise/randomness.py", *drawing}
    command = (SOURCE / "cli/privatize.py").read_text(encoding="utf-8")
    assert command.count("InsecureSeededRandomness(insecure_seed=") == 1
    assert "--insecure-seed" in command


def test_nothing_that_releases_text_imports_the_audits() -> None:
    allowed = (
        "audit/",
        "decision/",
        "utility/",
        "tuning/",
        "measures/catalogue.py",
        "cli/audit.py",
        "cli/tune.py",
        "lab/",
    )
    assert {name for name in files_that_mention("deniable.audit") if not name.startswith(allowed)} == set()
    reached = "import deniable.cli.privatize, deniable.release.privatizer, deniable.records"
    modules = printed_by(reached, "print(*sys.modules)")
    assert not {"deniable.audit", "deniable.channel.draws"} & set(modules)


def test_only_what_measures_draws_from_a_seed() -> None:
    # A channel or a calibration by draws looks at words of the public vocabulary, a receiver at shares that
    # were learnt from released text, the search of tuning at public texts, of which it keeps shares only, and
    # the measures of the catalogue keep one number: nobody's text is released.
    channels = ("channel/points.py", "channel/rows.py")
    allowed = (
        "audit/",
        "decision/",
        *channels,
        "lab/",
        "calibration/table.py",
        "decoding/word_use.py",
        "measures/catalogue.py",
        "tuning/",
        "utility/accuracy.py",
    )
    importers = files_that_mention("channel.draws import")
    assert {name for name in importers if not name.startswith(allowed)} == set()
