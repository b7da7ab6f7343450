"""Tunes a space to a purpose: number of axes, strength and ε, on public texts, at an attacker of a given
success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from deniable.arrays import Ids
from deniable.atomic import make_folder
from deniable.audit.named import WAYS, Named, Way
from deniable.calibration import Targets, calibrate
from deniable.calibration.choice import evaluate
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import InvalidParameter
from deniable.measures.catalogue import Setting
from deniable.measures.texts import Texts, join_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report, Steps
from deniable.purposes.label_check import label_warnings
from deniable.purposes.shaping import validated_strength
from deniable.records.formats.layout import ReadingOptions
from deniable.report.wording import percent
from deniable.tuning.findings import (
    AttackFinding,
    AttributeFinding,
    AttributeReading,
    Counts,
    Isolated,
    Sample,
    TuningFindings,
)
from deniable.tuning.search import (
    OF_ORIGINAL,
    QUICK,
    READINGS,
    THOROUGH,
    Search,
    Trial,
    best_reading,
    make_spaces,
    reduced_beside,
    tell_labels,
)
from deniable.tuning.texts import (
    Parts,
    known_texts,
    read_attributes,
    split_parts,
    take_public,
    take_texts,
    unlearnable,
)
from deniable.utility.accuracy import DecodingEffort, Reading, Version, release_texts
from deniable.utility.classifiers import sklearn
from deniable.utility.summary import MeasuredEmbedding

DIMENSIONS, STRENGTHS = (0, 8, 16, 32), (2.0, 4.0, 8.0)
"""What is tried by default: 0 is the purpose alone; a strength of 1 was never the best
(docs/research/purpose.md, "Dimension and strength")."""

_UNCHOSEN: Reading = "mean vectors"
"""The reading that is taken where texts are too few to choose one by; it stands with original text too."""

_SAMPLES = 4
_LONGEST_SAMPLE = 40
_FINE = 1_000


@dataclass(frozen=True, kw_only=True)
class TuningSettings:
    """What is tried, at which attacker, and how much is drawn: see ``tune``.

    ``attacker`` is the share that an attacker may name, and ``reading`` of what: "named" (words, each by
    itself), "context" (words, in the better of two ways) or "kinds" (kinds of less frequent words). Without a
    reading it is words in the best way that the attacker has.
    """

    attacker: float = 0.1
    reading: Way | None = None
    dimensions: tuple[int, ...] = DIMENSIONS
    strengths: tuple[float, ...] = STRENGTHS
    runs: int = 2
    attacked_words: int = 50_000
    quick: DecodingEffort = QUICK
    thorough: DecodingEffort = THOROUGH

    def __post_init__(self) -> None:
        """Check the numbers.

        :raises InvalidParameter: if one is not allowed.
        """
        if not validated_share(self.attacker, "attacker", below_one=True) > 0.0:
            raise InvalidParameter("attacker", self.attacker, "must be greater than 0, such as 0.1")
        if self.reading not in (None, *WAYS):
            raise InvalidParameter("reading", self.reading, f"must be one of: {', '.join(WAYS)}")
        if not self.dimensions or not self.strengths:
            raise InvalidParameter("dimensions", "none", "give at least one number of axes and one strength")
        for dimension in self.dimensions:
            validated_count(dimension, "dimension", at_least=0)
        for strength in self.strengths:
            validated_strength(strength)
        validated_count(self.runs, "runs")
        validated_count(self.attacked_words, "attacked_words")


def tune(
    data: str | Path,
    *,
    text_column: str,
    label_column: str,
    also: Sequence[str] = (),
    embedding: Embedding | str = "default",
    mechanism: ChosenMechanism | None = None,
    public: Path | None = None,
    settings: TuningSettings | None = None,
    texts: int | None = None,
    report: Report | None = None,
    measure_report: Report | None = None,
    warn: Callable[[str], None] | None = None,
    **reading: Unpack[ReadingOptions],
) -> TuningFindings:
    """Find the space and the ε that serve a purpose best at an attacker who names a given share of the words;
    on public texts only.

    The classes of a column are the purpose. Texts are used in four parts: to shape spaces by, for a receiver
    to learn from released text, to choose the space by, and to judge at the end. ``also`` names columns with
    other attributes, of which it is measured how well they survive. With ``public``, a text file, the
    attacker reads in context too, and the better of both ways counts. At most ``texts`` texts are used.
    ``report`` receives the progress of spaces, ``measure_report`` that of releases after it. ``warn`` hears
    of labels that cannot be predicted before the long work; the findings hold these sentences too, and one if
    a space that is not shaped serves as well.

    :raises InvalidParameter: if a value is not allowed or a column is not there.
    :raises MissingExtra: if scikit-learn is not installed.
    :raises RecordError: if a file cannot be read.
    :raises TargetsNotMet: if the attacker cannot be brought to the target.
    :raises TaskDataError: if nothing can be learnt from the texts, or there are too few.
    """
    sklearn("linear_model", "tuning a space")
    settings = TuningSettings() if settings is None else settings
    reading_of = settings.reading or ("named" if public is None else "context")
    if reading_of == "context" and public is None:
        raise InvalidParameter(
            "public", "none", "the reading context needs a public text, one document a line: give public too"
        )
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    space = embedding if isinstance(embedding, Embedding) else Embedding.open(embedding)
    mechanism(space, epsilon=1.0)  # a wrong option is found before the work begins
    found = read_attributes(
        Path(data), text_column=text_column, label_column=label_column, also=also, most=texts, **reading
    )
    given = found.public.left_out + len(found.public.texts)
    found, cut = known_texts(found, space)
    warnings = tuple(label_warnings(space, found.public))
    if warn is not None:
        for warning in warnings:
            warn(warning)
    parts = split_parts(cut.labels)
    spaces = make_spaces(
        space, take_public(found.public, parts.shape), settings.dimensions, settings.strengths
    )
    model = None if public is None else read_bigrams(space, public)
    attacker, kinds = _make_attacker(space, cut, parts, settings.attacked_words, model)
    search = Search(
        mechanism=mechanism,
        attacker=attacker,
        labelled=cut.take(np.concatenate([parts.learn, parts.choose])),
        learnt=len(parts.learn),
        reading=reading_of,
        target=settings.attacker,
        quick=settings.quick,
        thorough=settings.thorough,
        keep=space.work_folder("measured"),
    )
    make_folder(space.work_folder("measured"))
    work = _parts(report, len(spaces) + 3)
    plain, *shaped = [search.look(each, report=next(work)) for each in spaces]
    best = max(shaped, key=lambda trial: trial.accuracy)
    reduced = search.look(reduced_beside(best.space, space), report=next(work))
    warnings += _not_worth_it(best, (plain, reduced))
    matched = [search.match(trial, report=next(work)) for trial in (best, plain)]
    steps = Steps(measure_report, 2 + (1 + len(also)) * 2 * (1 + settings.runs))
    measure = _Measurement(
        search=search, cut=cut, parts=parts, runs=settings.runs, matched=matched, steps=steps
    )
    attacks = [measure.attack(each) for each in matched]
    named = {label_column: cut.labels, **found.others}
    label, *others = [measure.attribute(name, values) for name, values in named.items()]
    samples = measure.samples()
    return TuningFindings(
        source=found.public.source,
        sha256=found.public.sha256,
        public=None if public is None else public.name,
        mechanism=mechanism,
        embedding=MeasuredEmbedding.of(space),
        reading=reading_of,
        target=settings.attacker,
        space=best.space,
        epsilon=matched[0].epsilon,
        epsilon_as_it_is=matched[1].epsilon,
        label=label,
        others=tuple(others),
        kinds=kinds.in_words(),
        blind=attacker.blind,
        shaped=attacks[0],
        as_it_is=attacks[1],
        tried=(plain, reduced, *shaped),
        samples=samples,
        counts=Counts(
            texts=len(cut),
            left_out=given - len(cut),
            shape=len(parts.shape),
            learn=len(parts.learn),
            choose=len(parts.choose),
            judge=len(parts.judge),
            attacked_words=len(attacker.texts.ids),
            unknown=float((attacker.texts.ids == space.unknown_id).mean()),
        ),
        quick=settings.quick,
        thorough=settings.thorough,
        runs=settings.runs,
        warnings=warnings,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Measurement:
    """Measures the ``matched`` settings, shaped and as it is, on the texts that had no say in the choice."""

    search: Search
    cut: Texts
    parts: Parts
    runs: int
    matched: Sequence[Setting]
    steps: Steps

    def attack(self, setting: Setting) -> AttackFinding:
        """Return what the attacker names in a release of all texts but those that the space was shaped by."""
        attacker, channel = self.search.attacker, self.search.channel(setting)
        released = Draws(setting.mechanism_at_epsilon, seed=2).of_each(attacker.texts.ids)
        self.steps.done()
        return AttackFinding(
            alone=attacker.alone(channel, released), in_context=attacker.in_context(channel, released)
        )

    def attribute(self, name: str, values: Sequence[str]) -> AttributeFinding:
        """Return how well an attribute survives in both spaces."""
        parts = (self.parts.learn, self.parts.choose, self.parts.judge)
        learn, choose, judge = (take_texts(self.cut, places, values) for places in parts)
        known = join_texts(learn, choose)
        found = AttributeFinding(name=name, values=len(set(known.labels)), judged=len(judge))
        if (problem := unlearnable(known.labels, judge.labels)) is not None:
            return replace(found, problem=problem)
        most = Counter(known.labels).most_common(1)[0][0]
        # The reading is chosen by the first texts, unless they are too few, and then learnt from both parts.
        to_choose = (known, len(learn)) if len(set(learn.labels)) > 1 and len(choose) else None
        to_judge = join_texts(known, judge), len(known)

        def read(
            version: Callable[[Texts], Version], readings: Sequence[Reading], runs: int
        ) -> AttributeReading:
            reading = _UNCHOSEN
            if to_choose is not None:
                reading = best_reading(tell_labels(version(to_choose[0]), to_choose[1], readings))
            texts, learnt = to_judge
            scores = [tell_labels(version(texts), learnt, [reading])[reading] for _ in range(runs)]
            return AttributeReading(
                accuracy=float(np.mean(scores)), lowest=min(scores), highest=max(scores), reading=reading
            )

        def released_by(setting: Setting) -> Callable[[Texts], Version]:
            def released(texts: Texts) -> Version:
                self.steps.done()
                return release_texts(texts, setting.mechanism_at_epsilon, self.search.channel(setting))

            return released

        shaped, as_it_is = (read(released_by(each), READINGS, self.runs) for each in self.matched)
        *_, plain = self.matched
        return replace(
            found,
            original=read(lambda texts: Version(texts, plain.embedding), OF_ORIGINAL, 1).accuracy,
            majority=judge.labels.count(most) / len(judge),
            shaped=shaped,
            as_it_is=as_it_is,
        )

    def samples(self) -> tuple[Sample, ...]:
        """Return some public texts with what they became."""
        short = [i for i in self.parts.judge.tolist() if 5 <= self.cut.lengths[i] <= _LONGEST_SAMPLE]
        texts = take_texts(self.cut, np.array(short[:_SAMPLES], dtype=np.int64))
        versions = (
            texts,
            *(release_texts(texts, setting.mechanism_at_epsilon).texts for setting in self.matched),
        )
        return tuple(
            Sample(*map(" ".join, each)) for each in zip(*(each.words for each in versions), strict=True)
        )


def _not_worth_it(best: Trial, unshaped: Sequence[Trial]) -> tuple[str, ...]:
    """Return a sentence if a space that is not shaped serves as well as the best one that is."""
    other = max(unshaped, key=lambda trial: trial.accuracy)
    if other.accuracy < best.accuracy:
        return ()
    what = "the embedding as it is" if other.space.dimension is None else f"the embedding {other.space.name}"
    return (
        f"shaping gains nothing here: at this attacker {percent(other.accuracy)} of the labels of texts to "
        f"choose by are told in {what}, "
        f"{percent(best.accuracy)} in the best shaped space",
    )


def _make_attacker(
    space: Embedding, cut: Texts, parts: Parts, most: int, model: Bigrams | None
) -> tuple[Named, Kinds]:
    """Return the attacker of a release of all texts but those that spaces are shaped by."""
    places: Ids = np.random.Generator(np.random.PCG64(1)).permutation(
        np.concatenate([parts.learn, parts.choose, parts.judge])
    )
    count = max(1, int(np.searchsorted(np.cumsum(cut.lengths[places]), most)))
    texts = cut.take(places[:count])
    kinds = make_kinds(space, counts=np.bincount(texts.ids, minlength=len(space)))
    return Named.by_ids(texts, kinds, context=model), kinds


def _parts(report: Report | None, count: int) -> Iterator[Report]:
    """Yield reports of this many equal parts of the work, one after the other."""
    for place in range(count):

        def tell(done: int, total: int, place: int = place) -> None:
            if report is not None:
                report(_FINE * place + _FINE * done // total, _FINE * count)

        yield tell


def calibrate_tuned(
    found: TuningFindings, name: str, *, rays: int = 100, report: Report | None = None
) -> Isolated:
    """Calibrate an installed space at the ε that was chosen, following ``rays`` from each word, and return
    which of its words are isolated."""
    result = calibrate(name, mechanism=found.mechanism, epsilons=[found.epsilon], draws=rays, report=report)
    calibration = result.calibration
    failing = evaluate(calibration, found.epsilon, Targets(max_unchanged=0.5)).failing
    shown = tuple(calibration.embedding.words[i] for i in calibration.ids[failing[:30]].tolist())
    return Isolated(count=len(failing), words=len(calibration.ids), shown=shown)
