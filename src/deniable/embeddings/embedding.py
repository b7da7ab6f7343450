"""An embedding: the public words, their vectors, the vector of the unknown word ⊥, and a fingerprint of it
all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Ids, Vectors
from deniable.embeddings.content import (
    Intake,
    bad_vector,
    content_fingerprint,
    files_state,
    is_cased,
    mean_vector,
    shadowed_rows,
)
from deniable.errors import MalformedEmbedding
from deniable.parameters import LONGEST_VECTOR, first_unusable
from deniable.report.wording import words
from deniable.words.languages import LanguageRules, find_language_rules

if TYPE_CHECKING:
    from deniable.embeddings.linear_map import LinearMap
    from deniable.embeddings.subwords import Subwords
    from deniable.words.never_release import NeverRelease

_looked_at: dict[object, str] = {}
"""The fingerprints computed in this process, by the state of the files they were computed from."""


class Embedding:
    """Words with one float32 vector each, plus the unknown word ⊥.

    Word ``i`` has the id ``i``. The id ``len(embedding)`` (``unknown_id``) stands for ⊥: every word that is
    not in the vocabulary. ⊥ can be an input, never an output. Its vector is the embedding's own ``<unk>``
    vector if there is one, else the mean of all vectors.

    The embedding is public: it must not be made from the text that is to be protected.
    """

    unknown_origin: str = "given"
    """Where the vector of ⊥ comes from: "own" <unk>, "mean", "given", or in words."""
    subwords: Subwords | None = None
    protection: Ids | None = None
    """The public map of exposed words, one id per word and ⊥ (see ``protected``)."""
    linear_map: LinearMap | None = None
    """How the vectors were made from those of another embedding."""
    left_out: LeftOut | None = None
    """Which words are never released, and were taken out of the vocabulary."""
    folder: Path | None = None
    state: object = None
    """Which files were read: see ``files_state``."""
    as_stored: dict[int, str] | None = None
    """The spelling in the files, by id, of words that are spelled otherwise here."""

    def __init__(
        self,
        words: Sequence[str],
        vectors: ArrayLike,
        *,
        unknown: ArrayLike | None = None,
        name: str = "unnamed",
    ) -> None:
        """Check and hold an embedding given as words and a (words, dimension) array, which is copied.

        :raises MalformedEmbedding: if words and vectors do not match in number, a vector is not finite or
            absurdly long, a word is empty, is repeated, holds a control character or half a character, or
            there is nothing at all.
        """
        matrix = _copy(vectors)
        intake = Intake(name)
        kept = intake.check(list(words), matrix)
        if intake.unprintable:
            shown = ", ".join(repr(word[:50]) for word in intake.unprintable[:5])
            more = ", …" if len(intake.unprintable) > 5 else ""
            problem = "of its words hold spaces, control characters or marks of direction"
            problem = f"{len(intake.unprintable):,} {problem} ({shown}{more}); leave them out"
            raise MalformedEmbedding(name, problem)
        intake.check_total()
        if len(kept) < len(matrix):
            matrix = matrix[kept]
        if unknown is None:
            self.unknown_origin = "mean" if intake.unknown is None else "own"
            unknown = mean_vector(matrix) if intake.unknown is None else intake.unknown
        vector = _copy(unknown)
        if vector.shape != matrix.shape[1:] or first_unusable(vector[np.newaxis]) is not None:
            size = f"{matrix.shape[1]} finite numbers and no longer than {LONGEST_VECTOR:g}"
            raise MalformedEmbedding(name, f"the unknown-word vector must be {size}")
        self._hold(intake.words, matrix, vector, name)

    @classmethod
    def from_checked(
        cls, words: Sequence[str], vectors: Vectors, unknown: Vectors, *, name: str, **noted: Any
    ) -> Embedding:
        """Hold an embedding that was checked when it was stored, copying nothing.

        ``noted`` are attributes as they were noted then. The fingerprint, the case and the words that share a
        vector are computed from the content where they are not given.
        """
        if wrong := [name for name in noted if not hasattr(cls, name)]:
            raise TypeError(f"an embedding has no {', '.join(wrong)}")
        embedding = cls.__new__(cls)
        embedding._hold(words, vectors, unknown, name, checked=noted.get("folder") is None)
        embedding.__dict__.update({key: value for key, value in noted.items() if value is not None})
        return embedding

    @classmethod
    def open(cls, name: str | Path = "default") -> Embedding:
        """Open the embedded default, an installed embedding by its name, or a stored embedding's folder by
        its path.

        A string with a slash in it is a path. Opening reads the words; vectors stay on disk until they are
        used. The fingerprint of a folder outside the store is computed again, which reads everything: its
        content may be another one than it states.

        :raises EmbeddingNotFound: if there is no such name or folder.
        :raises InvalidParameter: if it is a file, which has to be added first, or no valid name.
        :raises MalformedEmbedding: if the stored copy is damaged.
        """
        from deniable.embeddings.places import read_content

        embedding = cls.from_checked(**read_content(name))
        if embedding.is_received:
            embedding.check_content()
        return embedding

    def _hold(
        self, words: Sequence[str], vectors: Vectors, unknown: Vectors, name: str, *, checked: bool = True
    ) -> None:
        # Not writeable: the fingerprint and the search are computed once and must stay true.
        self.words, self._vectors, self.unknown = words, _read_only(vectors), _read_only(unknown)
        self.name = name
        if checked:
            self.__dict__["vectors"] = self._vectors

    def __len__(self) -> int:
        """Return the number of words, ⊥ not counted."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Return whether the vocabulary has this word, exactly as it is spelled."""
        return word in self.index

    def __iter__(self) -> Iterator[str]:
        """Return the words, in their order."""
        return iter(self.words)

    def __getitem__(self, word: str) -> Vectors:
        """Return the vector of a word, as a new array.

        :raises KeyError: if the vocabulary does not have it; its message does not name the word.
        """
        if word not in self:
            raise KeyError("not a word of the vocabulary")
        return self.rows(self.ids([word])).reshape(-1)

    def __repr__(self) -> str:
        """Return name and size; never content."""
        return f"<Embedding {self.name!r}: {len(self):,} words x {self.dimension} dimensions>"

    @property
    def dimension(self) -> int:
        """The number of coordinates of a vector."""
        return int(self._vectors.shape[1])

    @cached_property
    def vectors(self) -> Vectors:
        """One float32 vector a word. Those of a stored embedding are checked when they are first asked for.

        :raises MalformedEmbedding: if one is not finite or absurdly long.
        """
        if (bad := bad_vector(self.words, self._vectors)) is not None:
            problem = (
                f"word {bad[0] + 1:,}: {bad[1]}: the stored copy is damaged; remove the embedding and "
                "add it again"
            )
            raise MalformedEmbedding(self.folder or self.name, problem)
        return self._vectors

    @property
    def is_received(self) -> bool:
        """Whether it lies in a folder outside the user's store.

        Somebody else may have made such a folder. Nothing is written there, and what it says of itself is
        checked.
        """
        from deniable.embeddings.places import store_folder

        return self.folder is not None and self.folder.resolve().parent != store_folder().resolve()

    def work_folder(self, kind: str) -> Path:
        """Return where to keep what is computed for it: beside it in the user's store, else in the user's
        cache folder."""
        from deniable.embeddings.places import cache_folder

        if self.folder is not None and not self.is_received:
            return self.folder / kind
        return cache_folder() / kind / self.fingerprint

    @property
    def unknown_id(self) -> int:
        """The id that stands for ⊥ as an input."""
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of every word."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def cased(self) -> bool:
        """Whether the vocabulary tells upper case from lower case."""
        return is_cased(self.words)

    @cached_property
    def language_rules(self) -> LanguageRules | None:
        """What its words ask of the cutter beyond the plain rules: a function of the words alone; mostly
        nothing, None."""
        if self.left_out is not None:
            return self.left_out.language_rules()
        return find_language_rules(self.words, self.index, cased=self.cased)

    @property
    def cut_by(self) -> Embedding:
        """The embedding that text is cut by: itself, or the whole one if words that are never released were
        taken out of it."""
        return self if self.left_out is None else self.left_out.source

    def cut_plainly(self) -> None:
        """Have text cut by the plain rules whatever the words ask for: to read what was released before there
        were others."""
        self.__dict__["language_rules"] = None
        if self.left_out is not None:
            self.left_out.source.cut_plainly()

    @cached_property
    def shadowed(self) -> Ids:
        """Ids of words that share their vector with an earlier word: these can never be an output."""
        return shadowed_rows(self.vectors)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of words, vectors, ⊥ and subwords: two embeddings with one fingerprint release alike."""
        return self.compute_fingerprint()

    def check_content(self) -> None:
        """Check that the content has the fingerprint that was noted when it was stored.

        A fingerprint that was only noted can be noted by anybody. A keyed release draws its noise from it:
        other vectors under the same fingerprint would be released with the same noise, and the difference of
        two releases would show the words. So this reads everything (0.1 s for 400,000 words of 50
        dimensions), once a process and state of the files. What is in memory has no noted fingerprint, and
        the default's comes with the package, like its code.

        :raises MalformedEmbedding: if it has another one.
        """
        if self.folder is None:
            return
        # Of files that were exchanged since they were opened, the old ones may be in use still: what is known
        # of the new ones says nothing.
        unchanged = files_state(self.folder) == self.state
        computed = _looked_at.get(self.state) if unchanged else None
        if computed is None:
            computed = self.compute_fingerprint()
            if unchanged and files_state(self.folder) == self.state:
                _looked_at[self.state] = computed
        if computed != self.fingerprint:
            problem = (
                f"its content has the fingerprint {computed}, not {self.fingerprint}: it was changed after "
                "it was stored, and its noise would repeat that of another embedding; remove it and add it "
                "again from its source"
            )
            raise MalformedEmbedding(self.folder, problem)

    @property
    def words_as_stored(self) -> Sequence[str]:
        """The words as they are spelled in the files, which the fingerprint is computed from."""
        if not self.as_stored:
            return self.words
        return [self.as_stored.get(place, word) for place, word in enumerate(self.words)]

    def compute_fingerprint(self) -> str:
        """Return the fingerprint of the content, whatever was noted."""
        return content_fingerprint(
            self.words_as_stored, self.vectors, self.unknown, self.subwords, self.protection
        )

    def ids(self, words: Iterable[str]) -> Ids:
        """Return the id of each word exactly as it is spelled; ``unknown_id`` where it is not in the
        vocabulary."""
        index, unknown = self.index, self.unknown_id
        return np.fromiter((index.get(word, unknown) for word in words), dtype=np.int64)

    @cached_property
    def protected(self) -> Ids:
        """Ids of the words that go into a mechanism as another word, or as ⊥: a public map, part of the
        fingerprint."""
        if self.protection is None:
            return np.array([], dtype=np.int64)
        return np.flatnonzero(self.protection != np.arange(len(self) + 1))

    def stands_in(self, ids: Ids) -> Ids:
        """Return the ids that go into a mechanism in place of these: themselves, unless they are
        protected."""
        return ids if self.protection is None else self.protection[ids]

    def rows(self, ids: Ids) -> Vectors:
        """Return the vectors of the ids, ⊥ included, as a new array.

        :raises IndexError: if an id is negative or larger than ``unknown_id``.
        """
        if ids.size and (ids.min() < 0 or ids.max() > self.unknown_id):
            raise IndexError(f"word ids must be from 0 to {self.unknown_id}")
        unknown = ids == self.unknown_id
        rows = np.asarray(self.vectors[np.where(unknown, 0, ids)], dtype=np.float32)
        rows[unknown] = self.unknown
        return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What was left out of an embedding: the list, the embedding that it was left out of, and which words of
    it stayed, by their ids."""

    listed: NeverRelease = field(repr=False)
    source: Embedding
    kept: Ids = field(repr=False)

    @property
    def count(self) -> int:
        """How many words of the vocabulary were left out."""
        return len(self.source) - len(self.kept)

    @property
    def words(self) -> list[str]:
        """The words of the vocabulary that were left out, in its order."""
        kept = np.zeros(len(self.source), dtype=bool)
        kept[self.kept] = True
        return [self.source.words[place] for place in np.flatnonzero(~kept).tolist()]

    @cached_property
    def words_of_no_list(self) -> tuple[str, ...]:
        """Those among them that no built-in list names, sorted: anybody who has the package needs to be told
        of no others."""
        if not self.listed.words:
            return ()
        built_in = replace(self.listed, words=frozenset())
        return tuple(sorted(word for word in self.words if not built_in.holds(word)))

    def language_rules(self) -> LanguageRules | None:
        """Return the rules of the whole vocabulary, by which text is cut; a spelling that is listed means no
        word that is left."""
        rules = self.source.language_rules
        if rules is None:
            return None
        places = dict(zip(self.kept.tolist(), range(len(self.kept)), strict=True))
        spellings = {
            spelling: places[word]
            for spelling, word in rules.spellings.items()
            if word in places and not self.listed.holds(spelling)
        }
        return replace(rules, spellings=spellings)

    def in_words(self) -> str:
        """Return what was left out by which list, in public terms."""
        lists = "".join(f", the list {name!r} among them" for name in self.listed.called)
        return (
            f"{self.count:,} of the {len(self.source):,} words of the vocabulary, by a public list of "
            f"{words(len(self.listed))}{lists}"
        )


def _copy(values: ArrayLike) -> Vectors:
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused with its word
        return np.array(values, dtype=np.float32, order="C")


def _read_only(array: Vectors) -> Vectors:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
