"""How text is to be released, as plain values: what the command line and every integration build, with the
same checks.

A ``Privatizer`` holds a prepared search and a source of noise, and cannot be pickled. A release holds
neither, so it can be pickled, compared and hashed; each process makes a privatizer of its own from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.embeddings.derived import leave_out
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, KeyFileError, MalformedEmbedding
from deniable.interfaces import Mechanism, Randomness
from deniable.mechanisms.catalogue import CATALOGUE, ChosenMechanism, checked_options, entry_of
from deniable.noise import Keyed
from deniable.parameters import validated_epsilon
from deniable.release.policies import Drafter, TextPolicy
from deniable.release.privatizer import Privatizer
from deniable.report.wording import most_words, percent
from deniable.words.never_release import GivenList, NeverRelease

if TYPE_CHECKING:
    from deniable.release.note import Note

_HARDLY_ANY = 0.005
"""If the median word is released unchanged less often than this, hardly anything of the meaning is left."""

Options = tuple[tuple[str, Any], ...]
"""Options of a mechanism as plain values, sorted by name."""


@dataclass(frozen=True, kw_only=True)
class Release(TextPolicy):
    """How text is to be released, checked when it is put together.

    >>> from deniable import Release
    >>> released = Release(epsilon=6, unknown="redact").make()("my doctor said so")

    No word gets more than ``epsilon`` and no text more than ``record_epsilon``, of which one may be left out.
    ``embedding`` is a name, or the path of a stored embedding's folder. ``mechanism`` is a name of the
    catalogue (``deniable mechanisms`` lists them) with ``mechanism_options`` such as ``{"t": 0.5}``; or a
    mechanism of your own, as what makes it from an embedding and ``epsilon=``: a class, or a function of a
    module, so that other processes find it by its name. ``key_file`` is a path: each process opens the file
    itself, and the key never travels. ``never_release`` is a public list of words that never come out:
    ``"names"``, the path of a file, or words (see ``NeverRelease.of``); they are taken out of the vocabulary.

    ``purpose`` names a built-in space in place of an ``embedding``: "sentiment" keeps praise and blame,
    "topic" what news is about, and little else; "general" is the default embedding. ε does not compare
    between spaces: give ``risk``.

    ``risk`` gives ``epsilon`` in place of a number: "low", "medium", "high" (8, 17 and 33 %), or the share of
    words that a reader of single released words may name at most in English text
    (``deniable.measures.risk``). ε is then found by public counts alone; for any but the built-in embeddings
    that takes seconds.

    ``fingerprint`` and ``key`` are names of the embedding's content and of the key, for ``pin``: no others
    will be used.
    """

    epsilon: float | None = None
    risk: str | float | None = None
    record_epsilon: float | None = None
    embedding: str | Path = "default"
    purpose: str | None = None
    fingerprint: str | None = None
    mechanism: str | Callable[..., Mechanism] = "multivariate"
    mechanism_options: Mapping[str, object] | Options | None = ()
    never_release: GivenList = None
    key_file: str | Path | None = None
    consistent: bool = False
    key: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is None and self.record_epsilon is None and self.risk is None:
            raise InvalidParameter(
                "epsilon",
                None,
                "give epsilon or risk (per word: low, medium, high or a share), or record_epsilon (per text)",
            )
        for name in ("epsilon", "record_epsilon"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, validated_epsilon(getattr(self, name), name))
        if self.purpose is not None:
            from deniable.embeddings.places import space_of  # loads what a release by name does not need

            object.__setattr__(self, "embedding", space_of(self.purpose, self.embedding))
        if self.never_release is not None:
            object.__setattr__(self, "never_release", NeverRelease.of(self.never_release) or None)
        if self.consistent and self.key_file is None:
            raise InvalidParameter("consistent", True, "means something only with a key_file")
        object.__setattr__(self, "mechanism", _mechanism_by_name(self.mechanism))
        object.__setattr__(
            self, "mechanism_options", _plain_options(self.mechanism, dict(self.mechanism_options or ()))
        )
        if self.risk is not None:
            self._resolve_risk()

    def __repr__(self) -> str:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        plain = {each.name: each.default for each in fields(self)} | {"keep_words": frozenset()}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items() if value != plain[name])
        return f"Release({shown})"

    def _resolve_risk(self) -> None:
        """Replace the level of risk by the ε that it gives."""
        from deniable.measures.risk import epsilon_of_risk, share_of

        share_of(self.risk)
        if not isinstance(self.mechanism, str):
            raise InvalidParameter(
                "risk", self.risk, "is known for mechanisms of `deniable mechanisms` only: give epsilon"
            )
        embedding = self.open_embedding()
        kept = Drafter(embedding, self).kept_words if self.keep_words else ()
        revealed = embedding.ids(sorted(kept))
        if self.unknown in ("redact", "drop"):
            revealed = np.append(revealed, embedding.unknown_id)
        made = ChosenMechanism(name=self.mechanism, options=dict(self.mechanism_options or ()))
        epsilon = epsilon_of_risk(made, embedding, self.risk, revealed=revealed)
        if self.epsilon not in (None, epsilon):
            raise InvalidParameter("risk", self.risk, f"gives epsilon = {epsilon:g}: give one of the two")
        object.__setattr__(self, "epsilon", epsilon)

    def pin(self) -> Release:
        """Return the release for the embedding and the key that their names stand for here, with absolute
        paths.

        :raises EmbeddingNotFound: if the embedding is not installed here.
        :raises KeyFileError: if the key file cannot be read.
        """
        embedding, key = Embedding.open(self.embedding), self._keyed()
        return replace(
            self,
            embedding=self.embedding if embedding.folder is None else embedding.folder,
            # of the whole one: the list, which travels with the release, makes the smaller one of it
            fingerprint=embedding.fingerprint,
            key_file=None if self.key_file is None else Path(self.key_file).absolute(),
            key=None if key is None else key.fingerprint,
        )

    def make(
        self, *, embedding: Embedding | None = None, randomness: Randomness | Keyed | None = None
    ) -> Privatizer:
        """Return a new privatizer.

        ``embedding`` is the release's own, where it is open already, with or without the words of
        ``never_release``. ``randomness`` replaces fresh noise.

        :raises InvalidParameter: if the settings do not go together.
        :raises EmbeddingNotFound: if the embedding is not installed here.
        :raises MalformedEmbedding: if it is another one than the fingerprint says.
        :raises KeyFileError: if the key file cannot be read, or holds another key than the release says.
        """
        key = self._keyed()
        if key is not None and self.key not in (None, key.fingerprint):
            raise KeyFileError(str(self.key_file), "holds another key here than where the work began")
        if key is not None and randomness is not None:
            raise InvalidParameter(
                "randomness", type(randomness).__name__, "with a key_file the noise comes from the key"
            )
        embedding = self.open_embedding(embedding)
        whole = embedding.fingerprint if embedding.left_out is None else embedding.left_out.source.fingerprint
        if self.fingerprint not in (None, whole):
            problem = (
                f"is another embedding here (fingerprint {whole[:12]}) than where the work began "
                f"({self.fingerprint[:12]})"
            )
            raise MalformedEmbedding(self.embedding, problem)
        return Privatizer(
            self.make_mechanism(embedding),
            record_epsilon=self.record_epsilon,
            risk=self.risk,
            randomness=randomness if key is None else key,
            keep_words=self.keep_words,
            **self.choices,
        )

    def open_embedding(self, opened: Embedding | None = None) -> Embedding:
        """Return the embedding without the words that are never released; ``opened`` is the named one, if
        open already."""
        embedding = Embedding.open(self.embedding) if opened is None else opened
        return (
            embedding
            if self.never_release is None
            else leave_out(embedding, NeverRelease.of(self.never_release))
        )

    def make_mechanism(self, embedding: Embedding) -> Mechanism:
        """Return the mechanism over an embedding. A word gets at most what a text gets."""
        made_by = entry_of(self.mechanism).make if isinstance(self.mechanism, str) else self.mechanism
        epsilon = self.record_epsilon if self.epsilon is None else self.epsilon
        return made_by(embedding, epsilon=epsilon, **dict(self.mechanism_options or ()))

    def describe(self) -> str:
        """Return all settings as text that is the same in every process."""
        own = self.mechanism
        mechanism = own if isinstance(own, str) else f"{own.__module__}.{own.__qualname__}"
        never = (
            {}
            if self.never_release is None
            else {"never_release": NeverRelease.of(self.never_release).digest}
        )
        # the embedding tells the purpose
        left_out = {"never_release", "purpose", *(() if self.risk is not None else ("risk",))}
        settings = {name: value for name, value in vars(self).items() if name not in left_out}
        return repr({**settings, "mechanism": mechanism, "keep_words": sorted(self.keep_words), **never})

    def shared_privatizer(self) -> Privatizer:
        """Return this process's privatizer for the release, made on first use and kept."""
        return _privatizer_of(self)

    def _keyed(self) -> Keyed | None:
        return None if self.key_file is None else Keyed.from_file(self.key_file, consistent=self.consistent)


def resolve_release(
    *,
    max_unchanged: float | None = None,
    quantile: float = 1.0,
    say: Callable[[str], object] | None = None,
    **settings: Any,
) -> Release:
    """Return the release with these settings, with ε chosen by the stored calibration if ``max_unchanged`` is
    given instead.

    It is then the largest calibrated ε at which at least a share ``quantile`` of the words is released
    unchanged in at most a share ``max_unchanged`` of draws; ``say`` gets which ε that is, and what it does to
    the text.

    :raises InvalidParameter: if a setting is not allowed, ε is given as well, or the mechanism is not
        calibrated.
    :raises TargetsNotMet: if no calibrated ε does.
    """
    if max_unchanged is None:
        release = Release(**settings)
        if release.risk is not None and say is not None:
            say(_risk_in_words(release))
        return release
    if settings.get("epsilon") is not None:
        raise InvalidParameter("max_unchanged", max_unchanged, "chooses epsilon; give one of the two")
    from deniable.release.note import note_for_target

    release = Release(**{**settings, "epsilon": 1.0})
    note = note_for_target(release.make_mechanism(release.open_embedding()), max_unchanged, quantile)
    epsilon = note.largest_epsilon(max_unchanged, quantile)
    if say is not None:
        measured = f"by the calibration of all {note.words:,} words"
        say(
            f"ε = {epsilon:g}: {measured}, N_w, how often a word stays itself, is at most {max_unchanged:g} "
            f"for {most_words(quantile)}"
        )
        if _is_forced_by_few_words(note, epsilon, max_unchanged):
            say(
                f"ε = {epsilon:g}: a few isolated words, whose N_w is large at any useful ε, force this "
                "small value, at which little of the text is left; ask for fewer words with --quantile, such "
                "as 0.95, or protect those words: deniable calibrate --protect"
            )
    return replace(release, epsilon=epsilon)


def _risk_in_words(release: Release) -> str:
    from deniable.measures.risk import share_of

    named = f"{percent(share_of(release.risk))} of the words of English text"
    return (
        f"ε = {release.epsilon:g}: a reader of single released words names at most {named}, whatever the "
        "method"
    )


def _is_forced_by_few_words(note: Note, epsilon: float, max_unchanged: float) -> bool:
    """Return whether ε destroys the text although the median word is far below the target."""
    median = next(row.unchanged.median for row in note.table if row.epsilon == epsilon)
    small = epsilon == note.table[0].epsilon or median < _HARDLY_ANY
    return bool(small and median < max_unchanged / 10)


def release_from(release: Release | None, settings: Mapping[str, Any]) -> Release:
    """Return the release that was given, or the one that the settings make."""
    if release is None:
        return Release(**settings)
    if not isinstance(release, Release):
        raise InvalidParameter(
            "release", release, "is neither a Release nor a Privatizer; give an ε by name: epsilon=6"
        )
    if settings:
        raise InvalidParameter(
            "release", "given", f"holds all settings already; leave out {', '.join(sorted(settings))}"
        )
    return release


def privatizer_from(private: Privatizer | Release | None, settings: Mapping[str, Any]) -> Privatizer:
    """Return the privatizer that was given, or this process's own for a release or for the settings of
    one."""
    if not isinstance(private, Privatizer):
        release = release_from(private, settings)
        # A key file may hold another key by now; a privatizer made for the first one must not be taken for
        # this one.
        return (release if release.key_file is None else release.pin()).shared_privatizer()
    if settings:
        raise InvalidParameter(
            "private", "a privatizer", f"has its settings already; leave out {', '.join(sorted(settings))}"
        )
    return private


@lru_cache(maxsize=8)
def _privatizer_of(release: Release) -> Privatizer:
    return release.make()


def _mechanism_by_name(mechanism: object) -> object:
    """Return a mechanism's name in the catalogue, whether given by name or class; one of the user's own
    itself."""
    if isinstance(mechanism, str):
        return entry_of(mechanism).name
    for entry in CATALOGUE.values():
        if entry.make is mechanism:
            return entry.name
    name = getattr(mechanism, "__qualname__", None)
    if (
        name is None or _find_by_name(mechanism) != mechanism
    ):  # it could not be told from another under that name either
        problem = (
            "must be a name of `deniable mechanisms`, or a class or a function of a module, not made "
            "on the spot"
        )
        raise InvalidParameter("mechanism", name or type(mechanism).__name__, problem)
    return mechanism


def _find_by_name(mechanism: object) -> object:
    """Return the object under the name of a class or function; not a method, whose object has a state of its
    own."""
    found: object = sys.modules.get(str(getattr(mechanism, "__module__", None)))
    for part in str(getattr(mechanism, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found


def _plain_options(mechanism: object, given: dict[str, object]) -> Options:
    """Return the options as values that can travel."""
    options = checked_options(entry_of(mechanism), given) if isinstance(mechanism, str) else given
    plain: dict[str, object] = {}
    for name, value in options.items():
        value = (
            tuple(sorted(value))
            if isinstance(value, set | frozenset)
            else tuple(value)
            if isinstance(value, list)
            else value
        )
        plain[name] = value
        if not all(
            isinstance(part, str | int | float) for part in (value if isinstance(value, tuple) else (value,))
        ):
            raise InvalidParameter(
                name, type(value).__name__, "must be text, a number, or a list of those: nothing else travels"
            )
    return tuple(sorted(plain.items()))
