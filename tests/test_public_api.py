from __future__ import annotations

import subprocess
import sys

import deniable


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


def loaded_by(statement: str) -> set[str]:
    code = (
        f"import sys; before = set(sys.modules); {statement}; print(*sorted({{m.partition('.')[0] for m "
        f"in set(sys.modules) - before}}))"
    )
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_import_loads_numpy_and_regex_and_nothing_else_from_outside() -> None:
    outside = {
        name
        for name in loaded_by("import deniable")
        if name not in sys.stdlib_module_names and not name.startswith("_")
    }
    assert outside <= {"deniable", "numpy", "regex"}


def test_import_adds_few_modules_to_numpy() -> None:
    code = (
        "import sys, numpy, regex; before = len(sys.modules); import deniable; print(len(sys.modules) - "
        "before)"
    )
    assert (
        int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        < 150
    )


def test_the_seeded_source_is_reachable_from_the_command_line_only_by_its_named_option() -> None:
    from pathlib import Path

    source = Path(deniable.__file__).parent
    mentions = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "InsecureSeeded" in path.read_text(encoding="utf-8")
    }
    # Channels, calibrations and audits draw from seeds of their own, in memory, and write no released text.
    assert mentions <= {
        "__init__.py",
        "noise/randomness.py",
        "cli/privatize.py",
        "channel/draws.py",
        "audit/draws.py",
    }
    command = (source / "cli/privatize.py").read_text(encoding="utf-8")
    assert command.count("InsecureSeededRandomness(insecure_seed=") == 1
    assert "--insecure-seed" in command


def test_nothing_that_releases_text_imports_the_audits() -> None:
    from pathlib import Path

    source = Path(deniable.__file__).parent
    importers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "deniable.audit" in path.read_text(encoding="utf-8")
    }
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
    assert {name for name in importers if not name.startswith(allowed)} == set()
    for module in ("deniable.audit", "deniable.channel.draws"):
        reached = (
            "import sys, deniable.cli.privatize, deniable.release.privatizer, deniable.records; "
            f"print({module!r} in sys.modules)"
        )
        assert (
            subprocess.run([sys.executable, "-c", reached], capture_output=True, text=True, check=True).stdout
            == "False\n"
        )


def test_only_what_measures_draws_from_a_seed() -> None:
    from pathlib import Path

    source = Path(deniable.__file__).parent
    importers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "channel.draws import" in path.read_text(encoding="utf-8")
    }
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
        "measures/unchanged.py",
        "tuning/search.py",
        "utility/accuracy.py",
    )
    assert {name for name in importers if not name.startswith(allowed)} == set()
