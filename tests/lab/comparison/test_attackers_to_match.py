"""Mechanisms brought to an equal attacker in context, or to an equal attacker of kinds: each is the attacker
that it says it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.audit.made_text import follow_one_another, shuffle
from tests.lab.comparison.compared import ring
from tests.support.strategies import random_embedding
from typer.testing import CliRunner

from deniable import Embedding, InvalidParameter
from deniable.arrays import Ids
from deniable.audit import named
from deniable.audit.named import Named, NamedShares, Way, read_named
from deniable.cli.app import app
from deniable.decoding.ngrams import count_bigrams
from deniable.embeddings import store
from deniable.embeddings.kinds import Kinds
from deniable.errors import UnusableAuditData
from deniable.lab.comparison import (
    ComparisonResult,
    ComparisonSettings,
    Target,
    compare_mechanisms,
    read_comparison,
)
from deniable.lab.comparison.knowledge import WordKinds, make_word_kinds, read_context
from deniable.lab.comparison.readings import ReadingEffort
from deniable.lab.comparison.report.comparison_page import comparison_page, privacy_utility_figure
from deniable.lab.comparison.report.words import legend_of, target_name
from deniable.measures.catalogue import Setting
from deniable.measures.texts import cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.records.reading import LabelledTexts

WORDS = 60
SANTEXT = ChosenMechanism(name="santext")
EFFORT = ReadingEffort(draws=20, judged=500, directions=60)


def spaces() -> Embedding:
    return random_embedding(WORDS, 3)


def as_texts(documents: list[Ids]) -> list[str]:
    return [" ".join(f"w{i}" for i in document) for document in documents]


def attacker_of(documents: list[Ids], public: list[Ids] | None, *, clusters: int | None = None) -> Named:
    embedding = spaces()
    kinds = None
    if clusters is not None:
        of = np.append(np.arange(WORDS) % clusters, -1)
        of[:6] = -1  # these stand apart
        kinds = WordKinds(embedding=embedding, kinds=Kinds(of=of, count=clusters))
    context = None if public is None else count_bigrams(public, WORDS + 1)
    texts = cut_texts(as_texts(documents), embedding)
    return Named.by_spelling(texts, embedding, context=context, kinds_of=None if kinds is None else kinds.of)


def read(attacker: Named, way: Way, *, epsilon: float = 2.0) -> float:
    return shares(attacker, way, epsilon).share_of(way)


def shares(attacker: Named, way: Way, epsilon: float) -> NamedShares:
    setting = Setting(embedding=spaces(), mechanism=SANTEXT, epsilon=epsilon)
    return read_named(attacker, setting, way, directions=60, seed=1)


def test_in_context_more_is_named_of_a_text_whose_words_follow_from_one_another() -> None:
    documents, public = follow_one_another(WORDS, 100, 20, seed=2), follow_one_another(WORDS, 400, 20, seed=1)
    attacker = attacker_of(documents, public)
    assert read(attacker, "context") > read(attacker, "named") + 0.1


def test_in_context_no_more_is_named_of_words_in_any_order() -> None:
    documents = shuffle(follow_one_another(WORDS, 100, 20, seed=2), seed=3)
    attacker = attacker_of(documents, shuffle(follow_one_another(WORDS, 400, 20, seed=1), seed=4))
    assert read(attacker, "context") == pytest.approx(read(attacker, "named"), abs=0.03)


def test_kinds_are_judged_at_words_that_have_one() -> None:
    attacker = attacker_of(follow_one_another(WORDS, 50, 20, seed=2), None, clusters=2)
    assert attacker.kinds is not None
    judged = attacker.kinds
    assert attacker.blind.kinds == pytest.approx(max(np.bincount(judged[judged >= 0])) / (judged >= 0).sum())
    assert read(attacker, "kinds", epsilon=1e-6) == pytest.approx(attacker.blind.kinds, abs=0.02)
    assert read(attacker, "kinds", epsilon=1e4) == 1.0


def test_what_an_attacker_does_not_know_it_is_not_asked() -> None:
    attacker = attacker_of(follow_one_another(WORDS, 10, 20, seed=2), None)
    with pytest.raises(ValueError, match="kinds"):
        read(attacker, "kinds")


def test_whole_texts_are_read_until_there_are_enough_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "MOST_IN_CONTEXT", 90)
    documents, public = follow_one_another(WORDS, 50, 20, seed=2), follow_one_another(WORDS, 200, 20, seed=1)
    attacker = attacker_of(documents, public)
    found = shares(attacker, "context", 2.0)
    assert found.judged == 100, "five texts of 20 words"


def test_kinds_of_all_embeddings_are_those_of_the_first() -> None:
    whole = ring()
    kinds = make_word_kinds(whole, np.arange(40))
    half = Embedding([whole.words[i] for i in range(0, 40, 2)], whole.vectors[::2], name="half")
    texts = ["w4 w5 w39 elsewhere W6"]
    both = [Named.by_spelling(cut_texts(texts, each), each, kinds_of=kinds.of) for each in (whole, half)]
    for attacker in both:
        assert attacker.kinds is not None
        assert attacker.kinds.tolist() == [*kinds.kinds.of[[4, 5, 39]], -1, kinds.kinds.of[6]]


def test_what_is_compared_is_not_read_in_the_public_text(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    path.write_text("w1 w2 w3\nW4  w5\n\nw6 w7\n", encoding="utf-8")
    found = read_context(spaces(), path, ["w4\nw5", "other"])
    assert (found.summary.source, found.summary.words, found.summary.left_out) == ("public.txt", 5, 1)
    assert found.bigrams.counts[[4, 5]].tolist() == [0.0, 0.0]
    other = read_context(spaces(), path, [])
    assert other.bigrams.counts[4] == 1.0
    with pytest.raises(UnusableAuditData, match="part of the compared texts"):
        read_context(spaces(), path, ["w1 w2 w3", "w4 w5", "w6 w7"])


def labelled() -> LabelledTexts:
    documents = follow_one_another(WORDS, 120, 15, seed=2)
    labels = ["low" if document[0] < WORDS // 2 else "high" for document in documents]
    return LabelledTexts(source="made", people=labels, texts=as_texts(documents))


def public_file(folder: Path) -> Path:
    path = folder / "public.txt"
    texts = [*as_texts(follow_one_another(WORDS, 300, 20, seed=1)), labelled().texts[0]]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ComparisonResult:
    targets = (
        Target(reading="named", value=0.4),
        Target(reading="context", value=0.4),
        Target(reading="kinds", value=0.6),
    )
    settings = ComparisonSettings(
        targets=targets,
        runs=1,
        words=50,
        quick=EFFORT,
        thorough=EFFORT,
        decoding=None,
        public=public_file(tmp_path_factory.mktemp("public")),
    )
    return compare_mechanisms(labelled(), spaces(), [ChosenMechanism(), SANTEXT], settings=settings)


def test_equal_in_context_is_another_epsilon_than_equal_alone(result: ComparisonResult) -> None:
    assert len(result.matched()) == 6
    by_reading = {(row.mechanism, row.reading): worth for row, worth in result.matched()}
    for mechanism in ("multivariate", "santext"):
        named, context, kinds = (by_reading[mechanism, reading] for reading in ("named", "context", "kinds"))
        assert context.epsilon < 0.9 * named.epsilon, "who reads in context needs less"
        assert (named.reached.context, context.reached.named, kinds.reached.named) == (None, None, None)
        assert context.reached.context == pytest.approx(0.4, abs=0.01)
        assert kinds.reached.kinds == pytest.approx(0.6, abs=0.01)
        assert set(kinds.reached.errors) == {"average", "worst", "adversary", "kinds"}
    assert result.attacker == "adversary", "no other one is known of every row"
    assert result.public is not None
    assert (result.public.source, result.public.left_out) == ("public.txt", 1)


def test_result_and_page_name_what_was_matched(result: ComparisonResult, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(result.to_dict()))
    assert read_comparison(saved) == result
    assert [target_name(target) for target in result.targets] == [
        "words named by the attacker = 0.4",
        "words named in context = 0.4",
        "kinds of words named = 0.6",
    ]
    html = comparison_page(result).html()
    for words in (
        "words named in context = 0.4",
        "kinds of words named = 0.6",
        "In context: it also knows",
        "public.txt",
        "Kinds are 5 cl",
    ):
        assert words in html, words
    in_context = replace(
        result,
        rows=tuple(row for row in result.rows if row.reading == "context"),
        targets=(Target(reading="context", value=0.4),),
    )
    assert in_context.attacker == "context"
    assert "words named in context" in privacy_utility_figure(in_context).axes[0].get_xlabel()
    assert "Words named in context" in legend_of(in_context)
    assert "Kinds of words named" not in legend_of(in_context)
    plain = replace(in_context, public=None, kinds="")
    assert not {"public", "kinds"} & set(plain.to_dict())


def test_context_needs_a_public_text_and_a_public_text_needs_a_reading(tmp_path: Path) -> None:
    context = (Target(reading="context", value=0.2),)
    with pytest.raises(InvalidParameter, match="public = 'none': the reading context needs a public text"):
        ComparisonSettings(targets=context)
    with pytest.raises(InvalidParameter, match="public"):
        ComparisonSettings(targets=(Target(reading="named", value=0.2),), public=tmp_path / "public.txt")
    assert ComparisonSettings(targets=(Target(reading="kinds", value=0.2),)).public is None


def test_saved_readings_of_other_public_texts_are_not_taken(tmp_path: Path) -> None:
    target = (Target(reading="context", value=0.4),)
    public = public_file(tmp_path)
    settings = ComparisonSettings(
        targets=target, runs=1, words=50, quick=EFFORT, thorough=EFFORT, decoding=None, public=public
    )
    first, again = (
        compare_mechanisms(labelled(), spaces(), [SANTEXT], settings=settings, keep=tmp_path / "kept")
        for _ in range(2)
    )
    assert again.rows[0].worth is not None
    assert first.rows == again.rows
    public.write_text(
        "\n".join(as_texts(shuffle(follow_one_another(WORDS, 300, 20, seed=1), seed=8))), encoding="utf-8"
    )
    other = compare_mechanisms(labelled(), spaces(), [SANTEXT], settings=settings, keep=tmp_path / "kept")
    assert other.rows[0].worth is not None
    assert first.rows[0].worth is not None
    assert other.rows[0].worth.epsilon > 1.1 * first.rows[0].worth.epsilon


def test_the_command_takes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(spaces(), "made")
    data, saved = tmp_path / "data.csv", tmp_path / "found.json"
    rows = zip(labelled().people, labelled().texts, strict=True)
    data.write_text("label,text\n" + "".join(f"{label},{text}\n" for label, text in rows), encoding="utf-8")
    arguments = [
        "lab",
        "compare",
        str(data),
        *"--embedding made -m santext --words 50 --runs 1 --no-decode --quiet".split(),
    ]
    refused = CliRunner().invoke(app, [*arguments, "-t", "context=0.4"])
    assert isinstance(refused.exception, InvalidParameter)
    assert "needs a public text" in str(refused.exception)
    done = CliRunner().invoke(
        app,
        [
            *arguments,
            *"-t context=0.4 -t kinds=0.7 --public".split(),
            str(public_file(tmp_path)),
            "--save",
            str(saved),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "words named in context = 0.4" in done.output
    assert "kinds of words named = 0.7" in done.output
    found = read_comparison(saved)
    assert found.public is not None
    assert found.kinds.startswith("5 clusters of the public vectors")
