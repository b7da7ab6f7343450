"""The membership audit: language models are trained on original and on released text, and an auditor tells
whose text was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.audit.draws import Users, draw_users
from deniable.audit.results import (
    NO_BOUND,
    AdvisedResult,
    Curves,
    Table,
    head_of,
    largest_acceptable,
    sorted_epsilons,
)
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.lab.decoded import USUAL, Decoding, decode_users, learn_decoders
from deniable.lab.libraries import require
from deniable.lab.membership.auditor import (
    ORIGINAL,
    QUESTIONS,
    Findings,
    LanguageModelSettings,
    Plan,
    judge_conditions,
    make_plan,
)
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report
from deniable.records.reading import LabelledTexts
from deniable.report.wording import Point
from deniable.words.cutter import Cutter

if TYPE_CHECKING:
    from deniable.lab.membership.models import Streams


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """A condition other than original text: its ε, the share of changed words, and whether it was decoded."""

    epsilon: float
    changed: float
    decoded: bool = False


@dataclass(frozen=True, kw_only=True)
class MembershipResult(AdvisedResult):
    """The result of ``audit_membership``. ``protocol`` is what the auditor reaches, by condition, question
    and adversary; ``data`` counts users, words, and the texts and words of a user in the middle."""

    data: dict[str, int | float]
    plan: dict[str, int]
    settings: LanguageModelSettings
    questions: dict[str, str]
    facts: dict[str, ReleaseFacts]
    protocol: Findings

    heading = "Can one tell whose text a model was trained on"
    no_bound = NO_BOUND
    tried = (
        "A language model is trained on the text of some users. An auditor, who trained models of its own on "
        "other users, looks at how highly the model ranks the words of a user, and says whether that user's "
        "text was used. The plain auditor knows original text only; the adaptive one releases its own text "
        "in the same way first."
    )

    @property
    def sentence(self) -> str:
        """What was found, in a few sentences."""
        original = self.protocol["original"]["original text"]["plain"].mean.auc
        weak = (
            " The auditor is weak on this data (AUC below 0.9), so that failing on released text says little."
        )
        warning = "" if original >= 0.9 else weak
        return (
            "On models trained on original text the auditor tells whose text was used with an AUC of "
            f"{original:.2f}.{warning} {self.advice('AUC for every adversary')}"
        )

    @property
    def tables(self) -> list[Table]:
        """What the auditor reaches, by condition, question and adversary."""
        rows = [
            [condition, question, adversary, *(f"{score:.2f}" for score in vars(found.mean).values())]
            for condition, questions in self.protocol.items()
            for question, adversaries in questions.items()
            for adversary, found in adversaries.items()
        ]
        scores = ["precision", "recall", "accuracy", "AUC", "max(AUC, 1 − AUC)"]
        columns = ["condition", "question", "adversary", *scores]
        return [Table("What the auditor reaches", columns, rows)]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The values of ε that were tried, by their size."""
        return tuple(sorted({facts.epsilon for facts in self.facts.values()}))

    @property
    def curves(self) -> list[Curves]:
        """The auditor's AUC against ε."""
        conditions = sorted(self.facts.items(), key=lambda item: item[1].epsilon)

        def line(question: str, adversary: str, *, decoded: bool = False) -> list[Point]:
            return [
                Point(facts.epsilon, self.protocol[name][question][adversary].mean.auc)
                for name, facts in conditions
                if facts.decoded is decoded
            ]

        lines = {
            f"{question}, {adversary}": line(question, adversary)
            for question in ("original text", "released text")
            for adversary in ("plain", "adaptive")
        }
        lines["original text, adaptive, decoded"] = line("original text", "adaptive", decoded=True)
        caption = (
            "The auditor's AUC; 0.5 is chance. An AUC below 0.5 is as good as one above it to an adversary "
            "who turns the answer around."
        )
        return [
            Curves(
                lines={name: points for name, points in lines.items() if points},
                y="AUC of the auditor",
                caption=caption,
                levels={"chance": 0.5},
                shares=False,
            )
        ]


def audit_membership(
    data: LabelledTexts,
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: Sequence[float],
    users: int | None = None,
    min_texts: int = 20,
    max_texts: int = 500,
    targets: int = 1,
    shadows: int = 10,
    epochs: int = 30,
    acceptable: float = 0.6,
    decoding: Decoding | None = USUAL,
    seed: int = 0,
    report: Report | None = None,
) -> MembershipResult:
    """Train language models on original and on released text, and return how well an auditor tells whose text
    was used.

    ``users`` users are in the training data of a model, as many are out, and twice as many are the shadow
    models'; a quarter of all unless it is given. Users with fewer than ``min_texts`` texts are left out, and
    at most ``max_texts`` texts of a user are taken. ``acceptable`` is the AUC that the auditor may reach.
    ``decoding`` says how a receiver decodes released text before a model is trained on it, which is a
    condition of its own; with None there is none.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if a public text for decoding cannot be read.
    :raises UnusableAuditData: if there are too few users with enough text, or the public text holds no two
        words in a row.
    :raises MissingExtra: if PyTorch or scikit-learn is not installed.
    """
    require("the membership audit", "sklearn", "torch")
    from deniable.lab.membership.models import encode_conditions

    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable = validated_share(acceptable, "acceptable")
    values = sorted_epsilons(epsilons)
    mechanisms = {f"ε = {value:g}": mechanism(embedding, epsilon=value) for value in values}
    settings = replace(LanguageModelSettings(), epochs=validated_count(epochs, "epochs"))
    found = list(choose_users(data, embedding, fewest=min_texts, most=max_texts, seed=seed).values())
    plan = make_plan(
        len(found), in_each=users, targets=targets, shadows=shadows, seed=seed, source=data.source
    )
    chosen = found[: 4 * plan.in_each]
    decoder_at = None if decoding is None else learn_decoders(embedding, mechanism, values, decoding)
    texts, facts = {ORIGINAL: chosen}, {}
    for place, (name, made) in enumerate(mechanisms.items()):
        texts[name], changed = draw_users(made, chosen, seed=seed + place)
        facts[name] = ReleaseFacts(epsilon=made.epsilon, changed=changed)
        if decoder_at is not None:
            decoder = decoder_at(made.epsilon, [" ".join(text) for user in texts[name] for text in user])
            texts[f"{name}, decoded"] = decode_users(decoder, texts[name])
            changed = _share_changed(chosen, texts[f"{name}, decoded"])
            facts[f"{name}, decoded"] = ReleaseFacts(epsilon=made.epsilon, changed=changed, decoded=True)
    conditions = encode_conditions(texts)
    counts = train_and_ask(plan, conditions, settings, seed=seed, report=report)
    protocol = judge_conditions(plan, list(conditions), counts)
    return MembershipResult(
        **head_of("membership", embedding, mechanism, seed),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(_stronger(facts, protocol), acceptable),
        data=measure_texts(chosen),
        plan=plan.summarise(),
        settings=settings,
        questions=dict(QUESTIONS),
        facts=facts,
        protocol=protocol,
    )


def choose_users(
    data: LabelledTexts, embedding: Embedding, *, fewest: int, most: int, seed: int
) -> dict[str, list[list[str]]]:
    """Return the words of all users with at least ``fewest`` texts, at most ``most`` of each, in an order
    drawn from the seed.

    Words are cut and folded as a release would, but unknown words stay: the model trained on original text
    saw them.

    :raises InvalidParameter: if a number is not allowed.
    :raises UnusableAuditData: if a user with enough texts has no words at all.
    """
    validated_count(fewest, "min_texts")
    validated_count(most, "max_texts")
    cutter = Cutter(embedding)
    users: dict[str, list[list[str]]] = {}
    for person, texts in sorted(data.by_label().items()):
        words = [found for text in texts if (found := cutter.words(text))]
        if len(texts) >= fewest and not words:
            raise UnusableAuditData(data.source, f"the texts of user {person!r} hold no words")
        if len(words) >= fewest:
            users[person] = words[:most]
    names = list(users)
    return {names[i]: users[names[i]] for i in np.random.default_rng(seed).permutation(len(names))}


def measure_texts(users: Users) -> dict[str, int | float]:
    """Return how much text there is: users, texts and words of a user in the middle, and all words."""
    words = [sum(len(text) for text in user) for user in users]
    return {
        "users": len(users),
        "median_texts": float(np.median([len(user) for user in users])),
        "median_words": float(np.median(words)),
        "words": sum(words),
    }


def train_and_ask(
    plan: Plan,
    conditions: Mapping[str, Streams],
    settings: LanguageModelSettings,
    *,
    seed: int,
    report: Report | None,
) -> dict[str, NDArray[np.int32]]:
    """Return the rank counts of all jobs; ``report`` hears of epochs."""
    from deniable.lab.membership.models import run_job
    from deniable.lab.neural.encoder import best_device

    jobs, device = plan.jobs(list(conditions)), best_device()
    counts: dict[str, NDArray[np.int32]] = {}
    for number, job in enumerate(jobs):

        def after_epoch(epoch: int, number: int = number) -> None:
            if report is not None:
                report(number * settings.epochs + epoch, len(jobs) * settings.epochs)

        counts[job.name] = run_job(
            job, conditions, settings, seed=seed + number, device=device, after_epoch=after_epoch
        )
    return counts


def _stronger(facts: Mapping[str, ReleaseFacts], protocol: Findings) -> list[tuple[float, float]]:
    """Return for each ε the largest AUC of an adversary, its sign turned if that helps, on text as released
    and decoded."""
    best: dict[float, float] = {}
    for name, about in facts.items():
        found = [*protocol[name]["original text"].values(), *protocol[name]["released text"].values()]
        aucs = (each.mean.auc_either_way for each in found)
        best[about.epsilon] = max(best.get(about.epsilon, 0.0), *aucs)
    return list(best.items())


def _share_changed(users: Users, others: Users) -> float:
    words, after = ([word for texts in some for text in texts for word in text] for some in (users, others))
    return 1.0 - sum(a == b for a, b in zip(words, after, strict=True)) / len(words)
