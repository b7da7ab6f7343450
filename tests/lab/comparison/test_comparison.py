"""Mechanisms are brought to an equal reading, released, decoded and used; numbers are measured once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.audit.made_text import follow_one_another, shuffle
from tests.lab.comparison.compared import json_lines, labelled, ring, ring_without, task
from tests.support.made_mixture import MIXING, sided_rows, two_clouds
from tests.support.strategies import random_embedding
from typer.testing import CliRunner

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
from deniable.channel.draws import Draws
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.errors import DeniableError, InvalidParameter, TargetsNotMet, UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.lab.commands.experiments import parse_target
from deniable.lab.comparison import (
    ComparisonResult,
    ComparisonSettings,
    Target,
    compare_mechanisms,
    read_comparison,
)
from deniable.lab.comparison.comparison import Space, comparable_mechanisms, name_of, some_words
from deniable.lab.comparison.page import comparison_page, lines_of, risk_label
from deniable.lab.comparison.readings import ATTACKERS, DECODING, TARGETS, TOLERANCE, Name, ReadingEffort
from deniable.lab.comparison.results import Row
from deniable.lab.comparison.words import (
    columns_of,
    legend_of,
    met_and_missed,
    places_table,
    received,
    spaces_table,
)
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism, parse_mechanism
from deniable.records.reading import LabelledTexts
from deniable.utility.accuracy import DecodingEffort

SANTEXT = ChosenMechanism(name="santext")
RESPONSE = ChosenMechanism(name="randomized-response")
SETTINGS = ComparisonSettings(
    targets=(Target(reading="average", value=0.5),),
    words=200,
    quick=ReadingEffort(draws=40, judged=1000),
    thorough=ReadingEffort(draws=200, judged=4000),
    decoding=None,
)
FEW = replace(
    SETTINGS,
    runs=1,
    words=50,
    quick=ReadingEffort(draws=20, judged=500, directions=60),
    thorough=ReadingEffort(draws=20, judged=500, directions=60),
)
MADE: list[float] = []


@dataclass(frozen=True, kw_only=True)
class Counted(ChosenMechanism):
    """Counts at which ε it is made."""

    def __call__(self, embedding: Embedding, *, epsilon: float) -> Mechanism:
        MADE.append(epsilon)
        return super().__call__(embedding, epsilon=epsilon)


def space(settings: ComparisonSettings = SETTINGS, keep: Path | None = None) -> Space:
    return Space(ring(), task(ring()), task(ring(), seed=1), settings, keep=keep)


def at(embedding: Embedding, epsilon: float) -> Setting:
    return Setting(embedding=embedding, mechanism=SANTEXT, epsilon=epsilon)


def mean(row: Row, field: str) -> float:
    return float(getattr(row, field).mean)


def test_saved_numbers_are_measured_once_and_damaged_or_older_ones_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> list[Row]:
        MADE.clear()
        return list(space(keep=tmp_path).rows(Counted()))

    first = rows()
    assert len(set(MADE)) > 1
    assert rows() == first
    assert set(MADE) == {1.0}, "made only to know what it is called"
    for file in tmp_path.iterdir():
        file.write_text("{")
    assert rows()[0].epsilon == first[0].epsilon
    assert len(set(MADE)) > 1
    monkeypatch.setattr("deniable.measures.sweep._FORMAT", 0)
    assert rows()[0].epsilon == first[0].epsilon
    assert len(set(MADE)) > 1, "what another version measured may be wrong"


def test_a_matched_row_holds_what_was_reached_and_what_it_is_worth() -> None:
    (row,) = space().rows(ChosenMechanism())
    assert row.reached is not None
    assert abs(row.reached.average - 0.5) <= TOLERANCE["average"]
    assert set(row.reached.errors) == {"average", "worst", "adversary"}
    assert mean(row, "unchanged") == pytest.approx(0.5, abs=0.15)
    assert space().original() == 1.0
    assert mean(row, "accuracy") > 0.7
    assert 0.0 < mean(row, "distance") < 1.0
    assert (row.as_released, row.decoded, row.on_vectors) == (None, None, None)


@pytest.mark.parametrize("reading", ["worst", "adversary", "named"])
def test_mechanisms_meet_every_reading(reading: Any) -> None:
    settings = replace(SETTINGS, runs=1, targets=(Target(reading=reading, value=0.4),))
    found = compare_mechanisms(labelled(), ring(), [SANTEXT, RESPONSE], settings=settings)
    for row in found.matched():
        assert row.reached is not None
        assert abs(row.reached.value(reading) - 0.4) <= TOLERANCE[cast(Name, reading)]
    assert len(found.matched()) == 2


def test_a_mechanism_that_cannot_be_brought_there_says_why(tmp_path: Path) -> None:
    listed = tmp_path / "sensitive.txt"
    listed.write_text("w39\n")
    (row,) = space().rows(parse_mechanism(f"santext-plus:sensitive={listed}"))
    assert (row.reached, row.mechanism) == (None, "santext-plus:sensitive")
    assert row.problem


def test_a_reading_that_never_rises_to_the_target_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = Estimate(value=0.1, low=0.1, high=0.1, blind=0.0)
    monkeypatch.setattr(Space, "_measure", lambda *_: lambda *_, **__: flat)
    with pytest.raises(TargetsNotMet):
        space()._solve(ChosenMechanism(), Target(reading="average", value=0.5))


def test_all_mechanisms_take_part_but_those_that_need_an_option() -> None:
    taking_part, left_out = comparable_mechanisms()
    assert len(taking_part) == 10
    assert list(left_out) == ["santext-plus"]


@pytest.mark.parametrize(
    "typed", ["multivariate", "rank-smoothing:c=0.1", "vickrey:t=0.50,noise=mahalanobis"]
)
def test_a_mechanism_is_named_as_it_was_typed(typed: str) -> None:
    assert name_of(parse_mechanism(typed)) == typed


@pytest.mark.parametrize(
    "typed", ["no-such", "multivariate:t", "multivariate:t=1", "rank-smoothing:c=x", "vickrey:t=2"]
)
def test_a_mechanism_typed_wrongly_is_refused(typed: str) -> None:
    nothing = LabelledTexts(source="none", labels=[], texts=[])
    with pytest.raises(InvalidParameter):
        compare_mechanisms(nothing, ring(), [parse_mechanism(typed)])


@pytest.mark.parametrize(
    "typed", ["average", "average=", "average=2", "average=0", "largest=0.3", "worst=x", "adversary=nan"]
)
def test_a_target_typed_wrongly_is_refused(typed: str) -> None:
    with pytest.raises(InvalidParameter):
        parse_target(typed)


def test_targets_and_settings() -> None:
    typed = ["average=0.1", "average=0.3", "worst=0.5", "adversary=0.2", "adversary=0.4"]
    assert tuple(parse_target(each) for each in typed) == TARGETS
    assert {target.reading for target in ATTACKERS} == {"named"}
    assert ComparisonSettings().decoding == DECODING == DecodingEffort(support=10_000, directions=300)
    kinds = ComparisonSettings(targets=(Target(reading="kinds", value=0.2),))
    assert kinds.public is None
    for wrong in ((), (Target(reading="context", value=0.2),)):
        with pytest.raises(InvalidParameter):
            ComparisonSettings(targets=wrong)
    with pytest.raises(InvalidParameter, match="public"):
        ComparisonSettings(targets=(Target(reading="named", value=0.2),), public=Path("public.txt"))


def rows_of(texts: list[tuple[str, str]], embedding: Embedding) -> Texts:
    ids = np.array([embedding.index[text] for _, text in texts], dtype=np.int64)
    labels = [label for label, _ in texts]
    offsets = np.arange(len(texts) + 1)
    return Texts(ids=ids, offsets=offsets, spelled=[text for _, text in texts], labels=labels)


def test_decoding_helps_where_released_forms_mix() -> None:
    embedding = two_clouds()
    learn, test = (rows_of(sided_rows(count), embedding) for count in (100, 80))
    settings = replace(FEW, decoding=DecodingEffort(support=1_000, directions=50))
    worth = Space(embedding, learn, test, settings)._worth(at(embedding, MIXING))
    assert max(worth["as_released"]["both"].mean, worth["as_released"]["test"].mean) < 0.9
    assert min(share.mean for share in worth["decoded"].values()) > 0.95


def test_where_nothing_changed_all_readings_are_those_of_the_original() -> None:
    settings = replace(FEW, decoding=DecodingEffort(support=40, directions=50))
    worth = space(settings)._worth(at(ring(), 1e6))
    for shares in (worth["as_released"], worth["decoded"], worth["on_vectors"]):
        assert {share.mean for share in shares.values()} == {1.0}
    assert space(settings).original("mean vectors") == 1.0
    assert (worth["unchanged"].mean, worth["distance"].mean) == (1.0, 0.0)
    assert worth["as_released"]["train"] == worth["accuracy"]


CASED = ["Rome", "rome", "Paris", "paris", "NOT", "not", "and", "Anna-Maria", "anna", "Maria"]
UNCASED = ["rome", "paris", "not", "and", "anna-maria", "anna", "maria"]
TEXTS = ["Rome and Paris NOT Anna-Maria", "rome and paris not anna Maria"]


def cities(words: list[str]) -> Embedding:
    return Embedding(words, 10 * np.random.default_rng(0).standard_normal((len(words), 3)), name="made")


@pytest.mark.parametrize("words", [CASED, UNCASED])
def test_texts_are_cut_and_released_as_a_privatizer_does_it(words: list[str]) -> None:
    embedding, data = cities(words), LabelledTexts(source="made", labels=["up", "low"] * 20, texts=TEXTS * 20)
    texts = some_words(data, embedding, longest=None)
    mechanism = Multivariate(embedding, epsilon=0.2)
    released = texts.released(Draws(mechanism, seed=3).of_each(texts.ids), embedding).words
    private = Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=3))
    assert [" ".join(text) for text in released] == private.many(data.texts)


def test_a_task_that_only_case_solves_is_solved_where_case_is_released() -> None:
    texts = ["Rome NOT Paris", "rome not paris"] * 20
    only_case = LabelledTexts(source="task.csv", labels=["up", "low"] * 20, texts=texts)
    settings = replace(FEW, targets=(Target(reading="average", value=0.95),))
    found = compare_mechanisms(only_case, cities(CASED), [RESPONSE], settings=settings)
    (row,) = found.matched()
    assert found.original == 1.0
    assert mean(row, "unchanged") > 0.8
    assert mean(row, "accuracy") == 1.0
    folded = some_words(only_case, cities(UNCASED), longest=None)
    assert Space(cities(UNCASED), folded, folded, settings).original() == 0.5


WORDS = 60


def as_texts(seed: int, documents: int, length: int) -> list[str]:
    made = follow_one_another(WORDS, documents, length, seed=seed)
    return [" ".join(f"w{i}" for i in document) for document in made]


def in_order() -> LabelledTexts:
    texts = as_texts(2, 120, 15)
    labels = ["low" if int(text.split()[0][1:]) < WORDS // 2 else "high" for text in texts]
    return LabelledTexts(source="made", labels=labels, texts=texts)


def public_file(folder: Path) -> Path:
    path = folder / "public.txt"
    path.write_text("\n".join([*as_texts(1, 300, 20), in_order().texts[0]]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def in_context(tmp_path_factory: pytest.TempPathFactory) -> ComparisonResult:
    targets = tuple(map(parse_target, ("named=0.4", "context=0.4", "kinds=0.6")))
    settings = replace(FEW, targets=targets, public=public_file(tmp_path_factory.mktemp("public")))
    return compare_mechanisms(
        in_order(), random_embedding(WORDS, 3), [ChosenMechanism(), SANTEXT], settings=settings
    )


def test_equal_in_context_is_another_epsilon_than_equal_alone(in_context: ComparisonResult) -> None:
    for mechanism in ("multivariate", "santext"):
        rows = [row for row in in_context.matched() if row.mechanism == mechanism]
        (named, context, kinds) = (row.reached for row in rows)
        assert named is not None
        assert context is not None
        assert kinds is not None
        assert context.epsilon < 0.9 * named.epsilon, "who reads in context needs less"
        assert (named.context, context.named, kinds.named) == (None, None, None)
        assert context.value("context") == pytest.approx(0.4, abs=TOLERANCE["context"])
        assert kinds.value("kinds") == pytest.approx(0.6, abs=TOLERANCE["kinds"])
        assert set(kinds.errors) == {"average", "worst", "adversary", "kinds"}
    assert in_context.attacker == "adversary", "no other one is known of every row"
    assert in_context.public == {"source": "public.txt", "words": 6000, "left_out": 1}


def test_result_and_page_name_what_was_matched(in_context: ComparisonResult, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(in_context.to_dict()))
    assert read_comparison(saved) == in_context
    html = comparison_page(in_context).html()
    for words in ("words named in context = 0.4", "kinds of words named = 0.6", "public.txt", "5 clusters"):
        assert words in html, words
    rows = tuple(row for row in in_context.rows if row.reading == "context")
    one = replace(in_context, rows=rows, targets=(Target(reading="context", value=0.4),))
    assert one.attacker == "context"
    assert "words named in context" in risk_label(one)
    assert "Words named in context" in legend_of(one)
    assert "Kinds of words named" not in legend_of(one)
    assert not {"public", "kinds"} & set(replace(one, public=None, kinds="").to_dict())


def test_saved_readings_of_other_public_texts_are_not_taken(tmp_path: Path) -> None:
    public = public_file(tmp_path)
    settings = replace(FEW, targets=(Target(reading="context", value=0.4),), public=public)

    def run() -> Row:
        return compare_mechanisms(
            in_order(), random_embedding(WORDS, 3), [SANTEXT], settings=settings, keep=tmp_path / "kept"
        ).rows[0]

    first = run()
    assert first.epsilon is not None
    assert run() == first
    documents = shuffle(follow_one_another(WORDS, 300, 20, seed=1), seed=8)
    public.write_text("\n".join(" ".join(f"w{i}" for i in each) for each in documents), encoding="utf-8")
    other = run().epsilon
    assert other is not None
    assert other > 1.1 * first.epsilon


@pytest.fixture(scope="module")
def several() -> ComparisonResult:
    settings = replace(
        FEW,
        targets=(Target(reading="named", value=0.3),),
        words=100,
        decoding=DecodingEffort(support=40, directions=50),
    )
    half = ring_without([*range(0, 5, 2), *range(20, 40)])
    return compare_mechanisms(labelled(), [ring(), half], [ChosenMechanism(), SANTEXT], settings=settings)


def test_every_mechanism_takes_part_in_every_embedding_at_one_attacker(several: ComparisonResult) -> None:
    pairs = [(row.embedding, row.mechanism) for row in several.rows]
    assert pairs == [(e, m) for e in ("ring", "half") for m in ("multivariate", "santext")]
    assert len(several.matched()) == 4
    for row in several.matched():
        assert row.reached is not None
        assert row.reached.value("named") == pytest.approx(0.3, abs=TOLERANCE["named"])
        assert row.on_vectors is not None
    whole, half = several.spaces
    assert (whole.unknown, whole.words, half.words) == (0.0, 480, 480)
    assert 0.1 < half.unknown < 0.3
    assert whole.blind == half.blind, "the words of the text are the same whatever the embedding knows"
    assert (whole.original, whole.original_on_vectors) == (1.0, 1.0)


def test_table_words_and_page_name_the_embedding(several: ComparisonResult, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(several.to_dict()))
    assert read_comparison(saved) == several
    columns, shown = columns_of(several), met_and_missed(several, several.targets[0])[0]
    assert {len(row) for row in shown} == {len(columns)}
    assert {cells[columns.index("embedding")] for cells in shown} == {"ring", "half"}
    names, rows = places_table(several, several.targets[0])
    places = ["training", "decoded", "test", "decoded", "both", "decoded", "mean vectors", "decoded"]
    assert names == ["embedding", "mechanism", *places]
    assert columns[-3:] == ["accuracy", "decoded", ""]
    assert {len(row) for row in rows} == {len(names)}
    assert [row[0] for row in spaces_table(several)[1]] == ["ring", "half"]
    html = comparison_page(several).html()
    for words in ("Embeddings and mechanisms", "The embeddings", "words named by the attacker = 0.3", "<svg"):
        assert words in html, words
    assert set(lines_of(several, received)) == {row.name for row in several.rows}


def test_embeddings_of_one_name_are_refused_before_any_work() -> None:
    for embeddings in ([ring(), ring()], []):
        with pytest.raises(InvalidParameter):
            compare_mechanisms(labelled(), embeddings, [SANTEXT], settings=SETTINGS)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(ring(), "ring", source="a test")
    store.save(ring_without([*range(0, 5, 2), *range(20, 40)]), "half", source="a test")
    json_lines(labelled(), tmp_path / "data.jsonl")
    return tmp_path


def compare(place: Path, *more: str) -> Any:
    fixed = "--embedding ring --words 50 --runs 1 -q".split()
    target = [] if "-t" in more else ["-t", "average=0.5"]
    return CliRunner().invoke(app, ["lab", "compare", str(place / "data.jsonl"), *fixed, *target, *more])


def test_the_command_prints_and_saves(place: Path) -> None:
    page, saved = place / "page.html", place / "found.json"
    more = "-m multivariate -m randomized-response --no-decode --report".split()
    result = compare(place, *more, str(page), "--save", str(saved))
    assert result.exit_code == 0, result.output
    assert "At average N_w = 0.5" in " ".join(result.output.split())
    found = json.loads(saved.read_text())
    assert [each["mechanism"] for each in found["rows"]] == ["multivariate", "randomized-response"]
    assert "decoding" not in found
    assert "decoded" not in found["rows"][0]
    assert page.read_text().startswith("<!doctype html>")


def test_the_command_decodes_in_several_embeddings(place: Path) -> None:
    more = "--embedding half -m santext -t named=0.3 --decode-words 30 --effort 20 --json".split()
    result = compare(place, *more)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [(row["embedding"], row["mechanism"]) for row in found["rows"]] == [
        ("ring", "santext"),
        ("half", "santext"),
    ]
    assert [each["embedding"]["name"] for each in found["spaces"]] == ["ring", "half"]
    assert found["decoding"] == {"support": 30, "directions": 20}
    row = found["rows"][0]
    assert set(row["decoded"]) == set(row["as_released"]) == {"train", "test", "both"}


def test_the_command_refuses_context_without_a_public_text(place: Path) -> None:
    more = "-m santext --no-decode -t context=0.4 -t kinds=0.7".split()
    assert isinstance(compare(place, *more).exception, InvalidParameter)


def test_how_to_read_the_file_can_be_said(place: Path) -> None:
    rows = [json.loads(line) for line in (place / "data.jsonl").read_text().splitlines()]
    text = "".join(f"{row['text']} é;{row['label']}\n" for row in rows)
    (place / "data.jsonl").write_bytes(text.encode("latin-1"))
    reading = "--format csv --delimiter ; --no-header --encoding latin-1 --column 1 --label 2".split()
    result = compare(place, "-m", "randomized-response", "--json", "--no-decode", *reading)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["texts"]["learn"] == 40


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["--train", "100"], UnusableAuditData),
        (["--train", "0"], InvalidParameter),
        (["-m", "no-such"], InvalidParameter),
        (["-t", "average=7"], InvalidParameter),
        (["--label", "nothing"], DeniableError),
        (["--save", "no/such/folder/file.json"], DeniableError),
        (["--embedding", "ring"], InvalidParameter),
    ],
)
def test_bad_requests_are_refused_before_any_work(
    place: Path, more: list[str], error: type[Exception]
) -> None:
    assert isinstance(compare(place, *more).exception, error)


@pytest.mark.parametrize("labels", [["a"] * 8, [f"{number / 4}" for number in range(8)]])
def test_one_label_and_numbers_are_no_task(labels: list[str], place: Path) -> None:
    data = LabelledTexts(source="made", labels=labels, texts=["w1 w2"] * 8)
    json_lines(data, place / "data.jsonl")
    assert isinstance(compare(place).exception, UnusableAuditData)
