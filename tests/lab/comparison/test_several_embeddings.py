"""Several embeddings at an equal attacker: who it is, what it may name, and how the result is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lab.comparison.compared import ring, task
from tests.support.strategies import random_embedding
from typer.testing import CliRunner

from deniable import Embedding, InvalidParameter
from deniable.audit import named
from deniable.audit.named import Named, NamedShares, read_named
from deniable.channel.draws import Draws
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.lab.comparison import ComparisonSettings, Target, compare_mechanisms, read_comparison
from deniable.lab.comparison.readings import ReadingEffort
from deniable.lab.comparison.received import ReceivedTask
from deniable.lab.comparison.report.comparison_page import comparison_page, privacy_utility_figure
from deniable.lab.comparison.report.words import columns_of, finding, places_table, spaces_table, table
from deniable.lab.comparison.results import ComparisonResult
from deniable.lab.comparison.settings import ATTACKERS, TARGETS
from deniable.measures.catalogue import Setting
from deniable.measures.texts import cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.mechanisms.santext import SanText
from deniable.records.reading import LabelledTexts
from deniable.utility.accuracy import DecodingEffort, open_channels, whole_counts
from deniable.utility.classifiers import mean_vectors

SANTEXT = ChosenMechanism(name="santext")
EFFORT = ReadingEffort(draws=40, judged=1_000, directions=50)
SETTINGS = ComparisonSettings(
    targets=(Target(reading="named", value=0.3),),
    runs=1,
    words=100,
    quick=EFFORT,
    thorough=EFFORT,
    decoding=DecodingEffort(support=40, directions=50),
)


def ring_without(known: list[int]) -> Embedding:
    """Return the circle with some of its words only."""
    whole = ring()
    return Embedding([whole.words[i] for i in known], whole.vectors[known], name="half")


def read(
    attacker: Named,
    embedding: Embedding,
    epsilon: float,
    mechanism: ChosenMechanism = SANTEXT,
    fine: int = 10,
) -> NamedShares:
    setting = Setting(embedding=embedding, mechanism=mechanism, epsilon=epsilon)
    return read_named(attacker, setting, "named", directions=fine, seed=1)


def share_named(embedding: Embedding, texts: list[str], epsilon: float) -> float:
    attacker = Named.by_spelling(cut_texts(texts, embedding), embedding)
    return read(attacker, embedding, epsilon).words


def exactly(embedding: Embedding, counts: dict[str, int], epsilon: float) -> float:
    """Return Σ_y max_word π(word)·P(y | id of the word), straight from the definition."""
    total = sum(counts.values())
    best = np.zeros(len(embedding))
    for word, count in counts.items():
        row = embedding.index.get(word, embedding.unknown_id)
        outputs, chances = next(SanText(embedding, epsilon=epsilon).probabilities(np.array([row])))
        best[outputs] = np.maximum(best[outputs], count / total * chances)
    return float(best.sum())


COUNTS = {"w0": 900, "w1": 500, "w5": 700, "w20": 1_200, "w25": 300, "w30": 400}
TEXT = [" ".join([word] * count) for word, count in COUNTS.items()]


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("known", [list(range(40)), [0, 1, 2, 3, 20], [0, 39]])
def test_the_attacker_is_the_bayes_rule_over_all_words_known_or_not(epsilon: float, known: list[int]) -> None:
    embedding = ring_without(known)
    expected = exactly(embedding, COUNTS, epsilon)
    # Rows of the channel list their likeliest outputs only, and the judge draws 4,000 words.
    assert share_named(embedding, TEXT, epsilon) == pytest.approx(expected, abs=0.035)


@pytest.mark.parametrize("name", ["multivariate", "mahalanobis", "gaussian", "vickrey"])
def test_each_word_is_as_frequent_for_the_attacker_as_it_is_however_the_channel_orders_words(
    name: str,
) -> None:
    # Of a few frequent words and many rare ones: an attacker who takes one for another names fewer than who
    # sees nothing.
    embedding = random_embedding(300, 3)
    words = np.random.default_rng(5).permutation(300)
    counts = {f"w{word}": 1 + int(2_000 / (1 + place) ** 1.5) for place, word in enumerate(words.tolist())}
    texts = cut_texts([" ".join([word] * count) for word, count in counts.items()], embedding)
    attacker = Named.by_spelling(texts, embedding)
    mechanism, epsilon = ChosenMechanism(name=name), 2.0
    found = read(attacker, embedding, epsilon, mechanism, 300)
    released = (
        Draws(mechanism(embedding, epsilon=epsilon), seed=7)
        .of_each(np.repeat(np.arange(300), 1_000))
        .reshape(300, -1)
    )
    chances = np.stack([np.bincount(row, minlength=300) for row in released]) / 1_000
    prior = np.array([counts[word] for word in embedding.words]) / sum(counts.values())
    assert found.words == pytest.approx(float((prior[:, None] * chances).max(axis=0).sum()), abs=0.05)
    assert found.words > attacker.blind.words + 0.02


def test_of_words_that_an_embedding_does_not_know_only_the_most_frequent_one_is_named() -> None:
    nothing_known = Embedding(["x", "y", "z"], np.eye(3), name="nothing")
    attacker = Named.by_spelling(cut_texts(TEXT, nothing_known), nothing_known)
    assert attacker.blind.words == 1_200 / 4_000
    assert share_named(nothing_known, TEXT, 100.0) == 1_200 / 4_000
    assert share_named(ring(), TEXT, 100.0) == 1.0


def test_a_small_vocabulary_does_not_shrink_what_is_judged() -> None:
    # w0 and w5 come out as themselves, and so does w1; but unknown words come out as w1 too, the most
    # frequent of them 1,200 times.
    assert share_named(ring_without([0, 1, 5]), TEXT, 1e4) == (900 + 700 + 1_200) / 4_000


def test_a_protected_word_is_named_only_as_what_is_most_frequent_of_those_that_go_in_alike() -> None:
    protected = ring()
    protected.protection = np.where(
        np.arange(41) == 20, 25, np.arange(41)
    )  # w20, 1,200 times, goes in as w25, 300 times
    assert share_named(protected, TEXT, 1e4) == pytest.approx((4_000 - 300) / 4_000, abs=1e-9)


def test_upper_and_lower_case_are_one_word() -> None:
    cased = Embedding(["The", "the", "cat", "dog"], 10 * np.eye(4), name="cased")
    texts = ["The cat the dog"] * 50
    assert cased.cased
    assert Named.by_spelling(cut_texts(texts, cased), cased).blind.words == 0.5
    assert share_named(cased, texts, 1e-6) == pytest.approx(0.5, abs=0.01)


def test_more_words_than_are_judged_are_still_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "MOST_JUDGED", 500)
    attacker = Named.by_spelling(cut_texts(TEXT, ring()), ring())
    found = read(attacker, ring(), 5.0)
    assert found.words == pytest.approx(exactly(ring(), COUNTS, 5.0), abs=5 * found.words_error)
    assert found.words_error > 1e-3


def labelled(texts: int = 80) -> LabelledTexts:
    made = task(ring(), texts=texts)
    return LabelledTexts(
        source="made", people=list(made.labels), texts=[" ".join(words) for words in made.words]
    )


@pytest.fixture(scope="module")
def result() -> ComparisonResult:
    half = ring_without([*range(0, 5, 2), *range(20, 40)])
    return compare_mechanisms(labelled(), [ring(), half], [ChosenMechanism(), SANTEXT], settings=SETTINGS)


def test_every_mechanism_takes_part_in_every_embedding_at_one_attacker(result: ComparisonResult) -> None:
    pairs = [(row.embedding, row.mechanism) for row in result.rows]
    assert pairs == [
        ("ring", "multivariate"),
        ("ring", "santext"),
        ("half", "multivariate"),
        ("half", "santext"),
    ]
    for _, worth in result.matched():
        assert worth.reached.named is not None
        assert abs(worth.reached.named - 0.3) <= 0.005
        assert worth.on_vectors is not None
    assert len(result.matched()) == 4
    whole, half = result.spaces
    assert (whole.unknown, whole.words, half.words) == (0.0, 480, 480)
    assert 0.1 < half.unknown < 0.3
    assert whole.blind == half.blind, "the words of the text are the same whatever the embedding knows"
    assert (whole.original, whole.original_on_vectors) == (1.0, 1.0)


def test_the_result_is_written_and_read_again(result: ComparisonResult, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(result.to_dict()))
    assert read_comparison(saved) == result


def test_table_words_and_page_name_the_embedding(result: ComparisonResult) -> None:
    columns = columns_of(result)
    shown = table(result)
    assert {len(row) for row in shown} == {len(columns)}
    assert {cells[columns.index("embedding")] for cells in shown} == {"ring", "half"}
    assert " in ring" in finding(result) or " in half" in finding(result)
    names, rows = places_table(result, result.targets[0])
    assert names == ["embedding", "mechanism", "reached", "exposed", "training", "decoded", "test", "decoded"]
    assert columns[-5:] == ["words", "decoded", "vectors", "decoded", ""], "both sides and mean vectors"
    worth = result.matched()[0][1]
    assert worth.on_vectors is not None
    assert f"{100 * worth.on_vectors.decoded.mean:.1f}" in {cells[-2] for cells in shown}
    assert {len(row) for row in rows} == {len(names)}
    assert len(spaces_table(result)[1]) == 2
    html = comparison_page(result).html()
    for words in (
        "Embeddings and mechanisms at equal privacy",
        "The embeddings",
        "words named by the attacker = 0.3",
        "go in as ⊥",
    ):
        assert words in html, words
    figure = privacy_utility_figure(result)
    assert "words named" in figure.get_supxlabel()
    assert {"multivariate in ring", "santext in half"} <= set(figure.axes[0].get_legend_handles_labels()[1])
    above = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"ring", "half", "multivariate", "santext", "original text"} <= above


def test_a_row_that_is_not_met_is_said_with_its_embedding(result: ComparisonResult) -> None:
    from deniable.lab.comparison.report.words import met_and_missed

    missed = replace(result.rows[-1], worth=None, problem="never below 0.60, however small ε is")
    met, sentences = met_and_missed(replace(result, rows=(*result.rows[:-1], missed)), result.targets[0])
    assert len(met) == 3
    assert sentences == ["santext in half: never below 0.60, however small ε is."]


def test_embeddings_of_one_name_are_refused_before_any_work() -> None:
    with pytest.raises(
        InvalidParameter,
        match="embedding = 'ring, ring': give one or more embeddings, each with a name of its own",
    ):
        compare_mechanisms(labelled(), [ring(), ring()], [SANTEXT], settings=SETTINGS)
    with pytest.raises(InvalidParameter, match="embedding = 'none'"):
        compare_mechanisms(labelled(), [], [SANTEXT], settings=SETTINGS)


def test_one_embedding_may_meet_the_attacker_too_and_its_rows_name_none() -> None:
    found = compare_mechanisms(labelled(), ring(), [SANTEXT], settings=SETTINGS)
    assert found.rows[0].embedding == ""
    assert "embedding" not in found.to_dict()["rows"][0]
    assert found.attacker == "named"
    assert "Words named" in comparison_page(found).html()


def test_mean_vectors_are_means_and_the_expected_ones_are_nearer_to_them() -> None:
    embedding, texts = ring(), task(ring())
    received = ReceivedTask(embedding, texts, task(ring(), seed=1))
    counts = whole_counts(texts.ids, texts.offsets, embedding)
    first = embedding.vectors[texts.ids[:6]].mean(axis=0)
    assert np.allclose(mean_vectors(counts, embedding)[0], first, atol=1e-5)
    assert received.original_on_vectors() == 1.0
    channel = open_channels(embedding, SANTEXT, [0.5], DecodingEffort(support=40, directions=10))[0.5]
    found = received.measure(SanText(embedding, epsilon=0.5), channel)
    assert 0.4 <= found.vectors <= 1.0
    assert 0.4 <= found.decoded_vectors <= 1.0


def test_the_defaults_are_an_equal_attacker_for_several_embeddings() -> None:
    assert {target.reading for target in ATTACKERS} == {"named"}
    assert "named" not in {target.reading for target in TARGETS}


def test_the_command_takes_embeddings_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(ring(), "whole", source="a test")
    store.save(ring_without([*range(0, 5, 2), *range(20, 40)]), "half", source="a test")
    made = labelled(60)
    lines = [
        json.dumps({"label": label, "text": text})
        for label, text in zip(made.people, made.texts, strict=True)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")

    def run(*more: str) -> Any:
        fixed = "--embedding whole --words 50 --runs 1 -q -m santext --decode-words 40".split()
        return CliRunner().invoke(app, ["lab", "compare", str(tmp_path / "data.jsonl"), *fixed, *more])

    page = tmp_path / "page.html"
    shown = run("--embedding", "half", "-t", "named=0.3", "--report", str(page))
    assert shown.exit_code == 0, shown.output
    assert "words named by the attacker = 0.3" in " ".join(shown.output.split())
    assert "The embeddings" in page.read_text()
    found = json.loads(run("--embedding", "half", "-t", "named=0.3", "--json").stdout)
    assert [(row["embedding"], row["mechanism"]) for row in found["rows"]] == [
        ("whole", "santext"),
        ("half", "santext"),
    ]
    assert [space["embedding"]["name"] for space in found["spaces"]] == ["whole", "half"]
    assert isinstance(run("--embedding", "whole").exception, InvalidParameter)
