from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable.audit.bound import BoundPlace, BoundResult, WordPair
from deniable.audit.inversion.results import (
    ALONE,
    BLIND,
    IN_CONTEXT,
    AttackedTextSummary,
    AttackerFinding,
    BandFinding,
    GroupFinding,
    InversionFinding,
    ListFinding,
    RepeatFinding,
    Success,
    WordAtRisk,
)
from deniable.audit.inversion.wording import InversionResult
from deniable.audit.page import audit_page
from deniable.audit.results import NO_BOUND, AuditResult, EmbeddingSummary, read_result
from deniable.audit.shares import OverallShare, Share
from deniable.errors import RecordError
from deniable.lab.authorship import AuthorshipFinding, AuthorshipResult
from deniable.lab.membership.audit import MembershipResult, ReleaseFacts
from deniable.lab.membership.auditor import LanguageModelSettings, ScoreSummary
from deniable.utility.classifiers import Scores


def head(audit: str) -> dict[str, Any]:
    embedding = EmbeddingSummary(name="<tiny>", fingerprint="f" * 32, protected=2)
    return {"audit": audit, "version": "0", "embedding": embedding, "mechanism": "multivariate", "seed": 0}


def share(value: float) -> Share:
    return Share(value=value, low=max(0.0, value - 0.2), high=min(1.0, value + 0.2), tries=10)


def bound(*, refuted: bool = False) -> BoundResult:
    pair = WordPair(first="w0", second="w1", promised=0.4, shown=0.9 if refuted else None)
    place = BoundPlace(
        space="spread, 1d",
        dimension=1,
        words=3,
        draws_per_word=10,
        pairs_judged=1,
        refuted=refuted,
        worst_pairs=(pair,),
    )
    return BoundResult(
        **head("bound"),
        epsilon=3.0,
        refuted=refuted,
        level=1e-4,
        places=(place,),
        not_proven="A pass is not a proof.",
    )


def inversion(largest: float | None = 1.0) -> InversionResult:
    found = tuple(
        InversionFinding(
            epsilon=epsilon,
            channel="exact",
            prior_guess=0.05,
            bayes=OverallShare(value=value, standard_error=0.01),
            nearest_word=OverallShare(value=value, standard_error=0.01),
            bands=(
                BandFinding(
                    ranks="1 to 100", share_of_text=1.0, bayes=share(value), nearest_word=share(value)
                ),
            ),
            repeats=tuple(
                RepeatFinding(releases=m, majority=share(value), bayes=None if m > 1 else share(value))
                for m in (1, 3)
            ),
            at_risk=(WordAtRisk(word="<b>hockey", bayes=share(1.0)),),
        )
        for epsilon, value in ((1.0, 0.1), (5.0, 0.8))
    )
    return InversionResult(
        **head("inversion"),
        frequencies="by rank",
        acceptable=0.2,
        largest_acceptable_epsilon=largest,
        results=found,
    )


def attacked_text() -> InversionResult:
    """A result with running text: three attackers, at one ε."""

    def success(value: float) -> Success:
        return Success(first=share(value), within_ten=share(value))

    def attacker(name: str, value: float) -> AttackerFinding:
        groups = (
            GroupFinding(group="names", places=10, word=success(value)),
            GroupFinding(group="numbers", places=0, word=None),
        )
        lists = (
            ListFinding(
                name="<i>drugs", words=3, places=4, word=success(value), found=share(value), rightly=None
            ),
        )
        return AttackerFinding(
            name=name,
            knows="which words follow",
            seconds=1.0,
            word=success(value),
            kind=success(value),
            groups=groups,
            lists=lists,
        )

    result = inversion()
    attackers = (attacker(BLIND, 0.05), attacker(ALONE, 0.12), attacker(IN_CONTEXT, 0.17))
    text = AttackedTextSummary(
        source="own.txt",
        documents=2,
        places=10,
        unknown=0.1,
        kinds=100,
        public="public.txt",
        public_words=900,
    )
    return replace(result, results=(replace(result.results[0], attackers=attackers),), text=text)


def scores(auc: float = 0.5) -> ScoreSummary:
    mean = Scores(precision=0.5, recall=0.5, accuracy=0.5, auc=auc, auc_either_way=0.5)
    spread = dict.fromkeys(("precision", "recall", "accuracy", "auc", "auc_either_way"))
    return ScoreSummary(runs=1, mean=mean, spread=spread)


def membership(original: float = 0.95, epsilons: tuple[float, ...] = (2.0,)) -> MembershipResult:
    both = {"plain": scores(), "adaptive": scores()}
    released = {"original text": both, "released text": both, "as in the paper": {"plain": scores()}}
    return MembershipResult(
        **head("membership"),
        acceptable=0.6,
        largest_acceptable_epsilon=2.0,
        data={"users": 4, "median_texts": 2.0, "median_words": 9.0, "words": 40},
        plan={"in_each": 1, "targets": 1, "shadows": 1},
        settings=LanguageModelSettings(),
        questions={},
        facts={f"ε = {epsilon:g}": ReleaseFacts(epsilon=epsilon, changed=0.9) for epsilon in epsilons},
        protocol={
            "original": {"original text": {"plain": scores(original)}},
            **{f"ε = {epsilon:g}": released for epsilon in epsilons},
        },
    )


def authorship() -> AuthorshipResult:
    row = AuthorshipFinding(epsilon=2.0, learnt_from_original=share(0.3), learnt_from_released=share(0.4))
    return AuthorshipResult(
        **head("authorship"),
        acceptable=0.2,
        largest_acceptable_epsilon=None,
        authors=3,
        learnt_texts=30,
        judged_texts=10,
        guess=0.33,
        original=share(0.9),
        released=(row,),
    )


def test_the_page_holds_every_audit_the_best_attacker_first_and_what_each_knew() -> None:
    html = audit_page([bound(), inversion(), membership(epsilons=(2.0, 4.0))]).html()
    assert ("&lt;b&gt;hockey" in html, "<b>hockey" in html, html.count("<svg")) == (True, False, 3)
    assert "A pass is not a proof." in html
    page = audit_page([bound(), attacked_text()])
    assert page.lead.startswith("The best attacker we have names 1 word in 6 (17.0 % in context, 12.0 %")
    html = page.html()
    places = [
        html.index(part)
        for part in (
            "The best attacker",
            "one point is no curve",
            "What each attacker knew",
            "which words follow",
            "&lt;i&gt;drugs",
            "What this does not prove",
            "Does the mechanism keep",
        )
    ]
    assert places == sorted(places)


def test_the_page_says_what_share_of_the_text_the_headline_leaves_out_and_what_was_not_read() -> None:
    result = attacked_text()
    known = Success(first=replace(share(0.17), tries=9), within_ten=share(0.17))
    html = audit_page([with_words(result, known)]).html()
    assert "It does not know 10 % of the text" in html
    assert "of the words that the embedding knows" in html
    older = audit_page([result]).html()
    assert "Saying so counts as naming the word here" in older
    assert "of the words that the embedding knows" not in older
    assert result.text is not None
    repeated = replace(result, text=replace(result.text, left_out=1_200))
    assert ["1,200 more" in audit_page([each]).html() for each in (result, repeated)] == [False, True]


def with_words(result: InversionResult, word: Success) -> InversionResult:
    """Return the result, but that every attacker reaches this on the word."""
    (found,) = result.results
    attackers = tuple(replace(each, word=word) for each in found.attackers)
    return replace(result, results=(replace(found, attackers=attackers),))


def test_an_attack_whose_interval_says_nothing_is_not_a_finding() -> None:
    result = attacked_text()
    (found,) = result.results
    few = Success(first=Share(value=1.0, low=0.398, high=1.0, tries=4), within_ten=share(1.0))
    attackers = tuple(replace(each, kind=few) for each in found.attackers)
    said = replace(result, results=(replace(found, attackers=attackers),)).sentence
    assert ("oo few places" in said, "39.8 % to 100.0 %" in said) == (True, True)
    assert "names the kind of a word, among 100 kinds" in result.sentence
    of_words = with_words(result, few).sentence
    assert ("too few words were attacked" in of_words, "every word" in of_words) == (True, False)


def test_the_stronger_attacker_counts_for_repeats_bands_and_words_at_risk() -> None:
    result = at(6.0, 0.139, None)
    risk = (
        WordAtRisk(word="hockey", bayes=share(0.2), nearest_word=share(0.6)),
        WordAtRisk(word="gmina", bayes=share(0.0)),
    )
    found = replace(
        result.results[0],
        bands=(BandFinding(ranks="1 to 100", share_of_text=1.0, bayes=share(0.1), nearest_word=share(0.4)),),
        at_risk=risk,
        repeats=(
            RepeatFinding(releases=1, majority=share(0.1), bayes=share(0.3)),
            RepeatFinding(releases=3, majority=share(0.5), bayes=share(0.4)),
            RepeatFinding(releases=9, majority=share(0.7), bayes=None),
            RepeatFinding(releases=27, majority=share(0.6), bayes=None),
        ),
    )
    shown = replace(result, results=(found,))
    *_, repeats = shown.curves
    assert [point.value for point in repeats.lines["ε = 6"]] == [0.3, 0.5, 0.7, 0.7]
    overall, _, at_risk = shown.tables
    assert overall.rows[0][-1] == "40.0 %"
    assert at_risk.rows == [["6", "hockey", "60.0 %", "40.0 %"]], "a word that was never named is not at risk"
    without = replace(result, results=(replace(found, at_risk=risk[1:]),))
    assert not any("at risk" in table.caption for table in without.tables)


def test_the_advice_hears_every_attacker_and_says_why_an_epsilon_fails() -> None:
    result = attacked_text()
    found = result.results[0]
    assert found.at_most == pytest.approx(0.37), "the upper end of the intervals of those who attack the text"
    assert "The upper end" in replace(result, largest_acceptable_epsilon=None).sentence
    assert "The upper end" not in result.sentence, "as saved, it advises this very ε"
    assert authorship().released[0].at_most > authorship().released[0].success
    drawn = replace(found, bayes=OverallShare(value=0.3, standard_error=0.01))
    assert drawn.success == 0.3
    assert "more is named than of this text: 30.0 %" in replace(result, results=(drawn,)).sentence


def test_the_best_attacker_of_drawn_words_is_the_one_that_names_most() -> None:
    result = at(6.0, 0.139, None)
    naive = replace(result.results[0], nearest_word=OverallShare(value=0.171, standard_error=0.02))
    blind = replace(result.results[0], prior_guess=0.2)
    assert (naive.success, naive.at_most) == (0.171, naive.nearest_word.high)
    assert (blind.success, blind.at_most) == (0.2, 0.2)
    for found, best in ((naive, "(17.1 % by taking the released word"), (blind, "(20.0 % blindly, 13.9 %")):
        assert best in replace(result, results=(found,)).sentence


def test_a_page_of_audits_that_do_not_speak_of_one_release_says_so() -> None:
    html = audit_page([bound(), inversion(), membership()]).html()
    assert "bound at ε = 3; inversion at ε = 1, 5; membership at ε = 2. They have no ε in common" in html
    assert "only ε = 5 in common" in audit_page([inversion(), membership(epsilons=(2.0, 5.0))]).html()
    other = replace(
        authorship(), embedding=replace(authorship().embedding, name="other", fingerprint="0" * 32)
    )
    assert "of different mechanisms or embeddings" in audit_page([membership(), other]).html()
    same: list[list[AuditResult]] = [[inversion()], [membership(), authorship()]]
    for alike in same:
        assert "different" not in audit_page(alike).html().replace("differently", "")


def at(epsilon: float, value: float, largest: float | None) -> InversionResult:
    """A result at one ε at which the best attacker names this share."""
    result = inversion(largest)
    found = replace(result.results[0], epsilon=epsilon, bayes=OverallShare(value=value, standard_error=0.01))
    return replace(result, results=(found,))


def test_results_of_one_audit_are_told_apart_and_none_is_lost() -> None:
    second = replace(inversion(4.0), results=(at(4.0, 0.12, 4.0).results[0], at(8.0, 0.3, None).results[0]))
    page = audit_page([bound(), at(3.0, 0.15, 3.0), second])
    html = page.html()
    assert "4 is the largest at which every attack" in page.lead
    assert "They have only ε = 3 in common" in html
    for each in ("3", "4, 8"):
        assert f"acceptable for inversion at ε = {each} (at most 0.2)" in html
        assert f"Can the words be guessed at ε = {each}?" in html
    assert "different values of ε" not in audit_page([at(3.0, 0.15, 3.0), second]).html(), (
        "one audit at several ε is no mixture"
    )
    first = at(6.0, 0.15, 6.0)
    text = replace(attacked_text(), results=(replace(attacked_text().results[0], epsilon=6.0),))
    others = {
        ("seed 0", "seed 1"): replace(first, seed=1),
        ("multivariate", "santext"): replace(first, mechanism="santext"),
        ("drawn words", "own.txt"): text,
        ("number 1", "number 2"): first,
    }
    for marks, other in others.items():
        html = audit_page([bound(), first, other]).html()
        shown = re.findall(r"acceptable for inversion at ε = 6, (.*?) \(at most 0.2\)", html)
        assert len(set(shown)) == 2
        assert all(mark in each for mark, each in zip(marks, shown, strict=True))
    assert (
        len(set(re.findall("the bound at ε = 3.*?<", audit_page([bound(), replace(bound(), seed=1)]).html())))
        == 2
    )


def test_the_page_leads_with_the_strongest_attacker_of_all_results() -> None:
    both = [at(6.0, 0.1, 6.0), at(6.0, 0.25, None)]
    for results in (both, both[::-1]):
        page = audit_page(results)
        assert page.lead.startswith("The best attacker we have names 1 word in 4 (25.0 % each by itself")
        assert "At none of the values of ε" in page.lead, "it is acceptable in one result only"
        assert "The best attacker here names 1 word in 10 " in page.html()
    between = audit_page([inversion(), at(3.0, 0.9, None)]).lead
    assert [f"at ε = {epsilon}" in between for epsilon in (1, 3, 5)] == [True, True, True]


@pytest.mark.parametrize(
    ("results", "advised"),
    [
        ([at(6.0, 0.1, 6.0), at(4.0, 0.1, 4.0)], "6 is the largest"),
        ([at(6.0, 0.3, None), at(4.0, 0.1, 4.0)], "4 is the largest"),
        ([at(6.0, 0.1, 6.0), at(4.0, 0.3, None)], "At none of the values"),
        ([inversion(), authorship()], "authorship succeeds more often than allowed"),
        ([inversion(), bound(refuted=True)], "The mechanism does not keep its promise"),
    ],
)
def test_the_advice_takes_results_together(results: list[AuditResult], advised: str) -> None:
    for order in (results, results[::-1]):
        assert advised in audit_page(order).lead


def test_a_refuted_promise_and_a_weak_auditor_are_called_that() -> None:
    assert bound(refuted=True).sentence.startswith("REFUTED")
    assert ["says little" in membership(auc).sentence for auc in (0.7, 0.95)] == [True, False]


EVERY = [bound(), inversion(), membership(), authorship(), attacked_text()]


@pytest.mark.parametrize("result", EVERY, ids=lambda result: result.audit)
def test_every_table_is_whole_and_every_result_is_read_again(result: AuditResult, tmp_path: Path) -> None:
    found = result.tables
    assert found
    assert all(len(row) == len(table.columns) for table in found for row in table.rows)
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result.to_dict()))
    assert read_result(file) == result
    assert list(result.to_dict())[:5] == ["audit", "version", "embedding", "mechanism", "seed"]


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"audit": "magic"}', "\x00", '{"audit": "bound", "version": "0"}']
)
def test_files_that_are_no_results_are_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(content)
    with pytest.raises(RecordError, match="audit"):
        read_result(file)


def test_a_result_of_an_earlier_version_is_read() -> None:
    saved = Path(__file__).parents[2] / "docs" / "research" / "authorship-enron.json"
    result = read_result(saved)
    assert isinstance(result, AuthorshipResult)
    assert result.to_dict() == json.loads(saved.read_text(encoding="utf-8")) | {"bound": NO_BOUND}
