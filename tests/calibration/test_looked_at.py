"""What was looked at is named, and of words that were not looked at nothing is said but what a random sample
can say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import hypergeom
from typer.testing import CliRunner

from deniable import Embedding, Multivariate
from deniable.calibration import Targets, calibrate
from deniable.calibration.bounds import bound_share
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.choice import evaluate
from deniable.calibration.page import calibration_page, findings
from deniable.calibration.writing import make_note
from deniable.cli.app import app
from deniable.release.note import read_note
from tests.calibration.small import save_small
from tests.report.html_check import outline

WORDS, ALONE = 120, (4, 31, 64)
"""The words at these places stay themselves at any ε of use; no sample below has one of them, and no list."""

OF_ALL = re.compile(
    r"\b(?:every word|all words|all 120 words|no word|any word|each word(?! of a text)|value to release "
    r"with)\b",
    re.IGNORECASE,
)


@pytest.fixture(autouse=True)
def small(home: Path) -> Embedding:
    Path("words.txt").write_text("".join(f"w{i}\n" for i in range(30) if i not in ALONE))
    return save_small(WORDS, alone=ALONE, far=100.0)


def said(*arguments: str) -> str:
    """Return all that a run says: the terminal, the JSON, the page with its title and its figures."""
    command = ["calibrate", "--embedding", "small", "--effort", "40", "-q", *arguments]
    shown = CliRunner().invoke(app, [*command, "--report", "page.html"])
    assert shown.exit_code == 0, shown.output
    printed = CliRunner().invoke(app, [*command, "--json"])
    assert printed.exit_code == 0, printed.output
    json.loads(printed.stdout)
    return " ".join("".join([shown.stdout, printed.stdout, Path("page.html").read_text()]).split())


SAMPLE, LIST, BOTH = ("--sample", "25"), ("--words", "words.txt"), ("--words", "words.txt", "--sample", "9")


@pytest.mark.parametrize(
    ("looked_at", "asked"),
    [
        (SAMPLE, ()),
        (SAMPLE, ("--max-unchanged", "0.5")),
        (SAMPLE, ("--max-unchanged", "0.5", "--quantile", "0.9")),
        (SAMPLE, ("--max-unchanged", "0.5", "--epsilon", "50")),
        (SAMPLE, ("--min-distinct", "5")),
        (SAMPLE, ("--max-unchanged", "0.5", "--mechanism", "santext")),
        (LIST, ("--epsilon", "2")),
        (LIST, ("--max-unchanged", "0.5")),
        (BOTH, ("--max-unchanged", "0.5")),
    ],
)
def test_nothing_is_said_of_all_words_where_some_were_looked_at(
    looked_at: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    everything = said(*looked_at, *asked)
    assert [
        everything[max(0, hit.start() - 40) : hit.end() + 40] for hit in OF_ALL.finditer(everything)
    ] == []


def test_figures_in_files_say_nothing_that_those_of_the_page_do_not_say() -> None:
    said("--sample", "25", "--figures", "figures")
    drawn = {text for path in Path("figures").glob("*.svg") for text in texts_of(path)}
    assert {"25 of 120 words", "average word"} <= drawn <= set(texts_of(Path("page.html")))


def texts_of(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())


def test_what_holds_for_some_words_is_false_of_others(small: Embedding) -> None:
    result = calibrate(small, sample=25, draws=20, targets=Targets(max_unchanged=0.5))
    assert not set(ALONE) & set(result.calibration.ids.tolist())
    assert result.epsilon is not None
    everything = measure_by_rays(small, rays=20, keep=False)
    stays = dict(zip(everything.ids.tolist(), everything.unchanged(result.epsilon)[0].tolist(), strict=True))
    assert min(stays[place] for place in ALONE) > 0.99


@pytest.mark.parametrize(
    ("arguments", "which", "them"),
    [
        (("--sample", "25"), "25 of 120 words, drawn at random", "the 25 words looked at"),
        (("--words", "words.txt"), "29 of 120 words, those asked for", "the 29 words looked at"),
        (
            ("--words", "words.txt", "--sample", "9"),
            "9 of 120 words, those asked for",
            "the 9 words looked at",
        ),
    ],
)
def test_what_was_looked_at_is_named_on_the_page_the_terminal_and_in_json(
    arguments: tuple[str, ...], which: str, them: str
) -> None:
    asked = "calibrate --embedding small --effort 40 -q --max-unchanged 0.5 --report page.html"
    command = [*asked.split(), *arguments]
    shown = CliRunner().invoke(app, command).stdout
    assert shown.splitlines()[0].startswith(f"small, multivariate: {which}")
    assert f"each of {them} comes out unchanged" in " ".join(shown.split())
    html = Path("page.html").read_text()
    page = outline(html)
    assert which in html.partition("<title>")[2].partition("</title>")[0]
    assert f"each of {them} comes out unchanged" in page.lead
    assert f"This page speaks of {them}." in page.text
    answer = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert answer["looked_at"]["statement"] == which
    assert answer["targets_are_held_against"] == f"each of {them}"
    of_a_sample = "--words" not in arguments
    assert (answer["share_of_the_vocabulary_that_misses"] is not None) == of_a_sample
    assert ("Of the whole vocabulary at most" in " ".join(shown.split())) == of_a_sample
    if of_a_sample:
        assert answer["share_of_the_vocabulary_that_misses"]["at_most"] >= len(ALONE) / WORDS
        assert answer["share_of_the_vocabulary_that_misses"]["confidence"] == 0.95
        counted = answer["share_of_the_vocabulary_that_misses"]["words_counted_as_missing"]
        assert f"{counted:,} of {them} may, by the error of their N_w" in " ".join(shown.split()), (
            "what few rays leave open is said where the bound is"
        )
        assert f"{counted:,} of {them} may, by the error of their N_w" in page.text
        assert "miss the target by their estimated N_w" in page.text


def test_all_words_are_spoken_of_where_all_were_looked_at(small: Embedding) -> None:
    everything = said("--max-unchanged", "0.9")
    assert "all 120 words" in everything
    assert "the target is met: every word comes out unchanged in at most 90 %" in everything
    assert calibrate(small, sample=WORDS, draws=20).looked_at.all  # a sample that leaves no word out
    assert read_note(Multivariate(small, epsilon=1.0)) is not None


def test_a_target_that_is_missed_is_no_value_to_release_with() -> None:
    calibration = measure_by_rays(Embedding.open("small"), rays=30, support=True, keep=False)
    choice = evaluate(calibration, 50.0, Targets(max_unchanged=0.5))
    page = outline(calibration_page(findings(calibration, calibration, choice=choice)).html())
    assert "misses the target for every word" in page.text


def test_what_a_note_of_some_words_says_is_said_by_no_receipt(small: Embedding) -> None:
    some = measure_by_rays(small, rays=20, ids=np.arange(30), keep=False)
    whole = make_note(some, [1.0, 2.0])
    path = Path("embeddings/small/calibration.json")
    path.write_text(json.dumps(whole.to_dict()))
    assert read_note(Multivariate(small, epsilon=1.0)) is None
    path.write_text(json.dumps({**whole.to_dict(), "words": WORDS}))
    assert read_note(Multivariate(small, epsilon=1.0)) is not None


def always(count: int) -> Callable[[float], int]:
    return lambda _: count


def test_the_bound_on_the_share_is_the_largest_that_the_sample_does_not_refute() -> None:
    for count, vocabulary, k in ((1, 10, 0), (5, 12, 2), (30, 40, 30), (40, 400, 3)):
        found = bound_share(always(k), sample=count, vocabulary=vocabulary, grows=True)
        level = 0.05 / ((k + 1) * (k + 2)) / 2.0
        possible = [
            m for m in range(k, vocabulary - count + k + 1) if hypergeom.cdf(k, vocabulary, m, count) > level
        ]
        assert found.at_most == max(possible) / vocabulary
        assert found.counted == k
    none = bound_share(always(0), sample=300, vocabulary=50_000, grows=True)
    assert 0.0 < none.at_most < 0.015  # also where no word of the sample misses, some share may


@pytest.mark.parametrize("choose", ["largest for all", "largest for nine of ten", "worst for the bound"])
def test_the_bound_on_the_share_holds_at_the_epsilon_that_the_sample_chose(choose: str) -> None:
    # N_w of a word reaches the target at its own ε; a vocabulary of them, sampled again and again.
    rng = np.random.default_rng(1)
    vocabulary, count, trials = 400, 40, 400
    reached = np.sort(rng.gamma(2.0, size=vocabulary))
    bounds = [
        bound_share(always(k), sample=count, vocabulary=vocabulary, grows=True).at_most
        for k in range(count + 1)
    ]
    failures = naive = 0
    for _ in range(trials):
        sample = np.sort(rng.choice(reached, count, replace=False))
        if choose == "worst for the bound":
            missing = np.searchsorted(sample, reached)
            failures += bool((np.arange(vocabulary) / vocabulary > np.array(bounds)[missing]).any())
            continue
        k = 0 if choose == "largest for all" else count // 10
        share = float((reached < sample[k]).mean())
        failures += share > bounds[k]
        naive += share > k / count
    assert failures <= 0.05 * trials
    if choose != "worst for the bound":
        assert naive > 0.3 * trials  # what holds for the sample does not hold for the vocabulary


def test_words_that_may_miss_by_the_error_of_their_n_w_count_as_missing(small: Embedding) -> None:
    found = replace(measure_by_rays(small, rays=40, ids=np.arange(8, 30), keep=False), at_random=True)
    means, _ = found.unchanged(2.0)
    target = float(means.max()) + 1e-6
    choice = evaluate(found, 2.0, Targets(max_unchanged=target))
    assert len(choice.failing) == 0
    assert choice.missing is not None
    assert choice.missing.counted >= 1
    assert choice.missing.for_any_epsilon
    protected = evaluate(replace(found, at_random=False), 2.0, Targets(max_unchanged=target))
    assert protected.missing is None
