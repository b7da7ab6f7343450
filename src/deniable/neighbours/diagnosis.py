"""What ``deniable doctor`` shows: the search in use, the processor, the threads, libraries and extras."""

from __future__ import annotations

import platform
import re
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from deniable.installation import install_command
from deniable.neighbours.selection import why_not_native
from deniable.neighbours.threads import threads_with_reason
from deniable.version import __version__

LIBRARIES = ("numpy", "randomgen", "pyarrow", "msgspec", "regex", "safetensors", "gensim")
_NOT_INSTALLED = "not installed"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What decides the speed of a search on this machine.

    ``native_module`` says that the native scan is in use, or why not; ``paths`` says of each way to run it
    whether it can be used here; ``features`` are those of the processor; ``threads_decided_by`` says where
    the number of threads comes from; ``gpu`` says what ``--device cuda`` would use; ``extras`` says of each
    extra that its libraries are installed, or how to install them.
    """

    search: str
    exact: bool
    native_module: str
    paths: dict[str, str]
    processor: str
    features: dict[str, bool]
    threads: int
    threads_decided_by: str
    gpu: str
    python: str
    system: str
    deniable: str
    libraries: dict[str, str]
    extras: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return asdict(self)


def diagnose() -> Diagnosis:
    """Return what decides the speed of a search on this machine.

    :raises InvalidParameter: if DENIABLE_THREADS is not a number of threads.
    """
    obstacle = why_not_native()
    features, paths, in_use = _native_facts()
    count, reason = threads_with_reason()
    return Diagnosis(
        search=f"certified int8 scan, {in_use}" if in_use else "blocked float32 matrix products (numpy)",
        exact=True,
        native_module=obstacle or "in use",
        paths=paths,
        processor=_processor(),
        features=features,
        threads=count,
        threads_decided_by=reason,
        gpu=_gpu(),
        python=platform.python_version(),
        system=platform.platform(),
        deniable=__version__,
        libraries={name: _version(name) for name in LIBRARIES},
        extras=_extras(),
    )


def _native_facts() -> tuple[dict[str, bool], dict[str, str], str | None]:
    """Return the processor's features, what stands against each path, and the path in use."""
    try:
        from deniable.neighbours import _native
        from deniable.neighbours.scan import EMULATED, chosen_path
    except ImportError:
        return {}, {}, None
    emulated = "usable; tested on an emulated processor, its speed is not known"
    status = {name: emulated if name in EMULATED else "usable" for name, _ in _native.paths()}
    return (
        dict(_native.cpu_features()),
        {name: obstacle or status[name] for name, obstacle in _native.paths()},
        chosen_path(),
    )


def _gpu() -> str:
    if find_spec("torch") is None:
        return f"not used: PyTorch is not installed ({install_command('gpu')})"
    from deniable.gpu.devices import compiles_kernels, pytorch

    torch = pytorch()
    if not torch.cuda.is_available():
        return "none that PyTorch can use"
    device = torch.device("cuda")
    if compiles_kernels(device):
        return (
            f"{torch.cuda.get_device_name(device)}: --device cuda draws noise and searches there, by "
            "kernels of our own"
        )
    return (
        f"{torch.cuda.get_device_name(device)}: --device cuda searches there by float32 products; noise "
        "is drawn here"
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123 - not a file of ours
            model = next(
                (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
            )
    except OSError:
        model = ""
    return model or platform.processor() or platform.machine()


def _extras() -> dict[str, str]:
    missing: dict[str, list[str]] = {}
    try:
        requirements = metadata.requires("deniable") or []
    except metadata.PackageNotFoundError:
        return {}
    for requirement in requirements:
        extra = re.search(r"""extra == ['"]([^'"]+)""", requirement)
        library = re.match(r"[\w.-]+", requirement)
        if extra is None or library is None:
            continue
        lacking = missing.setdefault(extra[1], [])
        if _version(library[0]) == _NOT_INSTALLED:
            lacking.append(library[0])
    return {
        extra: f"without {', '.join(lacking)}: {install_command(extra)}" if lacking else "installed"
        for extra, lacking in sorted(missing.items())
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return _NOT_INSTALLED
