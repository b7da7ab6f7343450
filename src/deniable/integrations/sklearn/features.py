"""Transformers of released texts into what is expected behind them: features for models, where
``CountVectorizer`` would stand.

Everything is computed from the release, its card, the public embedding and perhaps a public text. No original
text is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from deniable.arrays import Vectors
from deniable.channel.making import DIRECTIONS
from deniable.decoding.channel_decoder import LEAST_COUNT
from deniable.decoding.decoder import Decoder
from deniable.decoding.priors import SUPPORT
from deniable.integrations.sklearn.privatizer import tag_as_taking_texts, texts_of
from deniable.parameters import validated_share
from deniable.release.card import GivenCard, card_from
from deniable.words.released import texts_in

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(kw_only=True, eq=False, repr=False)
class _Decoding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What both transformers do: learn from a release how frequent words are behind it, and keep that as
    plain values.

    The parameters are held unchecked, as scikit-learn wants it; it also compares and shows transformers in
    its own way.
    """

    card: GivenCard | None = None
    embedding: str | Path | None = None
    public: str | Path | None = None
    support: int = SUPPORT
    effort: int = DIRECTIONS
    context: bool = True

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - the names scikit-learn calls by
        """Open the channel of the release, or make it, and learn from the released texts how frequent words
        are behind them.

        :raises InvalidParameter: if a parameter is not allowed, something is neither text nor missing, or the
            release cannot be decoded.
        :raises MalformedCard: if the card cannot be used, or the embedding here is another one.
        :raises NotThisRelease: if the texts were not released as the card says.
        """
        settings = {
            name: getattr(self, name) for name in ("embedding", "public", "support", "effort", "context")
        }
        self._check()
        self.decoder_ = Decoder.learn(card_from(self.card), texts_of(X), every_word=True, **settings)
        return self

    def save(self, path: str | Path) -> None:
        """Write what was learnt to one file of plain numbers, a NumPy .npz without pickle."""
        check_is_fitted(self, "decoder_")
        self.decoder_.save(path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        embedding: str | Path | None = None,
        public: str | Path | None = None,
        **parameters: Any,
    ) -> Self:
        """Return a fitted transformer from a file that ``save`` wrote, or ``Decoder.save``.

        ``embedding`` and ``public`` say where these lie, if not where they lay when it was learnt;
        ``parameters`` are for a later ``fit``.

        :raises DamagedDecoder: if the file cannot be read, or is not what was written.
        """
        decoder = Decoder.load(path).at(embedding=embedding, public=public)
        known = {
            "card": decoder.card,
            "embedding": decoder.embedding_name,
            "public": decoder.public,
            "effort": decoder.directions,
        }
        transformer = cls(**{**known, **parameters})
        transformer._check()
        transformer.decoder_ = decoder
        return transformer

    def _check(self) -> None:
        """Check the parameters that a decoder does not know."""

    def _read(self, values: Any) -> tuple[Decoder, list[str | None]]:
        """Return the decoder and the texts to transform."""
        check_is_fitted(self, "decoder_")
        texts = list(texts_in(texts_of(values)))
        self.decoder_.check(texts)
        return self.decoder_, texts

    def __sklearn_tags__(self) -> Tags:
        return tag_as_taking_texts(super().__sklearn_tags__(), tables=False)


@dataclass(kw_only=True, eq=False, repr=False)
class ExpectedCounts(_Decoding):
    """How often each word is expected in the text behind a released one: a sparse matrix, one row a text, one
    column a word.

    Stands where ``CountVectorizer`` stands. ``fit`` takes released texts and learns from them how frequent
    words are.

    ``card`` is the card of the release: its path, a ``Card``, or the data of its JSON. ``embedding`` is
    needed where the embedding has another name here. ``public`` is a public text file, one document a line:
    learning begins with its words, and with ``context`` words are read in their context. ``support`` words
    may have gone in, the most frequent ones. ``effort`` is how exactly the channel is estimated. Counts
    below ``least`` are left out.

    ``decoder_`` is the decoder that was learnt. Pickles and saved files hold it as plain values, without its
    channel.
    """

    least: float = LEAST_COUNT

    def transform(self, X: Any) -> csr_matrix:  # noqa: N803
        """Return the expected counts, float64; None and NaN become empty rows. The last column is that of
        unknown words.

        :raises InvalidParameter: if something is neither text nor missing.
        :raises NotThisRelease: if the texts hold words that no release with this card holds.
        """
        decoder, texts = self._read(X)
        return decoder.expected_counts(texts, least=self.least)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002 - scikit-learn hands it on
        """Return the words of the columns."""
        check_is_fitted(self, "decoder_")
        return np.array(self.decoder_.input_words, dtype=object)

    def _check(self) -> None:
        validated_share(self.least, "least")


class ExpectedVectors(_Decoding):
    """The mean vector that is expected of the words behind a released text: a dense float32 table, one row a
    text.

    The parameters are those of ``ExpectedCounts``, but for ``least``: small counts are summed up too.
    """

    def transform(self, X: Any) -> Vectors:  # noqa: N803
        """Return the mean vectors; zeros for None, NaN and a text without a word.

        :raises InvalidParameter: if something is neither text nor missing.
        :raises NotThisRelease: if the texts hold words that no release with this card holds.
        """
        decoder, texts = self._read(X)
        return decoder.expected_vectors(texts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002 - scikit-learn hands it on
        """Return the names of the columns: vector0, vector1, …"""
        check_is_fitted(self, "decoder_")
        return np.array([f"vector{i}" for i in range(self.decoder_.embedding.dimension)], dtype=object)
