"""What a receiver gets of each mechanism: as released and decoded, saved and shown beside what was there
before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.lab.comparison.compared import ring, task
from tests.lab.comparison.test_comparison import SETTINGS, made_result, made_row, worth_of
from tests.support.made_mixture import MIXING, SANTEXT, sided_rows, two_clouds
from typer.testing import CliRunner

from deniable import Embedding
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.lab.comparison import ComparisonResult, ComparisonSettings, Target, read_comparison
from deniable.lab.comparison.measurements import SavedMeasurements
from deniable.lab.comparison.received import ReceivedTask, channels_of
from deniable.lab.comparison.report.comparison_page import comparison_page, privacy_utility_figure
from deniable.lab.comparison.report.words import columns_of, finding, legend_of, places_table, table
from deniable.lab.comparison.results import ByPlace, MeanAndSpread, ReceiverAccuracies, Row
from deniable.lab.comparison.space import Comparison
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.mechanisms.santext import SanText
from deniable.utility.accuracy import DecodingEffort, open_channels

EFFORT = DecodingEffort(support=1_000, directions=50)


def sided_texts(embedding: Embedding, count: int) -> Texts:
    rows = sided_rows(count)
    ids = np.array([embedding.index[text] for _, text in rows], dtype=np.int64)
    return Texts(
        ids=ids,
        offsets=np.arange(len(rows) + 1),
        spelled=[text for _, text in rows],
        labels=[label for label, _ in rows],
    )


def test_decoding_helps_where_released_forms_mix() -> None:
    embedding = two_clouds()
    received = ReceivedTask(embedding, sided_texts(embedding, 100), sided_texts(embedding, 80))
    channel = open_channels(embedding, SANTEXT, [MIXING], EFFORT)[MIXING]
    found = received.measure(SanText(embedding, epsilon=MIXING), channel)
    assert found.both < 0.9
    assert found.test < 0.9
    assert min(found.decoded_train, found.decoded_test, found.decoded_both) > 0.95


def test_where_nothing_changed_both_readings_are_those_of_the_original() -> None:
    embedding = ring()
    learn, test = task(embedding), task(embedding, seed=1)
    channel = open_channels(embedding, SANTEXT, [1e6], EFFORT)[1e6]
    found = ReceivedTask(embedding, learn, test).measure(SanText(embedding, epsilon=1e6), channel)
    assert (found.test, found.both, found.decoded_train, found.decoded_test, found.decoded_both) == (1.0,) * 5
    assert (found.vectors, found.decoded_vectors) == (1.0, 1.0)


def test_numbers_of_the_original_kind_are_not_measured_again(tmp_path: Path) -> None:
    def row(decoding: DecodingEffort | None) -> Row:
        settings = replace(SETTINGS, decoding=decoding)
        comparison = Comparison(
            ring(), task(ring()), task(ring(), seed=1), settings, saved=SavedMeasurements(tmp_path)
        )
        return next(comparison.rows(ChosenMechanism()))

    plain = row(None)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert worth_of(plain).receiver is None
    decoded = row(EFFORT)
    assert worth_of(plain).on_vectors is None
    assert replace(decoded, worth=replace(worth_of(decoded), receiver=None)) == plain
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    assert len(list(tmp_path.iterdir())) == len(files) + SETTINGS.runs
    assert row(EFFORT) == decoded, "what is new is saved too"
    other = worth_of(row(DecodingEffort(support=30, directions=50)))
    assert len(list(tmp_path.iterdir())) == len(files) + 2 * SETTINGS.runs, "another channel, another number"
    receiver = worth_of(decoded).receiver
    assert receiver is not None
    assert receiver.as_released.train == worth_of(decoded).accuracy == other.accuracy


def test_channels_are_made_when_they_are_asked_for_and_by_one_walk_where_rays_serve() -> None:
    heard: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        heard.append((done, total))

    rays = channels_of(ChosenMechanism(), ring(), [0.5, 1.0], EFFORT, report=report)
    assert heard == []
    assert (rays(1.0).epsilon, rays(0.5).epsilon) == (1.0, 0.5)
    assert heard == [(0, 41), (41, 41)]
    exact = channels_of(SANTEXT, ring(), [0.5, 1.0], EFFORT, report=report)
    assert (exact(1.0).epsilon, exact(0.5).epsilon, exact(0.5).method) == (1.0, 0.5, "exact")
    assert heard[2:] == [(0, 41), (41, 41)] * 2


def by_place(train: float, test: float, both: float) -> ByPlace:
    return ByPlace(
        **{
            name: MeanAndSpread(mean=mean, spread=0.01)
            for name, mean in {"train": train, "test": test, "both": both}.items()
        }
    )


def received_row(mechanism: str, adversary: float, both: float, decoded: float) -> Row:
    row = made_row(mechanism, adversary, 0.75)
    receiver = ReceiverAccuracies(
        as_released=by_place(0.75, 0.5, both), decoded=by_place(0.76, 0.55, decoded)
    )
    return replace(row, worth=replace(worth_of(row), receiver=receiver))


def received_result() -> ComparisonResult:
    """Mechanism a is ahead with words as released, b once both are decoded."""
    rows = (received_row("a", 0.4, 0.7, 0.71), received_row("b", 0.4, 0.6, 0.8))
    return replace(made_result(*rows), decoding=DecodingEffort(support=10_000, directions=300))


def test_the_front_changes_once_all_are_decoded_and_both_are_marked() -> None:
    result = received_result()
    assert [row.mechanism for row, _ in result.front()] == ["a"]
    assert [row.mechanism for row, _ in result.decoded_front()] == ["b"]
    assert [(cells[1], cells[-1]) for cells in table(result)] == [("b", "◇"), ("a", "◆")], (
        "in the order of decoded text"
    )
    clear = "(clear: more than 3.0 points)"
    assert (
        f"a is the most accurate (70.0 %), clearly ahead of the others {clear}. Once all are decoded, b is"
        in finding(result)
    )
    assert made_result(made_row("a", 0.4, 0.7)).decoded_front() == []


def test_table_page_and_figure_show_both_readings_side_by_side() -> None:
    result = received_result()
    columns = columns_of(result)
    cells = dict(zip(columns, table(result)[0], strict=True))
    assert (cells["accuracy"], cells["received"], cells["decoded"]) == (
        "75.0 % ± 1.0",
        "60.0 % ± 1.0",
        "80.0 % ± 1.0",
    )
    missed = replace(
        result,
        rows=(*result.rows, Row(mechanism="c", reading="average", target=0.3, problem="never below 0.60")),
    )
    assert {len(row) for row in table(missed)} == {len(columns)}
    names, rows = places_table(result, result.targets[0])
    assert names == ["mechanism", "training time", "decoded", "test time", "decoded", "both times", "decoded"]
    assert rows[0] == [
        "b",
        "75.0 % ± 1.0",
        "76.0 % ± 1.0",
        "50.0 % ± 1.0",
        "55.0 % ± 1.0",
        "60.0 % ± 1.0",
        "80.0 % ± 1.0",
    ]
    html = comparison_page(result).html()
    for words in (
        "As released and decoded",
        "once all are decoded: b",
        "10,000 words of the embedding",
        "◇",
        "55.0 %",
    ):
        assert words in html, words
    assert "◇" in legend_of(result)
    left, right = privacy_utility_figure(result).axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("words as released", "decoded")
    assert [float(np.max(np.asarray(axes.lines[0].get_ydata()))) for axes in (left, right)] == [0.7, 0.8]
    assert len(privacy_utility_figure(made_result(made_row("a", 0.4, 0.7))).axes) == 1


def test_a_result_with_both_readings_is_read_again(tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(received_result().to_dict()))
    assert read_comparison(saved) == received_result()
    plain = made_result(made_row("a", 0.4, 0.7)).to_dict()
    assert "decoding" not in plain
    assert not {"as_released", "decoded"} & plain["rows"][0].keys(), (
        "results without it have the form they had"
    )


@pytest.mark.parametrize("switch", ["--decode", "--no-decode"])
def test_the_command_decodes_unless_that_is_switched_off(
    switch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(ring(), "ring", source="a test")
    texts = task(ring(), texts=60)
    lines = [
        json.dumps({"label": int(label), "text": " ".join(words)})
        for label, words in zip(texts.labels, texts.words, strict=True)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    options = [
        *"--embedding ring --words 50 --runs 1 -q -t average=0.5 -m".split(),
        "randomized-response",
        "--json",
    ]
    result = CliRunner().invoke(
        app,
        [
            "lab",
            "compare",
            str(tmp_path / "data.jsonl"),
            *options,
            switch,
            *"--decode-words 30 --effort 20".split(),
        ],
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    if switch == "--decode":
        assert found["decoding"] == {"support": 30, "directions": 20}
        assert (
            set(found["rows"][0]["decoded"])
            == set(found["rows"][0]["as_released"])
            == {"train", "test", "both"}
        )
        assert found["rows"][0]["as_released"]["train"] == found["rows"][0]["accuracy"]
    else:
        assert "decoding" not in found
        assert "decoded" not in found["rows"][0]
        assert 0.0 <= found["rows"][0]["on_released"]["mean"] <= 1.0


def test_the_settings_decode_by_default() -> None:
    assert ComparisonSettings(targets=(Target(reading="average", value=0.5),)).decoding == DecodingEffort(
        support=10_000, directions=300
    )
