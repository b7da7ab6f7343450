"""Build the packages as they are published, install each where nothing else is, and release text with it.

Run ``python scripts/check_packages.py``; ``make check-slow`` does. What is built is a source package and,
from it, two wheels: one with the native search and one as a machine without a compiler gets it. Both must
release the same words with the same key. Needs a registry for pip, a C++ compiler, and about a gigabyte of
temporary files. ``--keep FOLDER`` leaves the packages in a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false"}
TEXT = "my doctor said the encryption keys were stolen from the hospital by an unknown zorblatt7 on tuesday"
KEYED = f"""
from deniable import Embedding, Keyed, Multivariate, Privatizer
private = Privatizer(Multivariate(Embedding.open(), epsilon=6), randomness=Keyed(bytes(range(32))))
print("|".join(private.many([{TEXT!r}] * 200, record_ids=list(range(200)))))
"""
NEEDED = (
    "deniable/embeddings/data/vectors.npy",
    "deniable/embeddings/data/words.txt",
    "deniable/py.typed",
    "deniable/report/page.css",
    "deniable/report/page.html.jinja",
    "deniable/service/page/index.html",
)


def check_packages(folder: Path) -> None:
    """Build in a folder, install, and use what was installed.

    :raises SystemExit: if anything is not as it should be.
    """
    source, native = build(folder / "dist")
    plain = build_without_compiler(source, folder / "plain")
    check_content(source, native, plain)
    python = make_environment(folder / "installed")
    run(python, "-m", "pip", "install", "--quiet", str(native))
    run(python, "-m", "pip", "check")
    with_native = use(python, folder, native_wanted=True)
    run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", str(plain))
    without = use(python, folder, native_wanted=False)
    demand(with_native == without, "the two wheels release different words with one key")
    print(
        f"{native.name} and {plain.name} install, say what they are, and release the same "
        f"{len(without.split())} words with one key"
    )


def build(folder: Path) -> tuple[Path, Path]:
    """Return a source package and the wheel built from it."""
    tools = make_environment(folder.parent / "tools")
    run(tools, "-m", "pip", "install", "--quiet", "build")
    run(tools, "-m", "build", "--outdir", str(folder), str(ROOT))
    return only(folder, "*.tar.gz"), only(folder, "*.whl")


def build_without_compiler(source: Path, folder: Path) -> Path:
    """Return the wheel that a machine without a compiler makes of the source package."""
    python, making = (
        folder.parent / "tools" / "bin" / "python",
        ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)],
    )
    run(python, *making, str(source), environment=NO_COMPILER)
    return only(folder, "*.whl")


def check_content(source: Path, native: Path, plain: Path) -> None:
    """Check that nothing is missing or too much, and that the wheels say for which machines they are."""
    with tarfile.open(source) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    demand(
        {
            "CMakeLists.txt",
            "LICENSE",
            "src/deniable/neighbours/native/module.cpp",
            "tests/noise/test_noise.py",
        }
        <= names,
        "the source lacks files",
    )
    for wheel in (native, plain):
        with zipfile.ZipFile(wheel) as unpacked:
            held = set(unpacked.namelist())
        demand(set(NEEDED) <= held, f"{wheel.name} lacks {sorted(set(NEEDED) - held)}")
        demand(any(name.endswith("licenses/LICENSE") for name in held), f"{wheel.name} lacks the licence")
        demand(not any(name.endswith((".cpp", ".hpp", ".inc")) for name in held), f"{wheel.name} holds C++")
        demand(
            any("_native." in name and name.endswith(".so") for name in held) == (wheel is native),
            f"{wheel.name}: native module",
        )
    demand(plain.name.endswith("-py3-none-any.whl"), f"{plain.name} is not for any machine")


def use(python: Path, folder: Path, *, native_wanted: bool) -> str:
    """Release text with what is installed, from Python and by the command; return the words that a fixed key
    gives."""
    command = python.with_name("deniable")
    found = json.loads(run(command, "doctor", "--json"))
    demand((found["native_module"] == "in use") == native_wanted, f"doctor says: {found['native_module']}")
    demand("slower" in found["native_module"] or native_wanted, "doctor does not say that it is slow")
    shutil.copy(ROOT / "examples" / "reviews.csv", folder / "in.csv")
    page = str(folder / "page.html")
    release = ["privatize", str(folder / "in.csv"), "-c", "review", "-e", "6", "-o", str(folder / "out.csv")]
    said = run(command, *release, "--receipt-page", page, "--force", errors=True)
    demand(("slower" in said) == (not native_wanted), f"what a release says: {said}")
    demand(Path(page).read_text(encoding="utf-8").startswith("<!doctype html>"), "no page was written")
    demand(
        "stays itself" in run(command, "explain", "hockey", "-e", "6", "--draws", "100"),
        "explain says nothing",
    )
    return run(python, "-c", KEYED)


def make_environment(folder: Path) -> Path:
    """Return the Python of a new virtual environment."""
    run(Path(sys.executable), "-m", "venv", str(folder))
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    return python


def run(
    program: Path, *arguments: str, environment: dict[str, str] | None = None, errors: bool = False
) -> str:
    """Return what a program printed, or said on standard error; it runs where our source is not, so it can
    only use what is installed."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "DENIABLE", "VIRTUAL_ENV"))
    }
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [str(program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=elsewhere,
            env=clean | (environment or {}),
        )
    demand(
        done.returncode == 0,
        f"{program.name} {' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr[-2000:]}",
    )
    return done.stderr if errors else done.stdout


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of that name."""
    found = list(folder.glob(pattern))
    demand(len(found) == 1, f"{folder} holds {len(found)} files {pattern}")
    return found[0]


def demand(holds: bool, problem: str) -> None:
    """Stop with the problem unless it holds."""
    if not holds:
        sys.exit(f"check_packages: {problem}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="leave the packages in this folder")
    wanted = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as temporary:
        check_packages(Path(temporary))
        if wanted is not None:
            wanted.mkdir(parents=True, exist_ok=True)
            for made in [*Path(temporary, "dist").iterdir(), *Path(temporary, "plain").iterdir()]:
                shutil.copy(made, wanted)
