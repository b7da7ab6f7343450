from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import platform
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from randomgen import AESCounter
from scipy import stats

from deniable import (
    InsecureSeededRandomness,
    InvalidParameter,
    Multivariate,
    Privatizer,
    SecureRandomness,
)
from deniable.errors import RandomnessError
from deniable.noise import randomness
from tests.support.strategies import random_embedding


def test_aes_output_equals_openssl() -> None:
    key = secrets.randbits(128)
    ours = AESCounter(key=key).random_raw(4096)
    # randomgen numbers its blocks from 0, little endian; cryptography calls OpenSSL.
    blocks = b"".join(i.to_bytes(16, "little") for i in range(2048))
    encryptor = Cipher(algorithms.AES(key.to_bytes(16, "little")), modes.ECB()).encryptor()
    assert np.array_equal(ours, np.frombuffer(encryptor.update(blocks), dtype="<u8"))


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_sources_cannot_be_copied(act: Callable[[object], object]) -> None:
    for source in (SecureRandomness(), InsecureSeededRandomness(insecure_seed=1)):
        with pytest.raises(TypeError, match="repeat the noise"):
            act(source)


def fork_and_draw(source: SecureRandomness, children: int) -> list[bytes]:
    """Return the noise the parent and each forked child draw from one source that had been used before."""
    source.normals(1, 1)
    drawn = []
    for _ in range(children):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write_end, source.normals(2, 4).tobytes() + source.gammas(2, 3.0).tobytes())
            os._exit(0)
        os.close(write_end)
        os.waitpid(pid, 0)
        drawn.append(os.read(read_end, 4096))
        os.close(read_end)
    drawn.append(source.normals(2, 4).tobytes() + source.gammas(2, 3.0).tobytes())
    return drawn


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_forked_workers_never_repeat_noise() -> None:
    drawn = fork_and_draw(SecureRandomness(), 4)
    assert len(set(drawn)) == 5
    assert all(len(part) == 8 * (8 + 2) for part in drawn)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_fork_is_noticed_even_if_the_process_id_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 4242)
    assert len(set(fork_and_draw(SecureRandomness(), 3))) == 4


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_the_fork_test_catches_a_shared_numpy_generator() -> None:
    class Shared(SecureRandomness):
        def __init__(self) -> None:
            super().__init__()
            self.shared = np.random.default_rng()

        def _generator(self) -> np.random.Generator:
            return self.shared

    assert len(set(fork_and_draw(Shared(), 4))) < 5


CLONED = """
import ctypes, os, platform, signal, sys
from deniable import InsecureSeededRandomness, SecureRandomness
from deniable.errors import RandomnessError
NEW_PROCESS_IDS, NUMBER = 0x20000000, {"x86_64": 56, "aarch64": 220}[platform.machine()]
kernel = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock, which nobody could give back in the clone
def clone(flags):
    child = kernel.syscall(NUMBER, ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None)
    if child < 0:
        print("not allowed", flush=True)
        os._exit(3)
    return child
def draw(who):
    try:
        seeded.normals(1, 1)
        print(who, "repeats the seed", flush=True)
    except RandomnessError:
        pass
    print(who, os.getpid(), source.normals(2, 4).tobytes().hex(), flush=True)
flags = NEW_PROCESS_IDS if sys.argv[1] == "namespace" else 0
if flags and (first := clone(flags)):
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
if not flags:
    os.getpid = lambda: 1
source, seeded = SecureRandomness(), InsecureSeededRandomness(insecure_seed=1)
source.normals(1, 1)
for child in range(2):
    if (pid := clone(flags)) == 0:
        draw("child")
        if child and clone(flags) == 0:
            draw("grandchild")
            os._exit(0)
        if child:
            os.wait()
        os._exit(0)
    os.waitpid(pid, 0)
print("parent", os.getpid(), source.normals(2, 4).tobytes().hex(), flush=True)
os._exit(0)
"""  # noqa: E501


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="the call is another here",
)
@pytest.mark.parametrize("how", ["namespace", "same process id"])
def test_a_clone_that_neither_python_nor_its_process_id_tells_of_never_repeats_noise(how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLONED, how.split()[0]], capture_output=True, text=True, timeout=600
    )
    if "not allowed" in done.stdout:
        pytest.skip("only root may make namespaces of process ids")
    assert done.returncode == 0, done.stderr
    who, pids, drawn = zip(*(line.split(" ", 2) for line in done.stdout.splitlines()), strict=True)
    assert sorted(who) == ["child", "child", "grandchild", "parent"], (
        "and the seeded source refuses in each clone"
    )
    assert set(pids) == {"1"}
    assert len(set(drawn)) == 4


def test_without_a_page_that_is_wiped_every_draw_has_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = SecureRandomness()
    if randomness._page is not None:
        assert source._generator() is source._generator()
    monkeypatch.setattr(randomness, "_page", None)
    assert source._generator() is not source._generator()


def test_a_kernel_without_such_a_page_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "WIPE_ON_FORK", 12_345)
    assert randomness._wiped_on_fork() is None


def _draw_in_worker(_: int) -> bytes:
    return SecureRandomness().normals(2, 4).tobytes()


def test_spawned_workers_never_repeat_noise() -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        drawn = pool.map(_draw_in_worker, range(6), chunksize=1)
    assert len(set(drawn)) == 6


def test_threads_never_repeat_noise() -> None:
    source = SecureRandomness()
    with ThreadPoolExecutor(8) as threads:
        started = threading.Barrier(8)
        drawn = threads.map(lambda _: (started.wait(600), source.normals(3, 5).tobytes())[1], range(8))
        assert len(set(drawn)) == 8


def test_without_entropy_nothing_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_entropy(bits: int) -> int:
        raise OSError("no entropy")

    monkeypatch.setattr(secrets, "randbits", no_entropy)
    private = Privatizer(Multivariate(random_embedding(3, 2), epsilon=1e6))
    with pytest.raises(RandomnessError, match="nothing was released"):
        private("w0 w1")
    assert private.receipt().tally.words == 0


def test_the_seeded_source_repeats_and_says_it_is_insecure() -> None:
    first, second = InsecureSeededRandomness(insecure_seed=5), InsecureSeededRandomness(insecure_seed=5)
    assert np.array_equal(first.normals(3, 4), second.normals(3, 4))
    assert first.describe()["source"].startswith("INSECURE")
    assert first.describe()["insecure_seed"] == 5


def test_the_default_source_is_the_secure_one() -> None:
    assert (
        Privatizer(Multivariate(random_embedding(3, 2), epsilon=1)).receipt().randomness["source"] == "secure"
    )


@pytest.mark.parametrize("seed", [-1, None, 1.5, "7"])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(InvalidParameter, match="insecure_seed"):
        InsecureSeededRandomness(insecure_seed=seed)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_seeded_source_refuses_to_repeat_itself_in_a_fork() -> None:
    source = InsecureSeededRandomness(insecure_seed=1)
    pid = os.fork()
    if pid == 0:
        try:
            source.normals(1, 1)
        except RandomnessError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


@pytest.mark.parametrize("source", [SecureRandomness(), InsecureSeededRandomness(insecure_seed=1)])
def test_uniform_numbers_are_uniform_on_the_half_open_unit_interval(
    source: SecureRandomness | InsecureSeededRandomness,
) -> None:
    drawn = source.uniforms(20_000, 2)
    assert drawn.shape == (20_000, 2)
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    for column in drawn.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-6
        assert stats.kstest(column**1.1, "uniform").pvalue < 1e-6  # the test has the power to fail
