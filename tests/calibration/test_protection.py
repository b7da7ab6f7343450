from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer, SanText, SanTextPlus
from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.choice import Targets, choose, evaluate, protect
from deniable.calibration.page import calibration_page, findings
from deniable.calibration.result import worst_words
from deniable.calibration.table import measure_table
from deniable.calibration.writing import make_note, write_words
from deniable.channel.outputs import output_distribution
from deniable.embeddings import store
from deniable.embeddings.stored import read_meta
from deniable.errors import MalformedEmbedding
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import InsecureSeededRandomness
from tests.support.strategies import random_embedding


def stays_itself(mechanism: Mechanism, ids: Ids, *, rays: int) -> Floats:
    """Return how often the words that stand in for these become them, the way ``deniable explain`` finds
    it."""
    found = {word: output_distribution(mechanism, word, draws=rays) for word in ids.tolist()}
    return np.array([each.probabilities[each.words == word].sum() for word, each in found.items()])


def lonely() -> Embedding:
    """Return 60 words near one another and two far away, which hardly ever change."""
    vectors = np.random.default_rng(0).standard_normal((62, 4))
    vectors[60] = 30.0
    vectors[61] = -25.0
    return Embedding([f"w{i}" for i in range(62)], vectors, name="lonely")


def test_exposed_words_are_found_and_protected_so_that_every_word_meets_the_target() -> None:
    embedding, targets = lonely(), Targets(max_unchanged=0.6)
    before = evaluate(calibration := measure_by_rays(embedding, rays=200, keep=False), 1.0, targets)
    exposed = calibration.ids[before.failing]
    assert {60, 61} <= set(exposed.tolist())
    safe = protect(embedding, exposed)
    after = evaluate(measure_by_rays(safe, rays=200, keep=False), 1.0, targets)
    assert len(after.failing) == 0
    assert (stays_itself(Multivariate(safe, epsilon=1.0), exposed, rays=200) <= 0.6).all()
    distances = np.linalg.norm(embedding.vectors[60] - embedding.vectors, axis=1)
    distances[exposed] = np.inf
    assert safe.stands_in(np.array([60]))[0] == distances.argmin()


def test_the_map_is_part_of_the_fingerprint_and_survives_the_store(home: Path) -> None:
    plain = lonely()
    by_nearest, by_unknown = protect(plain, np.array([60])), protect(plain, np.array([60]), by="unknown")
    assert len({plain.fingerprint, by_nearest.fingerprint, by_unknown.fingerprint}) == 3
    store.save(by_unknown, "safe")
    opened = Embedding.open("safe")
    assert opened.fingerprint == by_unknown.fingerprint == store.verify("safe")
    assert opened.protected.tolist() == [60]
    assert opened.stands_in(np.array([59, 60])).tolist() == [59, opened.unknown_id]
    meta = read_meta(home / "embeddings" / "safe")
    assert (meta.format_version, meta.protected) == (2, 1)
    (home / "embeddings" / "safe" / "protection.npy").unlink()
    with pytest.raises(MalformedEmbedding, match="protection"):
        Embedding.open("safe")


@pytest.mark.parametrize("policy", ["perturb", "redact", "drop", "error"])
def test_text_goes_in_by_the_map_and_the_receipt_says_so(policy: str) -> None:
    safe = protect(lonely(), np.array([60, 61]), by="unknown")
    source = InsecureSeededRandomness(insecure_seed=1)
    private = Privatizer(Multivariate(safe, epsilon=50.0), unknown=policy, randomness=source)  # type: ignore[arg-type]
    released = private("w60 w61 w3")
    assert len(released.split()) == 3
    assert not {"w60", "w61"} & set(released.split())
    assert released.split()[2] == "w3"
    receipt = private.receipt().to_dict()
    assert receipt["embedding"]["protected_words"] == 2
    assert receipt["counts"]["protected_words"] == 2
    assert "π" in receipt["guarantee"]["statement"]
    assert "protected: 2" in private.receipt().summary()


def test_what_cannot_be_protected_is_refused() -> None:
    embedding = random_embedding(5, 2)
    with pytest.raises(InvalidParameter, match="all words"):
        protect(embedding, np.arange(5))
    with pytest.raises(InvalidParameter, match="protect"):
        protect(embedding, np.array([1]), by="magic")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="already"):
        protect(protect(embedding, np.array([1])), np.array([2]))


def test_a_smaller_vocabulary_keeps_the_protection() -> None:
    from deniable.embeddings.derived import restrict

    safe = protect(lonely(), np.array([60, 61]))
    stand_in = safe.words[safe.stands_in(np.array([60]))[0]]
    kept = restrict(safe, keep=["w60", stand_in])
    assert kept.words[kept.stands_in(kept.ids(["w60"]))[0]] == stand_in
    gone = restrict(safe, exclude=[stand_in])
    assert gone.stands_in(gone.ids(["w60"]))[0] == gone.unknown_id


def test_a_note_counts_how_often_a_protected_word_comes_out_itself(line: Embedding) -> None:
    table = make_note(measure_by_rays(line, rays=4000, keep=False), [0.5, 3.0]).table
    assert table[0].unchanged.worst == pytest.approx(np.exp(-0.25) / 2, abs=0.02)
    assert table[0].unchanged_quantiles[1.0] == pytest.approx(np.exp(-0.25) / 2, abs=0.02)
    assert table[1].unchanged.worst == pytest.approx(1.0 - np.exp(-1.5), abs=0.02)


@pytest.fixture
def line() -> Embedding:
    """Return three words on a line, the outer ones protected by the middle one.

    From there, each of the outer ones comes out with probability e^(-ε/2)/2, and the middle one with 1 -
    e^(-ε/2).
    """
    safe = protect(
        Embedding(["left", "middle", "right"], np.array([[-1.0], [0.0], [1.0]]), name="line"),
        np.array([0, 2]),
    )
    assert safe.stands_in(np.arange(3)).tolist() == [1, 1, 1]
    return safe


def test_n_w_of_a_protected_word_is_how_often_it_comes_out_itself(line: Embedding) -> None:
    calibration = measure_by_rays(line, rays=4000, keep=False)
    rows = np.argsort(calibration.ids)
    for epsilon in (0.5, 3.0):
        means, errors = calibration.unchanged(epsilon)
        outer, middle = np.exp(-epsilon / 2) / 2, 1.0 - np.exp(-epsilon / 2)
        assert means[rows] == pytest.approx([outer, middle, outer], abs=0.02)
        assert calibration.unchanged_or_stand_in(epsilon)[rows] == pytest.approx(
            [max(outer, middle), middle, max(outer, middle)], abs=0.02
        )
        assert (np.abs(means[rows] - [outer, middle, outer]) <= 5.0 * errors[rows] + 1e-6).all()
    assert calibration.protected[rows].tolist() == [True, False, True]


def test_the_files_and_the_worst_words_show_that_and_mark_protected_words(
    line: Embedding, tmp_path: Path
) -> None:
    calibration = measure_by_rays(line, rays=4000, keep=False)
    write_words(calibration, [0.5, 3.0], csv=tmp_path / "words.csv", parquet=tmp_path / "words.parquet")
    found = {
        (row["word"], row["epsilon"]): row
        for row in pyarrow.parquet.read_table(tmp_path / "words.parquet").to_pylist()
    }
    assert found["left", 3.0]["unchanged"] == pytest.approx(np.exp(-1.5) / 2, abs=0.02)
    assert found["left", 3.0]["unchanged_draws"] / 4000 == pytest.approx(np.exp(-1.5) / 2, abs=0.03)
    assert found["middle", 3.0]["unchanged_draws"] / 4000 == pytest.approx(1.0 - np.exp(-1.5), abs=0.03)
    assert {word: row["protected"] for (word, _), row in found.items()} == {
        "left": True,
        "middle": False,
        "right": True,
    }
    assert (
        (tmp_path / "words.csv")
        .read_text()
        .splitlines()[0]
        .startswith('"word","protected","epsilon","unchanged"')
    )
    worst = {
        row.word: row
        for row in worst_words(calibration, evaluate(calibration, 3.0, Targets(max_unchanged=0.9)))
    }
    assert worst["right"].unchanged == pytest.approx(np.exp(-1.5) / 2, abs=0.02)
    assert (worst["right"].protected, worst["middle"].protected) == (True, False)


@pytest.mark.parametrize("min_distinct", [None, 2])
def test_the_largest_epsilon_counts_protected_words_which_need_not_stay_more_often_when_it_grows(
    line: Embedding, min_distinct: int | None
) -> None:
    # The middle word meets a target N below -2 ln(1 - N), and the outer ones above -2 ln(2 N): for 0.6, any ε
    # up to 1.833.
    calibration = measure_by_rays(
        line, rays=2000, support=min_distinct is not None, epsilons=np.geomspace(0.1, 5.0, 8), keep=False
    )
    choice = choose(calibration, Targets(max_unchanged=0.6, min_distinct=min_distinct))
    assert choice.epsilon == pytest.approx(1.833, rel=1e-3 if min_distinct is None else 0.05)
    assert len(choice.failing) == 0


def test_where_protected_words_stand_in_the_way_a_smaller_epsilon_is_found() -> None:
    # All go in as the middle word, which meets the target up to -100 ln(0.7) = 35.7. There, and far below,
    # the words beside it come out themselves too often: (e^(-0.01 ε) - e^(-5.01 ε))/2 is 0.3 at ε = 0.184.
    # Below 0.102 the outermost do.
    places = np.array([[-10.0], [-0.02], [0.0], [0.02], [10.0]])
    safe = protect(
        Embedding(["west", "left", "middle", "right", "east"], places, name="row"), np.array([0, 1, 3, 4])
    )
    calibration, targets = measure_by_rays(safe, rays=4000, keep=False), Targets(max_unchanged=0.3)
    choice = choose(calibration, targets)
    assert choice.epsilon == pytest.approx(0.184, rel=0.1)
    assert evaluate(calibration, choice.epsilon, targets).meets_targets
    assert not evaluate(calibration, choice.epsilon * 1.001, targets).meets_targets
    assert not evaluate(calibration, 35.0, targets).meets_targets


def test_the_page_marks_protected_words(line: Embedding) -> None:
    calibration = measure_by_rays(line, rays=200, support=True, keep=False)
    page = calibration_page(
        findings(calibration, calibration, epsilons=[3.0], sentences=("left right",))
    ).html()
    assert "how often they come out themselves" in page
    assert ">protected</th>" in page
    assert "They can be protected" not in page  # it is protected already
    plain = measure_by_rays(lonely(), rays=50, support=True, keep=False)
    other = calibration_page(findings(plain, plain, epsilons=[3.0], sentences=("w1",))).html()
    assert ">protected</th>" not in other
    assert "They can be protected" in other


@pytest.mark.parametrize(("name", "options"), [("vickrey", {"t": 1.0}), ("custext", {"k": 2})])
def test_a_table_counts_how_often_a_protected_word_comes_out_itself(
    name: str, options: dict[str, float]
) -> None:
    pair = Embedding(["one", "other"], np.array([[0.0, 0.0], [1.0, 0.0]]), name="pair")
    safe, selected = protect(pair, np.array([0])), ChosenMechanism(name=name, options=options)
    found = measure_table(safe, selected, draws=500, epsilons=np.array([0.01, 50.0]), keep=False)
    for epsilon in (0.01, 50.0):
        itself = float(stays_itself(selected(safe, epsilon=epsilon), np.array([0]), rays=500)[0])
        assert found.unchanged(epsilon)[0][0] >= itself - 0.1
    if name == "vickrey":  # the second nearest word of what stands in for it is the word itself
        assert found.unchanged(50.0)[0].tolist() == [1.0, 0.0]


def test_the_word_that_stands_in_for_a_sensitive_one_is_not_kept_in_its_place() -> None:
    safe = protect(lonely(), np.array([60]))
    stand_in, other = int(safe.stands_in(np.array([60]))[0]), 3
    assert stand_in != other
    mechanism = SanTextPlus(safe, epsilon=1.0, sensitive=["w60", f"w{other}"], p=0.0)
    drawn = mechanism.perturb(np.full(1000, 60), InsecureSeededRandomness(insecure_seed=1))
    assert (drawn == stand_in).mean() < 0.5
    assert mechanism.log_bound(60, other) == SanText(safe, epsilon=1.0).log_bound(60, other)
