"""What the operator of a service fixes: a TOML file with typed values, checked before anything is opened.

A client can ask for less than these settings allow, never for more.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
import platformdirs

from deniable.atomic import open_to_others, read_plain_file
from deniable.embeddings import places
from deniable.errors import InvalidParameter
from deniable.parameters import STARTING_EPSILON, validated_epsilon
from deniable.release.policies import POLICIES, CasePolicy, PunctuationPolicy, UnknownPolicy
from deniable.release.release import Release
from deniable.words.never_release import BUILT_IN, NeverRelease
from deniable.words.public_text import read_word_list

_SHORTEST_TOKEN = 32
_LONGEST_TOKEN_FILE = 4_096
_LONGEST_SETTINGS = 1 << 20

Count = Annotated[int, msgspec.Meta(ge=1)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
Processes = Annotated[int, msgspec.Meta(ge=1, le=256)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=3_600)]
Minutes = Annotated[float, msgspec.Meta(gt=0, le=5_256_000)]  # ten years


class Server(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the service listens, and who may speak to it. ``hosts`` are the names that it is called by, where
    it is not on loopback."""

    host: str = "127.0.0.1"
    port: Port = 8000
    workers: Processes = 1
    token_file: str | None = None
    certificate: str | None = None
    private_key: str | None = None
    hosts: tuple[str, ...] = ()

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class Allowed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How text may be released. The first embedding and mechanism are used where a request names none.

    ``epsilon`` is used where a request names none, and ``max_epsilon`` is the most that any word gets.
    ``record_epsilon`` is the most that any text gets, if it is set. A policy that is set holds for everybody;
    one that is not set is the client's choice, and the default of a release may always be asked for, since it
    discloses least. ``options`` are those of mechanisms, by their names. Clients
    may send words that are released as they are only with ``client_keep_words``; any part of the operator's
    list they may always send. ``never_release`` names lists of words that never come out, whatever a client
    asks for: "names", or files; clients may add words.
    """

    embeddings: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = places.BUILT_IN
    mechanisms: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("multivariate",)
    options: dict[str, dict[str, float | int | str | list[str]]] = {}
    epsilon: Positive = STARTING_EPSILON
    max_epsilon: Positive = 10.0
    record_epsilon: Positive | None = None
    unknown: UnknownPolicy | None = None
    punctuation: PunctuationPolicy | None = None
    case: CasePolicy | None = None
    keep_words: str | None = None
    client_keep_words: bool = False
    never_release: tuple[str, ...] = ("names",)
    key_file: str | None = None
    consistent: bool = False


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much may be asked for: at once, in one request, and for how long. ``seconds`` also bounds a pause
    in a stream.

    ``jobs`` is how many may wait or be worked on, and ``job_seconds`` how long the work on one may take.
    ``kept_jobs`` counts those that have ended as well, and ``kept_bytes`` is what all of them may take on the
    disk, with three times the size of every input to come.
    """

    request_bytes: Count = 1 << 20
    texts: Count = 1_000
    requests: Count = 256
    seconds: Seconds = 30.0
    file_bytes: Count = 4 << 30
    jobs: Count = 20
    job_seconds: Positive = 86_400.0
    kept_jobs: Count = 1_000
    kept_bytes: Count = 64 << 30


class Jobs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where files are released, and how long after its end a job is deleted with all that belongs to it."""

    folder: str | None = None
    keep_minutes: Minutes = 60.0


class Prompts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of messages to a language model.

    ``upstream`` is the address of an OpenAI-compatible API, such as "https://api.example/v1", and
    ``upstream_key_file`` holds its key; an answer may take ``upstream_seconds``. ``other_content`` says what
    becomes of all that is not the text of a message: images, files, tool calls, unknown fields. Messages of
    ``plain_roles`` are released as they are, but for identifiers. ``identifiers`` says how names, numbers and
    addresses are found that get reversible stand-ins; without it they are drawn like all other words.
    """

    upstream: str | None = None
    upstream_key_file: str | None = None
    upstream_seconds: Seconds = 300.0
    other_content: Literal["refuse", "pass"] = "refuse"
    plain_roles: tuple[Literal["system", "developer", "assistant", "tool"], ...] = ()
    identifiers: Literal["shape", "presidio"] | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a service."""

    server: Server = Server()
    release: Allowed = Allowed()
    limits: Limits = Limits()
    jobs: Jobs = Jobs()
    prompts: Prompts = Prompts()

    @property
    def jobs_folder(self) -> Path:
        """The folder of all jobs."""
        if self.jobs.folder is not None:
            return Path(self.jobs.folder)
        home = os.environ.get("DENIABLE_HOME")
        return (Path(home) if home else platformdirs.user_data_path("deniable")) / "jobs"

    def kept_words(self) -> frozenset[str] | None:
        """Return the words that are released as they are; None if that is the client's choice."""
        listed = self.release.keep_words
        return None if listed is None else frozenset(read_word_list(listed, name="keep_words"))

    def never_released(self) -> NeverRelease:
        """Return the words that never come out."""
        return NeverRelease.read(self.release.never_release)

    def token(self) -> str | None:
        """Return the token that clients must send; None if there is none."""
        return _read_secret("token_file", self.server.token_file, shortest=_SHORTEST_TOKEN)

    def upstream_key(self) -> str | None:
        """Return the key of the API that prompts go to; None if it needs none."""
        return _read_secret("upstream_key_file", self.prompts.upstream_key_file, shortest=1)


def _read_secret(name: str, file: str | None, *, shortest: int) -> str | None:
    if file is None:
        return None
    path = Path(file)
    try:
        with path.open("rb") as opened:
            about = os.fstat(opened.fileno())
            content = opened.read(_LONGEST_TOKEN_FILE)
    except OSError as error:
        raise InvalidParameter(name, str(path), f"cannot be read: {error.strerror}") from None
    problem = ""
    if open_to_others(about):
        problem = f"others than its owner have access to it (mode {about.st_mode & 0o777:04o}): chmod 600"
    lines = content.split()
    if len(lines) != 1 or len(lines[0]) < shortest or not re.fullmatch(rb"[!-~]+", lines[0]):
        line = f"one line of at least {shortest} letters, digits and signs"
        advice = "; make one: openssl rand -hex 32" if name == "token_file" else ""
        problem = problem or f"must hold {line}{advice}"
    if problem:
        raise InvalidParameter(name, str(path), problem)
    return lines[0].decode("ascii")


def _unreadable(path: Path, problem: str) -> InvalidParameter:
    return InvalidParameter("settings", str(path), f"cannot be read: {problem}")


def read_settings(path: Path | None, **server: Any) -> Settings:
    """Return the settings of a file, or the defaults; ``host``, ``port`` and ``workers`` take the place of
    what the file says.

    Paths in the file are relative to its folder.
    """
    content: dict[str, Any] = {}
    if path is not None:
        what = "file of settings"
        try:
            written = read_plain_file(
                path, longest=_LONGEST_SETTINGS, what=what, error=_unreadable, pipe=True
            )
            content = tomllib.loads(written.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidParameter("settings", str(path), f"is not TOML: {error}") from None
    if isinstance(content.setdefault("server", {}), dict):
        content["server"] |= {name: value for name, value in server.items() if value is not None}
    try:
        settings = msgspec.convert(content, Settings, strict=True)
    except msgspec.ValidationError as error:
        where = "the options" if path is None else str(path)
        raise InvalidParameter("settings", where, _in_words(str(error))) from None
    if path is not None:
        settings = _with_whole_paths(settings, path.absolute().parent)
    check_settings(settings)
    return settings


def check_settings(settings: Settings) -> None:
    """Check that the settings go together."""
    server, release = settings.server, settings.release
    for name in ("epsilon", "max_epsilon", "record_epsilon"):
        if getattr(release, name) is not None:
            validated_epsilon(getattr(release, name), f"release.{name}")
    if release.epsilon > release.max_epsilon:
        problem = f"is more than max_epsilon, {release.max_epsilon:g}"
        raise InvalidParameter("release.epsilon", release.epsilon, problem)
    if unused := set(release.options) - set(release.mechanisms):
        problem = "these mechanisms are not allowed; name them under mechanisms"
        raise InvalidParameter("release.options", sorted(unused), problem)
    if release.client_keep_words and release.keep_words is not None:
        problem = "does not go with keep_words, which sets the list"
        raise InvalidParameter("release.client_keep_words", True, problem)
    if release.consistent and release.record_epsilon is not None:
        problem = "does not go with a consistent key"
        raise InvalidParameter("release.record_epsilon", release.record_epsilon, problem)
    if (server.certificate is None) != (server.private_key is None):
        problem = "needs a private_key, and the other way round"
        raise InvalidParameter("server.certificate", server.certificate, problem)
    if not server.on_loopback and server.token_file is None:
        problem = "can be reached from other machines, so it needs a token: name its file as token_file"
        raise InvalidParameter("server.host", server.host, problem)
    settings.token()
    _check_prompts(settings)
    fixed = {name: getattr(release, name) for name in POLICIES} | {"keep_words": settings.kept_words()}
    for mechanism in release.mechanisms:
        Release(
            epsilon=release.epsilon,
            embedding=release.embeddings[0],
            mechanism=mechanism,
            mechanism_options=release.options.get(mechanism),
            key_file=release.key_file,
            consistent=release.consistent,
            never_release=settings.never_released(),
            **{name: value for name, value in fixed.items() if value is not None},
        )


def _check_prompts(settings: Settings) -> None:
    prompts = settings.prompts
    settings.upstream_key()
    if prompts.upstream is not None:
        address = urlsplit(prompts.upstream)
        if address.scheme not in ("https", "http") or not address.hostname or address.username:
            problem = "must be an address such as https://api.example/v1, without a name or password"
            raise InvalidParameter("prompts.upstream", prompts.upstream, problem)
        inside = Server(host=address.hostname).on_loopback
        if prompts.upstream_key_file is not None and address.scheme == "http" and not inside:
            raise InvalidParameter("prompts.upstream", prompts.upstream, "gets a key, so it must be https")
    if prompts.identifiers is not None and settings.release.record_epsilon is not None:
        problem = "does not go with record_epsilon: each piece between identifiers would spend it"
        raise InvalidParameter("prompts.identifiers", prompts.identifiers, problem)
    if prompts.identifiers is not None and settings.server.workers > 1:
        problem = "needs workers = 1: the process that gets an answer must know the stand-ins in it"
        raise InvalidParameter("prompts.identifiers", prompts.identifiers, problem)


def _in_words(problem: str) -> str:
    """Return msgspec's message with the place first, as a person would write it: ``release.epsilon: Expected
    `float`, got `str```."""
    said, _, place = problem.partition(" - at `$.")
    place = place.removesuffix("`")
    return f"{place}: {said}" if place else said.removesuffix(" - at `$`")


def _with_whole_paths(settings: Settings, folder: Path) -> Settings:
    def whole(part: Any, *names: str) -> Any:
        paths = {name: value for name in names if (value := getattr(part, name)) is not None}
        return msgspec.structs.replace(part, **{name: str(folder / path) for name, path in paths.items()})

    release = whole(settings.release, "keep_words", "key_file")
    lists = [name if name in BUILT_IN else str(folder / name) for name in release.never_release]
    return msgspec.structs.replace(
        settings,
        server=whole(settings.server, "token_file", "certificate", "private_key"),
        release=msgspec.structs.replace(release, never_release=tuple(lists)),
        jobs=whole(settings.jobs, "folder"),
        prompts=whole(settings.prompts, "upstream_key_file"),
    )
