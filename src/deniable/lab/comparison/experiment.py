"""The comparison itself: every mechanism in every embedding, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.lab.comparison.knowledge import WordKinds, make_word_kinds, read_context
from deniable.lab.comparison.matching import TOLERANCE
from deniable.lab.comparison.measurements import SavedMeasurements
from deniable.lab.comparison.probe import SampleCounts
from deniable.lab.comparison.results import ComparisonResult, Row, SpaceCounts
from deniable.lab.comparison.settings import ATTACKERS, TARGETS, ComparisonSettings
from deniable.lab.comparison.space import Comparison, name_of
from deniable.lab.comparison.texts import TextCounts, cut_texts, split_texts
from deniable.mechanisms.catalogue import CATALOGUE, ChosenMechanism
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.records.reading import LabelledTexts
from deniable.utility.classifiers import sklearn
from deniable.version import __version__


def compare_mechanisms(
    data: LabelledTexts,
    embedding: Embedding | Sequence[Embedding],
    mechanisms: Sequence[ChosenMechanism] | None = None,
    *,
    settings: ComparisonSettings | None = None,
    train: int | None = None,
    test: int | None = None,
    longest: int | None = None,
    keep: Path | None = None,
    channel_report: Report | None = None,
    report: Report | None = None,
) -> ComparisonResult:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text
    is released and used.

    Without ``mechanisms``, all that need no option take part. A classifier learns from ``train`` texts drawn
    at random (half of them by default) and is tested on ``test`` others (all the rest by default), of at most
    ``longest`` words each. Measured numbers are saved in the folder ``keep``, if one is given: the same call
    goes on from there after it was stopped.

    With several embeddings every mechanism takes part in each of them. Unless ``settings`` say otherwise they
    are brought to an equal attacker over all words of the text (``audit.named``): what a word of it is
    does not depend on the embedding, nor does how many are judged. An attacker in context reads
    ``settings.public``, without documents that are among these texts. Kinds of words are those of the first
    embedding.

    What a receiver gets is measured too, unless ``settings.decoding`` is None: released text on both sides or
    at test time only, as it stands and decoded. ``channel_report`` hears how much of a channel is made for
    that, ``report`` how many rows are there.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if the public text cannot be read.
    :raises UnusableAuditData: if there are too few texts, the texts to learn from have one label only, or the
        public text says nothing.
    :raises MissingExtra: if scikit-learn is not installed.
    """
    sklearn("linear_model", "comparing mechanisms")
    embeddings = [embedding] if isinstance(embedding, Embedding) else list(embedding)
    names = [each.name for each in embeddings]
    if not embeddings or len(set(names)) < len(names):
        raise InvalidParameter(
            "embedding",
            ", ".join(names) or "none",
            "give one or more embeddings, each with a name of its own",
        )
    if settings is None:
        settings = ComparisonSettings(targets=TARGETS if len(embeddings) == 1 else ATTACKERS)
    for count, name in ((train, "train"), (test, "test"), (longest, "longest")):
        if count is not None:
            validated_count(count, name)
    taking_part, left_out = comparable_mechanisms() if mechanisms is None else (list(mechanisms), {})
    for space, mechanism in product(embeddings, taking_part):
        mechanism(space, epsilon=1.0)  # a wrong option is found before the work begins
    parts, saved = split_texts(data, train=train, test=test, seed=settings.seed), SavedMeasurements(keep)
    rows: list[Row] = []
    spaces: list[SpaceCounts] = []
    first: Comparison | None = None
    kinds: WordKinds | None = None
    for space in embeddings:
        learn, tested = (cut_texts(part, space, longest=longest) for part in parts)
        if kinds is None and any(target.reading == "kinds" for target in settings.targets):
            kinds = make_word_kinds(space, np.concatenate([learn.ids, tested.ids]))
        public = None if settings.public is None else read_context(space, settings.public, data.texts)
        comparison = Comparison(
            space,
            learn,
            tested,
            settings,
            public=public,
            kinds=kinds,
            saved=saved,
            channel_report=channel_report,
        )
        first = first or comparison
        spaces.append(comparison.counts())
        for row in chain.from_iterable(map(comparison.rows, taking_part)):
            rows.append(row if len(embeddings) == 1 else replace(row, embedding=space.name))
            if report is not None:
                report(len(rows), len(embeddings) * len(taking_part) * len(settings.targets))
    assert first is not None  # noqa: S101 - there is an embedding
    learn, tested, probe = first.learn, first.test, first.probe
    return ComparisonResult(
        version=__version__,
        embedding=spaces[0].embedding,
        seed=settings.seed,
        runs=settings.runs,
        tolerance=dict(TOLERANCE),
        targets=settings.targets,
        mechanisms=tuple(name_of(mechanism) for mechanism in taking_part),
        texts=TextCounts(learn=len(learn.labels), test=len(tested.labels), words=len(learn.ids)),
        sample=SampleCounts(words=settings.words, distinct=len(probe.ids), guess=float(probe.shares.max())),
        original=spaces[0].original,
        guess=tested.labels.count(Counter(learn.labels).most_common(1)[0][0]) / len(tested.labels),
        left_out=left_out,
        rows=tuple(rows),
        decoding=settings.decoding,
        spaces=tuple(spaces),
        public=None if first.public is None else first.public.summary,
        kinds="" if kinds is None else kinds.kinds.in_words(),
    )


def comparable_mechanisms() -> tuple[list[ChosenMechanism], dict[str, str]]:
    """Return every mechanism that needs no option, and those left out with the reason."""
    left_out = {
        name: f"which needs an option: --mechanism {name}:{option.name}=…"
        for name, entry in CATALOGUE.items()
        for option in entry.options
        if option.default is None
    }
    return [ChosenMechanism(name=name) for name in CATALOGUE if name not in left_out], left_out
